"""The machinery behind the benchmarks' tables: scores, ratios, checks, and the rivals."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from napari_cosparse import make_scene
from napari_cosparse.core.operators import bank, first_differences, join, random_frame
from napari_cosparse.core.reconstruction._prior import Prior

FOLDER = Path(__file__).parents[1] / "benchmarks"
FACTORS = ("2", "4", "8")


@pytest.fixture
def module(monkeypatch):
    """Import a module of the folder as its scripts do."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def scene(module):
    """Tiny generated scene with a hole in its original ground truth."""
    made = make_scene((48, 64), seed=3)
    known = np.ones(made.depth.shape, bool)
    known[10:20, 10:20] = False
    truth = made.depth.astype(float) * 10
    return module("_middlebury").Scene("tsukuba", made.guide, truth, known)


@pytest.fixture
def pairs():
    """Operators that need no file, under the shipped names."""
    frame = random_frame()
    differences = join(*first_differences((1, 2)))
    return {
        "intensity-depth": bank(frame),
        "intensity-depth-3x3": frame,
        "intensity-depth-5x5": random_frame(5, 24),
        "differences": differences,
        "random-frame": bank(random_frame(seed=1)),
    }


def methods_of(module, pairs, *names):
    methods = module("_methods")
    parameters = module("_peers").read_parameters()
    return [m for m in methods.all_methods(pairs, parameters) if m.name in names]


def test_table_of_a_tiny_scene(module, scene, pairs, capsys):
    upsampling, methods = module("upsampling"), module("_methods")
    names = ("bicubic", "nearest", methods.FIRST, methods.UNGUIDED, methods.DEFAULT)
    rows = upsampling.measure_all([scene], methods_of(module, pairs, *names), ["paper"], [4])
    assert [row.method for row in rows] == list(names)
    text = capsys.readouterr().out.splitlines()
    for row in rows:
        (score,) = row.scores.values()
        (line,) = (line for line in text if line.startswith(row.method + " "))
        assert f"{score.rmse:.3f}" in line
        assert f"{score.bad:.2f}" in line
    exact = rows[-1].scores["tsukuba"]
    assert exact.misfit < 1e-4 < rows[0].scores["tsukuba"].misfit
    assert exact.rmse < rows[0].scores["tsukuba"].rmse
    printed = next(line for line in text if line.startswith("printed: the paper"))
    assert "0.374" in printed
    assert "1.48" in printed


def test_a_crop_of_a_real_scene_is_scored_where_its_truth_is_known(module, data_dir):
    middlebury, methods, table = module("_middlebury"), module("_methods"), module("_table")
    scene = middlebury.read_test(data_dir, "tsukuba")
    assert scene.truth.shape == scene.known.shape == scene.guide.shape[:2] == (288, 384)
    assert not scene.known[:18].any()  # the border of unknown pixels
    crop = scene.crop(slice(0, 40), slice(100, 148))
    wrong = crop.truth.copy()
    wrong[:18] += 3.0
    scores = {
        name: table.score(
            wrong.astype(np.float32), methods.Case.make(crop, protocol, 4), seconds=0.0
        )
        for name, protocol in middlebury.PROTOCOLS.items()
    }
    assert scores["paper"].bad == pytest.approx(100 * 18 / 40)
    assert scores["network"].rmse == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ["venus", "teddy", "cones"])
def test_scenes_are_cropped_to_the_rows_of_the_truth(module, data_dir, name):
    scene = module("_middlebury").read_test(data_dir, name)
    assert scene.guide.shape[:2] == scene.truth.shape == scene.known.shape
    # filled and original ground truth are one disparity map: the scale and the crop are right
    original = scene.truth[scene.known]
    assert original.min() > 2
    assert original.max() < 60


