"""Fixtures for all tests: the real images, a display, settings that are not the user's."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

# Before anything imports napari: the user's own settings are neither read nor written.
os.environ["NAPARI_CONFIG"] = str(Path(tempfile.mkdtemp(prefix="napari-")) / "settings.yaml")


# Processes of tests side by side share the cores: a BLAS that waits in threads of its own takes
# nearly half of them, as it spins. NumPy is loaded by now, SciPy and children not yet.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    threadpool_limits(1)


def find_data():
    """Folder of the real images."""
    return Path(os.environ.get("COSPARSE_DATA", ROOT / "../shared/data")).resolve()


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the real images, see the environment variable COSPARSE_DATA."""
    folder = find_data()
    if not folder.is_dir():
        pytest.skip(f"no real images in {folder}: set COSPARSE_DATA to their folder")
    return folder


def has_display():
    """Whether a viewer can be opened."""
    return os.name == "nt" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ


def pytest_collection_modifyitems(items):
    """Skip what needs a display where there is none, and say so."""
    if has_display():
        return
    skip = pytest.mark.skip(reason="no display: install Xvfb or log in to a desktop")
    for item in items:
        if {"qtbot", "make_napari_viewer", "make_napari_viewer_proxy"} & set(item.fixturenames):
            item.add_marker(skip)
