"""The panel that upsamples one layer with the help of another one."""

import napari
from napari.layers import Image
from napari.utils.notifications import notification_manager, show_error
from qtpy.QtCore import QEvent, Qt
from qtpy.QtWidgets import QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import upsample
from napari_cosparse.layers import Destination, destination, layer_data, suggest

from ._form import UpsampleForm
from ._job import Outcome, Pair, pair_up, upsampling
from ._runner import Runner
from ._text import pair_text, verdict
from ._watch import Watch


class UpsamplePanel(QWidget):
    """Choose target, guide and settings; the result is a new layer on the guide's grid.

    Parameters
    ----------
    napari_viewer : napari.viewer.Viewer
        The viewer whose layers are offered; napari hands it over.
    """

    def __init__(self, napari_viewer: "napari.viewer.Viewer") -> None:
        """Lay the panel out; it is ready as soon as two layers are."""
        super().__init__()
        self._viewer = napari_viewer
        self._destination: Destination | None = None
        self.form = UpsampleForm(described_by=upsample)
        self._suggested = self._chosen()  # the rows fill themselves: nobody has chosen that
        self.about_pair, self.message = _text_label(), _text_label()
        self.bar, self.button = QProgressBar(), QPushButton("Run")
        self.runner = Runner()
        self._watch = Watch(self._refresh)
        self._lay_out()
        self._connect()
        self.reset_choices()  # layers may be open already

    def reset_choices(self, event: object = None) -> None:  # noqa: ARG002 napari hands it over
        """Offer the layers that are open now; napari calls this when they change.

        Parameters
        ----------
        event : object, optional
            Not used.
        """
        untouched = self._chosen() == self._suggested
        self.form.reset_choices()
        if untouched:
            pair = suggest(self.form.target.choices)
            if pair is not None:
                self.form.target.value, self.form.guide.value = pair
            self._suggested = self._chosen()
        self._refresh()

    def event(self, event: QEvent | None) -> bool:
        """Look at the layers once in a dock; stop the run when taken out, as napari closes it."""
        handled = super().event(event)
        if event is not None and event.type() == QEvent.Type.ParentChange:
            if self.parent() is None:
                self._shut_down()
            else:
                self.reset_choices()  # now the viewer is certain, even if several are open
        return bool(handled)

    def _shut_down(self) -> None:
        self.runner.close()
        self._watch.follow(())

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        for part in (self.form, self.about_pair, self.button, self.bar, self.message):
            layout.addWidget(part)
        layout.addStretch(1)

    def _connect(self) -> None:
        for row in self.form.rows:
            row.changed.connect(self._refresh)
        self.button.clicked.connect(self._run_or_cancel)
        self.runner.stepped.connect(self._on_step)
        self.runner.succeeded.connect(self._on_success)
        self.runner.failed.connect(self._on_failure)
        self.runner.cancelled.connect(self._on_cancelled)
        self.destroyed.connect(self.runner.close)  # the whole viewer is closed

    def _chosen(self) -> tuple[Image | None, Image | None]:
        return self.form.target.value, self.form.guide.value

    def _pair(self) -> Pair:
        return pair_up(*self._chosen(), positions=self.form.positions.value)

    def _refresh(self, event: object = None) -> None:  # noqa: ARG002 signals hand over an event
        """Bring texts and buttons into line with the layers and the runner: the only place."""
        running = self.runner.running
        self._watch.follow({layer for layer in self._chosen() if layer is not None})
        try:
            pair = self._pair()
            text = pair_text(pair)
        except InputError as error:
            pair, text = None, str(error)
        self.about_pair.setText(text)
        self.button.setText("Cancel" if running else "Run")
        self.button.setEnabled(running or pair is not None)
        self.button.setToolTip("" if pair is not None else text)
        self.bar.setVisible(running)
        self.form.setEnabled(not running)
        self.form.phase.enabled = not running and (pair is None or pair.placing is None)

    def _run_or_cancel(self) -> None:
        if self.runner.running:
            self.runner.cancel()
            self.message.setText("Cancelling ...")
            return
        try:
            pair = self._pair()
            steps = upsampling(pair, self.form.operators_source(), self.form.settings())
        except InputError as error:
            self._on_failure(error)
            return
        self._destination = destination(pair.target, pair.guide)
        self.bar.setRange(0, 0)
        self.message.clear()
        self.runner.start(steps, f"Upsampling {pair.target.name}")
        self._refresh()

    def _on_step(self, progress: Progress) -> None:
        self.bar.setRange(0, progress.total)
        self.bar.setValue(progress.step)
        self.message.setText(f"{progress.stage} ...")

    def _on_success(self, outcome: Outcome) -> None:
        if self._destination is not None:
            data, settings, _ = layer_data(outcome.result, self._destination, outcome.alignment)
            self._viewer.add_image(data, **settings)
        self.message.setText(verdict(outcome.result, outcome.alignment))
        self._refresh()

    def _on_failure(self, error: Exception) -> None:
        """Wrong input: one notification in plain words. A fault of ours: napari's traceback."""
        if isinstance(error, InputError):
            show_error(str(error))
        else:
            notification_manager.receive_error(type(error), error, error.__traceback__)
        self.message.setText(f"Nothing was computed: {error}")
        self._refresh()

    def _on_cancelled(self) -> None:
        self.message.setText("Cancelled.")
        self._refresh()


def _text_label() -> QLabel:
    """Label for sentences: wrapped, and copied with the mouse."""
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
