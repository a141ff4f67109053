"""Types, sizes, the record and wrong input of upsampling."""

from __future__ import annotations

import json

import numpy as np
import pytest

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.core.reconstruction import (
    Settings,
    degrade,
    upsample_steps,
)
from support.disc_scene import BANK, DEPTH, GUIDE, LEVELS, SHAPE, TARGET, holed, run

# --- types and sizes ---

TYPES = [
    bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
    np.float16, np.float32, np.float64, ">u2", ">f4",
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_every_real_type_is_taken(dtype):
    target, guide = (TARGET > 1.5, GUIDE > 80) if dtype is bool else (LEVELS - 40, GUIDE / 2)
    target, guide = target.astype(dtype), guide.astype(dtype)
    plain = run(target.astype(np.float64), guide.astype(np.float64))
    found = run(target, guide)
    assert found.image.dtype == np.float32
    assert np.array_equal(found.image, plain.image)
    typed = run(target, guide, dtype="input").image
    assert typed.dtype == np.dtype(dtype)
    if typed.dtype.kind == "b":
        assert np.array_equal(typed, plain.image > 0.5)
    elif typed.dtype.kind == "f":
        assert np.allclose(typed.astype(float), plain.image, rtol=1e-3)
    else:
        assert np.array_equal(typed, np.rint(plain.image))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16])
def test_input_type_clips_and_does_not_wrap(dtype):
    limits = np.iinfo(dtype)
    depth = np.where(DEPTH > 2, float(limits.max), float(limits.min))
    found = run(degrade(depth, 4).astype(dtype), dtype="input", noise=0).image.astype(float)
    plain = run(degrade(depth, 4).astype(dtype), noise=0).image
    assert plain.max() > limits.max  # it overshoots a little, so that clipping matters
    assert np.abs(found - plain.clip(limits.min, limits.max)).max() <= 0.51


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.float64])
def test_input_type_keeps_digits_that_float32_has_not(dtype):
    base = 2_000_000_000
    target = (np.rint(TARGET * 500).astype(np.int64) + base).astype(dtype)
    found = run(target, noise=0, dtype="input").image
    plain = run(np.rint(TARGET * 500), noise=0).image
    assert np.abs(found.astype(np.float64) - base - plain).max() < 1.5


def test_extreme_integers_clip_at_their_ends():
    top = np.iinfo(np.int64).max
    target = np.where(TARGET > 2, top, -top)
    image = run(target, noise=0, dtype="input").image
    assert image.dtype == np.int64
    assert image.max() == top
    assert image.min() < -0.9 * top


@pytest.mark.parametrize("target", [[[3.0]], np.full((16, 18), 7, np.uint16)])
@pytest.mark.parametrize("noise", [None, 0.0, 0.5])
@pytest.mark.parametrize("solver", ["lbfgs", "cg"])
def test_constant_target_stays_constant(target, noise, solver):
    found = run(target, noise=noise, solver=solver)
    assert np.allclose(found.image, np.ravel(target)[0], rtol=0, atol=1e-5)
    assert found.image.shape == SHAPE


