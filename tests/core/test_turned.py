"""A target that is turned, sheared or mirrored against its guide."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from napari_cosparse import check_target, make_scene, upsample
from napari_cosparse.core.bands import each_band
from napari_cosparse.core.errors import ApartError, InputError
from napari_cosparse.core.reconstruction import (
    Settings,
    _turned,
    place,
    sampling_operator,
    straighten,
)
from napari_cosparse.core.reconstruction._turned import TurnedSampling

GUIDE, TARGET = (60, 52), (14, 12)
BLURS = ("box", "gaussian", "bicubic", "none")


def lay(factor, degrees, centre, sample, flip=1.0, shear=0.0):
    """Matrix from guide pixel to sample: `sample` lies on the guide's `centre`."""
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    linear = np.diag([1 / factor, flip / factor]) @ turn @ np.array([[1, shear], [0, 1]])
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = np.subtract(sample, linear @ np.array(centre))
    return matrix


def middle(factor, degrees, **more):
    """Matrix that lays the middle of the target on the middle of the guide."""
    centres = [tuple((n - 1) / 2 for n in shape) for shape in (GUIDE, TARGET)]
    return lay(factor, degrees, *centres, **more)


matrices = st.builds(
    middle,
    st.floats(1.5, 9),
    st.floats(-180, 180),
    flip=st.sampled_from([-1.0, 1.0]),
    shear=st.floats(-0.3, 0.3),
)


@given(matrices, st.sampled_from(BLURS), st.integers(0, 99))
def test_adjoint_and_gram_are_exact(matrix, blur, seed):
    rng = np.random.default_rng(seed)
    phi = TurnedSampling(GUIDE, TARGET, matrix, blur)
    image, samples = rng.normal(size=GUIDE), rng.normal(size=TARGET)
    sampled, spread = phi.forward(image), phi.adjoint(samples)
    assert np.vdot(sampled, samples) == pytest.approx(np.vdot(image, spread), rel=1e-9, abs=1e-9)
    touched = phi.forward(np.ones(GUIDE)) > 0.5
    np.testing.assert_allclose(phi.gram(samples)[touched], phi.forward(spread)[touched], atol=1e-5)


def test_matrix_takes_8_bytes_for_each_entry_and_4_for_each_pixel():
    bands = TurnedSampling(GUIDE, TARGET, middle(4, 20), "box")._bands
    for weights in (band.weights for band in bands):
        parts = weights.data, weights.indices, weights.indptr
        assert sum(part.nbytes for part in parts) == 8 * weights.nnz + 4 * (weights.shape[0] + 1)


@given(matrices, st.sampled_from(["box", "gaussian", "none"]))
def test_solve_inverts_the_gram(matrix, blur):
    phi = TurnedSampling(GUIDE, TARGET, matrix, blur)
    samples = np.where(phi.inside, np.random.default_rng(0).normal(size=TARGET), 0)
    kept = phi.gram(phi.solve(samples))
    assert np.abs(kept - samples)[phi.inside].max(initial=0) < 2e-3


@pytest.mark.parametrize("blur", BLURS)
@pytest.mark.parametrize("factor", [1.0, 2.0, 3.3, 4.0])
def test_without_a_turn_it_is_the_separable_operator(blur, factor):
    rng, inner = np.random.default_rng(1), (slice(3, -3), slice(3, -3))
    samples = tuple(int(n / factor) for n in GUIDE)
    origin = ((factor - 1) / 2,) * 2
    straight = sampling_operator(GUIDE, samples, (factor, factor), origin=origin, blur=blur)
    turned = TurnedSampling(GUIDE, samples, lay(factor, 0, origin, (0, 0)), blur)
    image, small = (rng.normal(size=n).astype(np.float32) for n in (GUIDE, samples))
    np.testing.assert_allclose(
        turned.forward(image)[inner], straight.forward(image)[inner], atol=2e-6
    )
    np.testing.assert_allclose(turned.interpolate(small), straight.interpolate(small), atol=2e-6)
    np.testing.assert_allclose(turned.factor, (factor, factor))


