"""Operator files: what is written comes back, and broken files are refused by name."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import AtomGroup, OperatorPair, random_frame, square_offsets
from napari_cosparse.io import _operators as module
from napari_cosparse.io import load_operators, save_operators, shipped_operators

METADATA = {"name": "test", "modalities": ["intensity", "depth"], "seed": 3, "kappa": [5.0, 22.0]}


def zero_mean(atoms):
    """Atoms as learning makes them: zero mean and unit length."""
    atoms = atoms - atoms.mean(1, keepdims=True)
    return atoms / np.linalg.norm(atoms, axis=1, keepdims=True)


def closed(atoms):
    """Any numbers, with the last one of each atom making the sum zero."""
    return np.concatenate([atoms[:, :-1], -atoms[:, :-1].sum(1, keepdims=True)], 1)


def random_group(seed=0, k=4, side=3, dilation=1, weight=1.0):
    rng = np.random.default_rng(seed)
    u, v = (zero_mean(rng.normal(size=(k, side**2))) for _ in range(2))
    return AtomGroup(square_offsets(side, dilation), u, v, weight)


@pytest.fixture
def pair():
    return OperatorPair((random_group(0), random_group(1, 2, 5, 2, 0.25)), METADATA)


def assert_equal(left, right):
    assert len(left.groups) == len(right.groups)
    for a, b in zip(left.groups, right.groups, strict=True):
        assert np.array_equal(a.offsets, b.offsets)
        assert np.array_equal(a.coefficients_u, b.coefficients_u)
        assert np.array_equal(a.coefficients_v, b.coefficients_v)
        assert a.weight == b.weight


def test_round_trip(tmp_path, pair):
    path = save_operators(tmp_path / "pair.npz", pair)
    assert path == tmp_path / "pair.npz"
    for source in (path, str(path)):
        again = load_operators(source)
        assert_equal(again, pair)
        assert again.metadata == METADATA
    assert load_operators(pair) is pair


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def pairs(draw):
    def group():
        k, side = draw(st.integers(1, 4)), draw(st.integers(2, 4))
        values = arrays(float, (k, side**2), elements=st.floats(-1e3, 1e3))
        loud = values.map(closed).filter(lambda atoms: np.abs(atoms).max(1).min() > 1e-3)
        u, v = draw(loud), draw(loud)
        weight = draw(st.floats(1e-6, 1e6))
        return AtomGroup(square_offsets(side, draw(st.integers(1, 9))), u, v, weight)

    groups = tuple(group() for _ in range(draw(st.integers(1, 3))))
    return OperatorPair(groups, draw(st.dictionaries(st.text(), json_values, max_size=4)))


@settings(deadline=None, max_examples=60)
@given(pair=pairs())
def test_any_pair_comes_back(pair):
    content = module.encode(pair)
    again = module.parse(content, "pair")
    assert_equal(again, pair)
    assert again.metadata == pair.metadata
    assert module.encode(again) == content


def test_same_pair_gives_same_bytes(tmp_path, pair):
    first = save_operators(tmp_path / "a.npz", pair).read_bytes()
    twin = OperatorPair((random_group(0), random_group(1, 2, 5, 2, 0.25)), dict(METADATA))
    assert save_operators(tmp_path / "b.npz", twin).read_bytes() == first
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_numpy_alone_can_read_the_file(tmp_path, pair):
    with np.load(save_operators(tmp_path / "pair.npz", pair), allow_pickle=False) as file:
        header = json.loads(str(file["header"]))
        assert np.array_equal(file["group1_coefficients_v"], pair.groups[1].coefficients_v)
    assert header["version"] == 1
    assert header["metadata"] == METADATA


def test_compressed_copies_are_read(tmp_path, pair):
    with np.load(save_operators(tmp_path / "pair.npz", pair)) as file:
        np.savez_compressed(tmp_path / "small.npz", **file)
    assert_equal(load_operators(tmp_path / "small.npz"), pair)


def test_the_ending_is_added_or_refused(tmp_path, pair):
    assert save_operators(tmp_path / "pair", pair) == tmp_path / "pair.npz"
    with pytest.raises(InputError, match=r"ends in \.tif"):
        save_operators(tmp_path / "pair.tif", pair)
    assert [file.name for file in tmp_path.iterdir()] == ["pair.npz"]


def test_napari_s_ending_holds_the_same_bytes(tmp_path, pair):
    own = save_operators(tmp_path / "pair.cosparse", pair)
    assert own.read_bytes() == save_operators(tmp_path / "pair.npz", pair).read_bytes()
    assert_equal(load_operators(str(own)), pair)


def test_saved_files_follow_the_umask(tmp_path, pair):
    (tmp_path / "plain").touch()
    mode = stat.S_IMODE(save_operators(tmp_path / "pair.npz", pair).stat().st_mode)
    assert mode == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_link_is_written_through(tmp_path, pair):
    (tmp_path / "real.npz").touch()
    (tmp_path / "link.npz").symlink_to("real.npz")
    save_operators(tmp_path / "link.npz", pair)
    assert (tmp_path / "link.npz").is_symlink()
    assert_equal(load_operators(tmp_path / "real.npz"), pair)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, pair, monkeypatch, failing):
    path = tmp_path / "pair.npz"
    path.write_bytes(b"old")

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync", full) if failing == "fsync" else (Path, "replace", full)))
    with pytest.raises(OSError, match="No space left"):
        save_operators(path, pair)
    assert [file.name for file in tmp_path.iterdir()] == ["pair.npz"]
    assert path.read_bytes() == b"old"


def test_destinations_that_cannot_be(tmp_path, pair):
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file").touch()
    for path, words in [
        (tmp_path / "missing" / "pair.npz", "does not exist"),
        (tmp_path / "folder.npz", "is a folder"),
        (tmp_path / "file" / "pair.npz", "is a file, not a folder"),
    ]:
        with pytest.raises(InputError, match=words) as caught:
            save_operators(path, pair)
        assert str(path) in str(caught.value)


UNSAVEABLE = {
    "object": ({"key": object()}, r"metadata\.metadata\.key is a object"),
    "deep": ({"a": [1, {"b": 1j}]}, r"metadata\.a\[1\]\.b is a complex"),
    "key": ({1: "one"}, "has the key 1"),
}


@pytest.mark.parametrize("case", UNSAVEABLE)
def test_metadata_that_is_not_json(tmp_path, case):
    metadata, words = UNSAVEABLE[case]
    with pytest.raises(InputError, match=words):
        save_operators(tmp_path / "pair.npz", OperatorPair((random_group(),), metadata))
    assert not list(tmp_path.iterdir())


def test_numbers_of_numpy_and_no_numbers_in_metadata():
    metadata = {"a": np.float32(0.5), "b": np.arange(2), "c": float("inf"), "d": np.longdouble(2)}
    again = module.parse(module.encode(OperatorPair((random_group(),), metadata)), "pair")
    assert again.metadata == {"a": 0.5, "b": [0, 1], "c": None, "d": 2.0}


# --- broken files -------------------------------------------------------------------------------


def members(pair):
    """Members of the pair's file as bytes, to be broken one at a time."""
    with zipfile.ZipFile(io.BytesIO(module.encode(pair))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array, *, allow_pickle=False):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=allow_pickle)
    return stream.getvalue()


