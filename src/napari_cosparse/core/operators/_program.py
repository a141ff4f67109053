"""Calls of NumPy on fixed memory, written down once and run many times.

What lies between two calls of NumPy is done under the interpreter's lock, for which threads wait;
so the views are cut beforehand, and nothing is left between the calls but a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.types import Plane

BLOCK = 1 << 25  # bytes; those that nobody writes to are never given out by the system
LINE = 64  # bytes, of the processor's cache


class Memory:
    """Memory that tiles use one after the other: new arrays for each would cost page faults.

    One memory serves one thread.
    """

    def __init__(self) -> None:
        self._lines: dict[str, NDArray[np.uint8]] = {}
        self._left = np.empty(0, np.uint8)

    def plane(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Plane:
        """Give memory for an array; what was there before under the same name is lost.

        Parameters
        ----------
        name : str
            Purpose of the array.
        shape : tuple of int
            Its shape.
        dtype : dtype
            Its type.

        Returns
        -------
        ndarray
            Any values.
        """
        size = prod(shape) * dtype.itemsize
        line = self._lines.get(name)
        if line is None or line.size < size:
            line = self._lines[name] = self._cut(size)
        return line[:size].view(dtype).reshape(shape)

    def reserve(self, other: Memory) -> None:
        """Make room for all that another memory was asked for.

        Parameters
        ----------
        other : Memory
        """
        for name, line in other._lines.items():
            self.plane(name, line.shape, line.dtype)

    def _cut(self, size: int) -> NDArray[np.uint8]:
        """Cut a line off a block: NumPy asks for huge pages for large arrays only."""
        whole = -(-size // LINE) * LINE
        if self._left.size < whole:
            self._left = np.empty(max(whole, BLOCK), np.uint8)
        line, self._left = self._left[:whole], self._left[whole:]
        return line


class Program:
    """Calls in their order.

    Parameters
    ----------
    memory : Memory, optional
        Where intermediate results live.

    Attributes
    ----------
    memory : Memory
    """

    def __init__(self, memory: Memory | None = None) -> None:
        self._calls: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self.memory = memory or Memory()

    def add(self, function: Callable[..., object], *arguments: object) -> None:
        """Write down a call.

        Parameters
        ----------
        function : callable
            Writes to one of its arguments.
        *arguments : object
            Its arguments by position: keywords take NumPy longer to read.
        """
        self._calls.append((function, arguments))

    def run(self) -> None:
        """Make all calls."""
        for function, arguments in self._calls:
            function(*arguments)


def record(write: Callable[[Program], None], memory: Memory) -> Program:
    """Write a program, all of it in the same memory.

    Parameters
    ----------
    write : callable
        Adds the calls to a program.
    memory : Memory
        Where intermediate results live.

    Returns
    -------
    Program
    """
    trial = Program()  # finds the sizes: memory that grows moves, and leaves holes
    write(trial)
    memory.reserve(trial.memory)
    program = Program(memory)
    write(program)
    return program
