"""Read all of a run's inputs once, before anything is written."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

import numpy as np

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.planes import plane_name, plane_of_all
from napari_cosparse.core.progress import Progress, reported
from napari_cosparse.core.reconstruction import Scalars, groups_for, nothing_known

from ._lie import block_samples, count_on_guide, spread_over
from ._look import Looked, known_samples, look_at_guide, look_at_target, scalars_of
from ._memory import in_words
from ._threads import threaded_map
from ._work import Work

UNITS = 1000  # of progress, for each block
Found = tuple[tuple[int, ...], tuple[int, ...], int | None, Scalars | None]


def survey(work: Work) -> Generator[Progress, None, tuple[list[Found], list[str]]]:
    """Find checksums, and the scalars that all blocks share.

    Parameters
    ----------
    work : Work
        The run, its blocks chosen.

    Yields
    ------
    Progress
        First how much memory the run needs.

    Returns
    -------
    found : list of tuple
        Of each plane: its index, that of its guide, its channel, and its scalars; None if it has
        no known sample.
    checksums : list of str

    Raises
    ------
    InputError
        If no plane has a known sample, or a plane or block has none and the type of the result
        cannot say so.
    """
    blocks = len(work.plan_made.blocks)
    cut = "each plane as a whole" if blocks == 1 else f"{blocks} blocks a plane"
    yield Progress(f"needs about {in_words(work.memory)} of memory, {cut}", 0, UNITS)
    guides: dict[tuple[int, ...], tuple[tuple[float, float] | None, str]] = {}
    found: list[Found] = []
    digests, leading = [], work.target.leading
    channels = range(work.target.channels) if work.target.colour else (None,)
    total = max(1, int(np.prod(leading, dtype=int)))
    for number, index in enumerate(np.ndindex(*leading)):
        which = index if work.guide.leading else ()
        plane = plane_of_all(index, number, total) if index else "the image"
        reading = Progress(f"reading {plane}", number, UNITS * total)
        yield reading
        if which not in guides:
            guides[which] = yield from reported(look_at_guide(work.guide, which), reading)
        span, digest = guides[which]
        looking = look_at_target(work.target, index, work.settings)
        looked = yield from reported(looking, reading)
        digests += [looked.checksum, digest]
        for channel in channels:
            yield reading
            found.append((index, which, channel, _scalars(work, looked.of(channel), span)))
    _check_known(work, found)
    return found, digests


def _scalars(work: Work, plane: Looked, guide: tuple[float, float] | None) -> Scalars | None:
    """Measure a plane; corners of a turned target beside the guide are no unknown samples."""
    map_ = threaded_map(1, work.cancelled)
    whole = scalars_of(plane, guide, work.operators, work.settings, work.factor, map_)
    if work.turned is None or whole is None or plane.samples.shape != work.target.plane:
        return whole
    responses = groups_for(work.operators, work.factor).weight_sum * work.pixels
    count = partial(count_on_guide, turned=work.turned, guide=work.guide.plane)
    return spread_over(whole, plane.known, responses, count)


def _check_known(work: Work, found: list[Found]) -> None:
    """Refuse a target of which nothing is known; planes of which nothing is stay unknown."""
    blank = [place for place, _, _, whole in found if whole is None]
    shape, invalid = tuple(work.target.array.shape), work.settings.invalid
    if len(blank) == len(found):
        raise InputError(nothing_known(shape, invalid))
    if work.unknown is not None:
        return
    if blank:
        raise InputError(
            f"target has no known sample in plane {plane_name(blank[0])}, {_cannot(work)}"
        )
    if len(work.plan_made.blocks) > 1 and _may_be_unknown(work):
        for index, _, channel, _ in found:
            _check_blocks(work, index, channel)


def _may_be_unknown(work: Work) -> bool:
    masked = work.target.own_dtype != work.target.dtype
    return masked or work.settings.invalid is not None or work.settings.weights is not None


def _check_blocks(work: Work, index: tuple[int, ...], channel: int | None) -> None:
    """Refuse blocks whose result cannot be marked as unknown."""
    plan, weights = work.plan_made, work.settings.weights
    for i, j in plan.blocks:
        spans = plan.rows[i], plan.columns[j]
        part = block_samples(spans, work.target.plane, work.turned, work.reach)
        samples = work.target.read(index, *part)
        samples = samples if channel is None else samples[..., channel]
        near = None if weights is None else weights[part]
        if not known_samples(samples, work.settings.invalid, near).any():
            rows, columns = (f"{span.core.start}:{span.core.stop}" for span in spans)
            raise InputError(
                f"target has no known sample near rows {rows}, columns {columns} of the result, "
                f"{_cannot(work)}, or use larger blocks"
            )


def _cannot(work: Work) -> str:
    return (
        f"which the type {work.dtype} cannot mark as unknown; use dtype 'float32', or give "
        "`invalid`, the value that marks unknown samples"
    )
