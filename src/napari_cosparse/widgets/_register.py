"""The panel that brings a layer of one modality onto a layer of another one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from math import isfinite
from typing import Any

import napari
from napari.layers import Image, Layer

from napari_cosparse.io import plain
from napari_cosparse.layers import (
    is_registered,
    make_record,
    point_pairs,
    shown_plane,
)

from ._configure import registration_operators
from ._couple import Couple, couple
from ._pair_panel import PairPanel
from ._register_before import check_registration
from ._register_form import RegisterForm
from ._register_found import Found, told_by
from ._register_job import masks, registering, start_keywords
from ._register_points import Pairs, apart_text, are_good, fit_text
from ._register_script import register_script
from ._register_text import couple_text, flaws, motion_text
from ._register_tools import NOT_MOVED, Tools
from ._register_verdict import cost_curve, details, is_nothing, verdict
from ._runner import Steps

CANCELLED = "the run was cancelled before its result was judged"


class RegisterPanel(PairPanel):
    """Choose fixed and moving; the result is a new layer that lies on the fixed one.

    Parameters
    ----------
    napari_viewer : napari.viewer.Viewer
        The viewer whose layers are offered; napari hands it over.
    """

    kind = "register"
    form: RegisterForm

    def __init__(self, napari_viewer: "napari.viewer.Viewer") -> None:
        """Lay the panel out."""
        super().__init__(napari_viewer, RegisterForm(napari_viewer, registration_operators()))
        self._run: Couple | None = None
        self._run_points: Pairs | None = None
        self._asked = ""  # script of the run that was begun last
        self._settings: dict[str, Any] = {}  # of that run
        self.tools = Tools(self)
        self.extras.addWidget(self.tools)
        self.begin()

    def choose(self, fixed: Image | None, moving: Image | None) -> None:
        """Choose both layers.

        Parameters
        ----------
        fixed, moving : napari.layers.Image or None
            Layers of the viewer; None leaves a row as it is.
        """
        self.reset_choices()
        self.keep_choice()
        for row, layer in ((self.form.fixed, fixed), (self.form.moving, moving)):
            if layer is not None:
                row.value = getattr(layer, "__wrapped__", layer)
        self.refresh()

    def pair_rows(self) -> tuple[Any, Any]:
        """Rows of the moving and of the fixed layer."""
        return self.form.moving, self.form.fixed

    def worth_suggesting(self, layers: Sequence[Image | None]) -> list[Image]:
        """Leave out what lies where a registration has put it already.

        Parameters
        ----------
        layers : sequence of napari.layers.Image or None
            Those that are offered.

        Returns
        -------
        list of napari.layers.Image
        """
        return [layer for layer in super().worth_suggesting(layers) if not is_registered(layer)]

    def reset_choices(self, event: object = None) -> None:
        """Offer the layers that are open now, and follow the sliders of stacks.

        Parameters
        ----------
        event : object, optional
            Not used.
        """
        self.viewer.dims.events.current_step.connect(self.refresh)  # once, however often called
        super().reset_choices(event)

    def inputs(self) -> Iterable[Layer | None]:
        """Give fixed and moving, and what is drawn or set on them."""
        form = self.form
        drawn = form.mask_fixed.value, form.mask_moving.value
        points = form.points_fixed.value, form.points_moving.value
        return [*self._chosen(), *drawn, *(points if form.start.value == "points" else ())]

    def enterEvent(self, event: Any) -> None:  # noqa: N802, ANN401 Qt's name and event
        """Look again: what was undone on a layer of labels tells nobody."""
        super().enterEvent(event)
        if not self.runner.running:
            self.refresh()

    def look(self) -> str:
        """Say how the layers lie on one another now."""
        self.form.fit()
        self.check_open()
        pair = self.pair()
        start = start_keywords(pair, self.form.start.value, self._points())
        keywords = {**self.form.keywords(), **start}
        check_registration(pair, keywords, self._masks())
        told = couple_text(pair, str(self.form.group.value)), fit_text(pair, keywords)
        return " ".join(filter(None, (*told, self._of_others())))

    def job(self) -> tuple[Steps, str]:
        """Register the planes that are shown."""
        pair = self.pair()
        keywords = self._keywords(pair)
        self._run, self._run_points = pair, self._finest_points(pair)
        self.keep_choice()  # whoever runs a pair has chosen it
        self._asked = register_script(pair, self.form.pair.python(), keywords, self._masks())
        self._settings = self.form.of_a_run()
        operators = self.form.pair.source()
        steps = registering(pair, operators, keywords, self.runner.told_to_stop)
        return steps, f"Registering {pair.moving.name}"

    def succeed(self, outcome: Any) -> str:  # noqa: ANN401 a Registration
        """Move a new layer where the result is trusted, or where the user insists."""
        found = self._found(outcome)
        self.tools.take(found)
        put = outcome.trusted or bool(self.form.insist.value)
        if put:
            self.tools.put()
        if isfinite(outcome.cost_after):  # the text names the ends of this line
            self.plot.show_lines({"": cost_curve(outcome)}, "Cost at the finest level")
        how = str(self.form.start.value)
        if self._run is not None and self._run_points is not None:
            good = are_good(self._run, self._run_points, outcome)
            how = "good points" if good else how
        told = [verdict(outcome, how, flipped=found.flipped), *self._remarks(outcome)]
        if not put:
            told.append("Nothing was moved." if is_nothing(outcome) else NOT_MOVED)
        return " ".join(told)

    def _remarks(self, outcome: Any) -> list[str]:  # noqa: ANN401 a Registration
        """Say what about the layers may be why a motion does not fit, or not exactly."""
        if self._run is None:
            return []
        how = {"trusted": bool(outcome.trusted), "reflected": bool(outcome.reflected)}
        told = flaws(self._run, str(outcome.group), **how)
        if self._run_points is not None:
            told.insert(0, apart_text(self._run, self._run_points, outcome.matrix))
        return told

    def _finest_points(self, pair: Couple) -> Pairs | None:
        ours, theirs = self._points()
        if self.form.start.value != "points" or ours is None or theirs is None:
            return None
        return point_pairs(*pair.finest, (ours, theirs))

    def stop_early(self) -> str:
        """Keep the best so far, not judged: it moves nothing unless the user insists."""
        best = getattr(self.last, "matrix", None)
        if best is None or self._run is None:
            more = "" if self.tools.found is None else " The buttons are about the run before."
            return f"Cancelled before a motion was found.{more}"
        pair = self._run
        record = {"cancelled": True, "trusted": False, "because": CANCELLED}
        found = replace(self._found_matrix(pair.to_finest(best), record), settings=self._settings)
        self.tools.take(found)
        told = motion_text(found.matrix, found.grids[1].shape, flipped=found.flipped)
        text = f"Not trusted: {CANCELLED}; this is the best so far. {told}"
        if self.form.insist.value:
            self.tools.put()
            return text
        return f"{text} {NOT_MOVED}"

    def python(self) -> str:
        """Write a script that gives the same layers."""
        form, pair = self.form, self.pair()
        told = pair, form.pair.python(), self._keywords(pair), self._masks()
        matrix, found = self._not_by_a_run(), self.tools.found
        asked = "" if found is None else found.asked
        same = matrix is not None or register_script(*told) == asked
        return register_script(
            *told,
            resample=bool(form.resample.value),
            insist=bool(form.insist.value) or (same and self._moved_anyway()),
            matrix=matrix,
            trusted=found is not None and found.trusted,
        )

    def _moved_anyway(self) -> bool:
        """Whether what was found for the chosen pair is not trusted, and its layer was moved."""
        found = self.tools.found
        if found is None or self._of_others():
            return False
        return not found.trusted and bool(self.tools.shown())

    def _not_by_a_run(self) -> Any:  # noqa: ANN401 a matrix or None
        """Matrix at hand, where no whole run gave it: loaded, inverted, or of a cancelled run.

        Whoever changes the settings after a cancel asks for another run.
        """
        found = self.tools.found
        if found is None or found.outcome is not None or self._of_others():
            return None
        return found.matrix if found.settings in (None, self.form.of_a_run()) else None

    def update_parts(self, *, running: bool, ready: bool) -> None:  # noqa: ARG002 the base's signature
        """Enable the tools that there is something for; more about the result is in a tool-tip."""
        self.tools.refresh(running=running)
        found = None if running else self.tools.found
        more = ""
        if found is not None and found.outcome is not None:
            more = details(found.outcome, flipped=found.flipped)
        self.message.setToolTip(f"<p>{escape(more)}</p>" if more else "")

    def on_undocked(self) -> None:
        """Stop what runs and what blinks."""
        self.tools.flicker.stop()
        self.viewer.dims.events.current_step.disconnect(self.refresh)
        super().on_undocked()

    def found_by(self, matrix: Any, told: dict[str, Any]) -> Found:  # noqa: ANN401 array_like
        """Take a transform from elsewhere for the chosen layers.

        Parameters
        ----------
        matrix : array_like, shape (3, 3)
            Fixed pixel to moving pixel, of the finest levels.
        told : dict
            Where it comes from, as JSON values.

        Returns
        -------
        Found
            What the tools work with.
        """
        self._run = self.pair()
        return self._found_matrix(matrix, told)

    def _of_others(self) -> str:
        """Say whose the result at hand is, where it is not that of the chosen layers."""
        found = self.tools.found
        if found is None or (found.fixed, found.moving) == self._chosen():
            return ""
        names = f"{found.moving.name!r} and {found.fixed.name!r}"
        return f"The verdict and the buttons below are still about {names}."

    def _chosen(self) -> tuple[Image | None, Image | None]:
        return self.form.fixed.value, self.form.moving.value

    def _masks(self) -> tuple[Any, Any]:
        return self.form.mask_fixed.value, self.form.mask_moving.value

    def _points(self) -> tuple[Any, Any]:
        return self.form.points_fixed.value, self.form.points_moving.value

    def pair(self) -> Couple:
        """Take the chosen layers as they lie now; may raise `InputError`.

        Returns
        -------
        Couple
            Fixed and moving.
        """
        chosen, dims = self._chosen(), self.viewer.dims
        planes = tuple(() if layer is None else shown_plane(layer, dims) for layer in chosen)
        return couple(*chosen, self.form.levels, (planes[0], planes[1]))

    def _keywords(self, pair: Couple) -> dict[str, Any]:
        form = self.form
        start = start_keywords(pair, form.start.value, self._points())
        drawn = masks(pair, self._masks())
        return {**form.keywords(), **start, **drawn}

    def _found(self, outcome: Any) -> Found:  # noqa: ANN401 a Registration
        return self._found_matrix(outcome.matrix, told_by(outcome), outcome)

    def _found_matrix(self, matrix: Any, told: dict[str, Any], outcome: Any = None) -> Found:  # noqa: ANN401
        assert self._run is not None  # noqa: S101 set by whoever calls
        pair = self._run
        parameters = {} if outcome is None else plain(dict(outcome.parameters))
        record = make_record("register", parameters, pair.inputs, matrix=plain(matrix), **told)
        asked = "" if outcome is None else self._asked
        return Found(pair.fixed, pair.moving, pair.finest, matrix, record, outcome, asked)
