"""Check whether a target lies on its guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from napari_cosparse.core import reconstruction
from napari_cosparse.core.reconstruction import Alignment

from ._shared import check_keywords, check_transform, facade, keywords_of


@facade(reconstruction.check_target)
def check_target(
    target: Any,  # noqa: ANN401 - anything like an array
    guide: Any,  # noqa: ANN401
    *,
    level: tuple[int, int] = (0, 0),
    cancelled: Callable[[], bool] | None = None,
    **options: Any,  # noqa: ANN401 - the keywords that the core declares
) -> Alignment:
    """Check images of any kind that `upsample` takes; reading them stops once `cancelled()`."""
    from napari_cosparse.tiles import gather_both

    check_keywords(check_target, options, keywords_of(reconstruction.check_target))
    check_transform(options.get("transform"))
    return reconstruction.check_target(
        *gather_both(target, guide, level, cancelled=cancelled), **options
    )


@facade(reconstruction.check_alignment)
def check_alignment(target: Any, guide: Any, tolerance: float = 2.0) -> Alignment:  # noqa: ANN401
    """Check images of any kind that `upsample` takes."""
    from napari_cosparse.tiles import gather_both

    return reconstruction.check_alignment(*gather_both(target, guide), tolerance)
