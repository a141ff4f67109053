"""A preview takes no longer than it may, on slow machines too."""

import numpy as np
import pytest

from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.widgets import _pace
from napari_cosparse.widgets._pace import FILLED, LEAST, ONCE, SHARE, TRIED, Slow, unless_slow
from napari_cosparse.widgets._preview_axis import LONGEST


@pytest.fixture
def clock(monkeypatch):
    """Time that the test makes go on."""
    time = [100.0]
    monkeypatch.setattr(_pace, "perf_counter", lambda: time[0])
    return time


def solver(clock, count, seconds, closed):
    """Report iterations of some seconds each, after a long beginning."""
    clock[0] += 50
    try:
        for step in range(count):
            yield Progress("solving", step, count)
            clock[0] += seconds
    finally:
        closed.append(step)
    return "the result"


@pytest.mark.parametrize(("allowed", "result"), [(1.01, "the result"), (0.99, Slow(1.0))])
def test_solver_is_given_up_where_its_first_iterations_tell_that_it_will_take_too_long(
    clock, allowed, result
):
    closed, seconds = [], SHARE / (TRIED[1] - TRIED[0])
    made = drain(unless_slow(solver(clock, 40, seconds, closed), allowed))
    if isinstance(result, Slow):
        assert made.needed == pytest.approx(result.needed)
    else:
        assert made == result
    assert closed == [39 if result == "the result" else TRIED[1] - 1]


def test_solver_that_fills_holes_has_farther_to_go(clock):
    seconds = SHARE / (TRIED[1] - TRIED[0])
    made = drain(unless_slow(solver(clock, 2 * ONCE, seconds, []), 1.9))
    assert made.needed == pytest.approx(FILLED)


def test_solver_that_is_done_at_once_is_not_judged(clock):
    assert drain(unless_slow(solver(clock, TRIED[1] - 1, 9.0, []), 0.1)) == "the result"


def test_the_slower_the_machine_the_less_is_computed():
    sides = [Slow(2.0).side(seconds) for seconds in np.linspace(-0.5, 3, 50)]
    assert sides == sorted(sides)
    assert (sides[0], sides[-1]) == (LEAST, LONGEST)
    assert LEAST < Slow(2.0).side(1.5) < LONGEST
