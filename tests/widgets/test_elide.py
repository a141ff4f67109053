"""Names of layers that are longer than the box that offers them."""

import numpy as np
import pytest
from qtpy.QtCore import QEvent, QPoint, Qt
from qtpy.QtGui import QHelpEvent
from qtpy.QtWidgets import QApplication, QToolTip

from napari_cosparse.widgets._elide import Elide, escaped

LONG = "mouse <brain> slice 12, DAPI, 40x oil & stitched, illumination corrected, second channel"


@pytest.fixture
def box(register_panel, viewer):
    """Box of the moving layer, of a usual width."""
    viewer.add_image(np.eye(64), name="photo")
    viewer.add_image(np.eye(32), name=LONG)
    box = register_panel.form.moving.native
    box.setFixedWidth(180)
    assert box.currentText() == LONG
    return box


def picture(box):
    """What is drawn, as numbers."""
    image = box.grab().toImage()
    return [image.pixel(x, y) for x in range(image.width()) for y in range(image.height())]


def hover(box):
    """Rest the mouse on it; returns what is shown then."""
    QToolTip.hideText()
    place = QPoint(5, 5)
    event = QHelpEvent(QEvent.Type.ToolTip, place, box.mapToGlobal(place))
    QApplication.sendEvent(box, event)
    return QToolTip.text()


def test_long_name_has_an_ellipsis_and_is_told_whole(box, register_panel):
    elide = box.findChild(Elide)
    assert elide.shown.startswith("mouse")
    assert elide.shown.endswith("channel"[-3:])
    assert "\N{HORIZONTAL ELLIPSIS}" in elide.shown
    assert box.fontMetrics().horizontalAdvance(elide.shown) < 180
    cut = picture(box)
    box.removeEventFilter(elide)
    assert picture(box) != cut
    box.installEventFilter(elide)
    assert "mouse &lt;brain> slice" in hover(box)
    assert register_panel.form.moving.tooltip in hover(box)


def test_name_that_fits_is_drawn_by_qt(box):
    elide = box.findChild(Elide)
    box.setFixedWidth(900)
    assert elide.shown == LONG
    assert elide.tip == box.toolTip()
    drawn = picture(box)
    box.removeEventFilter(elide)
    assert picture(box) == drawn


def test_list_that_unfolds_tells_whole_names(box):
    names = [box.itemText(place) for place in range(box.count())]
    tips = [box.itemData(place, Qt.ItemDataRole.ToolTipRole) for place in range(box.count())]
    assert LONG in names
    assert tips == [f"<p>{escaped(name)}</p>" for name in names]
    assert box.view().textElideMode() == Qt.TextElideMode.ElideMiddle