def test_score_of_a_known_error(module, scene):
    case = module("_methods").Case.make(scene, module("_middlebury").PROTOCOLS["network"], 2)
    image = scene.truth + 0.5
    image[30, :32] += 1.0
    score = module("_table").score(image.astype(np.float32), case, seconds=2.0)
    count = scene.known.sum()
    assert score.bad == pytest.approx(100 * 32 / count)
    assert score.rmse == pytest.approx(np.sqrt((0.25 * (count - 32) + 2.25 * 32) / count), rel=1e-5)
    span = np.ptp(np.quantile(case.samples, (0.01, 0.99)))
    # 0.5 everywhere, and about half of the row's 1.0 in its samples
    assert score.misfit == pytest.approx(0.5 / span + 0.5 / span, rel=0.2)
    image[30, 40] = case.samples.max() + 3.0
    outside = module("_table").score(image.astype(np.float32), case, seconds=2.0)
    assert outside.overshoot == pytest.approx(3.0 / span, rel=1e-4)


def test_relative_figures_are_geometric_means(module):
    table = module("_table")

    def row(*figures):
        scores = {str(i): table.Score(*pair) for i, pair in enumerate(figures)}
        return table.Row("paper", 4, "any", scores)

    bicubic = row((1.0, 4.0), (2.0, 1.0))
    assert table.relative(row((0.5, 1.0), (4.0, 0.25)), bicubic, "rmse") == pytest.approx(1.0)
    assert table.relative(row((0.5, 1.0), (4.0, 0.25)), bicubic, "bad") == pytest.approx(0.25)
    assert table.relative(row((1.0, 0.0), (2.0, 1.0)), bicubic, "bad") == pytest.approx(0.05)
    assert np.isnan(table.relative(row((None, 1.0), (4.0, 0.25)), bicubic, "rmse"))
    assert "-" in table.line(row((None, 1.0), (4.0, 0.25)), bicubic)


def rows_with(module, default_rmse, overshoot=0.0, misfit=0.0):
    """Rows of all images under the network's protocol at x4."""
    table, methods, checks = module("_table"), module("_methods"), module("_checks")

    def row(name, rmse):
        scores = {i: table.Score(rmse, 1.0, 1.0, misfit, overshoot) for i in checks.IMAGES}
        return table.Row("network", 4, name, scores)

    rivals = {methods.BICUBIC: 0.6, methods.FIRST: 0.2, methods.OPENCV + "guided filter": 0.5}
    return [*(row(*rival) for rival in rivals.items()), row(methods.DEFAULT, default_rmse)]


def test_checks_hold_and_fail_with_the_figures(module, capsys):
    checks = module("_checks")
    good = checks.all_checks(rows_with(module, 0.09))
    assert checks.report(good)
    assert len(good) == 4 + 2 + 1 + 2  # images, rivals, network, limits
    worse = {check.name for check in checks.all_checks(rows_with(module, 0.3)) if not check.ok}
    assert "network x4 tsukuba: RMSE, px" in worse
    assert "network x4 mean RMSE, px, against first differences" in worse
    assert "network x4 teddy: RMSE, px" not in worse
    assert not checks.report(checks.all_checks(rows_with(module, 0.09, overshoot=0.03)))
    assert not checks.report(checks.all_checks(rows_with(module, 0.09, misfit=1e-3)))
    assert "MISSED" in capsys.readouterr().out


def test_nearest_takes_the_sample_at_its_true_position(module):
    protocols, enlarge = module("_middlebury").PROTOCOLS, module("_peers").enlarge_nearest
    samples = np.arange(6, dtype=np.float32).reshape(2, 3)
    centre = enlarge(samples, (8, 12), 4, protocols["network"])
    np.testing.assert_array_equal(centre, np.kron(samples, np.ones((4, 4))))
    corner = enlarge(samples, (8, 12), 4, protocols["paper"])
    np.testing.assert_array_equal(corner[::4, ::4], samples)
    assert corner[0, 3] == samples[0, 1]  # one pixel from sample 1, three from sample 0


