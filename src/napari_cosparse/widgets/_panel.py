"""What the three panels share: form, Run that turns into Cancel, progress, cost, messages."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from napari.layers import Layer
from napari.utils.notifications import show_info
from qtpy.QtGui import QGuiApplication
from qtpy.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from napari_cosparse.core.errors import InputError, OccupiedError
from napari_cosparse.core.progress import Progress
from napari_cosparse.layers import LayerData

from ._docked import Docked
from ._form import Form
from ._more import More, read_settings, write_settings
from ._report import Report, tell
from ._runner import Runner, Steps
from ._script_parts import TO_DO
from ._scroll import Scroll, Tail, tab_order, text_label
from ._watch import Watch

FIRST = "What came from no file is to be saved first, or to be open: its comments say how."
RUN_TIP = "Compute with these settings; the result is added as new layers."
CANCEL_TIP = "Stop the run."


class Panel(Docked):
    """A form, a Run button and what came of it. Subclasses say what is run.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        The viewer whose layers are offered.
    form : Form
        The settings.
    """

    kind = "panel"  # name in settings files

    def __init__(self, viewer: Any, form: Form) -> None:  # noqa: ANN401 the viewer or its proxy
        """Lay the panel out; the subclass calls `begin` when it is complete."""
        super().__init__()
        self.viewer, self.form = viewer, form
        self.about, self.report = text_label(), Report()
        self.bar, self.plot, self.message = self.report.parts
        self.button, self.more, self.extras = QPushButton("Run"), More(), QVBoxLayout()
        self.runner, self.pane, self.tail = Runner(), Scroll(), Tail()
        self._watch = Watch(self.refresh)
        self._lay_out()
        self._connect()

    @property
    def last(self) -> Progress | None:
        """Last step of the present or the last run."""
        return self.report.last

    # What a subclass provides

    def inputs(self) -> Iterable[Layer | None]:
        """Layers whose moves matter to the text of the panel."""
        return ()

    def look(self) -> str:
        """Describe the chosen layers, or raise `InputError` with what forbids a run."""
        return ""

    def job(self) -> tuple[Steps, str]:
        """Give what is to be run and its title; may raise `InputError`."""
        raise NotImplementedError

    def succeed(self, outcome: Any) -> str:  # noqa: ANN401 what the job returned
        """Add the results and return what is to be said about them."""
        raise NotImplementedError

    def stop_early(self) -> str:
        """Return what is to be said after a cancel."""
        return "Cancelled."

    def python(self) -> str:
        """Write a script that gives the same result; may raise `InputError`."""
        raise NotImplementedError

    def spell(self, option: str) -> str:
        """Say what to do for an option of the core to be switched on."""
        return f"{option}=True"

    def update_parts(self, *, running: bool, ready: bool) -> None:
        """Enable what a subclass has beside the form."""

    # What they share

    def begin(self) -> None:
        """Look at the layers for the first time: they may be open already."""
        tab_order(self.pane, self.form, self.button, self.more)
        self.reset_choices()

    def reset_choices(self, event: object = None) -> None:  # noqa: ARG002 napari hands it over
        """Offer the layers that are open now; napari calls this when they change."""
        self.form.reset_choices()
        self.refresh()

    def on_docked(self) -> None:
        """Look at the layers once in a dock."""
        self.reset_choices()

    def on_undocked(self) -> None:
        """Stop the run."""
        self.runner.close()
        self._watch.follow(())

    def refresh(self, event: object = None) -> None:  # noqa: ARG002 signals hand over an event
        """Bring texts and buttons into line with the layers and the runner: the only place."""
        running, text, reason = self.runner.running, self.about.text(), ""
        self._watch.follow({layer for layer in self.inputs() if layer is not None})
        try:
            text = text if running else self.look()  # a run does not mind what becomes of layers
        except InputError as error:
            text = reason = str(error)
        self.about.setText(text)
        self.button.setText("Cancel" if running else "Run")
        self.button.setEnabled(running or not reason)
        self.button.setToolTip(f"<p>{reason or (CANCEL_TIP if running else RUN_TIP)}</p>")
        self.bar.setVisible(running)
        self.form.setEnabled(not running)
        self.update_parts(running=running, ready=not running and not reason)
        self.pane.updateGeometry()

    def start(self, steps: Steps, title: str) -> None:
        """Run something in the worker.

        Parameters
        ----------
        steps : callable
            Makes the generator of progress.
        title : str
            What is computed: tool-tip of the bar.
        """
        self.report.begin()
        self.bar.setToolTip(title)
        self.runner.start(steps)
        self.refresh()

    def add_layers(self, layers: Iterable[LayerData]) -> list[Layer]:
        """Add layers to the viewer.

        Parameters
        ----------
        layers : iterable of (data, dict, str)
            Layer data.

        Returns
        -------
        list of napari.layers.Layer
            The new layers.
        """
        made = [Layer.create(*data) for data in layers]
        for layer in made:
            self.viewer.add_layer(layer)
        return made

    def fail(self, error: Exception) -> None:
        """Wrong input: one notification in plain words. A fault of ours: napari's traceback.

        Parameters
        ----------
        error : Exception
            What was raised.
        """
        if isinstance(error, OccupiedError):
            error = InputError(error.spelled(self.spell))
        tell(error)
        self.message.setText(f"Nothing was computed: {error}")
        self.refresh()

    def guard(self, action: Callable[[], Any]) -> None:
        """Do something, and show what forbids it.

        Parameters
        ----------
        action : callable
            What to do.
        """
        try:
            action()
        except (InputError, OSError) as error:
            tell(error)
            self.message.setText(str(error))
        self.refresh()

    def save_settings(self, path: str | Path) -> None:
        """Write the settings to a JSON file.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        write_settings(path, self.kind, self.form.state())

    def load_settings(self, path: str | Path) -> None:
        """Read the settings from a JSON file; layers that are not open are told.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        InputError
            The file is not one that this panel wrote.
        """
        missing = self.form.restore(read_settings(path, self.kind))
        if missing:
            show_info(f"Not set, because it is not there: {', '.join(missing)}")
        self.refresh()

    def copy_python(self) -> None:
        """Put a script that gives the same result on the clipboard."""
        clipboard, script = QGuiApplication.clipboard(), self.python()
        if clipboard is not None:
            clipboard.setText(script)
        text = "A Python script that gives this result is on the clipboard."
        show_info(f"{text} {FIRST}" if TO_DO in script else text)

    def _lay_out(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(2, 2, 2, 2)
        column.addWidget(self.form)
        column.addWidget(self.about)
        column.addLayout(self.extras)
        column.addStretch(1)
        self.pane.setWidget(inside)
        buttons = QHBoxLayout()
        buttons.addWidget(self.button, 1)
        buttons.addWidget(self.more)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(4)
        layout.addWidget(self.pane, 1)
        layout.addLayout(buttons)
        below = QWidget()
        below.setLayout(self.report)
        self.report.setContentsMargins(0, 0, 0, 0)
        self.tail.setWidget(below)
        layout.addWidget(self.tail)

    def _connect(self) -> None:
        for row in self.form.rows:
            row.changed.connect(self.refresh)
        self.form.fold.toggled.connect(self.pane.updateGeometry)
        self.button.clicked.connect(self._run_or_cancel)
        self.runner.stepped.connect(self.report.add)
        self.runner.told.connect(self._on_told)
        self.runner.succeeded.connect(self._on_success)
        self.runner.failed.connect(self.fail)
        self.runner.cancelled.connect(self._on_cancelled)
        self.destroyed.connect(self.runner.close)  # the whole viewer is closed
        self.more.saved.connect(lambda path: self.guard(lambda: self.save_settings(path)))
        self.more.loaded.connect(lambda path: self.guard(lambda: self.load_settings(path)))
        self.more.copied.connect(lambda: self.guard(self.copy_python))

    def _run_or_cancel(self) -> None:
        if self.runner.running:
            self.runner.cancel()
            step = "" if self.last is None else f", waiting for the end of: {self.last.stage}"
            self.message.setText(f"Cancelling{step} ...")
            return
        try:
            steps, title = self.job()
        except InputError as error:
            self.fail(error)
            return
        self.start(steps, title)

    def _on_told(self) -> None:
        self.report.draw(stopping=self.runner.told_to_stop())

    def _on_success(self, outcome: object) -> None:
        try:
            text = self.succeed(outcome)
        except InputError as error:
            self.fail(error)
            return
        self.refresh()
        self.message.setText(text)

    def _on_cancelled(self) -> None:
        text = self.stop_early()
        self.refresh()
        self.message.setText(text)
