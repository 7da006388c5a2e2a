"""The curve by hand: its points, any threshold, single events, and what it gives away."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import closecall as cc
from closecall import Events
from closecall.affiliation.sweep import cut_samples
from closecall.errors import InputError
from closecall.series import read_scored

TRUTH = [0, 0, 1, 1, 0, 0]
SCORES = [0.1, 0.6, 0.9, 0.4, 0.1, 0.2]


@pytest.fixture
def curve():
    return cc.affiliation_curve(TRUTH, SCORES)


def test_points_by_hand(curve):
    # Zone [0, 6), event [2, 4), m = 2. Sample [1, 2) loses the mean of (2 + 2d) / 6 over d in
    # [0, 1], which is 1/2; the outer ones, d in [1, 2], lose 5/6. Sample 2 alone leaves
    # [3, 4) at distances 0 to 1 from 3, which loses 2d / 6, 1/6 of that half of the event.
    assert curve.thresholds.tolist() == [0.9, 0.6, 0.4, 0.2, 0.1]
    precision = [1, 1 - 0.5 / 2, 1 - 0.5 / 3, 1 - (0.5 + 5 / 6) / 4, 1 - (1 + 10 / 6) / 6]
    assert curve.precision == pytest.approx(precision, abs=1e-15)
    assert curve.recall == pytest.approx([11 / 12, 11 / 12, 1, 1, 1], abs=1e-15)
    assert curve.alarms.tolist() == [1, 1, 1, 2, 1]
    assert curve.f1[1] == pytest.approx(2 * 0.75 * (11 / 12) / (0.75 + 11 / 12))
    assert curve.fbeta(2)[1] == pytest.approx(5 * 0.75 * (11 / 12) / (4 * 0.75 + 11 / 12))


def test_average_precision_by_hand(curve):
    assert curve.average_precision == pytest.approx(11 / 12 * 1 + 1 / 12 * (1 - 0.5 / 3))
    score = cc.affiliation_average_precision_score(TRUTH, SCORES)
    assert score == curve.average_precision


@pytest.mark.parametrize("more", [{}, {"ignore": [(20, 40)]}])
def test_what_becomes_of_the_callers_arrays_does_not_matter(more):
    random = np.random.default_rng(0)
    truth, scores = (random.random(200) < 0.1).astype(np.uint8), random.random(200)
    expected = cc.affiliation_curve(truth, scores, **more)
    arrays = truth.copy(), scores.copy()
    curve = cc.affiliation_curve(*arrays, **more)
    for own in arrays:
        own[:] = 0
    assert curve.to_dict() == expected.to_dict()
    assert curve.at(0.5).to_dict() == expected.at(0.5).to_dict()


def test_the_scorer_takes_times():
    axis = {"times": [0, 1, 2, 5, 7, 9], "end": 12}
    expected = cc.affiliation_curve(TRUTH, SCORES, **axis).average_precision
    assert cc.affiliation_average_precision_score(TRUTH, SCORES, **axis) == expected
    assert expected != cc.affiliation_average_precision_score(TRUTH, SCORES)


@pytest.mark.parametrize(
    ("threshold", "duration"),
    [(np.inf, 0), (0.91, 0), (0.9, 1), (0.5, 2), (0.2, 4), (0.15, 4), (0.1, 6), (-np.inf, 6)],
)
def test_between_above_and_below_the_scores(curve, threshold, duration):
    result = curve.at(threshold)
    assert result.events.predicted_duration.tolist() == [duration]
    expected = cc.affiliation(TRUTH, [int(score >= threshold) for score in SCORES])
    assert_array_equal([result.precision, result.recall], [expected.precision, expected.recall])


def test_thresholds_of_single_precision_are_met_exactly():
    scores = np.array([0.1, 0.6, 0.9], dtype=np.float32)
    curve = cc.affiliation_curve([0, 1, 0], scores)
    assert curve.thresholds.tolist() == scores[::-1].tolist()
    for count, threshold in enumerate(curve.thresholds, 1):
        for same in (threshold, float(threshold)):
            assert curve.at(same).events.predicted_duration.tolist() == [count]
    # 0.9 itself lies between two such numbers, just above the score.
    assert float(scores[2]) < 0.9
    assert curve.at(0.9).events.predicted_duration.tolist() == [0]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_no_float_holds(dtype):
    scores = np.array([2**62 + 1, 2**62, 2**62 + 2], dtype=dtype)
    curve = cc.affiliation_curve([0, 1, 0], scores)
    assert curve.thresholds.tolist() == [2**62 + 2, 2**62 + 1, 2**62]
    for count, threshold in enumerate(curve.thresholds, 1):
        for same in (threshold, int(threshold)):
            assert curve.at(same).events.predicted_duration.tolist() == [count]
    assert curve.at(curve.best().threshold).f1 == pytest.approx(curve.best().fbeta)


def test_events_at_and_event_curve():
    truth, scores = [0, 1, 0, 0, 0, 1], [0.1, 0.8, 0.6, 0.1, 0.7, 0.2]
    curve = cc.affiliation_curve(truth, scores)
    rows = curve.events_at(0.7)
    assert rows.precision[0] == 1
    assert rows.outcome.tolist() == ["caught", "close call"]
    # The zones meet at 3.5, so sample 3 belongs to both.
    first, second = curve.event_curve(0), curve.event_curve(1)
    assert first.thresholds.tolist() == [0.8, 0.6, 0.1]
    assert second.thresholds.tolist() == [0.7, 0.2, 0.1]
    assert (first.precision[0], first.recall[0]) == (1, 1)
    assert second.precision[0] == pytest.approx(rows.precision[1])
    assert repr(second) == "EventCurve(3 thresholds)"


def test_an_event_without_any_sample_in_its_zone():
    truth = cc.Events([(1, 2), (30, 31)])
    curve = cc.affiliation_curve(truth, [1, 2, 3], times=[0, 1, 2], span=(0, 40))
    assert curve.event_curve(1).thresholds.size == curve.event_curve(1).recall.size == 0
    assert curve.recall[-1] == pytest.approx(0.5)


@pytest.mark.parametrize("event", [-1, 1])
def test_no_such_event(curve, event):
    with pytest.raises(InputError) as caught:
        curve.event_curve(event)
    assert str(caught.value) == f"Expected `event` to be from 0 to 0, got {event}."


def test_outline_keeps_the_ends_and_the_best():
    random = np.random.default_rng(1)
    truth = (random.random(500) < 0.1).astype(int)
    curve = cc.affiliation_curve(truth, truth + random.normal(size=500))
    chosen = curve.outline(20)
    assert {0, len(curve) - 1, int(curve.f1.argmax())} <= set(chosen.tolist())
    assert 10 < chosen.size <= 23
    assert (np.diff(chosen) > 0).all()
    # No piece between two of them is longer than an even share, up to one step of the curve.
    steps = np.hypot(np.diff(curve.precision), np.diff(curve.recall))
    pieces = np.add.reduceat(steps, chosen[:-1])
    assert pieces.max() <= steps.sum() / 19 + steps.max()


def test_outline_of_no_point(curve):
    with pytest.raises(InputError, match="Expected `points` to be 1 or more, got 0"):
        curve.outline(0)


@pytest.mark.parametrize(("samples", "shifts"), [(50_000, 400), (1_000_000, 20)])
def test_chance_of_a_long_curve_takes_fewer_shifts(samples, shifts):
    truth, scores = np.zeros(samples, int), np.arange(samples) % 5
    truth[100:110] = 1
    assert cc.affiliation_curve(truth, scores).chance.shifts == shifts


def test_as_plain_values(curve):
    values = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert values["distinct_thresholds"] == 5
    assert values["average_precision"] == curve.average_precision
    assert values["chance"] == asdict(curve.chance)
    assert values["best"]["threshold"] == 0.9
    for name, column in values["curve"].items():
        assert column == getattr(curve, name).tolist()
    assert len(curve.to_dict(points=2)["curve"]["recall"]) == 2


def test_infinite_thresholds_as_plain_values():
    curve = cc.affiliation_curve([0, 1, 0], [-np.inf, np.inf, 0])
    assert curve.thresholds.tolist() == [np.inf, 0, -np.inf]
    values = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert values["curve"]["thresholds"] == ["inf", 0, "-inf"]
    assert values["best"]["threshold"] == "inf"


def test_repr(curve):
    assert repr(curve) == (
        "AffiliationCurve(5 thresholds, average_precision=0.986, best f1=0.957 at 0.9)"
    )
    assert len(curve) == 5


def test_the_scores_are_left_alone():
    scores = np.array(SCORES)
    cc.affiliation_curve(TRUTH, scores)
    assert scores.tolist() == SCORES


def test_kernels_are_not_compiled_again_for_scores_that_may_not_be_written_to():
    scores = np.array(SCORES)
    scores.flags.writeable = False
    assert cc.affiliation_curve(TRUTH, scores).scored.scores.flags.writeable


def test_pieces_share_the_memory_of_scores_that_are_not_cut():
    scored = read_scored([0, 1, 0, 0, 1], [5, 6, 7, 8, 9])
    assert np.shares_memory(cut_samples(scored).scores, scored.scores)


BEYOND = {"times": [10, 11], "end": 12, "span": (0, 40)}
FAR = 2**60 + 1


@pytest.mark.parametrize(
    ("truth", "scores", "axis", "expected"),
    [
        # The events end and begin at 2 and 4: the border, at 3, is a sample's.
        (
            [0, 1, 0, 0, 1],
            [5, 6, 7, 8, 9],
            {},
            ([0, 2, 4, 6, 8, 10], [5, 6, 7, 8, 9], [0, 3, 5]),
        ),
        # Halfway between 1 and 4 is 2.5, inside sample 2.
        (
            [1, 0, 0, 0, 1],
            [5, 6, 7, 8, 9],
            {},
            ([0, 2, 4, 5, 6, 8, 10], [5, 6, 7, 7, 8, 9], [0, 3, 6]),
        ),
        # Borders at 3 and 5.5, both in the first sample.
        (
            Events([(1, 2), (4, 5), (6, 7)]),
            [5, 6],
            {"times": [0, 8], "end": 10},
            ([0, 6, 11, 16, 20], [5, 5, 5, 6], [0, 1, 2, 4]),
        ),
        # Zones beyond the samples are empty, but that the outer ones hold every sample.
        *(
            (Events(events), [5, 6], BEYOND, ([20, 22, 24], [5, 6], offsets))
            for events, offsets in (
                ([(0, 1), (11, 12), (30, 31)], [0, 0, 2, 2]),
                ([(0, 1), (2, 3)], [0, 0, 2]),
                ([(30, 31), (33, 34)], [0, 2, 2]),
                ([(11, 12)], [0, 2]),
            )
        ),
        # Integers are counted from the span, floats are not shifted.
        *(
            (
                [1, 0, 1],
                [5, 6, 7],
                {"times": origin + np.array([0, 3, 4]), "end": origin + 9},
                ([0, 6, 7, 8, 18], [5, 6, 6, 7], [0, 2, 4]),
            )
            for origin in (-FAR, FAR)
        ),
        (
            [1, 0, 1],
            [5, 6, 7],
            {"times": [1.5, 2.5, 4.0], "end": 5.0},
            ([3.0, 5.0, 6.5, 8.0, 10.0], [5, 6, 6, 7], [0, 2, 4]),
        ),
    ],
)
def test_samples_are_cut_at_the_borders(truth, scores, axis, expected):
    cuts, cut_scores, offsets = expected
    pieces = cut_samples(read_scored(truth, np.array(scores), **axis))
    assert pieces.cuts.dtype == (np.float64 if isinstance(cuts[0], float) else np.int64)
    assert pieces.cuts.tolist() == cuts
    assert pieces.scores.tolist() == cut_scores
    assert pieces.offsets.tolist() == offsets
