"""The arguments of ``learn``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

ABOUT = (
    "Learn how two modalities go together from pairs of images that lie on one another pixel by "
    "pixel. U is the modality of the guide (fine, such as a photo), V that of the target (such as "
    "depth). The file is what `upsample --operators` and `register --operators` take."
)
EXAMPLE = (
    "example: napari-cosparse learn photo1.png depth1.tif photo2.png depth2.tif -o pair.npz "
    "--side 3 --bank"
)


def add_learn(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learn``.

    Parameters
    ----------
    parser : ArgumentParser
        Parser of the command.
    """
    parser.description, parser.epilog = ABOUT, EXAMPLE
    add = parser.add_argument
    add("images", nargs="+", type=Path, metavar="U V",
        help="image files or Zarr stores, in pairs: U1 V1 U2 V2 ...; IMAGE.ome.zarr/1 is a level, "
        "GROUP.zarr/NAME an array in a group")  # fmt: skip
    add("-o", "--out", type=Path, required=True,
        help="operator file to write (.npz or .cosparse); it is replaced if it is there. A record, "
        "OUT.json, goes beside it")  # fmt: skip
    _add_images(parser)
    _add_operators(parser)
    _add_reading(parser)


def _add_images(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of what the images are."""
    add = parser.add_argument_group("about the images").add_argument
    add("--invalid-u", type=float, metavar="VALUE", help="value of U that means unknown")
    add("--invalid-v", type=float, metavar="VALUE", help="value of V that means unknown, such as 0")
    add("--modalities", nargs=2, metavar=("U", "V"), default=("guide", "target"),
        help="names of the modalities, kept in the file [guide target]")  # fmt: skip
    add("--name", help="name of the pair; that of the file if not given")


def _add_operators(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of what is learned."""
    add = parser.add_argument_group("what is learned").add_argument
    add("--bank", action="store_true",
        help="add differences at distances, which reach farther than a patch: best for "
        "upsampling")  # fmt: skip
    add("--symmetries", action="store_true",
        help="turn and mirror patches at random: best for registration")  # fmt: skip
    add("--side", type=int, default=5,
        help="side of the patches in pixels; 3 is better for upsampling [%(default)s]")  # fmt: skip
    add("--atoms", type=int,
        help="filters of each modality; twice the pixels of a patch if not given")  # fmt: skip
    add("--samples", type=int, default=15_000, help="patch pairs to learn from [%(default)s]")
    add("--iterations", type=int, default=300, help="iterations at most [%(default)s]")
    add("--nu", type=float, default=400.0,
        help="how sharply silent filters are told from active ones [%(default)s]")  # fmt: skip
    two: dict[str, Any] = {"type": float, "nargs": 2, "metavar": ("U", "V")}
    add("--kappa", default=(5.0, 22.0),
        help="weights of the penalty for filters that miss some structures [5 22]",
        **two)  # fmt: skip
    add("--mu", default=(1e2, 2.5e4),
        help="weights of the penalty for filters that resemble one another [100 25000]",
        **two)  # fmt: skip
    add("--seed", type=int, default=0,
        help="seed of the choice of patches and of the start; the same gives the same file "
        "[%(default)s]")  # fmt: skip


def _add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of learning from large images, and of long runs."""
    add = parser.add_argument_group("large images and long runs").add_argument
    add("--memory", metavar="BYTES",
        help="budget such as 1GB for the patches and for reading the images; a run that needs "
        "more is refused; the free memory if not given")  # fmt: skip
    add("--block", type=int, metavar="PIXELS",
        help="side of the parts that are read of images of more than 4 megapixels; another one "
        "makes another sample [256]")  # fmt: skip
    add("--scheduler", metavar="WHO",
        help="who looks for patches in Zarr stores and reads them: threads (of this process), "
        "processes, or the workers of a dask cluster, by the address of its scheduler (tcp://...) "
        "[threads]")  # fmt: skip
    add("--threads", type=int, help="number of threads or processes; all cores if not given")
    add("--resume", action="store_true",
        help="continue an interrupted run, kept in OUT.partial; give the same images and "
        "options")  # fmt: skip
    add("--overwrite", action="store_true", help="delete what an interrupted run left")
