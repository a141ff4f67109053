"""A colour image in um and a turned depth image in nm, and a motion between them."""

import numpy as np

MATRIX = np.array([[0.8, -0.6, 6], [0.6, 0.8, -3], [0, 0, 1]])


PLACE = {"scale": (0.5, 0.5), "units": "um"}


def by_name(viewer, name):
    (found,) = [layer for layer in viewer.layers if layer.name == name]
    return found


def lies_on_fixed(new, fixed, matrix=MATRIX):
    for pixel in ((0, 0), (10, 40), (33.5, 7)):
        there = matrix @ [*pixel, 1]
        np.testing.assert_allclose(
            new.data_to_world(there[:2]), fixed.data_to_world(pixel), atol=1e-9
        )
