"""Files that are either complete or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from napari_cosparse.core.errors import InputError


def check_destination(path: Path) -> Path:
    """Refuse a path that no file can be written to, before any work is done for it.

    Parameters
    ----------
    path : Path
        Where a file is to be written.

    Returns
    -------
    Path
        The same path with links resolved, so that writing goes through a link.

    Raises
    ------
    InputError
        If the folder is missing or closed, or the path is a folder itself.
    """
    real = Path(os.path.realpath(path))
    folder = real.parent
    if not folder.exists():
        raise InputError(f"{path}: the folder {folder} does not exist; make it or choose another")
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is a file, not a folder; choose another place")
    if real.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file in it")
    if not os.access(folder, os.W_OK) or (real.exists() and not os.access(real, os.W_OK)):
        raise InputError(f"{path} may not be written; change its permissions or choose another")
    return real


@contextmanager
def _temporary(real: Path) -> Iterator[Path]:
    """Reserve a hidden file beside its destination; remove it at the end if it is still there."""
    # the ending stays: writers choose their format by it
    temporary = real.with_name(f".{real.stem[:100]}-{secrets.token_hex(6)}{real.suffix}")
    # not tempfile: its files are private to the user, results should follow the user's umask
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def write_together(writers: Sequence[tuple[Path, Callable[[Path], None]]]) -> tuple[Path, ...]:
    """Write several files so that all of them appear, or none.

    Parameters
    ----------
    writers : sequence of (Path, callable)
        Each destination with the function that writes it; the function is given a temporary path
        in the same folder with the same ending.

    Returns
    -------
    tuple of Path
        The destinations as given.

    Raises
    ------
    InputError
        If a destination cannot be written.
    OSError
        If writing fails, for instance because the disk is full; it names the file. Nothing is left
        then.
    """
    reals = [check_destination(path) for path, _ in writers]
    with ExitStack() as stack:
        temporaries = []
        for real, (path, write) in zip(reals, writers, strict=True):
            with _naming(path):
                temporaries.append(stack.enter_context(_temporary(real)))
                write(temporaries[-1])
                _flush(temporaries[-1])
        _move(temporaries, reals)
    return tuple(path for path, _ in writers)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file that was wanted: a full disk names none, or the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # of a library
            raise OSError(f"{path} cannot be written ({error})") from error
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes: a writer for `write_together` once its content is bound.

    Parameters
    ----------
    path : Path
        Where to.
    content : bytes
        What.
    """
    path.write_bytes(content)


def _flush(path: Path) -> None:
    """Wait until the file is on the disk, so that a crash cannot leave an empty one."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _move(temporaries: Sequence[Path], reals: Sequence[Path]) -> None:
    """Put the files in place; if one cannot be, take away those that were not there before."""
    fresh: list[Path] = []
    try:
        for temporary, real in zip(temporaries, reals, strict=True):
            existed = real.exists()
            temporary.replace(real)
            if not existed:
                fresh.append(real)
    except BaseException:
        for real in fresh:
            real.unlink(missing_ok=True)
        raise
