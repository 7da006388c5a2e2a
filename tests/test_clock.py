"""Ticks back out as moments and lengths of time, and several arguments on one clock."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from math import inf, nan
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from closecall.clock import SAMPLES, Clock, Timed, on_one_clock, read_times
from closecall.errors import ClosecallError, InputError, InputTypeError
from tests.messages import message

PARIS = ZoneInfo("Europe/Paris")
NUMBERS = Clock("number")
INSTANT = 1704067200  # 2024-01-01 in UTC
DATE, STAMP = datetime.fromisoformat, np.datetime64


@pytest.mark.parametrize(
    ("clock", "tick", "read", "text"),
    [
        (SAMPLES, 2**53 + 1, int, "9007199254740993"),
        (NUMBERS, 0.1, float, "0.1"),
        (Clock("datetime", "s"), INSTANT, DATE, "2024-01-01 00:00:00"),
        (Clock("datetime", "us"), INSTANT * 10**6 + 5, DATE, "2024-01-01 00:00:00.000005"),
        (Clock("datetime", "ns"), INSTANT * 10**9 + 1, STAMP, "2024-01-01 00:00:00.000000001"),
        (Clock("datetime", "ns"), INSTANT * 10**9, STAMP, "2024-01-01 00:00:00"),
        (Clock("datetime", "ms", PARIS), INSTANT * 1000, DATE, "2024-01-01 01:00:00+01:00"),
        (
            Clock("datetime", "ns", PARIS),
            INSTANT * 10**9 + 1,
            pd.Timestamp,
            "2024-01-01 01:00:00.000000001+01:00",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_moments(clock, tick, read, text):
    assert clock.scalar(tick) == read(text)
    assert type(clock.scalar(tick)) is type(read(text))
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
    found = message(InputError, Clock("datetime", "s").scalar, tick)
    assert found == f"Expected times within the years 1 to 9999, got {np.datetime64(tick, 's')}."


def test_native():
    ticks = np.array([INSTANT])
    assert SAMPLES.native(ticks) is ticks
    stamps = Clock("datetime", "s", PARIS).native(ticks)
    assert stamps.dtype == "datetime64[s]"
    assert stamps[0] == np.datetime64("2024-01-01")


@pytest.mark.parametrize(("unit", "factor"), [("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)])
def test_durations_of_datetimes_are_nanoseconds(unit, factor):
    found = Clock("datetime", unit).duration(np.array([3.0, -2.0, nan, inf]))
    assert found.dtype == "timedelta64[ns]"
    assert found[:2].astype(np.int64).tolist() == [3 * factor, -2 * factor]
    assert np.isnat(found).tolist() == [False, False, True, True]


def test_durations_as_fine_as_they_can_be():
    seconds, numbers = Clock("datetime", "s"), np.array([0.5, nan, inf])
    assert NUMBERS.duration(numbers) is numbers
    assert seconds.duration(np.array([0.5]))[0] == np.timedelta64(500, "ms")
    # Beyond 292 years there are no nanoseconds.
    found = seconds.duration(np.array([1e10, nan]))
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


DAY, AWARE = np.datetime64("2024-01-01", "s"), datetime(2024, 1, 1, tzinfo=PARIS)
ONE_AXIS = "`truth` and `span` to be on one kind of time axis"
ONE_ZONE = "`truth` and `span` to have a time zone everywhere or nowhere"
EXACT = "`truth` to be exact beside times that are not integers"
ALIKE = "Give all times as datetimes, or all as numbers."
LOCALISE = "Localise the times without a zone, or convert the others to UTC and drop it."


@pytest.mark.parametrize(
    ("first", "second", "rule", "hint"),
    [
        ([1], [DAY], f"{ONE_AXIS}, got numbers and datetimes", ALIKE),
        ([0.5], [DAY], f"{ONE_AXIS}, got numbers and datetimes", ALIKE),
        ([DAY], [1], f"{ONE_AXIS}, got datetimes and numbers", ALIKE),
        ([DAY.item()], [AWARE], f"{ONE_ZONE}, got zones None and Europe/Paris", LOCALISE),
        ([AWARE], [DAY.item()], f"{ONE_ZONE}, got zones Europe/Paris and None", LOCALISE),
        *(
            (
                [large],
                [0.5],
                f"{EXACT}, got the integer 9007199254740993, which no float holds",
                "Subtract a common origin first, or give all times as integers.",
            )
            for large in (2**53 + 1, -(2**53) - 1)
        ),
        (
            [DAY, np.datetime64("2400-01-01", "s")],
            [np.datetime64(1, "ns")],
            "`truth` to fit the unit 'ns' of the other times, got 2400-01-01 00:00:00",
            "Convert all times to one coarser unit.",
        ),
    ],
)
def test_no_clock_for_both(first, second, rule, hint):
    parts = timed("truth", first), timed("span", second)
    found = message((InputError, InputTypeError), on_one_clock, *parts)
    assert found == f"Expected {rule}.\n\nHint: {hint}"


NAIVE = [datetime.fromisoformat(f"2024-03-31T0{hour}:30:00") for hour in range(4)]
# Summer time begins in Paris between the first two.
ZONED = [stamp.replace(tzinfo=UTC).astimezone(PARIS) for stamp in NAIVE]
SECONDS = [1711845000, 1711848600, 1711852200, 1711855800]


@pytest.mark.parametrize(
    ("times", "ticks"),
    [
        ([1, 2, 4], [1, 2, 4]),
        (range(3, 9, 2), [3, 5, 7]),
        (np.array([1, 9, 2, 9], dtype=np.int16)[::2], [1, 2]),
        (np.array([2**63 - 1], dtype=np.uint64), [2**63 - 1]),
        (np.array([5, 6], dtype=">i8"), [5, 6]),
        ([2**53 + 1, 2**53 + 2], [2**53 + 1, 2**53 + 2]),
        ([-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
        (pd.Series([2**60 + 1, 2**60 + 3], dtype="Int64"), [2**60 + 1, 2**60 + 3]),
        (pl.Series([2**60 + 1, 2**60 + 3]), [2**60 + 1, 2**60 + 3]),
        (pa.chunked_array([[2**60 + 1], [2**60 + 3]]), [2**60 + 1, 2**60 + 3]),
    ],
)
def test_integers(times, ticks):
    found, clock = read_times(times, "times")
    assert clock == SAMPLES
    assert found.dtype == np.int64
    assert found.flags.c_contiguous
    assert found.tolist() == ticks


@pytest.mark.parametrize(
    ("times", "ticks"),
    [
        ([0.5, 2.0], [0.5, 2.0]),
        ([1, 2.5], [1.0, 2.5]),
        (np.array([0.1, 0.2], dtype=np.float32), [float(np.float32(0.1)), float(np.float32(0.2))]),
        (np.arange(6.0).reshape(2, 3).T[:, 1], [3.0, 4.0, 5.0]),
        (np.array([0.5], dtype=">f8"), [0.5]),
        (pl.Series([0.5, 1.5], dtype=pl.Float32), [0.5, 1.5]),
    ],
)
def test_numbers(times, ticks):
    found, clock = read_times(times, "times")
    assert clock == Clock("number")
    assert found.dtype == np.float64
    assert found.tolist() == ticks


naive_makers = {
    "datetimes": list,
    "tuple": tuple,
    "objects": lambda stamps: np.array(stamps, dtype=object),
    "timestamps": lambda stamps: [pd.Timestamp(stamp) for stamp in stamps],
    "numpy stamps": lambda stamps: [np.datetime64(stamp, "ms") for stamp in stamps],
    "strided": lambda stamps: np.repeat(np.array(stamps, dtype="datetime64[us]"), 2)[::2],
    "big-endian": lambda stamps: np.array(stamps, dtype=">M8[us]"),
    "multiples": lambda stamps: np.array(stamps, dtype="datetime64[us]").astype("datetime64[30m]"),
    "index": pd.DatetimeIndex,
    "series": pd.Series,
    "series in s": lambda stamps: pd.Series(stamps).dt.as_unit("s"),
    "series in ns": lambda stamps: pd.Series(stamps).dt.as_unit("ns"),
    "series of objects": lambda stamps: pd.Series(stamps, dtype=object),
    "polars ms": lambda stamps: pl.Series(stamps).cast(pl.Datetime("ms")),
    "polars ns": lambda stamps: pl.Series(stamps).cast(pl.Datetime("ns")),
    "arrow": lambda stamps: pa.array(stamps, pa.timestamp("s")),
    "arrow chunks": lambda stamps: pa.chunked_array([pa.array(stamps, pa.timestamp("ns"))]),
}


@pytest.mark.parametrize("make", naive_makers.values(), ids=naive_makers)
def test_datetimes_without_a_zone(make):
    ticks, clock = read_times(make(NAIVE), "times")
    assert clock.kind == "datetime"
    assert clock.tz is None
    assert (clock.native(ticks).astype("datetime64[s]").astype(np.int64)).tolist() == SECONDS


zoned_makers = {
    "datetimes": list,
    "timestamps": lambda stamps: [pd.Timestamp(stamp) for stamp in stamps],
    "index": pd.DatetimeIndex,
    "series": pd.Series,
    "series of objects": lambda stamps: pd.Series(stamps, dtype=object),
    "polars": lambda stamps: pl.Series(stamps, dtype=pl.Datetime("us", "Europe/Paris")),
    "arrow": lambda stamps: pa.array(stamps, pa.timestamp("us", "Europe/Paris")),
    "chunks": lambda stamps: pa.chunked_array([pa.array(stamps, pa.timestamp("s", str(PARIS)))]),
}


@pytest.mark.parametrize("make", zoned_makers.values(), ids=zoned_makers)
def test_datetimes_with_a_zone(make):
    ticks, clock = read_times(make(ZONED), "times")
    assert (clock.native(ticks).astype("datetime64[s]").astype(np.int64)).tolist() == SECONDS
    assert str(clock.tz) == "Europe/Paris"
    assert [str(clock.scalar(tick)) for tick in ticks.tolist()] == [
        "2024-03-31 01:30:00+01:00",
        "2024-03-31 03:30:00+02:00",
        "2024-03-31 04:30:00+02:00",
        "2024-03-31 05:30:00+02:00",
    ]


def test_both_sides_of_the_hour_that_repeats():
    once = datetime(2024, 10, 27, 2, 30, tzinfo=PARIS)
    ticks, clock = read_times([once, once.replace(fold=1)], "times")
    assert np.diff(clock.native(ticks)) == np.timedelta64(1, "h")


def test_offsets_may_differ_and_the_first_is_kept():
    winter, summer = timezone(timedelta(hours=1)), timezone(timedelta(hours=2))
    ticks, clock = read_times([ZONED[0].astimezone(winter), ZONED[1].astimezone(summer)], "times")
    assert np.diff(clock.native(ticks)) == np.timedelta64(1, "h")
    assert clock.tz == winter


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_every_unit(unit):
    stamps = np.array(["2024-01-04", "2024-01-11"], dtype=f"datetime64[{unit}]")
    ticks, clock = read_times(stamps, "times")
    np.testing.assert_array_equal(clock.native(ticks), stamps)


def test_dates():
    ticks, clock = read_times([date(2024, 1, 1), date(2024, 1, 2)], "times")
    assert clock.native(ticks).tolist() == [
        datetime.fromisoformat("2024-01-01"),
        datetime.fromisoformat("2024-01-02"),
    ]


def test_mixed_units_in_a_list_keep_every_digit():
    times = [np.datetime64("2024-01-01"), pd.Timestamp("2024-01-01T00:00:00.000000001")]
    ticks, clock = read_times(times, "times")
    assert clock.unit == "ns"
    assert ticks.tolist() == [1704067200000000000, 1704067200000000001]


@pytest.mark.parametrize(
    "times", [[NAIVE[0], pd.NA], [0.5, None], [3, None], [ZONED[0], None], [1, pd.NA]]
)
def test_missing_values_of_any_make_are_shown_where_they_are(times):
    found = message(ClosecallError, read_times, times, "times")
    assert "`times`" in found
    assert "at index 1" in found


KINDS, ONE_KIND = "to be numbers or datetimes", "to be of one kind, numbers or datetimes"
DIVIDE = "Divide by a unit first, e.g. `times / numpy.timedelta64(1, 's')`."
PARSE = "Parse them first, e.g. `numpy.array(times, dtype='datetime64[s]')`."
LABELS = "A column of 0/1 is a label vector, not an axis of times."
FIT = "Integers must fit in 64 bits; text must be parsed first."
UNIT = "to be datetimes in a unit from weeks to nanoseconds"
CONVERT = "Convert them first, e.g. with `.astype('datetime64[s]')`."
GONE, ONCE = "to have no missing times", "to have a time zone everywhere or nowhere"


@pytest.mark.parametrize(
    ("times", "rule", "got", "hint"),
    [
        *(
            (np.array([1], dtype=f"M8[{unit}]"), UNIT, f"datetime64[{unit}]", CONVERT)
            for unit in ("Y", "M", "ps")
        ),
        ([0.0, nan], "to be finite", "nan at index 1", ""),
        ([0.0, 1.0, inf], "to be finite", "inf at index 2", ""),
        ([-inf, 1.0], "to be finite", "-inf at index 0", ""),
        (np.array([0, np.nan], dtype=np.float32), "to be finite", "nan at index 1", ""),
        (np.array(["2024-01-01", "NaT"], dtype="M8[s]"), GONE, "NaT at index 1", ""),
        ([pd.Timestamp("2024-01-01"), pd.NaT], GONE, "NaT at index 1", ""),
        ([np.datetime64("2024-01-01"), None], GONE, "None at index 1", ""),
        (["2024-01-01"], KINDS, "<U10", PARSE),
        ([True, False], KINDS, "bool", LABELS),
        (np.array([1], dtype="timedelta64[s]"), KINDS, "timedelta64[s]", DIVIDE),
        ([1j], KINDS, "complex128", ""),
        ([NAIVE[0], 5], ONE_KIND, "5 at index 1", FIT),
        ([NAIVE[0], "2024"], ONE_KIND, "'2024' at index 1", FIT),
        ([np.datetime64("2024-01-01"), 5], ONE_KIND, "5 at index 1", FIT),
        ([2**64], ONE_KIND, "18446744073709551616 at index 0", FIT),
        ([Decimal(1)], ONE_KIND, "Decimal('1') at index 0", ""),
        ([timedelta(1)], ONE_KIND, "datetime.timedelta(days=1) at index 0", ""),
        *(
            (times, ONCE, f"{times[0]} and {times[1]} at index 1", LOCALISE)
            for times in ([NAIVE[0], ZONED[1]], [ZONED[0], NAIVE[1]], [DAY, ZONED[1]])
        ),
        ([2**63], "to fit in 64 bits", "9223372036854775808", ""),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value)[:30],
)
def test_not_times(times, rule, got, hint):
    found = message((InputError, InputTypeError), read_times, times, "times")
    assert found == f"Expected `times` {rule}, got {got}." + (f"\n\nHint: {hint}" if hint else "")


@pytest.mark.parametrize(
    "times",
    [
        pd.Series(["2024"]),
        pl.Series(["2024"]),
        pd.Series([timedelta(1)]),
        pl.Series([timedelta(1)]),
    ],
    ids=["pandas text", "polars text", "pandas timedelta", "polars timedelta"],
)
def test_text_and_lengths_of_time_in_dataframe_columns(times):
    text = message(InputTypeError, read_times, times, "times")
    assert "`times`" in text
    assert "parse" in text.lower() or "Divide by a unit first" in text


@pytest.mark.parametrize(
    "times",
    [
        [-1, 2**63],
        [2**60 + 1, 2**61 + 0.5],
        np.array([0, 2**58], dtype="datetime64[D]"),
        [pd.Timestamp("2024-01-01T00:00:00.000000001"), datetime(9999, 1, 1)],  # noqa: DTZ001
        [np.datetime64("2024-01-01", "ns"), np.datetime64("9999-01-01", "s")],
    ],
    ids=["int and uint", "int and float", "days to seconds", "us to ns", "s to ns"],
)
def test_what_would_be_rounded_or_wrap_around_is_refused(times):
    assert "`times`" in message(ClosecallError, read_times, times, "times")


def test_a_long_float_is_not_rounded_silently():
    if np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        pytest.skip("long double is no longer than double here")
    apart = np.array([1, np.nextafter(np.longdouble(1), 2)], dtype=np.longdouble)
    with pytest.raises(ClosecallError):
        read_times(apart, "times")


@pytest.mark.parametrize("empty", [[], (), np.zeros(0), pd.Series([], dtype="datetime64[ns]")])
def test_empty(empty):
    ticks, _ = read_times(empty, "times")
    assert ticks.size == 0
