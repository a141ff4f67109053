"""Learning a pair: from images to operators, diagnostics and provenance."""

from __future__ import annotations

import json
from inspect import signature

import imageio.v3 as iio
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import (
    Kept,
    diagnose,
    learn_operators,
    learn_steps,
    learn_with,
    random_frame,
)
from napari_cosparse.core.operators._objective import CoupledSparsity
from napari_cosparse.core.operators._sample import as_pairs, sample_patches
from napari_cosparse.core.operators._settings import Settings
from napari_cosparse.core.progress import drain

QUICK = {"side": 3, "samples": 600, "iterations": 15, "thresholds": (0.0, 0.0)}


def scene(seed=0, shape=(40, 50), steps=6):
    """Two views of piecewise constant shapes: edges at the same places, other values."""
    rng = np.random.default_rng(seed)
    u, v = np.zeros(shape), np.zeros(shape)
    rows, columns = np.indices(shape)
    for _ in range(steps):
        a, b, c = (*rng.standard_normal(2), rng.uniform(-15, 15))
        inside = a * (rows - shape[0] / 2) + b * (columns - shape[1] / 2) > c
        u[inside] += rng.standard_normal()
        v[inside] += rng.standard_normal()
    return u + 0.02 * rng.standard_normal(shape), v + 0.02 * rng.standard_normal(shape)


@pytest.fixture(scope="module")
def pairs():
    return [scene(0), scene(1)]


@pytest.fixture(scope="module")
def learned(pairs):
    return learn_operators(pairs, **QUICK)


def matrices(learned):
    group = learned.pair.groups[0]
    return group.coefficients_u, group.coefficients_v


def settings_for(**changes):
    values = {name: p.default for name, p in signature(learn_steps).parameters.items()}
    del values["pairs"]
    return Settings(**values | {"atoms": 18} | QUICK | changes)


def sample(pairs, settings):
    streams = [np.random.default_rng(number) for number in range(len(pairs))]
    return drain(sample_patches(as_pairs(pairs, settings.side), settings, streams))[0]


def test_rows_are_unit_and_without_mean(learned):
    for operator in matrices(learned):
        assert operator.shape == (18, 9)
        assert np.abs(operator.mean(axis=1)).max() < 1e-14
        assert np.abs(np.linalg.norm(operator, axis=1) - 1).max() < 1e-14


def test_history_falls_and_ends_at_the_reported_cost(learned):
    assert len(learned.history) == 16
    assert learned.history.dtype == np.float64
    assert np.all(np.diff(learned.history) < 0)
    assert learned.pair.metadata["cost"] == learned.history[-1]
    assert learned.stop is Stop.BUDGET_SPENT
    assert learned.evaluations >= 2 * 15 + 2


def test_same_seed_same_bits_for_any_number_of_threads(pairs, learned):
    for threads in (1, 2):
        with threadpool_limits(threads):
            again = learn_operators(pairs, **QUICK)
        assert all(map(np.array_equal, matrices(again), matrices(learned)))
        assert np.array_equal(again.history, learned.history)
        assert again.diagnostics.to_json() == learned.diagnostics.to_json()


def test_large_operators_do_not_depend_on_the_threads_either(pairs):
    ends = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            ends.append(matrices(learn_operators(pairs, **QUICK | {"side": 7, "iterations": 2})))
    assert all(map(np.array_equal, *ends))


def test_another_seed_gives_another_pair(pairs, learned):
    other = learn_operators(pairs, **QUICK, seed=1)
    assert not np.allclose(matrices(other)[0], matrices(learned)[0], atol=0.1)


def test_learned_pair_is_sparser_on_patches_it_has_not_seen(pairs):
    edges = {"thresholds": (0.05, 0.05)}
    learned = learn_operators(pairs, **QUICK | edges | {"iterations": 60, "mu": (1e2, 1e2)})
    patches = sample([scene(7)], settings_for(**edges))
    cost = CoupledSparsity(*patches, 400.0, 18)
    random = random_frame(3, 18).groups[0].coefficients_u
    assert cost.value(*matrices(learned)) < 0.9 * cost.value(random, random)


def test_steps_report_pairs_and_iterations(pairs):
    steps = list(learn_steps(pairs, **QUICK))
    assert [step.step for step in steps] == [1, 2, *range(2, 18)]
    assert {step.total for step in steps} == {17}
    assert np.isnan(steps[0].cost)
    assert np.isfinite(steps[-1].cost)


def test_both_functions_take_the_same_parameters():
    ours = dict(signature(learn_operators).parameters)
    assert ours.pop("report").default is None
    assert ours == dict(signature(learn_steps).parameters)


def test_unit_and_offset_of_the_images_do_not_matter(pairs, learned):
    changed = [(0.01 * u + 3, -500 * v + 1e4) for u, v in pairs]
    again = learn_operators(changed, **QUICK)
    assert np.allclose(again.history, learned.history, rtol=1e-4)


