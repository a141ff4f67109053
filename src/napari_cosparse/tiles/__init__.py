"""The tiling: hands dask's threads to the mathematics. The only folder that imports dask."""

from ._threads import threaded_map
from ._warp import warp_lazily, warp_levels

__all__ = ["threaded_map", "warp_lazily", "warp_levels"]
