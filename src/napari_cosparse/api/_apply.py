"""Resample images by a registration, in dask's threads."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core import registration
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.registration import Registered

from ._shared import check_keywords, facade, in_threads, keywords_of


@facade(registration.apply_transform)
def apply_transform(
    image: ArrayLike,
    matrix: ArrayLike | Registered,
    *,
    threads: int | None = None,
    report: Callable[[Progress], None] | None = None,
    **options: Any,  # noqa: ANN401 - the keywords that the core declares
) -> NDArray[Any]:
    """Resample in dask's threads; Dask and Zarr arrays are read chunk by chunk."""
    check_keywords(apply_transform, options, _known())
    map_ = in_threads(threads)
    return registration.apply_transform(
        _gathered(image), matrix, map_=map_, report=report, **options
    )


def apply_transform_steps(
    image: ArrayLike,
    matrix: ArrayLike | Registered,
    *,
    threads: int | None = None,
    cancelled: Callable[[], bool] | None = None,
    **options: Any,  # noqa: ANN401 - the keywords that the core declares
) -> Generator[Progress, None, NDArray[Any]]:
    """Resample step by step: for progress bars and cancel buttons.

    Parameters
    ----------
    image, matrix : array_like
        As for `apply_transform`; labels need ``order="nearest"``.
    threads : int, optional
        Number of threads; all cores if None.
    cancelled : callable, optional
        Asked many times a second whether to stop, while the image is read too; if so, the call or
        the generator raises `napari_cosparse.tiles.Cancelled`.
    **options
        Keywords of `apply_transform`.

    Returns
    -------
    generator
        Yields `Progress` and returns the resampled image.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted; at the call.
    """
    check_keywords(apply_transform_steps, options, _known())
    map_ = in_threads(threads, cancelled)
    return registration.apply_transform_steps(
        _gathered(image, cancelled), matrix, map_=map_, **options
    )


def _known() -> list[str]:
    return [name for name in keywords_of(registration.apply_transform_steps) if name != "map_"]


def _gathered(image: Any, cancelled: Callable[[], bool] | None = None) -> Any:  # noqa: ANN401
    """Read an image in chunks into memory; others stay as they are."""
    if not hasattr(image, "chunks"):
        return image
    from napari_cosparse.tiles import gather

    return gather(image, "the image", cancelled=cancelled)
