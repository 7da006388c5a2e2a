"""The paper's table of practical settings: unevenly spaced samples become the running example."""

from datetime import datetime

import numpy as np
import pytest

import closecall as cc

TRUTH = [1, 1, 1, 1, 1, 0, 0, 0]
PREDICTED = [0, 0, 1, 0, 1, 0, 1, 0]
MINUTES = [0, 2, 5, 6, 7, 10, 11, 12]
END = 30  # where the first zone of the running example ends

TRUE_EVENTS = [(0, 10)]
PREDICTED_EVENTS = [(5, 6), (7, 10), (11, 12)]

MIDNIGHT = np.datetime64("2022-08-14T03:00", "s")


def stamps(minutes):
    return MIDNIGHT + np.asarray(minutes) * np.timedelta64(60, "s")


@pytest.mark.parametrize(
    ("labels", "events"), [(TRUTH, TRUE_EVENTS), (PREDICTED, PREDICTED_EVENTS)]
)
@pytest.mark.parametrize("number", [int, float])
def test_numbers_become_the_events(labels, events, number):
    times = [number(minute) for minute in MINUTES]
    found = cc.Events.from_labels(labels, times=times, end=number(END))
    assert list(found) == events
    assert found.starts.dtype == (np.int64 if number is int else np.float64)


@pytest.mark.parametrize(
    ("labels", "events"), [(TRUTH, TRUE_EVENTS), (PREDICTED, PREDICTED_EVENTS)]
)
def test_datetimes_become_the_events(labels, events):
    expected = [
        (datetime(2022, 8, 14, 3, start), datetime(2022, 8, 14, 3, stop))  # noqa: DTZ001 - no zone
        for start, stop in events
    ]
    times = [moment.item() for moment in stamps(MINUTES)]
    end = stamps(END).item()
    assert list(cc.Events.from_labels(labels, times=times, end=end)) == expected
    found = cc.Events.from_labels(labels, times=stamps(MINUTES), end=stamps(END))
    assert found.starts.tolist() == [start for start, _ in expected]
    assert found.stops.tolist() == [stop for _, stop in expected]


def test_labels_on_numbers_give_the_distances_of_the_running_example():
    result = cc.affiliation(TRUTH, PREDICTED, times=MINUTES, end=END)
    assert result.events.precision_distance[0] * 60 == pytest.approx(18, abs=1e-9)
    assert result.events.recall_distance[0] * 60 == pytest.approx(76.5, abs=1e-9)


def test_labels_on_datetimes_give_the_distances_of_the_running_example():
    result = cc.affiliation(TRUTH, PREDICTED, times=stamps(MINUTES), end=stamps(END))
    assert result.events.precision_distance[0] == np.timedelta64(18, "s")
    assert result.events.recall_distance[0] == np.timedelta64(76_500, "ms")


def test_the_last_timestamp_needs_an_end_when_samples_are_uneven():
    with pytest.raises(cc.errors.InputError, match="`end`"):
        cc.affiliation(TRUTH, PREDICTED, times=MINUTES)