@given(matrices)
def test_diagonal_is_that_of_the_normal_matrix(matrix):
    phi = TurnedSampling((12, 11), (4, 5), matrix, "box")
    weights = np.random.default_rng(2).uniform(0, 2, (4, 5))
    pixel = (5, 6)
    unit = np.zeros((12, 11))
    unit[pixel] = 1
    exact = phi.adjoint(weights * phi.forward(unit))[pixel]
    assert phi.diagonal(weights)[pixel] == pytest.approx(exact, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("factor", [2.0, 4.0, 8.0])
def test_a_plane_is_sampled_where_the_samples_lie(factor):
    shape = tuple(int(20 * factor) for _ in range(2))
    matrix = lay(factor, 17, ((shape[0] - 1) / 2,) * 2, (4.0, 5.0), shear=0.05)
    phi = TurnedSampling(shape, (9, 11), matrix, "box")
    assert phi.inside.all()
    rows, columns = np.indices(shape)
    places = np.linalg.inv(matrix) @ np.stack([*np.indices((9, 11)).reshape(2, -1), np.ones(99)])
    for plane, wanted in ((rows, places[0]), (columns, places[1])):
        assert np.abs(phi.forward(plane * 1.0).ravel() - wanted).max() < 0.03  # pixels


def averages(depth, matrix, shape, fine=12):
    """Mean of the scene over each pixel of a turned sensor, from the nearest of many points."""
    steps = (np.arange(fine) + 0.5) / fine - 0.5
    rows, columns = ((np.arange(n)[:, None] + steps).ravel() for n in shape)
    grid = np.stack([*np.meshgrid(rows, columns, indexing="ij")]).reshape(2, -1)
    back = np.linalg.inv(matrix)
    places = np.rint(back[:2, :2] @ grid + back[:2, 2:]).astype(int)
    ends = np.array(depth.shape)[:, None] - 1
    seen = ((places >= 0) & (places <= ends)).all(0)
    values = np.where(seen, depth[tuple(np.clip(places, 0, ends))], np.nan)
    return values.reshape(shape[0], fine, shape[1], fine).mean((1, 3)).astype(np.float32)


@pytest.mark.parametrize(("degrees", "flip"), [(20, 1.0), (90, 1.0), (-7, -1.0)])
def test_upsampling_beats_interpolation_whatever_the_turn(degrees, flip):
    scene = make_scene((160, 192), 3)
    shape = (40, 48)
    matrix = lay(4, degrees, (79.5, 95.5), (19.5, 23.5), flip=flip)
    target = averages(scene.depth, matrix, shape)
    phi = TurnedSampling(scene.depth.shape, shape, matrix, "box")
    filled = np.where(np.isfinite(target), target, np.nanmedian(target))
    plain = phi.interpolate(filled.astype(np.float32))
    result = upsample(target, scene.guide, transform=matrix, noise=0)
    inner = np.isfinite(result.image) & (phi.adjoint(phi.inside.astype(float)) > 0)
    errors = [
        np.sqrt(np.mean((image - scene.depth)[inner] ** 2)) for image in (result.image, plain)
    ]
    assert errors[0] < 0.7 * errors[1]
    assert result.misfit < 1e-4 * np.ptp(scene.depth)
    np.testing.assert_allclose(result.factor, (4, 4))


def test_outside_the_coverage_the_result_is_unknown():
    scene = make_scene((96, 96), 1)
    matrix = lay(4, 45, (47.5, 47.5), (5.5, 5.5))
    result = upsample(averages(scene.depth, matrix, (12, 12)), scene.guide, transform=matrix)
    places = np.stack([*np.indices((96, 96)), np.ones((96, 96))])
    down, right = np.einsum("ij,jkl->ikl", matrix, places)[:2]
    covered = (np.maximum(-0.5 - down, down - 11.5) <= 2) & (
        np.maximum(-0.5 - right, right - 11.5) <= 2
    )
    np.testing.assert_array_equal(np.isfinite(result.image), covered)


def test_a_transform_that_turns_nothing_gives_the_same_bits_as_factor_and_origin():
    scene = make_scene((64, 72), 0)
    target = scene.depth.reshape(16, 4, 18, 4).mean((1, 3))
    matrix = np.diag([0.25, 0.25, 1.0])
    matrix[:2, 2] = -1.5 / 4
    plain = upsample(target, scene.guide, factor=4, origin=(1.5, 1.5)).image
    np.testing.assert_array_equal(upsample(target, scene.guide, transform=matrix).image, plain)


def test_threads_change_no_bit():
    scene = make_scene((400, 700), 0)
    matrix = lay(4, 12, (199.5, 349.5), (30, 40))
    target = averages(scene.depth, matrix, (60, 80), 4)
    one, two = (
        upsample(target, scene.guide, "intensity-depth-3x3", transform=matrix, threads=n).image
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def backwards(function, items):
    """Do the last first, as threads may."""
    return [function(item) for item in list(items)[::-1]][::-1]


def test_order_of_the_bands_changes_no_bit(monkeypatch):
    monkeypatch.setattr(_turned, "each_band", partial(each_band, pixels=1))
    rng = np.random.default_rng(0)
    image, samples = (rng.standard_normal(n) for n in (GUIDE, TARGET))  # float32 hides much
    found = []
    for map_ in (map, backwards):
        phi = TurnedSampling(GUIDE, TARGET, middle(9, 40), "gaussian", map_)  # a sample meets 4
        made = (phi.forward(image), phi.adjoint(samples), phi.gram(samples), phi.solve(samples))
        found.append((*made, phi.diagonal(samples), phi.interpolate(samples), phi.inside))
    assert len(phi._bands) == 8
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("scale", [1.0, 2.0, 4.0])
def test_only_a_straight_transform_has_a_factor(scale):
    straight = np.diag([1 / scale, 1 / (2 * scale), 1.0])
    assert straighten(straight, (50, 50)) == ((scale, 2 * scale), (0.0, 0.0))
    turned = lay(scale, 1, (10, 10), (3, 3))
    assert straighten(turned, (50, 50)) is None
    assert straighten(np.diag([-1.0, 1, 1]), (50, 50)) is None


def test_alignment_is_checked_through_the_transform():
    scene = make_scene((160, 192), 3)
    matrix = lay(4, 20, (79.5, 95.5), (19.5, 23.5))
    target = averages(scene.depth, matrix, (40, 48))
    assert check_target(target, scene.guide, transform=matrix).coincide


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"transform": np.eye(2)}, "3 x 3 real numbers"),
        ({"transform": np.diag([1.0, 0, 1])}, "singular"),
        ({"transform": lay(4, 10, (8, 8), (2, 2)), "factor": 4}, "leave factor out, or"),
        ({"transform": lay(0.5, 10, (8, 8), (2, 2))}, "finer than the guide"),
        ({"transform": lay(4, 10, (8, 8), (900, 2))}, "does not overlap the guide"),
    ],
)
def test_a_transform_that_breaks_a_rule(given, message):
    with pytest.raises(InputError, match=message):
        upsample(np.arange(36.0).reshape(6, 6), np.eye(24), **given)


def test_an_untrusted_registration_is_refused():
    class Doubtful:
        matrix, trusted, because = lay(4, 10, (8, 8), (2, 2)), False, "two starts disagree"

    with pytest.raises(InputError, match="two starts disagree"):
        upsample(np.arange(36.0).reshape(6, 6), np.eye(24), transform=Doubtful())


def test_one_sample_on_the_guide_is_found_among_many_beside_it():
    """Few of them are looked at first; this is the last one, in a corner."""
    angle, target = np.deg2rad(40), (130, 130)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    back = np.eye(3)
    back[:2, :2] = 4 * turn
    back[:2, 2] = np.array([2.0, 2.0]) - back[:2, :2] @ (129, 129)
    coverage, _ = place((5, 5), target, Settings(transform=np.linalg.inv(back)))
    assert coverage.window == (slice(0, 5), slice(0, 5))
    back[:2, 2] -= 100
    with pytest.raises(ApartError):
        place((5, 5), target, Settings(transform=np.linalg.inv(back)))
