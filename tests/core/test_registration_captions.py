"""What is burnt into both images, a caption or a frame, fits whatever else they show."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import affine_transform, gaussian_filter

from napari_cosparse.core.registration._concentration import BETTER, NOTHING
from napari_cosparse.core.registration._frame import Frame
from napari_cosparse.core.registration._pyramid import Level
from napari_cosparse.core.registration._structure import structured
from napari_cosparse.core.registration._verdict import Verdict
from napari_cosparse.core.registration._verdict_after import in_few_places
from support.moved_pair import error, folded, motion, run

SHAPE = 240, 320
YES = Verdict(trusted=True, reason="yes")


def noise(seed, blur=0.0, shape=SHAPE):
    return gaussian_filter(np.random.default_rng(seed).normal(size=shape), blur)


def scenery(seed):
    """Blobs of many sizes."""
    random = np.random.default_rng(seed)
    return 120 + 900 * sum(s * gaussian_filter(random.normal(size=SHAPE), s) for s in (2, 5))


@cache
def caption():
    """Strip of block letters at the lower border."""
    letters = np.kron(np.random.default_rng(7).integers(0, 2, (5, 75)), np.ones((4, 4)))
    return letters > 0


def stamped(image):
    out = image.copy()
    out[-24:] = image.min()
    out[-22:-2, 10:310][caption()] = image.max()
    return out


def test_a_caption_on_unrelated_images_is_not_trusted():
    found = run(stamped(scenery(0)), stamped(scenery(1)), verdict=True)
    assert not found.trusted
    assert "of what agrees lies in 5% of the picture, but another place fits" in found.because
    assert found.because.endswith("mask it in both images")


def test_one_object_before_a_plain_background_is_trusted():
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    ripples = np.sin(rows / 3) * np.cos(columns / 4) > 0
    image = (np.hypot(rows - 110, columns - 150) < 28) * (0.6 + 0.4 * ripples)
    noise = [gaussian_filter(np.random.default_rng(n).normal(size=SHAPE), 1) for n in (1, 2)]
    found = run(image + 0.02 * noise[0], 1 - image + 0.02 * noise[1], verdict=True)
    assert found.trusted
    assert error(found.matrix, np.eye(3), SHAPE) < 0.5


def test_a_caption_does_not_hide_that_the_images_are_moved():
    large = gaussian_filter(np.random.default_rng(5).normal(size=(320, 400)), 3)
    fixed, moving = stamped(large[40:280, 40:360]), stamped(-large[60:300, 10:330])
    found = run(fixed, moving, verdict=True)
    assert not found.trusted or error(found.matrix, motion(0, (-20, 30), shape=SHAPE), SHAPE) < 1


@pytest.mark.parametrize(("angle", "shift"), [(2, (-12, 9)), (-3, (14, -6))])
def test_a_caption_does_not_hide_that_soft_images_are_moved_a_little(angle, shift):
    """The strip outshines what the images show, and the true place is near it."""
    large = 255 * (noise(5, 9, (380, 460)) > 0) + 120 * noise(6, 14, (380, 460))
    large, truth = gaussian_filter(large, 2), motion(angle, shift, shape=SHAPE)
    back = np.linalg.inv(truth)
    moved = affine_transform(-large, back[:2, :2], back[:2, 2] + 70, SHAPE, order=1)
    fixed = large[70:310, 70:390]
    found = run(stamped(fixed), stamped(moved + 20 * noise(7)), verdict=True)
    assert not found.trusted or error(found.matrix, truth, SHAPE) < 1


def test_a_caption_on_related_images_is_no_harm():
    image = scenery(0)
    found = run(stamped(image), stamped(folded(image)), verdict=True)
    assert found.trusted
    assert error(found.matrix, np.eye(3), SHAPE) < 1


def framed(image, width=4):
    out = image.copy()
    out[2:-2, 2:-2] = image.max()
    inside = slice(2 + width, -2 - width)
    out[inside, inside] = image[inside, inside]
    return out


@pytest.mark.parametrize("stamp", [stamped, framed])
def test_unrelated_textures_with_one_stamp_are_not_trusted(stamp):
    found = run(stamp(noise(0, 3)), stamp(noise(1, 4)), verdict=True)
    assert not found.trusted
    assert BETTER in found.because or NOTHING in found.because


def test_a_frame_on_related_images_is_no_harm():
    image = scenery(0)
    found = run(framed(image), framed(folded(image)), verdict=True)
    assert found.trusted
    assert error(found.matrix, np.eye(3), SHAPE) < 1


def pair_of_levels(first, second):
    known = np.ones(first.shape, np.bool_)
    fixed, moving = (Level(np.float32(i / i.std()), known, 1.0) for i in (first, second))
    frame = Frame(first.shape, second.shape)
    return SimpleNamespace(level_within=lambda _: 0, fixed=(fixed,), moving=(moving,), frame=frame)


@given(st.integers(0, 10**6), st.integers(40, 300), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_noise_is_no_structure(seed, side, blur):
    pair = [noise([seed, n], blur, (side, side + 20)) for n in (0, 1)]
    assert not structured(pair_of_levels(*pair), np.eye(3))


@pytest.mark.parametrize("fold", [lambda a: a, np.rot90])
def test_a_texture_or_lines_in_one_image_are_structure(fold):
    lines = np.zeros((300, 300))
    lines[np.add.outer(np.arange(300), np.arange(300)) % 97 < 30] = 5  # diagonal stripes
    for image in (noise(3, 3.5, (300, 300)), lines + noise(4, 0, (300, 300))):
        pair = pair_of_levels(fold(image), noise(5, 0.5, (300, 300)))
        assert structured(pair, np.eye(3))


def test_few_places_alone_are_no_reason():
    assert in_few_places(YES, 0.9, "") is YES
    assert not in_few_places(YES, 0.3, BETTER).trusted
