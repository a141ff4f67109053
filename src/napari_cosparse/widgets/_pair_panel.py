"""What the panels on two image layers share: a pair is suggested until somebody has chosen."""

from typing import Any

from napari.layers import Image

from napari_cosparse.layers import suggest

from ._form import Form
from ._panel import Panel


class PairPanel(Panel):
    """A panel on a coarse layer, such as a depth image, and a detailed one, such as a photo.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        The viewer whose layers are offered.
    form : Form
        The settings.
    """

    def __init__(self, viewer: Any, form: Form) -> None:  # noqa: ANN401 the viewer or its proxy
        """Take what the rows hold for suggested."""
        super().__init__(viewer, form)
        self._suggested: tuple[Image | None, ...] | None = self._in_rows()

    def pair_rows(self) -> tuple[Any, Any]:
        """Rows of the coarse and of the detailed layer."""
        raise NotImplementedError

    def keep_choice(self) -> None:
        """Suggest no other pair from now on, as this one is somebody's choice."""
        self._suggested = None

    def reset_choices(self, event: object = None) -> None:
        """Offer the layers that are open now; suggest a pair until somebody has chosen.

        Parameters
        ----------
        event : object, optional
            Not used.
        """
        before, (coarse, detailed) = self._in_rows(), self.pair_rows()
        self.form.reset_choices()
        if before == self._suggested or not set(before) & set(coarse.choices):
            pair = suggest(coarse.choices)
            if pair is not None:
                coarse.value, detailed.value = pair
            self._suggested = self._in_rows()
        super().reset_choices(event)

    def _in_rows(self) -> tuple[Image | None, ...]:
        return tuple(row.value for row in self.pair_rows())
