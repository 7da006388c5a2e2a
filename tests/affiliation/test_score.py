"""The columns of small cases, worked out by hand from the definitions.

In a zone of length Z around an event of length E, whose nearer border is m away, a prediction at
distance d > 0 loses (E + min(d, m) + d) / Z of precision. An instant of the event at distance d
from the nearest prediction, which has a room of R up to the border behind that instant, loses
2 min(d, R / 2) / Z of recall.
"""

from datetime import datetime, timedelta
from math import inf, nan

import numpy as np
import pytest

import closecall as cc
from closecall import Events
from closecall.errors import InputError

NAMES = (
    "precision",
    "recall",
    "precision_distance",
    "recall_distance",
    "early",
    "late",
    "delay",
    "predicted_count",
    "predicted_duration",
)
MISSED = (nan, 0, nan, inf, nan, nan, nan, 0, 0)

CASES = {
    # Z 8, E 2, m 2. [4, 5) loses the integral of 2 + 2d over (0, 1), 3, over 2 * 8. [2, 3) is up
    # to 1 from 3, R 3: the integral of 2d is 1, over 2 * 8.
    "one range": (
        [(2, 4)],
        [(3, 5)],
        (0, 8),
        [(13 / 16, 15 / 16, 1 / 4, 1 / 4, 0, 1 / 4, 1, 1, 2)],
    ),
    # The border is 6. Both pieces lie 1 to 2 away: 2 + 3/2 + 3/2 = 5 of 6 is lost. The event is 1
    # to 3 away, R 5: 2 (21/8 + 5/4) = 31/4 of 2 * 6 is lost.
    "across a border": (
        [(2, 4), (8, 10)],
        [(5, 7)],
        (0, 12),
        [
            (1 / 6, 17 / 48, 3 / 2, 2, 0, 3 / 2, nan, 1, 1),
            (1 / 6, 17 / 48, 3 / 2, 2, 3 / 2, 0, nan, 1, 1),
        ],
    ),
    # A range that stops at the border 6, or starts there, is in one zone only.
    "up to a border": (
        [(2, 4), (8, 10)],
        [(5, 6)],
        (0, 12),
        [(1 / 6, 17 / 48, 3 / 2, 2, 0, 3 / 2, nan, 1, 1), MISSED],
    ),
    "from a border": (
        [(2, 4), (8, 10)],
        [(6, 7)],
        (0, 12),
        [MISSED, (1 / 6, 17 / 48, 3 / 2, 2, 3 / 2, 0, nan, 1, 1)],
    ),
    # A point on the border belongs behind it: d 2, so 2 + 2 + 2 of 6 is lost. The event is 2 to 4
    # away, R 6: 2 (5/2 + 3) = 11 of 2 * 6 is lost.
    "point on a border": (
        [(2, 4), (8, 10)],
        [(6, 6)],
        (0, 12),
        [MISSED, (0, 1 / 12, 2, 3, 2, 0, nan, 1, 0)],
    ),
    # m is 1: 2 + 1 + d over (2, 4) is 12, over 2 * 10. Recall: d from 2 to 4, R 5: 2 (9/8 + 15/4)
    # = 39/4 over 2 * 10.
    "beyond the nearer border": (
        [(1, 3)],
        [(5, 7)],
        (0, 10),
        [(2 / 5, 41 / 80, 3, 3, 0, 3, nan, 1, 2)],
    ),
    # Before: 2 + 2d over (0, 2) is 8; after: over (0, 3) is 15; 23 of 7 * 10.
    "early and late": (
        [(4, 6)],
        [(2, 9)],
        (0, 10),
        [(47 / 70, 1, 13 / 14, 0, 2 / 7, 9 / 14, -2, 1, 7)],
    ),
    # 1 and 9 lose 2 + 3 + 3, 5 nothing, 6 is just behind the event and loses 2: 18 of 4 * 10. The
    # gaps of the event: (4, 5) from 5 loses 1, (5, 6) from both sides 1/4 + 1/4, of 2 * 10.
    "points": (
        [(4, 6)],
        [(1, 1), (5, 5), (6, 6), (9, 9)],
        (0, 10),
        [(11 / 20, 37 / 40, 3 / 2, 3 / 8, 3 / 4, 3 / 4, 1, 4, 0)],
    ),
    # Only [8, 9) counts for precision: 2 + 2d over (2, 3) is 7 of 10. Both count for recall: 1 on
    # either side of 5, of 2 * 10.
    "range and point": (
        [(4, 6)],
        [(5, 5), (8, 9)],
        (0, 10),
        [(3 / 10, 9 / 10, 5 / 2, 1 / 2, 0, 5 / 2, 1, 2, 1)],
    ),
    # E 0: 2d over (2, 3) is 5 of 10; the nearest prediction is 2 away: 2 + 2 of 10.
    "true point": ([(5, 5)], [(7, 8)], (0, 10), [(1 / 2, 3 / 5, 5 / 2, 2, 0, 5 / 2, nan, 1, 1)]),
    "true point, hit": ([(5, 5)], [(5, 5)], (0, 10), [(1, 1, 0, 0, 0, 0, 0, 1, 0)]),
    # m 0: d over (1, 2) is 3/2 of 10; the nearest prediction is 1 away: 1 of 10.
    "true point at the end": (
        [(10, 10)],
        [(8, 9)],
        (0, 10),
        [(17 / 20, 9 / 10, 3 / 2, 1, 3 / 2, 0, nan, 1, 1)],
    ),
    "point at the end": ([(10, 10)], [(10, 10)], (0, 10), [(1, 1, 0, 0, 0, 0, 0, 1, 0)]),
    # 3 before, R 3: 2 (9/8 + 9/4) = 27/4; 5 after, R 5: 2 (25/8 + 25/4) = 75/4; 51/2 of 10 * 10.
    "truth everywhere": ([(0, 10)], [(3, 5)], (0, 10), [(1, 149 / 200, 0, 17 / 10, 0, 0, 3, 1, 2)]),
    # The border is 4 and Z is 4. Each event has 1 up to 1 away, R 3: 1 of 2 * 4.
    "touching events": (
        [(2, 4), (4, 6)],
        [(3, 5)],
        (0, 8),
        [(1, 7 / 8, 0, 1 / 4, 0, 0, 1, 1, 1), (1, 7 / 8, 0, 1 / 4, 0, 0, 0, 1, 1)],
    ),
    "no prediction": ([(2, 4), (8, 10)], [], (0, 12), [MISSED, MISSED]),
}


