"""Images: values and types survive, or the file is refused by name."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import _atomic, read_image, write_image

RNG = np.random.default_rng(0)
GRAY8 = RNG.integers(0, 256, (5, 7)).astype(np.uint8)
GRAY16 = RNG.integers(0, 65536, (5, 7)).astype(np.uint16)
RGB8 = RNG.integers(0, 256, (5, 7, 3)).astype(np.uint8)
RGB16 = RNG.integers(0, 65536, (5, 7, 3)).astype(np.uint16)

EXACT = {
    ".tif": ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"],
    ".npy": ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"],
    ".png": ["?", "u1", "u2"],
    ".pgm": ["u1", "u2"],
}


@pytest.mark.parametrize(("ending", "code"), [(e, c) for e, codes in EXACT.items() for c in codes])
def test_gray_round_trip(tmp_path_factory, ending, code):
    path = tmp_path_factory.mktemp("gray") / f"image{ending}"

    @settings(deadline=None, max_examples=8)
    @given(image=arrays(code, st.tuples(st.integers(1, 9), st.integers(1, 9))))
    def check(image):
        again = read_image(write_image(path, image))
        assert again.dtype == image.dtype
        assert np.array_equal(again, image, equal_nan=image.dtype.kind == "f")

    check()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("ending", "image"), [
    (".tif", RGB8), (".tif", RGB16), (".tiff", RGB8.astype(np.float32)), (".npy", RGB16),
    (".png", RGB8), (".ppm", RGB8), (".TIF", RGB8), (".PNG", GRAY16),
])  # fmt: skip
def test_colour_and_capital_endings(tmp_path, ending, image):
    again = read_image(write_image(tmp_path / f"image{ending}", image))
    assert again.dtype == image.dtype
    assert np.array_equal(again, image)


def test_jpeg_is_close(tmp_path):
    smooth = np.add.outer(np.arange(40), np.arange(50)).astype(np.uint8)
    for ending in (".jpg", ".jpeg"):
        again = read_image(write_image(tmp_path / f"image{ending}", smooth))
        assert again.dtype == np.uint8
        assert np.abs(again.astype(int) - smooth).max() <= 3


@pytest.mark.parametrize("ending", [".tif", ".npy", ".png", ".pgm", ".jpg"])
def test_a_disk_that_is_full_names_the_file(tmp_path, ending):
    resource = pytest.importorskip("resource")
    signals = pytest.importorskip("signal")
    image = np.random.default_rng(0).integers(0, 256, (300, 300), dtype=np.uint8)
    path = tmp_path / f"image{ending}"
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    caught = signals.signal(
        signals.SIGXFSZ, signals.SIG_IGN
    )  # then writing fails, as on full disks
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        with pytest.raises(OSError, match=r"image\.") as error:
            write_image(path, image)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signals.signal(signals.SIGXFSZ, caught)
    assert str(path) in (error.value.filename or str(error.value))
    assert not any(tmp_path.iterdir())


def test_writing_is_repeatable(tmp_path):
    for ending in (".tif", ".npy", ".png", ".pgm", ".jpg"):
        first = write_image(tmp_path / f"a{ending}", GRAY8).read_bytes()
        assert write_image(tmp_path / f"b{ending}", GRAY8).read_bytes() == first


CANNOT = {
    "float png": ("x.png", GRAY8.astype(np.float32), r"holds bool, uint16 or uint8 .* is float32"),
    "int16 pgm": ("x.pgm", GRAY8.astype(np.int16), r"choose \.npy, \.tif or \.tiff"),
    "uint16 jpg": ("x.jpg", GRAY16, "holds uint8 but the image is uint16"),
    "colour pgm": ("x.pgm", RGB8, "cannot hold a colour image"),
    "gray ppm": ("x.ppm", GRAY8, r"cannot hold a gray image; choose .*\.pgm"),
    "uint16 colour png": ("x.png", RGB16, "holds uint8 but the image is uint16"),
    "five channels": ("x.tif", np.zeros((4, 4, 5)), "5-channel image; split"),
    "ending": ("x.gif", GRAY8, r"ends in \.gif; the names of images end in \.jpeg"),
    "no ending": ("x", GRAY8, "has no ending"),
    "folder": ("missing/x.png", GRAY8, "does not exist"),
}


@pytest.mark.parametrize("case", CANNOT)
def test_formats_that_cannot_hold_the_image(tmp_path, case):
    name, image, words = CANNOT[case]
    with pytest.raises(InputError, match=words) as caught:
        write_image(tmp_path / name, image)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert not list(tmp_path.iterdir())


def test_files_appear_together_or_not_at_all(tmp_path):
    old = tmp_path / "old.txt"
    old.write_text("old")

    def fail(_path):
        raise OSError(28, "No space left on device")

    writers = [(old, lambda path: path.write_text("new")), (tmp_path / "second.txt", fail)]
    with pytest.raises(OSError, match="No space left"):
        _atomic.write_together(writers)
    assert [file.name for file in tmp_path.iterdir()] == ["old.txt"]
    assert old.read_text() == "old"


def test_a_failed_second_move_takes_the_first_back(tmp_path, monkeypatch):
    move, moved = Path.replace, []

    def second_fails(self, target):
        moved.append(target)
        if len(moved) == 2:
            raise PermissionError(13, "Permission denied")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", second_fails)
    writers = [(tmp_path / name, lambda path: path.write_text("new")) for name in ("a", "b")]
    with pytest.raises(PermissionError):
        _atomic.write_together(writers)
    assert not list(tmp_path.iterdir())


# --- files as other programs write them ---------------------------------------------------------


def save(path, image, **options):
    image.save(path, **options)
    return path


def pnm(path, magic, largest, values):
    header = f"{magic}\n# made elsewhere\n{values.shape[1]} {values.shape[0]}\n{largest}\n"
    if magic in ("P2", "P3"):
        body = " ".join(map(str, values.ravel())).encode()
    else:
        body = values.astype(">u2" if largest > 255 else "u1").tobytes()
    path.write_bytes(header.encode() + body)
    return path


@pytest.mark.parametrize("magic", ["P2", "P5"])
@pytest.mark.parametrize("largest", [1, 100, 255, 256, 1000, 4095, 65534, 65535])
def test_pgm_values_are_not_stretched(tmp_path, magic, largest):
    values = (
        np.arange(min(largest, 600) * 2 + 2).reshape(-1, 2) * largest // (min(largest, 600) * 2 + 1)
    )
    again = read_image(pnm(tmp_path / "x.pgm", magic, largest, values))
    assert again.dtype == (np.uint16 if largest > 255 else np.uint8)
    assert np.array_equal(again, values)


def test_ppm_values_are_not_stretched(tmp_path):
    assert np.array_equal(read_image(pnm(tmp_path / "x.ppm", "P6", 100, RGB8 % 101)), RGB8 % 101)
    assert np.array_equal(read_image(pnm(tmp_path / "x.ppm", "P3", 255, RGB8)), RGB8)


def palette(path, **options):
    image = Image.fromarray(np.arange(4, dtype=np.uint8).reshape(2, 2)).convert("P")
    image.putpalette([10, 10, 10, 20, 30, 40, 50, 60, 70, 255, 0, 9])
    return save(path, image, **options)


def test_palettes_become_rgb(tmp_path):
    wanted = [[[10, 10, 10], [20, 30, 40]], [[50, 60, 70], [255, 0, 9]]]
    assert read_image(palette(tmp_path / "x.png")).tolist() == wanted
    assert read_image(palette(tmp_path / "y.png", transparency=b"\0\1\2\3")).tolist() == wanted


def test_tiff_palettes_become_rgb(tmp_path):
    table = RNG.integers(0, 65536, (3, 256)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "x.tif", GRAY8, photometric="palette", colormap=table)
    again = read_image(tmp_path / "x.tif")
    assert again.shape == (5, 7, 3)
    assert np.array_equal(again[1, 2], table[:, GRAY8[1, 2]])


def test_alpha_is_dropped(tmp_path):
    rgba = np.dstack([RGB8, GRAY8])
    assert np.array_equal(read_image(save(tmp_path / "a.png", Image.fromarray(rgba))), RGB8)
    gray = Image.fromarray(GRAY8).convert("LA")
    gray.putalpha(Image.fromarray(GRAY8[::-1].copy()))
    assert np.array_equal(read_image(save(tmp_path / "b.png", gray)), GRAY8)
    tifffile.imwrite(tmp_path / "c.tif", rgba, photometric="rgb", extrasamples=["unassalpha"])
    assert np.array_equal(read_image(tmp_path / "c.tif"), RGB8)


def test_tiff_layouts(tmp_path):
    planes = np.moveaxis(RGB16, -1, 0)
    tifffile.imwrite(tmp_path / "planar.tif", planes, photometric="rgb", planarconfig="separate")
    assert np.array_equal(read_image(tmp_path / "planar.tif"), RGB16)
    tifffile.imwrite(tmp_path / "big.tif", GRAY16, byteorder=">", bigtiff=True, compression="zlib")
    again = read_image(tmp_path / "big.tif")
    assert again.dtype == np.uint16
    assert again.dtype.isnative
    assert np.array_equal(again, GRAY16)
    with tifffile.TiffWriter(tmp_path / "pyramid.tif") as file:
        file.write(GRAY16, subifds=1)
        file.write(GRAY16[::2, ::2], subfiletype=1)
    assert np.array_equal(read_image(tmp_path / "pyramid.tif"), GRAY16)


@pytest.mark.parametrize("image", [GRAY8, GRAY16, RGB8, GRAY16.astype(np.float32)])
def test_lzw_tiff_is_read_without_more_packages(tmp_path, image):
    path = save(tmp_path / "x.tif", Image.fromarray(image), compression="tiff_lzw")
    assert np.array_equal(read_image(path), image)
    assert read_image(path).dtype == image.dtype


def test_npy_layouts(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(GRAY16.astype(">u2")))
    again = read_image(tmp_path / "x.npy")
    assert again.dtype.isnative
    assert again.flags.c_contiguous
    assert again.flags.writeable
    assert np.array_equal(again, GRAY16)
    np.save(tmp_path / "x.npy", GRAY16[..., None])
    assert read_image(tmp_path / "x.npy").shape == (5, 7)


def png16_colour(path):
    """A PNG of 16-bit RGB made by hand: Pillow cannot write what it cannot read."""
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in RGB16)

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", 7, 5, 16, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def frames(path):
    images = [Image.fromarray(GRAY8), Image.fromarray(255 - GRAY8)]
    images[0].save(path, save_all=True, append_images=images[1:])


def encoded(image, kind, **options):
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, kind, **options)
    return stream.getvalue()


def short(kind):
    content = encoded(np.tile(GRAY8, (20, 20)), kind)
    return lambda path: path.write_bytes(content[: len(content) // 2])


def lzw16(path):
    """Colours of 16 bits under a compression that needs another package: header only."""
    tifffile.imwrite(path, RGB16, photometric="rgb", metadata=None)
    content = path.read_bytes()
    tag = struct.pack("<HHI", 259, 3, 1)
    path.write_bytes(content.replace(tag + b"\1\0", tag + b"\5\0"))


def huge_npy(path):
    claim = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 100000), }"
    text = claim + b" " * (117 - len(claim)) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)


REFUSED = {
    "16-bit colour": ("x.png", png16_colour, "PNG of 16-bit colour"),
    "16-bit colour ppm": ("x.ppm", lambda p: pnm(p, "P6", 65535, RGB16), "PPM of 16-bit colour"),
    "animated": ("x.png", frames, "has 2 frames"),
    "pages": ("x.tif", lambda p: tifffile.imwrite(p, np.zeros((5, 64, 64))), "has 5 pages"),
    "volume": (
        "x.tif", lambda p: tifffile.imwrite(p, np.zeros((16, 16, 16)), volumetric=True,
                                            tile=(16, 16, 16)), "has the axes ZYX",
    ),
    "inks": (
        "x.tif", lambda p: tifffile.imwrite(p, np.zeros((8, 8, 4), "u1"), photometric="separated"),
        "CMYK",
    ),
    "lzw colour": ("x.tif", lzw16, "requires the 'imagecodecs' package; save it without"),
    "complex": ("x.npy", lambda p: np.save(p, GRAY8 * 1j), "holds complex128 values"),
    "text": ("x.npy", lambda p: np.save(p, np.array([["a"]])), "holds <U1 values"),
    "objects": ("x.npy", lambda p: np.save(p, np.array([[None]]), allow_pickle=True), "damaged"),
    "line": ("x.npy", lambda p: np.save(p, np.zeros(5)), r"has shape \(5,\)"),
    "stack": ("x.npy", lambda p: np.save(p, np.zeros((2, 5, 4, 4))), "plane by plane"),
    "nothing": ("x.npy", lambda p: np.save(p, np.zeros((0, 5))), r"has shape \(0, 5\)"),
    "claims": ("x.npy", huge_npy, "damaged"),
    "empty png": ("x.png", lambda p: p.touch(), "damaged"),
    "empty tif": ("x.tif", lambda p: p.touch(), "damaged"),
    "empty npy": ("x.npy", lambda p: p.touch(), "damaged"),
    "empty pgm": ("x.pgm", lambda p: p.touch(), "damaged"),
    "words as png": ("x.png", lambda p: p.write_text("hello"), "damaged"),
    "words as tif": ("x.tif", lambda p: p.write_text("hello"), "damaged"),
    "words as pgm": ("x.pgm", lambda p: p.write_text("P5\nx y z\n"), "damaged"),
    "short png": ("x.png", short("PNG"), "damaged"),
    "short tif": ("x.tif", short("TIFF"), "damaged"),
    "short jpg": ("x.jpg", short("JPEG"), "damaged"),
    "short pgm": ("x.pgm", short("PPM"), "damaged"),
    "missing": ("x.png", lambda _: None, "there is no such file"),
    "folder": ("x.png", lambda p: p.mkdir(), "is a folder"),
    "ending": ("x.bmp", lambda p: p.touch(), r"ends in \.bmp"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_files_that_are_refused(tmp_path, case):
    name, make, words = REFUSED[case]
    make(tmp_path / name)
    with pytest.raises(InputError, match=words) as caught:
        read_image(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
