"""What the registration panel says about motions and results."""

import dataclasses

import numpy as np
import pytest

from napari_cosparse.layers import mirror
from napari_cosparse.widgets._register_text import motion_text
from napari_cosparse.widgets._register_verdict import cost_curve, details, verdict
from support.fake_registration import FakeRegistration

SHAPE = (240, 400)
LEFT_RIGHT = mirror(SHAPE)
TOP_BOTTOM = np.array([[-1.0, 0, 239], [0, 1, 0], [0, 0, 1]])
TURN = np.array([[0.8, -0.6, 6], [0.6, 0.8, -3], [0, 0, 1]])


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        (TURN, "rotation 36.87 degrees, scale 1, shift (6.0, -3.0)"),
        (LEFT_RIGHT, "mirrored left-right, rotation 0.00 degrees, scale 1, shift (0.0, 0.0)"),
        (TOP_BOTTOM, "mirrored top-bottom, rotation 0.00 degrees, scale 1, shift (0.0, 0.0)"),
        (
            LEFT_RIGHT @ TURN,
            "mirrored left-right, rotation 36.87 degrees, scale 1, shift (6.0, -3.0)",
        ),
        (
            LEFT_RIGHT @ np.array([[1, -1e-5, -0.04], [1e-5, 1, -0.04], [0, 0, 1]]),
            "mirrored left-right, rotation 0.00 degrees, scale 1, shift (0.0, 0.0)",
        ),
    ],
)
def test_motion_that_mirrors_is_told_as_one(matrix, told):
    assert motion_text(matrix, SHAPE) == f"In pixels: {told}."


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        (LEFT_RIGHT, " (moving columns counted backwards, as the layers are displayed): rotation"),
        (TOP_BOTTOM, " (moving rows counted backwards, as the layers are displayed): rotation"),
        (TURN, "shift (6.0, -3.0); as the layers are displayed, that mirrors the moving one."),
    ],
)
def test_mirror_is_named_where_the_motion_mirrors_in_the_world(matrix, told):
    """An axis that runs backwards in the world turns the pixels' mirror into none."""
    text = motion_text(matrix, SHAPE, flipped=True)
    assert told in text
    assert ("mirror" in text) is (matrix is TURN)


@pytest.mark.parametrize(("measure", "is_told"), [("mutual", True), ("nmi", False)])
@pytest.mark.parametrize("trusted", [True, False])
def test_lead_of_the_edges_is_left_out_where_grey_values_decided(measure, is_told, trusted):
    found = FakeRegistration(TURN, np.eye(3), SHAPE, SHAPE, measure=measure, margin=-0.1)
    found = dataclasses.replace(found, trusted=trusted, because="the numbers say so")
    text = verdict(found) if trusted else details(found)
    assert ("another place fits better" in text) is is_told
    assert "83% of the fixed image covered" in text


@pytest.mark.parametrize(
    ("way", "more"),
    [
        ("give a start or landmarks", "shows."),
        ("give a nearer start, or search", "shows."),
        (
            "give a start, or masks of what both show, or fill scattered holes",
            "shows, or fill scattered holes.",
        ),
        (
            "give a start or landmarks, and compare by eye",
            "shows, and compare by eye whatever comes of it.",
        ),
    ],
)
def test_advice_of_the_core_is_kept_in_words_of_the_panel(way, more):
    found = FakeRegistration(TURN, np.eye(3), SHAPE, SHAPE)
    found = dataclasses.replace(found, trusted=False, reason="why", way=way, because=f"why: {way}")
    text = verdict(found)
    assert text.startswith("Not trusted: why. What helps: drag the layer")
    assert text.endswith(more)


@pytest.mark.parametrize(
    ("because", "told"), [("so (limit 2 px)", "so (limit 2 px); 83% of"), ("so", "so (83% of")]
)
def test_no_brackets_follow_brackets(because, told):
    found = dataclasses.replace(
        FakeRegistration(TURN, np.eye(3), SHAPE, SHAPE), trusted=True, because=because
    )
    assert f"Trusted: {told}" in verdict(found)


@pytest.mark.parametrize(
    ("before", "steps", "told"),
    [
        (-0.1, (-0.2, -0.35), [-0.1, -0.2, -0.35, -0.4]),
        (-0.1, (-0.2, -0.41), [-0.1, -0.2, -0.41, -0.4]),
        (-0.39, (-0.7, -0.71), [-0.39, -0.4]),
        (-0.4, (), [-0.4, -0.4]),
        (np.nan, (-0.2,), [np.nan, -0.2, -0.4]),
        (np.nan, (-0.2, -0.9), [np.nan, -0.4]),
    ],
)
def test_curve_joins_no_costs_that_cannot_be_compared(before, steps, told):
    found = FakeRegistration(TURN, np.eye(3), SHAPE, SHAPE, cost_before=before, history=steps)
    np.testing.assert_array_equal(cost_curve(found), told)
