"""The panel that learns an operator pair from pairs of layers."""

from collections.abc import Generator, Iterable
from typing import Any

import napari
import numpy as np
from napari.layers import Image, Layer
from qtpy.QtWidgets import QFileDialog, QHBoxLayout, QPushButton

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import Learned, OperatorPair, bank, learn_steps
from napari_cosparse.core.progress import Progress
from napari_cosparse.io import plain, save_operators
from napari_cosparse.layers import (
    Source,
    atom_layers,
    grid_of,
    input_record,
    make_record,
    match_stacks,
    pairs_in,
    place,
    read,
)

from ._learn_form import LearnForm
from ._panel import Panel
from ._plot import Plot
from ._runner import Steps
from ._script import learn_script
from ._scroll import text_label

HALF_A_PIXEL = 0.5
CHOOSE = (
    "Choose a pair of image layers of two modalities that lie on one another, U on the left and V "
    "on the right. File > Open Sample has a pair to try."
)


class LearnPanel(Panel):
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
        self._pair: OperatorPair | None = None
        self.diagnostics, self.coupling = text_label(), Plot()
        self.save_button = QPushButton("Save the pair ...")
        self.save_button.setToolTip("<p>Write the operators to a file (.npz).</p>")
        self.save_button.clicked.connect(self._ask_path)
        row = QHBoxLayout()
        row.addWidget(self.save_button)
        self.extras.addLayout(row)  # first, so that it is seen without scrolling
        for part in (self.diagnostics, self.coupling):
            self.extras.addWidget(part)
        self.begin()

    def inputs(self) -> Iterable[Layer | None]:
        """All layers of all pairs."""
        return [layer for pair in self.form.pairs.value for layer in pair]

    def look(self) -> str:
        """Say how many planes there are to learn from."""
        count = 0
        pairs = self._pairs()
        for u, v in pairs:
            count += match_stacks(read(u), read(v)).planes
        self._check(pairs)
        sizes = ", ".join(f"{u.name} with {v.name}" for u, v in pairs)
        return f"{count} image pair{'s' * (count != 1)}: {sizes}."

    def job(self) -> tuple[Steps, str]:
        """Learn from all planes of all pairs."""
        pairs = self._pairs()
        self._check(pairs)
        sources = [(read(u), read(v)) for u, v in pairs]
        self._inputs = {
            f"{name}{number}": input_record(layer)
            for number, pair in enumerate(pairs)
            for name, layer in zip("uv", pair, strict=True)
        }
        self._inputs["name"] = self._free_name()
        self.diagnostics.clear()
        self.coupling.clear()
        return learning(sources, self.form.keywords()), "Learning operators"

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
        self.add_layers(atom_layers(self._pair, name, record, self._beside()))
        self.viewer.reset_view()
        self.diagnostics.setText(diagnostics_text(summary))
        self.coupling.show_lines(coupling_lines(outcome), "Coupling")
        self.plot.show_lines({"": list(outcome.history)}, "Cost")
        return (
            f"Done: {len(outcome.history) - 1} iterations, {outcome.stop}. The pair {name!r} can "
            "be chosen in the other panels."
        )

    def save(self, path: str) -> None:
        """Write the pair that was learned last.

        Parameters
        ----------
        path : str
            An .npz file.

        Raises
        ------
        InputError
            Nothing was learned yet, or the file cannot be written.
        """
        if self._pair is None:
            raise InputError("nothing was learned yet; press Run first")
        self.message.setText(f"Saved to {save_operators(path, self._pair)}.")

    def python(self) -> str:
        """Write a script that learns the same pair."""
        return learn_script(
            self._pairs(), self.form.keywords(), self._name(), join=self.form.bank.value
        )

    def update_parts(self, *, running: bool, ready: bool) -> None:  # noqa: ARG002 the base's signature
        """Let the pair be saved once there is one."""
        self.save_button.setEnabled(self._pair is not None and not running)

    def _check(self, pairs: list[tuple[Image, Image]]) -> None:
        """Refuse what the core would refuse, before anything runs."""
        keywords = self.form.keywords()
        blank = np.zeros((keywords["side"], keywords["side"]))
        learn_steps([(blank, blank)], **keywords)  # checks at the call; no step is taken
        for u, v in pairs:
            check_registered(u, v)

    def _pairs(self) -> list[tuple[Image, Image]]:
        chosen = [(u, v) for u, v in self.form.pairs.value if u is not None and v is not None]
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
        proposed = f"{self._name()}.npz"
        path = QFileDialog.getSaveFileName(self, "Save the pair", proposed, "Operators (*.npz)")[0]
        if path:
            self.guard(lambda: self.save(path))


def check_registered(u: Image, v: Image) -> None:
    """Refuse pairs that are not pixel on pixel.

    Parameters
    ----------
    u, v : napari.layers.Image
        Layers of the two modalities.

    Raises
    ------
    InputError
        They are one layer, or differ in size or place.
    """
    if u is v:
        raise InputError(f"{u.name!r} is chosen as U and as V; choose two layers.")
    grids = grid_of(v), grid_of(u)
    found = place(*grids) if grids[0].shape == grids[1].shape else None
    if (
        found is None
        or found.transform is not None
        or found.factor != (1.0, 1.0)
        or max(map(abs, found.origin)) > HALF_A_PIXEL
    ):
        sizes = " and ".join(f"{g.shape[0]} x {g.shape[1]}" for g in reversed(grids))
        raise InputError(
            f"{u.name!r} and {v.name!r} ({sizes} pixels) do not lie on one another pixel by pixel: "
            "register them first, with the result resampled onto the fixed layer."
        )


def learning(sources: list[tuple[Source, Source]], keywords: dict[str, Any]) -> Steps:
    """Prepare a run; the pixels are read when it starts, in the worker.

    Parameters
    ----------
    sources : list of tuple of Source
        Pixels of U and V of each pair; stacks give one pair a plane.
    keywords : dict
        Of `learn_operators`.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns `Learned`.
    """

    def steps() -> Generator[Progress, None, Learned]:
        yield Progress("Reading the layers", 0, 0)
        pairs = [
            (u.load(ours), v.load(theirs))
            for u, v in sources
            for ours, theirs in match_stacks(u, v).pairs()
        ]
        return (yield from learn_steps(pairs, **keywords))

    return steps


def diagnostics_text(summary: dict[str, float | None]) -> str:
    """Say what was measured of a pair.

    Parameters
    ----------
    summary : dict
        As `Diagnostics.summary` gives it.

    Returns
    -------
    str
        Lines.
    """
    told = {name: "unknown" if value is None else f"{value:.3g}" for name, value in summary.items()}
    return (
        "Condition {condition_u} (U), {condition_v} (V): 1 is a tight frame.\n"
        "Coherence {coherence_u} (U), {coherence_v} (V): 1 means two equal atoms.\n"
        "Silent on {activity_u} (U) and {activity_v} (V) of the patches.\n"
        "V is silent where U is: {matched}; for shuffled pairs {shuffled}."
    ).format(**told)


def coupling_lines(outcome: Learned) -> dict[str, list[float]]:
    """Rates of the coupling, for the plot: sorted, so that two curves can be told apart.

    Parameters
    ----------
    outcome : Learned
        What was learned.

    Returns
    -------
    dict of str to list of float
        Matched and shuffled, in the order of the matched rates.
    """
    matched, shuffled = outcome.diagnostics.matched, outcome.diagnostics.shuffled
    order = np.argsort(np.nan_to_num(matched))
    return {"matched": matched[order].tolist(), "shuffled": shuffled[order].tolist()}
