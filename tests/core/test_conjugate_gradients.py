"""The conjugate-gradient driver, its rules, its line search and its honesty."""

from __future__ import annotations

from functools import partial
from itertools import islice
from math import inf

import numpy as np
import pytest

from napari_cosparse.core.descent import (
    Step,
    Stop,
    backtrack,
    dai_yuan,
    fletcher_reeves,
    hestenes_stiefel,
    hybrid,
    iterate,
    minimise,
    polak_ribiere_plus,
    steepest,
    until,
)
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import Flat, ZeroMeanSpheres

RULES = [hybrid, hestenes_stiefel, dai_yuan, polak_ribiere_plus, fletcher_reeves]


class Quadratic:
    """Half of x'Ax - 2b'x with eigenvalues from 1 to 100; counts its own calls."""

    def __init__(self, n=12, sign=1.0):
        rng = np.random.default_rng(3)
        basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
        self.matrix = basis * np.geomspace(1, 100, n) @ basis.T
        self.solution = rng.standard_normal(n)
        self.sign = sign
        self.calls = 0

    def value(self, point):
        self.calls += 1
        difference = point - self.solution
        return float(difference @ self.matrix @ difference / 2)

    def gradient(self, point):
        self.calls += 1
        return self.sign * (self.matrix @ (point - self.solution))


def exact(curve, value, slope, first):
    """Minimise a parabola along the curve exactly."""
    ahead, _ = curve(first)
    length = -slope * first**2 / (2 * (ahead - value - slope * first))
    end, point = curve(length)
    return Step(length, end, point, 2, accepted=True)


class Spread:
    """Smooth cost on spheres: rows want to be orthogonal and to look along given directions."""

    def __init__(self, shape):
        self.targets = np.random.default_rng(5).standard_normal(shape)

    def value(self, point):
        products = point @ point.T
        return float(np.sum(products**2) / 4 - np.sum(point * self.targets))

    def gradient(self, point):
        return point @ point.T @ point - self.targets


