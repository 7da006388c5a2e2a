"""Events from pairs, points and labels; the runs of 0/1 vectors; and what is refused."""

import contextlib
import copy
import pickle
from datetime import UTC, datetime
from itertools import groupby
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import closecall as cc
from closecall import Events
from closecall.errors import ClosecallError, InputError, InputTypeError
from closecall.events import read_labels, runs
from tests.messages import message

PARIS = ZoneInfo("Europe/Paris")


def day(number, zone=None):
    return datetime(2024, 1, number, tzinfo=zone)


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
    mixed = Events([(1, 2.5)])
    assert (list(mixed), mixed.starts.dtype) == ([(1.0, 2.5)], np.float64)
    large = Events([(2**60 + 1, 2**60 + 2)])
    assert (list(large), large.durations.tolist()) == ([(2**60 + 1, 2**60 + 2)], [1])


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
        (
            Events.from_points(np.array(["20000-01-01"], "datetime64[s]")),
            "Events([(20000-01-01 00:00:00, 20000-01-01 00:00:00)])",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_repr(events, text):
    assert repr(events) == text


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
    events = Events(intervals)
    assert list(events.merged()) == joined
    assert list(events) == intervals


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
    assert Events([(1, 2)]) != Events(np.array([[1, 2]], dtype="datetime64[s]"))
    assert day(1) != day(1, UTC)
    assert Events([(day(1), day(2))]) != Events([(day(1, UTC), day(2, UTC))])
    # Not equal to the floats that they round to.
    assert Events.from_points([2**53 + 1]) != Events.from_points([2.0**53])


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
SORT = "\n\nHint: Sort them by start first."
DROP = "\n\nHint: Drop or aggregate repeated times first."
ORDER = "`intervals` to have events that start before they stop, got"


@pytest.mark.parametrize(
    ("intervals", "text"),
    [
        *(
            (intervals, f"`intervals` to be pairs (start, stop), got {intervals}.{PAIRS}")
            for intervals in ([0, 1, 1], [(1, 2, 3)], 5, [(1,)])
        ),
        ([(5, 3)], f"{ORDER} (5, 3) at index 0."),
        ([(1, 2), (4.5, 4)], f"{ORDER} (4.5, 4.0) at index 1."),
        ([(day(2), day(1))], f"{ORDER} (2024-01-02 00:00:00, 2024-01-01 00:00:00) at index 0."),
        (
            [(1, 2), (7, 8), (4, 5)],
            f"`intervals` to be sorted by start, got (4, 5) after (7, 8) at index 2.{SORT}",
        ),
        ([(1, float("nan"))], "`intervals` to be finite, got nan at index 0."),
        ([(float("-inf"), 1)], "`intervals` to be finite, got -inf at index 0."),
        ([(day(1), pd.NaT)], "`intervals` to have no missing times, got NaT at index 0."),
        ([("a", "b")], "`intervals` to be numbers or datetimes, got <U1."),
        ([(1, day(2))], "`starts` and `stops` to be on one kind of time axis, got numbers and"),
        ([(day(1), day(2, UTC))], "`starts` and `stops` to have a time zone everywhere or nowhere"),
    ],
)
def test_refused(intervals, text):
    assert message(ClosecallError, Events, intervals).startswith(f"Expected {text}")


def test_refused_columns():
    text = message(InputError, Events.from_arrays, [1, 2], [3])
    assert text == "Expected as many `stops` as `starts` (2), got 1."
    text = message(InputError, Events.from_points, [1, 3, 3])
    assert text == f"Expected `times` to be strictly increasing, got 3 after 3 at index 2.{DROP}"


@st.composite
def labels_on_an_axis(draw):
    labels = draw(st.lists(st.integers(0, 1), min_size=1, max_size=25))
    steps = draw(st.lists(st.integers(1, 9), min_size=len(labels), max_size=len(labels)))
    borders = draw(st.integers(-(2**40), 2**40)) + np.cumsum([0, *steps])
    kind = draw(st.sampled_from(["int64", "float64", "datetime64[s]", "datetime64[ns]"]))
    borders = borders.astype(kind)
    return labels, borders[:-1], borders[-1]


@given(labels_on_an_axis())
def test_labels_round_trip(case):
    labels, times, end = case
    events = Events.from_labels(labels, times, end)
    assert events.to_labels(times, end).tolist() == labels
    assert Events.from_labels(events.to_labels(times, end), times, end) == events


@pytest.mark.parametrize(
    ("intervals", "labels"),
    [
        ([], [0, 0, 0, 0]),
        ([(1.2, 1.4)], [0, 1, 0, 0]),
        ([(1.2, 1.4), (1.6, 1.7)], [0, 1, 0, 0]),
        ([(0.5, 2.5)], [1, 1, 1, 0]),
        ([(1.0, 2.0)], [0, 1, 0, 0]),
        ([(2.0, 2.0)], [0, 0, 1, 0]),
        ([(2.5, 2.5)], [0, 0, 1, 0]),
        ([(0.0, 4.0)], [1, 1, 1, 1]),
        ([(0.0, 3.0), (1.0, 2.0)], [1, 1, 1, 0]),
        ([(3.0, 4.0)], [0, 0, 0, 1]),
    ],
)
def test_samples_that_meet_an_event(intervals, labels):
    found = Events(intervals).to_labels(range(4))
    assert found.tolist() == labels
    assert found.dtype == np.uint8


def test_labels_where_end_is_in_a_finer_unit():
    times = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")
    end = np.datetime64("2024-01-03", "ns")
    assert Events([(day(2), day(3))]).to_labels(times, end).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("interval", "times"), [((3, 5), "(3, 5)"), ((-1, 1), "(-1, 1)"), ((7, 7), "(7, 7)")]
)
def test_labels_of_an_event_outside(interval, times):
    assert message(InputError, Events([interval]).to_labels, range(4)) == (
        f"Expected `events` to lie within the span (0, 4), got {times} at index 0.\n\n"
        "Hint: Widen the span, or cut the event."
    )


