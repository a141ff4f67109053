"""Large holes are filled last: what is known does not hang on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import Settings, degrade, upsample, upsample_steps
from napari_cosparse.core.reconstruction._holes import large_holes, without_gaps
from napari_cosparse.core.reconstruction._place import place
from napari_cosparse.io import load_operators

FACTOR, SIDE, NOISE = 4, 160, 0.02
PAIR = load_operators("intensity-depth")
ROWS, COLUMNS = np.mgrid[:SIDE, :SIDE]
TRUTH = ((ROWS + COLUMNS) % 80 < 32).astype(float)
GUIDE = 0.4 + 0.3 * TRUTH + np.random.default_rng(0).normal(0, 0.01, TRUTH.shape)
NOISY = degrade(TRUTH, FACTOR, noise=NOISE, seed=1)
KNOWN = np.hypot(*(np.mgrid[: SIDE // 4, : SIDE // 4] - 17.0)) < 12
MASKED = np.where(KNOWN, NOISY, np.nan)
INSIDE = np.kron(KNOWN, np.ones((FACTOR, FACTOR), bool))


def solve(target, guide=GUIDE, noise=NOISE, **keywords):
    return upsample(target, guide, PAIR, factor=FACTOR, noise=noise, **keywords).image


def grid(known, **keywords):
    shape = FACTOR * known.shape[0], FACTOR * known.shape[1]
    return place(shape, known.shape, Settings(factor=(FACTOR, FACTOR), **keywords), map)[1]


def test_what_is_known_is_found_as_well_as_without_a_hole():
    rms = [np.sqrt(np.mean((solve(t) - TRUTH)[INSIDE] ** 2)) for t in (NOISY, MASKED)]
    assert rms[1] < 1.5 * rms[0]  # solved together with the hole it was 6 times as much


@pytest.mark.parametrize("noise", [0, NOISE])
@pytest.mark.parametrize("blur", ["box", "bicubic"])
def test_what_is_known_does_not_hang_on_the_guide_in_the_hole(blur, noise):
    other = GUIDE.copy()
    other[128:, 128:] = GUIDE[128:, :127:-1]  # its range stays
    first, second = (solve(MASKED, each, blur=blur, noise=noise) for each in (GUIDE, other))
    assert np.abs(first - second)[INSIDE].max() < 1e-5
    assert np.abs(first - second)[128:, 128:].max() > 1e-3  # but the hole does


@pytest.mark.parametrize("noise", [0, NOISE])
@pytest.mark.parametrize("start", ["bicubic", "random"])
def test_a_hole_is_filled_from_what_is_known(start, noise):
    """Its guide continues the stripes, and so does it near the samples."""
    image = solve(MASKED, start=start, noise=noise)
    near = np.kron(
        np.hypot(*(np.mgrid[: SIDE // 4, : SIDE // 4] - 17.0)) < 14,
        np.ones((FACTOR, FACTOR), bool),
    )
    assert np.sqrt(np.mean((image - TRUTH)[near & ~INSIDE] ** 2)) < 0.35
    assert np.isfinite(image).all()


def test_progress_counts_both_parts():
    steps = []

    def kept():
        settings_ = Settings(factor=(FACTOR, FACTOR), noise=NOISE)
        for progress in upsample_steps(MASKED, GUIDE, PAIR, settings_):
            steps.append(progress)
            yield progress

    drain(kept())
    numbers = [step.step for step in steps]
    assert numbers == sorted(set(numbers))
    assert {step.total for step in steps} == {120}
    assert steps[0].stage == "stage 1 of 6"
    assert steps[-1].stage == "holes, stage 6 of 6"
    assert 60 < numbers[-1] <= 120


def test_targets_without_large_holes_are_solved_at_once():
    few = np.where(np.random.default_rng(2).random(NOISY.shape) < 0.5, NOISY, np.nan)
    settings_ = Settings(factor=(FACTOR, FACTOR), noise=NOISE)
    for target in (NOISY, few):
        first = next(upsample_steps(target, GUIDE, PAIR, settings_))
        assert first.total == 60


@pytest.mark.parametrize("blur", ["box", "gaussian", "bicubic", "none"])
@pytest.mark.parametrize("phase", ["centre", "corner"])
def test_holes_keep_a_sample_away_from_what_is_known(blur, phase):
    phi = grid(KNOWN, blur=blur, phase=phase)
    holes = large_holes(KNOWN, phi)
    assert holes is not None
    assert not (holes & INSIDE).any()
    noise = np.random.default_rng(0).normal(size=holes.shape).astype(np.float32)
    assert not phi.forward(noise * holes)[KNOWN].any()
    rows, columns = np.nonzero(INSIDE)
    middle = np.array([rows.mean(), columns.mean()])
    far = np.hypot(ROWS - middle[0], COLUMNS - middle[1]) > 48 + 3 * FACTOR
    assert holes[far].all()


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.02, 0.6),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_part_of_an_image_has_the_holes_of_the_whole(seed, share, row, column):
    """As far as its halo reaches, six samples or more (docs/decisions, "Large images")."""
    rng = np.random.default_rng(seed)
    known = rng.random((30, 30)) < share**2
    known[8:22, 8:22] |= rng.random((14, 14)) < share
    if not known.any():
        return
    whole = large_holes(known, grid(known))
    part = known[row : row + 18, column : column + 18]
    if not part.any():
        return
    found = large_holes(part, grid(part))
    if whole is None:
        whole = np.zeros((120, 120), bool)
    if found is None:
        found = np.zeros((72, 72), bool)
    first, second = FACTOR * row, FACTOR * column
    same = whole[first : first + 72, second : second + 72] == found
    assert same[24:48, 24:48].all()


def test_gaps_are_no_holes():
    known = np.zeros((21, 21), bool)
    known[::5, ::5] = True
    assert without_gaps(known).all()
    assert large_holes(known, grid(known)) is None
