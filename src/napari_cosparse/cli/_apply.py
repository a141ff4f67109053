"""``napari-cosparse apply``."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.api import Transform, apply_transform, load_transform, moving_extent
from napari_cosparse.core.errors import InputError
from napari_cosparse.io import check_image_path, read_image, write_pixels, write_together

from ._inputs import InputImage, load_image
from ._record import check_outputs, describe_file, record_path, write_record
from ._register import NOT_TRUSTED
from ._terminal import bar, complain, say

MOST_PIXELS = 2**31  # of a result; beyond, the transform is hardly meant

Grid = tuple[tuple[int, int], tuple[int, int]]


def run(arguments: Namespace) -> int | None:
    """Resample an image by a transform and write it with its record.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.

    Returns
    -------
    int or None
        3 if the transform is not trusted; then nothing is written.

    Raises
    ------
    InputError
        If an input is wrong; nothing is written then.
    OSError
        If a file cannot be read or written; nothing is left then.
    """
    out: Path = arguments.out
    inputs = [p for p in (arguments.transform, arguments.image, arguments.like) if p is not None]
    check_outputs(out, inputs)
    transform = _load(arguments)
    if not (transform.trusted or arguments.force):
        complain(f"not trusted: {transform.because}; nothing was written. --force applies it")
        return NOT_TRUSTED
    image = load_image(arguments.image)
    channels = image.pixels.shape[2] if image.pixels.ndim == 3 else 1
    check_image_path(out, image.pixels.dtype, channels)
    _check_size(arguments.image, image.pixels.shape[:2], transform.moving_shape, "moving")
    order = _order(arguments, channels)
    origin, shape = _grid(arguments, transform, image)
    how = {"shape": shape, "origin": origin, "order": order, "fill": arguments.fill}
    with bar() as report:
        result = apply_transform(image.pixels, transform.matrix, **how, report=report)
    record = _record(arguments, transform, image, origin, order, result)
    write_together(
        [
            (out, partial(write_pixels, image=result)),
            (record_path(out), partial(write_record, command="apply", content=record)),
        ]
    )
    rows, columns = shape
    say(f"image {image.size}, result {rows} x {columns} from fixed pixel {origin}, {order}")
    say(f"wrote {out} and {record_path(out)}")
    return None


def _load(arguments: Namespace) -> Transform:
    """Read the transform; formats in physical units need the pixel sizes."""
    sizes = {
        name: tuple(getattr(arguments, name))
        for name in ("pixel_size_fixed", "pixel_size_moving")
        if getattr(arguments, name) is not None
    }
    if sizes and arguments.transform.suffix.lower() == ".json":
        raise InputError(
            f"{arguments.transform} is in pixels; leave --pixel-size-fixed and --pixel-size-moving "
            "out"
        )
    record = _record_beside(arguments.transform)
    if record is None:
        return load_transform(arguments.transform, **sizes)
    if not (record.trusted or arguments.force):
        return record  # of a later run, which did not write the transform again
    known = {name: getattr(record, name) for name in ("pixel_size_fixed", "pixel_size_moving")}
    return load_transform(arguments.transform, **{**known, **sizes})


def _record_beside(path: Path) -> Transform | None:
    """Read what `register` has written beside a transform of a format that says less."""
    record = record_path(path)
    if path.suffix.lower() == ".json" or not record.is_file():
        return None
    try:
        return load_transform(record)
    except InputError:  # of something else
        return None


def _order(arguments: Namespace, channels: int) -> str:
    """Choose the interpolation."""
    if not arguments.labels:
        return str(arguments.order or "linear")
    if arguments.order not in (None, "nearest"):
        raise InputError(f"--labels keeps labels; --order {arguments.order} would mix them")
    if channels > 1:
        raise InputError(f"{arguments.image} has {channels} channels; labels have one")
    return "nearest"


def _grid(arguments: Namespace, transform: Transform, image: InputImage) -> Grid:
    """Origin and shape of the result on the fixed grid."""
    if arguments.extent == "moving":
        rows, columns = image.pixels.shape[:2]
        extent = moving_extent((rows, columns), transform.matrix)
        if np.prod(extent.shape, dtype=float) > MOST_PIXELS:
            raise InputError(
                f"the whole moving image takes {extent.shape[0]} x {extent.shape[1]} fixed pixels; "
                "that is too much. Keep what lies on the fixed image (--extent fixed)"
            )
        return extent.origin, extent.shape
    shape = transform.fixed_shape
    if arguments.like is not None:
        rows, columns = read_image(arguments.like).shape[:2]
        _check_size(arguments.like, (rows, columns), shape, "fixed")
        shape = rows, columns
    if shape is None:
        raise InputError(
            f"{arguments.transform} does not say how large the fixed image is; give it with --like"
        )
    return (0, 0), shape


def _check_size(
    path: Path, shape: tuple[int, ...], wanted: tuple[int, int] | None, name: str
) -> None:
    """Refuse an image that the transform was not found for."""
    if wanted is not None and tuple(shape) != tuple(wanted):
        raise InputError(
            f"{path} has {shape[0]} x {shape[1]} pixels, but the transform is for a {name} image "
            f"of {wanted[0]} x {wanted[1]}; give an image on that grid"
        )


def _record(
    arguments: Namespace,
    transform: Transform,
    image: InputImage,
    origin: tuple[int, int],
    order: str,
    result: NDArray[Any],
) -> dict[str, Any]:
    """Return all that is needed to repeat the run."""
    inputs = {"transform": describe_file(arguments.transform), "image": image.record}
    if arguments.like is not None:
        inputs["like"] = describe_file(arguments.like)
    return {
        "inputs": inputs,
        "output": {
            "file": str(arguments.out),
            "shape": result.shape,
            "dtype": str(result.dtype),
            "origin": origin,
        },
        "parameters": {
            "matrix": transform.matrix,
            "order": order,
            "fill": arguments.fill,
            "extent": arguments.extent,
            "forced": arguments.force and not transform.trusted,
        },
    }
