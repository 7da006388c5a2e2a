"""Where samples start and stop: even and uneven axes, and `end`."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.axis import read_axis
from closecall.errors import InputError, InputTypeError
from tests.messages import message

PARIS = ZoneInfo("Europe/Paris")


def end_of(times, end=None):
    return read_axis(len(times), times, end, of="labels").end


def refusal(error, times, end=None, length=None):
    size = len(times) if length is None else length
    return message(error, read_axis, size, times, end, of="labels")


def test_sample_numbers():
    axis = read_axis(5, None, None, of="labels")
    assert (axis.start, axis.end) == (0, 5)
    assert axis.borders(np.array([0, 3, 5])).tolist() == [0, 3, 5]
    assert axis.lengths().tolist() == [1, 1, 1, 1, 1]


def test_how_long_samples_are():
    assert read_axis(3, [0, 4, 5], 9, of="labels").lengths().tolist() == [4, 1, 4]
    assert read_axis(2, [0.5, 1.0], 1.25, of="labels").lengths().tolist() == [0.5, 0.25]
    days = np.array(["2024-01-01", "2024-01-03"], dtype="datetime64[D]")
    seconds = read_axis(2, days, np.datetime64("2024-01-04"), of="labels").lengths()
    assert seconds.tolist() == [2 * 86_400, 86_400]


def test_sample_numbers_with_an_end():
    assert cc.Events.from_labels([0, 1, 1], end=7) == cc.Events([(1, 7)])
    assert list(cc.Events.from_labels([1, 0, 1], end=2.5)) == [(0.0, 1.0), (2.0, 2.5)]


def test_borders_on_given_times():
    axis = read_axis(3, [10, 20, 30], None, of="labels")
    assert (axis.start, axis.end) == (10, 40)
    assert axis.borders(np.array([0, 2, 3])).tolist() == [10, 30, 40]


def test_the_callers_times_are_not_written_to():
    times = np.array([10, 20, 30])
    cc.Events.from_labels([0, 0, 1], times=times)
    assert times.tolist() == [10, 20, 30]


@pytest.mark.parametrize(
    ("times", "end"),
    [
        ([0, 1, 2], 3),
        ([5, 3 + 5], 11),
        (np.arange(4, dtype=np.uint8) * 85, 340),
        ([2**60 + 1, 2**60 + 3], 2**60 + 5),
        ([-4, -2], 0),
        ([0.0, 0.5, 1.0], 1.5),
    ],
)
def test_even(times, end):
    assert end_of(times) == end


@pytest.mark.parametrize("count", [2, 3, 10, 1000, 100_000])
@pytest.mark.parametrize("step", [0.1, 1 / 3, 0.7, 1e-3, 1e-9, 3600.1])
@pytest.mark.parametrize("origin", [0.0, -7.3])
def test_even_up_to_rounding(count, step, origin):
    products = origin + step * np.arange(count)
    assert end_of(products) == pytest.approx(origin + step * count, rel=1e-9, abs=1e-12)
    sums = np.cumsum(np.full(count, step)) + origin
    assert end_of(sums) == pytest.approx(origin + step * (count + 1), rel=1e-9, abs=1e-12)
    assert end_of(np.linspace(origin, origin + step, count)) > origin + step


def test_even_far_from_zero_and_in_a_short_float():
    assert end_of(1.7e9 + 0.1 * np.arange(50)) == pytest.approx(1.7e9 + 5, abs=1e-5)
    # 0.1 i rounded to a short float is as even as it can be.
    times = (0.1 * np.arange(12)).astype(np.float32)
    assert end_of(times) == pytest.approx(1.2, rel=1e-6)


@pytest.mark.parametrize("jitter", [1e-3, 1e-6, 1e-8])
def test_slightly_jittered(jitter):
    times = 0.1 * np.arange(20)
    times[7] += 0.1 * jitter
    assert refusal(InputError, times).startswith("Expected `end` for unevenly spaced times")


@pytest.mark.parametrize(
    ("origin", "ulps", "even"),
    [(2.0**40, 8, True), (2.0**40, 9, False), (2.0**50, 1, True), (2.0**50, 2, False)],
)
def test_how_much_is_rounding(origin, ulps, even):
    """Eight units in the last place are rounding, and at most a quarter of the step."""
    times = origin + np.arange(20.0)
    times[7] += ulps * np.spacing(origin)
    if even:
        assert read_axis(20, times, None, of="labels").end == origin + 20
    else:
        assert "unevenly spaced" in refusal(InputError, times)


@pytest.mark.parametrize("origin", [1.7e18, 2.0**60])
def test_uneven_however_far_from_zero(origin):
    # The second step is nine times the first; both are exact floats.
    ulp = np.spacing(origin)
    assert "unevenly spaced" in refusal(InputError, [origin, origin + ulp, origin + 10 * ulp])


@given(st.integers(0, 2**40), st.integers(1, 2**20), st.integers(2, 50))
def test_one_tick_off_is_uneven(origin, step, count):
    times = origin + step * np.arange(count + 1)
    assert end_of(times) == origin + step * (count + 1)
    times[-1] += 1
    assert "unevenly spaced" in refusal(InputError, times)


STAMPS = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[D]")


def test_even_days():
    axis = read_axis(3, STAMPS, None, of="labels")
    assert axis.clock.text(axis.end) == "2024-01-04 00:00:00"


def test_days_across_summer_time_are_uneven_hours():
    days = pd.date_range("2024-03-30", periods=3, freq="D", tz="Europe/Paris")
    assert "unevenly spaced" in refusal(InputError, days)
    hours = pd.date_range("2024-03-30", periods=48, freq="h", tz="Europe/Paris")
    axis = read_axis(48, hours, None, of="labels")
    assert axis.clock.text(axis.end) == "2024-04-01 01:00:00+02:00"


@pytest.mark.parametrize(
    ("times", "suggested"),
    [([0, 1, 3, 4], 5), ([0, 10, 11, 12], 13), ([0.0, 0.5, 2.0, 2.5], 3.0), ([0, 1, 4], 7)],
)
def test_missing_end_suggests_the_median_step(times, suggested):
    assert refusal(InputError, times) == (
        "Expected `end` for unevenly spaced times, got none.\n\n"
        f"Hint: The last sample stops at `end`; `end={suggested}` would give it the median step."
    )
    assert end_of(times, suggested) == suggested


@pytest.mark.parametrize(
    "times",
    [
        STAMPS[[0, 1, 1]] + np.array([0, 0, 5], dtype="timedelta64[D]"),
        [datetime.fromisoformat(f"2024-01-0{day}T00:00:00.5") for day in (1, 2, 6)],
        [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 6)],
        [datetime(2024, 1, day, tzinfo=PARIS) for day in (1, 2, 6)],
        np.array([0, 1, 5], dtype="datetime64[ns]"),
    ],
    ids=["numpy", "naive", "utc", "paris", "nanoseconds"],
)
def test_the_end_suggested_for_datetimes_is_accepted(times):
    text = refusal(InputError, times)
    suggested = re.search(r"`end=(.+?)` would give", text).group(1)
    names = {"np": np, "numpy": np, "datetime": datetime, "pd": pd, "pandas": pd}
    end = eval(suggested, names)  # noqa: S307 - a literal from our own message
    axis = read_axis(3, times, end, of="labels")
    assert axis.end - axis.ticks[-1] == np.sort(np.diff(axis.ticks))[1]


def test_one_sample_needs_an_end():
    assert refusal(InputError, [7]) == (
        "Expected `end` for a series of one sample, got none.\n\n"
        "Hint: Pass `end=`, the time after 7 where it stops."
    )
    assert end_of([7], 9) == 9
    assert read_axis(1, None, None, of="labels").end == 1


@pytest.mark.parametrize(
    ("times", "end", "last", "got"),
    [
        ([0, 1, 2], 2, "2", "2"),
        ([0, 1, 2], 1.5, "2.0", "1.5"),
        ([0.0, 0.5], -1, "0.5", "-1.0"),
        (STAMPS, STAMPS[1], "2024-01-03 00:00:00", "2024-01-02 00:00:00"),
    ],
)
def test_end_before_the_last_time(times, end, last, got):
    assert refusal(InputError, times, end) == (
        f"Expected `end` to lie after the last time {last}, got {got}.\n\n"
        "Hint: `end` is where the last sample stops, the time the next one would have."
    )


def test_end_in_a_finer_unit():
    axis = read_axis(3, STAMPS, np.datetime64("2024-01-03T00:00:00.000000001"), of="labels")
    assert axis.end - axis.ticks[-1] == 1
    assert axis.clock.unit == "ns"


@pytest.mark.parametrize(
    ("end", "error", "rule"),
    [
        (float("nan"), InputError, "Expected `end` to be finite, got nan at index 0."),
        (STAMPS[0], InputTypeError, "Expected `times` and `end` to be on one kind of time axis"),
        ("3", InputTypeError, "Expected `end` to be numbers or datetimes, got <U1."),
        (True, InputTypeError, "Expected `end` to be numbers or datetimes, got bool."),
        ([3], InputTypeError, "Expected `end` to be one-dimensional, got an array of shape (1, 1)"),
    ],
)
def test_wrong_end(end, error, rule):
    assert refusal(error, [0, 1, 2], end).startswith(rule)


def test_naive_end_beside_aware_times():
    times = [datetime(2024, 1, day, tzinfo=PARIS) for day in (1, 2)]
    assert refusal(InputTypeError, times, times[1].replace(tzinfo=None) + timedelta(1)).startswith(
        "Expected `times` and `end` to have a time zone everywhere or nowhere"
    )


def test_length_mismatch():
    assert refusal(InputError, [0, 1, 2], length=4) == (
        "Expected `times` to have one time for each of the 4 labels, got 3."
    )


SORT = "Sort the samples by time first."
DROP = "Drop or aggregate repeated times first."


@pytest.mark.parametrize(
    ("times", "got", "hint"),
    [
        ([0, 2, 1, 0], "1 after 2 at index 2", SORT),
        ([0.5, 0.5], "0.5 after 0.5 at index 1", DROP),
        ([3, 3, 1], "3 after 3 at index 1", DROP),
        (STAMPS[[0, 2, 1]], "2024-01-02 00:00:00 after 2024-01-03 00:00:00 at index 2", SORT),
        (
            [datetime(2024, 1, 1, tzinfo=PARIS)] * 2,
            "2024-01-01 00:00:00+01:00 after 2024-01-01 00:00:00+01:00 at index 1",
            DROP,
        ),
    ],
)
def test_not_increasing(times, got, hint):
    assert refusal(InputError, times) == (
        f"Expected `times` to be strictly increasing, got {got}.\n\nHint: {hint}"
    )


@pytest.mark.parametrize(
    "times", [[2**63 - 2, 2**63 - 1], [-(2**63), 2**63 - 1], [-(2**62) - 1, 0, 2**62 + 1]]
)
@pytest.mark.parametrize("last", [0, 1])
def test_an_end_beyond_64_bits_is_refused(times, last):
    labels = [0] * (len(times) - 1) + [last]
    with pytest.raises(InputError, match=r"`end`|64 bits"):
        cc.Events.from_labels(labels, times=times)
