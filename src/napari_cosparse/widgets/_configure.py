"""What the user has set in napari's preferences for this plugin."""

from collections.abc import Callable
from typing import Any

from napari_cosparse.io import shipped_operators

PLUGIN = "napari-cosparse"
GIB = 2.0**30
DEFAULTS: dict[str, Any] = {
    "upsampling_operators": "intensity-depth",
    "registration_operators": "intensity-nir",
    "memory_gib": 4.0,
    "scheduler": "threads",
}


def preference(name: str) -> Any:  # noqa: ANN401 text or a number
    """Read a preference.

    Parameters
    ----------
    name : str
        Key in the manifest's configuration.

    Returns
    -------
    str, int or float
        The user's value; the default on a napari without preferences for plugins (before 0.9).
    """
    section = getattr(_settings(), "computing", None)
    return getattr(section, name, DEFAULTS[name])


class Preferences:
    """Calls a function when a preference of this plugin is changed.

    Parameters
    ----------
    callback : callable
        Called with napari's event.
    """

    def __init__(self, callback: Callable[..., Any]) -> None:
        """Hear nothing yet."""
        self._callback = callback
        self._settings: Any = None

    def follow(self) -> None:
        """Hear of changes from now on; napari makes new settings when plugins come and go."""
        settings = _settings()
        if settings is not self._settings:
            self.leave()
            self._settings = settings
            if settings is not None:
                settings.events.changed.connect(self._callback)

    def leave(self) -> None:
        """Hear nothing more."""
        settings, self._settings = self._settings, None
        if settings is not None:
            settings.events.changed.disconnect(self._callback)


def default_operators() -> str:
    """Name of the operators that the upsampling panel chooses at first.

    Returns
    -------
    str
        A shipped pair.
    """
    return _known(preference("upsampling_operators"), DEFAULTS["upsampling_operators"])


def registration_operators() -> str:
    """Name of the operators that the registration panel chooses at first.

    Returns
    -------
    str
        A shipped pair.
    """
    return _known(preference("registration_operators"), DEFAULTS["registration_operators"])


def threads() -> int | None:
    """Read how many threads the user allows.

    Returns
    -------
    int or None
        1 for the synchronous scheduler, else dask's own choice.
    """
    return 1 if preference("scheduler") == "synchronous" else None


def memory_bytes() -> float:
    """Read how much memory a run may take.

    Returns
    -------
    float
        Bytes.
    """
    return float(preference("memory_gib")) * GIB


def _settings() -> Any:  # noqa: ANN401 a model that napari makes
    """Preferences of this plugin; None where there are none."""
    try:
        from napari.settings import get_plugin_settings
    except ImportError:  # before 0.9
        return None
    try:
        return get_plugin_settings(PLUGIN)
    except (KeyError, ValueError):  # the manifest is not registered, as in scripts
        return None


def _known(name: str, default: str) -> str:
    return name if name in shipped_operators() else default
