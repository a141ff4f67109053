"""The tiling: hands dask's threads to the mathematics. The only folder that imports dask."""

from ._threads import threaded_map

__all__ = ["threaded_map"]
