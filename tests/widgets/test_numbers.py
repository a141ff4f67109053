"""Numbers that are typed into rows."""

import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.widgets._numbers import parse_number, parse_numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", None),
        (" 4 ", 4.0),
        ("4,2", (4.0, 2.0)),
        ("4; 2", (4.0, 2.0)),
        ("4 2", (4.0, 2.0)),
        ("0, 5", (0.0, 5.0)),
        ("1e3", 1000.0),
    ],
)
def test_one_number_or_two_or_none(text, number):
    assert parse_numbers("origin", text) == number


@pytest.mark.parametrize(
    ("read", "text", "why"),
    [
        (parse_number, "0,5", "knob '0,5' has a comma: write 0.5"),
        (parse_numbers, "0,5", "knob '0,5' may be one number or two: write 0.5 or 0, 5"),
        (parse_number, "-12,50 ", "knob '-12,50 ' has a comma: write -12.50"),
        (parse_number, "1, 2", r"knob '1, 2' must be one number like 0.5 \(or empty\)"),
        (parse_number, "1,2,3", r"knob '1,2,3' must be one number like 0.5 \(or empty\)"),
        (parse_number, "half", r"knob 'half' must be one number like 0.5 \(or empty\)"),
        (parse_number, "1e400", "knob '1e400' is too large a number"),
        (parse_number, "half", "knob 'half' must be one number"),
        (parse_numbers, "1,2,3", "knob '1,2,3' must be one number like 0.5, or two"),
        (parse_numbers, "0,5 0,5", "knob '0,5 0,5' must be one number like 0.5, or two"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_way_out(read, text, why):
    with pytest.raises(InputError, match=why):
        read("knob", text)


def test_infinite_values_may_mean_unknown():
    assert parse_number("unknown value", "-inf") == -float("inf")
