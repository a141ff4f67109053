"""Targets of which nothing is known: refused as in memory; in stacks they stay unknown."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, make_scene, upsample, upsample_to_store
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.tiles import _as_source, _look, _sources

SCENE = make_scene((48, 64), 0)
TARGET = degrade(SCENE.depth, 4)
LEVELS = np.rint(1000 * TARGET).astype(np.uint16)
OPTIONS = {"operators": "differences", "threads": 1}
NOTHING = {
    "nan": (np.full_like(TARGET, np.nan), {}),
    "infinite": (np.full_like(TARGET, np.inf), {}),
    "invalid": (np.zeros_like(LEVELS), {"invalid": 0}),
    "without weight": (TARGET, {"weights": np.zeros_like(TARGET)}),
    "off the guide": (  # what is known lies below it
        np.vstack([np.full((20, 16), np.nan, TARGET.dtype), TARGET]),
        {"factor": 4, "origin": (1.5, 1.5)},
    ),
}


def stored(target, place, **options):
    """Record and result of a run into a store."""
    found = upsample_to_store(target, SCENE.guide, place, **OPTIONS, **options)
    return found, zarr.open_array(found.path)[:]


@pytest.mark.parametrize("block", [None, 32])
@pytest.mark.parametrize("case", NOTHING)
def test_a_target_of_which_nothing_is_known_is_refused_as_in_memory(tmp_path, case, block):
    target, options = NOTHING[case]
    with pytest.raises(InputError, match="no known sample") as memory:
        upsample(target, SCENE.guide, **OPTIONS, **options)
    with pytest.raises(InputError, match="no known sample") as store:
        stored(target, tmp_path / "o.zarr", **options, block=block)
    assert str(store.value) == str(memory.value)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("block", [None, 32])
def test_one_plane_of_a_stack_stays_unknown(tmp_path, block):
    stack = np.stack([TARGET, np.full_like(TARGET, np.nan), TARGET[::-1]])
    found, image = stored(stack, tmp_path / "o.zarr", block=block)
    assert found.blank == ((1,),)
    assert np.isnan(image[1]).all()
    assert np.isfinite(image[[0, 2]]).all()
    notes = zarr.open_array(found.path).attrs["napari-cosparse"]
    assert notes["result"]["blank"] == [[1]]
    assert notes["scalars"][1] is None
    alone, expected = stored(TARGET, tmp_path / "p.zarr", block=block)
    assert alone.blank == ()
    assert np.array_equal(image[0], expected)


def test_one_channel_stays_unknown(tmp_path):
    target = np.stack([TARGET, TARGET, np.full_like(TARGET, np.nan)], -1)
    found, image = stored(target, tmp_path / "o.zarr")
    assert found.blank == ((2,),)
    assert np.isnan(image[..., 2]).all()
    assert np.isfinite(image[..., :2]).all()


def test_integers_mark_unknown_planes_by_the_invalid_value(tmp_path):
    stack = np.stack([LEVELS, np.full_like(LEVELS, 65535)])
    found, image = stored(stack, tmp_path / "o.zarr", dtype="input", invalid=65535)
    assert (found.blank, image.dtype) == (((1,),), np.uint16)
    assert (image[1] == 65535).all()
    assert image[0].max() < 65535


def test_integers_that_cannot_mark_a_plane_are_refused(tmp_path):
    stack = np.stack([np.median(TARGET) < TARGET, np.ones(TARGET.shape, bool)])
    message = r"no known sample in plane 1, which the type bool cannot mark.*float32"
    with pytest.raises(InputError, match=message):
        stored(stack, tmp_path / "o.zarr", dtype="input", invalid=1)
    assert not any(tmp_path.iterdir())


def test_integers_mark_unknown_blocks_too(tmp_path):
    target = np.full((40, 16), 7, np.uint16)
    target[:4] = LEVELS[:4]
    guide = np.tile(SCENE.guide, (4, 1, 1))[:160]
    options = {**OPTIONS, "block": 32, "dtype": "input"}
    found = upsample_to_store(target, guide, tmp_path / "o.zarr", **options, invalid=7)
    image = zarr.open_array(found.path)[:]
    assert (image[-16:] == 7).all()
    assert image[:16].min() > 7
    weights = np.where(target == 7, 0, 1)
    with pytest.raises(InputError, match=r"no known sample near rows 64:96, columns 0:32.*uint16"):
        upsample_to_store(target, guide, tmp_path / "p.zarr", **options, weights=weights)
    assert [path.name for path in tmp_path.iterdir()] == ["o.zarr"]


def test_samples_without_weight_are_unknown_in_blocks(tmp_path):
    weights = np.zeros(TARGET.shape)
    weights[:4] = 1
    spoiled = np.where(weights > 0, TARGET, 1e6).astype(np.float32)
    _, image = stored(spoiled, tmp_path / "o.zarr", block=32, weights=weights)
    unknown = np.where(weights > 0, TARGET, np.nan).astype(np.float32)
    _, expected = stored(unknown, tmp_path / "p.zarr", block=32)
    assert np.array_equal(image, expected, equal_nan=True)
    assert np.isfinite(image[:16]).all()


@pytest.mark.parametrize("value", [-1, np.nan, np.inf])
def test_weights_must_be_finite_and_not_negative(tmp_path, value):
    weights = np.ones(TARGET.shape)
    weights[3, 4] = value
    with pytest.raises(InputError, match=f"weights have the value {value}; they must be finite"):
        stored(TARGET, tmp_path / "o.zarr", weights=weights)
    assert not any(tmp_path.iterdir())


def test_known_samples_beside_the_pieces_that_are_looked_at_count(monkeypatch):
    monkeypatch.setattr(_look, "SAMPLED", 600)
    monkeypatch.setattr(_sources, "PIECE_PIXELS", 1)
    monkeypatch.setattr(_sources, "PIECE_ROWS", 8)
    target = np.full((64, 20, 3), np.nan, np.float32)  # every third piece of 8 rows is looked at
    target[9, 3, :2] = 5
    target[24, :, 1] = 6
    for chunks in ((64, 20, 3), (7, 20, 3)):
        lazy = da.from_array(target, chunks=chunks)
        source = _as_source.as_source(lazy, "target", colour=True)
        looked = drain(_look.look_at_target(source, (), Settings()))
        assert looked.known.sum((0, 1)).tolist() == [1, 21, 0]
        assert looked.samples.shape == (8 * 4, 20, 3)


def test_masks_are_kept(tmp_path):
    mask = np.zeros(TARGET.shape, bool)
    mask[2:5, 3:9] = True
    spoiled = np.where(mask, 1e6, TARGET).astype(np.float32)
    masked = np.ma.MaskedArray(spoiled, mask)
    lazy = da.ma.masked_array(da.from_array(spoiled, chunks=5), da.from_array(mask, chunks=5))
    expected = upsample(np.where(mask, np.nan, TARGET), SCENE.guide, **OPTIONS).image
    for number, target in enumerate((masked, lazy)):
        assert np.array_equal(upsample(target, SCENE.guide, **OPTIONS).image, expected)
        _, image = stored(target, tmp_path / f"{number}.zarr")
        assert np.array_equal(image, expected)


def test_blocks_without_a_known_sample_are_counted(tmp_path, capsys):
    guide = np.tile(SCENE.guide, (4, 1, 1))[:160]
    target = np.full((40, 16), np.nan, np.float32)
    target[:4] = TARGET[:4]
    found = upsample_to_store(target, guide, tmp_path / "o.zarr", **OPTIONS, block=32)
    image = zarr.open_array(found.path)[:]
    assert (found.blank, found.blank_blocks) == ((), 6)  # of 5 x 2: 32 pixels of halo reach on
    assert np.isnan(image[-64:]).all()
    notes = zarr.open_array(found.path).attrs["napari-cosparse"]["result"]
    assert (notes["blank_blocks"], notes["blocks"]) == (6, 10)
    stack = np.stack([TARGET, np.full_like(TARGET, np.nan)])
    assert stored(stack, tmp_path / "p.zarr", block=32)[0].blank_blocks == 0  # plane 1 is named
    part = {"factor": 4, "origin": (1.5, 1.5), "block": 32}
    beside = upsample_to_store(TARGET, guide, tmp_path / "q.zarr", **OPTIONS, **part)
    assert np.isnan(zarr.open_array(beside.path)[-64:]).all()
    assert beside.blank_blocks == 0  # nor does the target cover them in memory


def test_what_a_turned_target_does_not_cover_is_no_blank_block(tmp_path):
    part = np.array([[1, -1, 48], [1, 1, 16], [0, 0, 4 * np.sqrt(2)]]) / (4 * np.sqrt(2))
    guide, options = np.tile(SCENE.guide, (3, 3, 1)), {**OPTIONS, "block": 32}
    bare = upsample_to_store(TARGET, guide, tmp_path / "o.zarr", **options, transform=part)
    assert np.isnan(zarr.open_array(bare.path)).any()
    assert bare.blank_blocks == 0
    part[:2, 2] += 20
    rim = np.pad(
        TARGET, 20, constant_values=np.nan
    )  # now it covers more, of which nothing is known
    found = upsample_to_store(rim, guide, tmp_path / "p.zarr", **options, transform=part)
    assert 0 < found.blank_blocks < found.blocks


def test_what_the_target_does_not_cover_is_invalid_too(tmp_path):
    part = {"factor": 4, "origin": (1.5, 1.5), "dtype": "input"}
    for block in (None, 32):
        found, image = stored(LEVELS[:6], tmp_path / "o.zarr", **part, invalid=0, block=block,
                              overwrite=True)  # fmt: skip
        assert found.dtype == "uint16"
        assert (image[-16:] == 0).all()
        assert image[:24].min() > 0
    turned = np.array([[0.25, 0.02, -0.4], [-0.02, 0.25, 0.1], [0, 0, 1]])
    options = {"transform": turned, "dtype": "input", "invalid": 0}
    _, image = stored(LEVELS, tmp_path / "o.zarr", **options, overwrite=True)
    expected = stored(LEVELS, tmp_path / "p.zarr", **{**options, "dtype": "float32"})[1]
    assert np.array_equal(image == 0, np.isnan(expected))
    for wrong in (None, 0.5, -1, 65536):
        with pytest.raises(InputError, match=r"float32', or give `invalid`"):
            stored(LEVELS[:6], tmp_path / "q.zarr", **part, invalid=wrong)


def test_blocks_that_do_not_overlap_are_not_compared(tmp_path):
    stack = np.stack([TARGET, TARGET])
    assert stored(stack, tmp_path / "o.zarr")[0].compared == 0
    found, _ = stored(stack, tmp_path / "p.zarr", block=32)
    assert found.compared == 2 * 16 * (40 + 40 + 40 + 24)  # fades of 16 pixels
