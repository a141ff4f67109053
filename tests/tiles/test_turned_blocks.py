"""A turned target of any size, in blocks."""

import numpy as np
import pytest
import zarr

from napari_cosparse import make_scene, upsample, upsample_to_store
from napari_cosparse.core.reconstruction._turned import TurnedSampling


@pytest.fixture(scope="module")
def turned():
    """Target, guide, truth and transform, the target turned by 30 degrees."""
    scene = make_scene((224, 288), 0)
    angle = np.deg2rad(30)
    matrix = np.eye(3)
    matrix[:2, :2] = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / 4
    matrix[:2, 2] = np.array([27.5, 35.5]) - matrix[:2, :2] @ (111.5, 143.5)
    phi = TurnedSampling(scene.depth.shape, (56, 72), matrix, "box")
    target = np.where(phi.inside, phi.forward(scene.depth), np.nan).astype(np.float32)
    return target, scene.guide, scene.depth, matrix


def test_one_block_is_the_image_in_memory(turned, tmp_path):
    target, guide, _, matrix = turned
    stored = upsample_to_store(target, guide, tmp_path / "out.zarr", transform=matrix, noise=0)
    assert stored.blocks == 1
    whole = upsample(target, guide, transform=matrix, noise=0).image
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out.zarr")[:], whole)


def test_blocks_are_as_good_as_the_whole(turned, tmp_path):
    target, guide, depth, matrix = turned
    options = {"transform": matrix, "noise": 0}
    stored = upsample_to_store(target, guide, tmp_path / "out.zarr", block=128, **options)
    assert stored.blocks > 3
    np.testing.assert_allclose(stored.factor, (4, 4))
    blocks = zarr.open_array(tmp_path / "out.zarr")[:]
    whole = upsample(target, guide, **options).image
    np.testing.assert_array_equal(np.isnan(blocks), np.isnan(whole))
    scores = [np.sqrt(np.nanmean((image - depth) ** 2)) for image in (blocks, whole)]
    assert scores[0] < 1.02 * scores[1]


def test_chunks_of_the_input_change_no_bit(turned, tmp_path):
    import dask.array as da

    target, guide, _, matrix = turned
    options = {"transform": matrix, "noise": 0, "block": 128}
    upsample_to_store(target, guide, tmp_path / "a.zarr", **options)
    lazy = da.from_array(target, (9, 5)), da.from_array(guide, (103, 25, 3))
    upsample_to_store(*lazy, tmp_path / "b.zarr", **options)
    first, second = (zarr.open_array(tmp_path / name)[:] for name in ("a.zarr", "b.zarr"))
    np.testing.assert_array_equal(first, second)


def test_one_block_of_a_target_with_holes_is_the_image_in_memory(turned, tmp_path):
    _, guide, depth, matrix = turned
    small = matrix.copy()
    small[:2, 2] -= 9  # the first samples lie outside the guide
    phi = TurnedSampling(depth.shape, (48, 60), small, "box")
    target = np.where(phi.inside, phi.forward(depth), np.nan).astype(np.float32)
    upsample_to_store(target, guide, tmp_path / "out.zarr", transform=small, noise=0)
    whole = upsample(target, guide, transform=small, noise=0).image
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out.zarr")[:], whole)


def test_corners_beside_the_guide_are_no_unknown_samples(tmp_path):
    scene = make_scene((64, 96), 0)
    angle = np.deg2rad(20)
    matrix = np.eye(3)
    matrix[:2, :2] = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / 4
    matrix[0, 2] = 8.2
    phi = TurnedSampling(scene.depth.shape, (25, 29), matrix, "box")
    noise = np.random.default_rng(0).normal(0, 0.05, phi.inside.shape)
    target = np.where(phi.inside, phi.forward(scene.depth) + noise, np.nan)
    options = {"transform": matrix, "noise": 0.05, "threads": 1}
    place = tmp_path / "o.zarr"
    assert upsample_to_store(target, scene.guide, place, block=64, **options).blocks == 2
    blocks, whole = zarr.open_array(place)[:], upsample(target, scene.guide, **options).image
    # both weigh the samples alike; when they did not, they were 1.3 % apart
    assert np.sqrt(np.nanmean((blocks - whole) ** 2)) < 0.004 * np.ptp(scene.depth)
