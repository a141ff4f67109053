"""``napari-cosparse register``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse import api
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import motion_of
from napari_cosparse.io import (
    Transform,
    as_transform,
    check_image_path,
    encode_transform,
    load_transform,
    transform_path,
    write_bytes,
    write_pixels,
    write_together,
)

from ._checkerboard import checkerboard
from ._inputs import InputImage, load_image
from ._operator_source import describe_operators, operator_file
from ._points import read_points
from ._record import check_outputs, describe_file, record_path, write_record
from ._terminal import bar, complain, number, say

NOT_TRUSTED = 3
_PLAIN = ("group", "measure", "solver", "allow_reflection", "seed", "threads")
_IF_GIVEN = ("search", "max_rotation", "max_scale", "region")

Writers = list[tuple[Path, Callable[[Path], None]]]


def run(arguments: Namespace) -> int | None:
    """Register two images and write the transform.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.

    Returns
    -------
    int or None
        3 if the result is not to be trusted: then only the JSON is written, which says so.

    Raises
    ------
    InputError
        If an input is wrong; nothing is written then.
    OSError
        If a file cannot be read or written; nothing is left then.
    """
    sources = _check(arguments)
    fixed, moving = load_image(arguments.fixed), load_image(arguments.moving)
    if arguments.resampled is not None:
        channels = moving.pixels.shape[2] if moving.pixels.ndim == 3 else 1
        check_image_path(arguments.resampled, moving.pixels.dtype, channels)
    keywords = _keywords(arguments)
    with bar() as report:
        found = api.register(
            fixed.pixels, moving.pixels, arguments.operators, **keywords, report=report
        )
    inputs = {"fixed": fixed.record, "moving": moving.record}
    inputs |= {name: describe_file(path) for name, path in sources.items()}
    inputs["operators"] = describe_operators(arguments.operators)
    transform = _transform(found, inputs)
    writers = _writers(arguments, transform, fixed, moving, inputs)
    write_together(writers)
    _summarise(found, transform, fixed, moving)
    say(f"wrote {', '.join(str(path) for path, _ in writers)}")
    if transform.trusted:
        return None
    complain(f"not trusted: {transform.because}")
    return NOT_TRUSTED


def _check(arguments: Namespace) -> dict[str, Path]:
    """Refuse what would fail after the work; return the files besides the images."""
    transform_path(arguments.out)
    names = ("mask_fixed", "mask_moving", "initial", "points")
    sources = {name: path for name in names if (path := getattr(arguments, name)) is not None}
    inputs = [arguments.fixed, arguments.moving, *sources.values()]
    inputs += operator_file(arguments.operators)
    outputs = [p for p in (arguments.out, arguments.resampled, arguments.checkerboard) if p]
    for place in outputs:
        check_outputs(place, inputs)
    recorded = [
        p for p in (arguments.out, arguments.resampled) if p and p.suffix.lower() != ".json"
    ]
    places = [*outputs, *map(record_path, recorded)]
    if len({place.resolve() for place in places}) < len(places):
        raise InputError("two outputs have the same name; give each its own (records end in .json)")
    if arguments.checkerboard is not None:
        check_image_path(arguments.checkerboard, np.dtype(np.uint8), 3)
    _check_pixels(arguments)
    if arguments.initial is not None and arguments.points is not None:
        raise InputError("--initial and --points both give a start; leave one out")
    return sources


def _check_pixels(arguments: Namespace) -> None:
    """Refuse files in lengths beside pixels that have no height and width."""
    given = [
        f"--pixel-matrix-{n}"
        for n in ("fixed", "moving")
        if getattr(arguments, f"pixel_matrix_{n}")
    ]
    for path in (arguments.out, arguments.initial):
        if given and path is not None and path.suffix.lower() != ".json":
            raise InputError(
                f"{path} is in lengths along rows and columns, which the pixels of {given[0]} do "
                "not have; give a .json, which is in pixels"
            )


def _keywords(arguments: Namespace) -> dict[str, Any]:
    """Return the keywords of `register`."""
    keywords = {name: getattr(arguments, name) for name in _PLAIN}
    sizes = {f"pixel_size_{name}": _pixel_size(arguments, name) for name in ("fixed", "moving")}
    keywords |= sizes
    keywords |= {
        name: value for name in _IF_GIVEN if (value := getattr(arguments, name)) is not None
    }
    keywords["verdict"] = not arguments.no_verdict
    keywords["invalid"] = (arguments.invalid_fixed, arguments.invalid_moving)
    if arguments.initial is not None:
        lengths = {} if arguments.initial.suffix.lower() == ".json" else sizes
        keywords["initial"] = load_transform(arguments.initial, **lengths).matrix
    if arguments.points is not None:
        keywords["points"] = read_points(arguments.points)
    for name in ("mask_fixed", "mask_moving"):
        if getattr(arguments, name) is not None:
            keywords[name] = _mask(getattr(arguments, name))
    return keywords


def _pixel_size(arguments: Namespace, name: str) -> tuple[Any, Any]:
    """Height and width of a pixel, or the rows of its matrix."""
    matrix = getattr(arguments, f"pixel_matrix_{name}")
    if matrix is not None:
        return tuple(matrix[:2]), tuple(matrix[2:])
    height, width = getattr(arguments, f"pixel_size_{name}") or (1.0, 1.0)
    return height, width


def _mask(path: Path) -> NDArray[np.bool_]:
    """Read a mask: what is neither 0 nor NaN counts."""
    pixels = load_image(path).pixels
    used = (pixels != 0) & ~np.isnan(pixels)
    return np.asarray(used.any(axis=2) if used.ndim == 3 else used)


def _transform(found: Any, inputs: dict[str, Any]) -> Transform:  # noqa: ANN401 - Registration
    """Return what is written: the registration and what it was made from."""
    transform = as_transform(found)
    made = {"program": "napari-cosparse", "command": "register", "inputs": inputs}
    return replace(transform, details=made | dict(transform.details))


def _writers(
    arguments: Namespace,
    transform: Transform,
    fixed: InputImage,
    moving: InputImage,
    inputs: dict[str, Any],
) -> Writers:
    """Return each file with the function that writes it."""
    out: Path = arguments.out
    record = out if out.suffix.lower() == ".json" else record_path(out)
    paths = [record] if record == out or not transform.trusted else [out, record]
    writers: Writers = [
        (path, partial(write_bytes, content=encode_transform(path, transform))) for path in paths
    ]
    if not transform.trusted:
        return writers
    shape = fixed.pixels.shape[0], fixed.pixels.shape[1]
    if arguments.resampled is not None:
        image = _resampled(moving.pixels, transform, shape)
        content = {"inputs": inputs, "transform": str(out), "order": "linear"}
        writers += [
            (arguments.resampled, partial(write_pixels, image=image)),
            (
                record_path(arguments.resampled),
                partial(write_record, command="register", content=content),
            ),
        ]
    if arguments.checkerboard is not None:
        image = _resampled(moving.pixels.astype(np.float32), transform, shape)
        picture = checkerboard(fixed.pixels, image)
        writers.append((arguments.checkerboard, partial(write_pixels, image=picture)))
    return writers


def _resampled(pixels: NDArray[Any], transform: Transform, shape: tuple[int, int]) -> NDArray[Any]:
    """Resample the moving image, with a bar."""
    with bar() as report:
        return api.apply_transform(pixels, transform.matrix, shape=shape, report=report)


def _summarise(found: Any, transform: Transform, fixed: InputImage, moving: InputImage) -> None:  # noqa: ANN401
    """Say what was found."""
    say(f"fixed {fixed.size}, moving {moving.size}")
    say(f"group {found.group}, measure {found.measure}, overlap {found.overlap:.0%}, {found.stop}")
    say(f"cost {number(found.cost_before)} -> {number(found.cost_after)}")
    say("fixed pixel (row, column, 1) -> moving pixel:")
    for row in transform.matrix:
        say("  " + "  ".join(f"{value: .8f}" for value in row))
    motion = motion_of(transform.matrix, fixed.pixels.shape[:2], moving.pixels.shape[:2])
    say(str(motion))
    if transform.trusted:
        say(f"trusted: {transform.because}")
