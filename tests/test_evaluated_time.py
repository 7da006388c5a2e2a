"""Ignored time, gaps and samples without a score: what is read, refused and told."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import closecall as cc
from closecall import Events
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.evaluated_time import advice, far_step, quiet_start
from closecall.series import read_pair, read_scored
from closecall.series import read_sample_pair as read_samples
from tests.messages import message as raised

TRUTH, PREDICTED, SPAN = Events([(2, 4), (20, 22)]), Events([(7, 8)]), (0, 30)
NAN = float("nan")
WHEN = datetime(2024, 5, 1, tzinfo=UTC)


def minute(number):
    return WHEN + timedelta(minutes=number)


def bounds(intervals):
    return list(Events.wrap(intervals))


def test_the_axis_closes():
    pair = read_pair(TRUTH, PREDICTED, span=SPAN, ignore=[(4, 7), (10, 15)])
    assert bounds(pair.truth) == [(2, 4), (12, 14)]
    assert bounds(pair.predicted) == [(4, 5)]
    assert (pair.start, pair.stop, pair.span) == (0, 22, SPAN)
    assert (pair.ignored_time, pair.left_out) == (8, (0, 0))
    assert bounds(pair.opened(pair.truth)) == [(2, 4), (20, 22)]


@pytest.mark.parametrize(
    "ignore",
    [
        [(10, 15), (4, 6), (5, 7)],
        [(4, 4), (4, 7), (10, 12), (12, 15)],
        np.array([[10, 15], [4, 7]]),
        ((4, 7), (10, 15)),
        Events([(4, 7), (10, 15)]),
    ],
    ids=["unsorted", "touching", "array", "tuple", "Events"],
)
def test_a_set_of_stretches(ignore):
    pair = read_pair(TRUTH, PREDICTED, span=SPAN, ignore=ignore)
    assert (pair.ignored.starts.tolist(), pair.ignored.stops.tolist()) == ([4, 10], [7, 15])
    assert bounds(pair.truth) == [(2, 4), (12, 14)]


def test_stretches_are_clipped_to_the_span():
    pair = read_pair(TRUTH, PREDICTED, span=SPAN, ignore=[(-9, 1), (29, 99), (200, 300)])
    assert (pair.ignored_time, pair.start, pair.stop) == (2, 0, 28)


def test_what_meets_over_a_seam():
    one = read_pair([1, 1, 0, 1], [0, 1, 1, 1], ignore=[0, 0, 1, 0])
    assert (bounds(one.truth), bounds(one.predicted)) == ([(0, 3)], [(1, 3)])
    two = read_pair(Events([(0, 2), (3, 4)]), Events([]), span=(0, 4), ignore=[(2, 3)])
    assert bounds(two.truth) == [(0, 2), (2, 3)]
    assert bounds(two.opened(two.truth)) == [(0, 2), (3, 4)]


def test_events_wholly_inside_are_left_out_and_never_become_points():
    truth = Events([(1, 3), (5, 5), (8, 8), (9, 12)])
    predicted = Events([(4, 5), (6, 7), (8, 10)])
    r = cc.affiliation(truth, predicted, span=(0, 20), ignore=[(1, 8)])
    assert r.left_out == (2, 2)
    assert bounds(r.events.pair.truth) == [(1, 1), (2, 5)]
    assert list(zip(r.events.start, r.events.stop, strict=True)) == [(8, 8), (9, 12)]
    assert r.to_dict()["left_out"] == {"events": 2, "alarms": 2}
    assert (r.to_dict()["evaluated_time"], r.to_dict()["ignored_time"]) == (13, 7)


def test_vectors_count_what_is_left_out():
    labels = [0, 1, 1, 0, 1, 0, 1]
    r = cc.affiliation(labels, labels[::-1], ignore=[1, 1, 1, 0, 0, 0, 0])
    assert r.left_out == (1, 2)
    c = cc.affiliation_curve(labels, labels[::-1], ignore=[1, 1, 1, 0, 0, 0, 0])
    assert (c.left_out, c.at(1).left_out, c.ignored_time) == ((1, 0), (1, 2), 3)
    assert c.to_dict()["ignored_time"] == 3


def test_a_partly_ignored_sample_is_shorter():
    pair = read_pair([0, 1, 0], [1, 1, 0], times=[0, 10, 20], ignore=[(15, 18)])
    assert (bounds(pair.truth), pair.stop) == ([(10, 17)], 27)
    samples = read_samples([0, 1, 0], [1, 1, 0], times=[0, 10, 20], ignore=[(10, 20)])
    assert (bounds(samples.truth), bounds(samples.predicted), samples.stop) == ([], [(0, 1)], 2)
    counted = read_samples([0, 1, 0], [1, 1, 0], ignore=[(1.5, 2.5)])
    assert (bounds(counted.truth), counted.clock.kind) == ([(1, 2)], "integer")


def test_a_finer_clock():
    pair = read_pair([0, 1, 0], [1, 1, 0], ignore=[(0, 0.5)])
    assert bounds(pair.truth) == [(0.5, 1.5)]
    assert pair.axis.borders(np.arange(4)).tolist() == [0, 0.5, 1.5, 2.5]


def test_gaps():
    times = [minute(at) for at in (0, 1, 2, 1440, 1441)]
    r = cc.affiliation([0, 0, 1, 1, 0], [0, 0, 1, 0, 0], times=times, max_step=timedelta(minutes=5))
    assert r.ignored_time == np.timedelta64(1433, "m")
    assert r.to_dict()["ignored_time"] == 1433 * 60
    assert r.to_dict()["evaluated_time"] == (1442 - 1433) * 60
    assert r.events.start[0] == np.datetime64("2024-05-01T00:02")
    assert r.events.stop[0] == np.datetime64("2024-05-02T00:01")
    assert r.events.predicted_duration[0] == np.timedelta64(5, "m")


def test_results_in_the_callers_times():
    r = cc.affiliation(Events([(3, 10), (16, 18)]), Events([(9, 9)]), span=(0, 20), ignore=[(3, 5)])
    assert r.events.start.tolist() == [5, 16]
    assert r.events.stop.tolist() == [10, 18]
    assert r.events.zone_stop.tolist() == [13, 20]
    assert r.events.late[0] == 0
    at_seam = cc.affiliation(Events([(2, 4), (8, 9)]), Events([]), span=(0, 9), ignore=[(5, 7)])
    assert at_seam.events.zone_stop.tolist() == [5, 9]
    assert at_seam.events.zone_start.tolist() == [0, 7]


def test_an_ignored_start():
    r = cc.affiliation(Events([(6, 8)]), Events([(6, 7)]), span=(0, 10), ignore=[(0, 5)])
    assert (r.events.zone_start[0], r.events.start[0], r.events.pair.span) == (5, 6, (0, 10))


def test_several_detectors_ignore_the_union():
    found = read_detectors(
        [0, 1, 0, 1, 0],
        {"labels": [1, 0, 0, 1, 0]},
        {"a": [NAN, 1, 2, 3, 4], "b": [1, 2, NAN, 3, 4]},
        nan="ignore",
        ignore=[0, 0, 0, 0, 1],
    )
    assert found.truth.stop == 2
    assert found.scored["a"].scores.tolist() == [1, 3]
    assert found.scored["b"].scores.tolist() == [2, 3]
    assert bounds(found.predicted["labels"].predicted) == [(1, 2)]
    assert found.predicted["labels"].left_out == (0, 1)


def test_nan_inside_ignored_time_needs_no_option():
    assert read_scored([0, 1, 1], [NAN, 1, 2], ignore=[1, 0, 0]).scores.tolist() == [1, 2]


def test_evaluate_ignores_samples_without_a_score_everywhere():
    truth, predicted, scores = [0, 1, 0, 1, 0], [0, 1, 1, 1, 1], [0, 1, NAN, 1, NAN]
    row = cc.evaluate(truth, predicted, scores=scores, nan="ignore", metrics=["classical"])
    assert row == cc.evaluate([0, 1, 1], [0, 1, 1], metrics=["classical"])


def test_compare_and_significance_in_evaluated_time():
    truth, a, b = [0, 1, 0, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0, 0, 0]
    ignore = [0, 0, 1, 0, 0, 0, 0, 1]
    kept = [index for index, out in enumerate(ignore) if not out]
    found = cc.compare(truth, {"a": a, "b": b}, ignore=ignore)
    shorter = [[side[index] for index in kept] for side in (truth, a, b)]
    deleted = cc.compare(shorter[0], {"a": shorter[1], "b": shorter[2]})
    assert found.results["a"].f1 == deleted.results["a"].f1
    assert found.results["a"].events.start.tolist() == [1, 4]
    assert found.results["a"].left_out == (1, 0)
    p = cc.significance(truth, a, ignore=ignore)
    assert p.f1.pvalue == cc.significance(*shorter[:2]).f1.pvalue
    assert p.events.start.tolist() == [1, 4]


def test_every_scorer_takes_them():
    truth, found, ignore = [0, 1, 0, 1, 1, 0], [0, 0, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0]
    r = cc.affiliation(truth, found, ignore=ignore)
    assert cc.affiliation_precision_score(truth, found, ignore=ignore) == r.precision
    assert cc.affiliation_recall_score(truth, found, ignore=ignore) == r.recall
    assert cc.affiliation_f1_score(truth, found, ignore=ignore) == r.f1
    average_precision = cc.affiliation_curve(truth, found, ignore=ignore).average_precision
    scorer = cc.affiliation_average_precision_score
    assert scorer(truth, found, ignore=ignore) == average_precision


def test_points_get_a_length():
    truth, predicted = Events([(4, 4), (5, 9)]), Events([(1, 3), (6, 6), (10, 10)])
    r = cc.affiliation(truth, predicted, span=(0, 10), point_length=2)
    assert bounds(r.events.pair.truth) == [(4, 5), (5, 9)]
    assert bounds(r.events.pair.predicted) == [(1, 3), (6, 8), (10, 10)]


def test_points_beside_a_range_weigh_nothing():
    truth = Events([(10, 20), (60, 70)])
    predicted = Events([(11, 12), (30, 30), (35, 35), (50, 50), (55, 55)])
    r = cc.affiliation(truth, predicted, span=(0, 100))
    assert (r.points_without_weight, r.events.precision[0]) == (2, 1.0)
    longer = cc.affiliation(truth, predicted, span=(0, 100), point_length=1)
    assert longer.points_without_weight == 0
    assert longer.events.precision[0] < 1
    on_border = Events([(11, 12), (40, 40), (100, 100)])
    assert cc.affiliation(truth, on_border, span=(0, 100)).points_without_weight == 0


DATED = {"times": [minute(at) for at in range(3)]}
NOTHING_LEFT = (
    "Expected some time that is not ignored, got none.\n\n"
    "Hint: Ignore less, or allow a longer `max_step`."
)


REFUSED = {
    InputError: [
        (
            lambda: read_pair([0, 1, 0], [0, 1, 0], ignore=[0, 1]),
            (
                "Expected `ignore` to have one label for each of the 3 samples, got 2.\n\n"
                "Hint: Pass stretches of time as a list of pairs, `[(start, stop)]`."
            ),
        ),
        (
            lambda: read_pair(TRUTH, PREDICTED, span=SPAN, ignore=[(0, 1), (5, 4)]),
            "Expected `ignore` to have events that start before they stop, got (5, 4) at index 1.",
        ),
        (lambda: read_pair([0, 1, 0], [0, 1, 0], ignore=[(0, 7)]), NOTHING_LEFT),
        (
            lambda: read_pair([0, 1, 0], [0, 1, 0], max_step=0),
            "Expected `max_step` to be longer than 0, got 0.",
        ),
        (
            lambda: read_pair([0, 1, 0], [0, 1, 0], max_step=1.5),
            (
                "Expected `max_step` to be a whole number, as the times are, got 1.5.\n\n"
                "Hint: Give the times in a finer unit."
            ),
        ),
        (
            lambda: read_scored([0, 1], [1, 2], nan="drop"),
            "Expected `nan` to be 'raise', 'ignore' or 'each', got 'drop'.",
        ),
        (lambda: read_scored([0, 1], [NAN, NAN], nan="ignore"), NOTHING_LEFT),
        (
            lambda: cc.affiliation(TRUTH, PREDICTED, span=SPAN, point_length=-1),
            "Expected `point_length` to be a finite number of 0 or more, got -1.",
        ),
        (
            lambda: TRUTH.merged(gap=-1),
            "Expected `gap` to be a finite number of 0 or more, got -1.",
        ),
    ],
    InputTypeError: [
        (
            lambda: read_pair(TRUTH, PREDICTED, span=SPAN, ignore=[0, 1]),
            (
                "Expected `ignore` to be Events or pairs (start, stop) beside Events, got [0, "
                "1].\n\nHint: Turn a 0/1 vector into events with `Events.from_labels(labels, "
                "times)`."
            ),
        ),
        (
            lambda: read_pair([0, 1, 0], [0, 1, 0], ignore=[(0, 1)], **DATED),
            (
                "Expected `span` and `ignore` to be on one kind of time axis, got datetimes and "
                "numbers.\n\nHint: Give all times as datetimes, or all as numbers."
            ),
        ),
        (
            lambda: read_pair(TRUTH, PREDICTED, span=SPAN, max_step=3),
            (
                "Expected no `max_step` beside Events, which have no samples, got `max_step`.\n\n"
                "Hint: Pass `max_step` to `Events.from_labels`, and the gaps as `ignore`."
            ),
        ),
    ],
    UndefinedMetricError: [
        (
            lambda: cc.affiliation(TRUTH, PREDICTED, span=SPAN, ignore=[(2, 9), (19, 23)]),
            (
                "Expected at least one true event (affiliation is undefined for a series without "
                "any), got none in evaluated time, and 2 in ignored time.\n\n"
                "Hint: Leave the series out, and say so; its false alarms need another measure."
            ),
        )
    ],
}


@pytest.mark.parametrize(
    ("error", "call", "message"), [(kind, *row) for kind in REFUSED for row in REFUSED[kind]]
)
def test_messages(error, call, message):
    assert raised(error, call) == message


def test_labels_with_gaps_as_events():
    times = [0, 1, 2, 100, 101, 102]
    assert list(Events.from_labels([0, 1, 1, 1, 0, 1], times, max_step=10)) == [
        (1, 12),
        (100, 101),
        (102, 103),
    ]
    assert list(Events.from_labels([0, 1, 1, 0, 0, 1], times, end=500, max_step=10)) == [
        (1, 12),
        (102, 112),
    ]


@pytest.mark.parametrize(
    ("gap", "joined"),
    [
        (None, [(1, 4), (6, 7), (10, 10)]),
        (2, [(1, 4), (6, 7), (10, 10)]),
        (2.5, [(1, 7), (10, 10)]),
        (4, [(1, 10)]),
    ],
)
def test_merged_over_a_gap(gap, joined):
    assert list(Events([(1, 3), (2, 4), (6, 7), (10, 10)]).merged(gap)) == joined


def test_merged_over_a_dated_gap():
    events = Events([(minute(0), minute(1)), (minute(3), minute(4))])
    assert len(events.merged(gap=timedelta(minutes=2))) == 2
    assert len(events.merged(gap=timedelta(minutes=2, seconds=1))) == 1


@pytest.mark.parametrize(("longest", "told"), [(20, 0), (21, 10.5), (22, 11)])
def test_a_step_is_far_beyond_ten_times_the_median(longest, told):
    """The median step is 2 and the shortest 1, so the longest is compared with the median."""
    times = np.cumsum([0, 1, *[2] * 8, longest])
    scored = read_scored([0] * 10 + [1], range(11), times=times, end=times[-1] + 2)
    assert far_step(scored.axis) == told
    sentence = f"The longest step is {told:,.0f} times the median one"
    assert [text.startswith(sentence) for text in advice(scored)] == ([True] if told else [])


@pytest.mark.parametrize(("steps", "told"), [(10, 0), (11, 11)])
def test_a_far_step_among_even_ones(steps, told):
    times = [*range(10), 9 + steps]
    assert (
        far_step(read_scored([0] * 10 + [1], range(11), times=times, end=10 + steps).axis) == told
    )


@pytest.mark.parametrize(("quiet", "told"), [(9, 0), (10, 0.1), (11, 0.11)])
def test_a_start_is_quiet_from_a_tenth_of_the_time_on(quiet, told):
    scores = [0] * quiet + [*range(1, 101 - quiet)]
    assert quiet_start(read_scored([0] * 99 + [1], scores)) == told


def test_advice():
    times = [*range(10), 200, 201]
    scored = read_scored([0] * 11 + [1], [0] * 4 + list(range(1, 9)), times=times, end=202)
    assert advice(scored) == [
        (
            "The longest step is 191 times the median one, and its sample lasts as long: if "
            "nothing was seen there, limit how long samples last with --max-step."
        )
    ]
    assert advice(scored, max_step=3) == []
    varied = read_scored([0] * 11 + [1], [0] * 4 + [1] * 7 + [2], times=times, end=202, max_step=1)
    assert advice(varied) == [
        (
            "The first 33% of the time has neither events nor a score that changes: if the "
            "detector was not running yet, leave it out with --from."
        )
    ]
    assert advice(read_scored([1] + [0] * 9, [0] * 5 + [1, 2, 3, 4, 5])) == []
