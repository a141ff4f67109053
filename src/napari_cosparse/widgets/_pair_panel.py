"""What the panels on two image layers share: a pair is suggested until somebody has chosen."""

from collections.abc import Sequence
from typing import Any

from napari.layers import Image

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import partner, suggest

from ._form import Form
from ._panel import Panel

ONE = "Only one image is open, {!r}: open the other one, too. File > Open Sample has a pair to try."


class PairPanel(Panel):
    """A panel on one layer, such as a depth image, and a mostly finer one, such as a photo.

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
        self._lacking: Any = None  # the row whose layer is gone, until there is another one

    def pair_rows(self) -> tuple[Any, Any]:
        """Rows of the one layer and of the mostly finer one."""
        raise NotImplementedError

    def suggested(self, layers: Sequence[Image]) -> tuple[Image, Image] | None:
        """Guess a pair among open layers; panels may refuse what they cannot work on.

        Parameters
        ----------
        layers : sequence of napari.layers.Image
            Those that are offered.

        Returns
        -------
        tuple of napari.layers.Image, or None
            The coarse and the detailed one.
        """
        return suggest(layers)

    def worth_suggesting(self, layers: Sequence[Image | None]) -> list[Image]:
        """Leave out what is offered but not suggested; panels may leave out more.

        Parameters
        ----------
        layers : sequence of napari.layers.Image or None
            Those that are offered.

        Returns
        -------
        list of napari.layers.Image
        """
        return [layer for layer in layers if layer is not None]

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
        chosen = {layer for layer in before if layer is not None}
        if before == self._suggested or not chosen & set(coarse.choices):
            self._lacking = None
            pair = self.suggested(self.worth_suggesting(coarse.choices))
            if pair is not None:
                coarse.value, detailed.value = pair
            self._suggested = self._in_rows()
        else:
            self._replace_lost(before)
        super().reset_choices(event)

    def check_open(self) -> None:
        """Refuse to go on with fewer than two images, and say what is missing.

        Raises
        ------
        InputError
            The message names the only image.
        """
        offered = [layer for layer in self.pair_rows()[0].choices if layer is not None]
        if len(offered) == 1:
            raise InputError(ONE.format(offered[0].name))

    def _replace_lost(self, before: tuple[Image | None, ...]) -> None:
        """Choose another layer than the other row's in a row whose layer is gone."""
        rows = self.pair_rows()
        for row, other, layer in zip(rows, reversed(rows), before, strict=True):
            lost = layer is not None and layer not in row.choices
            lacks = row is self._lacking and row.value is other.value
            if row.value is None or not (lost or lacks):
                continue
            offered = self.worth_suggesting(row.choices)
            new = partner(offered, other.value, coarse=row is rows[0])
            self._lacking = row if new is None else None
            row.value = other.value if new is None else new

    def _in_rows(self) -> tuple[Image | None, ...]:
        return tuple(row.value for row in self.pair_rows())
