"""Events from labels and back."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall import Events
from closecall.errors import InputError


def day(number):
    return datetime.fromisoformat(f"2024-01-0{number}")


def message(error, call, *arguments):
    with pytest.raises(error) as caught:
        call(*arguments)
    return str(caught.value)


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
    ("interval", "times"),
    [((3, 5), "(3, 5)"), ((-1, 1), "(-1, 1)"), ((7, 7), "(7, 7)")],
)
def test_labels_of_an_event_outside(interval, times):
    assert message(InputError, Events([interval]).to_labels, range(4)) == (
        f"Expected `events` to lie within the span (0, 4), got {times} at index 0.\n\n"
        "Hint: Widen the span, or cut the event."
    )


def test_labels_on_no_times():
    assert "`times`" in message(InputError, Events([]).to_labels, [])
