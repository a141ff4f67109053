"""``napari-cosparse upsample``."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from napari_cosparse.api import Upsampled, check_target, load_operators, shipped_operators, upsample
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.io import (
    FLOAT_ENDINGS,
    check_image_path,
    is_zarr,
    plain,
    write_pixels,
    write_together,
)

from . import _store
from ._inputs import InputImage, load_gray, load_image
from ._record import check_kept, check_outputs, describe_file, record_path, write_record
from ._terminal import bar, complain, number, say
from ._transform_option import read_option

OutputType = Literal["float32", "input"]
OVERSHOOT = 0.02  # share of the range that the solver aims to stay below


def run(arguments: Namespace) -> None:
    """Upsample one image and write it with its record.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.

    Raises
    ------
    InputError
        If an input is wrong; nothing is written then.
    OSError
        If a file cannot be read or written; nothing is left then.
    """
    out: Path = arguments.out
    files = [arguments.target, arguments.guide, *_operator_file(arguments.operators)]
    files += [] if arguments.transform is None else [arguments.transform]
    if is_zarr(out):
        check_kept(out, files)
        _store.run(arguments)
        return
    _store.check_options(arguments)
    check_image_path(out, np.dtype(np.uint8))  # whatever the type is: a known ending for gray
    check_outputs(out, files)
    target, guide = load_gray(arguments.target), load_image(arguments.guide)
    dtype = _output_type(arguments.dtype, out)
    check_image_path(out, target.pixels.dtype if dtype == "input" else np.dtype(np.float32))
    operators = load_operators(arguments.operators)
    result = _upsample(target, guide, operators, arguments, dtype)
    fit = check_target(
        target.pixels,
        guide.pixels,
        **_place(result),
        invalid=arguments.invalid,
    )
    record = {**_record(arguments, target, guide, operators, result), "alignment": plain(fit)}
    write_together(
        [
            (out, partial(write_pixels, image=result.image)),
            (record_path(out), partial(write_record, command="upsample", content=record)),
        ]
    )
    _summarise(arguments, target, guide, result)
    if not fit.coincide:
        complain(f"warning: {fit.because}")


def _place(result: Upsampled) -> dict[str, Any]:
    """Where the target lay."""
    transform = result.parameters["transform"]
    if transform is not None:
        return {"transform": transform}
    return {"factor": result.factor, "origin": result.origin}


def _operator_file(source: str) -> list[Path]:
    """Return the operator file, if the operators are not shipped ones."""
    return [] if source in shipped_operators() else [Path(source)]


def _output_type(wanted: OutputType | None, out: Path) -> OutputType:
    """Choose float32 where the format has it, else the target's type."""
    if wanted is not None:
        return wanted
    return "float32" if out.suffix.lower() in FLOAT_ENDINGS else "input"


def _upsample(
    target: InputImage,
    guide: InputImage,
    operators: OperatorPair,
    arguments: Namespace,
    dtype: OutputType,
) -> Upsampled:
    """Run the computation with a bar."""
    with bar() as report:
        return upsample(
            target.pixels,
            guide.pixels,
            operators,
            factor=arguments.factor,
            phase=arguments.phase or "centre",
            transform=read_option(arguments, target.pixels.shape[:2], guide.pixels.shape[:2]),
            blur=arguments.blur,
            noise=arguments.noise,
            invalid=arguments.invalid,
            guided=not arguments.unguided,
            solver=arguments.solver,
            seed=arguments.seed,
            dtype=dtype,
            threads=arguments.threads,
            report=report,
        )


def _record(
    arguments: Namespace,
    target: InputImage,
    guide: InputImage,
    operators: OperatorPair,
    result: Upsampled,
) -> dict[str, Any]:
    """Return all that is needed to repeat the run and to judge its result."""
    files = [describe_file(path) for path in _operator_file(arguments.operators)]
    bank = {"name": arguments.operators, "atoms": operators.atoms, **(files[0] if files else {})}
    used = {
        name: getattr(result, name)
        for name in ("factor", "origin", "blur", "noise", "noise_estimated", "guided")
    }
    return {
        "inputs": {"target": target.record, "guide": guide.record, "operators": bank},
        "output": {
            "file": str(arguments.out),
            "shape": result.image.shape,
            "dtype": str(result.image.dtype),
        },
        "parameters": {**result.parameters, **used},
        "result": {
            "misfit": result.misfit,
            "overshoot": result.overshoot,
            "stop": str(result.stop),
            "converged": result.stop.converged,
            "iterations": result.iterations,
            "evaluations": result.evaluations,
        },
    }


def _coverage(result: Upsampled) -> str:
    known = np.isfinite(result.image)
    if result.image.dtype.kind != "f" and (invalid := result.parameters["invalid"]) is not None:
        known &= result.image != invalid
    share = known.mean()
    return f"covers {100 * share:.0f} % of the guide"


def _summarise(
    arguments: Namespace, target: InputImage, guide: InputImage, result: Upsampled
) -> None:
    """Say what was done."""
    factors = " x ".join(number(factor) for factor in result.factor)
    source = "from the sizes; --factor sets it" if arguments.factor is None else "as given"
    source = source if arguments.transform is None else f"from {arguments.transform}"
    phase = f"phase {arguments.phase or 'centre'}"
    phase = phase if arguments.transform is None else _coverage(result)
    noise = "estimated; --noise sets it" if result.noise_estimated else "as given"
    say(f"target {target.size}, guide {guide.size}")
    say(f"factor {factors} ({source}), {phase}, blur {result.blur}")
    say(f"noise {number(result.noise)} ({noise}), largest misfit {number(result.misfit)}")
    if result.overshoot > OVERSHOOT:
        say(f"the result leaves the range of the samples by {100 * result.overshoot:.1f} % of it")
    if not result.guided and not arguments.unguided:
        say("the guide is constant and had no say")
    say(f"{result.iterations} iterations, {result.stop}")
    say(f"wrote {arguments.out} and {record_path(arguments.out)}")
