"""The start is kept where nothing fits clearly better; what stands out or was checked moves."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.registration._answer import Answer
from napari_cosparse.core.registration._cascade import Outcome
from napari_cosparse.core.registration._frame import Frame
from napari_cosparse.core.registration._run import _stays
from napari_cosparse.core.registration._verdict import SURE_MARGIN, SURE_SCORE, Verdict

FRAME = Frame((101, 101), (101, 101))
TASK = SimpleNamespace(start=np.eye(3), scene=SimpleNamespace(frame=FRAME))
DEAR = SimpleNamespace(gain=-0.05, gain_error=0.01)  # the answer costs more than the start
CHEAP = SimpleNamespace(gain=0.05, gain_error=0.01)


def outcome(pixels, score=0.0, margin=0.0, agreement=0.5):
    tau = np.eye(3)
    tau[0, 2] = pixels / FRAME.radius
    return Outcome(
        Answer(tau, -1.0, agreement, margin, score, 1, Stop.CHANGE_SMALL, (), 0.7),
        "both",
        Verdict(trusted=False, reason="no"),
    )


@pytest.mark.parametrize(
    ("away", "score", "margin", "trusted", "gain", "kept"),
    [
        (30, 0, 0, False, CHEAP, False),
        (30, 0, 0, False, DEAR, True),
        (30, 0, 0, True, DEAR, False),
        (30, SURE_SCORE, SURE_MARGIN, False, DEAR, False),
        (30, SURE_SCORE - 1, SURE_MARGIN, False, DEAR, True),
        (30, SURE_SCORE, SURE_MARGIN - 0.1, False, DEAR, True),
        (0.5, SURE_SCORE, SURE_MARGIN, True, DEAR, True),  # aligned pairs stay
    ],
)
def test_start_is_kept_unless_the_answer_is_cheaper_or_sure(
    away, score, margin, trusted, gain, kept
):
    verdict = Verdict(trusted=trusted, reason="asked")
    assert _stays(TASK, outcome(away, score, margin), verdict, gain) is kept


@pytest.mark.parametrize(
    ("score", "agreement", "kept"),
    [(SURE_SCORE, 0.75, False), (SURE_SCORE, 0.5, True), (SURE_SCORE - 1, 1.0, True)],
)
def test_an_answer_that_most_starts_lead_to_is_no_chance(score, agreement, kept):
    """Retina: a rival start lies hardly farther off than may be, and leads to the answer too."""
    found = outcome(30, score, SURE_MARGIN - 0.1, agreement)
    assert _stays(TASK, found, found.verdict, DEAR) is kept
