"""What can be done with a transform: move, resample, compare, save, load, invert, take back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from napari.layers import Image, Labels, Layer
from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QFileDialog, QGridLayout, QPushButton, QWidget

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import Grid, Motion, grid_of, motion_of, moved

from ._register_files import load_found, save_found
from ._register_images import checkerboard_layer, resampled
from ._register_text import judgement, motion_text

if TYPE_CHECKING:
    from ._register import RegisterPanel

FLICKER_MS = 500
NOT_MOVED = "Nothing was moved: press Move anyway to see it."
FILES = "Transforms (*.json *.txt *.tfm)"
TIPS = {
    "Move anyway": "Move a new layer although the result is not to be trusted.",
    "Apply to selected": "Move copies of the selected layers in the same way: images, labels, "
    "points, shapes, channels. They share their data.",
    "Checkerboard": "Show both images in the fields of a checkerboard.",
    "Flicker": "Show and hide the registered layer twice a second.",
    "Save ...": "Write the transform: JSON, text (affinder) or ITK .tfm.",
    "Load ...": "Read a transform and move the moving layer by it.",
    "Invert": "Swap fixed and moving, and move by the inverse.",
    "Reset": "Remove the layers that were made with the present transform; those of earlier ones "
    "stay. Yours have never been changed.",
}


@dataclass(frozen=True, eq=False)
class Found:
    """A transform between the pixels of two layers, wherever these lie now.

    Attributes
    ----------
    fixed, moving : napari.layers.Image
        The layers.
    grids : tuple of Grid
        Their finest levels, as they lay when the transform was found.
    matrix : ndarray, shape (3, 3)
        Fixed pixel to moving pixel.
    record : dict
        Provenance.
    outcome : Registration or None
        What the core returned; None for a transform from elsewhere.
    """

    fixed: Image
    moving: Image
    grids: tuple[Grid, Grid]
    matrix: Any
    record: dict[str, Any]
    outcome: Any = None
    layers: list[Layer] = field(default_factory=list)

    @property
    def fixed_grid(self) -> Grid:
        """The fixed layer's pixels as they lie now."""
        return grid_of(self.fixed)

    def motion(self, layer: Layer) -> Motion:
        """Find what brings a layer onto the fixed one.

        Parameters
        ----------
        layer : napari.layers.Layer
            The moving layer, which may have been dragged since, or one that belongs to it as it
            lay when the transform was found.

        Returns
        -------
        Motion
        """
        moving = grid_of(self.moving) if layer is self.moving else self.grids[1]
        return motion_of(self.fixed_grid, moving, self.matrix)


