"""`Events`: how they are built, shown, joined and compared, and what is refused."""

import contextlib
import copy
import pickle
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from closecall import Events
from closecall.errors import ClosecallError, InputError, InputTypeError

PARIS = ZoneInfo("Europe/Paris")


def day(number, zone=None):
    return datetime(2024, 1, number, tzinfo=zone)


def message(error, call, *arguments, **options):
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)


def test_numbers():
    events = Events([(3, 4), (7, 10)])
    assert len(events) == 2
    assert list(events) == [(3, 4), (7, 10)]
    assert all(type(bound) is int for pair in events for bound in pair)
    assert events.starts.tolist() == [3, 7]
    assert events.stops.tolist() == [4, 10]
    assert events.durations.tolist() == [1, 3]
    assert events.starts.dtype == events.durations.dtype == np.int64
    assert events.tz is None


def test_integers_beside_floats_become_floats():
    events = Events([(1, 2.5)])
    assert list(events) == [(1.0, 2.5)]
    assert events.starts.dtype == np.float64


def test_exact_beyond_floats():
    events = Events([(2**60 + 1, 2**60 + 2)])
    assert list(events) == [(2**60 + 1, 2**60 + 2)]
    assert events.durations.tolist() == [1]


@pytest.mark.parametrize(
    "intervals",
    [
        ((1, 2), (4, 6)),
        [[1, 2], [4, 6]],
        np.array([[1, 2], [4, 6]]),
        np.array([[1, 4], [2, 6]]).T,
        iter([(1, 2), (4, 6)]),
        zip([1, 4], [2, 6], strict=True),
        Events([(1, 2), (4, 6)]),
    ],
    ids=["tuples", "lists", "array", "transposed", "iterator", "zip", "events"],
)
def test_pairs_in_any_wrapping(intervals):
    assert list(Events(intervals)) == [(1, 2), (4, 6)]


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_from_arrays(make):
    assert list(Events.from_arrays(make([1, 4]), make([2, 6]))) == [(1, 2), (4, 6)]


def test_from_points():
    points = Events.from_points([1.5, 4.0])
    assert list(points) == [(1.5, 1.5), (4.0, 4.0)]
    assert points.durations.tolist() == [0, 0]


def test_zone_is_kept():
    events = Events([(day(1, PARIS), day(2, PARIS))])
    assert events.tz == PARIS
    assert list(events) == [(day(1, PARIS), day(2, PARIS))]
    assert str(next(iter(events))[0]) == "2024-01-01 00:00:00+01:00"
    assert events.starts[0] == np.datetime64("2023-12-31T23:00:00")
    assert events.durations[0] == np.timedelta64(1, "D")
    assert events.merged().tz == PARIS


