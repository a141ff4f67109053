"""The alignment check of a target that has not been upsampled (D17)."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import check_target, degrade
from napari_cosparse.io import make_scene

WHOLE = make_scene((200, 280), 4)
GUIDE, SHIFTED = WHOLE.guide[:, :-9], WHOLE.guide[:, 9:]
TARGET = degrade(WHOLE.depth[:, :-9], 4)


def test_shift_of_nine_pixels_is_found_and_none_is_not():
    assert check_target(TARGET, GUIDE).coincide
    found = check_target(TARGET, SHIFTED)
    assert not found.coincide
    assert found.shift[1] == pytest.approx(9, abs=1)
    assert check_target(TARGET, SHIFTED, tolerance=12).coincide


def test_origin_takes_the_shift_away():
    assert check_target(TARGET, SHIFTED, factor=4, origin=(1.5, 1.5 - 9)).coincide


def test_unknown_samples_are_left_out():
    holed = TARGET.copy()
    holed[10:20, 20:40] = -7
    assert check_target(holed, GUIDE, invalid=-7).coincide
    nans = np.where(holed == -7, np.nan, holed)
    assert check_target(nans, SHIFTED) == check_target(holed, SHIFTED, invalid=-7)


def test_target_beside_the_guide_is_refused():
    with pytest.raises(InputError, match="does not overlap"):
        check_target(TARGET, GUIDE, factor=4, origin=(5000, 0))
