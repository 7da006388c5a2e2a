"""Ticks back out as moments and lengths of time, and several arguments on one clock."""

from datetime import UTC, datetime, timedelta
from math import inf, nan
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.timeline import SAMPLES, Clock, Timed, on_one_clock, read_times

PARIS = ZoneInfo("Europe/Paris")
NUMBERS = Clock("number")
INSTANT = 1704067200  # 2024-01-01 in UTC


@pytest.mark.parametrize(
    ("clock", "tick", "moment", "text"),
    [
        (SAMPLES, 2**53 + 1, 2**53 + 1, "9007199254740993"),
        (NUMBERS, 0.1, 0.1, "0.1"),
        (
            Clock("datetime", "s"),
            INSTANT,
            datetime.fromisoformat("2024-01-01"),
            "2024-01-01 00:00:00",
        ),
        (
            Clock("datetime", "us"),
            INSTANT * 10**6 + 5,
            datetime.fromisoformat("2024-01-01T00:00:00.000005"),
            "2024-01-01 00:00:00.000005",
        ),
        (
            Clock("datetime", "ns"),
            INSTANT * 10**9 + 1,
            np.datetime64("2024-01-01T00:00:00.000000001"),
            "2024-01-01 00:00:00.000000001",
        ),
        (
            Clock("datetime", "ns"),
            INSTANT * 10**9,
            np.datetime64("2024-01-01T00:00:00"),
            "2024-01-01 00:00:00",
        ),
        (
            Clock("datetime", "ms", PARIS),
            INSTANT * 1000,
            datetime(2024, 1, 1, 1, tzinfo=PARIS),
            "2024-01-01 01:00:00+01:00",
        ),
        (
            Clock("datetime", "ns", PARIS),
            INSTANT * 10**9 + 1,
            pd.Timestamp("2024-01-01T01:00:00.000000001", tz="Europe/Paris"),
            "2024-01-01 01:00:00.000000001+01:00",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_moments(clock, tick, moment, text):
    assert clock.scalar(tick) == moment
    assert type(clock.scalar(tick)) is type(moment)
    assert clock.text(tick) == text


def test_zoned_nanoseconds_need_no_pandas(monkeypatch):
    # polars and arrow columns carry them too.
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    text = Clock("datetime", "ns", UTC).text(INSTANT * 10**9 + 1)
    assert text == "2024-01-01 00:00:00.000000001+00:00"


@pytest.mark.parametrize("tick", [568971820800, -99999999999, 2**60])
def test_years_beyond_a_datetime_are_written_all_the_same(tick):
    stamp = np.datetime64(tick, "s")
    assert Clock("datetime", "s").text(tick) == str(stamp).replace("T", " ")


@pytest.mark.parametrize("tick", [568971820800, 2**60])
def test_years_beyond_a_datetime_are_refused_as_datetimes(tick):
    with pytest.raises(InputError) as caught:
        Clock("datetime", "s").scalar(tick)
    stamp = np.datetime64(tick, "s")
    assert str(caught.value) == f"Expected times within the years 1 to 9999, got {stamp}."


def test_native():
    ticks = np.array([INSTANT])
    assert SAMPLES.native(ticks) is ticks
    stamps = Clock("datetime", "s", PARIS).native(ticks)
    assert stamps.dtype == "datetime64[s]"
    assert stamps[0] == np.datetime64("2024-01-01")


def test_durations_of_numbers_are_left_alone():
    lengths = np.array([0.5, nan, inf])
    assert NUMBERS.duration(lengths) is lengths


@pytest.mark.parametrize(("unit", "factor"), [("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)])
def test_durations_of_datetimes_are_nanoseconds(unit, factor):
    found = Clock("datetime", unit).duration(np.array([3.0, -2.0, nan, inf]))
    assert found.dtype == "timedelta64[ns]"
    assert found[:2].astype(np.int64).tolist() == [3 * factor, -2 * factor]
    assert np.isnat(found).tolist() == [False, False, True, True]


def test_half_a_tick_is_kept_where_nanoseconds_can_hold_it():
    assert Clock("datetime", "s").duration(np.array([0.5]))[0] == np.timedelta64(500, "ms")


def test_durations_beyond_292_years_stay_in_their_unit():
    found = Clock("datetime", "s").duration(np.array([1e10, nan]))
    assert found.dtype == "timedelta64[s]"
    assert found[0] == np.timedelta64(10**10, "s")
    assert np.isnat(found[1])


@pytest.mark.parametrize(("unit", "seconds"), [("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)])
def test_seconds_in_a_tick(unit, seconds):
    assert Clock("datetime", unit).seconds == seconds


def timed(name, times):
    return Timed(name, *read_times(times, name))


def test_units_are_promoted_exactly():
    (days, nanos), clock = on_one_clock(
        timed("truth", np.array(["2024-01-01"], dtype="datetime64[D]")),
        timed("span", np.array(["2024-01-01T00:00:00.000000001"], dtype="datetime64[ns]")),
    )
    assert clock == Clock("datetime", "ns")
    assert (days.tolist(), nanos.tolist()) == ([INSTANT * 10**9], [INSTANT * 10**9 + 1])


def test_integers_become_numbers_beside_numbers():
    (whole, halves), clock = on_one_clock(timed("truth", [2**53]), timed("span", [0.5]))
    assert clock == NUMBERS
    assert (whole.tolist(), halves.tolist()) == ([2.0**53], [0.5])
    assert whole.dtype == halves.dtype == np.float64


def test_zones_may_differ_and_the_first_is_kept():
    paris = datetime(2024, 1, 1, 1, tzinfo=PARIS)
    (first, second), clock = on_one_clock(
        timed("truth", [paris]), timed("span", [paris.astimezone(UTC)])
    )
    assert first.tolist() == second.tolist()
    assert clock.tz == PARIS


@pytest.mark.parametrize("other", [[1], [0.5], [datetime(2024, 1, 1, tzinfo=PARIS)]])
def test_nothing_fits_any_clock(other):
    (nothing, ticks), clock = on_one_clock(timed("predicted", []), timed("truth", other))
    assert nothing.size == 0
    assert nothing.dtype == ticks.dtype
    assert clock == read_times(other, "truth")[1]


def test_nothing_at_all():
    (one, other), clock = on_one_clock(timed("truth", []), timed("predicted", []))
    assert (one.size, other.size, clock) == (0, 0, SAMPLES)


def refusal(error, first, second):
    with pytest.raises(error) as caught:
        on_one_clock(timed("truth", first), timed("span", second))
    return str(caught.value)


STAMP = np.datetime64("2024-01-01", "s")


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        ([1], [STAMP], "numbers and datetimes"),
        ([0.5], [STAMP], "numbers and datetimes"),
        ([STAMP], [1], "datetimes and numbers"),
    ],
)
def test_numbers_beside_datetimes(first, second, kinds):
    assert refusal(InputTypeError, first, second) == (
        f"Expected `truth` and `span` to be on one kind of time axis, got {kinds}.\n\n"
        "Hint: Give all times as datetimes, or all as numbers."
    )


@pytest.mark.parametrize("zoned_first", [True, False])
def test_naive_beside_aware(zoned_first):
    sides = [[STAMP.item()], [datetime(2024, 1, 1, tzinfo=PARIS)]]
    zones = ["None", "Europe/Paris"]
    if zoned_first:
        sides, zones = sides[::-1], zones[::-1]
    assert refusal(InputTypeError, *sides) == (
        "Expected `truth` and `span` to have a time zone everywhere or nowhere, "
        f"got zones {zones[0]} and {zones[1]}.\n\n"
        "Hint: Localise the times without a zone, or convert the others to UTC and drop it."
    )


@pytest.mark.parametrize("large", [2**53 + 1, -(2**53) - 1])
def test_an_integer_that_no_float_holds(large):
    assert refusal(InputTypeError, [large], [0.5]) == (
        "Expected `truth` to be exact beside times that are not integers, "
        "got the integer 9007199254740993, which no float holds.\n\n"
        "Hint: Subtract a common origin first, or give all times as integers."
    )


def test_a_date_beyond_nanoseconds():
    far = [np.datetime64("2024-01-01", "s"), np.datetime64("2400-01-01", "s")]
    assert refusal(InputError, far, [np.datetime64(1, "ns")]) == (
        "Expected `truth` to fit the unit 'ns' of the other times, got 2400-01-01 00:00:00.\n\n"
        "Hint: Convert all times to one coarser unit."
    )


def test_a_time_difference_is_no_zone_problem():
    later = datetime(2024, 1, 1, 1, tzinfo=PARIS) + timedelta(hours=1)
    (first, second), _ = on_one_clock(
        timed("truth", [pd.Timestamp(later)]), timed("span", [later.astimezone(UTC)])
    )
    assert first.tolist() == second.tolist()