def test_nanoseconds_are_kept():
    start = np.datetime64("2024-01-01T00:00:00.000000001")
    events = Events([(start, start + np.timedelta64(1, "ns"))])
    assert next(iter(events))[0] == start
    assert events.durations.astype(np.int64).tolist() == [1]


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (Events([]), "Events([])"),
        (Events([(1, 2), (4, 4)]), "Events([(1, 2), (4, 4)])"),
        (Events([(0.5, 2)]), "Events([(0.5, 2.0)])"),
        (Events([(i, i + 1) for i in range(0, 8, 2)]), "Events(4 events from 0 to 7)"),
        (Events([(0, 90), (1, 2), (3, 4), (5, 6)]), "Events(4 events from 0 to 90)"),
        (Events([(day(1), day(2))]), "Events([(2024-01-01 00:00:00, 2024-01-02 00:00:00)])"),
        (
            Events([(day(1, PARIS), day(2, PARIS))]),
            "Events([(2024-01-01 00:00:00+01:00, 2024-01-02 00:00:00+01:00)])",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_repr(events, text):
    assert repr(events) == text


def test_repr_of_a_far_year():
    assert "20000-01-01" in repr(Events.from_points(np.array(["20000-01-01"], "datetime64[s]")))


@pytest.mark.parametrize(
    ("intervals", "joined"),
    [
        ([], []),
        ([(1, 2)], [(1, 2)]),
        ([(1, 9), (2, 3), (4, 5)], [(1, 9)]),
        ([(1, 9), (2, 3), (9, 10)], [(1, 10)]),
        ([(1, 2), (2, 3), (4, 5)], [(1, 3), (4, 5)]),
        ([(1, 1), (1, 1), (3, 3)], [(1, 1), (3, 3)]),
        ([(1, 1), (1, 3)], [(1, 3)]),
        ([(1, 3), (2, 2)], [(1, 3)]),
        ([(1, 5), (3, 4), (6, 7)], [(1, 5), (6, 7)]),
    ],
)
def test_merged(intervals, joined):
    assert list(Events(intervals).merged()) == joined


def test_merged_leaves_the_events_alone():
    events = Events([(1, 4), (2, 6)])
    events.merged()
    assert list(events) == [(1, 4), (2, 6)]


def test_equality():
    assert Events([(1, 2)]) == Events([(1.0, 2.0)])
    assert Events([(1, 2)]) != Events([(1, 3)])
    assert Events([(1, 2)]) != Events([(0, 2)])
    assert Events([(1, 2)]) != Events([(1, 2), (3, 4)])
    assert Events([(1, 2)]) != [(1, 2)]
    assert Events([]) == Events.from_points([])
    assert Events([(day(1, UTC), day(2, UTC))]) == Events(
        [(day(1, UTC).astimezone(PARIS), day(2, UTC).astimezone(PARIS))]
    )
    assert Events([(day(1), day(2))]) == Events(
        np.array([["2024-01-01", "2024-01-02"]], dtype="datetime64[ns]")
    )


def test_numbers_are_not_datetimes():
    stamps = np.array([[1, 2]], dtype="datetime64[s]")
    assert Events([(1, 2)]) != Events(stamps)


def test_naive_and_aware_events_differ_as_their_datetimes_do():
    assert day(1) != day(1, UTC)
    assert Events([(day(1), day(2))]) != Events([(day(1, UTC), day(2, UTC))])


def test_integers_are_not_equal_to_the_floats_they_round_to():
    assert Events.from_points([2**53 + 1]) != Events.from_points([2.0**53])


def test_not_hashable():
    assert message(TypeError, hash, Events([(1, 2)])) == "unhashable type: 'Events'"


@pytest.mark.parametrize("events", [Events([(1, 2)]), Events([(day(1, PARIS), day(2, PARIS))])])
def test_copies(events):
    for twin in (pickle.loads(pickle.dumps(events)), copy.deepcopy(events)):  # noqa: S301 - ours
        assert twin == events
        assert twin.tz == events.tz


@pytest.mark.parametrize("dtype", ["int64", "float64", "datetime64[ns]"])
def test_later_changes_of_the_callers_arrays_do_not_reach_the_events(dtype):
    starts, stops = np.array([1, 5], dtype=dtype), np.array([2, 6], dtype=dtype)
    events, points = Events.from_arrays(starts, stops), Events.from_points(starts)
    before = list(events), list(points)
    starts[0] = stops[1]
    assert (list(events), list(points)) == before


def test_what_is_handed_out_cannot_break_the_events():
    events = Events([(1, 2), (5, 6)])
    with contextlib.suppress(ValueError):
        events.starts[0] = 50
    assert list(events) == [(1, 2), (5, 6)]


PAIRS = (
    "\n\nHint: Use `Events.from_points(times)` for points and `Events.from_labels(labels)` for "
    "a 0/1 vector."
)


@pytest.mark.parametrize(
    ("intervals", "shown"),
    [([0, 1, 1], "[0, 1, 1]"), ([(1, 2, 3)], "[(1, 2, 3)]"), (5, "5"), ([(1,)], "[(1,)]")],
)
def test_not_pairs(intervals, shown):
    text = message(InputTypeError, Events, intervals)
    assert text == f"Expected `intervals` to be pairs (start, stop), got {shown}.{PAIRS}"


@pytest.mark.parametrize(
    ("intervals", "got"),
    [
        ([(5, 3)], "(5, 3) at index 0"),
        ([(1, 2), (4.5, 4)], "(4.5, 4.0) at index 1"),
        ([(day(2), day(1))], "(2024-01-02 00:00:00, 2024-01-01 00:00:00) at index 0"),
    ],
)
def test_start_after_stop(intervals, got):
    text = message(InputError, Events, intervals)
    assert text == f"Expected each event to start before it stops, got {got}."


def test_unsorted():
    assert message(InputError, Events, [(1, 2), (7, 8), (4, 5)]) == (
        "Expected events to be sorted by start, got (4, 5) after (7, 8) at index 2.\n\n"
        "Hint: Sort them first, e.g. `Events(sorted(intervals))`."
    )


def test_starts_and_stops_of_different_number():
    text = message(InputError, Events.from_arrays, [1, 2], [3])
    assert text == "Expected as many `stops` as `starts` (2), got 1."


@pytest.mark.parametrize(
    ("intervals", "rule"),
    [
        ([(1, float("nan"))], "Expected `intervals` to be finite, got nan at index 0."),
        ([(float("-inf"), 1)], "Expected `intervals` to be finite, got -inf at index 0."),
        ([(day(1), pd.NaT)], "Expected `intervals` to have no missing times, got NaT at index 0."),
        ([("a", "b")], "Expected `intervals` to be numbers or datetimes, got <U1."),
    ],
)
def test_bounds_that_are_not_times(intervals, rule):
    assert message(ClosecallError, Events, intervals).startswith(rule)


@pytest.mark.parametrize("intervals", [[(1, day(2))], [(day(1), day(2, UTC))]])
def test_two_kinds_of_time_in_one_interval(intervals):
    text = message(InputTypeError, Events, intervals)
    assert "numbers and datetimes" in text or "zones None and UTC" in text
    assert "`intervals` and `intervals`" not in text


def test_points_must_increase():
    assert message(InputError, Events.from_points, [1, 3, 3]) == (
        "Expected `times` to be strictly increasing, got 3 after 3 at index 2.\n\n"
        "Hint: Drop or aggregate repeated times first."
    )
