"""The coupled co-sparsity of one band of rows: its calls, written down for a thread's memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.operators import (
    GlobalOperator,
    Memory,
    OperatorPair,
    Program,
    Tile,
    record,
)
from napari_cosparse.core.types import Plane

FACTORS_PER_LOG = 4  # eps^2 >= 1e-8 and x^2 <= 1e9 ranges^2: four factors stay inside float32
UNIT_ROWS = 32
SINGLE = np.dtype(np.float32)

Key = tuple[int, Tile]
"""Number of the group, tile in the band's coordinates."""


class Terms:
    """What is the same for all bands.

    Parameters
    ----------
    pair : OperatorPair
        The bank.
    channels : int
        Of the guide; 0 means unguided.
    finite : bool
        Whether no pixel of the guide is NaN.
    floor : bool
        Whether each pixel has a smoothing of its own.
    """

    def __init__(self, pair: OperatorPair, channels: int, finite: bool, floor: bool) -> None:
        self.target, self.guide = GlobalOperator(pair, "v"), GlobalOperator(pair, "u")
        self.channels, self.finite, self.floor = channels, finite, floor
        self.weights = [group.weight for group in pair.groups]
        doubled = [np.float32(2 * weight) for weight in self.weights]
        self.double = [a * b for a, b in zip(doubled, self.target.atoms, strict=True)]
        self.squares = [a * b**2 for a, b in zip(doubled, self.target.atoms, strict=True)]

    @property
    def margin(self) -> int:
        """Farthest pixel of an atom."""
        return self.target.margin

    @property
    def unit(self) -> int:
        """Rows whose shares of gradient and curvature are summed alone, whatever the bands are.

        No more than two units meet at a pixel: the order in which they are added changes no bit.
        """
        return max(UNIT_ROWS, 2 * self.margin)


