"""Wrong input ends with exit code 2, one line that names it, and no file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from napari_cosparse import __version__, cli
from napari_cosparse.io import make_scene, write_image

SCRIPT = Path(sysconfig.get_path("scripts")) / "napari-cosparse"

UP = "upsample {f}/low.tif {f}/guide.png --operators {f}/pair.npz "
LEARN = "learn {f}/guide.png {f}/depth.tif "
CASES = {
    "no command": ("", "COMMAND"),
    "unknown command": ("enlarge a b", "invalid choice: 'enlarge'"),
    "unknown option": (UP + "-o {t}/x.tif --fast", "--fast"),
    "no output": (UP, "-o/--out"),
    "unknown blur": (UP + "-o {t}/x.tif --blur soft", "invalid choice: 'soft'"),
    "factor is text": (UP + "-o {t}/x.tif --factor four", "'four' is not one number or two"),
    "three factors": (UP + "-o {t}/x.tif --factor 2,2,2", "'2,2,2' is not one number or two"),
    "factor nan": (UP + "-o {t}/x.tif --factor nan", "'nan' is not one number or two"),
    "factor too large": (UP + "-o {t}/x.tif --factor 9", "factor 9"),
    "factor below 1": (UP + "-o {t}/x.tif --factor .5", "factor 0.5"),
    "negative noise": (UP + "-o {t}/x.tif --noise -1", "noise -1"),
    "seed is text": (UP + "-o {t}/x.tif --seed one", "invalid int value: 'one'"),
    "missing target": (
        "upsample {f}/none.tif {f}/guide.png -o {t}/x.tif --operators {f}/pair.npz",
        "none.tif: there is no such file",
    ),
    "target is no image": (
        "upsample {f}/text.tif {f}/guide.png -o {t}/x.tif --operators {f}/pair.npz",
        "text.tif cannot be read",
    ),
    "target in colour": (
        "upsample {f}/colour.png {f}/guide.png -o {t}/x.tif --operators {f}/pair.npz",
        "colour.png is in colour (12 x 15 x 3 uint8)",
    ),
    "images swapped": (
        "upsample {f}/gray.png {f}/low.tif -o {t}/x.tif --operators {f}/pair.npz",
        "Swap the images",
    ),
    "guide is a folder": (
        "upsample {f}/low.tif {f} -o {t}/x.tif --operators {f}/pair.npz", "has no ending",
    ),
    "operators unknown": (
        "upsample {f}/low.tif {f}/guide.png -o {t}/x.tif --operators depht", "named 'depht'",
    ),
    "operators broken": (
        "upsample {f}/low.tif {f}/guide.png -o {t}/x.tif --operators {f}/broken.npz",
        "broken.npz is not a usable operator file",
    ),
    "operators missing": (
        "upsample {f}/low.tif {f}/guide.png -o {t}/x.tif --operators {f}/no.npz", "no.npz",
    ),
    "operators are an image": (
        "upsample {f}/low.tif {f}/guide.png -o {t}/x.tif --operators {f}/gray.png",
        "gray.png is not a usable operator file",
    ),
    "transform in lengths": (
        UP + "-o {t}/x.tif --transform {f}/none.tfm", "none.tfm is in physical units",
    ),
    "transform is an image": (
        UP + "-o {t}/x.tif --transform {f}/gray.png", "gray.png is no transform; give the .json",
    ),
    "transform is a store": (
        UP + "-o {t}/x.tif --transform {f}/none.zarr", "none.zarr is no transform; give the .json",
    ),
    "no folder": (UP + "-o {t}/none/x.tif", "none does not exist"),
    "output is a folder": (UP + "-o {t}/folder.tif", "folder.tif is a folder"),
    "ending unknown": (UP + "-o {t}/x.bmp", "x.bmp ends in .bmp"),
    "no ending": (UP + "-o {t}/x", "x has no ending"),
    "colour format": (UP + "-o {t}/x.ppm", ".ppm cannot hold a gray image"),
    "floats to png": (UP + "-o {t}/x.png", "choose .npy, .tif or .tiff"),
    "floats to png, asked": (
        "upsample {f}/low16.png {f}/guide.png -o {t}/x.png --dtype float32",
        "holds bool, uint16 or uint8 but the image is float32",
    ),
    "uint16 to jpg": (
        "upsample {f}/low16.png {f}/guide.png -o {t}/x.jpg --operators {f}/pair.npz",
        "holds uint8 but the image is uint16",
    ),
    "output is the target": (UP + "-o {f}/low.tif", "is an input"),
    "output is the guide": (
        "upsample {f}/low16.png {f}/guide.png -o {f}/../{d}/guide.png --operators {f}/pair.npz",
        "is an input",
    ),
    "learn from one": ("learn {f}/guide.png -o {t}/p.npz", "1 images do not make pairs"),
    "learn from three": (
        "learn {f}/guide.png {f}/depth.tif {f}/gray.png -o {t}/p.npz", "gray.png, stands alone",
    ),
    "sizes differ": ("learn {f}/guide.png {f}/low.tif -o {t}/p.npz", "12"),
    "side too small": (LEARN + "-o {t}/p.npz --side 1", "side 1"),
    "too few atoms": (LEARN + "-o {t}/p.npz --side 3 --atoms 2", "atoms 2"),
    "no samples": (LEARN + "-o {t}/p.npz --samples 0", "samples 0"),
    "negative seed": (LEARN + "-o {t}/p.npz --seed -1", "seed -1"),
    "learn to tif": (LEARN + "-o {t}/p.tif", "an operator file must end in .npz"),
    "kappa of one": (LEARN + "-o {t}/p.npz --kappa 3", "--kappa"),
    "info of nothing": ("info {f}/none.npz", "no such operator file"),
    "info of an image": ("info {f}/gray.png", "gray.png is not a usable operator file"),
    "demo in a folder of others": ("demo -o {f}", "holds files that are not a demo's"),
    "demo in a file": ("demo -o {f}/low.tif", "low.tif"),
    "demo without parent": ("demo -o {t}/a/b", "does not exist"),
    "demo too small": ("demo -o {t}/d --shape 20 300", "20 x 300"),
    "demo without factor": ("demo -o {t}/d --factor 1", "factor 1"),
    "demo of negative seed": ("demo -o {t}/d --seed -3", "seed -3"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_wrong_input(run, files, tmp_path, case):
    words, text = CASES[case]
    (tmp_path / "folder.tif").mkdir()
    before = {path: path.stat().st_mtime_ns for path in files.iterdir()}
    filled = [word.format(f=files, t=tmp_path, d=files.name) for word in words.split()]
    code, lines, errors = run(*filled)
    assert (code, lines, len(errors)) == (2, [], 1)
    assert errors[0].startswith("napari-cosparse: error: ")
    assert text in errors[0]
    assert [path.name for path in tmp_path.iterdir()] == ["folder.tif"]
    assert {path: path.stat().st_mtime_ns for path in files.iterdir()} == before


def test_closed_folders(run, files, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    code, _, errors = run(*UP.format(f=files).split(), "-o", tmp_path / "x.tif")
    assert (code, len(errors)) == (2, 1)
    assert f"{tmp_path / 'x.tif'} may not be written" in errors[0]


def test_line_breaks_in_names_stay_one_line(run, tmp_path):
    code, _, errors = run("info", tmp_path / "a\nb.npz")
    assert code == 2
    assert len(errors) == 1


# --- the installed program ----------------------------------------------------------------------


def program(*words, **options):
    options = {"capture_output": True, **options}
    return subprocess.run(  # noqa: S603
        [SCRIPT, *map(str, words)], text=True, check=False, timeout=120, **options
    )


def test_version():
    done = program("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"napari-cosparse {__version__}")


def test_a_damaged_tiff_gives_one_line_and_no_log(tmp_path, files):
    """tifffile would log its own lines in a fresh process."""
    whole = (files / "low.tif").read_bytes()
    (tmp_path / "cut.tif").write_bytes(whole[: len(whole) // 2])
    done = program("upsample", tmp_path / "cut.tif", files / "guide.png", "-o", tmp_path / "x.tif",
                   "--operators", files / "pair.npz")  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "cut.tif cannot be read" in done.stderr


def test_a_good_run_is_quiet_on_stderr(tmp_path, files):
    done = program("upsample", files / "low.tif", files / "guide.png", "-o", tmp_path / "x.tif",
                   "--operators", files / "pair.npz")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote" in done.stdout


def test_a_bar_is_shown_on_a_terminal(tmp_path, files):
    pty = pytest.importorskip("pty")
    terminal, end = pty.openpty()
    pytest.importorskip("termios").tcsetwinsize(end, (24, 80))
    words = ["learn", files / "guide.png", files / "depth.tif", "-o", tmp_path / "p.npz"]
    done = program(*words, "--side", 3, "--samples", 500, "--iterations", 20,
                   capture_output=False, stdout=subprocess.DEVNULL, stderr=end)  # fmt: skip
    os.set_blocking(terminal, False)
    shown = os.read(terminal, 100_000).decode()
    os.close(end)
    os.close(terminal)
    assert done.returncode == 0
    assert re.search(r"needs about \d+ MB of memory: +\d+%", shown)
    assert "/21 " in shown


def test_a_reader_that_leaves_does_not_stop_the_work(tmp_path, files):
    read, write = os.pipe()
    os.close(read)
    words = ["upsample", files / "low.tif", files / "guide.png", "-o", tmp_path / "x.tif",
             "--operators", files / "pair.npz"]  # fmt: skip
    done = program(*words, capture_output=False, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "x.tif").exists()


def test_ctrl_c_stops_a_long_run(tmp_path):
    scene = make_scene((64, 80), 1)
    write_image(tmp_path / "u.png", scene.guide)
    write_image(tmp_path / "v.tif", scene.depth)
    code = (
        "import os, signal, sys\n"
        "from napari_cosparse import cli\n"
        "from napari_cosparse.cli import _learn\n"
        "from contextlib import contextmanager\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored\n"
        "@contextmanager\n"
        "def bar():\n"
        "    yield lambda progress: progress.step > 3 and os.kill(os.getpid(), signal.SIGINT)\n"
        "_learn.bar = bar\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    words = ["learn", "u.png", "v.tif", "-o", "p.npz", "--side", "3", "--samples", "500"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 130
    assert done.stderr == "napari-cosparse: stopped; nothing was written\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["u.png", "v.tif"]


def test_unexpected_errors_are_not_hidden(files, tmp_path, monkeypatch):
    """A fault of the program must show its traceback, not look like wrong input."""
    from napari_cosparse.cli import _upsample

    def fault(*_args, **_keywords):
        raise ZeroDivisionError

    monkeypatch.setattr(_upsample, "upsample", fault)
    with pytest.raises(ZeroDivisionError):
        cli.main([*UP.format(f=files).split(), "-o", str(tmp_path / "x.tif")])
    assert not list(tmp_path.iterdir())


def test_importing_the_command_line_is_light():
    heavy = ("napari", "qtpy", "magicgui", "dask", "matplotlib", "tifffile", "scipy.sparse")
    code = f"import sys, napari_cosparse.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_nan_samples_do_not_break_the_output(run, files, tmp_path):
    low = np.full((12, 15), np.nan, np.float32)
    write_image(tmp_path / "in.tif", low)
    code, _, errors = run("upsample", tmp_path / "in.tif", files / "guide.png", "-o",
                          tmp_path / "x.tif", "--operators", files / "pair.npz")  # fmt: skip
    assert (code, len(errors)) == (2, 1)
