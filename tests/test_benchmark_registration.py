"""The cases of the registration benchmark are what they say; a smoke run of its machinery."""

import importlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Import a module of the folder as its scripts do."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def motion(module):
    return module("_registration_motion")


@pytest.fixture
def cases(module):
    return module("_registration_cases")


def smooth_image(shape=(90, 120), seed=0):
    """Waves in several directions, so that a resampled copy is close to the formula."""
    rows, columns = np.indices(shape)
    rng = np.random.default_rng(seed)
    waves = rng.uniform(-0.25, 0.25, (6, 2))
    return sum(np.sin(a * rows + b * columns + k) for k, (a, b) in enumerate(waves)) + 5.0


def test_corner_error_of_known_motions(motion):
    shape = (101, 201)
    assert motion.corner_error(np.eye(3), np.eye(3), shape) == 0
    assert motion.corner_error(motion.translation(3, 4), np.eye(3), shape) == pytest.approx(5)
    turned = motion.motion(shape, 1.0)
    radius = np.hypot(50, 100)
    expected = 2 * radius * np.sin(np.radians(0.5))
    assert motion.corner_error(turned, np.eye(3), shape) == pytest.approx(expected)


def test_residual_is_the_papers(motion):
    shape = (60, 80)
    truth = motion.motion(shape, 7.0, (3, -2))
    left = truth @ motion.motion(shape, 2.0, (0.5, -1.5))
    assert motion.residual(left, truth, shape) == pytest.approx((-1.5, 0.5, 2.0))
    expected = np.sqrt(1.5**2 + 0.5**2 + 2**2)
    assert motion.mixed_error(left, truth, shape) == pytest.approx(expected)


def test_a_window_has_no_pixel_from_outside_and_is_the_largest(motion):
    shape = (90, 120)
    matrix = motion.motion(shape, 13.0, (6, -9), 1.1 * np.eye(2))
    source = np.linalg.inv(matrix)
    box = motion.window(shape, source)
    inside = motion.apply(source, motion.corners((box[2] - box[0], box[3] - box[1])) + box[:2])
    assert inside.min() >= 1 - 1e-6
    assert (inside <= np.array(shape) - 2 + 1e-6).all()
    wider = np.array([[-2, -2], [-2, 2], [2, -2], [2, 2]])
    corners = motion.apply(
        source, motion.corners((box[2] - box[0], box[3] - box[1])) + box[:2] + wider
    )
    assert ((corners < 1) | (corners > np.array(shape) - 2)).any()
    with pytest.raises(ValueError, match="no window"):
        motion.window(shape, motion.translation(500, 0))


def test_a_deregistered_pair_agrees_under_its_truth(module, motion, cases):
    image = smooth_image()
    pair = module("_registration_images").Pair("waves", "nir", image, image, np.eye(3))
    case = cases.deregister(pair, motion.motion(image.shape, 8.0, (4, -5)))
    back = motion.resample(case.moving, case.truth, case.fixed.shape)
    points = np.argwhere(np.ones(case.fixed.shape))
    landed = motion.apply(case.truth, points)
    last = np.array(case.moving.shape) - 5
    seen = ((landed > 4) & (landed < last)).all(axis=1).reshape(case.fixed.shape)
    assert seen.mean() > 0.6
    assert np.abs(back - case.fixed)[seen].max() < 0.02
    assert case.error(case.truth) < 1e-9
    assert case.right(case.truth)
    assert not case.right(np.eye(3))
    assert not replace(case, truth=None).right(case.truth)


def test_matlab_matrices_are_converted(module, motion):
    convert = module("_registration_landmarks").from_matlab
    matlab = np.array([[0.9, 0.1, 1e-4], [-0.2, 1.1, 2e-4], [7.0, -3.0, 1.0]])
    x, y = 31.0, 12.0
    mapped = np.array([x, y, 1]) @ matlab
    expected = mapped[1::-1] / mapped[2] - 1
    np.testing.assert_allclose(motion.apply(convert(matlab), [[y - 1, x - 1]])[0], expected)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("depth_optical_do6", 0.9),
        ("sar_optical_so1", 1.4),
        ("rgb_nir_vn_20", 0.8),
        ("rgb_nir_vn_25", 0.8),
        ("t1_t2_10", 0.5),
        ("mr_pet_1", 1e-6),
        ("spect_ct_5", 1e-6),
        ("retina_24", 5.0),  # the given transform is that rough
        ("retina_93", 3.7),
    ],
)
def test_truth_maps_landmarks(module, motion, data_dir, name, most):
    pair = module("_registration_landmarks").landmarks(data_dir, name)
    landed = motion.apply(pair.truth, pair.points)
    assert np.linalg.norm(landed - pair.moved, axis=1).mean() < most


def test_retina_masks_are_the_field_of_view(module, data_dir):
    for name in ("retina_24", "retina_93"):
        pair = module("_registration_landmarks").landmarks(data_dir, name)
        for mask, points in ((pair.mask_fixed, pair.points), (pair.mask_moving, pair.moved)):
            assert 0.4 < mask.mean() < 0.9
            rows, columns = points.round().astype(int).T
            assert mask[rows, columns].mean() > 0.9  # some lie on the rim


