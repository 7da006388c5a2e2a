"""Options that are numbers: what is read, and how the rest is refused."""

from fractions import Fraction

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.number import ask, is_number, read_amount, read_fraction, read_number, shown


@pytest.mark.parametrize("value", [1, 1.0, np.int8(1), np.float32(1), Fraction(1)])
def test_numbers(value):
    assert is_number(value)
    assert read_fraction(value, "alpha") == 1.0


@pytest.mark.parametrize(
    "value", [True, np.True_, "1", None, 1j, [1], np.ones(1), np.timedelta64(1, "s")]
)
def test_other_things(value):
    assert not is_number(value)
    with pytest.raises(InputTypeError, match="Expected `alpha` to be a number from 0 to 1, got"):
        read_fraction(value, "alpha")


def test_the_message_has_the_rule_the_value_and_the_hint():
    with pytest.raises(InputError) as caught:
        read_number(3, "q", "a number below 3", lambda x: x < 3, "Take 2.")
    assert str(caught.value) == "Expected `q` to be a number below 3, got 3.\n\nHint: Take 2."


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids=["400", "-400", "5000"])
def test_what_no_float_can_hold(value):
    with pytest.raises(InputError, match="got a number of more than 30 digits"):
        read_amount(value, "weight")


def test_values_that_cannot_be_written():
    assert shown([10**5000]) == "a list"
    assert shown("x" * 200) == "'" + 79 * "x"


def test_a_function_is_asked_and_its_answer_read():
    assert ask(lambda x, y: x / y, "bias", "a number", lambda _: True, 1, 4) == 0.25
    with pytest.raises(InputError, match=r"`bias` to return 2 or more, got 1 for bias\(3\)"):
        ask(lambda _: 1, "bias", "2 or more", lambda x: x >= 2, 3)
    with pytest.raises(InputTypeError, match=r"`bias` to be a function .* bias\(3\), got one that"):
        ask(dict, "bias", "2 or more", lambda x: x >= 2, 3)
