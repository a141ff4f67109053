"""Numbers that are typed into rows."""

import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.widgets._numbers import parse_factor, parse_number, parse_numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [("", None), (" 4 ", 4.0), ("4,2", (4.0, 2.0)), ("4; 2", (4.0, 2.0)), ("1e3", 1000.0)],
)
def test_one_number_or_two_or_none(text, number):
    assert parse_numbers("origin", text) == number
    assert parse_factor(text) == number


@pytest.mark.parametrize(
    ("read", "text", "why"),
    [
        (lambda t: parse_number("noise", t), "0,5", "noise '0,5' is two numbers.*with a point"),
        (lambda t: parse_number("noise", t), "1e400", "noise '1e400' is too large a number"),
        (lambda t: parse_number("noise", t), "half", "noise 'half' is not a number"),
        (parse_factor, "0,5", "factor '0,5' is 0 along the rows: a comma parts.*a point"),
        (parse_factor, "1,2,3", "factor '1,2,3' is not a number"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_way_out(read, text, why):
    with pytest.raises(InputError, match=why):
        read(text)


def test_infinite_values_may_mean_unknown():
    assert parse_number("unknown value", "-inf") == -float("inf")
