"""The generated scene is exact, repeatable and has what it promises; Motorcycle fails plainly."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import _scene_shapes as shapes
from napari_cosparse.io import _scene_textures as textures
from napari_cosparse.io import make_scene, motorcycle


@pytest.fixture(scope="module")
def scene():
    return make_scene((120, 160), 3)


def test_types_and_sizes(scene):
    assert scene.guide.shape == (120, 160, 3)
    assert scene.guide.dtype == np.uint8
    assert scene.depth.shape == (120, 160)
    assert scene.depth.dtype == np.float32


def test_same_arguments_give_the_same_scene(scene):
    again = make_scene((120, 160), 3)
    assert np.array_equal(again.guide, scene.guide)
    assert np.array_equal(again.depth, scene.depth)


def test_another_seed_moves_things(scene):
    other = make_scene((120, 160), 4)
    assert np.mean(np.abs(other.depth - scene.depth) > 0.05) > 0.3


@settings(deadline=None, max_examples=15)
@given(st.tuples(st.integers(16, 90), st.integers(16, 90)), st.integers(0, 10**6))
def test_any_shape_and_seed(shape, seed):
    made = make_scene(shape, seed)
    assert made.guide.shape == (*shape, 3)
    assert made.depth.shape == shape
    assert np.isfinite(made.depth).all()
    assert made.depth.min() > 0.5
    assert made.depth.max() < 12
    assert np.ptp(made.depth) > 0.5
    assert made.guide.std() > 8


def test_bands_of_rows_do_not_show():
    """A scene taller than one band has no seam: its rows are those of the pixel positions."""
    whole = make_scene((150, 30), 1).depth
    second = np.abs(np.diff(whole.astype(float), 2, axis=0))
    at_seams = second[[62, 63, 126, 127]].mean()
    assert at_seams < 2 * second.mean()


def test_depth_is_exact_on_any_grid():
    """Three times finer: the centres of every third pixel are those of the coarse one.

    Bars are as many pixels wide on both grids, so they alone may differ.
    """
    coarse, fine = make_scene((96, 128), 2), make_scene((288, 384), 2)
    same = np.abs(fine.depth[1::3, 1::3] - coarse.depth) < 1e-5
    assert same.mean() > 0.9


def test_the_guide_has_edges_that_the_depth_has_not(scene):
    gray = scene.guide.mean(2)
    flat = np.abs(np.diff(scene.depth, axis=1)) < 0.02
    painted = np.abs(np.diff(gray, axis=1)) > 25
    assert (painted & flat).mean() > 0.01
    assert (painted & ~flat).mean() > 0.005


def test_there_are_fine_structures(scene):
    """Bars: near on a pixel, far within four pixels on both sides."""
    depth = scene.depth
    centre = depth[:, 4:-4]
    thin = (depth[:, :-8] > centre + 0.3) & (depth[:, 8:] > centre + 0.3)
    assert thin.sum() > 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(((15, 40), 0), "at least 16"), (((40,), 0), "two sides"), (((40, 40), -1), "seed -1")],
)
def test_wrong_arguments(arguments, words):
    with pytest.raises(InputError, match=words):
        make_scene(*arguments)


# --- shapes -------------------------------------------------------------------------------------

INSIDE = {  # how far beyond its unit surface a local point is
    "ball": lambda p: np.linalg.norm(p, axis=1) - 1,
    "cylinder": lambda p: np.maximum(np.hypot(p[:, 0], p[:, 2]), np.abs(p[:, 1])) - 1,
    "box": lambda p: np.abs(p).max(1) - 1,
    "plane": lambda p: np.abs(p[:, 2]),
}


def random_solid(name, seed):
    rng = np.random.default_rng(seed)
    turn = Rotation.from_quat(rng.normal(size=4)).as_matrix() * rng.uniform(0.3, 1.5, 3)
    return getattr(shapes, name)(rng.normal(0, 0.5, 3) + np.array([0, 0, 6]), turn), rng


@pytest.mark.parametrize("name", INSIDE)
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_rays_enter_at_the_surface(name, seed):
    """Hits lie on the surface, nothing lies before them, and normals face the ray."""
    solid, rng = random_solid(name, seed)
    directions = np.column_stack([rng.uniform(-0.4, 0.4, (300, 2)), np.ones(300)])
    t = solid.cast(np.zeros((1, 3)), directions)
    hit = np.isfinite(t)
    points = directions[hit] * t[hit, None]
    assert np.abs(INSIDE[name](solid.local(points))).max(initial=0) < 1e-9
    steps = np.linspace(0, 1, 50, endpoint=False)[:, None, None]
    before = (steps * points).reshape(-1, 3)
    if name != "plane":
        assert INSIDE[name](solid.local(before)).min(initial=1) > -1e-9
        facing = (solid.normals(points) * directions[hit]).sum(1)
        assert facing.max(initial=-1) < 1e-6
    missed = directions[~hit]
    along = np.linspace(0.1, 12, 120)[:, None, None] * missed
    if name != "plane":
        assert INSIDE[name](solid.local(along.reshape(-1, 3))).min(initial=1) > -1e-3


def test_solids_are_hit():
    """The property above would also hold for rays that never meet anything."""
    for name in INSIDE:
        hits = [
            np.isfinite(random_solid(name, seed)[0].cast(np.zeros((1, 3)), np.array([[0, 0, 1.0]])))
            for seed in range(20)
        ]
        assert np.sum(hits) > 10


@pytest.mark.parametrize("name", ["ball", "cylinder", "box"])
def test_the_window_loses_no_ray(name):
    solid, _ = random_solid(name, 5)
    x, y = np.meshgrid(np.linspace(-0.6, 0.6, 60), np.linspace(-0.5, 0.5, 40))
    directions = np.stack([x, y, np.ones_like(x)], -1)
    t = solid.cast(np.zeros((1, 3)), directions.reshape(-1, 3)).reshape(x.shape)
    outside = np.ones(x.shape, bool)
    outside[solid.window(directions)] = False
    assert np.isfinite(t).any()
    assert outside.mean() > 0.3
    assert not np.isfinite(t[outside]).any()


def patterns():
    rng = np.random.default_rng(0)
    return {
        "stripes": textures.stripes(np.array([1.0, 2.0, 0.5])),
        "checks": textures.checks(np.ones(3)),
        "clouds": textures.clouds(2.0, rng),
        "rings": textures.rings(3.0, rng),
    }


@pytest.mark.parametrize("name", patterns())
def test_patterns_mix_both_colours(name):
    points = np.random.default_rng(1).uniform(-3, 3, (4000, 3))
    values = patterns()[name](points)
    assert values.shape == (4000,)
    assert values.min() >= 0
    assert values.max() <= 1
    assert values.std() > 0.1


def test_clouds_are_smooth():
    line = np.linspace(0, 2, 4001)[:, None] * np.array([1.0, 0.3, -0.7])
    values = patterns()["clouds"](line)
    assert np.abs(np.diff(values)).max() < 0.02


# --- the real pair ------------------------------------------------------------------------------


def test_motorcycle():
    data = pytest.importorskip("skimage.data")
    left, _, disparity = data.stereo_motorcycle()
    view = motorcycle()
    assert np.array_equal(view.guide, left)
    assert view.disparity.dtype == np.float32
    known = np.isfinite(view.disparity)
    assert 0.5 < known.mean() < 1
    assert np.array_equal(view.disparity[known], disparity[known])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionError("no route"), "could not be downloaded"),
        (ValueError("SHA256 hash does not match"), "could not be downloaded"),
        (ModuleNotFoundError("needs pooch"), r"needs pooch.*napari-cosparse\[samples\]"),
    ],
)
def test_motorcycle_fails_plainly(monkeypatch, error, words):
    data = pytest.importorskip("skimage.data")

    def fail():
        raise error

    monkeypatch.setattr(data, "stereo_motorcycle", fail)
    with pytest.raises(InputError, match=words):
        motorcycle()


def test_motorcycle_without_scikit_image(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.data", None)
    with pytest.raises(InputError, match=r"napari-cosparse\[samples\]"):
        motorcycle()
