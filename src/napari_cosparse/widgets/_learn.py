"""The panel that learns an operator pair from pairs of layers."""

from collections.abc import Iterable, Sequence
from typing import Any

import napari
import numpy as np
from napari.layers import Image, Layer
from qtpy.QtWidgets import QFileDialog, QHBoxLayout, QPushButton

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import Learned, OperatorPair, bank, learn_steps
from napari_cosparse.io import plain, save_operators
from napari_cosparse.layers import (
    Source,
    atom_layers,
    input_record,
    make_record,
    match_stacks,
    note_file,
    pairs_in,
    read,
)

from ._before import check_training
from ._learn_form import LearnForm
from ._learn_job import (
    check_registered,
    coupling_lines,
    diagnostics_text,
    learning,
    plane_names,
    repeated_text,
    skipped_text,
)
from ._operators_rows import OPERATOR_FILES
from ._pair_panel import PairPanel
from ._plot import Plot
from ._runner import Steps
from ._script import learn_script
from ._scroll import text_label

CHOOSE = (
    "Choose a pair of image layers of two modalities that lie on one another, U on the left and V "
    "on the right. File > Open Sample has a pair to try."
)


class LearnPanel(PairPanel):
    """Choose pairs of registered layers; the result is an operator pair, shown as two mosaics.

    Parameters
    ----------
    napari_viewer : napari.viewer.Viewer
        The viewer whose layers are offered; napari hands it over.
    """

    kind = "learn"
    form: LearnForm

    def __init__(self, napari_viewer: "napari.viewer.Viewer") -> None:
        """Lay the panel out."""
        super().__init__(napari_viewer, LearnForm(napari_viewer))
        self._inputs: dict[str, Any] = {}
        self._planes: list[tuple[str, str]] = []  # names of the image pairs of the run
        self._pair: OperatorPair | None = None
        self.diagnostics, self.coupling = text_label(), Plot()
        self.save_button = QPushButton("Save the pair ...")
        self.save_button.setToolTip("<p>Write the operators to a file (.cosparse or .npz).</p>")
        self.save_button.clicked.connect(self._ask_path)
        row = QHBoxLayout()
        row.addWidget(self.save_button)
        self.extras.addLayout(row)  # first, so that it is seen without scrolling
        for part in (self.diagnostics, self.coupling):
            self.extras.addWidget(part)
        self.begin()

    def pair_rows(self) -> tuple[Any, Any]:
        """V and U of the first pair."""
        u, v = self.form.pairs.first
        return v, u

    def suggested(self, layers: Sequence[Image | None]) -> tuple[Image, Image] | None:
        """Guess V and U among those that lie on the likeliest U."""
        images = [layer for layer in layers if layer is not None]
        pair = super().suggested(images)
        if pair is None:
            return None
        return super().suggested([v for v in images if v is pair[1] or _lies_on(v, pair[1])])

    def inputs(self) -> Iterable[Layer | None]:
        """All layers of all pairs."""
        return [layer for pair in self.form.pairs.value for layer in pair]

    def look(self) -> str:
        """Say how many planes there are to learn from."""
        self.form.fit()
        pairs = self._pairs()
        sources = self._sources(pairs)
        count = sum(match_stacks(u, v).planes for u, v in sources)
        self._check(pairs, sources)
        sizes = ", ".join(f"{u.name} with {v.name}" for u, v in pairs)
        told = f"{count} image pair{'s' * (count != 1)}: {sizes}."
        return f"{told} {repeated_text(pairs)}".rstrip()

    def job(self) -> tuple[Steps, str]:
        """Learn from all planes of all pairs."""
        self.keep_choice()  # whoever runs a pair has chosen it
        pairs = self._pairs()
        sources = self._sources(pairs)
        self._check(pairs, sources)
        self._inputs = {
            f"{name}{number}": input_record(layer, self._level(layer))
            for number, pair in enumerate(pairs)
            for name, layer in zip("uv", pair, strict=True)
        }
        self._inputs["name"] = self._free_name()
        self._planes = plane_names(sources)
        self.diagnostics.clear()
        self.coupling.clear()
        asked = self.runner.told_to_stop
        return learning(sources, self.form.keywords(), asked), "Learning operators"

    def succeed(self, outcome: Learned) -> str:
        """Show the atoms and what is known of them."""
        inputs = dict(self._inputs)
        name = inputs.pop("name")
        self._pair = bank(outcome.pair) if self.form.bank.value else outcome.pair
        summary = outcome.diagnostics.summary()
        record = make_record(
            "learn",
            plain(dict(outcome.pair.metadata)),
            inputs,
            stop=str(outcome.stop),
            converged=bool(outcome.stop.converged),
            cost=[float(outcome.history[0]), float(outcome.history[-1])],
            diagnostics=summary,
        )
        placed = self._beside(), self.viewer.layers
        self.add_layers(atom_layers(self._pair, name, record, *placed))
        self.viewer.reset_view()
        self.diagnostics.setText(diagnostics_text(summary))
        self.coupling.show_lines(coupling_lines(outcome), "Coupling")
        self.plot.show_lines({"": list(outcome.history)}, "Cost")
        told = (
            f"Done: {len(outcome.history) - 1} iterations, {outcome.stop}. The pair {name!r} can "
            "be chosen in the other panels."
        )
        return f"{told} {skipped_text(outcome.skipped, self._planes)}".rstrip()

    def stop_early(self) -> str:
        """Say what *Save the pair* is about."""
        if self._pair is None:
            return "Cancelled."
        return "Cancelled. What can be saved is the pair of the run before."

    def save(self, path: str) -> None:
        """Write the pair that was learned last.

        Parameters
        ----------
        path : str
            A .cosparse or .npz file.

        Raises
        ------
        InputError
            Nothing was learned yet, or the file cannot be written.
        """
        if self._pair is None:
            raise InputError("nothing was learned yet; press Run first")
        saved = save_operators(path, self._pair)
        note_file(self.viewer.layers, self._pair, saved)
        self.message.setText(f"Saved to {saved}.")

    def python(self) -> str:
        """Write a script that learns the same pair."""
        return learn_script(
            self._pairs(),
            self.form.keywords(),
            self._name(),
            level=int(self.form.level.value),
            join=bool(self.form.bank.value),
        )

    def update_parts(self, *, running: bool, ready: bool) -> None:  # noqa: ARG002 the base's signature
        """Let the pair be saved once there is one."""
        self.save_button.setEnabled(self._pair is not None and not running)

    def _level(self, layer: Image) -> int:
        return int(self.form.level.value) if layer.multiscale else 0

    def _sources(self, pairs: list[tuple[Image, Image]]) -> list[tuple[Source, Source]]:
        return [(read(u, self._level(u)), read(v, self._level(v))) for u, v in pairs]

    def _check(
        self, pairs: list[tuple[Image, Image]], sources: list[tuple[Source, Source]]
    ) -> None:
        """Refuse what the core would refuse, before anything runs."""
        keywords = self.form.keywords()
        blank = np.zeros((keywords["side"], keywords["side"]))
        learn_steps([(blank, blank)], **keywords)  # checks at the call; no step is taken
        for u, v in pairs:
            check_registered(u, v, (self._level(u), self._level(v)))
        check_training(sources, keywords)

    def _pairs(self) -> list[tuple[Image, Image]]:
        chosen = []
        for number, (u, v) in enumerate(self.form.pairs.value, 1):
            if u is not None and v is not None:
                chosen.append((u, v))
            elif u is not v:
                raise InputError(
                    f"Pair {number} has no {'U' if u is None else 'V'} yet: choose a layer, or "
                    "remove the row (-)."
                )
        if not chosen:
            raise InputError(CHOOSE)
        return chosen

    def _beside(self) -> Layer | None:
        """Layer beside which the atoms are shown; None if it was removed during the run."""
        first = self.form.pairs.value[0][0]
        return first if first is not None and first in self.viewer.layers else None

    def _name(self) -> str:
        return self.form.pair_name.value.strip() or "learned"

    def _free_name(self) -> str:
        """Name that no other pair of the viewer has."""
        taken, wanted = pairs_in(self.viewer.layers), self._name()
        if wanted not in taken:
            return wanted
        return next(name for n in range(2, 10**6) if (name := f"{wanted} {n}") not in taken)

    def _ask_path(self) -> None:
        proposed = f"{self._name()}.cosparse"
        path = QFileDialog.getSaveFileName(self, "Save the pair", proposed, OPERATOR_FILES)[0]
        if path:
            self.guard(lambda: self.save(path))


def _lies_on(v: Image, u: Image) -> bool:
    """Whether two layers can be learned from, by their pixel grids."""
    try:
        check_registered(u, v, (0, 0))
    except InputError:
        return False
    return True