def test_parameters_of_the_peers_come_from_their_grids(module):
    peers = module("_peers")
    chosen = peers.read_parameters()
    assert set(chosen) == set(module("_middlebury").PROTOCOLS)
    for protocol in chosen.values():
        assert tuple(protocol) == FACTORS
        for factor, settings in protocol.items():
            assert set(settings) == set(peers.PEERS)
            for name, values in settings.items():
                assert values in peers.PEERS[name].candidates(int(factor))


def test_opencv_filters_and_their_tuning(module, scene, tmp_path, monkeypatch):
    pytest.importorskip("cv2", reason="OpenCV is not installed: pip install -e '.[benchmark]'")
    peers, tuning = module("_peers"), module("_tune")
    small = {
        name: peers.Peer(peer.run, {key: values[:2] for key, values in peer.grid.items()})
        for name, peer in peers.PEERS.items()
    }
    monkeypatch.setattr(tuning, "PEERS", small)
    tuning.tune([scene], [4], tmp_path / "peers.json")
    chosen = json.loads((tmp_path / "peers.json").read_text())["paper"]["4"]
    protocol = module("_middlebury").PROTOCOLS["paper"]
    start = peers.enlarge_bicubic(protocol.reduce(scene.truth, 4), scene.truth.shape, 4, protocol)
    for name, peer in small.items():
        filtered = peer.run(scene.guide, start, chosen[name])
        assert filtered.shape == start.shape
        assert not np.array_equal(filtered, start)
        errors = [
            tuning.relative_error(peer, settings, [scene], [start], protocol)
            for settings in peer.candidates(4)
        ]
        assert tuning.relative_error(peer, chosen[name], [scene], [start], protocol) == min(errors)


def test_whole_image_rival_computes_the_same(module, rng_images):
    image, guide = rng_images
    pair = random_frame(5, 24)
    cost, gradient = module("speed").WholeImage(pair, guide).evaluate(image, 0.01)
    ours = Prior(pair, image.shape, guide[None], map).evaluate(image, 0.01)
    assert cost == pytest.approx(ours[0], rel=1e-5)
    np.testing.assert_allclose(gradient, ours[1], atol=1e-4 * np.abs(gradient).max())


@pytest.fixture
def rng_images():
    return np.random.default_rng(0).standard_normal((2, 30, 41), np.float32)


def test_speed_prints_rates_and_returns_checks(module, pairs, capsys):
    speed = module("speed")
    (share,) = speed.operator_speed(pixels=48, rounds=1, gemm=64)
    (seconds,) = speed.upsampling_speed((32, 40), 1, pairs["intensity-depth"])
    assert share.measured > 0
    assert seconds.measured > 0
    text = capsys.readouterr().out
    assert "sgemm" in text
    assert "whole-image im2col" in text
    assert "one dask thread" in text


def test_speed_refuses_a_changed_blas(module, monkeypatch, capsys):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setattr("sys.argv", ["speed.py"])
    with pytest.raises(SystemExit, match="2"):
        module("speed").main()
    assert "OPENBLAS_CORETYPE=Haswell" in capsys.readouterr().err


def test_control_replaces_the_learned_atoms_alone(module, pairs):
    ours = pairs["intensity-depth"]
    control = module("_methods").without_learning(ours)
    assert control.weight_sum == ours.weight_sum
    for old, new in zip(ours.groups, control.groups, strict=True):
        np.testing.assert_array_equal(old.offsets, new.offsets)
        assert (old is new) == (old.side_and_dilation is None)


def test_options_choose_the_rows(module, pairs):
    upsampling, methods = module("upsampling"), module("_methods")
    every = methods.all_methods(pairs, {})

    class Options:
        methods, quick = None, True

    assert methods.SCHEDULE not in {m.name for m in upsampling.select(every, Options)}
    Options.methods, Options.quick = ["(shipped)"], False
    chosen = [m.name for m in upsampling.select(every, Options)]
    assert chosen == [methods.BICUBIC, methods.DEFAULT]
