"""``napari-cosparse learn``."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

from napari_cosparse.api import Learned, learn_operators
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair, bank
from napari_cosparse.io import encode, operator_path, write_bytes, write_together

from ._inputs import InputImage, load_image
from ._record import check_outputs, record_path, write_record
from ._terminal import bar, number, say


def run(arguments: Namespace) -> None:
    """Learn a pair and write it with its record.

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
    paths: list[Path] = arguments.images
    if len(paths) % 2:
        raise InputError(
            f"{len(paths)} images do not make pairs; give U V for each pair (the last one, "
            f"{paths[-1]}, stands alone)"
        )
    out = operator_path(arguments.out)
    check_outputs(out, paths)
    images = [load_image(path) for path in paths]
    learned = _learn(images, arguments)
    pair = _finish(learned, images, arguments, out)
    write_together(
        [
            (out, partial(write_bytes, content=encode(pair))),
            (record_path(out), partial(write_record, command="learn",
                                       content=_record(learned, pair, images, out))),
        ]
    )  # fmt: skip
    _summarise(learned, pair, out)


def _learn(images: list[InputImage], arguments: Namespace) -> Learned:
    """Run the computation with a bar."""
    with bar() as report:
        return learn_operators(
            [(u.pixels, v.pixels) for u, v in zip(images[::2], images[1::2], strict=True)],
            side=arguments.side,
            atoms=arguments.atoms,
            samples=arguments.samples,
            nu=arguments.nu,
            kappa=tuple(arguments.kappa),
            mu=tuple(arguments.mu),
            symmetries=arguments.symmetries,
            invalid=(arguments.invalid_u, arguments.invalid_v),
            iterations=arguments.iterations,
            seed=arguments.seed,
            report=report,
        )


def _finish(
    learned: Learned, images: list[InputImage], arguments: Namespace, out: Path
) -> OperatorPair:
    """Add names and origin to the metadata, and differences if they are wanted."""
    pair = bank(learned.pair) if arguments.bank else learned.pair
    training = [
        {"u": u.record, "v": v.record} for u, v in zip(images[::2], images[1::2], strict=True)
    ]
    names = {"name": arguments.name or out.stem, "modalities": list(arguments.modalities)}
    return OperatorPair(pair.groups, {**names, **pair.metadata, "training": training})


def _record(
    learned: Learned, pair: OperatorPair, images: list[InputImage], out: Path
) -> dict[str, Any]:
    """Return all that is needed to repeat the run and to judge its result."""
    inputs = [image.record for image in images]
    metadata = {key: value for key, value in pair.metadata.items() if key != "training"}
    return {
        "inputs": {"u": inputs[::2], "v": inputs[1::2]},
        "output": {"file": str(out), "atoms": pair.atoms, "groups": len(pair.groups)},
        "parameters": metadata,
        "result": {
            "stop": str(learned.stop),
            "converged": learned.stop.converged,
            "iterations": len(learned.history) - 1,
            "evaluations": learned.evaluations,
            "costs": learned.history,
            "diagnostics": learned.diagnostics.to_json(),
        },
    }


def _summarise(learned: Learned, pair: OperatorPair, out: Path) -> None:
    """Say what was learned, and whether the modalities are coupled."""
    costs, rates = learned.history, learned.diagnostics.summary()
    say(f"{pair.atoms} atoms in {len(pair.groups)} group{'s' * (len(pair.groups) > 1)}")
    say(
        f"cost {number(costs[0])} to {number(costs[-1])} in {len(costs) - 1} iterations, "
        f"{learned.stop}"
    )
    say(
        f"V is silent where U is: {number(rates['matched'])} "
        f"(shuffled pairs {number(rates['shuffled'])}, V alone {number(rates['activity_v'])})"
    )
    say(f"wrote {out} and {record_path(out)}")
