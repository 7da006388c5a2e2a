"""Truth, predictions and scores on one clock: what is read, and what is refused."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import closecall as cc
from closecall import Events
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.series import read_pair, read_scored
from tests.messages import message

PARIS = ZoneInfo("Europe/Paris")
TRUTH, PREDICTED = Events([(4, 6)]), Events([(5, 7)])


def day(number, zone=None):
    return datetime(2024, 1, number, tzinfo=zone)


def bounds(pair):
    return (
        list(Events.wrap(pair.truth)),
        list(Events.wrap(pair.predicted)),
        (pair.start, pair.stop),
    )


def test_vectors():
    pair = read_pair([0, 1, 1], [1, 0, 1])
    assert bounds(pair) == ([(1, 3)], [(0, 1), (2, 3)], (0, 3))


def test_vectors_on_an_axis():
    pair = read_pair([0, 1], [1, 0], times=[0.5, 2.0], end=3.0)
    assert bounds(pair) == ([(2.0, 3.0)], [(0.5, 2.0)], (0.5, 3.0))


def test_vectors_in_a_wider_span():
    assert bounds(read_pair([0, 1], [1, 0], span=(-3, 9)))[2] == (-3, 9)


def test_events():
    assert bounds(read_pair(TRUTH, PREDICTED, span=(0, 10))) == ([(4, 6)], [(5, 7)], (0, 10))


def test_touching_events_stay_two():
    truth = Events([(1, 2), (2, 2), (3, 4)])
    assert bounds(read_pair(truth, Events([]), span=(0, 5)))[0] == [(1, 2), (2, 2), (3, 4)]


def test_events_may_fill_the_span():
    pair = read_pair(Events([(0, 10)]), Events([(0, 4), (10, 10)]), span=(0, 10))
    assert bounds(pair)[:2] == ([(0, 10)], [(0, 4), (10, 10)])


def test_units_and_kinds_are_promoted():
    stamps = np.array([["2024-01-02", "2024-01-03"]], dtype="datetime64[D]")
    span = (np.datetime64("2024-01-01T00:00:00.000000001"), day(9))
    pair = read_pair(Events(stamps), Events([(day(2), day(4))]), span=span)
    assert pair.clock.unit == "ns"
    assert pair.start % 10 == 1
    pair = read_pair(TRUTH, Events([(5.5, 7)]), span=(0, 10))
    assert pair.clock.kind == "number"
    assert pair.truth.starts.dtype == pair.predicted.starts.dtype == np.float64


NOTHING = [Events([]), Events.from_points([]), Events.from_labels([0, 0]), Events([]).merged()]
AXES = [
    (Events([(1, 2)]), (0, 4)),
    (Events([(1.5, 2)]), (0, 4)),
    (Events([(2**60 + 1, 2**60 + 2)]), (2**60, 2**60 + 4)),
    (Events([(day(1), day(2))]), (day(1), day(3))),
    (Events([(day(1, PARIS), day(2, PARIS))]), (day(1, PARIS), day(3, UTC))),
    (Events(np.array([[5, 6]], dtype="datetime64[ns]")), tuple(np.array([4, 9], "datetime64[ns]"))),
]


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize(("truth", "span"), AXES)
def test_no_prediction_on_any_axis(nothing, truth, span):
    result = cc.affiliation(truth, nothing, span=span)
    assert np.isnan(result.precision)
    assert result.recall == 0
    assert result.events.predicted_count.tolist() == [0]


SPAN = {"span": (0, 10)}
DAYS, ZONED = (day(1), day(2)), (day(1, UTC), day(3, UTC))
TURN = "Turn the vector into events with `Events.from_labels(labels, times)`."
BESIDE = "Say where the series starts and stops with `span=(start, stop)`."
WIDEN = "Widen the span, or cut the event."
BOTH = "`truth` and `predicted` to be both Events or both 0/1 vectors, got"
FULL = "a span whose square a float can hold, got -1e+308 to 1e+308"


@pytest.mark.parametrize(
    ("sides", "options", "rule", "hint"),
    [
        ((TRUTH, [0, 1]), {}, f"{BOTH} Events and a vector", TURN),
        (([0, 1], PREDICTED), {}, f"{BOTH} a vector and Events", TURN),
        (([0] * 3, [0, 1]), {}, "`predicted` to have as many labels as `truth` (3), got 2", ""),
        (([0], []), {}, "`predicted` to have at least one sample, got an empty vector", ""),
        (
            (TRUTH, PREDICTED),
            {},
            "`span=(start, stop)` beside Events, got none",
            "Probabilities need to know where the whole series starts and stops.",
        ),
        *(
            (
                (TRUTH, PREDICTED),
                {"span": (0, 9), name: [1]},
                f"no `{name}` beside Events, which carry their own times, got `{name}`",
                BESIDE,
            )
            for name in ("times", "end")
        ),
        *(
            (
                (TRUTH, PREDICTED),
                {"span": span},
                f"`span` to be a pair (start, stop), got {span}",
                "",
            )
            for span in (7, (1, 2, 3), ())
        ),
        *(
            ((TRUTH, PREDICTED), {"span": span}, f"`span` to start before it stops, got {span}", "")
            for span in ((9, 0), (3, 3), (1.0, 0.5))
        ),
        ((TRUTH, PREDICTED), {"span": (0, np.inf)}, "`span` to be finite, got inf at index 1", ""),
        (
            (TRUTH, Events([DAYS])),
            SPAN,
            "`truth` and `predicted` to be on one kind of time axis, got numbers and datetimes",
            "Give all times as datetimes, or all as numbers.",
        ),
        (
            (Events([DAYS]), Events([])),
            {"span": ZONED},
            "`truth` and `span` to have a time zone everywhere or nowhere, got zones None and UTC",
            "Localise the times without a zone, or convert the others to UTC and drop it.",
        ),
        (
            ([0, 1, 1], [1, 0, 0]),
            {"span": (1, 3)},
            "`predicted` to lie within the span (1, 3), got (0, 1) at index 0",
            WIDEN,
        ),
        *(
            (
                sides[::order],
                SPAN,
                f"`{name}` to lie within the span (0, 10), got {interval} at index 0",
                WIDEN,
            )
            for interval in ((9, 11), (-1, 3), (12, 12))
            for sides in [(Events([interval]), TRUTH)]
            for name, order in (("truth", 1), ("predicted", -1))
        ),
        *(
            (
                sides[::order],
                SPAN,
                f"`{name}` events to be disjoint, got {first} and {second} at index {index}",
                f"Join them with `{name}.merged()`.",
            )
            for before, first, second in (
                ([], (4, 6), (5, 7)),
                ([(0, 1)], (2, 9), (3, 4)),
                ([], (4, 4), (4, 6)),
                ([], (4, 4), (4, 4)),
            )
            for index, sides in [(len(before) + 1, (Events([*before, first, second]), TRUTH))]
            for name, order in (("truth", 1), ("predicted", -1))
        ),
        (
            (TRUTH, PREDICTED),
            {"span": (0, 2**62)},
            f"a span of fewer than 2**62 ticks, got {2**62}",
            "Count time in a coarser unit.",
        ),
        (
            (Events([(0.0, 1.0)]), Events([])),
            {"span": (-1e308, 1e308)},
            FULL,
            "Count time in another unit.",
        ),
    ],
)
def test_refused_pairs(sides, options, rule, hint):
    found = message((InputError, InputTypeError), read_pair, *sides, **options)
    assert found == f"Expected {rule}." + (f"\n\nHint: {hint}" if hint else "")


def test_the_longest_span():
    assert read_pair(TRUTH, PREDICTED, span=(0, 2**62 - 1)).stop == 2**62 - 1


@pytest.mark.parametrize("sides", [([0, 0], [0, 1]), (Events([]), PREDICTED)])
def test_no_true_event(sides):
    pair = read_pair(*sides, **({} if isinstance(sides[0], list) else SPAN))
    assert message(UndefinedMetricError, pair.require_truth, "affiliation") == (
        "Expected at least one true event (affiliation is undefined for a series without any), "
        "got none in `truth`.\n\n"
        "Hint: Leave the series out, and say so; its false alarms need another measure."
    )


EVENTS = Events([(1, 2)])
MIDNIGHT = datetime(2024, 1, 1)  # noqa: DTZ001 - times without a zone are legal


def scored_bounds(scored):
    return list(Events.wrap(scored.truth)), (scored.start, scored.stop)


def test_scored_vectors():
    scored = read_scored([0, 1, 1], [0.5, 0.25, 1])
    assert scored_bounds(scored) == ([(1, 3)], (0, 3))
    assert scored.scores.tolist() == [0.5, 0.25, 1]
    assert (scored.axis.start, scored.axis.end) == (0, 3)


def test_vectors_on_an_axis_in_a_wider_span():
    scored = read_scored([0, 1], [3, 4], times=[0.5, 2.0], end=3.0, span=(0, 9))
    assert scored_bounds(scored) == ([(2.0, 3.0)], (0.0, 9.0))


def test_scored_events():
    scored = read_scored(EVENTS, [3, 4, 5], times=[0, 2, 4])
    assert scored_bounds(scored) == ([(1, 2)], (0, 6))
    scored = read_scored(EVENTS, [3, 4, 5], times=[2, 4, 7], end=8, span=(0, 9))
    assert scored_bounds(scored) == ([(1, 2)], (0, 9))


def test_kinds_and_units_are_promoted():
    scored = read_scored(Events([(1.5, 2)]), [3, 4], times=[1, 2])
    assert scored.axis.ticks.dtype == np.float64
    times = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")
    truth = Events([(MIDNIGHT + timedelta(microseconds=1), MIDNIGHT + timedelta(hours=1))])
    scored = read_scored(truth, [3, 4], times=times)
    assert scored.axis.clock.unit == "us"
    assert np.diff(scored.axis.borders(np.arange(3))).tolist() == [86400 * 10**6] * 2


NAN = (
    "Leave those samples out with `nan='ignore'`, or give them the lowest score if they are no "
    "alarm."
)
THREE = {"times": [0, 1, 2]}
SAMPLES = "all samples to lie within the span"


@pytest.mark.parametrize(
    ("sides", "options", "rule", "hint"),
    [
        *(
            (([0, 1, 0], scores), {}, "`scores` to be numbers, or inf, got nan at index 1", NAN)
            for scores in ([1, np.nan, np.inf], np.array([1, np.nan, np.nan], dtype=np.float32))
        ),
        *(
            (([0, 1], scores), {}, f"`scores` to be numbers, got values of type {kind}", "")
            for scores, kind in (
                (["a", "b"], "<U1"),
                ([1j, 2], "complex128"),
                ([2**70, 1], "object"),
                (np.array([1, 2], "m8[s]"), "timedelta64[s]"),
            )
        ),
        (([], []), {}, "`scores` to have at least one sample, got an empty vector", ""),
        (([0] * 3, [1, 2]), {}, "`scores` to have as many values as `truth` (3), got 2", ""),
        *(
            (
                (truth, [1, 2, 3]),
                {"times": [0, 1]},
                f"`times` to have one time for each of the 3 {of}, got 2",
                "",
            )
            for truth, of in ((EVENTS, "scores"), ([0, 1, 0], "labels"))
        ),
        (
            (EVENTS, [1, 2, 3]),
            {},
            "`times` of the scores beside true Events, got none",
            "Pass `times=`, one for each score.",
        ),
        (
            (Events([(1, 3), (2, 4)]), [1, 2, 3, 4]),
            {"times": range(4)},
            "`truth` events to be disjoint, got (1, 3) and (2, 4) at index 1",
            "Join them with `truth.merged()`.",
        ),
        (
            (Events([(1, 9)]), [1, 2, 3]),
            THREE,
            "`truth` to lie within the span (0, 3), got (1, 9) at index 0",
            WIDEN,
        ),
        *(
            (
                (truth, [1, 2, 3]),
                THREE | {"span": span},
                f"{SAMPLES} {span}, got samples from 0 to 3",
                "Widen `span`.",
            )
            for truth in (EVENTS, [0, 1, 0])
            for span in ((1, 3), (0, 2))
        ),
        (
            (Events([DAYS]), [1, 2, 3]),
            THREE,
            "`truth` and `times` to be on one kind of time axis, got datetimes and numbers",
            "Give all times as datetimes, or all as numbers.",
        ),
    ],
)
def test_refused_scores(sides, options, rule, hint):
    found = message((InputError, InputTypeError), read_scored, *sides, **options)
    assert found == f"Expected {rule}." + (f"\n\nHint: {hint}" if hint else "")


@pytest.mark.parametrize(
    ("threshold", "intervals"),
    [(4, []), (3, [(2, 3)]), (2.5, [(2, 3)]), (2, [(0, 1), (2, 3)]), (-np.inf, [(0, 3)])],
)
def test_predictions_at_a_threshold(threshold, intervals):
    scored = read_scored([0, 1, 0], np.array([2, 1, 3], dtype=np.uint8))
    pair = scored.at(threshold)
    assert list(Events.wrap(pair.predicted)) == intervals
    assert pair.truth is scored.truth
