"""Which measure is believed: two that find one place, and which of their answers is returned."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import drain
from napari_cosparse.core.registration import _cascade
from napari_cosparse.core.registration._answer import Answer
from napari_cosparse.core.registration._cascade import Order, Outcome, decide
from napari_cosparse.core.registration._frame import Frame
from napari_cosparse.core.registration._starts import Plan
from napari_cosparse.core.registration._verdict import Verdict

FRAME = Frame((60, 80), (60, 80))
SCENE = SimpleNamespace(frame=FRAME)


def outcome(measure, column, agreement):
    tau = np.eye(3)
    tau[1, 2] = column / FRAME.radius
    answer = Answer(tau, -1.0, agreement, 0.1, 20.0, 9, Stop.CHANGE_SMALL, (), 0.9)
    return Outcome(answer, measure, Verdict(trusted=False, reason="no", backward=5.0))


def decided(monkeypatch, apart, agreements):
    """Answer of the cascade where neither measure is trusted by itself."""
    found = {
        "both": outcome("both", 4.0, agreements[0]),
        "nmi": outcome("nmi", 4.0 + apart, agreements[1]),
    }

    def attempt(scene, measure, order):
        yield from ()
        return found[measure]

    monkeypatch.setattr(_cascade, "attempt", attempt)
    monkeypatch.setattr(_cascade, "elsewhere", evenly)
    monkeypatch.setattr(_cascade, "repeated", lambda *_: (0.5, 9.0))
    order = Order("auto", 30.0, Plan(30.0, 1.0, np.eye(2)), None, verdict=True, mirror=False)
    return drain(decide(SCENE, order))


def evenly(scene, measure, tau, plan):
    yield from ()
    return 0.1, False


@pytest.mark.parametrize("measure", ["both", "nmi"])
@pytest.mark.parametrize("doubtful", [False, True])
def test_doubtful_answers_of_any_measure_are_looked_for_in_the_mirror(
    monkeypatch, doubtful, measure
):
    found = {"both": outcome("both", 4.0, 0.25), "nmi": outcome("nmi", 40.0, 1.0)}
    trusted = Verdict(trusted=True, reason="yes", doubtful=doubtful)
    found[measure] = replace(found[measure], verdict=trusted)
    looked = []

    def attempt(scene, measure, order):
        yield from ()
        return found[measure]

    def look(scene, measure, order, before):
        looked.append(before)
        yield from ()
        return before

    monkeypatch.setattr(_cascade, "attempt", attempt)
    monkeypatch.setattr(_cascade, "elsewhere", evenly)
    monkeypatch.setattr(_cascade, "repeated", lambda *_: (0.5, 9.0))
    monkeypatch.setattr(_cascade, "_look_into_mirror", look)
    order = Order("auto", 30.0, Plan(30.0, 1.0, np.eye(2)), None, verdict=True)
    assert drain(decide(SCENE, order)).verdict is trusted
    assert bool(looked) is doubtful


@pytest.mark.parametrize("agreements", [(0.25, 1.0), (1.0, 0.25)])
@pytest.mark.parametrize(("apart", "trusted"), [(0.5, True), (2.9, True), (3.2, False)])
def test_two_measures_that_find_one_place_are_trusted(monkeypatch, apart, trusted, agreements):
    best = decided(monkeypatch, apart, agreements)
    assert best.verdict.trusted is trusted
    assert ("the same place in two searches" in best.verdict.because) == trusted
    assert best.verdict.backward == 5.0
    assert best.measure == ("nmi" if agreements[1] > agreements[0] else "both")
