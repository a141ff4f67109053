"""The panel that upsamples one layer with the help of another one."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import napari
import numpy as np
from napari.layers import Image, Layer
from qtpy.QtWidgets import QHBoxLayout, QPushButton

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings, upsample
from napari_cosparse.layers import (
    METADATA_KEY,
    Destination,
    destination,
    layer_data,
    preview_data,
    preview_place,
    show_again,
    stored_data,
    visible_part,
)
from napari_cosparse.tiles import Stored, open_levels

from ._before import check_pair, remarks
from ._configure import Preferences, default_operators
from ._handover import open_register
from ._job import Outcome, Pair, pair_up, placed, upsampling
from ._output import choose_output, propose_store
from ._pair_panel import PairPanel
from ._preview import Index, part_to_preview, plane_to_preview
from ._preview_axis import LONGEST
from ._preview_job import Previewed, previewing
from ._runner import Steps
from ._script import store_script, upsample_script
from ._store_check import REPLACE, UNFINISHED, check_store, free_path, store_remarks, unfinished
from ._store_job import stored_text, storing
from ._text import blank_text, pair_text, turned_text, verdict
from ._upsample_form import UpsampleForm

PREVIEW_TIP = (
    "<p>Compute the middle of what is visible, in a second or two, as a layer that the next "
    "preview and the whole run replace.</p>"
)


class UpsamplePanel(PairPanel):
    """Choose target, guide and settings; the result is a new layer on the guide's grid.

    Parameters
    ----------
    napari_viewer : napari.viewer.Viewer
        The viewer whose layers are offered; napari hands it over.
    """

    kind = "upsample"
    form: UpsampleForm

    def __init__(self, napari_viewer: "napari.viewer.Viewer") -> None:
        """Lay the panel out; it is ready as soon as two layers are."""
        super().__init__(napari_viewer, UpsampleForm(napari_viewer, upsample, default_operators()))
        self._where: Destination | None = None
        self._plane: Index | None = None  # of the preview that is computed; None while a run is
        self._previewed = ""  # what is said of it
        self._preview_layer: Layer | None = None
        self._previewable = False  # as a preview writes nothing, also where a store is refused
        self._store = ""  # where the result is to be written; empty for memory
        self._proposed = ("", "")  # the target's name, and a path for it
        self.preview_button = QPushButton("Preview")
        self.preview_button.setToolTip(PREVIEW_TIP)
        self.register_button = QPushButton("Register these two ...")
        self.register_button.setToolTip("<p>Open the registration panel with this pair.</p>")
        self.register_button.setVisible(False)
        row = QHBoxLayout()
        row.addWidget(self.preview_button)
        row.addWidget(self.register_button)
        self.extras.addLayout(row)
        self.preview_button.clicked.connect(self._preview)
        self.register_button.clicked.connect(self._hand_over)
        self._preferences = Preferences(self.refresh)
        self.begin()

    def pair_rows(self) -> tuple[Any, Any]:
        """Rows of target and guide."""
        return self.form.target, self.form.guide

    def refresh(self, event: object = None) -> None:
        """Look at the layers, and at the preferences whenever they are changed.

        Parameters
        ----------
        event : object, optional
            Not used.
        """
        super().refresh(event)
        self._preferences.follow()

    def inputs(self) -> Iterable[Layer | None]:
        """Target and guide."""
        return self._chosen()

    def look(self) -> str:
        """Say how target and guide lie on one another."""
        self._previewable = False
        self.form.fit()
        self.form.show_placing(None, Settings(), "")  # until more is known
        try:
            self.check_open()
            pair, settings = self._pair_and_settings()
        except InputError:
            self.form.hide_output()
            raise
        self.form.show_placing(pair.placing, settings, turned_text(pair, settings))
        output = choose_output(pair, self.form.output.value)
        self._store = self.form.show_output(
            store=output.store, propose=lambda: self._proposal(pair)
        )
        check_pair(pair, settings)
        self._previewable = True
        if output.store:
            check_store(pair, self._store, overwrite=bool(self.form.overwrite.value))
        stored = store_remarks(self._store, pair.guide_grid)
        told = pair_text(pair, settings), remarks(pair, settings), output.reason, stored
        return " ".join(filter(None, told))

    def job(self) -> tuple[Steps, str]:
        """Upsample all planes."""
        pair, settings = self._pair_and_settings()
        self.keep_choice()  # whoever runs a pair has chosen it
        where = self._where = self._destination(pair)
        self._plane = None
        self.register_button.setVisible(False)
        operators, title = self.form.pair.source(), f"Upsampling {pair.target.name}"
        asked = self.runner.told_to_stop
        self.look()  # files may have come to be since
        if self._store:
            steps = storing(
                *(pair, operators, settings, self._store),
                where=where,
                overwrite=bool(self.form.overwrite.value),
                cancelled=asked,
            )
            return steps, title
        return upsampling(pair, operators, settings, cancelled=asked), title

    def succeed(self, outcome: Outcome | Stored) -> str:
        """Add the result, or the preview."""
        if isinstance(outcome, Previewed):
            return self._show_preview(outcome)
        self._drop_preview()
        if isinstance(outcome, Stored):
            self._show_stored(outcome)
            return stored_text(outcome)
        if self._where is not None:
            self.add_layers([layer_data(outcome.results, self._where, outcome.alignment)])
            shifted = outcome.alignment is not None and not outcome.alignment.coincide
            self.register_button.setVisible(shifted)
        return self._told(outcome)

    def fail(self, error: Exception) -> None:
        """Tell it; what an earlier preview showed goes, as it would with one that succeeds.

        Parameters
        ----------
        error : Exception
            What was raised.
        """
        if self._plane is not None:
            self._drop_preview()
        super().fail(error)

    def stop_early(self) -> str:
        """Say how a run into a store goes on."""
        return f"Cancelled. {UNFINISHED}" if unfinished(self._store) else "Cancelled."

    def spell(self, option: str) -> str:
        """Name the row of an option of the core."""
        return f"ticking {REPLACE!r}" if option == "overwrite" else super().spell(option)

    def python(self) -> str:
        """Write a script that gives the same layer; a store gets a name that is free."""
        pair, settings = self._pair_and_settings()
        chosen = self.form.pair.python()
        if self._store:
            return store_script(pair, chosen, settings, free_path(self._store))
        return upsample_script(pair, chosen, settings)

    def update_parts(self, *, running: bool, ready: bool) -> None:  # noqa: ARG002 the base's signature
        """Enable the preview where target and guide can be computed."""
        self.preview_button.setEnabled(self._previewable and not running)

    def on_undocked(self) -> None:
        """Stop the run, and follow the preferences no longer."""
        super().on_undocked()
        self._preferences.leave()

    def _chosen(self) -> tuple[Image | None, Image | None]:
        return self.form.target.value, self.form.guide.value

    def _pair(self) -> Pair:
        positions, levels = self.form.positions.value, self.form.levels
        return pair_up(*self._chosen(), positions=positions, levels=levels)

    def _pair_and_settings(self) -> tuple[Pair, Settings]:
        pair = self._pair()
        return pair, placed(pair, self.form.settings())

    def _destination(self, pair: Pair) -> Destination:
        return destination(pair.target, pair.guide, pair.levels, self.form.pair.told())

    def _show_stored(self, stored: Stored) -> None:
        """Add the layer that reads a store; layers that showed what it replaced are empty now."""
        for layer in list(self.viewer.layers):
            record = layer.metadata.get(METADATA_KEY)
            if isinstance(record, dict) and record.get("store") == str(stored.path):
                self.viewer.layers.remove(layer)
        self.form.overwrite.value = False  # of the next one nobody has said so
        if self._where is not None:
            self.add_layers([stored_data(open_levels(stored.path), stored, self._where)])

    def _proposal(self, pair: Pair) -> str:
        """Path for a store; the same for the same pair until there is something."""
        name, path = self._proposed
        if name != pair.target.name or Path(path).exists():
            path = propose_store(pair)
            self._proposed = (pair.target.name, path)
        return path

    def _preview(self) -> None:
        try:
            pair, settings = self._pair_and_settings()
            visible = visible_part(pair.guide, self.viewer, pair.levels[1])
            choose = partial(part_to_preview, pair, settings, visible)
            choose(LONGEST)  # or tell at once that nothing is visible
        except InputError as error:
            self._drop_preview()
            self.fail(error)
            return
        index, planes = plane_to_preview(pair, self.viewer.dims)
        self.keep_choice()
        self._where, self._plane = self._destination(pair), index
        whole = np.array_equal(visible.ravel(), (0, 0, *np.subtract(pair.guide_grid.shape, 1)))
        self._previewed = f"Preview of the middle of the {'guide' if whole else 'view'}."
        operators, asked = self.form.pair.source(), self.runner.told_to_stop
        steps = previewing(pair, operators, settings, choose, planes, cancelled=asked)
        self.start(steps, f"Preview of {pair.target.name}")

    def _show_preview(self, made: Previewed) -> str:
        """Show a preview where the one before was, if that is still there, and tell of it."""
        if self._where is None or self._plane is None:
            return ""
        place = preview_place(self._where, self._plane, made.corner)
        data = preview_data(made.known[0], self._where, place)
        layer, layers = self._preview_layer, self.viewer.layers
        if layer is not None and layer in layers and show_again(layer, data):
            layers.move(layers.index(layer), -1)  # to the top, where a new one would lie
        else:
            self._drop_preview()
            (self._preview_layer,) = self.add_layers([data])
        return f"{self._previewed} {self._told(made)}"

    def _told(self, outcome: Outcome) -> str:
        """Say what came out, and what the noise is where that was asked."""
        first = outcome.known[0]
        if first.noise_estimated:
            self.form.noise.native.setPlaceholderText(f"estimated: {first.noise:.3g}")
        told = verdict(outcome.known, outcome.alignment), blank_text(outcome.blank)
        return " ".join(filter(None, told))

    def _drop_preview(self) -> None:
        if self._preview_layer is not None and self._preview_layer in self.viewer.layers:
            self.viewer.layers.remove(self._preview_layer)
        self._preview_layer = None

    def _hand_over(self) -> None:
        target, guide = self._chosen()
        open_register(self.viewer, fixed=guide, moving=target)
