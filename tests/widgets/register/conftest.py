"""The registration panel with a fake registration."""

import pytest

from napari_cosparse import api
from support.fake_registration import FakeRegister
from support.register_case import MATRIX, PLACE


@pytest.fixture
def fake(monkeypatch):
    """Make the facade find MATRIX; other answers are set on it."""
    found = FakeRegister(MATRIX)
    monkeypatch.setattr(api, "register_steps", lambda *a, **k: found.steps(*a, **k))
    return found


@pytest.fixture
def filled(fake, register_panel, viewer, scene):
    """The panel on a colour image in um and a turned depth image in nm."""
    viewer.add_image(scene.guide, name="photo", rgb=True, **PLACE)
    turned = {"scale": (250, 250), "translate": (3e3, 1e3), "rotate": 20, "units": "nm"}
    viewer.add_image(scene.depth[:50], name="depth", colormap="magma", **turned)
    return register_panel