CAUGHT, CLOSE, ALREADY = "caught", "close call", "already in alarm"
# Truth, predicted, span; outcome, delay and time to the nearest alarm of each event; false alarms.
OUTCOMES = {
    "a minute of alarm": (
        [(100, 110), (200, 210)],
        [(160, 161), (205, 206)],
        (0, 300),
        [("missed", nan, 50), (CAUGHT, 5, nan)],
        1,
    ),
    # The border is 155: the alarm was on before, and was not raised for the second event.
    "across a border": (
        [(100, 110), (200, 210)],
        [(140, 205)],
        (0, 300),
        [("missed", nan, 30), (ALREADY, 0, nan)],
        0,
    ),
    "one alarm, two events": (
        [(10, 12), (20, 22)],
        [(5, 25)],
        (0, 40),
        [(CAUGHT, -5, nan), (ALREADY, 0, nan)],
        0,
    ),
    "the first of two alarms": ([(2, 6)], [(3, 4), (5, 6)], (0, 9), [(CAUGHT, 1, nan)], 0),
    "touching alarms": (
        [(10, 12), (20, 22)],
        [(5, 11), (11, 15), (15, 25)],
        (0, 40),
        [(CAUGHT, -5, nan), (ALREADY, 0, nan)],
        0,
    ),
    # The border is 16, and the alarm is raised there.
    "raised on a border": (
        [(10, 12), (20, 22)],
        [(16, 25)],
        (0, 40),
        [("missed", nan, 4), (CAUGHT, -4, nan)],
        0,
    ),
    "touching before": ([(2, 4)], [(1, 2)], (0, 8), [(CLOSE, nan, 0)], 1),
    "touching after": ([(2, 4)], [(4, 5)], (0, 8), [(CLOSE, nan, 0)], 1),
    # The border is 4, and nothing of the alarm is behind it.
    "touching events": (
        [(2, 4), (4, 6)],
        [(3, 4)],
        (0, 8),
        [(CAUGHT, 1, nan), ("missed", nan, 0)],
        0,
    ),
    "point at the start": ([(2, 4)], [(2, 2)], (0, 8), [(CAUGHT, 0, nan)], 0),
    "point at the stop": ([(2, 4)], [(4, 4)], (0, 8), [(CLOSE, nan, 0)], 1),
    "true point": ([(5, 5)], [(5, 7)], (0, 10), [(CAUGHT, 0, nan)], 0),
    "true point inside": ([(5, 5)], [(3, 7)], (0, 10), [(CAUGHT, -2, nan)], 0),
    "up to a true point": ([(5, 5)], [(3, 5)], (0, 10), [(CLOSE, nan, 0)], 1),
    # 2 to either side: 36 of 40 places are farther, or 35 of 39.
    "nine in ten": ([(20, 22)], [(15, 18)], (0, 42), [(CLOSE, nan, -2)], 1),
    "fewer": ([(20, 22)], [(15, 18)], (0, 41), [("missed", nan, -2)], 1),
    # 1 - (38 / 40)^2 is below 0.1, and 1 - (38 / 40)^3 above. Of two as near, the one before.
    "two alarms": ([(20, 22)], [(15, 19), (23, 25)], (0, 42), [(CLOSE, nan, -1)], 2),
    "three alarms": ([(20, 22)], [(15, 19), (23, 25), (30, 31)], (0, 42), [("missed", nan, -1)], 3),
    # 10 after: 90 of 100 places are farther.
    "nine in ten on one side": ([(0, 10)], [(20, 21)], (0, 110), [(CLOSE, nan, 10)], 1),
    "fewer on one side": ([(0, 10)], [(21, 22)], (0, 110), [("missed", nan, 11)], 1),
    # The border is 115. The alarm before it is the nearest to both, and affiliated with one.
    "nearest in another zone": (
        [(100, 110), (120, 130)],
        [(113, 114), (200, 201)],
        (0, 300),
        [(CLOSE, nan, 3), ("missed", nan, -6)],
        2,
    ),
    "no alarm": ([(2, 4)], [], (0, 8), [("missed", nan, nan)], 0),
}


