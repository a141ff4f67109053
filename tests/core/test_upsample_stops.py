"""The set-up of large images can be stopped between its steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from napari_cosparse.core.reconstruction import (
    Settings,
    _scalars,
    _scale,
    _setup,
    degrade,
    measure,
    upsample_steps,
)
from napari_cosparse.core.registration import RegisterSettings, _working, register_steps
from napari_cosparse.io import load_operators

DEPTH = np.linspace(1, 3, 32 * 32).reshape(32, 32)
TARGET, GUIDE = degrade(DEPTH, 4), DEPTH + np.eye(32)
PAIR = load_operators("differences")
STEPS = [
    (_scale, "as_numbers"),
    (_scale.Unit, "of"),
    (_setup, "weigh"),
    (_setup, "noise_of"),
    (_setup, "fill_nearest"),
    (_setup, "smooth_floor"),
]


class Told(Exception):  # noqa: N818 - nothing went wrong
    pass


def asking(told):
    """A map that stops who was told to."""

    def ask(function, items):
        if told:
            raise Told
        return map(function, items)

    return ask


@pytest.mark.parametrize(("before", "after"), list(pairwise(STEPS)), ids=lambda step: step[1])
def test_who_is_told_during_a_step_does_not_begin_the_next(monkeypatch, before, after):
    told, begun, call = [], [], getattr(*before)
    monkeypatch.setattr(*before, lambda *given: (call(*given), told.append(1))[0])
    inner = getattr(*after)
    monkeypatch.setattr(*after, lambda *given: (begun.append(1), inner(*given))[1])

    with pytest.raises(Told):
        upsample_steps(TARGET, GUIDE, PAIR, Settings(), map_=asking(told))
    assert not begun


def test_measuring_can_be_stopped(monkeypatch):
    told, begun, call = [], [], _scale.Unit.of
    monkeypatch.setattr(_scale.Unit, "of", lambda *given: (call(*given), told.append(1))[0])
    monkeypatch.setattr(_scalars, "noise_of", lambda *_: begun.append(1))

    with pytest.raises(Told):
        measure(TARGET, None, PAIR, Settings(), (4.0, 4.0), asking(told))
    assert not begun


@pytest.mark.parametrize("largest", [64, 32])
def test_the_set_up_of_a_registration_can_be_stopped(monkeypatch, largest):
    monkeypatch.setattr(_working, "LARGEST", largest)  # beyond it the images are reduced
    image, names = np.random.default_rng(0).random((64, 60)), []
    pair = load_operators("intensity-nir")

    def ask(function, items):
        names.append(function.__closure__[1].cell_contents.__name__)
        return map(function, items)

    register_steps(image, image, pair, RegisterSettings(), map_=ask).close()
    reads = ["block_means"] if largest < 64 else []
    assert names[: -names.count("make_level")] == 2 * [*reads, "fill"]
    assert names.count("make_level") >= 2

    def stop(function, items):
        raise Told

    with pytest.raises(Told):
        register_steps(image, image, pair, RegisterSettings(), map_=stop)
