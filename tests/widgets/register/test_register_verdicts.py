"""What the registration panel says of an answer, and what it does if it is not trusted."""

import numpy as np
import pytest

from napari_cosparse.core.registration import ALLOW, JUDGE
from napari_cosparse.layers import METADATA_KEY
from support.register_case import MATRIX, PLACE, by_name


def test_untrusted_result_moves_nothing_unless_the_user_insists(filled, fake, viewer, press):
    """R07: said, not done."""
    fake.trusted, fake.because = False, "two starts are equally good"
    press(filled)
    assert len(viewer.layers) == 2
    assert "Not trusted: two starts are equally good" in filled.message.text()
    assert "What helps: drag the layer near its place" in filled.message.text()
    assert "error about" not in filled.message.text()  # of a wrong place it says nothing
    assert filled.message.text().endswith("Nothing was moved: press Move anyway to see it.")
    button = filled.tools.buttons["Move anyway"]
    assert button.isEnabled()
    button.click()
    assert len(viewer.layers) == 3
    assert filled.message.text().endswith("Moved all the same.")
    assert "Nothing was moved" not in filled.message.text()
    assert viewer.layers[-1].metadata[METADATA_KEY]["trusted"] is False
    filled.form.insist.value = True
    press(filled)
    assert len(viewer.layers) == 4


HELPS = "What helps: drag the layer near its place or set points (see Start), or mask what only"


LANDS = "by edges, it lands 45 px away if registered the other way round (limit 2 px)"


MIRROR = "the moving image is a mirror image; "


BURNT = "73% of what agrees lies in 5% of the picture, but another place fits the rest better"


ADVICE = "give a start or landmarks"


@pytest.mark.parametrize(
    ("parts", "told", "more"),
    [
        ((LANDS, ", and no other place fits", ADVICE), f"{LANDS}. {HELPS}", "no other place"),
        ((LANDS, "; with 30% covered", ADVICE), f"{LANDS}. {HELPS}", "with 30% covered"),
        ((MIRROR + LANDS, "; refined", ADVICE), f"{MIRROR}{LANDS}. {HELPS}", "refined"),
        ((LANDS, "", ADVICE), f"{LANDS}. {HELPS}", "83% of the fixed image"),
        (
            (BURNT, "; the start is kept", "if that is a caption, mask it"),
            f"{BURNT}. What helps: if that is a caption, mask it",
            "the start is kept",
        ),
        (
            ("a reason: with a colon, and a comma; and more", "", "do this: that"),
            "a reason: with a colon, and a comma; and more. What helps: do this: that. Nothing",
            "36.87",
        ),
        (
            ("nothing was checked", "", JUDGE),
            "nothing was checked. What helps: turn on Advanced > Judge the result. Nothing was",
            "83% of the fixed image covered; next best place 30% worse. In pixels: rotation 36.87",
        ),
        (
            ("a mirror image", "", ALLOW),
            "a mirror image. What helps: flip it, or tick Advanced > Allow a mirror image. Nothing",
            "36.87",
        ),
    ],
)
def test_what_decided_and_what_helps_are_told_and_the_rest_in_a_tool_tip(
    filled, fake, press, parts, told, more
):
    fake.trusted, (fake.because, fake.note, fake.way) = False, parts
    press(filled)
    message = filled.message
    assert message.text().startswith(f"Not trusted: {told}")
    assert more in message.toolTip()
    assert more not in message.text()
    assert not any(word in message.text() + message.toolTip() for word in ("=True", "--"))
    fake.trusted = True
    press(filled)
    assert not message.toolTip()


def test_verdict_of_a_file_is_told_in_words_of_the_panel(filled, fake, press, tmp_path):
    fake.trusted, fake.because, fake.way = False, "nothing was checked", JUDGE
    press(filled)
    filled.tools.save(str(tmp_path / "t.json"))
    filled.tools.load(str(tmp_path / "t.json"))
    assert "says the file: nothing was checked: turn on Advanced >" in filled.message.text()
    assert "verdict=True" not in filled.message.text()


def test_checkerboard_of_what_is_not_trusted_leaves_it_unmoved(filled, fake, viewer, press, qtbot):
    """What flickers is the moved layer, and nothing else counts as moved."""
    fake.trusted = False
    press(filled)
    buttons = filled.tools.buttons
    buttons["Checkerboard"].click()
    board = viewer.layers[-1]
    assert not buttons["Move anyway"].isHidden()
    assert buttons["Move anyway"].text() == "Move anyway"
    assert not buttons["Flicker"].isEnabled()
    filled.form.resample.value = True
    buttons["Move anyway"].click()
    buttons["Flicker"].click()
    made = [by_name(viewer, f"depth [{how}]") for how in ("registered", "resampled")]
    qtbot.waitUntil(lambda: not any(layer.visible for layer in made), timeout=3000)
    assert board.visible
    press(filled)  # another run ends the flicker
    assert all(layer.visible for layer in made)
    assert not buttons["Flicker"].isChecked()


@pytest.mark.parametrize(("count", "far", "good"), [(5, 0.2, True), (5, 3, False), (2, 0, False)])
def test_good_points_are_not_to_blame(filled, fake, viewer, press, count, far, good):
    """The answer fits to them: to set them again would change nothing. Two fit in any order."""
    ours = np.array([[5, 5], [20, 10], [40, 70], [10, 60], [50, 30]], float)[:count]
    depth = viewer.layers["depth"]
    theirs = (np.c_[ours, np.ones(count)] @ MATRIX.T)[:, :2]
    theirs[-1, 1] += far
    viewer.add_points(ours, name="a", **PLACE)
    lies = {"scale": depth.scale, "translate": depth.translate, "rotate": 20, "units": "nm"}
    viewer.add_points(theirs, name="b", **lies)
    filled.form.start.value = "points"
    fake.trusted, fake.because, fake.way = False, LANDS, ADVICE
    press(filled)
    told = (
        "What helps: search everywhere, or" if good else "What helps: check the order of the points"
    )
    assert told in filled.message.text()
    assert ("miss one another by less than 0.01 px." in filled.message.text()) is not far


def test_a_pair_that_was_not_run_is_guarded_and_the_verdict_is_said_to_be_of_another(
    fake, filled, viewer, scene, press
):
    fake.trusted = False
    press(filled)
    assert "still about" not in filled.about.text()
    filled.tools.buttons["Move anyway"].click()
    assert "if found.trusted" not in filled.python()
    viewer.add_image(scene.depth[:60], name="other", scale=(250, 250), units="nm")
    filled.form.moving.value = viewer.layers["other"]
    assert "still about 'depth' and 'photo'" in filled.about.text()
    assert "if found.trusted" in filled.python()
    filled.form.moving.value = viewer.layers["depth"]
    assert "still about" not in filled.about.text()
    assert "if found.trusted" not in filled.python()
