"""The sampling operator: kernels, positions, adjoint, inverse, and the choice of a factor."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from napari_cosparse.core.checks import adjoint_error
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import choose_factor, degrade, sampling_operator

BLURS = ("box", "gaussian", "bicubic", "none")


@st.composite
def operators(draw):
    """Sampling operators with any factors of both axes, phases, kernels and small sizes."""
    factor = draw(st.tuples(*[st.floats(1, 6) | st.integers(1, 6).map(float)] * 2))
    target = draw(st.tuples(*[st.integers(1, 9)] * 2))
    guide = tuple(max(1, round(m * d)) for m, d in zip(target, factor, strict=True))
    return sampling_operator(
        guide,
        target,
        (guide[0] / target[0], guide[1] / target[1]),
        phase=draw(st.sampled_from(["centre", "corner"])),
        blur=draw(st.sampled_from(BLURS)),
    )


@settings(max_examples=60)
@given(operator=operators())
def test_rows_sum_to_one(operator):
    for axis in (operator.rows, operator.columns):
        assert axis.matrix.shape == (axis.samples, axis.size)
        assert np.allclose(axis.matrix.sum(axis=1), 1, rtol=0, atol=1e-6)


@settings(max_examples=60)
@given(operator=operators(), seed=st.integers(0, 99))
def test_adjoint_is_exact(operator, seed):
    rng = np.random.default_rng(seed)
    image = rng.standard_normal((operator.rows.size, operator.columns.size))
    samples = rng.standard_normal((operator.rows.samples, operator.columns.samples))
    assert adjoint_error(operator.forward, operator.adjoint, image, samples) < 1e-12


@settings(max_examples=60)
@given(operator=operators(), seed=st.integers(0, 99))
def test_solve_inverts_the_operator_times_its_adjoint(operator, seed):
    shape = operator.rows.samples, operator.columns.samples
    samples = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    back = operator.forward(operator.adjoint(operator.solve(samples)))
    assert back.dtype == np.float32
    assert np.abs(back - samples).max() < 1e-4


@settings(max_examples=40)
@given(operator=operators(), seed=st.integers(0, 99))
def test_diagonal_is_that_of_the_weighted_gram_matrix(operator, seed):
    shape = operator.rows.samples, operator.columns.samples
    weights = np.random.default_rng(seed).uniform(0, 2, shape).astype(np.float32)
    phi = np.kron(operator.rows.matrix.toarray(), operator.columns.matrix.toarray())
    expected = np.einsum("sp,s,sp->p", phi, weights.ravel(), phi)
    found = operator.diagonal(weights)
    assert np.allclose(found.ravel(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("blur", BLURS)
@pytest.mark.parametrize("factor", [(2.0, 2.0), (4.0, 3.0), (2.025, 2.0167), (1.5, 5.25)])
@pytest.mark.parametrize("phase", ["centre", "corner"])
def test_samples_of_ramps_are_their_positions(factor, phase, blur):
    target = 16, 14
    guide = tuple(ceil(m * d) for m, d in zip(target, factor, strict=True))
    operator = sampling_operator(guide, target, factor, phase=phase, blur=blur)
    rows, columns = np.indices(guide).astype(float)
    middle = (slice(3, -3),) * 2
    for ramp, d, axis in ((rows, factor[0], 0), (columns, factor[1], 1)):
        start = 0.0 if phase == "corner" else (d - 1) / 2
        place = np.indices(target)[axis] * d + start
        # A kernel between pixel centres is symmetric to half a pixel's weight at its ends.
        assert np.allclose(operator.forward(ramp)[middle], place[middle], rtol=0, atol=0.26)
        if d == round(d):
            assert np.allclose(operator.forward(ramp)[middle], place[middle], rtol=0, atol=1e-4)


@pytest.mark.parametrize("factor", [2, 3, 4, 8])
def test_box_of_a_whole_factor_is_the_mean_of_blocks(factor):
    image = np.random.default_rng(0).uniform(0, 9, (6 * factor, 5 * factor))
    blocks = image.reshape(6, factor, 5, factor).mean((1, 3))
    assert np.allclose(degrade(image, factor), blocks, rtol=0, atol=1e-5)


def test_box_of_any_factor_weighs_pixels_by_their_overlap():
    line = np.random.default_rng(0).uniform(0, 9, 10)
    image = np.tile(line, (4, 1))
    fine = np.repeat(line, 2)  # half pixels, five to a sample of 2.5 pixels
    expected = fine.reshape(4, 5).mean(1)
    found = degrade(image, (1, 2.5))
    assert np.allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_gaussian_is_the_papers_kernel(factor):
    shape = 5 * factor, 4 * factor
    image = np.random.default_rng(0).uniform(0, 9, shape)
    steps = np.arange(1 - factor, factor)
    line = np.exp(-(steps**2) / (2 * (factor / 3) ** 2))
    kernel = np.outer(line, line) / line.sum() ** 2
    padded = np.pad(image, factor - 1, mode="symmetric")
    expected = [
        [
            np.sum(kernel * padded[r : r + 2 * factor - 1, c : c + 2 * factor - 1])
            for c in range(0, shape[1], factor)
        ]
        for r in range(0, shape[0], factor)
    ]
    found = degrade(image, factor, phase="corner", blur="gaussian")
    assert np.allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("blur", "filter_", "edge"),
    [("box", Image.Resampling.BOX, 0), ("bicubic", Image.Resampling.BICUBIC, 2)],
)
@pytest.mark.parametrize("factor", [2, 3, 4])
def test_centred_kernels_are_those_of_pillow(blur, filter_, edge, factor):
    image = np.random.default_rng(0).uniform(0, 9, (10 * factor, 12 * factor)).astype(np.float32)
    expected = np.asarray(Image.fromarray(image).resize((12, 10), filter_))
    inner = slice(edge, -edge or None)
    found = degrade(image, factor, blur=blur)
    assert np.allclose(found[inner, inner], expected[inner, inner], rtol=0, atol=1e-3)


def test_no_blur_reads_pixels_and_interpolates_between_them():
    rows, columns = np.indices((12, 8)).astype(float)
    image = 10 * rows + columns**2
    assert np.allclose(degrade(image, 4, phase="corner", blur="none"), image[::4, ::4])
    between = (image[1::4, 1::4] + image[2::4, 1::4] + image[1::4, 2::4] + image[2::4, 2::4]) / 4
    assert np.allclose(degrade(image, 4, blur="none"), between, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("factor", "shape"), [(2, (188, 225)), (4, (94, 113)), (8, (47, 57))])
@pytest.mark.parametrize("phase", ["centre", "corner"])
def test_odd_sizes_do_not_drift_towards_the_far_edge(factor, shape, phase):
    rows, columns = np.indices((375, 450)).astype(float)
    start = 0 if phase == "corner" else (factor - 1) / 2
    for axis, ramp in enumerate((rows, columns)):
        samples = degrade(ramp, factor, phase=phase)
        assert samples.shape == shape
        place = np.indices(shape)[axis] * factor + start
        inner = (slice(1, -2),) * 2
        assert np.allclose(samples[inner], place[inner], rtol=0, atol=1e-3)
    assert choose_factor((375, 450), shape) == (factor, factor)


@pytest.mark.parametrize("blur", BLURS)
def test_constant_image_stays_constant(blur):
    samples = degrade(np.full((23, 17), 5.0), (3.3, 2.0), blur=blur)
    assert samples.shape == (7, 9)
    assert np.allclose(samples, 5, rtol=0, atol=1e-5)


def test_factor_one_is_the_identity():
    image = np.random.default_rng(0).uniform(0, 9, (7, 5))
    for blur in BLURS:
        assert np.allclose(degrade(image, 1, blur=blur), image, rtol=0, atol=1e-5)


def test_noise_has_its_size_and_repeats_with_its_seed():
    image = np.zeros((200, 200))
    noisy = degrade(image, 2, noise=3.0, seed=4)
    assert np.std(noisy) == pytest.approx(3.0, rel=0.05)
    assert np.array_equal(noisy, degrade(image, 2, noise=3.0, seed=4))
    assert not np.array_equal(noisy, degrade(image, 2, noise=3.0, seed=5))


@pytest.mark.parametrize(
    ("guide", "target", "factor"),
    [
        ((375, 450), (188, 225), (2, 2)),
        ((375, 450), (94, 113), (4, 4)),
        ((375, 450), (47, 57), (8, 8)),
        ((64, 64), (64, 64), (1, 1)),
        ((100, 60), (50, 20), (2.0, 3.0)),
        ((1296, 968), (640, 480), (2.025, 968 / 480)),
        ((9, 9), (5, 5), (2, 2)),
        ((9, 9), (1, 1), (9, 9)),
        ((10, 12), (1, 1), (12, 12)),
        ((7, 7), (4, 3), (7 / 4, 7 / 3)),
        ((1000, 1000), (3, 3), (334, 334)),
    ],
)
def test_factor_is_whole_where_one_fits_both_axes(guide, target, factor):
    found = choose_factor(guide, target)
    if all(d == round(d) for d in factor) and factor[0] == factor[1]:
        assert found[0] == found[1] == round(found[0])
        assert all(ceil(n / found[0]) == m for n, m in zip(guide, target, strict=True))
    else:
        assert found == pytest.approx(factor)


@settings(max_examples=200)
@given(size=st.tuples(*[st.integers(1, 400)] * 2), whole=st.integers(1, 60))
def test_whole_factor_is_found_wherever_there_is_one(size, whole):
    target = tuple(ceil(n / whole) for n in size)
    found = choose_factor(size, target)
    assert found[0] == found[1] == round(found[0])
    assert tuple(ceil(n / found[0]) for n in size) == target


def test_factor_of_degraded_images_is_found_again():
    for factor in (1, 2, 3, 4, 8, 16):
        assert choose_factor((375, 450), degrade(np.zeros((375, 450)), factor).shape) == (
            factor,
            factor,
        )


def test_origin_says_which_samples_lie_on_the_guide():
    operator = sampling_operator((20, 20), (6, 6), (4.0, 4.0), origin=(-4.5, 9.5))
    assert operator.rows.inside.tolist() == [False, True, True, True, True, True]
    assert operator.columns.inside.tolist() == [True, True, True, False, False, False]
    assert operator.inside.sum() == 5 * 3
    middle = operator.forward(np.indices((20, 20))[1].astype(float))[2]
    assert middle[:2] == pytest.approx([9.5, 13.5])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"phase": "center"}, "phase 'center'.*centre, corner"),
        ({"blur": "cubic"}, "blur 'cubic'.*gaussian, box"),
        ({"factor": (0.5, 2.0)}, "factor 0.5 along the rows is below 1"),
        ({"factor": (2.0, np.nan)}, "factor nan along the columns"),
        ({"factor": (3.0, 2.0)}, "factor 3 puts 10 target rows on 30 pixels.*has 20"),
        ({"factor": (2.0, 1.5)}, "factor 1.5 puts 10 target columns on 15 of the guide's 20"),
        ({"origin": (500.0, 0.0)}, "no sample of the target lies on the guide.*500"),
    ],
)
def test_wrong_placing_is_refused(keywords, message):
    with pytest.raises(InputError, match=message):
        sampling_operator((20, 20), (10, 10), **{"factor": (2.0, 2.0), **keywords})


@pytest.mark.parametrize(
    ("image", "factor", "noise", "message"),
    [
        (np.zeros((8, 8)), 0, 0, "factor 0 must be"),
        (np.zeros((8, 8)), -2, 0, "factor -2 must be"),
        (np.zeros((8, 8)), np.nan, 0, "factor nan must be"),
        (np.zeros((8, 8)), (2, 0.5), 0, r"factor \(2, 0.5\) must be"),
        (np.zeros((8, 8)), (1, 2, 3), 0, "must be one number, or two"),
        (np.zeros((8, 8)), 2, -1, "noise -1 must be"),
        (np.zeros((8, 8, 3)), 2, 0, r"image has shape \(8, 8, 3\)"),
        (np.zeros((0, 8)), 2, 0, r"image has shape \(0, 8\)"),
        (np.zeros((8, 8), complex), 2, 0, "image has type complex128"),
    ],
)
def test_wrong_degradation_is_refused(image, factor, noise, message):
    with pytest.raises(InputError, match=message):
        degrade(image, factor, noise=noise)
