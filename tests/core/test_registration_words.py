"""The parts of a verdict's sentence: what decided, what else is known, what helps."""

from dataclasses import replace

import pytest

from napari_cosparse import register
from napari_cosparse.core.registration._verdict import Verdict
from napari_cosparse.core.registration._verdict_after import in_few_places, one_of_many
from napari_cosparse.io import load_operators, make_scene

SURE = Verdict(trusted=True, reason="it agrees, to 1 px", note="; no other: place")


def test_sentence_is_made_of_its_parts():
    assert SURE.because == "it agrees, to 1 px; no other: place"
    refused = replace(SURE, trusted=False, way="give a start")
    assert refused.because == "it agrees, to 1 px; no other: place: give a start"


@pytest.mark.parametrize(
    "taken_back",
    [in_few_places(SURE, 0.7, "another fits"), one_of_many(SURE, 0.01, 40.0)],
)
def test_what_was_known_of_an_answer_that_was_trusted_goes_with_its_reason(taken_back):
    assert not taken_back.trusted
    assert taken_back.because == f"{taken_back.reason}: {taken_back.way}"


def test_registration_hands_the_parts_over():
    scene = make_scene((96, 128))
    pair = load_operators("intensity-depth")
    found = register(scene.guide, scene.depth, pair, search=False, measure="mutual")
    assert found.reason
    assert found.because.startswith(found.reason)
    told = found.because.removeprefix(found.reason)
    assert found.way if not found.trusted else not found.way
    assert told.endswith(f": {found.way}" if found.way else "")
