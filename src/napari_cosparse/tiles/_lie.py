"""Where the target of a block lies: its samples, and the settings that say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.reconstruction import Scalars, Settings, without_gaps

from ._plan import Span

Spans = tuple[Span, Span]
Slices = tuple[slice, slice]


def block_samples(
    spans: Spans, target: tuple[int, int], turned: NDArray[np.float64] | None, reach: float
) -> Slices:
    """Find the samples that a block needs.

    Parameters
    ----------
    spans : tuple of Span
        Axes of the block.
    target : tuple of int
        Shape of the whole target.
    turned : ndarray, shape (3, 3), or None
        Guide pixel to sample, if the target is turned against the guide.
    reach : float
        Half width of a sample's kernel, in distances of samples.

    Returns
    -------
    tuple of slice
        Rows and columns of the target; empty where it does not reach the block.
    """
    rows, columns = spans
    if turned is None:
        return rows.samples, columns.samples
    ends = [(span.window.start - 0.5, span.window.stop - 0.5) for span in spans]
    corners = np.array([[row, column, 1] for row in ends[0] for column in ends[1]])
    places = (corners @ turned.T)[:, :2]
    low = np.clip(np.floor(places.min(0) - reach), 0, target).astype(int)
    high = np.clip(np.ceil(places.max(0) + reach) + 1, low, target).astype(int)
    return slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1]))


def block_settings(
    settings: Settings,
    spans: Spans,
    samples: Slices,
    factor: tuple[float, float],
    turned: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None = None,
) -> Settings:
    """Make the settings of a block's own solve.

    Parameters
    ----------
    settings : Settings
        Of the run.
    spans : tuple of Span
        Axes of the block.
    samples : tuple of slice
        See `block_samples`.
    factor : tuple of float
        Distances of two samples, in guide pixels.
    turned : ndarray, shape (3, 3), or None
        Guide pixel to sample, if the target is turned against the guide.
    weights : ndarray, shape (m, m2), optional
        Of the block's samples.

    Returns
    -------
    Settings
    """
    rows, columns = spans
    if turned is None:
        return replace(
            settings,
            factor=factor,
            origin=(rows.origin, columns.origin),
            transform=None,
            weights=weights,
            dtype="float32",
        )
    matrix = turned.copy()
    matrix[:2, 2] += turned[:2, :2] @ (rows.window.start, columns.window.start)
    matrix[:2, 2] -= samples[0].start, samples[1].start
    return replace(settings, transform=matrix, weights=weights, dtype="float32")


def count_on_guide(
    known: NDArray[np.bool_], turned: NDArray[np.float64], guide: tuple[int, int]
) -> int:
    """Count the known samples of a turned target whose middle lies on the guide.

    Parameters
    ----------
    known : ndarray, shape (m1, m2)
        All samples.
    turned : ndarray, shape (3, 3)
        Guide pixel to sample.
    guide : tuple of int
        Shape of the guide, in pixels.

    Returns
    -------
    int
    """
    back, columns, count = np.linalg.inv(turned), np.arange(known.shape[1]), 0
    for row, line in enumerate(known):
        places = [a * row + b * columns + c for a, b, c in back[:2]]
        inside = [(at > -0.5) & (at < n - 0.5) for at, n in zip(places, guide, strict=True)]
        count += int(np.count_nonzero(line & inside[0] & inside[1]))
    return count


def spread_over(
    whole: Scalars,
    known: NDArray[np.bool_],
    responses: float,
    count: Callable[[NDArray[np.bool_]], int],
) -> Scalars:
    """Correct how many responses there are for each known sample; `measure` knows no guide.

    Parameters
    ----------
    whole : Scalars
        What `measure` gave.
    known : ndarray, shape (m1, m2), bool
        Which samples count.
    responses : float
        Weighted responses at the pixels of the guide that the target covers.
    count : callable
        Counts the samples of a mask that lie on the guide.

    Returns
    -------
    Scalars
    """
    share = count(without_gaps(known)) / max(1, count(np.ones_like(known)))
    return replace(whole, density=responses * share / max(1, count(known)))
