"""Fixtures for all tests: the real images, a display, settings that are not the user's."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

# Before anything imports napari: the user's own settings are neither read nor written.
os.environ["NAPARI_CONFIG"] = str(Path(tempfile.mkdtemp(prefix="napari-")) / "settings.yaml")


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


def opens_windows(item):
    """Whether a test needs a display."""
    names = {"qtbot", "make_napari_viewer", "make_napari_viewer_proxy"}
    return not names.isdisjoint(item.fixturenames)


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config, items):
    """Skip what needs a display where there is none, and say so; say what stays together.

    With ``-n 2 --dist loadgroup`` one process has all windows, which would take the focus from one
    another, and a file is not split: its tests share fixtures.
    """
    skip = pytest.mark.skip(reason="no display: run the tests under xvfb-run")
    for item in items:
        windows = opens_windows(item)
        if windows and not has_display():
            item.add_marker(skip)
        if config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group("windows" if windows else item.path.name))