@pytest.mark.parametrize("rule", RULES)
def test_rules_agree_on_a_quadratic_with_exact_steps(rule):
    path = list(islice(iterate(Flat(), Quadratic(), np.zeros(12), beta=rule, search=exact), 8))
    reference = list(islice(iterate(Flat(), Quadratic(), np.zeros(12), search=exact), 8))
    for ours, theirs in zip(path, reference, strict=True):
        assert np.allclose(ours.point, theirs.point, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_exact_steps_reach_the_minimum_after_as_many_iterations_as_dimensions(rule):
    path = list(islice(iterate(Flat(), Quadratic(), np.zeros(12), beta=rule, search=exact), 13))
    assert path[12].value < 1e-8 * path[0].value
    assert path[9].value > 1e-8 * path[0].value


def test_steepest_descent_is_another_method():
    path = list(islice(iterate(Flat(), Quadratic(), np.zeros(12), beta=steepest, search=exact), 8))
    reference = list(islice(iterate(Flat(), Quadratic(), np.zeros(12), search=exact), 8))
    assert path[-1].value > 2 * reference[-1].value


@pytest.mark.parametrize("rule", [*RULES, steepest])
def test_line_search_reaches_the_minimum_of_a_quadratic(rule):
    problem = Quadratic()
    result = minimise(Flat(), problem, np.zeros(12), beta=rule, iterations=2000)
    assert result.stop.converged
    assert np.allclose(result.point, problem.solution, atol=1e-4)


@pytest.mark.parametrize("rule", [*RULES, steepest])
def test_values_never_rise_and_calls_are_counted(rule):
    problem = Quadratic()
    result = minimise(Flat(), problem, np.zeros(12), beta=rule, iterations=25)
    assert np.all(np.diff(result.values) < 0)
    assert result.evaluations == problem.calls
    assert result.iterations <= 25


def test_each_record_tells_the_calls_so_far():
    problem = Quadratic()
    for record in islice(iterate(Flat(), problem, np.zeros(12)), 10):
        assert record.evaluations == problem.calls


def test_gradient_of_wrong_sign_is_no_descent_and_no_convergence():
    problem = Quadratic(sign=-1.0)
    start = np.zeros(12)
    result = minimise(Flat(), problem, start)
    assert result.stop is Stop.NO_DESCENT
    assert not result.stop.converged
    assert result.iterations == 0
    assert np.array_equal(result.point, start)
    assert result.evaluations == problem.calls


def test_budget_is_kept_and_is_no_convergence():
    result = minimise(Flat(), Quadratic(), np.zeros(12), iterations=3)
    assert (result.stop, result.iterations) == (Stop.BUDGET_SPENT, 3)
    assert not result.stop.converged
    assert str(result.stop) == "budget spent"


def test_start_at_the_minimum_converges_at_once():
    problem = Quadratic()
    result = minimise(Flat(), problem, problem.solution)
    assert (result.stop, result.iterations, result.evaluations) == (Stop.GRADIENT_SMALL, 0, 2)


def test_constant_cost_is_noticed():
    result = minimise(
        Flat(), Quadratic(), np.zeros(12), change_tolerance=0.5, gradient_tolerance=0.0
    )
    assert result.stop is Stop.CHANGE_SMALL
    assert result.stop.converged


def test_start_that_is_not_admissible_is_refused():
    with pytest.raises(InputError, match="nan"):
        minimise(Flat(), Quadratic(), np.full(12, np.nan))


def test_start_is_not_changed():
    start = np.ones(12)
    minimise(Flat(), Quadratic(), start, iterations=5)
    assert np.array_equal(start, np.ones(12))


def test_restart_forgets_the_old_direction():
    records = islice(iterate(Flat(), Quadratic(), np.zeros(12), restart=4), 13)
    assert [record.index for record in records if record.restarted] == [0, 4, 8, 12]


@pytest.mark.parametrize("rule", [*RULES, steepest])
def test_spheres_converge_and_repeat_bit_for_bit(rule):
    space = ZeroMeanSpheres((5, 4))
    start = space.random(4, np.random.default_rng(0))
    runs = [minimise(space, Spread(start.shape), start, beta=rule, iterations=3000) for _ in "ab"]
    assert runs[0].stop is Stop.GRADIENT_SMALL
    assert np.all(np.diff(runs[0].values) < 0)
    assert np.array_equal(runs[0].point, runs[1].point)
    assert np.abs(np.linalg.norm(runs[0].point[:, :5], axis=1) - 1).max() < 1e-14


def test_convex_problem_has_one_minimum_from_two_starts():
    problem = Quadratic()
    ends = [
        minimise(Flat(), problem, start, iterations=2000, gradient_tolerance=1e-10).point
        for start in (np.zeros(12), np.full(12, 50.0))
    ]
    assert np.allclose(*ends, atol=1e-6)


def test_caller_may_stop_between_two_steps():
    steps = until(iterate(Flat(), Quadratic(), np.zeros(12)), iterations=100)
    records = list(islice(steps, 3))
    assert [record.index for record in records] == [0, 1, 2]
    assert all(record.stop is None for record in records)


def parabola(length):
    return (length - 1.0) ** 2, np.array([length])


def test_search_takes_a_good_first_trial_without_more():
    step = backtrack(parabola, 1.0, -2.0, 0.9)
    assert (step.length, step.evaluations, step.accepted) == (0.9, 1, True)
    assert step.value == parabola(0.9)[0]
    assert np.array_equal(step.point, parabola(0.9)[1])


def test_search_refines_a_short_trial_to_the_minimum():
    step = backtrack(parabola, 1.0, -2.0, 0.4)
    assert step.length == pytest.approx(1.0)
    assert step.evaluations == 2


def test_plain_rule_keeps_a_short_trial():
    assert backtrack(parabola, 1.0, -2.0, 0.4, refine=inf).length == 0.4


@pytest.mark.parametrize("first", [3.0, 50.0, 1e6])
def test_search_shortens_a_long_trial(first):
    step = backtrack(parabola, 1.0, -2.0, first)
    assert step.accepted
    assert 0 < step.length < 2
    assert step.evaluations < 20


def test_search_comes_back_from_where_the_cost_is_infinite_or_no_number():
    for bad in (inf, np.nan):
        step = backtrack(
            lambda t, bad=bad: (bad, np.array([t])) if t > 1.5 else parabola(t), 1.0, -2.0, 100.0
        )
        assert step.accepted
        assert step.length <= 1.5


def test_refinement_never_takes_a_worse_point():
    def kinked(length):
        return (1 - length if length <= 1 else 5.0), np.array([length])

    step = backtrack(kinked, 1.0, -1.0, 1.0)
    assert (step.length, step.value, step.evaluations) == (1.0, 0.0, 2)


def test_search_does_not_take_round_off_for_a_decrease():
    step = backtrack(lambda t: (1.0 + max(0.0, t - 1e-17), np.array([t])), 1.0, -1.0, 1.0)
    assert not step.accepted


def test_search_that_finds_nothing_says_so():
    calls = []

    def rising(length):
        calls.append(length)
        return 1.0 + length, np.array([length])

    step = backtrack(rising, 1.0, -2.0, 1.0, trials=7)
    assert (step.length, step.point, step.accepted) == (0.0, None, False)
    assert step.evaluations == len(calls) == 7


def test_driver_takes_another_search():
    plain = partial(backtrack, decrease=0.1, refine=inf)
    result = minimise(Flat(), Quadratic(), np.zeros(12), search=plain, iterations=2000)
    assert result.stop.converged


def test_a_record_goes_on_with_the_same_bits():
    def records(start, count):
        steps = iterate(Flat(), Quadratic(), start, restart=5, resumable=True)
        return list(islice(steps, count))

    whole = records(np.zeros(12), 12)
    for at in (0, 3, 5, 9):
        again = records(whole[at], 12 - at)
        for ours, theirs in zip(again, whole[at:], strict=True):
            assert np.array_equal(ours.point, theirs.point)
            assert (ours.index, ours.value, ours.length, ours.evaluations, ours.restarted) == (
                theirs.index, theirs.value, theirs.length, theirs.evaluations, theirs.restarted
            )  # fmt: skip


def test_a_record_without_the_rest_is_refused():
    first = next(iterate(Flat(), Quadratic(), np.zeros(12)))
    assert first.onward is None
    with pytest.raises(InputError, match="resumable"):
        next(iterate(Flat(), Quadratic(), first))
