"""``napari-cosparse upsample`` into a Zarr store."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import Any

from napari_cosparse.api import upsample_to_store_steps
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.planes import plane_name
from napari_cosparse.core.progress import drain
from napari_cosparse.io import ZarrImage, in_zarr, open_zarr
from napari_cosparse.tiles import Stored

from ._inputs import as_gray, colour_of, load_image
from ._resume import stoppable
from ._terminal import bar, number, say
from ._transform_option import read_option

DESCRIBED = ("pixel_size", "units", "position")
ONLY_STORES = ("memory", "block", "scheduler", "resume")


def check_options(arguments: Namespace) -> None:
    """Refuse options that work with a Zarr output alone.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.

    Raises
    ------
    InputError
        If one is given and the output is another file.
    """
    for name in ONLY_STORES:
        if getattr(arguments, name):
            raise InputError(
                f"--{name} works with an output that ends in .zarr or .ome.zarr, "
                f"not {arguments.out}"
            )


def run(arguments: Namespace) -> None:
    """Upsample into a store.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.

    Raises
    ------
    InputError
        If an input is wrong.
    OSError
        If a part cannot be read or written; what was finished stays.
    """
    target, guide = _open(arguments.target, gray=True), _open(arguments.guide)
    steps = upsample_to_store_steps(
        target.array,
        guide.array,
        arguments.out,
        arguments.operators,
        memory=arguments.memory,
        block=arguments.block,
        scheduler=arguments.scheduler,
        threads=arguments.threads,
        overwrite=arguments.overwrite,
        resume=arguments.resume,
        colour=(_target_colour(target), colour_of(guide, "guide")),
        **_axes(target, guide),
        **_settings(arguments, target, guide),
    )
    say(next(steps).stage)  # the estimate
    with closing(steps), stoppable(arguments.out), bar() as report:
        stored = drain(_rest(steps), report)
    _summarise(stored)


def _settings(arguments: Namespace, target: ZarrImage, guide: ZarrImage) -> dict[str, Any]:
    """Keywords of `upsample`."""
    return {
        "factor": arguments.factor,
        "phase": arguments.phase or "centre",
        "transform": read_option(arguments, _plane(target), _plane(guide)),
        "blur": arguments.blur,
        "noise": arguments.noise,
        "invalid": arguments.invalid,
        "guided": not arguments.unguided,
        "solver": arguments.solver,
        "seed": arguments.seed,
        "dtype": arguments.dtype or "float32",
    }


def _summarise(stored: Stored) -> None:
    """Say what was done."""
    if stored.found:
        say(f"{stored.path} is complete already, made by this very job; nothing was changed")
        return
    if stored.resumed:
        say(f"{stored.resumed} of {stored.blocks} blocks were there from an earlier run")
    if stored.compared:
        rms, largest = map(number, stored.disagreement)
        say(f"{stored.blocks} blocks; overlaps differ by {rms} (RMS), {largest} at most")
    if stored.blank:
        many = len(stored.blank)
        what = f"{many} planes have" if many > 1 else f"plane {plane_name(stored.blank[0])} has"
        say(f"{what} no known sample; the result is unknown there")
    if stored.blank_blocks:
        blocks = f"{stored.blank_blocks} block{'s' * (stored.blank_blocks > 1)}"
        say(
            f"{blocks} without a known sample in reach; the result is unknown there, larger blocks "
            "(--block, --memory) reach farther"
        )
    say(f"largest misfit {number(stored.misfit)}")
    say(f"wrote {stored.path}")


def _rest(steps: Any) -> Any:  # noqa: ANN401 - a generator of Progress that returns Stored
    return (yield from steps)


def _open(path: Path, *, gray: bool = False) -> ZarrImage:
    """Open a store, or read an image file; a target that was saved as RGB may be gray."""
    if in_zarr(path):
        return open_zarr(path)
    pixels = load_image(path).pixels
    plain = as_gray(pixels) if gray else None
    return ZarrImage(pixels if plain is None else plain)


def _target_colour(target: ZarrImage) -> bool | None:
    """Whether the last axis of the target holds channels; None if the sizes must tell."""
    return target.axes.endswith("yxc") if target.axes else None


def _plane(image: ZarrImage) -> tuple[int, ...]:
    """Rows and columns of an image; where the axes have no names, three or four are colours."""
    shape: tuple[int, ...] = image.array.shape
    coloured = image.axes.endswith("c") or (
        not image.axes and len(shape) > 2 and shape[-1] in (3, 4)
    )
    return shape[-3:-1] if coloured else shape[-2:]


def _axes(target: ZarrImage, guide: ZarrImage) -> dict[str, Any]:
    """Names, pixel sizes, units and place of the result: the target's, on the guide's grid."""
    plane = (
        guide.scale[-2:] or (1.0, 1.0),
        guide.units[-2:] or (None, None),
        guide.position[-2:] or (0.0, 0.0),
    )
    if not target.axes:
        return {"axes": None, **dict(zip(DESCRIBED, plane, strict=True))}
    count, down = len(target.axes), target.axes.index("y")
    own = target.scale, target.units, target.position
    every: list[list[Any]] = [
        list(values or (other,) * count)
        for values, other in zip(own, (1.0, None, 0.0), strict=True)
    ]
    for values, part in zip(every, plane, strict=True):
        values[down : down + 2] = part
    return {"axes": target.axes, **dict(zip(DESCRIBED, every, strict=True))}
