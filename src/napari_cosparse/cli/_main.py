"""Entry point: read the arguments, run the command, turn errors into one line."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from napari_cosparse.core.errors import InputError, OccupiedError

from ._parser import parse
from ._terminal import complain

DONE, WRONG_INPUT, INTERRUPTED = 0, 2, 130
_CHATTY = ("tifffile", "PIL", "imageio", "matplotlib")  # they log what an error will say anyway


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``napari-cosparse``.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after the program's name; those of the process if None.

    Returns
    -------
    int
        Exit code: 0 done, 2 wrong input or a file that cannot be read or written, 3 a registration
        that is not to be trusted (both with one line that says why), 130 interrupted.
    """
    for name in _CHATTY:
        logging.getLogger(name).addHandler(logging.NullHandler())
    try:
        arguments = parse(argv)
        code: int | None = arguments.run(arguments)
    except KeyboardInterrupt as interrupt:  # its text says what was kept, if anything was
        complain(str(interrupt) or "stopped; nothing was written")
        return INTERRUPTED
    except OccupiedError as error:
        complain(f"error: {error.spelled('--{}'.format)}")
        return WRONG_INPUT
    except InputError as error:
        complain(f"error: {error}")
        return WRONG_INPUT
    except OSError as error:
        complain(f"error: {_words(error)}")
        return WRONG_INPUT
    except MemoryError as error:
        complain(f"error: not enough memory ({error}); use smaller images")
        return WRONG_INPUT
    return DONE if code is None else code


def _words(error: OSError) -> str:
    """Return what the system says, with the file first."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"
