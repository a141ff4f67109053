"""One run at a time in a folder: a lock that ends with the process that holds it."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname

from napari_cosparse.core.errors import InputError

SUFFIX = ".lock"
TEXT = re.compile(rb"\d{1,20} \S{1,255}\n")  # process and host; nothing if it died at once
LINK = getattr(os, "O_NOFOLLOW", 0)
TAKEN = {errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK}
UNABLE = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}

if sys.platform == "win32":
    import msvcrt

    FAR = 1 << 30  # nobody can read a locked byte: lock one far behind the text

    def _take(file: int) -> None:
        os.lseek(file, FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)

    def _give_back(file: int, place: Path) -> None:
        os.lseek(file, FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
        os.close(file)  # Windows deletes no open file, so that whoever waits for it keeps it
        with suppress(PermissionError):
            place.unlink(missing_ok=True)

else:
    import fcntl

    def _take(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give_back(file: int, place: Path) -> None:
        if _is_there(file, place):
            place.unlink()  # while it is held: whoever has opened it sees that it went
        with suppress(OSError):  # of file systems without locks
            fcntl.flock(file, fcntl.LOCK_UN)  # a forked process would hold it on
        os.close(file)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Work in a folder while no other run does.

    The lock is one of the system's, on a file beside the folder: it goes with the process, so that
    a run that was killed leaves a file but no lock. On network drives it holds for all machines.
    Those who work for the holder (threads, processes, workers of a cluster) need none.

    Parameters
    ----------
    folder : Path
        It need not be there.

    Yields
    ------
    None

    Raises
    ------
    InputError
        If another run works there, or the file is no lock of this program.
    OSError
        If the file cannot be made.
    """
    place = folder.with_name(folder.name + SUFFIX)
    file = _hold(place, folder)
    try:
        yield
    finally:
        _give_back(file, place)


def _hold(place: Path, folder: Path) -> int:
    """Open the file and take its lock."""
    while True:
        file = _open(place)
        held = False
        try:
            _lock(file, place, folder)
            if held := _is_there(file, place):
                os.truncate(file, 0)
                os.write(file, f"{os.getpid()} {gethostname()}\n".encode())
                return file
        except OSError as error:  # a full disk names no file
            if held:
                place.unlink(missing_ok=True)
            os.close(file)
            raise OSError(error.errno, error.strerror, str(place)) from error
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # its holder has deleted it meanwhile


def _open(place: Path) -> int:
    """Open the file, or make it; refuse what somebody else has put there."""
    if place.is_symlink() or place.is_dir():
        raise _strange(place, "a link" if place.is_symlink() else "a folder")
    try:
        file = os.open(place, os.O_RDWR | os.O_CREAT | LINK | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:  # it has become a link just now
            raise _strange(place, "a link") from None
        raise
    try:
        _check_ours(file, place)
    except BaseException:
        os.close(file)
        raise
    return file


def _check_ours(file: int, place: Path) -> None:
    """Refuse a file that is no lock of this program; one that is not written yet is empty."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise _strange(place, "no plain file")
    text = os.read(file, 512)
    if text and not TEXT.fullmatch(text):
        raise _strange(place, "another file")
    os.lseek(file, 0, os.SEEK_SET)


def _strange(place: Path, what: str) -> InputError:
    return InputError(
        f"{place} is {what} and no lock of this program, which needs this name; move it, or choose "
        "another output"
    )


def _lock(file: int, place: Path, folder: Path) -> None:
    try:
        _take(file)
    except OSError as error:
        if error.errno in TAKEN:
            raise InputError(_taken(place, folder)) from None
        if error.errno not in UNABLE:
            raise
        warnings.warn(
            f"{place} cannot be locked here ({error.strerror}): see to it that no other run works "
            f"in {folder} at the same time",
            RuntimeWarning,
            stacklevel=2,
        )


def _is_there(file: int, place: Path) -> bool:
    """Whether an open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(file), place.stat())
    except FileNotFoundError:
        return False


def _taken(place: Path, folder: Path) -> str:
    """Say who holds the lock."""
    words = place.read_text(encoding="utf-8").split() if place.exists() else []
    who, way = "another run", "wait until it has ended"
    if words == [str(os.getpid()), gethostname()]:
        who, way = "a run of this process", "wait until it has ended, or close() its generator"
    elif len(words) == 2:
        who = f"another run (process {words[0]} on {words[1]})"
    return f"{folder} is in use: {who} is writing there; {way}, or choose another output"
