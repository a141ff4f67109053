"""The arguments of ``upsample``."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

_ANY_FACTOR = "--factor"
ABOUT = (
    "Bring a coarse image (the target) to the pixels of a fine one of the same scene (the guide). "
    "The target's samples are kept, up to their noise; edges come from the guide."
)
EXAMPLE = "example: napari-cosparse upsample depth.tif photo.png -o fine.tif"


def add_upsample(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``upsample``.

    Parameters
    ----------
    parser : ArgumentParser
        Parser of the command.
    """
    parser.description, parser.epilog = ABOUT, EXAMPLE
    add = parser.add_argument
    add("target", type=Path,
        help="coarse image: a gray image file, or a Zarr store (planes and channels are worked one "
        "by one; needs a Zarr output). IMAGE.ome.zarr/1 is its second level, GROUP.zarr/NAME an "
        "array in a group")  # fmt: skip
    add("guide", type=Path, help="fine image, gray or colour: an image file or a Zarr store")
    add("-o", "--out", type=Path, required=True,
        help="result: an image (.tif, .npy, .png, .pgm), or a Zarr store (.zarr, or .ome.zarr for "
        "OME-Zarr) for images that do not fit into memory, stacks and colour. A record, OUT.json, "
        "goes beside an image")  # fmt: skip
    _add_place(parser)
    _add_model(parser)
    _add_blocks(parser)


def _add_place(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the target lies on the guide."""
    add = parser.add_argument_group("where the target lies on the guide").add_argument
    add(_ANY_FACTOR, type=_numbers, metavar="F",
        help="guide pixels per target pixel: one number, or two for rows and columns; "
        "from the sizes if not given")  # fmt: skip
    add("--phase", choices=("centre", "corner"),
        help="where the first target pixel lies: centre, amid the guide pixels that it covers "
        "(cameras, most programs); corner, on the first of them (every F-th pixel was taken) "
        "[centre]")  # fmt: skip
    add("--transform", type=Path, metavar="T",
        help="instead of --factor and --phase, for a target that is shifted or turned: the .json "
        "that `napari-cosparse register GUIDE TARGET -o T` wrote")  # fmt: skip


def _add_model(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of what is known of the target, and of the solver."""
    add = parser.add_argument_group("what is known of the images").add_argument
    add("--blur", choices=("box", "gaussian", "bicubic", "none"), default="box",
        help="what a target pixel is of the fine image: the mean over its area (a sensor's pixel), "
        "a Gaussian's, what image software makes when it reduces, or one pixel "
        "[%(default)s]")  # fmt: skip
    add("--noise", type=float, metavar="SIGMA",
        help="standard deviation of the target's noise in its unit; 0 keeps the samples "
        "exactly; estimated if not given")  # fmt: skip
    add("--invalid", type=float, metavar="VALUE",
        help="value of the target that means unknown, such as 0; NaN always does")  # fmt: skip
    add("--operators", default="intensity-depth", metavar="NAME|FILE",
        help="what is known of the two modalities: a name that `napari-cosparse operators` lists, "
        "or a file of `napari-cosparse learn` [%(default)s]")  # fmt: skip
    add("--unguided", action="store_true",
        help="do not look at the guide's pixels, use its size only")  # fmt: skip
    add("--solver", choices=("lbfgs", "cg"), default="lbfgs",
        help="graduated L-BFGS, or the conjugate gradients of the paper, which are slower "
        "[%(default)s]")  # fmt: skip
    add("--seed", type=int, default=0,
        help="seed of random choices; the solvers make none on the command line "
        "[%(default)s]")  # fmt: skip
    add("--dtype", choices=("input", "float32"),
        help="type of the result: rounded to the target's, or float32; if not given, float32 "
        "where the format has it")  # fmt: skip
    add("--threads", type=int, help="number of threads or processes; all cores if not given")


def _add_blocks(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of images that do not fit into memory; they need a Zarr output."""
    add = parser.add_argument_group("with a Zarr output").add_argument
    add("--memory", metavar="BYTES",
        help="budget such as 1GB: larger images are cut into blocks; half of the free memory if "
        "not given")  # fmt: skip
    add("--block", type=int, metavar="PIXELS",
        help="side of the blocks, instead of the largest within the budget")  # fmt: skip
    add("--scheduler", metavar="WHO",
        help="who solves the blocks: threads (of this process), processes, or the workers of a "
        "dask cluster, by the address of its scheduler (tcp://...) [threads]")  # fmt: skip
    add("--resume", action="store_true",
        help="continue an interrupted run, kept in OUT.partial, or leave OUT as it is if it is "
        "complete; give the same images and options")  # fmt: skip
    add("--overwrite", action="store_true",
        help="replace a Zarr store that is there, and delete what an interrupted run left; other "
        "files are replaced without it")  # fmt: skip


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
