"""Open Sample: layers that lie on one another, and a plain message without a network."""

import numpy as np
import pytest
import skimage.data
from napari.components import ViewerModel
from napari.layers import Layer

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import grid_of, place
from napari_cosparse.widgets import _samples


@pytest.mark.parametrize(
    ("key", "truth", "coarse"),
    [
        ("textured_scene", "true depth", "low-resolution depth"),
        ("motorcycle", "true disparity", "low-resolution disparity"),
    ],
)
def test_sample_opens_by_its_key_and_lies_on_itself(viewer, key, truth, coarse):
    viewer.open_sample("napari-cosparse", key)
    layers = viewer.layers
    assert [layer.name for layer in layers] == [truth, "guide", coarse]
    assert layers["guide"].rgb
    found = place(grid_of(layers[coarse]), grid_of(layers["guide"]))
    assert (found.factor, found.origin) == ((4, 4), (1.5, 1.5))
    fine, low = layers[truth].data, layers[coarse].data
    rows, columns = fine.shape[0] // 4, fine.shape[1] // 4
    blocks = fine[: 4 * rows, : 4 * columns].reshape(rows, 4, columns, 4)
    np.testing.assert_allclose(low[:rows, :columns], blocks.mean((1, 3)), rtol=1e-4)


def test_samples_need_no_viewer_window():
    viewer = ViewerModel()
    for data in _samples.textured_scene():
        viewer.add_layer(Layer.create(*data))
    np.testing.assert_allclose(viewer.layers.extent.world, [[0, 0], [383, 511]])


def test_no_network_is_said_plainly(monkeypatch):
    def offline():
        raise ConnectionError("no connection")

    monkeypatch.setattr(skimage.data, "stereo_motorcycle", offline)
    with pytest.raises(InputError, match=r"could not be downloaded.*generated scene"):
        _samples.motorcycle()
