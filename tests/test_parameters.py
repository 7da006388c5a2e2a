"""Options that are numbers, counts and durations: what is read, and how the rest is refused."""

from datetime import timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from closecall.clock import Clock
from closecall.errors import InputError, InputTypeError
from closecall.parameters import (
    call_option,
    is_number,
    read_amount,
    read_duration,
    read_fraction,
    read_number,
    require_count,
    shown,
)
from tests.messages import message


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
    rule = "a number below 3", lambda x: x < 3, "Take 2."
    found = message(InputError, read_number, 3, "q", *rule)
    assert found == "Expected `q` to be a number below 3, got 3.\n\nHint: Take 2."


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids=["400", "-400", "5000"])
def test_what_no_float_can_hold(value):
    with pytest.raises(InputError, match="got a number of more than 30 digits"):
        read_amount(value, "weight")


def test_values_that_cannot_be_written():
    assert shown([10**5000]) == "a list"
    assert shown("x" * 200) == "'" + 79 * "x"


def test_a_function_is_asked_and_its_answer_read():
    assert call_option(lambda x, y: x / y, "bias", "a number", lambda _: True, 1, 4) == 0.25
    with pytest.raises(InputError, match=r"`bias` to return 2 or more, got 1 for bias\(3\)"):
        call_option(lambda _: 1, "bias", "2 or more", lambda x: x >= 2, 3)
    with pytest.raises(InputTypeError, match=r"`bias` to be a function .* bias\(3\), got one that"):
        call_option(dict, "bias", "2 or more", lambda x: x >= 2, 3)


def test_whole_numbers_of_any_make_pass():
    for value in (3, np.int8(3), np.uint64(2**63)):
        require_count(value, "n", 3)


@pytest.mark.parametrize(
    ("value", "error", "rule"),
    [
        *((value, InputTypeError, f"a whole number, got {value!r}") for value in (True, 3.0, "3")),
        (None, InputTypeError, "a whole number, got None"),
        (2, InputError, "3 or more, got 2"),
        (6, InputError, "at most 5, got 6"),
        (10**12, InputError, "at most 5, got 1000000000000"),
        pytest.param(
            10**5000, InputError, "at most 5, got a number of more than 30 digits", id="digits"
        ),
    ],
)
def test_what_is_no_count(value, error, rule):
    require_count(5, "n", 3, 5)
    assert message(error, require_count, value, "n", 3, 5) == f"Expected `n` to be {rule}."


SAMPLES, NUMBERS = Clock("integer"), Clock("number")
SECONDS, NANOSECONDS = Clock("datetime", "s"), Clock("datetime", "ns")
OTHERS = ["3", None, True, np.bool_(True), [3], 1j]


@pytest.mark.parametrize("clock", [SAMPLES, NUMBERS])
@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), Fraction(3)])
def test_numbers_beside_numbers(clock, value):
    assert read_duration(value, clock, "margin") == 3.0


@pytest.mark.parametrize(
    ("value", "nanoseconds"),
    [
        (timedelta(days=200, microseconds=1), 17_280_000_000_001_000),
        (timedelta(milliseconds=300), 300_000_000),
        (pd.Timedelta("5min 1ns"), 300_000_000_001),
        (np.timedelta64(2, "W"), 1_209_600_000_000_000),
        (np.timedelta64(3, "h"), 10_800_000_000_000),
        (np.timedelta64(7, "ns"), 7),
        (np.timedelta64(500, "ps"), 0.5),
        (np.timedelta64(3, ("s", 25)), 75_000_000_000),
        (0, 0),
    ],
)
def test_timedeltas_beside_datetimes_are_exact(value, nanoseconds):
    assert read_duration(value, NANOSECONDS, "margin") == nanoseconds


def test_ticks_may_be_parts_of_a_coarse_clock():
    assert read_duration(timedelta(milliseconds=1500), SECONDS, "margin") == 1.5


@pytest.mark.parametrize(
    ("values", "clock", "error", "rule"),
    [
        ([timedelta(seconds=1), np.timedelta64(1, "s")], SAMPLES, InputTypeError, "a finite"),
        ([timedelta(seconds=1), np.timedelta64(1, "s")], NUMBERS, InputTypeError, "a finite"),
        ([1, 0.5, np.int64(3)], SECONDS, InputTypeError, "a timedelta of 0 or more"),
        (OTHERS, SAMPLES, InputTypeError, "a finite number of 0 or more, got"),
        (OTHERS, SECONDS, InputTypeError, "a timedelta of 0 or more, got"),
        ([10**400, 10**5000], SAMPLES, InputError, "a finite .* a number of more than 30 digits"),
        ([float("nan")], NUMBERS, InputError, "a finite number of 0 or more, got nan"),
        ([float("inf")], NUMBERS, InputError, "a finite number of 0 or more, got inf"),
        ([-float("inf")], NUMBERS, InputError, "a finite number of 0 or more, got -inf"),
        ([np.timedelta64("NaT", "s")], SECONDS, InputError, "a length .* 0 or more, got NaT"),
        ([-1], SAMPLES, InputError, "a finite number of 0 or more, got -1"),
        ([-0.5], NUMBERS, InputError, "a finite number of 0 or more, got -0.5"),
        ([timedelta(seconds=-1)], SECONDS, InputError, "a timedelta of 0 or more"),
    ],
)
def test_what_is_no_duration(values, clock, error, rule):
    for value in values:
        with pytest.raises(error, match=f"`delta` to be {rule}"):
            read_duration(value, clock, "delta")


@pytest.mark.parametrize("unit", ["M", "Y"])
def test_units_without_a_fixed_length_are_refused(unit):
    with pytest.raises(InputError, match="unit of fixed length"):
        read_duration(np.timedelta64(1, unit), SECONDS, "delta")


def test_the_hint_says_what_to_pass():
    with pytest.raises(InputTypeError, match=r"The times are datetimes; .*timedelta\(minutes=5\)"):
        read_duration(1, SECONDS, "delta")