def zipped(parts, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def with_member(name, content):
    return lambda pair: zipped({**members(pair), name: content})


def with_array(part, change):
    """Change one array of group 0."""
    name = f"group0_{part}.npy"
    return lambda pair: zipped(
        {**members(pair), name: npy(change(np.array(getattr(pair.groups[0], part))))}
    )


def with_header(**changes):
    def build(pair):
        header = {"format": module.FORMAT, "version": 1, "groups": 2, "metadata": {}, **changes}
        return zipped({**members(pair), "header.npy": npy(json.dumps(header))})

    return build


def without(name):
    return lambda pair: zipped({k: v for k, v in members(pair).items() if k != name})


def twice(pair):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members(pair).items():
            archive.writestr(name, content)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("header.npy", b"")
    return stream.getvalue()


def flipped(pair):
    """One byte in the middle of the data is wrong: the check sum must tell."""
    content = bytearray(module.encode(pair))
    content[len(content) // 2] ^= 255
    return bytes(content)


def bomb(pair):
    """A file of about 70 kB that unpacks to more than the limit."""
    zeros = bytes(module.MAX_BYTES)
    return zipped({**members(pair), "group0_offsets.npy": zeros}, zipfile.ZIP_DEFLATED)


def lying_header(pair):
    """A header that claims 10**15 numbers and brings none."""
    claim = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }"
    text = claim + b" " * (117 - len(claim)) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    return zipped({**members(pair), "group0_coefficients_u.npy": content})


def add_to(index, amount):
    def change(array):
        array[index] += amount
        return array

    return change


def fill(index, value):
    def change(array):
        array[index] = value
        return array

    return change


def encrypted(pair):
    """The flag for a password is set on every member."""
    content = bytearray(module.encode(pair))
    at = content.find(b"PK\x01\x02")
    while at >= 0:
        content[at + 8] |= 1
        at = content.find(b"PK\x01\x02", at + 1)
    return bytes(content)


LONG = np.array("x" * 10).astype("<U")
BROKEN = {
    "empty": (lambda _: b"", "is empty"),
    "text": (lambda _: b"hello", "no complete zip"),
    "plain array": (lambda _: npy(np.zeros(3)), "no complete zip"),
    "truncated to half": (lambda p: module.encode(p)[: len(module.encode(p)) // 2], "no complete"),
    "last byte gone": (lambda p: module.encode(p)[:-1], "no complete zip"),
    "one byte wrong": (flipped, "no complete zip"),
    "password": (encrypted, "no complete zip"),
    "empty zip": (lambda _: zipped({}), r"header\.npy is missing"),
    "other npz": (lambda _: zipped({"x.npy": npy(np.zeros(3))}), r"header\.npy is missing"),
    "huge file": (lambda _: bytes(module.MAX_BYTES + 1), "larger than"),
    "bomb": (bomb, "unpacks to"),
    "many members": (lambda _: zipped({str(i): b"" for i in range(300)}), "300 members"),
    "same member twice": (twice, "more than once"),
    "unknown member": (with_member("more.npy", npy(1.0)), r"member 'more\.npy'"),
    "group too many": (with_header(groups=1), "does not announce"),
    "missing member": (without("group1_weight.npy"), r"group1_weight\.npy is missing"),
    "member is no array": (with_member("group0_offsets.npy", b"abc"), "offsets is no NumPy array"),
    "newer array format": (
        with_member("group0_offsets.npy", b"\x93NUMPY\x03\x00" + bytes(20)), "version 1.0",
    ),
    "claims more than it has": (lying_header, "do not fit its shape"),
    "header is no array": (with_member("header.npy", b"{}"), "header is no NumPy array"),
    "header is a number": (with_member("header.npy", npy(1.0)), "header is float64"),
    "header is not JSON": (with_member("header.npy", npy("{'a': 1}")), "header is not JSON"),
    "header is deep": (with_member("header.npy", npy("[" * 100_000)), "header is not JSON"),
    "header has NaN": (with_header(metadata={"a": float("nan")}), "NaN is no JSON value"),
    "header is no character": (
        with_member("header.npy", npy(LONG).replace(b"x\0\0\0", b"\xff" * 4)), "is not JSON",
    ),
    "header is a list": (with_member("header.npy", npy("[1]")), "does not say"),
    "other format": (with_header(format="something else"), "does not say"),
    "newer version": (with_header(version=2), "its version is 2 .* install a newer"),
    "version is text": (with_header(version="1"), "its version is '1'"),
    "version is true": (with_header(version=True), "its version is True"),
    "no groups": (with_header(groups=0), "says 0 groups"),
    "groups as text": (with_header(groups="2"), "says '2' groups"),
    "metadata is a list": (with_header(metadata=[]), "not a JSON object"),
    "pickle": (
        with_member("group0_offsets.npy", npy(np.array([None, {}]), allow_pickle=True)),
        "offsets is object",
    ),
    "float32": (with_array("coefficients_u", lambda a: a.astype("f4")), "u is float32"),
    "big endian": (with_array("coefficients_u", lambda a: a.astype(">f8")), "u is >f8"),
    "offsets are floats": (with_array("offsets", lambda a: a.astype(float)), "offsets is float64"),
    "one axis": (with_array("coefficients_u", np.ravel), "with 1 axes"),
    "no atoms": (with_array("coefficients_u", lambda a: a[:0]), "do not fit its shape"),
    "columns missing": (with_array("coefficients_u", lambda a: a[:, :-1]), "u has shape"),
    "atoms do not pair": (with_array("coefficients_v", lambda a: a[:-1]), "come in pairs"),
    "offsets of three axes": (with_array("offsets", lambda a: a.repeat(2, 1)), "have shape"),
    "same offset twice": (with_array("offsets", fill(0, (1, 1))), "same offset more than once"),
    "offset too far": (with_array("offsets", fill(0, (-257, 0))), "further than 256"),
    "offset overflows": (with_array("offsets", fill(0, -(2**63))), "further than 256"),
    "NaN": (with_array("coefficients_v", fill((0, 0), np.nan)), "not finite"),
    "infinity": (with_array("coefficients_u", fill((1, 2), np.inf)), "not finite"),
    "not zero-mean": (with_array("coefficients_v", add_to((2, 0), 0.01)), "atom 2 of V in group 0"),
    "tiny, not zero-mean": (
        with_array("coefficients_v", lambda a: 1e-200 * (a + 0.01)), "atom 0 of V in group 0",
    ),
    "weight zero": (with_array("weight", np.zeros_like), "weight 0.0"),
    "weight negative": (with_array("weight", np.negative), "weight -1.0"),
    "weight NaN": (with_array("weight", lambda a: a * np.nan), "weight nan"),
    "too many atoms": (
        lambda p: zipped({
            **members(p),
            "group0_coefficients_u.npy": npy(np.zeros((4097, 9))),
            "group0_coefficients_v.npy": npy(np.zeros((4097, 9))),
        }),
        "4099 atoms",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_refused_by_name(tmp_path, pair, case):
    build, words = BROKEN[case]
    path = tmp_path / "broken.npz"
    path.write_bytes(build(pair))
    with pytest.raises(InputError, match=words) as caught:
        load_operators(path)
    assert str(caught.value).startswith(f"{path} is not a usable operator file: ")


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_any_damage_is_an_input_error_or_harmless(data):
    """Random bytes change; the reader must answer with a pair or with one kind of error."""
    content = bytearray(module.encode(OperatorPair((random_group(k=2),), METADATA)))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(InputError):
        assert_equal(module.parse(bytes(content), "damaged"), OperatorPair((random_group(k=2),)))


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(InputError, match="no such operator file") as caught:
        load_operators(tmp_path / "missing.npz")
    assert str(tmp_path / "missing.npz") in str(caught.value)
    with pytest.raises(InputError, match="is a folder"):
        load_operators(tmp_path)
    with pytest.raises(InputError, match="operators are a int"):
        load_operators(3)


@pytest.fixture
def shipped(tmp_path, monkeypatch, pair):
    """A folder of shipped pairs that does not change when the package learns new ones."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    for name in ("intensity-depth", "differences"):
        save_operators(folder / name, pair)
    (folder / "README.md").touch()
    monkeypatch.setattr(module, "_shipped_folder", lambda: folder)
    return folder


@pytest.mark.usefixtures("shipped")
def test_shipped_names(pair, tmp_path, monkeypatch):
    assert shipped_operators() == ("differences", "intensity-depth")
    assert_equal(load_operators("differences"), pair)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "differences").write_bytes(b"a file of that name does not hide the shipped pair")
    assert_equal(load_operators("differences"), pair)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("name", "hint"), [("intensity-dept", "Did you mean intensity-depth?"), ("qqq", "such file")]
)
def test_unknown_names_list_what_there_is(name, hint):
    with pytest.raises(InputError, match="no operators named") as caught:
        load_operators(name)
    assert "differences, intensity-depth" in str(caught.value)
    assert hint in str(caught.value)
    assert ("Did you mean" in str(caught.value)) == hint.startswith("Did")


def test_every_file_in_the_package_loads():
    for name in shipped_operators():
        assert load_operators(name).atoms > 0


@pytest.mark.parametrize("factor", [0.0, 1e-9, 1e300])
def test_atoms_of_no_sensible_length_are_refused(tmp_path, factor):
    group = random_frame().groups[0]
    u = factor * group.coefficients_u
    pair = OperatorPair((AtomGroup(group.offsets, u, group.coefficients_v),))
    with pytest.raises(InputError, match="between"):
        save_operators(tmp_path / "odd.npz", pair)
    assert not list(tmp_path.iterdir())
