"""Reading operator files that may be broken.

Nothing is trusted: sizes are checked before anything is read or allocated, arrays are taken from
the bytes without NumPy's loader (which would allocate what a header claims) and without pickle.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import AtomGroup, OperatorPair

from ._operator_limits import MAX_BYTES, MAX_GROUPS, check_pair

FORMAT = "napari-cosparse operator pair"
VERSION = 1

_MEMBERS = {  # of one group: dtype and number of axes
    "offsets": ("<i8", 2),
    "coefficients_u": ("<f8", 2),
    "coefficients_v": ("<f8", 2),
    "weight": ("<f8", 0),
}


def parse(content: bytes, name: str) -> OperatorPair:
    """Decode an operator file.

    Parameters
    ----------
    content : bytes
        The whole file.
    name : str
        Its name, for messages.

    Returns
    -------
    OperatorPair
        The checked pair.

    Raises
    ------
    InputError
        If anything about the file is not as the format says.
    """
    try:
        return _decode(content)
    except InputError as error:
        raise InputError(f"{name} is not a usable operator file: {error}") from error


def _decode(content: bytes) -> OperatorPair:
    """Decode without the file's name in the messages."""
    if not content:
        raise InputError("it is empty; get it again")
    if len(content) > MAX_BYTES:
        raise InputError(f"it is larger than {MAX_BYTES} bytes, the limit")
    members = _unzip(content)
    header = _header(members)
    groups = tuple(_group(members, index) for index in range(header["groups"]))
    pair = OperatorPair(groups, header["metadata"])
    check_pair(pair)
    return pair


def _unzip(content: bytes) -> dict[str, bytes]:
    """Read the members of the archive after a look at their sizes."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            return {entry.filename: archive.read(entry) for entry in entries}
    # NotImplementedError: a compression that this Python lacks; RuntimeError: a password;
    # the others come from damaged bytes
    except (
        zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError,
    ) as error:  # fmt: skip
        if isinstance(error, InputError):
            raise
        raise InputError(f"it is no complete zip archive ({error}); get it again") from error


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    """Refuse archives that would unpack into something huge, or twice the same member."""
    names = [entry.filename for entry in entries]
    if len(names) > 1 + len(_MEMBERS) * MAX_GROUPS:
        raise InputError(f"it has {len(names)} members, more than {MAX_GROUPS} groups need")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"it has the member {twice[0]} more than once")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_BYTES:
        raise InputError(f"it unpacks to {total} bytes; the limit is {MAX_BYTES}")


def _header(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Read the header and compare it with what is there."""
    array = _array(members, "header", "<U", 0)
    try:
        header = json.loads(str(array[()]), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"its header is not JSON ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"its header does not say that it is a {FORMAT!r}")
    _check_version(header.get("version"))
    groups = header.get("groups")
    if not _is_integer(groups) or not 1 <= groups <= MAX_GROUPS:
        raise InputError(f"its header says {groups!r} groups; there must be 1 to {MAX_GROUPS}")
    if not isinstance(header.get("metadata"), dict):
        raise InputError("the metadata in its header are not a JSON object")
    _check_names(members, groups)
    return header


def _refuse_constant(name: str) -> None:
    """Refuse NaN and infinity, which Python's reader takes though JSON has none."""
    raise ValueError(f"{name} is no JSON value")


def _check_version(version: object) -> None:
    """Refuse versions of the format that this package does not know."""
    if not _is_integer(version) or version < 1:
        raise InputError(f"its version is {version!r}; it must be a whole number from 1")
    if version > VERSION:
        raise InputError(
            f"its version is {version} and this package reads up to {VERSION}; "
            "install a newer napari-cosparse"
        )


def _is_integer(value: object) -> TypeGuard[int]:
    """Tell whole numbers from everything else in JSON, also from true and false."""
    return isinstance(value, int) and not isinstance(value, bool)


def _check_names(members: Mapping[str, bytes], groups: int) -> None:
    """Refuse members that the header does not announce."""
    known = {"header.npy"} | {
        f"group{index}_{part}.npy" for index in range(groups) for part in _MEMBERS
    }
    if extra := sorted(set(members) - known):
        raise InputError(f"it has the member {extra[0]!r}, which its header does not announce")


def _group(members: Mapping[str, bytes], index: int) -> AtomGroup:
    """Assemble one group of atoms."""
    parts = {
        part: _array(members, f"group{index}_{part}", dtype, ndim)
        for part, (dtype, ndim) in _MEMBERS.items()
    }
    try:
        return AtomGroup(
            parts["offsets"],
            parts["coefficients_u"],
            parts["coefficients_v"],
            float(parts["weight"]),
        )
    except InputError as error:
        raise InputError(f"group {index}: {error}") from error


def _array(members: Mapping[str, bytes], name: str, dtype: str, ndim: int) -> NDArray[Any]:
    """Take one array out of its member, refusing any other type than the format's."""
    content = members.get(f"{name}.npy")
    if content is None:
        raise InputError(f"the member {name}.npy is missing")
    stream = io.BytesIO(content)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise InputError(f"{name} is not in version 1.0 of NumPy's format")
        shape, fortran, found = np.lib.format.read_array_header_1_0(stream)
    except (ValueError, TypeError, SyntaxError, EOFError, RecursionError, MemoryError) as error:
        raise InputError(f"{name} is no NumPy array ({error})") from error
    if len(shape) != ndim or not _same_type(found, dtype):
        raise InputError(
            f"{name} is {found} with {len(shape)} axes; it must be {dtype} with {ndim}"
        )
    data = content[stream.tell() :]
    if min(shape, default=1) < 1 or found.itemsize * _product(shape) != len(data):
        raise InputError(f"{name} has {len(data)} bytes, which do not fit its shape {shape}")
    return np.frombuffer(data, found).reshape(shape, order="F" if fortran else "C")


def _same_type(found: np.dtype[Any], wanted: str) -> bool:
    """Compare types; text may have any length but none."""
    if wanted == "<U":
        return found.kind == "U" and found.byteorder in "<=" and found.itemsize > 0
    return found == np.dtype(wanted)


def _product(shape: tuple[int, ...]) -> int:
    """Multiply without overflow (NumPy's product wraps around)."""
    size = 1
    for length in shape:
        size *= length
    return size
