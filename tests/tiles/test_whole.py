"""Scalars of images in memory, as a run in memory measures them."""

import numpy as np
import pytest

from napari_cosparse.core.reconstruction import Settings, degrade
from napari_cosparse.core.reconstruction._setup import prepare
from napari_cosparse.io import load_operators, make_scene
from napari_cosparse.tiles import _look, _whole, measure_whole

SCENE, BANK = make_scene((160, 200)), load_operators("intensity-depth")
LOW = degrade(SCENE.depth, 4, noise=0.05 * float(np.ptp(SCENE.depth)))
HOLES = np.where(np.arange(LOW.size).reshape(LOW.shape) % 7 == 0, np.float32(np.nan), LOW)
TURN = np.array([[0.2, -0.15, 3.0], [0.15, 0.2, -9.0], [0, 0, 1]])

CASES = {
    "whole": (LOW, Settings()),
    "unknown samples": (HOLES, Settings()),
    "part of the guide": (LOW[:20, :20], Settings(factor=4, origin=(17.5, 33))),
    "beyond the guide": (LOW, Settings(factor=4, origin=(61, -50))),
    "given noise, no guide": (LOW, Settings(noise=0.02, guided=False)),
    "turned": (LOW, Settings(transform=TURN)),
}


@pytest.mark.parametrize("case", CASES)
def test_scalars_are_those_of_the_run(case):
    target, settings = CASES[case]
    found = measure_whole(target, SCENE.guide, BANK, settings)
    problem = prepare(target, SCENE.guide, BANK, settings, map).problem
    assert found.unit == problem.target.unit
    guide = problem.prior._source
    assert (found.guide is None) == (guide is None)
    if guide is not None:
        assert found.guide == (guide._low, guide._span)
    beside = case in ("beyond the guide", "turned")  # the run leaves such samples out
    close = {"rel": 0.15} if beside else {"rel": 1e-6}
    assert found.noise == pytest.approx(problem.noise, **close)
    assert found.density == pytest.approx(problem.density, rel=0.03 if case == "turned" else 1e-6)
    if not beside:
        assert found.limits == tuple(problem.bounds)


def test_large_images_are_looked_at_in_parts(monkeypatch):
    whole = measure_whole(LOW, SCENE.guide, BANK, Settings())
    monkeypatch.setattr(_whole, "RANGED", 8000)
    monkeypatch.setattr(_look, "SAMPLED", 1000)
    monkeypatch.setattr("napari_cosparse.tiles._sources.PIECE_ROWS", 8)
    monkeypatch.setattr("napari_cosparse.tiles._sources.PIECE_PIXELS", 8)
    looked = []
    measured = _whole.measure
    monkeypatch.setattr(_whole, "measure", lambda *a: looked.append(a[0].shape) or measured(*a))
    found = measure_whole(LOW, SCENE.guide, BANK, Settings())
    assert looked == [(24, 50)]
    assert found.guide == pytest.approx(whole.guide, rel=0.05)
    assert found.noise == pytest.approx(whole.noise, rel=0.3)
    assert found.density == pytest.approx(whole.density, rel=1e-6)


def test_samples_known_elsewhere_than_in_the_parts_are_found(monkeypatch):
    monkeypatch.setattr(_look, "SAMPLED", 1000)
    monkeypatch.setattr("napari_cosparse.tiles._sources.PIECE_ROWS", 8)
    monkeypatch.setattr("napari_cosparse.tiles._sources.PIECE_PIXELS", 8)
    low = np.full_like(LOW, np.nan)
    low[9:15] = LOW[9:15]
    found = measure_whole(low, SCENE.guide, BANK, Settings())
    assert found.limits[0] < found.limits[1]
