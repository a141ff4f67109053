"""What is written to the terminal: lines, tables, one bar."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from napari_cosparse.core.progress import Progress

PROGRAM = "napari-cosparse"


def say(text: str = "") -> None:
    """Write one line to standard output.

    Parameters
    ----------
    text : str
        The line.
    """
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader (say, head) has left: the files are wanted all the same
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def complain(text: str) -> None:
    """Write one line to standard error.

    Parameters
    ----------
    text : str
        The message; line breaks in it become spaces.
    """
    sys.stderr.write(f"{PROGRAM}: {' '.join(text.split())}\n")


def table(rows: Sequence[Sequence[str]], indent: str = "  ") -> None:
    """Write rows with aligned columns.

    Parameters
    ----------
    rows : sequence of sequence of str
        Cells; all rows have as many.
    indent : str
        What each line starts with.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say((indent + "  ".join(cells)).rstrip())


def number(value: float | None) -> str:
    """Write a number with four digits that count.

    Parameters
    ----------
    value : float or None
        The number; None is one that does not exist.

    Returns
    -------
    str
        Its text.
    """
    return "-" if value is None else f"{value:.4g}"


@contextmanager
def bar() -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar if standard error is a terminal, else nothing.

    Yields
    ------
    callable
        Takes each `Progress`.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with ExitStack() as stack:
        shown: list[Any] = []  # the bar, once there is something to show

        def report(progress: Progress) -> None:
            if not shown:
                new = tqdm(total=progress.total, desc=progress.stage, leave=False, file=sys.stderr)
                shown.append(stack.enter_context(new))
            shown[0].total = progress.total
            shown[0].set_description(progress.stage, refresh=False)
            shown[0].update(progress.step - shown[0].n)

        yield report
