"""A block of a large image is read band by band, so that a run can be stopped in between."""

import dask.array as da
import numpy as np
import pytest

from napari_cosparse.core.progress import Progress
from napari_cosparse.tiles import _blocks, _sources
from napari_cosparse.tiles._sources import Source

PIXELS = np.arange(40 * 9 * 3, dtype=np.uint16).reshape(40, 9, 3)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let few pixels be many."""
    for name in ("STRIP_PIXELS", "PIECE_PIXELS", "PIECE_ROWS"):
        monkeypatch.setattr(_sources, name, 1)


def chunked(pixels, read):
    """Array in chunks of 4 rows that notes which are read."""

    def note(part, block_info=None):
        if part.size:
            read.append(block_info[0]["chunk-location"][0])
        return part

    size = (4, *pixels.shape[1:])
    whole = da.from_array(pixels, size)
    return whole.map_blocks(note, dtype=pixels.dtype, meta=pixels[:0])


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("rows", [slice(0, 40), slice(5, 23), slice(8, 12)])
def test_bands_are_the_part_and_no_chunk_is_read_twice(colour, rows):
    read, pixels = [], PIXELS if colour else PIXELS[..., 0]
    source = Source(chunked(pixels, read), "guide", colour)
    steps, part = 0, None
    run = _blocks._read_guide(source, (), rows, slice(2, 7))
    while part is None:
        try:
            assert isinstance(next(run), Progress)
            assert len(read) == steps  # the next one is not read before the step is told
            steps += 1
        except StopIteration as end:
            part = end.value
    np.testing.assert_array_equal(part, pixels[rows, 2:7])
    assert part.dtype == pixels.dtype
    assert read == list(range(rows.start // 4, -(-rows.stop // 4)))
    assert steps == (len(read) if len(read) > 1 else 0)


def test_pixels_in_memory_are_not_copied():
    run = _blocks._read_guide(Source(PIXELS, "guide", colour=True), (), slice(0, 40), slice(0, 9))
    with pytest.raises(StopIteration) as end:
        next(run)
    assert np.shares_memory(end.value.value, PIXELS)
