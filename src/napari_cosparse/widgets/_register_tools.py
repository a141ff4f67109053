"""What can be done with a transform: move, resample, compare, save, load, invert, take back."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from napari.layers import Image, Labels, Layer
from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QFileDialog, QGridLayout, QPushButton, QWidget

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import moved

from ._flicker import Flicker
from ._register_files import load_found, misfit, save_found
from ._register_found import Found
from ._register_images import checkerboard_layer, resampled_with
from ._register_loads import Loads
from ._register_text import motion_text, names_text
from ._register_verdict import judgement

if TYPE_CHECKING:
    from ._register import RegisterPanel

VERDICTS = ("Trusted", "Not trusted")
NOT_MOVED = "Nothing was moved: press Move anyway to see it."
SELECT = "Select the layers to move in the layer list, then press Apply to selected."
PLACES = {  # row, column and spans: as few rows as fit, since the screen may be low
    "Move anyway": (0, 0, 1, 12),
    "Apply to selected": (1, 0, 1, 5),
    "Checkerboard": (1, 5, 1, 4),
    "Flicker": (1, 9, 1, 3),
    "Save ...": (2, 0, 1, 3),
    "Load ...": (2, 3, 1, 3),
    "Invert": (2, 6, 1, 3),
    "Reset": (2, 9, 1, 3),
}
FILES = "Transforms (*.json *.txt *.tfm)"
TIPS = {
    "Move anyway": "Move a new layer although the result is not to be trusted.",
    "Move again": "Make the moved layer again.",
    "Apply to selected": "Move copies of the selected layers in the same way: images, labels, "
    "points, shapes, channels. They share their data.",
    "Checkerboard": "Show both images in the fields of a checkerboard.",
    "Flicker": "Show and hide the registered layer twice a second.",
    "Save ...": "Write the transform: JSON, text (affinder) or ITK .tfm.",
    "Load ...": "Read a transform and move the moving layer by it. Loaded again, a file moves the "
    "layer that it made, unless you have dragged that since.",
    "Invert": "Swap fixed and moving, and move by the inverse.",
    "Reset": "Remove the layers that were made with the present transform; those of earlier ones "
    "stay. Yours have never been changed.",
}


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
        self._loads = Loads(panel.viewer, panel.add_layers)
        self.buttons: dict[str, QPushButton] = {}
        self._reveal = QTimer(self)  # once the text of the result has its room
        self._reveal.setSingleShot(True)
        self._reveal.timeout.connect(lambda: panel.pane.ensureWidgetVisible(self))
        self.flicker = Flicker("Flicker", self.shown)
        actions: dict[str, Callable[[], Any] | None] = {
            "Move anyway": self.put,
            "Apply to selected": self.apply_to_selected,
            "Checkerboard": self.checkerboard,
            "Flicker": None,
            "Save ...": self._ask_save,
            "Load ...": self._ask_load,
            "Invert": self.invert,
            "Reset": self.reset,
        }
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for text, action in actions.items():
            button = self.flicker if action is None else QPushButton(text)
            button.setToolTip(f"<p>{TIPS[text]}</p>")
            if action is not None:
                button.clicked.connect(lambda _checked=False, action=action: panel.guard(action))
            layout.addWidget(button, *PLACES[text])
            self.buttons[text] = button

    def take(self, found: Found) -> None:
        """Work with another transform; layers of the one before stay.

        Parameters
        ----------
        found : Found
            The transform.
        """
        self.flicker.stop()
        self.found = found
        self._reveal.start()

    def shown(self) -> list[Layer]:
        """Find the moving layer in its new place, and resampled.

        Returns
        -------
        list of napari.layers.Layer
            Empty where there is none, or it was deleted.
        """
        return [] if self.found is None else self._present(self.found.moved)

    def put(self) -> None:
        """Add the moving layer as a new one that lies on the fixed one.

        What the same file made before lies there then, instead of one more.
        """
        found = self._need()
        made = [moved(found.moving, found.motion(found.moving), record=found.record)]
        if self._panel.form.resample.value:
            made.append(resampled_with(found, found.moving))
        found.moved.extend(self._loads.put(found, made))
        message = self._panel.message
        text = message.text()
        if NOT_MOVED in text:
            text = text.replace(NOT_MOVED, "Moved all the same.")
        elif not text.startswith(VERDICTS):  # an error of an earlier click, say
            text = self._moved_text(self.shown())
        message.setText(text)
        self._panel.refresh()

    def apply_to_selected(self) -> None:
        """Move copies of the selected layers, and resample them where that is asked for."""
        found = self._need()
        layers = self._panel.viewer.layers
        chosen = [layer for layer in layers if layer in layers.selection]  # a set has no order
        selected = [getattr(layer, "__wrapped__", layer) for layer in chosen]
        others = [layer for layer in selected if layer not in (found.fixed, *found.layers)]
        if not others:
            self._panel.message.setText(SELECT)
            return
        made = [moved(layer, found.motion(layer), record=found.record) for layer in others]
        if self._panel.form.resample.value:
            images = [layer for layer in others if isinstance(layer, Image | Labels)]
            made += [resampled_with(found, layer) for layer in images]
        self._add(made)
        self._panel.message.setText(self._moved_text(others))

    def checkerboard(self) -> None:
        """Add both images in the fields of a checkerboard."""
        found = self._need()
        self._add([checkerboard_layer(found, self._panel.viewer.dims)])

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

        One that was made for images of other sizes is not.

        Parameters
        ----------
        path : str
            A file that `save` wrote.
        """
        pair = self._panel.pair()
        told = load_found(path, pair)
        flaw = misfit(told, pair)
        trusted, because = told.trusted and not flaw, flaw or told.because
        record = {"loaded": str(Path(path).resolve()), "trusted": trusted, "because": because}
        judged = f"not trusted: {flaw}" if flaw else judgement(record, "the file")
        self.take(self._panel.found_by(told.matrix, record))
        put, before = trusted or bool(self._panel.form.insist.value), set(self._panel.viewer.layers)
        if put:
            self.put()
        parts = [f"Loaded from {Path(path).name}, {judged}."]
        renewed = [layer.name for layer in self.shown() if layer in before]
        if renewed:
            parts.append(f"Updated: {names_text(renewed)}.")
        self._say(" ".join(parts), put=put)

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
        moved_before = bool(self.shown())
        form = self._panel.form
        if (form.fixed.value, form.moving.value) == (found.fixed, found.moving):
            form.swap_sides()
        self._panel.choose(found.moving, found.fixed)
        self.take(self._panel.found_by(np.linalg.inv(found.matrix), told))
        put = moved_before or bool(judged.get("trusted", True))
        if put:
            self.put()
        names = f"{found.fixed.name} onto {found.moving.name}"
        self._say(f"Inverted, {names}: {judgement(judged, 'the run before')}.", put=put)

    def reset(self) -> None:
        """Remove the layers that were made with the present transform."""
        self.flicker.stop()
        found, self.found = self._need(), None
        made = self._present(found.layers)
        for layer in made:
            self._panel.viewer.layers.remove(layer)
        self._panel.plot.clear()
        count = f"{len(made)} layer{'s' * (len(made) != 1)}"
        self._panel.message.setText(f"Reset: {count} removed, the transform is forgotten.")
        self._panel.refresh()

    def refresh(self, *, running: bool) -> None:
        """Enable the buttons that there is something for.

        Parameters
        ----------
        running : bool
            Whether a computation is running.
        """
        ready = self.found is not None and not running
        if running:
            self.flicker.stop()
        for button in self.buttons.values():
            button.setEnabled(ready)
        put = bool(self.shown())
        again = self.found is not None and self.found.trusted
        move = self.buttons["Move anyway"]
        move.setText("Move again" if again else "Move anyway")
        move.setToolTip(f"<p>{TIPS[move.text()]}</p>")
        move.setVisible(ready and not put)
        self.flicker.setEnabled(ready and put)
        chosen = self._panel.form.fixed.value, self._panel.form.moving.value
        apart = chosen[0] is not chosen[1]
        self.buttons["Load ..."].setEnabled(not running and None not in chosen and apart)

    def _need(self) -> Found:
        if self.found is None:
            raise InputError("there is no transform yet; press Run, or load one")
        return self.found

    def _moved_text(self, layers: Iterable[Layer]) -> str:
        trusted = "" if self._need().trusted else " The transform is not trusted."
        return f"Moved: {names_text([layer.name for layer in layers])}.{trusted}"

    def _say(self, head: str, *, put: bool) -> None:
        found = self._need()
        self._panel.plot.clear()  # the curve is that of a run
        told = motion_text(found.matrix, found.grids[1].shape, flipped=found.flipped)
        parts = [head, told, *(() if put else (NOT_MOVED,))]
        self._panel.message.setText(" ".join(parts))

    def _add(self, made: list[Any]) -> None:
        self._need().others.extend(self._panel.add_layers(made))

    def _present(self, layers: Iterable[Layer]) -> list[Layer]:
        """Leave out what was deleted from the viewer."""
        there = list(self._panel.viewer.layers)
        return [layer for layer in layers if layer in there]

    def _ask_save(self) -> None:
        path = QFileDialog.getSaveFileName(self, "Save the transform", "transform.json", FILES)[0]
        if path:
            self.save(path)

    def _ask_load(self) -> None:
        path = QFileDialog.getOpenFileName(self, "Load a transform", "", FILES)[0]
        if path:
            self.load(path)