class BandWork:
    """Cost, gradient and curvature of bands of one size, one after the other.

    Parameters
    ----------
    terms : Terms
        What is the same for all bands.
    tiles : tuple
        See `Key`.
    shape : tuple of int
        Rows and width of the band, in pixels.
    memory : Memory
        That of the thread.
    kept : dict, optional
        The guide's term of each tile, if it is kept: the work is then that of one band.

    Attributes
    ----------
    source : ndarray, shape (rows + 2 * margin, width + 2 * margin), float32
        To be filled with the image.
    channels : ndarray, shape (channels, rows + 2 * margin, width + 2 * margin), float32
        To be filled with the guide.
    smoothing : ndarray, shape (rows, 1, width) or (1, 1, 1), float32
        To be filled with ``eps^2 + floor^2``.
    out : ndarray, shape (units, unit + 2 * margin, width + 2 * margin), float32
        Gradient or curvature: the share of each unit, to be added where they overlap.
    """

    def __init__(
        self,
        terms: Terms,
        tiles: tuple[Key, ...],
        shape: tuple[int, int],
        memory: Memory,
        kept: dict[Key, Plane] | None = None,
    ) -> None:
        self._terms, self._tiles, self._memory, self._kept = terms, tiles, memory, kept
        rows, width = shape
        padded = (rows + 2 * terms.margin, width + 2 * terms.margin)
        units = -(-rows // terms.unit), terms.unit + 2 * terms.margin, padded[1]
        self.source = memory.plane("source", padded, SINGLE)
        self.channels = memory.plane("channels", (terms.channels, *padded), SINGLE)
        self.out = memory.plane("out", units, SINGLE)
        fine = (rows, 1, width) if terms.floor else (1, 1, 1)
        self.smoothing = memory.plane("smoothing", fine, SINGLE)
        self._lines = {key: number for number, key in enumerate(_lines(tiles))}
        self._weights = np.array([[terms.weights[part]] for part, _ in self._lines])
        self._sums = np.zeros((2, len(self._lines), rows))

    def gradient(self) -> NDArray[np.float64]:
        """Write the gradient to `out`.

        Returns
        -------
        ndarray, shape (rows,), float64
            The cost of each row.
        """
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # caught below
            self._gradient.run()
            costs = self._costs()
        lost = ~np.isfinite(costs)
        if lost.any():
            record(self._write_cost, self._memory).run()
            costs[lost] = self._costs()[lost]
        return costs

    def _costs(self) -> NDArray[np.float64]:
        """Add up the sums of each row."""
        costs: NDArray[np.float64] = (self._weights * self._sums.sum(0)).sum(0)
        return costs

    def curvature(self) -> None:
        """Write the curvature to `out`."""
        self._curvature.run()

    def keep_guide(self) -> None:
        """Fill what was given as `kept` from the channels."""
        record(self._write_guide, self._memory).run()

    @cached_property
    def _gradient(self) -> Program:
        return record(self._write_gradient, self._memory)

    @cached_property
    def _curvature(self) -> Program:
        return record(self._write_curvature, self._memory)

    def _write_gradient(self, program: Program) -> None:
        program.add(self.out.fill, 0)
        for part, tile, x, scale, sums in self._responses(program):
            add_logarithms(program, scale, sums)
            program.add(np.divide, x, scale, x)
            windows = self._terms.target.windows[part]
            windows.scatter(program, self._terms.double[part], x, self.out, tile)

    def _write_curvature(self, program: Program) -> None:
        program.add(self.out.fill, 0)
        for part, tile, _, scale, _ in self._responses(program):
            program.add(np.reciprocal, scale, scale)
            windows = self._terms.target.windows[part]
            windows.scatter(program, self._terms.squares[part], scale, self.out, tile)

    def _write_cost(self, program: Program) -> None:
        """Take every logarithm: products of several left the range of float32."""
        for _, _, _, scale, sums in self._responses(program):
            program.add(_sum_logarithms, scale, sums)

    def _write_guide(self, program: Program) -> None:
        assert self._kept is not None  # noqa: S101 - asked for only then
        for key in self._tiles:
            program.add(np.copyto, self._kept[key], self._largest(program, *key))

    def _responses(
        self, program: Program
    ) -> Iterator[tuple[int, Tile, Plane, Plane, NDArray[np.float64]]]:
        """Yield each tile with x, ``eps^2 + floor^2 + c^2 + x^2`` and the place of its sums."""
        for key in self._tiles:
            part, tile = key
            rows, columns = tile.inside
            sums = self._sums[:, self._lines[part, tile.column], rows]
            fine = self.smoothing[rows, :, columns] if self._terms.floor else self.smoothing
            shape = (tile.rows, len(self._terms.target.atoms[part]), tile.width)
            scale = program.memory.plane("scale", shape, SINGLE)
            if self._terms.channels:
                kept = self._largest(program, *key) if self._kept is None else self._kept[key]
                program.add(np.add, kept, fine, scale)
            else:
                program.add(np.copyto, scale, fine)
            x = self._terms.target.respond(program, part, self.source, tile)
            square = program.memory.plane("other", shape, SINGLE)
            program.add(np.multiply, x, x, square)
            program.add(np.add, scale, square, scale)
            yield part, tile, x, scale, sums

    def _largest(self, program: Program, part: int, tile: Tile) -> Plane:
        """Largest squared guide response over the channels."""
        respond = partial(self._terms.guide.respond, program, part, tile=tile)
        largest = respond(self.channels[0], name="scale")
        program.add(np.multiply, largest, largest, largest)
        for channel in self.channels[1:]:
            c = respond(channel, name="other")
            program.add(np.multiply, c, c, c)
            program.add(_raise_to, largest, c)
        if not self._terms.finite:
            # Responses that touch an unknown pixel of the guide are NaN: they say nothing.
            program.add(np.fmax, largest, np.float32(0), largest)
        return largest


def _lines(tiles: tuple[Key, ...]) -> dict[tuple[int, int], None]:
    """Group and first column of the tiles that lie below one another, once each."""
    return dict.fromkeys((part, tile.column) for part, tile in tiles)


def add_logarithms(program: Program, values: Plane, sums: NDArray[np.float64]) -> None:
    """Sum logarithms, one for the product of four atoms and one for each that is left over.

    Parameters
    ----------
    program : Program
        Gets the calls.
    values : ndarray, shape (rows, k, width), float32
        Positive. Products that leave the range of float32 make the sum infinite or NaN.
    sums : ndarray, shape (2, rows), float64
        Gets the sum of each row in two parts. Those of other rows change no bit of it.
    """
    rows, atoms, width = values.shape
    whole = atoms // FACTORS_PER_LOG
    used = FACTORS_PER_LOG * whole
    if whole:
        factors = values[:, :used].reshape(rows, FACTORS_PER_LOG, whole, width)
        products = program.memory.plane("other", (rows, whole, width), SINGLE)
        program.add(np.multiply.reduce, factors, 1, None, products)
        program.add(np.log, products, products)
        program.add(np.add.reduce, products, (1, 2), np.float64, sums[0])
    if atoms > used:
        rest = program.memory.plane("other", (rows, atoms - used, width), SINGLE)
        program.add(np.log, values[:, used:], rest)
        program.add(np.add.reduce, rest, (1, 2), np.float64, sums[1])


def _sum_logarithms(values: Plane, sums: NDArray[np.float64]) -> None:
    sums[0] = np.log(values, dtype=np.float64).sum((1, 2))
    sums[1] = 0


def _raise_to(largest: Plane, values: Plane) -> None:
    np.maximum(largest, values, out=largest)  # the one function that wants its output by name
