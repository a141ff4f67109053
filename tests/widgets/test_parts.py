"""Small parts of the widgets: tool-tips, coverage, opening a viewer, watching layers."""

import napari
import numpy as np
import pytest
from napari.components import ViewerModel
from napari.layers import Image
from qtpy.QtWidgets import QListWidget, QVBoxLayout, QWidget

from napari_cosparse.layers import Placing
from napari_cosparse.widgets import _view, show_layers
from napari_cosparse.widgets._plot import Plot, _runs
from napari_cosparse.widgets._rows import layer_row
from napari_cosparse.widgets._scroll import LEAST_TAIL, Tail, text_label
from napari_cosparse.widgets._text import coverage
from napari_cosparse.widgets._tips import parameter_tips
from napari_cosparse.widgets._watch import Watch


def test_tips_are_the_parameters_of_the_docstring():
    def scale(low, high, gain):
        """Scale.

        Parameters
        ----------
        low, high : float
            Where `gain` acts,
            at least <0.
        gain : float
            In metres.
        """

    both = "<p>Where gain acts, at least &lt;0.</p>"
    assert parameter_tips(scale) == {"low": both, "high": both, "gain": "<p>In metres.</p>"}


@pytest.mark.parametrize(
    ("origin", "share"), [((1.5, 1.5), 1.0), ((17.5, 1.5), 0.5), ((-6.5, 9.5), 0.5625)]
)
def test_coverage(origin, share):
    assert coverage(Placing((4, 4), origin), (8, 8), (32, 32)) == pytest.approx(share)


def test_show_layers_opens_a_viewer_on_them_and_runs_it(make_napari_viewer, monkeypatch):
    opened = []

    def open_viewer(**settings):
        opened.append(make_napari_viewer(**settings))
        return opened[0]

    running = []
    monkeypatch.setattr(_view.napari, "Viewer", open_viewer)
    monkeypatch.setattr(_view.napari, "run", lambda: running.append(len(opened[0].layers)))
    data = np.zeros((6, 7))
    show_layers([(data, {"name": "a"}, "image"), (data, {"name": "b", "scale": (2, 2)}, "image")])
    assert running == [2]
    assert [layer.name for layer in opened[0].layers] == ["a", "b"]
    assert napari.current_viewer() is opened[0]


def test_watch_hears_of_moves_of_the_layers_it_follows_only():
    heard = []
    first, second = Image(np.zeros((4, 4))), Image(np.zeros((4, 4)))
    watch = Watch(lambda event: heard.append(event.type))
    watch.follow([first])
    first.translate = (1, 1)
    second.translate = (1, 1)
    assert heard == ["translate"]
    first.axis_labels = ("row", "column")
    first.units = ("um", "um")
    assert heard == ["translate", "axis_labels", "units"]
    watch.follow([])
    first.scale = (2, 2)
    assert heard == ["translate", "axis_labels", "units"]


def test_watch_that_follows_the_same_layers_again_leaves_them_alone():
    """Connecting takes milliseconds, and every refresh of a panel asks for it."""
    layer, heard = Image(np.zeros((4, 4))), []
    watch = Watch(heard.append)
    watch.follow([layer])
    layer.events.scale.connect(heard.remove)
    before = layer.events.scale.callbacks
    watch.follow([layer])
    assert layer.events.scale.callbacks == before


def test_plot_keeps_costs_of_different_stages_apart(qtbot):
    plot = Plot()
    qtbot.addWidget(plot)
    for value, apart in (
        (3.0, True),
        (2.0, False),
        (float("nan"), True),
        (9.0, True),
        (8.0, False),
    ):
        plot.add(value, "Cost", apart=apart)
    np.testing.assert_array_equal(plot.lines[""], [3, 2, np.nan, 9, 8])
    assert _runs(plot.lines[""]) == [(0, 2), (3, 5)]
    assert _runs([]) == []
    plot.clear()
    assert plot.lines == {}


def test_heading_of_a_plot_is_about_what_came_after_the_last_gap(qtbot):
    """What is before the gap is another cost, whose range would say nothing."""
    plot = Plot()
    qtbot.addWidget(plot)
    for value, apart in ((0.9, False), (0.8, False), (-3.0, True), (-3.5, False), (-3.25, False)):
        plot.add(value, "Cost", apart=apart)
    assert plot.heading == "Cost   -3 ... -3.25"
    for line, told in (
        ([float("nan")], "Cost"),
        ([0.25], "Cost   0.25"),
        ([-1.38001e8, -1.38012e8], "Cost   -1.38e+08 ... -1.3801e+08"),
        ([2.0, 2.0 - 1e-9], "Cost   2"),
    ):
        plot.show_lines({"": line}, "Cost")
        assert plot.heading == told


def test_heading_of_lines_that_rise_does_not_fall(qtbot):
    plot = Plot()
    qtbot.addWidget(plot)
    plot.show_lines({"matched": [0.0, 0.5, 0.894], "shuffled": [0.2, 0.1, 0.3]}, "Coupling")
    assert plot.heading == "Coupling   0 ... 0.894"


@pytest.fixture
def layer_box():
    """A row on a list of layers, and what it told."""
    viewer = ViewerModel()
    for name in ("a", "b", "c"):
        viewer.add_image(np.zeros((4, 4)), name=name)
    row = layer_row("row", "Row", viewer, (Image,), "none")
    told = []
    row.changed.connect(told.append)
    return viewer, row, told


def test_choice_of_a_layer_outlives_its_name(layer_box):
    viewer, row, told = layer_box
    chosen = viewer.layers["b"]
    row.value = chosen
    viewer.layers["b"].name = "other"
    viewer.layers["a"].name = "b"
    row.reset_choices()
    assert row.value is chosen
    assert told == [chosen]
    assert row.current_choice == "other"
    viewer.layers.remove(chosen)
    row.reset_choices()
    assert row.value is not chosen
    assert told == [chosen, row.value]


def test_choice_of_no_layer_is_told(layer_box):
    viewer, row, told = layer_box
    assert row.value is None
    assert row.current_choice == "none"
    row.value = viewer.layers["c"]
    row.value = None
    assert told == [viewer.layers["c"], None]
    assert row.current_choice == "none"


def test_tail_scrolls_only_where_there_is_no_room(qtbot):
    """Qt itself keeps a bar once it is there, as it makes lines shorter and so more of them."""
    box, below, tail, words = QWidget(), QWidget(), Tail(), text_label()
    words.setText("Many words are said of a result. " * 12)
    qtbot.addWidget(box)
    for parent, part, stretch in ((below, words, 0), (box, QListWidget(), 1), (box, tail, 0)):
        layout = parent.layout() or QVBoxLayout(parent)
        layout.addWidget(part, stretch)
    tail.setWidget(below)
    box.resize(300, 600)
    box.show()
    bar = tail.verticalScrollBar()
    qtbot.waitUntil(lambda: words.height() >= words.heightForWidth(words.width()))
    qtbot.waitUntil(lambda: not bar.isVisible())
    assert tail.height() < 300
    high = tail.height()
    words.setText("Few words.")
    qtbot.waitUntil(lambda: tail.height() < high / 2)
    words.setText("Many words are said of a result. " * 12)
    qtbot.waitUntil(lambda: tail.height() == high)
    for width in range(280, 340, 4):  # where the last line just fits, it does not beside a bar
        box.resize(width, 180)
        qtbot.waitUntil(bar.isVisible)
        assert tail.height() >= LEAST_TAIL
        box.resize(width, 600)
        qtbot.waitUntil(lambda: not bar.isVisible())
        assert tail.height() == tail.sizeHint().height()
