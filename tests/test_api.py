"""The functions that Python users, the command line and the widgets share."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import napari_cosparse
from napari_cosparse import api
from napari_cosparse.core import reconstruction
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import random_frame
from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.io import read_image


def read_only_image(folder, stem):
    """The one image of that stem."""
    (path,) = folder.glob(f"{stem}.p*")
    return read_image(path)


SCENE = api.make_scene((48, 64), seed=0)
TARGET = api.degrade(SCENE.depth, 4)


@pytest.fixture(scope="module")
def plain():
    return api.upsample(TARGET, SCENE.guide)


@pytest.mark.parametrize("name", [n for n in napari_cosparse.__all__ if n != "__version__"])
def test_package_offers_what_the_facade_does(name):
    assert getattr(napari_cosparse, name) is getattr(api, name)
    assert name in api.__all__
    assert name in dir(napari_cosparse)


def test_facade_has_no_function_that_the_package_hides():
    assert set(api.__all__) == set(napari_cosparse.__all__) - {"__version__"}


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'napari_cosparse' has no attribute 'upsampel'"):
        napari_cosparse.upsampel  # noqa: B018


def test_operators_come_as_pair_name_or_file(plain, tmp_path):
    pair = api.load_operators(api.DEFAULT_OPERATORS)
    path = api.save_operators(tmp_path / "mine.npz", pair)
    for operators in (pair, api.DEFAULT_OPERATORS, path, str(path)):
        assert np.array_equal(api.upsample(TARGET, SCENE.guide, operators).image, plain.image)
    other = api.upsample(TARGET, SCENE.guide, random_frame())
    assert not np.array_equal(other.image, plain.image)


def test_default_operators_are_shipped():
    assert api.DEFAULT_OPERATORS in api.shipped_operators()
    for name in api.shipped_operators():
        assert api.load_operators(name).atoms > 0


@pytest.mark.parametrize("threads", [1, 2, None])
def test_threads_change_no_bit(plain, threads):
    assert np.array_equal(api.upsample(TARGET, SCENE.guide, threads=threads).image, plain.image)


def test_facade_is_the_core_in_threads(plain):
    pair = api.load_operators(api.DEFAULT_OPERATORS)
    direct = reconstruction.upsample(TARGET, SCENE.guide, pair)
    assert np.array_equal(plain.image, direct.image)
    assert plain.parameters == direct.parameters


def test_steps_report_and_end_in_the_same_result(plain):
    seen = []
    found = drain(api.upsample_steps(TARGET, SCENE.guide), seen.append)
    assert np.array_equal(found.image, plain.image)
    told = []
    api.upsample(TARGET, SCENE.guide, report=told.append)
    assert seen == told
    assert len(seen) == found.iterations
    assert all(isinstance(progress, Progress) for progress in seen)


def test_settings_reach_the_core():
    keywords = {"noise": 0.5, "phase": "corner", "blur": "gaussian", "guided": False, "seed": 3}
    found = api.upsample(TARGET, SCENE.guide, **keywords)
    assert {name: found.parameters[name] for name in keywords} == keywords
    steps = drain(api.upsample_steps(TARGET, SCENE.guide, **keywords))
    assert np.array_equal(found.image, steps.image)


def test_every_setting_of_the_core_has_the_same_name_and_default():
    keywords = inspect.signature(reconstruction.upsample).parameters
    fields = reconstruction.Settings.__dataclass_fields__
    shared = set(keywords) - {"target", "guide", "operators", "map_", "report"}
    assert shared == set(fields)
    assert all(keywords[name].default == fields[name].default for name in shared)


def test_signatures_are_those_that_can_be_called():
    shown = inspect.signature(api.register).parameters
    assert shown["operators"].default == "intensity-nir"
    assert "map_" not in shown
    assert "map_" not in (api.register.__doc__ or "")
    assert {"threads", "group", "verdict"} <= set(shown)
    assert {"level", "threads", "noise"} <= set(inspect.signature(api.upsample).parameters)


@pytest.mark.parametrize("call", [api.upsample, api.upsample_steps])
def test_wrong_input_is_refused_at_the_call(call):
    with pytest.raises(InputError, match="nothing-of-the-kind"):
        call(TARGET, SCENE.guide, "nothing-of-the-kind")
    with pytest.raises(InputError, match="noise -1"):
        call(TARGET, SCENE.guide, noise=-1)
    with pytest.raises(InputError, match="Swap the images"):
        call(SCENE.depth, TARGET)
    with pytest.raises(TypeError, match="nois"):
        call(TARGET, SCENE.guide, nois=0)


def test_scene_comes_back_better_than_by_interpolation():
    scene = api.make_scene((96, 128), seed=0)
    target = api.degrade(scene.depth, 4)
    operator = reconstruction.sampling_operator(scene.depth.shape, target.shape, (4, 4))
    smooth = reconstruction.bicubic(target, operator)
    found = api.upsample(target, scene.guide)
    errors = [np.sqrt(np.mean((image - scene.depth) ** 2)) for image in (found.image, smooth)]
    assert found.noise == 0
    assert errors[0] < 0.85 * errors[1]


def test_learned_operators_upsample():
    learned = api.learn_operators(
        [(SCENE.guide, SCENE.depth)], side=3, samples=300, iterations=10, seed=0
    )
    found = api.upsample(TARGET, SCENE.guide, learned.pair, noise=0)
    assert found.image.shape == SCENE.depth.shape
    assert found.misfit < 1e-4 * np.ptp(TARGET)


def test_real_image_and_disparity(data_dir):
    folder = data_dir / "middlebury" / "validation" / "dolls"
    disparity = read_only_image(folder, "disparity")[100:196, 140:268] / 3.0
    guide = read_only_image(folder, "image")[100:196, 140:268]
    known = disparity > 0
    target = api.degrade(np.where(known, disparity, np.nan), 4)
    found = api.upsample(target, guide, noise=0)
    assert found.image.shape == disparity.shape
    assert np.isfinite(found.image).all()
    measured = np.isfinite(target)
    assert np.abs(api.degrade(found.image, 4) - target)[measured].max() < 1e-4 * 30
    smooth = api.upsample(target, guide, guided=False, noise=0)
    errors = [
        np.sqrt(np.mean((result.image - disparity)[known] ** 2)) for result in (found, smooth)
    ]
    assert errors[0] < errors[1]
