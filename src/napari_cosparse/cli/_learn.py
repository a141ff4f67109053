"""``napari-cosparse learn``."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from napari_cosparse.api import Learned
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair, bank, make_settings
from napari_cosparse.core.progress import drain
from napari_cosparse.io import encode, operator_path, write_bytes, write_together
from napari_cosparse.tiles import discard_checkpoint, learning_steps

from ._inputs import InputPlanes, open_planes
from ._record import check_kept, check_outputs, record_path, write_record
from ._resume import kept_folder, stoppable
from ._terminal import bar, complain, number, say


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
    check_kept(out, paths)
    images = [open_planes(path) for path in paths]
    pairs = _pairs(images)
    learned = _learn([images for _, images in pairs], arguments, out)
    names = [pairs[number - 1][0] for number in learned.skipped]
    pair = _finish(learned, images, arguments, out)
    write_together(
        [
            (out, partial(write_bytes, content=encode(pair))),
            (record_path(out), partial(write_record, command="learn",
                                       content=_record(learned, pair, images, out, names))),
        ]
    )  # fmt: skip
    discard_checkpoint(kept_folder(out))  # not before: if the disk is full, the work stays
    _summarise(learned, pair, out)
    if names:
        complain(_skipped(names, len(pairs)))


def _learn(pairs: list[tuple[Any, Any]], arguments: Namespace, out: Path) -> Learned:
    """Run the computation with a bar."""
    settings = make_settings(
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
        **({} if arguments.block is None else {"block": arguments.block}),
    )
    steps = learning_steps(
        pairs,
        settings,
        memory=arguments.memory,
        scheduler=arguments.scheduler,
        threads=arguments.threads,
        checkpoint=kept_folder(out),
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        keep=True,
    )
    if {"memory", "scheduler", "resume"} & {n for n, v in vars(arguments).items() if v}:
        say(next(steps).stage)  # the estimate
    with closing(steps), stoppable(out), bar() as report:
        return drain(steps, report)


def _pairs(images: list[InputPlanes]) -> list[tuple[str, tuple[Any, Any]]]:
    """Pair the planes of all images, each pair with its name."""
    pairs = []
    for u, v in zip(images[::2], images[1::2], strict=True):
        name = f"{u.record['file']} and {v.record['file']}"
        planes = _planes(u, v, name)
        many = len(planes) > 1
        pairs += [
            (f"{name}, plane {at}" if many else name, plane) for at, plane in enumerate(planes)
        ]
    return pairs


def _planes(u: InputPlanes, v: InputPlanes, names: str) -> list[tuple[Any, Any]]:
    """Pair the planes of two images; a single one belongs to all of the other."""
    counts = len(u.planes), len(v.planes)
    if counts[0] != counts[1] and 1 not in counts:
        raise InputError(
            f"{names} have {counts[0]} and {counts[1]} planes; they must have the same number, or "
            "one of them a single plane"
        )
    most = max(counts)
    return list(zip(*(part.planes * (most // len(part.planes)) for part in (u, v)), strict=True))


def _skipped(names: list[str], many: int) -> str:
    """Say which pairs had no say."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"warning: {len(names)} of {many} pairs had no say ({names[0]}{more}): all patches are "
        "constant, unknown or flatter than the thresholds. The record names them all"
    )


def _finish(
    learned: Learned, images: list[InputPlanes], arguments: Namespace, out: Path
) -> OperatorPair:
    """Add names and origin to the metadata, and differences if they are wanted."""
    pair = bank(learned.pair) if arguments.bank else learned.pair
    training = [
        {"u": u.record, "v": v.record} for u, v in zip(images[::2], images[1::2], strict=True)
    ]
    names = {"name": arguments.name or out.stem, "modalities": list(arguments.modalities)}
    return OperatorPair(pair.groups, {**names, **pair.metadata, "training": training})


def _record(
    learned: Learned, pair: OperatorPair, images: list[InputPlanes], out: Path, skipped: list[str]
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
            "skipped": skipped,
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