def test_labels_on_no_times():
    assert "`times`" in message(InputError, Events([]).to_labels, [])


TRUTH = [0, 1, 1, 0, 0, 1, 0, 1]
PREDICTED = [0, 0, 1, 1, 0, 0, 0, 1]
WIDTHS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64", ">f4", ">f8"]

makers = {
    "list": list,
    "tuple": tuple,
    "bools": lambda labels: [bool(label) for label in labels],
    "floats": lambda labels: [float(label) for label in labels],
    "numpy bools": lambda labels: np.array(labels, dtype=bool),
    "strided bools": lambda labels: np.repeat(np.array(labels, dtype=bool), 3)[1::3],
    "strided": lambda labels: np.repeat(np.array(labels, dtype=np.int8), 2)[::2],
    "backward": lambda labels: np.array(labels[::-1], dtype=np.uint8)[::-1],
    "column of a matrix": lambda labels: np.array([labels, labels]).T[:, 1],
    "read-only": lambda labels: np.frombuffer(bytes(labels), dtype=np.uint8),
    "pandas": pd.Series,
    "pandas Int64": lambda labels: pd.Series(labels, dtype="Int64"),
    "pandas UInt8": lambda labels: pd.Series(labels, dtype="UInt8"),
    "pandas Float64": lambda labels: pd.Series(labels, dtype="Float64"),
    "pandas boolean": lambda labels: pd.Series(labels).astype("boolean"),
    "pandas bool": lambda labels: pd.Series(labels, index=list("abcdefgh")).astype(bool),
    "pandas arrow": lambda labels: pd.Series(labels, dtype="int8[pyarrow]"),
    "pandas index": pd.Index,
    "polars": pl.Series,
    "polars bool": lambda labels: pl.Series(labels).cast(pl.Boolean),
    "polars small": lambda labels: pl.Series(labels, dtype=pl.UInt8),
    "arrow": pa.array,
    "arrow bool": lambda labels: pa.array([bool(label) for label in labels]),
    "arrow chunks": lambda labels: pa.chunked_array([labels[:3], labels[3:]]),
    "arrow bool chunks": lambda labels: pa.chunked_array([pa.array(map(bool, labels))]),
    **{
        dtype: lambda labels, dtype=dtype: np.array(labels, dtype=dtype)
        for dtype in (*WIDTHS, *FLOATS, ">i4", ">u2")
    },
}


