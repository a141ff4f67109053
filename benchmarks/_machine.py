"""What a figure was measured with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_info

PACKAGES = ("napari-cosparse", "numpy", "scipy", "dask", "opencv-contrib-python-headless")


def describe() -> dict[str, str]:
    """Processor, BLAS and versions.

    Returns
    -------
    dict
        Texts by name.
    """
    blas = {
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', '?')})"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    found = {"processor": _processor(), "blas": ", ".join(sorted(blas))}
    found["python"] = platform.python_version()
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def summary() -> str:
    """Return `describe` as one line."""
    return ", ".join(f"{name} {value}" for name, value in describe().items())


def _processor() -> str:
    """Name of the processor, as far as the system tells."""
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for text in listing.read_text().splitlines():
            if text.startswith("model name"):
                return text.partition(":")[2].strip()
    return platform.processor() or platform.machine()
