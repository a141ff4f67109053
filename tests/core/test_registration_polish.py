"""The last step: both images are read between their pixels, and only small moves are believed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import minimum_filter

from napari_cosparse.core.progress import drain
from napari_cosparse.core.registration import _polish, _run
from napari_cosparse.core.registration._error import determine
from napari_cosparse.core.registration._motions import distance, exchanged
from napari_cosparse.core.registration._polish import polish
from napari_cosparse.core.registration._pyramid import make_level
from napari_cosparse.core.registration._samples import choose_samples
from napari_cosparse.core.registration._scene import make_scene
from napari_cosparse.core.registration._sides import make_side
from napari_cosparse.core.registration._solve import PIXELS, descend
from support.moved_pair import PAIR, motion, moved_pair, run

RADIUS = 2
APART = motion(0, (3.1, -2.1))  # near whole shifts, where noise draws


def noisy_pair(seed=0, deviation=12.0):
    """Two views, each with the noise of its own sensor."""
    rng = np.random.default_rng(seed)
    return [image + rng.normal(0, deviation, image.shape) for image in moved_pair(APART)]


def scene_of(pair, group="SE"):
    return make_scene(*(make_side(image, "image") for image in pair), group, PAIR)


def last_step(made, measure="both", start=APART, **ways):
    """Answer without the last step and with it."""
    tau = drain(descend(made, measure, made.frame.from_pixels(start), 0)).tau
    found = determine(made, made.cost(0, measure, PIXELS), tau, np.eye(3), 5)
    return tau, drain(polish(made, measure, tau, found, **ways))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(20, 60), st.sampled_from([1, 8]))
def test_samples_between_pixels(seed, side, block):
    rng = np.random.default_rng(seed)
    usable = rng.random((side, side + 5)) < 0.995
    level = make_level(rng.standard_normal(usable.shape).astype(np.float32), usable, 1)
    found = choose_samples(level, RADIUS, 10**6, seed, block, between=True)
    part = np.stack([found.rows[:, 0] % 1, found.columns[:, 0] % 1])
    assert 0 < part.std() < 0.5
    places = np.broadcast_arrays(found.rows[:, :, None], found.columns[:, None])
    np.testing.assert_array_equal(found.values, level.spline.sample(*places)[0])
    known = minimum_filter(usable, 2 * RADIUS + 1, mode="constant")
    for corner in ((0, 0), (1, 1)):  # the pixels on both sides of a place that counts are known
        rows, columns = (
            np.floor(lines[:, RADIUS:-RADIUS]).astype(int) + shift
            for lines, shift in zip((found.rows, found.columns), corner, strict=True)
        )
        at, across = np.broadcast_arrays(rows[:, :, None], columns[:, None])
        counted = found.weight > 0
        assert known[at[counted], across[counted]].all()


def shifted(made, shift):
    return made.frame.from_pixels(motion(0, (shift, shift)))


def test_noise_does_not_draw_towards_parts_of_a_pixel():
    rng = np.random.default_rng(5)
    made = scene_of([rng.standard_normal((160, 200)) for _ in range(2)])
    change = {}
    for between in (False, True):
        cost = made.cost(0, "mutual", 30_000, between=between)
        near, far = (cost(shifted(made, shift)).cost for shift in (0.0, 0.5))
        change[between] = abs(far - near)
    assert change[True] < 0.2 * change[False]


@pytest.mark.parametrize("measure", ["nmi", "coupled"])
def test_other_measures_have_no_last_step(measure):
    tau, after = last_step(scene_of(moved_pair(APART)), measure)
    assert after is tau


def test_a_far_move_is_not_believed(monkeypatch):
    made = scene_of(noisy_pair())
    monkeypatch.setattr(_polish, "LIMIT", 1e-6)
    tau, after = last_step(made)
    assert after is tau
    monkeypatch.undo()
    tau, after = last_step(made)
    assert 1e-6 < distance(made, after, tau) < _polish.LIMIT


@pytest.mark.parametrize("group", ["SE", "A"])
def test_exchanged_images_give_the_inverse(group):
    made = scene_of(noisy_pair(), group)
    tau, after = last_step(made)
    other = made.swapped()
    found = determine(made, made.cost(0, "both", PIXELS), tau, np.eye(3), 5)
    one = drain(polish(made, "both", tau, found, both_ways=False))
    unknown = replace(found, bend=None)
    back = drain(polish(other, "both", exchanged(made, other, one), unknown, both_ways=False))
    back = exchanged(other, made, back)
    # halfway: as far from the one as from the other, and no nearer way between them
    first, second = (distance(made, after, end) for end in (one, back))
    assert first == pytest.approx(second, rel=1e-2)
    assert first + second == pytest.approx(distance(made, one, back), rel=1e-2)
    assert first > 1e-4
    if group == "SE":
        np.testing.assert_allclose(after[:2, :2] @ after[:2, :2].T, np.eye(2), atol=1e-9)


def test_a_given_start_is_not_asked_the_other_way_round(monkeypatch):
    asked = []
    real = _run.polish
    monkeypatch.setattr(
        _run,
        "polish",
        lambda *given, **ways: asked.append(ways["both_ways"]) or real(*given, **ways),
    )
    for search in (True, False):
        run(*noisy_pair(), search=search, initial=None if search else APART, verdict=False)
    assert asked == [True, False]


def test_a_walk_that_does_not_end_is_not_believed(monkeypatch):
    monkeypatch.setattr(_polish, "ITERATIONS", 1)
    monkeypatch.setattr(_polish, "TOLERANCE", 1e-9)
    tau, after = last_step(scene_of(noisy_pair()))
    assert after is tau


def test_the_papers_solver_takes_no_last_step():
    stages = set()
    run(
        *noisy_pair(),
        search=False,
        solver="gradient",
        measure="mutual",
        initial=APART,
        report=lambda progress: stages.add(progress.stage),
    )
    assert stages
    assert "refine between the pixels" not in stages