@pytest.mark.parametrize("make", makers.values(), ids=makers)
def test_every_type_gives_the_same_score(make):
    expected = cc.affiliation(TRUTH, PREDICTED)
    found = cc.affiliation(make(TRUTH), make(PREDICTED))
    assert found.to_dict() == expected.to_dict()
    assert cc.Events.from_labels(make(TRUTH)) == cc.Events([(1, 3), (5, 6), (7, 8)])


MAP = "scikit-learn's detectors return -1 for anomalies: pass `labels == -1`."
SCORES = "These look like scores: pass `scores >= threshold`."
OTHER = "Pass `labels != 0` if every other value marks an anomaly."
UNKNOWN = "Drop the samples without a label, or decide what they are."


BINARY, CONVERT = "labels to be 0 or 1", "Convert the labels to integers or booleans first."
VECTOR = "to be a vector of 0 and 1, or closecall.Events"
COLUMN = "Pass one column. Intervals go in `closecall.Events([(start, stop), ...])`."


@pytest.mark.parametrize(
    ("labels", "rule", "got", "hint"),
    [
        ([0, 1, 2], BINARY, "2 at index 2", OTHER),
        ([0, -1, 1], BINARY, "-1 at index 1", MAP),
        ([-1.0, 1.0], BINARY, "-1.0 at index 0", MAP),
        ([-2, 0], BINARY, "-2 at index 0", OTHER),
        ([0, 0.5, 0.7], BINARY, "0.5 at index 1", SCORES),  # the first of them
        ([1.0, float("nan")], BINARY, "nan at index 1", UNKNOWN),
        ([0.0, float("inf")], BINARY, "inf at index 1", SCORES),
        (np.array([0, 255], dtype=np.uint8), BINARY, "255 at index 1", OTHER),
        (np.array([0, 2**64 - 1], dtype=np.uint64), BINARY, f"{2**64 - 1} at index 1", OTHER),
        (np.array([1, np.nan], dtype=np.float32), BINARY, "nan at index 1", UNKNOWN),
        (pl.Series([0.0, float("nan")]), BINARY, "nan at index 1", UNKNOWN),
        (["0", "1"], VECTOR, "values of type str_", CONVERT),
        (np.array(["2024-01-01"], dtype="M8[D]"), VECTOR, "values of type datetime64", CONVERT),
        (np.array([1], dtype="m8[s]"), VECTOR, "values of type timedelta64", CONVERT),
        ([1j], VECTOR, "values of type complex128", CONVERT),
        ([(2, 4), (6, 7)], "to be one-dimensional", "an array of shape (2, 2)", COLUMN),
    ],
)
def test_not_labels(labels, rule, got, hint):
    found = message((InputError, InputTypeError), read_labels, labels, "truth")
    assert found == f"Expected `truth` {rule}, got {got}.\n\nHint: {hint}"


@pytest.mark.parametrize("labels", [[], np.zeros(0), pd.Series([], dtype=bool), pl.Series([])])
def test_empty(labels):
    assert message(InputError, read_labels, labels, "truth") == (
        "Expected `truth` to have at least one sample, got an empty vector."
    )


@pytest.mark.parametrize("labels", [[0, 1, None], [True, False, None], [0, 1, pd.NA]])
def test_none_among_labels_is_shown_where_it_is(labels):
    found = message((InputError, InputTypeError), read_labels, labels, "truth")
    assert "`truth`" in found
    assert "index 2" in found


@pytest.mark.parametrize("labels", [[True, False], [1, 0]])
def test_objects_are_read_or_called_objects(labels):
    column = pd.Series(labels, dtype=object)
    try:
        found = read_labels(column, "truth")
    except InputTypeError as error:
        # "got values of type bool; convert the labels to booleans" would send nobody anywhere.
        assert "object" in str(error)  # noqa: PT017 - either answer is right
    else:
        assert found.tolist() == [1, 0]


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30))
@example([1])
@example([0])
@example([1, 1])
@example([0, 1])
@example([1, 0])
def test_runs(labels):
    expected, position = [], 0
    for label, group in groupby(labels):
        length = len(list(group))
        if label:
            expected.append((position, position + length))
        position += length
    first, after = runs(np.array(labels))
    assert list(zip(first.tolist(), after.tolist(), strict=True)) == expected


def test_labels_are_not_changed():
    labels = np.array(TRUTH, dtype=bool)
    cc.affiliation(labels, labels)
    assert labels.tolist() == [bool(label) for label in TRUTH]
