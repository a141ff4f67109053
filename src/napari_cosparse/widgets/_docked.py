"""A widget in a dock of napari, which says neither how wide it is nor that it is closed."""

from qtpy.QtCore import QEvent, QSize
from qtpy.QtWidgets import QDockWidget, QWidget


class Docked(QWidget):
    """Is told when it is put into a dock and taken out, and is as wide as the dock's title."""

    def on_docked(self) -> None:
        """Do what is to be done in a dock."""

    def on_undocked(self) -> None:
        """Do what is to be done when taken out, as napari does when it closes the dock."""

    def event(self, event: QEvent | None) -> bool:
        """Hear of docks."""
        handled = super().event(event)
        if event is not None and event.type() == QEvent.Type.ParentChange:
            (self.on_undocked if self.parent() is None else self.on_docked)()
        return bool(handled)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 Qt's name
        """As wide as the contents and the title of the dock, which napari would cut."""
        hint, dock = super().minimumSizeHint(), self.parent()
        bar = dock.titleBarWidget() if isinstance(dock, QDockWidget) else None
        title = None if bar is None else bar.layout()
        if title is not None:
            hint.setWidth(max(hint.width(), title.minimumSize().width()))
        return hint
