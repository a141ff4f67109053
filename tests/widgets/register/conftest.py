"""The registration panel with a fake registration."""

import pytest

from support.register_case import PLACE


@pytest.fixture
def filled(fake, register_panel, viewer, scene):
    """The panel on a colour image in um and a turned depth image in nm."""
    viewer.add_image(scene.guide, name="photo", rgb=True, **PLACE)
    turned = {"scale": (250, 250), "translate": (3e3, 1e3), "rotate": 20, "units": "nm"}
    viewer.add_image(scene.depth[:50], name="depth", colormap="magma", **turned)
    return register_panel
