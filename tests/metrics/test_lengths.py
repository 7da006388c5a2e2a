"""Lengths of time as parameters: numbers beside numbers, timedeltas beside datetimes."""

from datetime import timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from closecall.clock import Clock
from closecall.errors import InputError, InputTypeError
from closecall.metrics.lengths import read_length

SAMPLES, NUMBERS = Clock("integer"), Clock("number")
SECONDS, NANOSECONDS = Clock("datetime", "s"), Clock("datetime", "ns")


@pytest.mark.parametrize("clock", [SAMPLES, NUMBERS])
@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), Fraction(3)])
def test_numbers_beside_numbers(clock, value):
    assert read_length(value, clock, "margin") == 3.0


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
    assert read_length(value, NANOSECONDS, "margin") == nanoseconds


def test_ticks_may_be_parts_of_a_coarse_clock():
    assert read_length(timedelta(milliseconds=1500), SECONDS, "margin") == 1.5


@pytest.mark.parametrize("value", [timedelta(seconds=1), np.timedelta64(1, "s")])
@pytest.mark.parametrize("clock", [SAMPLES, NUMBERS])
def test_a_timedelta_beside_numbers_is_refused(value, clock):
    with pytest.raises(InputTypeError, match="`delta` to be a finite number of 0 or more"):
        read_length(value, clock, "delta")


@pytest.mark.parametrize("value", [1, 0.5, np.int64(3)])
def test_a_number_beside_datetimes_is_refused(value):
    with pytest.raises(InputTypeError, match=r"(?s)`delta` to be a timedelta.*timedelta\(minutes"):
        read_length(value, SECONDS, "delta")


@pytest.mark.parametrize("value", ["3", None, True, np.bool_(True), [3], 1j])
@pytest.mark.parametrize(("clock", "kind"), [(SAMPLES, "finite number"), (SECONDS, "timedelta")])
def test_other_things_are_refused(value, clock, kind):
    with pytest.raises(InputTypeError, match=f"`delta` to be a {kind} of 0 or more"):
        read_length(value, clock, "delta")


def test_a_number_that_no_float_can_hold_is_refused():
    rule = "`delta` to be a finite number of 0 or more, got a number of more than 30 digits"
    for value in (10**400, 10**5000):
        with pytest.raises(InputError, match=rule):
            read_length(value, SAMPLES, "delta")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_lengths_are_finite(value):
    with pytest.raises(
        InputError, match=r"`delta` to be a finite number of 0 or more, got -?(nan|inf)"
    ):
        read_length(value, NUMBERS, "delta")


def test_nat_is_refused():
    with pytest.raises(InputError, match="`delta` to be a length of time of 0 or more, got NaT"):
        read_length(np.timedelta64("NaT", "s"), SECONDS, "delta")


@pytest.mark.parametrize("value", [np.timedelta64(1, "M"), np.timedelta64(1, "Y")])
def test_units_without_a_fixed_length_are_refused(value):
    with pytest.raises(InputError, match="unit of fixed length"):
        read_length(value, SECONDS, "delta")


@pytest.mark.parametrize(
    ("value", "clock", "least", "rule"),
    [
        (-1, SAMPLES, 0, "`delta` to be a finite number of 0 or more, got -1"),
        (-0.5, NUMBERS, 0, "`delta` to be a finite number of 0 or more, got -0.5"),
        (0, SAMPLES, 1, "`delta` to be a finite number of 1 or more, got 0"),
        (timedelta(seconds=-1), SECONDS, 0, "`delta` to be a timedelta of 0 or more"),
        (timedelta(seconds=1), SECONDS, 2, "`delta` to be a timedelta of 2 s or more"),
    ],
)
def test_lengths_below_the_least_are_refused(value, clock, least, rule):
    with pytest.raises(InputError, match=rule):
        read_length(value, clock, "delta", at_least=least)


def test_the_least_itself_is_allowed():
    assert read_length(2, SAMPLES, "delta", at_least=2) == 2.0