@pytest.mark.parametrize(
    ("target", "guide"),
    [
        ((1, 1), (1, 1)),
        ((1, 1), (4, 4)),
        ((1, 2), (1, 4)),
        ((1, 18), (1, 72)),
        ((1, 18), (4, 72)),
        ((16, 1), (64, 1)),
        ((16, 1), (64, 3)),
        ((2, 2), (5, 7)),
        ((3, 2), (3, 2)),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_images_of_a_line_or_a_pixel(target, guide, noise):
    rng = np.random.default_rng(0)
    samples = rng.integers(0, 5, target).astype(float)
    found = run(samples, rng.uniform(0, 9, guide), noise=noise)
    assert found.image.shape == guide
    assert np.isfinite(found.image).all()
    if noise == 0:
        assert found.misfit < 1e-4 * 5


# --- the record ---


def test_record_tells_what_was_done():
    found = run(noise=0)
    assert isinstance(found.costs, tuple)
    assert len(found.costs) == found.iterations > 0
    assert found.evaluations > found.iterations
    assert found.stop in (Stop.CHANGE_SMALL, Stop.BUDGET_SPENT)
    assert (found.factor, found.origin, found.blur) == ((4, 4), (1.5, 1.5), "box")
    assert found.image.shape == SHAPE


KEYWORDS = {
    "plain": {},
    "all": {
        "factor": np.float32(4),
        "phase": "corner",
        "blur": "gaussian",
        "noise": np.float32(0.05),
        "invalid": np.int64(0),
        "weights": np.ones(TARGET.shape),
        "guided": GUIDE.max() > 0,
        "origin": np.array([1.0, 2.0]),
        "start": np.ones(SHAPE),
        "seed": np.int64(3),
    },
    "infinite": {"invalid": np.nan, "factor": (4, 4)},
}


@pytest.mark.parametrize("keywords", KEYWORDS.values(), ids=KEYWORDS.keys())
def test_parameters_are_json(keywords):
    found = run(**keywords).parameters
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(found) >= {"factor", "origin", "phase", "blur", "noise", "invalid", "solver", "seed"}


def test_parameters_repeat_the_run():
    target = holed(0.0)
    first = run(target, blur="gaussian", phase="corner", invalid=0, start="random", seed=5)
    names = ("factor", "phase", "blur", "noise", "invalid", "guided", "solver", "start", "seed")
    again = run(target, **{name: first.parameters[name] for name in names})
    assert np.array_equal(first.image, again.image)


@pytest.mark.parametrize("solver", ["lbfgs", "cg"])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_progress_runs_from_first_to_last_step(solver, noise):
    seen = []
    found = run(solver=solver, noise=noise, report=seen.append)
    steps = [progress.step for progress in seen]
    assert all(isinstance(progress, Progress) for progress in seen)
    assert np.all(np.diff(steps) >= 0)
    assert steps[0] >= 0
    assert steps[-1] <= seen[0].total
    assert len({progress.total for progress in seen}) == 1
    assert [progress.cost for progress in seen] == list(found.costs)
    assert len({progress.stage for progress in seen}) > 1


def test_steps_can_be_stopped_and_started_again():
    steps = upsample_steps(TARGET, GUIDE, BANK)
    for _ in range(5):
        next(steps)
    steps.close()
    with pytest.raises(StopIteration):
        next(steps)
    assert np.array_equal(drain(upsample_steps(TARGET, GUIDE, BANK)).image, run().image)


def test_two_runs_side_by_side_do_not_mix():
    first, second = (upsample_steps(TARGET, guide, BANK) for guide in (GUIDE, GUIDE[::-1]))
    next(first), next(second), next(first)
    drain(second)
    assert np.array_equal(drain(first).image, run().image)


# --- wrong input ---

WRONG = {
    "target of a stack": (
        {"target": np.zeros((2, 8, 8))},
        r"target has shape \(2, 8, 8\).*one by one",
    ),
    "target a number": ({"target": 3}, r"target has shape \(\).*one row and one column"),
    "target empty": ({"target": np.zeros((0, 8))}, r"target has shape \(0, 8\).*one row and one"),
    "target unknown": ({"target": TARGET * np.nan}, "infinite or without weight. Check whether"),
    "target stack": ({"target": TARGET[None]}, "one plane.*upsample_to_store takes stacks"),
    "target all invalid": ({"target": 0 * TARGET, "invalid": 0}, "0.0. Check the invalid"),
    "target complex": ({"target": TARGET + 0j}, "target has type complex"),
    "target text": ({"target": [["a"]]}, "target has type <U1"),
    "target ragged": ({"target": [[1], [2, 3]]}, "target has rows of different lengths"),
    "target huge": ({"target": TARGET.astype(float) * 1e300}, r"values up to 3e\+300.*unit"),
    "target tiny": ({"target": TARGET.astype(float) * 1e-300}, "range of .*e-300.*unit"),
    "target finer": ({"target": np.ones((100, 100))}, "factor 0.64 along the rows.*Swap"),
    "guide a line": ({"guide": GUIDE[0]}, r"guide has shape \(72,\)"),
    "guide a stack": ({"guide": np.zeros((2, 9, 9, 3))}, r"guide has shape \(2, 9, 9, 3\)"),
    "guide of 65 bands": ({"guide": np.zeros((9, 9, 65))}, "at most 64 channels"),
    "guide empty": ({"guide": np.zeros((0, 9))}, r"guide has shape \(0, 9\)"),
    "guide complex": ({"guide": GUIDE + 0j}, "guide has type complex128"),
    "factor below 1": ({"factor": 0.5}, "factor 0.5 along the rows is below 1"),
    "factor 0": ({"factor": (0, 4)}, r"factor \(0, 4\) must be above 0 along rows and columns"),
    "factor negative": ({"factor": -2}, "factor -2 must be above 0"),
    "factor too large": ({"factor": 8}, "factor 8 puts 16 target rows on 128 pixels.*factor 4"),
    "factor too small": ({"factor": 2}, "factor 2 puts 16 target rows on 32.*factor 4"),
    "factor infinite": ({"factor": np.inf}, "factor inf must be finite"),
    "factor of three": ({"factor": (4, 4, 4)}, r"factor \(4, 4, 4\) must be one number, or two"),
    "factor text": ({"factor": "four"}, "factor 'four' must be one number, or two"),
    "phase": ({"phase": "center"}, "phase 'center' is unknown.*centre, corner"),
    "blur": ({"blur": "cubic"}, "blur 'cubic' is unknown.*gaussian, box, bicubic, none"),
    "noise negative": ({"noise": -1}, "noise -1 must be finite and at least 0"),
    "noise nan": ({"noise": np.nan}, "noise nan must be finite and at least 0"),
    "noise text": ({"noise": "much"}, "noise 'much' must be a number"),
    "invalid text": ({"invalid": "x"}, "invalid 'x' must be a number"),
    "weights shape": ({"weights": np.ones((3, 3))}, r"weights have shape \(3, 3\).*\(16, 18\)"),
    "weights negative": ({"weights": -TARGET}, "weights .*at least 0"),
    "weights nan": ({"weights": TARGET * np.nan}, "weights .*must be finite"),
    "weights nothing": ({"weights": 0 * TARGET}, "no known sample.*without weight"),
    "weights text": ({"weights": "x"}, "weights has type <U1"),
    "origin far": ({"origin": (500, 0)}, r"does not overlap.*\(500, 0\).*\(64, 72\)"),
    "origin just off": ({"origin": (67, 0), "factor": 4}, "does not overlap the guide"),
    "origin nan": ({"origin": (np.nan, 0)}, r"origin \(nan, 0\) must be finite"),
    "origin of three": ({"origin": (1, 2, 3)}, r"origin \(1, 2, 3\) must be one number, or two"),
    "solver": ({"solver": "adam"}, "solver 'adam' is unknown.*lbfgs, cg"),
    "start name": ({"start": "zero"}, "start 'zero' is unknown.*bicubic, random"),
    "start nothing": ({"start": None}, "start has type object"),
    "start shape": ({"start": TARGET}, r"start has shape \(16, 18\).*\(64, 72\)"),
    "start nan": ({"start": DEPTH * np.nan}, "start has values that are not finite"),
    "seed negative": ({"seed": -1}, "seed -1 must be a whole number"),
    "seed broken": ({"seed": 1.5}, "seed 1.5 must be a whole number"),
    "seed nothing": ({"seed": None}, "seed None must be a whole number"),
    "dtype": ({"dtype": "uint8"}, "dtype 'uint8' is unknown.*float32, input"),
    "dtype cannot hold NaN": (
        {"target": LEVELS[:8], "factor": 4, "origin": (1.5, 1.5), "dtype": "input"},
        r"dtype 'input' \(uint8\) cannot mark.*float32",
    ),
}


@pytest.mark.parametrize(("keywords", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input_is_named_before_any_work(keywords, message):
    rest = dict(keywords)
    target, guide = rest.pop("target", TARGET), rest.pop("guide", GUIDE)
    with pytest.raises(InputError, match=message):
        run(target, guide, **rest)
    with pytest.raises(InputError, match=message):
        upsample_steps(target, guide, BANK, Settings(**rest))  # at the call, not at the first step


def test_figures_are_those_of_the_rounded_result():
    levels = np.rint(10 * TARGET).astype(np.uint8)
    found = run(levels, noise=0, dtype="input")
    assert found.image.dtype == np.uint8
    misfit = np.abs(degrade(found.image, 4) - levels).max()
    assert found.misfit == pytest.approx(misfit, abs=1e-4)
    assert found.misfit > 0.01


@pytest.mark.parametrize("noise", [1e20, 1e160, 1e300])
def test_noise_beyond_all_bounds_leaves_a_finite_image(noise):
    found = run(TARGET, noise=noise)
    assert np.isfinite(found.image).all()
    assert found.noise == pytest.approx(noise)
