"""Cancel in the registration panel: the best so far, which nobody has judged."""

import threading

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import METADATA_KEY
from support.register_case import lies_on_fixed


def test_cancel_before_a_motion_keeps_the_transform_of_the_run_before(filled, fake, qtbot, press):
    press(filled)
    before = filled.tools.found
    fake.matrix = None
    cancel(filled, fake, qtbot)
    assert filled.message.text().startswith("Cancelled before a motion was found")
    assert filled.tools.found is before
    assert filled.tools.buttons["Flicker"].isEnabled()


def cancel(panel, fake, qtbot):
    """Press Run, then Cancel once the cost was seen."""
    fake.wait = threading.Event()
    panel.button.click()
    qtbot.waitUntil(lambda: len(panel.plot.lines.get("", ())) > 2, timeout=10_000)
    assert panel.button.text() == "Cancel"
    panel.button.click()
    fake.wait.set()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)


def test_cancel_offers_the_best_so_far_which_nobody_has_judged(
    filled, fake, viewer, qtbot, tmp_path
):
    cancel(filled, fake, qtbot)
    assert "Not trusted: the run was cancelled" in filled.message.text()
    assert "rotation 36.87 degrees" in filled.message.text()
    assert len(viewer.layers) == 2
    filled.tools.save(str(tmp_path / "best.json"))
    with pytest.raises(InputError, match="not trusted"):  # what other programs read cannot say so
        filled.tools.save(str(tmp_path / "best.tfm"))
    filled.tools.buttons["Move anyway"].click()
    lies_on_fixed(viewer.layers[-1], viewer.layers["photo"])
    record = viewer.layers[-1].metadata[METADATA_KEY]
    assert (record["trusted"], record["cancelled"]) == (False, True)
    filled.tools.load(str(tmp_path / "best.json"))
    assert "not trusted, says the file" in filled.message.text()
    assert len(viewer.layers) == 3


def test_best_so_far_is_moved_for_those_who_insist(filled, fake, viewer, qtbot):
    filled.form.insist.value = True
    cancel(filled, fake, qtbot)
    lies_on_fixed(viewer.layers[-1], viewer.layers["photo"])
    assert "Nothing was moved" not in filled.message.text()


def test_settings_that_were_changed_after_a_cancel_ask_for_another_run(filled, fake, qtbot):
    cancel(filled, fake, qtbot)
    assert "nc.register(" not in filled.python()  # by the best so far
    filled.form.group.value = "A"
    script = filled.python()
    assert "nc.register(" in script
    assert "group='A'" in script.replace('"', "'")
    filled.form.group.value = "SE"
    assert "nc.register(" not in filled.python()
    moving = filled.form.moving.value
    moving.translate, moving.name = np.asarray(moving.translate) + 3, "another name"
    filled.form.insist.value = True
    assert "nc.register(" not in filled.python()  # none of that asks for another run