class Tools(QWidget):
    """Buttons below the form of the registration panel.

    Parameters
    ----------
    panel : RegisterPanel
        Whose transform this is about.
    """

    def __init__(self, panel: "RegisterPanel") -> None:
        """Make the buttons."""
        super().__init__()
        self._panel = panel
        self.found: Found | None = None
        self.buttons: dict[str, QPushButton] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(FLICKER_MS)
        self._timer.timeout.connect(self._blink)
        actions: dict[str, Callable[[], Any]] = {
            "Move anyway": self.put,
            "Apply to selected": self.apply_to_selected,
            "Checkerboard": self.checkerboard,
            "Flicker": self._flicker,
            "Save ...": self._ask_save,
            "Load ...": self._ask_load,
            "Invert": self.invert,
            "Reset": self.reset,
        }
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for place, (text, action) in enumerate(actions.items()):
            button = QPushButton(text)
            button.setToolTip(f"<p>{TIPS[text]}</p>")
            button.clicked.connect(lambda _checked=False, action=action: self.guard(action))
            where = divmod(place + 1, 2) if place else (0, 0, 1, 2)  # the first one alone on top
            layout.addWidget(button, *where)
            self.buttons[text] = button
        self.buttons["Flicker"].setCheckable(True)

    def take(self, found: Found) -> None:
        """Work with another transform; layers of the one before stay.

        Parameters
        ----------
        found : Found
            The transform.
        """
        self._stop_flicker()
        self.found = found

    def put(self) -> None:
        """Add the moving layer as a new one that lies on the fixed one."""
        found = self._need()
        made = [moved(found.moving, found.motion(found.moving), record=found.record)]
        if self._panel.form.resample.value:
            made.append(resampled(found.moving, found))
        self._add(made)
        message = self._panel.message
        message.setText(message.text().replace(NOT_MOVED, "Moved all the same."))
        self._panel.refresh()

    def apply_to_selected(self) -> None:
        """Move copies of the selected layers, and resample them where that is asked for."""
        found = self._need()
        selection = self._panel.viewer.layers.selection
        selected = [getattr(layer, "__wrapped__", layer) for layer in selection]
        others = [layer for layer in selected if layer not in (found.fixed, *found.layers)]
        if not others:
            raise InputError("select the layers to move in the layer list first")
        made = [moved(layer, found.motion(layer), record=found.record) for layer in others]
        if self._panel.form.resample.value:
            images = [layer for layer in others if isinstance(layer, Image | Labels)]
            made += [resampled(layer, found) for layer in images]
        self._add(made)

    def checkerboard(self) -> None:
        """Add both images in the fields of a checkerboard."""
        found = self._need()
        self._add([checkerboard_layer(found, self._panel.viewer.dims.point)])

    def save(self, path: str) -> None:
        """Write the transform.

        Parameters
        ----------
        path : str
            Ending in .json, .txt or .tfm.
        """
        save_found(path, self._need())
        self._panel.message.setText(f"Saved to {path}.")

    def load(self, path: str) -> None:
        """Read a transform and move the moving layer by it, if the file says that it is trusted.

        Parameters
        ----------
        path : str
            A file that `save` wrote.
        """
        told = load_found(path, self._panel.pair())
        record = {"loaded": str(path), "trusted": told.trusted, "because": told.because}
        self.take(self._panel.found_by(told.matrix, record))
        put = told.trusted or bool(self._panel.form.insist.value)
        if put:
            self.put()
        self._say(f"Loaded from {Path(path).name}, {judgement(record, 'the file')}.", put=put)

    def invert(self) -> None:
        """Swap fixed and moving, and move by the inverse."""
        found = self._need()
        for role, layer in (("fixed", found.fixed), ("moving", found.moving)):
            if layer not in self._panel.viewer.layers:
                raise InputError(
                    f"the {role} layer {layer.name!r} of this transform is gone; "
                    "open it again and load the transform, or press Run"
                )
        judged = {k: v for k, v in found.record.items() if k in ("trusted", "because")}
        told: dict[str, Any] = {"inverse_of": found.record["matrix"], **judged}
        moved_before = bool(found.layers)
        self._panel.choose(found.moving, found.fixed)
        self.take(self._panel.found_by(np.linalg.inv(found.matrix), told))
        put = moved_before or bool(judged.get("trusted", True))
        if put:
            self.put()
        names = f"{found.fixed.name} onto {found.moving.name}"
        self._say(f"Inverted, {names}: {judgement(judged, 'the run before')}.", put=put)

    def reset(self) -> None:
        """Remove the layers that were made with the present transform."""
        self._stop_flicker()
        found, self.found = self._need(), None
        layers = self._panel.viewer.layers
        for layer in found.layers:
            if layer in layers:
                layers.remove(layer)
        self._panel.message.setText("Removed what was made with this transform.")
        self._panel.refresh()

    def refresh(self, *, running: bool) -> None:
        """Enable the buttons that there is something for.

        Parameters
        ----------
        running : bool
            Whether a computation is running.
        """
        ready = self.found is not None and not running
        for button in self.buttons.values():
            button.setEnabled(ready)
        put = self.found is not None and bool(self.found.layers)
        self.buttons["Move anyway"].setVisible(ready and not put)
        if ready and not put:
            self._panel.pane.ensureWidgetVisible(self.buttons["Move anyway"])
        self.buttons["Flicker"].setEnabled(ready and put)
        chosen = self._panel.form.fixed.value, self._panel.form.moving.value
        apart = chosen[0] is not chosen[1]
        self.buttons["Load ..."].setEnabled(not running and None not in chosen and apart)

    def guard(self, action: Callable[[], Any]) -> None:
        """Do something and show what forbids it.

        Parameters
        ----------
        action : callable
            What to do.
        """
        try:
            action()
        except (InputError, OSError) as error:
            self._panel.fail(error)
        self._panel.refresh()

    def _need(self) -> Found:
        if self.found is None:
            raise InputError("there is no transform yet; press Run, or load one")
        return self.found

    def _say(self, head: str, *, put: bool) -> None:
        parts = [head, motion_text(self._need().matrix), *(() if put else (NOT_MOVED,))]
        self._panel.message.setText(" ".join(parts))

    def _add(self, made: list[Any]) -> None:
        found = self._need()
        found.layers.extend(self._panel.add_layers(made))

    def _flicker(self) -> None:
        if self.buttons["Flicker"].isChecked():
            self._timer.start()
        else:
            self._stop_flicker()

    def _blink(self) -> None:
        if self.found is None or not self.found.layers:
            self._stop_flicker()
            return
        layer = self.found.layers[0]
        layer.visible = not layer.visible

    def _stop_flicker(self) -> None:
        self._timer.stop()
        self.buttons["Flicker"].setChecked(False)
        if self.found is not None and self.found.layers:
            self.found.layers[0].visible = True

    def _ask_save(self) -> None:
        path = QFileDialog.getSaveFileName(self, "Save the transform", "transform.json", FILES)[0]
        if path:
            self.save(path)

    def _ask_load(self) -> None:
        path = QFileDialog.getOpenFileName(self, "Load a transform", "", FILES)[0]
        if path:
            self.load(path)