def test_unknown_pixels_are_never_used(pairs):
    """Whatever stands there, the result is the same."""
    holes = np.zeros(pairs[0][0].shape, bool)
    holes[5:9, 10:30] = True
    results = []
    for filling in (np.nan, np.inf, -np.inf, -1e30):
        u, v = pairs[0]
        spoilt = np.where(holes, filling, v)
        results.append(learn_operators([(u, spoilt)], **QUICK, invalid=(None, -1e30)))
    for result in results[1:]:
        assert all(map(np.array_equal, matrices(result), matrices(results[0])))
    patches_u, _ = sample([(u, np.where(holes, np.nan, v))], settings_for(samples=10**6))
    assert patches_u.shape[1] == 38 * 48 - 6 * 22


def test_each_pair_gives_equally_many_patches(pairs):
    u, v = scene(3, (200, 200))
    patches, _ = sample([pairs[0], (u, v)], settings_for(samples=1000))
    first, _ = sample([pairs[0]], settings_for(samples=500))
    assert patches.shape == (9, 1000)
    assert np.array_equal(patches[:, :500], first)


def test_patches_of_a_pair_come_from_the_same_place(pairs):
    u, _ = pairs[0]
    for symmetries in (False, True):
        ours, theirs = sample([(u, 5 - 2 * u)], settings_for(symmetries=symmetries))
        assert np.allclose(ours, -theirs, atol=1e-5)


def test_symmetries_turn_the_patches():
    ramp = np.add.outer(np.zeros(30), np.arange(30.0)) + 1e-3 * scene()[0][:30, :30]
    plain, _ = sample([(ramp, ramp)], settings_for())
    turned, _ = sample([(ramp, ramp)], settings_for(symmetries=True))
    right = np.tile([-1.0, 0.0, 1.0], 3)
    assert (right @ plain > 0).all()
    assert 0.15 < (right @ turned > 3).mean() < 0.35  # two of the eight keep the direction
    assert 0.15 < (right @ turned < -3).mean() < 0.35


@pytest.mark.parametrize(("side", "atoms"), [(2, 3), (2, None), (4, None), (3, 8), (3, 40)])
def test_any_side_and_number_of_atoms(pairs, side, atoms):
    learned = learn_operators(pairs, **QUICK | {"side": side, "atoms": atoms, "iterations": 3})
    assert matrices(learned)[0].shape == (atoms or 2 * side**2, side**2)
    assert np.all(np.diff(learned.history) < 0)


def test_fewer_patches_than_asked_for_are_told(pairs):
    learned = learn_operators([pairs[0]], **QUICK | {"samples": 10**7, "iterations": 1})
    assert learned.pair.metadata["samples"] == 10**7
    assert learned.pair.metadata["patches"] == 38 * 48


def test_metadata_is_json_and_tells_the_provenance(learned):
    metadata = json.loads(json.dumps(dict(learned.pair.metadata), allow_nan=False))
    expected = {
        "side": 3,
        "atoms": 18,
        "samples": 600,
        "patches": 600,
        "nu": 400.0,
        "kappa": [5.0, 22.0],
        "mu": [1e2, 2.5e4],
        "thresholds": [0.0, 0.0],
        "symmetries": False,
        "invalid": [None, None],
        "iterations": 15,
        "seed": 0,
        "stop": "budget spent",
    }
    assert {key: metadata[key] for key in expected} == expected
    assert metadata["version"]
    assert metadata["diagnostics"]["condition_u"] >= 1


def test_diagnostics_of_a_known_pair():
    """Two atoms, patches whose co-supports are known."""
    u = np.array([[1.0, -1, 0, 0], [0, 0, 1, -1], [1, 1, -1, -1]]) / np.sqrt([[2], [2], [4]])
    zero_in_u = np.array([0, 0, 1, 1], bool)  # atom 0, for four patches
    zero_in_v = np.array([0, 1, 1, 1], bool)
    patch_u, patch_v = (
        np.array([np.where(zero, 0.0, 1.0), np.zeros(4), np.ones(4), -np.ones(4)], np.float32)
        for zero in (zero_in_u, zero_in_v)
    )
    found = diagnose(u, u, patch_u, patch_v, nu=100.0, rng=np.random.default_rng(0))
    assert found.threshold == pytest.approx(0.1)
    assert found.condition_u == pytest.approx(1.0)
    assert found.coherence_v == pytest.approx(0.0, abs=1e-15)
    assert found.activity_u.tolist() == [0.5, 0.0, 0.5]
    assert found.activity_v.tolist()[:2] == [0.75, 0.0]
    assert found.matched[0] == 1.0
    assert np.isnan(found.matched[1])
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["matched"][1] is None