@pytest.mark.parametrize("case", OUTCOMES.values(), ids=OUTCOMES)
def test_outcomes_by_hand(case):
    truth, predicted, span, expected, false_alarms = case
    result = score(truth, predicted, span)
    outcomes = [row[0].replace(ALREADY, CAUGHT) for row in expected]
    assert result.events.outcome.tolist() == outcomes
    assert result.events.already_in_alarm.tolist() == [row[0] == ALREADY for row in expected]
    np.testing.assert_array_equal(result.events.delay, [row[1] for row in expected])
    np.testing.assert_array_equal(result.events.nearest, [row[2] for row in expected])
    counts = result.caught, result.close_calls, result.missed
    assert counts == (
        outcomes.count(CAUGHT),
        outcomes.count(CLOSE),
        sum(what != CAUGHT for what in outcomes),
    )
    assert (result.alarms, result.false_alarms) == (len(predicted), false_alarms)


def test_a_true_point_where_an_alarm_stops_has_recall_1_and_is_not_caught():
    result = score([(5, 5)], [(2, 5)], (0, 10))
    assert (result.recall, result.caught, result.false_alarms) == (1.0, 0, 1)
    assert result.events.outcome.tolist() == [CLOSE]
    assert score([(2, 2)], [(2, 5)], (0, 10)).caught == 1


def test_alarms_at_one_event_change_what_another_is_above_chance_and_not_its_scores():
    truth, alarm = [(10, 15), (45, 50)], (11, 14)
    one, both = (score(truth, alarms, (0, 60)).events for alarms in ([alarm], [alarm, (44, 50)]))
    assert (one.precision[0], one.recall[0]) == (both.precision[0], both.recall[0])
    assert one.recall_above_chance[0] > both.recall_above_chance[0]
    assert one.f1_above_chance[0] != both.f1_above_chance[0]


def score(truth, predicted, span, **options):
    return cc.affiliation(Events(truth), Events(predicted), span=span, **options)


