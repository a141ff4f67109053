"""The tiling: threads, blocks, chunked images, clusters. The only folder that imports dask."""

from ._checkpoint import discard_checkpoint
from ._checks import check_count
from ._gather import gather, gather_both
from ._large import store_steps
from ._learning import learning_steps
from ._levels import level_of
from ._look import known_samples
from ._memory import free_memory
from ._open import open_levels
from ._plan import estimate_bytes
from ._planes import as_plane, planes_of
from ._stored import Stored
from ._threads import Cancelled, default_threads, threaded_map
from ._warp import warp_lazily, warp_levels
from ._whole import measure_whole

__all__ = [
    "Cancelled",
    "Stored",
    "as_plane",
    "check_count",
    "default_threads",
    "discard_checkpoint",
    "estimate_bytes",
    "free_memory",
    "gather",
    "gather_both",
    "known_samples",
    "learning_steps",
    "level_of",
    "measure_whole",
    "open_levels",
    "planes_of",
    "store_steps",
    "threaded_map",
    "warp_lazily",
    "warp_levels",
]
