"""Operator files: one ``.npz`` a pair, without pickle, versioned and complete or absent.

The members are uncompressed and carry a fixed date, so that one pair has one sequence of bytes:

- ``header`` : the JSON text ``{"format": ..., "version": 1, "groups": n, "metadata": {...}}``
- ``group{i}_offsets`` (n, 2) int64, ``group{i}_coefficients_u`` and ``group{i}_coefficients_v``
  (k, n) float64, ``group{i}_weight`` () float64, for each group of atoms
"""

from __future__ import annotations

import difflib
import io
import zipfile
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair

from ._atomic import write_bytes, write_together
from ._operator_file import FORMAT, VERSION, parse
from ._operator_limits import MAX_BYTES, check_pair
from ._plain import to_json

ENDING = ".npz"
OWN_ENDING = ".cosparse"  # the same content; a name that napari asks nobody else about
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can hold


def save_operators(path: str | Path, pair: OperatorPair) -> Path:
    """Write an operator pair as one file, ``.npz`` or ``.cosparse``.

    The same pair gives the same bytes. A file of that name is replaced; until the new one is
    complete the old one stays.

    Parameters
    ----------
    path : str or Path
        The file; ``.npz`` is added where the name has no ending. A name that ends in ``.cosparse``
        gets the same bytes; napari opens it without asking for a reader.
    pair : OperatorPair
        What is written. Numbers in its metadata that are not finite become null, as JSON has none.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        If the folder does not exist, the ending is another one, the metadata is not JSON or the
        pair is one that `load_operators` would refuse.
    OSError
        If the disk refuses.
    """
    path = operator_path(path)
    content = encode(pair)
    write_together([(path, partial(write_bytes, content=content))])
    return path


def operator_path(path: str | Path) -> Path:
    """Return the path of an operator file with its ending, or refuse another ending.

    Parameters
    ----------
    path : str or Path
        As the user gave it.

    Returns
    -------
    Path
        The same, ending in ``.npz`` or ``.cosparse``.

    Raises
    ------
    InputError
        If it ends in anything else.
    """
    path = Path(path)
    if not path.suffix:
        return path.with_name(path.name + ENDING)
    if path.suffix.lower() not in (ENDING, OWN_ENDING):
        raise InputError(
            f"{path} ends in {path.suffix}; an operator file must end in {ENDING} or {OWN_ENDING}"
        )
    return path


def encode(pair: OperatorPair) -> bytes:
    """Return the bytes of an operator file.

    Parameters
    ----------
    pair : OperatorPair
        The pair to encode.

    Returns
    -------
    bytes
        The content of the file, a NumPy archive.

    Raises
    ------
    InputError
        If the metadata is not JSON or the pair breaks a limit of the format.
    """
    check_pair(pair)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in _members(pair).items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _DATE), member.getvalue())
    if len(content := buffer.getvalue()) > MAX_BYTES:
        raise InputError(
            f"the operator file would have {len(content)} bytes; the limit is {MAX_BYTES}. "
            "Put less into its metadata"
        )
    return content


def _members(pair: OperatorPair) -> dict[str, NDArray[np.generic]]:
    """Name the arrays of the file, in the order in which they are written."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "groups": len(pair.groups),
        "metadata": dict(pair.metadata),
    }
    # "<" everywhere: the bytes must not depend on the machine
    members: dict[str, NDArray[np.generic]] = {"header": np.array(to_json(header)).astype("<U")}
    for index, group in enumerate(pair.groups):
        members[f"group{index}_offsets"] = group.offsets.astype("<i8")
        members[f"group{index}_coefficients_u"] = group.coefficients_u.astype("<f8")
        members[f"group{index}_coefficients_v"] = group.coefficients_v.astype("<f8")
        members[f"group{index}_weight"] = np.array(group.weight, "<f8")
    return members


def load_operators(source: OperatorPair | str | Path) -> OperatorPair:
    """Load an operator pair from a file, or one that comes with the package.

    Parameters
    ----------
    source : OperatorPair, str or Path
        A pair (returned as it is), the name of a shipped pair (see `shipped_operators`) or an
        operator file, ``.npz`` or ``.cosparse``. A name wins over a file of the same name; a `Path`
        is always a file.

    Returns
    -------
    OperatorPair
        The checked pair.

    Raises
    ------
    InputError
        If there is no such name or file, or the file is not a complete operator file of a version
        that this package knows, within its limits: 64 MiB, 4096 atoms, 64 groups, atoms that reach
        256 pixels.
    """
    if isinstance(source, OperatorPair):
        return source
    if not isinstance(source, str | Path):
        raise InputError(
            f"operators are a {type(source).__name__}; give a shipped name, an {ENDING} file or an "
            "OperatorPair"
        )
    if isinstance(source, str) and source in shipped_operators():
        return parse(_shipped_folder().joinpath(source + ENDING).read_bytes(), source)
    path = Path(source)
    if isinstance(source, str) and not _looks_like_file(path):
        raise InputError(_unknown(source))
    return parse(_content(path), str(path))


def shipped_operators() -> tuple[str, ...]:
    """Names of the operator pairs that come with the package, sorted.

    Returns
    -------
    tuple of str
        Each can be given to `load_operators` and `upsample`.
    """
    names = (entry.name for entry in _shipped_folder().iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in names if name.endswith(ENDING)))


def _shipped_folder() -> Traversable:
    """Folder of the shipped files."""
    return files("napari_cosparse.io") / "shipped"


def _looks_like_file(path: Path) -> bool:
    """Tell a path from a misspelt name."""
    return path.suffix != "" or len(path.parts) > 1 or path.exists()


def _unknown(name: str) -> str:
    """Message for a name that is neither shipped nor a file."""
    shipped = shipped_operators()
    close = difflib.get_close_matches(name, shipped, n=2)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    known = ", ".join(shipped) or "none"
    return f"there are no operators named {name!r} and no such file; shipped are {known}.{hint}"


def _content(path: Path) -> bytes:
    """Read a file that is not too large."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give an operator file ({ENDING}) in it")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such operator file; check its name") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
