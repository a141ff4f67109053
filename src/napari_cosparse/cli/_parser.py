"""The arguments of the command line."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from napari_cosparse import __version__
from napari_cosparse.core.errors import InputError

from ._parser_register import add_apply, add_register
from ._terminal import PROGRAM

_ANY_FACTOR = "--factor"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise what `main` turns into exit code 2."""
        raise InputError(f"{message} (see {self.prog} --help)")


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments.

    Parameters
    ----------
    argv : sequence of str, optional
        The words; those of the process if None.

    Returns
    -------
    argparse.Namespace
        The arguments; ``run`` is the function of the command.

    Raises
    ------
    InputError
        If they make no sense.
    SystemExit
        After ``--help`` and ``--version``.
    """
    import sys

    return _parser().parse_args(join_factors(sys.argv[1:] if argv is None else argv))


def join_factors(words: Sequence[str]) -> list[str]:
    """Join the two numbers that may follow ``--factor`` into one word.

    argparse knows "one or more" but not "one or two": it would take file names for numbers.

    Parameters
    ----------
    words : sequence of str
        All arguments.

    Returns
    -------
    list of str
        The same with ``--factor 2 3`` as ``--factor 2,3``.
    """
    joined = list(words)
    for at in range(len(joined) - 3, -1, -1):
        if joined[at] == _ANY_FACTOR and all(map(_is_number, joined[at + 1 : at + 3])):
            joined[at + 1 : at + 3] = [",".join(joined[at + 1 : at + 3])]
    return joined


def _is_number(word: str) -> bool:
    """Tell numbers from file names."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _numbers(word: str) -> tuple[float, ...]:
    """Read one number, or two with a comma or an x between them."""
    try:
        numbers = tuple(float(part) for part in word.replace("x", ",").split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in (1, 2) or not all(map(math.isfinite, numbers)):
        raise argparse.ArgumentTypeError(f"{word!r} is not one number or two")
    return numbers


def _command(name: str) -> Callable[[argparse.Namespace], int | None]:
    """Return the function of a command; its libraries are loaded when it runs."""

    def run(arguments: argparse.Namespace) -> int | None:
        from importlib import import_module

        code: int | None = import_module(f"napari_cosparse.cli._{name}").run(arguments)
        return code

    return run


def _parser() -> _Parser:
    """Return the whole parser."""
    parser = _Parser(
        prog=PROGRAM,
        description="Coupled analysis operators: learn a pair from registered images of two "
        "modalities, upsample one modality with the other as a guide, register the two.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, text, add in (
        ("learn", "learn an operator pair from registered image pairs", _add_learn),
        ("upsample", "upsample an image with the help of a guide", _add_upsample),
        ("register", "find how two images of two modalities lie on each other", add_register),
        ("apply", "resample an image by a transform that was found before", add_apply),
        ("info", "show what is in an operator file", _add_info),
        ("operators", "list the operators that come with the package", _add_nothing),
        ("demo", "make a scene, learn, upsample, register and compare", _add_demo),
    ):
        sub = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        sub.set_defaults(run=_command(name))
        add(sub)
    return parser


def _add_learn(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learn``."""
    add = parser.add_argument
    add("images", nargs="+", type=Path, metavar="U V", help="guide and target images, in pairs")
    add("-o", "--out", type=Path, required=True, help="operator file to write (.npz)")
    add("--side", type=int, default=5, help="side of the patches in pixels [%(default)s]")
    add(
        "--atoms", type=int, help="atoms of each operator; twice the pixels of a patch if not given"
    )
    add("--samples", type=int, default=15_000, help="patch pairs to learn from [%(default)s]")
    add("--iterations", type=int, default=300, help="iterations at most [%(default)s]")
    add("--nu", type=float, default=400.0, help="sharpness of the sparsity measure [%(default)s]")
    two: dict[str, Any] = {"type": float, "nargs": 2, "metavar": ("U", "V")}
    add("--kappa", default=(5.0, 22.0), help="weights of the rank penalty [5 22]", **two)
    add("--mu", default=(1e2, 2.5e4), help="weights of the coherence penalty [100 25000]", **two)
    add("--symmetries", action="store_true", help="turn patches by the symmetries of the square")
    add("--invalid-u", type=float, metavar="VALUE", help="value of U that means unknown")
    add("--invalid-v", type=float, metavar="VALUE", help="value of V that means unknown")
    add("--bank", action="store_true", help="add differences at distances, best for upsampling")
    add("--modalities", nargs=2, metavar=("U", "V"), default=("guide", "target"),
        help="names of the modalities [guide target]")  # fmt: skip
    add("--name", help="name of the pair; that of the file if not given")
    add("--seed", type=int, default=0, help="seed of all random choices [%(default)s]")
    _add_reading(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of learning from large images, and of long runs."""
    add = parser.add_argument
    add("--memory", metavar="BYTES",
        help="budget such as 1GB for the patches and for reading the images; a run that needs "
        "more is refused; the free memory if not given")  # fmt: skip
    add("--block", type=int, metavar="PIXELS",
        help="side of the parts that are read of images of more than 4 megapixels; another one "
        "makes another sample [256]")  # fmt: skip
    add("--scheduler", metavar="WHO",
        help="who looks for patches in Zarr stores and reads them: threads, processes, or the "
        "address of a dask scheduler (tcp://...)")  # fmt: skip
    add("--threads", type=int, help="number of threads or processes; all cores if not given")
    add("--resume", action="store_true", help="continue an unfinished run")
    add("--overwrite", action="store_true", help="delete what an unfinished run left")


def _add_upsample(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``upsample``."""
    add = parser.add_argument
    add("target", type=Path, help="low-resolution image, gray")
    add("guide", type=Path, help="high-resolution image, gray or colour")
    add(
        "-o",
        "--out",
        type=Path,
        required=True,
        help="image to write (.tif, .npy, .png, .pgm), or Zarr store (.zarr, .ome.zarr)",
    )
    _add_place(parser)
    add("--blur", choices=("box", "gaussian", "bicubic", "none"), default="box",
        help="what a sample averages over [%(default)s]")  # fmt: skip
    add("--noise", type=float, metavar="SIGMA",
        help="standard deviation of the target's noise in its unit; 0 keeps the samples "
        "exactly; estimated if not given")  # fmt: skip
    add(
        "--operators",
        default="intensity-depth",
        metavar="NAME|FILE",
        help="operator pair [%(default)s]",
    )
    add("--invalid", type=float, metavar="VALUE", help="value of the target that means unknown")
    add("--unguided", action="store_true", help="leave the guide out")
    add("--solver", choices=("lbfgs", "cg"), default="lbfgs",
        help="graduated L-BFGS, or the conjugate gradients of the paper [%(default)s]")  # fmt: skip
    add("--seed", type=int, default=0, help="seed of all random choices [%(default)s]")
    add("--dtype", choices=("input", "float32"),
        help="type of the result: rounded to the target's, or float32; if not given, float32 "
        "where the format has it")  # fmt: skip
    _add_blocks(parser)


def _add_place(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the target lies on the guide."""
    add = parser.add_argument
    add(_ANY_FACTOR, type=_numbers, metavar="F",
        help="guide pixels per target pixel: one number, or two for rows and columns; "
        "from the sizes if not given")  # fmt: skip
    add(
        "--phase",
        choices=("centre", "corner"),
        help="place of the first sample: amid its guide pixels or on the first [centre]",
    )
    add("--transform", type=Path, metavar="T",
        help="where the guide's pixels lie in the target: a transform that `register GUIDE TARGET` "
        "wrote (.json); instead of --factor and --phase")  # fmt: skip


def _add_blocks(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of images that do not fit into memory; they need a Zarr output."""
    add = parser.add_argument
    add("--memory", metavar="BYTES",
        help="budget such as 1GB: larger images are cut into blocks; half of the free memory if "
        "not given")  # fmt: skip
    add("--block", type=int, metavar="PIXELS", help="side of the blocks, instead of the largest")
    add("--scheduler", metavar="WHO",
        help="who solves the blocks: threads, processes, or the address of a dask scheduler "
        "(tcp://...)")  # fmt: skip
    add("--threads", type=int, help="number of threads or processes; all cores if not given")
    add("--resume", action="store_true", help="continue an unfinished run")
    add("--overwrite", action="store_true", help="replace a Zarr store that is there")


def _add_info(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``info``."""
    parser.add_argument("operators", metavar="NAME|FILE", help="shipped name or operator file")


def _add_nothing(_: argparse.ArgumentParser) -> None:
    """Leave a command without arguments."""


def _add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``demo``."""
    add = parser.add_argument
    add("-o", "--out", type=Path, default=Path("cosparse-demo"), metavar="FOLDER",
        help="folder for the results; made if missing [%(default)s]")  # fmt: skip
    add(
        "--shape",
        type=int,
        nargs=2,
        default=(384, 512),
        metavar=("H", "W"),
        help="rows and columns of the scene [384 512]",
    )
    add("--factor", type=int, default=4, help="how much coarser the depth is made [%(default)s]")
    add("--seed", type=int, default=0, help="another seed makes another scene [%(default)s]")
    add("--view", action="store_true", help="open napari on the result")
