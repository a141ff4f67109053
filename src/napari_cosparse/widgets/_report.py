"""What a panel says of its run: progress, the cost, messages."""

from napari.utils.notifications import notification_manager, show_error
from qtpy.QtWidgets import QLabel, QProgressBar, QVBoxLayout

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import Progress

from ._plot import Plot
from ._scroll import text_label


class Report(QVBoxLayout):
    """Progress bar, a message and the plot of the cost, below one another.

    Attributes
    ----------
    last : Progress or None
        Last step of the present or the last run.
    """

    def __init__(self) -> None:
        """Lay the parts out."""
        super().__init__()
        self.parts: tuple[QProgressBar, Plot, QLabel] = QProgressBar(), Plot(), text_label()
        self.last: Progress | None = None
        bar, plot, message = self.parts
        for part in (bar, message, plot):  # the plot is the first that goes where it is narrow
            self.addWidget(part)

    def begin(self) -> None:
        """Forget the run before."""
        bar, plot, message = self.parts
        self.last = None
        bar.setRange(0, 0)
        message.clear()
        plot.clear()

    def add(self, progress: Progress) -> None:
        """Take a step of the run.

        Parameters
        ----------
        progress : Progress
            The step.
        """
        apart = self.last is not None and self.last.stage != progress.stage
        self.last = progress
        self.parts[1].add(progress.cost, "Cost", apart=apart)

    def draw(self, *, stopping: bool) -> None:
        """Show the last step.

        Parameters
        ----------
        stopping : bool
            Whether the message says already that the run stops.
        """
        if self.last is None:
            return
        bar, plot, message = self.parts
        plot.update()
        bar.setRange(0, self.last.total)
        bar.setValue(self.last.step)
        if not stopping:
            message.setText(f"{self.last.stage} ...")


def tell(error: Exception) -> None:
    """Show wrong input as one notification in plain words, a fault of ours with its traceback.

    Parameters
    ----------
    error : Exception
        What was raised.
    """
    if isinstance(error, InputError | OSError):
        show_error(str(error))
    else:
        notification_manager.receive_error(type(error), error, error.__traceback__)
