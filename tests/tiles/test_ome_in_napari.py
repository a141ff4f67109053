"""Written OME-Zarr, read by napari's own reader of that format (napari-ome-zarr, through npe2)."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, make_scene, upsample_to_store
from napari_cosparse.tiles import _ome, open_levels
from napari_cosparse.tiles._axes import axes_of

layers = pytest.importorskip("napari.layers")
pytest.importorskip("napari_ome_zarr")
npe2 = pytest.importorskip("npe2")

SCENE = make_scene((64, 80), 0)
TARGET = degrade(SCENE.depth, 4)
OPTIONS = {"operators": "intensity-depth-3x3", "threads": 1}
MICROMETRES = ("micrometer", "micrometer")


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Write a result in levels and open it as napari does: one layer."""
    monkeypatch.setattr(_ome, "SMALLEST", 40)

    def open_result(target, **options):
        place = tmp_path / "o.ome.zarr"
        upsample_to_store(target, SCENE.guide, place, **OPTIONS, **options)
        npe2.PluginManager.instance().discover()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the other plugin's libraries
            (found,) = npe2.read([str(place)], stack=False, plugin_name="napari-ome-zarr")
        data, settings, kind = found
        assert kind == "image"
        if "channel_axis" in settings:
            return data, settings
        return layers.Layer.create(data, dict(settings), kind)

    return open_result


def test_scale_units_axes_and_levels_are_napari_s(opened):
    layer = opened(TARGET, pixel_size=(0.5, 0.25), units=MICROMETRES)
    assert layer.multiscale
    assert [level.shape for level in layer.data] == [(64, 80), (32, 40)]
    assert tuple(layer.scale) == (0.5, 0.25)
    assert [str(unit) for unit in layer.units] == list(MICROMETRES)
    assert layer.axis_labels == ("y", "x")
    corner, far = layer.extent.world
    assert np.allclose(far - corner, (64 * 0.5, 80 * 0.25), atol=0.5)
    fine, coarse = (np.asarray(level) for level in layer.data)
    assert np.allclose(coarse, fine.reshape(32, 2, 40, 2).mean((1, 3)), atol=1e-5)
    assert np.sqrt(np.mean((fine - SCENE.depth) ** 2)) < 0.1 * np.ptp(SCENE.depth)


def test_stacks_keep_their_leading_axis(opened):
    units = ("micrometer", *MICROMETRES)
    stack = np.stack([TARGET, TARGET[::-1]])
    layer = opened(stack, axes="zyx", pixel_size=(2, 0.5, 0.25), units=units)
    assert [level.shape for level in layer.data] == [(2, 64, 80), (2, 32, 40)]
    assert tuple(layer.scale) == (2, 0.5, 0.25)
    assert layer.axis_labels == ("z", "y", "x")


def test_channels_of_a_colour_become_channels(opened):
    target = np.stack([TARGET, TARGET[::-1], TARGET], axis=-1)
    data, settings = opened(
        target,
        axes="yxc",
        colour=(True, True),
        pixel_size=(0.5, 0.25, 1),
        units=(*MICROMETRES, None),
    )
    assert settings["channel_axis"] == 0
    assert tuple(settings["scale"]) == (0.5, 0.25)
    assert data[0].shape == (3, 64, 80)


@pytest.mark.parametrize("target", [layers.Image(TARGET), layers.Image(SCENE.guide, rgb=True)])
def test_k10_a_result_is_shown_without_reading_its_finest_level(tmp_path, monkeypatch, target):
    from napari_cosparse.layers import destination, stored_data

    monkeypatch.setattr(_ome, "SMALLEST", 40)
    stored = upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.ome.zarr", **OPTIONS)
    coarse = zarr.open_array(stored.path / "1")[:]
    for chunk in (stored.path / "0/c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(b"unreadable")
    levels = open_levels(stored.path)
    with pytest.raises(Exception, match=r".+"):
        np.asarray(levels[0])  # so would anything that reads it
    where = destination(target, layers.Image(SCENE.guide[..., 0]))
    layer = layers.Layer.create(*stored_data(levels, stored, where))
    expected = (coarse.min(), coarse.max()) if target.rgb else target.contrast_limits
    assert tuple(layer.contrast_limits) == pytest.approx(tuple(expected))
    assert [level.shape for level in layer.data] == [(64, 80), (32, 40)]


def test_every_level_lies_where_the_finest_does(tmp_path):
    zarr.create_group(tmp_path / "image")
    _ome.describe_image(
        tmp_path / "image", "n", axes_of("yx", [None, None]), (2, 4), (10, -20), 2, {}
    )
    ome = zarr.open_group(tmp_path / "image").attrs["ome"]
    levels = [level["coordinateTransformations"] for level in ome["multiscales"][0]["datasets"]]
    assert [moves[0]["scale"] for moves in levels] == [[2, 4], [4, 8]]
    # the centre of a coarse pixel lies between those of the two that it stands for
    assert [moves[1]["translation"] for moves in levels] == [[10, -20], [11, -18]]