def rows(result):
    columns = [getattr(result.events, name).tolist() for name in NAMES]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_columns_by_hand(case):
    truth, predicted, span, expected = case
    result = score(truth, predicted, span)
    for found, row in zip(rows(result), expected, strict=True):
        assert found == pytest.approx(list(row), rel=1e-14, abs=1e-15, nan_ok=True)
    assert result.events.start.tolist() == [start for start, _ in truth]
    assert result.events.stop.tolist() == [stop for _, stop in truth]
    precisions = [row[0] for row in expected if not np.isnan(row[0])]
    mean = sum(precisions) / len(precisions) if precisions else nan
    assert result.precision == pytest.approx(mean, rel=1e-14, nan_ok=True)
    assert result.recall == pytest.approx(sum(row[1] for row in expected) / len(expected))


def test_datetimes_give_lengths_of_time():
    start = datetime.fromisoformat("2024-01-01T03:00:00")

    def at(pairs):
        return [(start + timedelta(hours=a), start + timedelta(hours=b)) for a, b in pairs]

    truth, predicted, span, expected = CASES["early and late"]
    events = score(at(truth), at(predicted), at([span])[0]).events
    assert events.zone_start[0] == np.datetime64("2024-01-01T03:00")
    assert events.zone_stop[0] == np.datetime64("2024-01-01T13:00")
    for name, hours in zip(NAMES[2:7], expected[0][2:7], strict=True):
        assert getattr(events, name).dtype == "timedelta64[ns]"
        found = getattr(events, name)[0] / np.timedelta64(1, "h")
        assert found == pytest.approx(hours, abs=1e-12)
    assert events.predicted_duration[0] == np.timedelta64(7, "h")
    missed = score(at(truth), [], at([span])[0]).events
    for name in NAMES[2:7]:
        assert np.isnat(getattr(missed, name)).all()
    assert missed.predicted_duration[0] == np.timedelta64(0, "ns")


@pytest.mark.parametrize(
    ("zero_division", "one_missed", "all_missed"),
    [(nan, 1 / 6, nan), (0, 1 / 12, 0), (1, 7 / 12, 1), (0.0, 1 / 12, 0), (np.nan, 1 / 6, nan)],
)
def test_zero_division(zero_division, one_missed, all_missed):
    truth, predicted, span, _ = CASES["up to a border"]
    result = score(truth, predicted, span, zero_division=zero_division)
    assert result.precision == pytest.approx(one_missed, rel=1e-14)
    assert result.recall == pytest.approx(17 / 96, rel=1e-14)
    assert np.isnan(result.events.precision[1])
    nothing = score(truth, [], span, zero_division=zero_division)
    assert nothing.precision == pytest.approx(all_missed, nan_ok=True)
    assert nothing.recall == 0
    assert nothing.f1 == pytest.approx(nan if np.isnan(all_missed) else 0, nan_ok=True)


@pytest.mark.parametrize("value", [0.5, 2, inf, "warn", None])
def test_wrong_zero_division(value):
    with pytest.raises(InputError) as caught:
        cc.affiliation([0, 1], [0, 1], zero_division=value)
    assert str(caught.value) == f"Expected `zero_division` to be nan, 0 or 1, got {value!r}."


def test_columns_of_arrays_that_must_not_be_written_to():
    fixed = np.array([2, 8])
    fixed.flags.writeable = False
    result = cc.affiliation(Events.from_arrays(fixed, fixed + 2), Events([(5, 7)]), span=(0, 12))
    assert result.precision == pytest.approx(1 / 6)


def test_options_are_keyword_only():
    with pytest.raises(TypeError, match="positional argument"):
        cc.affiliation([0, 1], [0, 1], [0, 1])


@pytest.mark.parametrize("count", [1, 3, 10])
def test_random_alarms_are_a_close_call_one_time_in_ten(count):
    """Whatever their number: 10 % is what a close call allows chance."""
    random = np.random.default_rng(count)
    close = missed = 0
    for _ in range(2000):
        alarms = Events.from_points(np.sort(random.uniform(0, 1000, count)))
        result = cc.affiliation(Events([(480.0, 500.0)]), alarms, span=(0.0, 1000.0))
        close, missed = close + result.close_calls, missed + result.missed
    assert close / missed == pytest.approx(0.1, abs=0.02)  # three standard errors
