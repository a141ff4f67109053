"""What a preview computes and shows along one axis."""

from math import ceil, floor

from napari_cosparse.core.errors import InputError

LONGEST = 176  # guide pixels that are computed along each axis: a second or so on two cores
FEWEST = 4  # samples along LONGEST from which on a part is made of whole samples
HALO = 4.0  # samples around what is shown that are computed too: the rim would be another one
HALO_PIXELS = 24, 44  # least and most of that
ROUNDING = 1e-6  # pixels

NOT_VISIBLE = "No part of target and guide is visible; zoom to where both lie."


def halo_of(d: float, longest: int) -> int:
    """Tell how many pixels around what is shown are computed too.

    Parameters
    ----------
    d : float
        Distance of two samples, in guide pixels.
    longest : int
        Guide pixels that can be computed along the axis.

    Returns
    -------
    int
        Guide pixels; 0 where samples are too wide.
    """
    if d * FEWEST > longest:
        return 0
    least, most = HALO_PIXELS
    return ceil(min(max(least, HALO * d), most, longest / 4))


def room_of(d: float, longest: int) -> int:
    """Tell how many guide pixels are computed along an axis where there is time for some.

    Parameters
    ----------
    d : float
        Distance of two samples, in guide pixels.
    longest : int
        Guide pixels that there is time for.

    Returns
    -------
    int
        As many, or those of `FEWEST` samples: with fewer the preview would be a rougher one.
    """
    return max(longest, ceil(FEWEST * d)) if FEWEST * d <= LONGEST else longest


def bounds_of(low: float, high: float, count: int) -> tuple[int, int]:
    """Find the pixels that a run computes along an axis.

    Parameters
    ----------
    low, high : float
        First and last place that the target reaches, on the guide's axis.
    count : int
        The guide's pixels.

    Returns
    -------
    tuple of int
        First pixel, and the one after the last.
    """
    return max(0, ceil(low - ROUNDING)), min(count, floor(high + ROUNDING) + 1)


def stretch(
    low: float, high: float, halo: int, bounds: tuple[int, int], longest: int
) -> tuple[slice, slice]:
    """Choose the pixels of an axis that are shown, and those that are computed with their halo.

    All that is visible is shown where the whole can be computed at once, else its middle.

    Parameters
    ----------
    low, high : float
        First and last visible place.
    halo : int
        As `halo_of` tells it.
    bounds : tuple of int
        As `bounds_of` tells them.
    longest : int
        Guide pixels that can be computed.

    Returns
    -------
    shown, computed : slice
        Pixels of the guide.

    Raises
    ------
    InputError
        If nothing is visible.
    """
    first, last = bounds
    fits = last - first <= longest
    low, high = max(low, first), min(high, last - 1.0)
    most = longest if fits else longest - 2 * halo
    middle, half = (low + high) / 2, min(high - low, most - 1) / 2
    if half <= 0:
        raise InputError(NOT_VISIBLE)
    shown = slice(max(first, floor(middle - half)), min(last - 1, ceil(middle + half)) + 1)
    if fits and halo:
        return shown, slice(first, last)
    return shown, slice(max(first, shown.start - halo), min(last, shown.stop + halo))


def on_samples(
    pixels: slice, d: float, start: float, counts: tuple[int, int], *, whole: bool
) -> tuple[slice, slice]:
    """Choose samples and pixels of an axis that lie on one another.

    A sample of which a part lies beside the pixels costs the solver its direct way, and says less.
    So the pixels are those of whole samples; where samples are too wide for that, they are as many
    as can be computed, and samples count whose middle is at most half a sample away.

    Parameters
    ----------
    pixels : slice
        Those to compute.
    d : float
        Distance of two samples, in guide pixels.
    start : float
        Where sample 0 lies, in guide pixels.
    counts : tuple of int
        Of samples and of pixels.
    whole : bool
        Whether there is room for whole samples.

    Returns
    -------
    samples, pixels : slice
        What is computed.
    """
    m, n = counts
    if not whole:
        pixels, far = at_least(ceil(d), pixels, n), max(d / 2, 0.5)
        first = max(0, floor((pixels.start - far - start) / d) + 1)
        last = min(m, ceil((pixels.stop - 1 + far - start) / d))
        return slice(first, last), pixels
    first = max(0, floor((pixels.start - 0.5 - start) / d + 0.5 + ROUNDING))
    last = min(m, ceil((pixels.stop - 0.5 - start) / d + 0.5 - ROUNDING))
    begin = max(0, floor(start + (first - 0.5) * d + 0.5 + ROUNDING))
    end = min(n, ceil(start + (last - 0.5) * d + 0.5 - ROUNDING))
    wider = slice(min(begin, pixels.start), max(end, pixels.stop))
    return slice(first, last), at_least(ceil(d), wider, n)


def at_least(length: int, pixels: slice, count: int) -> slice:
    """Lengthen a stretch of pixels where it is shorter than one sample.

    Parameters
    ----------
    length : int
        Pixels of a sample.
    pixels : slice
        Those to compute.
    count : int
        The guide's pixels.

    Returns
    -------
    slice
        As many, where the guide has them.
    """
    begin = max(0, min(pixels.start, count - length))
    return slice(begin, max(pixels.stop, min(count, begin + length)))
