"""The arguments of ``register`` and ``apply``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_FORMATS = ".json, .txt or .csv (as affinder reads), .tfm (ITK)"


def add_register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``register``.

    Parameters
    ----------
    parser : ArgumentParser
        Parser of the command.
    """
    add = parser.add_argument
    add("fixed", type=Path, help="image that stays, gray or colour")
    add("moving", type=Path, help="image to place on it, gray or colour")
    add("-o", "--out", type=Path, required=True, help=f"transform to write ({_FORMATS})")
    _add_search(parser)
    _add_what_counts(parser)
    add("--no-verdict", action="store_true",
        help="do not check the answer backwards: half the time, less is trusted")  # fmt: skip
    add("--seed", type=int, default=0, help="seed of all random choices [%(default)s]")
    add("--threads", type=int, help="threads; all cores if not given")
    add("--resampled", type=Path, metavar="OUT",
        help="also write the moving image on the fixed grid, if trusted")  # fmt: skip
    add("--checkerboard", type=Path, metavar="PNG",
        help="also write squares of both images in turn, if trusted")  # fmt: skip


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add what is searched and how."""
    add = parser.add_argument
    add("--group", choices=("SO", "SE", "similarity", "SA", "A"), default="SE",
        help="motions: rotation, and shift, and scale; area-preserving or any affine "
        "[%(default)s]")  # fmt: skip
    add("--measure", choices=("auto", "both", "mutual", "nmi", "coupled"), default="auto",
        help="what is compared. auto: both, and nmi where that is not trusted; both: the sum of "
        "the next two; mutual: edges (mutual co-sparsity); nmi: grey values (normalised mutual "
        "information); coupled: the paper's coupled sparsity, for small motions "
        "[%(default)s]")  # fmt: skip
    add("--solver", choices=("gauss-newton", "gradient"), default="gauss-newton",
        help="Gauss-Newton, or the gradient descent of the paper [%(default)s]")  # fmt: skip
    add("--operators", default="intensity-nir", metavar="NAME|FILE",
        help="operator pair [%(default)s]")  # fmt: skip
    add("--initial", type=Path, metavar="FILE", help=f"transform to start from ({_FORMATS})")
    add("--points", type=Path, metavar="FILE",
        help="table of points to start from: fixed row, column, moving row, column")  # fmt: skip
    add("--search", action=argparse.BooleanOptionalAction,
        help="look everywhere for a start; yes, unless a start is given")  # fmt: skip
    add("--max-rotation", type=float, metavar="DEGREES",
        help="largest angle of the search, up to 180")  # fmt: skip
    add("--max-scale", type=float, metavar="FACTOR",
        help="largest change of scale of the search")  # fmt: skip
    add("--allow-reflection", action="store_true", help="place a mirrored moving image, too")


def _add_what_counts(parser: argparse.ArgumentParser) -> None:
    """Add which pixels count, and their size."""
    add = parser.add_argument
    for name in ("fixed", "moving"):
        add(f"--mask-{name}", type=Path, metavar="FILE",
            help=f"image that is not 0 where the {name} image is to be used")  # fmt: skip
    for name in ("fixed", "moving"):
        add(f"--invalid-{name}", type=float, metavar="VALUE",
            help=f"value of the {name} image that means unknown")  # fmt: skip
    add_pixel_sizes(parser, sheared=True)
    add("--region", type=int, nargs=4, metavar=("TOP", "LEFT", "BOTTOM", "RIGHT"),
        help="part of the fixed image to use, in pixels")  # fmt: skip


def add_pixel_sizes(parser: argparse.ArgumentParser, *, sheared: bool = False) -> None:
    """Add the pixel sizes of both images.

    Parameters
    ----------
    parser : ArgumentParser
        Parser of the command.
    sheared : bool
        Whether pixels may be parallelograms.
    """
    two: dict[str, Any] = {"type": float, "nargs": 2, "metavar": ("HEIGHT", "WIDTH")}
    four: dict[str, Any] = {"type": float, "nargs": 4, "metavar": ("A", "B", "C", "D")}
    for name in ("fixed", "moving"):
        either = parser.add_mutually_exclusive_group()
        either.add_argument(
            f"--pixel-size-{name}",
            help=f"size of a pixel of the {name} image, both in one unit [1 1]",
            **two,
        )
        if sheared:
            either.add_argument(
                f"--pixel-matrix-{name}",
                help=f"for the pixels of a sheared {name} image: a step of one row goes (A, C) in "
                "the world and a step of one column (B, D), down and right",
                **four,
            )


def add_apply(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``apply``.

    Parameters
    ----------
    parser : ArgumentParser
        Parser of the command.
    """
    add = parser.add_argument
    add("transform", type=Path, help=f"transform from fixed to moving ({_FORMATS})")
    add("image", type=Path, help="image on the moving grid, gray or colour")
    add("-o", "--out", type=Path, required=True, help="image to write (.tif, .npy, .png, ...)")
    add("--like", type=Path, metavar="FIXED",
        help="image whose size the result gets; that in the transform if not given")  # fmt: skip
    add("--labels", action="store_true", help="keep labels: no value that was not there")
    add("--order", choices=("linear", "cubic", "nearest"),
        help="interpolation [linear; nearest with --labels]")  # fmt: skip
    add("--fill", type=float, metavar="VALUE",
        help="value outside the image; NaN for floating point and 0 else if not given")  # fmt: skip
    add("--extent", choices=("fixed", "moving"), default="fixed",
        help="keep what is on the fixed image, or all of the moving one [%(default)s]")  # fmt: skip
    add("--force", action="store_true", help="apply a transform that is not trusted, too")
    add_pixel_sizes(parser)
