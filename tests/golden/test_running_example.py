"""The example that the paper's figures work through, at 3:00 plus so many minutes.

The paper draws its intervals and prints only the first zone's; the others are those of the
reference implementation's tests. There the last prediction of zone 2 and the first of zone 3 touch
at the border 5:00; here they are a single prediction, and the affiliation has to cut it.
"""

from datetime import datetime, timedelta

import numpy as np
import pytest

import closecall as cc

TRUTH = [(0, 10), (50, 70), (170, 175)]
PREDICTED = [(5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170)]
SPAN = (0, 180)

PRECISION_DISTANCES = [18, 11 * 60 + 30, 31 * 60 + 15]  # seconds
RECALL_DISTANCES = [76.5, 2 * 60 + 30, 2 * 60 + 30]


def clock(minutes):
    return datetime(2022, 8, 14, 3) + timedelta(minutes=minutes)  # noqa: DTZ001 - the paper's has none


def on_clock(intervals):
    return cc.Events([(clock(start), clock(stop)) for start, stop in intervals])


@pytest.fixture(scope="module")
def result():
    return cc.affiliation(cc.Events(TRUTH), cc.Events(PREDICTED), span=SPAN)


@pytest.fixture(scope="module")
def clock_result():
    span = (clock(SPAN[0]), clock(SPAN[1]))
    return cc.affiliation(on_clock(TRUTH), on_clock(PREDICTED), span=span)


def test_zones_are_cut_at_half_past_three_and_five(result, clock_result):
    assert result.events.zone_start.tolist() == [0, 30, 120]
    assert result.events.zone_stop.tolist() == [30, 120, 180]
    cuts = np.array(["2022-08-14T03:30", "2022-08-14T05:00"], dtype="datetime64[ns]")
    assert (clock_result.events.zone_stop[:-1] == cuts).all()
    assert (clock_result.events.zone_start[1:] == cuts).all()


def test_distances_in_minutes(result):
    assert result.events.precision_distance * 60 == pytest.approx(PRECISION_DISTANCES, abs=1e-9)
    assert result.events.recall_distance * 60 == pytest.approx(RECALL_DISTANCES, abs=1e-9)


def test_distances_on_the_clock(clock_result):
    second = np.timedelta64(1, "s")
    events = clock_result.events
    assert (events.precision_distance / second).tolist() == PRECISION_DISTANCES
    assert (events.recall_distance / second).tolist() == RECALL_DISTANCES


def test_first_zone_is_a_fifth_outside_by_a_minute_and_a_half(result):
    assert result.events.predicted_duration[0] == 5
    assert result.events.early[0] == 0
    assert result.events.late[0] * 60 == pytest.approx(0.2 * 90, abs=1e-9)


def test_removing_the_last_prediction_of_the_first_zone_makes_it_precise():
    kept = [event for event in PREDICTED if event != (11, 12)]
    better = cc.affiliation(cc.Events(TRUTH), cc.Events(kept), span=SPAN)
    assert better.events.precision[0] == 1
    assert better.events.precision_distance[0] == 0
    assert better.events.recall_distance[0] * 60 == pytest.approx(76.5, abs=1e-9)


def test_probabilities_of_the_second_zone(result, clock_result):
    for events in (result.events, clock_result.events):
        assert f"{events.precision[1]:.3f}" == "0.672"
        assert f"{events.recall[1]:.3f}" == "0.944"


def test_value_of_a_prediction_at_twenty_to_four():
    at = cc.affiliation(cc.Events(TRUTH), cc.Events.from_points([40]), span=SPAN)
    assert f"{at.events.precision[1]:.3f}" == "0.556"


def test_value_of_the_truth_at_ten_past_four():
    # One element of the event, in the zone of the whole event: a true point with that span.
    zone_predictions = cc.Events([(40, 60), (115, 120)])
    at = cc.affiliation(cc.Events.from_points([70]), zone_predictions, span=(30, 120))
    assert f"{at.recall:.3f}" == "0.778"


def test_delays_count_from_the_start_of_each_event(result, clock_result):
    np.testing.assert_array_equal(result.events.delay, [5, -10, np.nan])
    minutes = clock_result.events.delay / np.timedelta64(1, "m")
    np.testing.assert_array_equal(minutes, [5, -10, np.nan])


def test_an_alarm_that_touches_the_last_event_is_a_close_call(result):
    assert result.events.outcome.tolist() == ["caught", "caught", "close call"]
    np.testing.assert_array_equal(result.events.nearest, [np.nan, np.nan, 0])
    assert (result.caught, result.alarms, result.false_alarms) == (2, 7, 4)


def test_a_prediction_across_a_border_counts_in_both_zones(result):
    assert result.events.predicted_count.tolist() == [3, 2, 3]
    assert result.events.predicted_duration.tolist() == [5, 25, 20]


def test_example_of_the_reference_implementation():
    """Its front page prints 0.82/0.84 and, per event, two decimals (0.636 cut to 0.63)."""
    predicted = [0, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    truth = [0, 0, 0, 1, 0, 0, 0, 1, 1, 1]
    result = cc.affiliation(truth, predicted)
    assert f"{result.precision:.2f}/{result.recall:.2f}" == "0.82/0.84"
    assert result.events.precision == pytest.approx([7 / 11, 1], abs=1e-15)
    assert result.events.recall == pytest.approx([9 / 11, 47 / 54], abs=1e-15)
    assert result.events.precision_distance == pytest.approx([0.5, 0], abs=1e-15)
    assert result.events.recall_distance == pytest.approx([0.5, 1 / 3], abs=1e-15)
