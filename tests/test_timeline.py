"""Times of every kind come in as exact ticks and go back out as the caller knows them."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from closecall.errors import ClosecallError, InputError, InputTypeError
from closecall.timeline import SAMPLES, Clock, read_times

PARIS = ZoneInfo("Europe/Paris")
NAIVE = [datetime.fromisoformat(f"2024-03-31T0{hour}:30:00") for hour in range(4)]
# Summer time begins in Paris between the first two.
ZONED = [stamp.replace(tzinfo=UTC).astimezone(PARIS) for stamp in NAIVE]
SECONDS = [1711845000, 1711848600, 1711852200, 1711855800]


def message(error, times, name="times"):
    with pytest.raises(error) as caught:
        read_times(times, name)
    return str(caught.value)


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


@pytest.mark.parametrize("unit", ["Y", "M", "ps"])
def test_units_that_are_not_lengths_of_time(unit):
    times = np.array([1], dtype=f"datetime64[{unit}]")
    assert message(InputTypeError, times) == (
        "Expected `times` to be datetimes in a unit from weeks to nanoseconds, "
        f"got datetime64[{unit}].\n\n"
        "Hint: Convert them first, e.g. with `.astype('datetime64[s]')`."
    )


@pytest.mark.parametrize(
    ("times", "got"),
    [
        ([0.0, float("nan")], "nan at index 1"),
        ([0.0, 1.0, float("inf")], "inf at index 2"),
        ([float("-inf"), 1.0], "-inf at index 0"),
        (np.array([0, np.nan], dtype=np.float32), "nan at index 1"),
    ],
)
def test_not_finite(times, got):
    assert message(InputError, times) == f"Expected `times` to be finite, got {got}."


@pytest.mark.parametrize(
    "times",
    [
        np.array(["2024-01-01", "NaT"], dtype="datetime64[s]"),
        [pd.Timestamp("2024-01-01"), pd.NaT],
        [np.datetime64("2024-01-01"), None],
    ],
)
def test_missing_times(times):
    text = message(InputError, times)
    assert text.startswith("Expected `times` to have no missing times, got N")
    assert text.endswith(" at index 1.")


@pytest.mark.parametrize(
    "times", [[NAIVE[0], pd.NA], [0.5, None], [3, None], [ZONED[0], None], [1, pd.NA]]
)
def test_missing_values_of_any_make_are_shown_where_they_are(times):
    with pytest.raises(ClosecallError) as caught:
        read_times(times, "times")
    assert "`times`" in str(caught.value)
    assert "at index 1" in str(caught.value)


KINDS = "Expected `times` to be numbers or datetimes, got "
DIVIDE = "Divide by a unit first, e.g. `times / numpy.timedelta64(1, 's')`."
PARSE = "Parse them first, e.g. `numpy.array(times, dtype='datetime64[s]')`."
ONE_KIND = "Expected `times` to be of one kind, numbers or datetimes, got "
FIT = "\n\nHint: Integers must fit in 64 bits; text must be parsed first."


@pytest.mark.parametrize(
    ("times", "text"),
    [
        (["2024-01-01"], f"{KINDS}<U10.\n\nHint: {PARSE}"),
        (
            [True, False],
            f"{KINDS}bool.\n\nHint: A column of 0/1 is a label vector, not an axis of times.",
        ),
        (np.array([1], dtype="timedelta64[s]"), f"{KINDS}timedelta64[s].\n\nHint: {DIVIDE}"),
        ([1j], f"{KINDS}complex128."),
        ([NAIVE[0], 5], f"{ONE_KIND}5 at index 1.{FIT}"),
        ([NAIVE[0], "2024"], f"{ONE_KIND}'2024' at index 1.{FIT}"),
        ([np.datetime64("2024-01-01"), 5], f"{ONE_KIND}5 at index 1.{FIT}"),
        ([2**64], f"{ONE_KIND}18446744073709551616 at index 0.{FIT}"),
        ([Decimal(1)], f"{ONE_KIND}Decimal('1') at index 0."),
        ([timedelta(1)], f"{ONE_KIND}datetime.timedelta(days=1) at index 0."),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value)[:30],
)
def test_not_times(times, text):
    assert message(InputTypeError, times) == text


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
    text = message(InputTypeError, times)
    assert "`times`" in text
    assert "parse" in text.lower() or "Divide by a unit first" in text


@pytest.mark.parametrize(
    "times",
    [[NAIVE[0], ZONED[1]], [ZONED[0], NAIVE[1]], [np.datetime64("2024-01-01"), ZONED[1]]],
)
def test_zone_on_some_times_only(times):
    assert message(InputTypeError, times) == (
        "Expected `times` to have a time zone everywhere or nowhere, "
        f"got {times[0]} and {times[1]} at index 1.\n\n"
        "Hint: Localise the times without a zone, or convert the others to UTC and drop it."
    )


def test_too_large_for_64_bits():
    assert message(InputError, [2**63]) == (
        "Expected `times` to fit in 64 bits, got 9223372036854775808."
    )


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
    assert "`times`" in message(ClosecallError, times)


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