def test_shifted_and_turned_proton_density_agree_with_the_first(module, motion, data_dir):
    read = module("_registration_images").t1_pd
    first = read(data_dir, "Border20").moving.astype(float)
    for name in ("Shifted13x17y", "R10X13Y17"):
        pair = read(data_dir, name)
        back = motion.resample(pair.moving, pair.truth, first.shape)
        inner = (slice(40, -40),) * 2
        assert np.corrcoef(back[inner].ravel(), first[inner].ravel())[0, 1] > 0.98


def test_sets_have_the_stated_numbers(module, cases, data_dir):
    mixed = module("_registration_mix")
    assert sum(mixed.GENUINE.values()) == 96
    assert sum(mixed.GENUINE.values()) + sum(mixed.BAD.values()) == 200
    tables = list(cases.table3(data_dir))
    assert len(tables) == 12
    assert all(case.truth is not None and case.kind == "genuine" for case in tables)
    rigid = list(cases.rigid(data_dir))
    assert len({case.name for case in rigid}) == 30
    assert max(max(case.fixed.shape[:2]) for case in rigid + tables) <= 800
    again = next(iter(cases.rigid(data_dir)))
    np.testing.assert_array_equal(again.moving, rigid[0].moving)
    assert len(list(cases.functional(data_dir))) == 29


def test_bad_cases_have_no_truth_but_for_tiny_overlaps(module, motion, data_dir):
    mixed = module("_registration_mix")
    found = list(mixed.bad(data_dir))
    counts = {kind: sum(case.kind == kind for case in found) for kind in mixed.BAD}
    assert counts == mixed.BAD
    for case in found:
        assert (case.truth is not None) == (case.kind == "tiny overlap")
        if case.truth is not None:
            landed = motion.apply(case.truth, motion.corners(case.fixed.shape))
            shared = (landed[:, 1].max() + 1) / case.fixed.shape[1]
            assert 0.07 < shared < 0.21


def outcomes_of(module, errors, **changes):
    runs = module("_registration_runs")
    made = [
        runs.Outcome(f"art A seed {k}", "depth", "genuine", 3.0, error, 0.5, (error, 0.0, 0.0))
        for k, error in enumerate(errors)
    ]
    return [replace(one, **changes) for one in made]


def test_tables_count_and_checks_judge(module, capsys):
    report, runs = module("_registration_report"), module("_registration_runs")
    outcomes = outcomes_of(module, [0.5, 2.0, 40.0], trusted=True)
    report.table("title", {runs.OURS: outcomes, "peer": []})
    ours = capsys.readouterr().out.splitlines()[3].split()
    assert ours == [runs.OURS, "3", "1", "2", "2", "2.00", "3", "1", "0.50"]
    off, aim, kept, right = report.checks("trust", {runs.OURS: outcomes})
    assert off.measured == pytest.approx(100 / 3)
    assert not off.ok
    assert not aim.ok
    assert kept.measured == 100
    assert right.measured == pytest.approx(200 / 3)
    fine = outcomes_of(module, [0.5] * 12)
    assert all(check.ok for check in report.checks("rigid", {runs.OURS: fine}))


def test_table3_prints_ours_beside_the_papers(module, capsys):
    report, runs = module("_registration_report"), module("_registration_runs")
    report.table3({runs.OURS: outcomes_of(module, [0.25] * 12)})
    text = capsys.readouterr().out
    assert text.count("[  0.25]") == 12
    assert "-1.11, -1.41,  0.11" in text


def test_the_success_map_is_drawn(module, tmp_path):
    pytest.importorskip("matplotlib")
    outcomes = outcomes_of(module, [0.1, 0.2, float("inf"), 60.0])
    module("_registration_picture").draw_map(tmp_path / "map.png", {"one": outcomes}, 2)
    assert (tmp_path / "map.png").stat().st_size > 2000


def test_a_peer_is_stored_and_read_again(module, motion, cases, tmp_path, monkeypatch):
    runs = module("_registration_runs")
    image = smooth_image()
    pair = module("_registration_images").Pair("waves", "nir", image, image, np.eye(3))
    case = cases.deregister(pair, motion.motion(image.shape, 0.0, (3, 4)))

    def gives_up(*_):
        raise RuntimeError("all samples map outside")

    peers = {"stays": lambda *_: np.eye(3), "gives up": gives_up}
    monkeypatch.setattr(runs, "PEERS", peers)
    path = tmp_path / "peers.json"
    runs.Store(path).refresh(peers, "rigid", [case])
    (stays,) = runs.Store(path).outcomes("stays", "rigid", [case])
    assert stays.error == pytest.approx(5, abs=1e-3)
    assert stays.left == pytest.approx((-4, -3, 0), abs=1e-3)
    (failed,) = runs.Store(path).outcomes("gives up", "rigid", [case])
    assert failed.error == np.inf
    assert runs.Store(path).outcomes("stays", "map", [case]) == []


def test_stored_figures_name_existing_cases(module, cases, data_dir):
    runs = module("_registration_runs")
    if not runs.STORE.exists():
        pytest.skip("no stored figures of the peers")
    figures = json.loads(runs.STORE.read_text())["figures"]
    names = {case.name for case in cases.table3(data_dir)}
    assert figures
    for parts in figures.values():
        if "table3" in parts:
            assert set(parts["table3"]) == names