def test_coupling_shows_in_matched_against_shuffled_pairs():
    u, _ = scene(0)
    edges = {"thresholds": (0.05, 0.05), "iterations": 60}
    found = learn_operators([(u, u)], **QUICK | edges).diagnostics.summary()
    assert found["matched"] > 1.5 * found["shuffled"]
    assert found["shuffled"] == pytest.approx(found["activity_v"], abs=0.05)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"side": 1}, "side 1"),
        ({"side": 2.5}, r"side 2\.5"),
        ({"atoms": 7}, "rank penalty is infinite"),
        ({"samples": 0}, "samples 0"),
        ({"nu": 0.0}, r"nu 0\.0"),
        ({"nu": np.nan}, "nu nan"),
        ({"kappa": (1.0,)}, "kappa"),
        ({"mu": (1.0, -1.0)}, "mu"),
        ({"thresholds": (np.inf, 0.0)}, "thresholds"),
        ({"iterations": 0}, "iterations 0"),
        ({"seed": -1}, "seed -1"),
        ({"invalid": (0,)}, "invalid"),
        ({"side": 41, "samples": 10}, "do not fit"),
    ],
)
def test_wrong_parameters_are_refused_before_any_work(pairs, changes, words):
    with pytest.raises(InputError, match=words):
        learn_steps(pairs, **QUICK | changes)


def test_wrong_images_are_refused_by_name(pairs):
    u, v = pairs[0]
    with pytest.raises(InputError, match=r"image pair 2.*same size"):
        learn_steps([pairs[0], (u, v[:-1])], **QUICK)
    with pytest.raises(InputError, match="no image pairs"):
        learn_steps([], **QUICK)
    with pytest.raises(InputError, match="image pair 1 has 3 images"):
        learn_steps([(u, v, v)], **QUICK)


def test_images_without_a_usable_patch_are_refused_with_the_way_out():
    flat = np.ones((20, 20))
    with pytest.raises(InputError, match="Lower the thresholds"):
        learn_operators([(flat, flat)], **QUICK)
    with pytest.raises(InputError, match="unknown pixels"):
        learn_operators([(np.full((20, 20), np.nan), flat)], **QUICK)


@pytest.mark.parametrize("dark", [0.0, np.nan])
@pytest.mark.parametrize("symmetries", [False, True])
def test_pairs_without_a_usable_patch_are_left_out(pairs, dark, symmetries):
    options = QUICK | {"symmetries": symmetries}
    expected = learn_operators(pairs, **options)
    empty = np.full_like(pairs[0][1], dark)
    found = learn_operators([*pairs, (pairs[0][0], empty), (empty, pairs[0][1])], **options)
    assert np.array_equal(matrices(found)[1], matrices(expected)[1])
    assert np.array_equal(found.history, expected.history)
    assert (expected.skipped, found.skipped) == ((), (3, 4))
    assert "skipped" not in expected.pair.metadata
    assert found.pair.metadata["skipped"] == [3, 4]
    with pytest.raises(InputError, match="no patch of side 3 may be used"):
        learn_operators([(pairs[0][0], empty)] * 2, **options)


def test_arguments_stay_as_they_are(pairs):
    before = [image.copy() for pair in pairs for image in pair]
    learn_operators(pairs, **QUICK | {"iterations": 1})
    assert all(map(np.array_equal, before, [image for pair in pairs for image in pair]))


def test_real_images_give_coupled_operators(data_dir):
    folders = [data_dir / "middlebury/train" / name for name in ("moebius", "reindeer")]
    pairs = [(iio.imread(f / "image.png"), iio.imread(f / "disparity.png")) for f in folders]
    learned = learn_operators(
        pairs, side=3, samples=3000, iterations=60, thresholds=(0.05, 0.03), invalid=(None, 0)
    )
    found = learned.diagnostics.summary()
    assert found["matched"] > 1.2 * found["shuffled"]
    assert found["condition_v"] < 2
    assert np.all(np.diff(learned.history) < 0)


class Memory:
    """Keeps a run in memory, as a file would: copies of numbers."""

    def __init__(self, every=1, found=None):
        self.every, self.found, self.kept, self.patches = every, found, [], None

    def begin(self, patches, settings):
        self.patches = patches
        return self.found

    def keep(self, kept):
        if kept.last.index % self.every == 0:
            self.kept.append(Kept(kept.last, list(kept.history)))


@pytest.mark.parametrize("at", [0, 1, 7, 14])
def test_a_run_that_was_kept_goes_on_with_the_same_bits(pairs, learned, at):
    memory = Memory()
    drain(learn_with(pairs, settings_for(), keeper=memory))
    kept = memory.kept[at]
    assert kept.last.index == at
    again = Memory(found=kept)
    seen = []
    found = drain(learn_with(pairs, settings_for(), keeper=again), seen.append)
    assert np.array_equal(found.history, learned.history)
    assert found.evaluations == learned.evaluations
    assert all(map(np.array_equal, matrices(found), matrices(learned)))
    assert found.pair.metadata == learned.pair.metadata
    assert len(seen) == len(pairs) + QUICK["iterations"] - at
    assert all(map(np.array_equal, again.patches, memory.patches))


@pytest.mark.parametrize("change", [{"block": 31}, {"block": 64.0}])
def test_parts_have_a_size(change):
    with pytest.raises(InputError, match="block"):
        settings_for(**change)


def test_the_size_of_parts_is_told_if_it_was_chosen():
    assert "block" not in settings_for().to_json()
    assert settings_for(block=64).to_json()["block"] == 64
