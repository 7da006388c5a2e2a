"""Choosing a threshold within limits, worked out by hand; beside brute force in `properties`."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from tests.messages import message

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.5, 0.9, 0.2, 0.3, 0.1, 0.8, 0.1, 0.7, 0.0]
# At   0.9    0.8    0.7    0.5    0.3    0.2    0.1    0.0
# F1   0.629  0.587  0.861  0.779  0.755  0.792  0.709  0.704
HOUR = timedelta(hours=1)


def hours(unit="s"):
    times = np.datetime64("2024-03-01", unit) + np.arange(10) * np.timedelta64(1, "h")
    return cc.affiliation_curve(TRUTH, SCORES, times=times)


@pytest.fixture
def curve():
    return cc.affiliation_curve(TRUTH, SCORES)


def test_what_each_threshold_gives(curve):
    assert curve.thresholds.tolist() == [0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.1, 0.0]
    assert curve.caught.tolist() == [1, 1, 2, 2, 2, 2, 2, 2]
    assert curve.alarms.tolist() == [1, 2, 3, 3, 4, 3, 1, 1]
    assert curve.false_alarms.tolist() == [0, 1, 1, 1, 2, 1, 0, 0]
    assert curve.alarmed == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, 1])


@pytest.mark.parametrize(
    ("limits", "threshold"),
    [
        ({}, 0.7),
        ({"min_precision": 0.99}, 0.9),
        ({"min_recall": 0.99}, 0.2),
        ({"min_recall": 0.97, "max_alarmed": 0.5}, 0.3),
        ({"max_alarms_per": 0.3}, 0.7),
        ({"max_alarms_per": 0.2}, 0.9),
        ({"beta": 2, "max_alarms_per": 0.2}, 0.8),
        # One endless alarm keeps any budget, if it may be one.
        ({"max_alarms_per": 0.2, "max_alarmed": 1}, 0.1),
        ({"max_false_alarms_per": 0}, 0.9),
        ({"max_false_alarms_per": 0.1}, 0.7),
        # The alarms at 6 and at 8 are one sample apart, those at 2 and at 6 three.
        ({"max_alarms_per": 0.2, "cooldown": 1}, 0.9),
        ({"max_alarms_per": 0.2, "cooldown": 1.5}, 0.7),
        ({"max_false_alarms_per": 0, "cooldown": 2}, 0.7),
        ({"max_alarms_per": 0.1, "cooldown": 3}, 0.3),
    ],
)
def test_each_limit_moves_the_choice(curve, limits, threshold):
    assert curve.best(**limits).threshold == threshold


def test_alarms_that_follow_soon_count_once(curve):
    assert (curve.best().alarms, curve.best().false_alarms) == (3, 1)
    joined = curve.best(cooldown=2)
    assert (joined.threshold, joined.alarms, joined.false_alarms) == (0.7, 2, 0)


@pytest.mark.parametrize(
    ("threshold", "cooldown", "alarms"),
    [
        (0.75, None, (2, 1)),
        (0.7, None, (3, 1)),
        (0.6, 2, (2, 0)),
        (0.25, 1, (4, 2)),
        (0.25, 1.5, (1, 0)),
        (-1, 2, (1, 0)),
        (0.95, 2, (0, 0)),
    ],
)
def test_any_threshold_has_its_point(curve, threshold, cooldown, alarms):
    point, result = curve.operating_point(threshold, 2, cooldown=cooldown), curve.at(threshold)
    assert (point.alarms, point.false_alarms) == alarms
    assert (point.threshold, point.beta, point.caught) == (threshold, 2, result.caught)
    known = [result.precision, result.recall, result.fbeta(2), result.alarmed]
    assert [point.precision, point.recall, point.fbeta, point.alarmed] == pytest.approx(
        known, abs=1e-15, nan_ok=True
    )
    best = curve.best(cooldown=cooldown)
    assert curve.operating_point(best.threshold, cooldown=cooldown) == best


def test_equally_good_thresholds():
    # Both samples are inside the event, and the first already tells everything about it.
    curve = cc.affiliation_curve(cc.Events([(1, 1)]), [3, 2, 1], times=[0, 1, 2], span=(0, 3))
    assert curve.f1[0] == curve.f1[1] == curve.f1.max()
    assert curve.best().threshold == 3


def test_limits_are_inclusive(curve):
    for point in range(len(curve)):
        best = curve.best(
            min_precision=curve.precision[point],
            min_recall=curve.recall[point],
            max_alarmed=curve.alarmed[point],
            max_alarms_per=(curve.alarms[point], 10),
            max_false_alarms_per=(curve.false_alarms[point], 10),
        )
        assert best.fbeta >= curve.f1[point]


def test_the_point_shows_itself(curve):
    best = curve.best(2)
    assert repr(best) == (
        "OperatingPoint(threshold=0.7, precision=0.781, recall=0.958, f2=0.917, caught=2, "
        "alarms=3, false_alarms=1)"
    )
    assert best.alarmed == pytest.approx(0.3)
    assert type(best.threshold) is float
    assert type(cc.affiliation_curve([0, 1], [3, 4]).best().threshold) is int


# The best threshold has three alarms in ten samples; with fewer, it is 0.9.
@pytest.mark.parametrize("budget", [0.3, (3, 10), (0.3, 1), (1.5, 5.0), np.float64(0.35)])
def test_budget_on_a_numeric_axis(curve, budget):
    assert curve.best(max_alarms_per=budget).threshold == 0.7
    count, duration = budget if isinstance(budget, tuple) else (budget, 1)
    assert curve.best(max_alarms_per=(0.8 * count, duration)).threshold == 0.9


@pytest.mark.parametrize(
    ("count", "duration"),
    [
        (3, timedelta(hours=10)),
        (0.3, HOUR),
        (3, np.timedelta64(10, "h")),
        (3, np.timedelta64(600, "m")),
        (1.5, np.timedelta64(5 * 3600 * 10**9, "ns")),
        (7.2, timedelta(days=1)),
        (3, pd.Timedelta(hours=10)),
    ],
)
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_budget_on_a_datetime_axis(count, duration, unit):
    curve = hours(unit)
    assert curve.best(max_alarms_per=(count, duration)).threshold == 0.7
    assert curve.best(max_alarms_per=(0.99 * count, duration)).threshold == 0.9
    assert curve.best(max_alarms_per=(0.99 * count, duration), cooldown=2 * HOUR).threshold == 0.7


def test_the_budget_counts_the_whole_span():
    events, options = cc.Events([(2, 4), (8, 9)]), {"times": range(10)}
    short = cc.affiliation_curve(events, SCORES, span=(0, 10), **options)
    long = cc.affiliation_curve(events, SCORES, span=(0, 20), **options)
    assert short.best(max_alarms_per=0.15).threshold == 0.9
    assert long.best(max_alarms_per=0.15).threshold == 0.7


PAIR = "Expected `max_alarms_per` to be a count and a duration, got {}.\n\nHint: Pass {}."
COUNT = "Expected the count in `max_alarms_per` to be 0 or more, got {}."
DURATION = "Expected the duration in `max_alarms_per` to be above 0, got {}."
LENGTH = "Expected `{}` to be a finite number of 0 or more, got {}."
NO_DATES = (
    "Expected `max_alarms_per[1]` to be a finite number of 0 or more, got "
    "datetime.timedelta(days=1).\n\nHint: The axis counts samples, or whole numbers; give the "
    "length in those."
)
SHARE = "Expected `{}` to be a number from 0 to 1, got {}."
NONE = (
    "Expected a threshold within the constraints, got none; the nearest is {}.\n\n"
    "Hint: Loosen a constraint."
)


@pytest.mark.parametrize(
    ("error", "limits", "expected"),
    [
        (
            InputTypeError,
            {"max_alarms_per": (1, 2, 3)},
            PAIR.format("(1, 2, 3)", "'3/100' or (3, 100)"),
        ),
        (InputTypeError, {"max_alarms_per": "2/1d"}, NO_DATES),
        (InputTypeError, {"max_alarms_per": True}, PAIR.format("True", "'3/100' or (3, 100)")),
        (InputError, {"max_alarms_per": -1}, COUNT.format("-1")),
        (InputError, {"max_alarms_per": (float("nan"), 2)}, COUNT.format("nan")),
        (InputError, {"max_alarms_per": (1, 0)}, DURATION.format("0")),
        (InputError, {"max_alarms_per": (1, -2)}, LENGTH.format("max_alarms_per[1]", -2)),
        (InputError, {"max_alarmed": 1.1}, SHARE.format("max_alarmed", 1.1)),
        (InputError, {"min_recall": -0.1}, SHARE.format("min_recall", -0.1)),
        (InputError, {"cooldown": -1}, LENGTH.format("cooldown", -1)),
        (
            UndefinedMetricError,
            {"max_alarms_per": 0},
            NONE.format("0.9 with alarms 0.1 per 1 (at most 0 asked)"),
        ),
        (
            UndefinedMetricError,
            {"min_recall": 1, "max_alarmed": 0.05},
            NONE.format(
                "0.9 with recall 0.458 (at least 1 asked) and alarmed 0.1 (at most 0.05 asked)"
            ),
        ),
        (
            UndefinedMetricError,
            {"min_recall": 0.615, "max_alarmed": 0.2},
            NONE.format("0.8 with recall 0.6146 (at least 0.615 asked)"),
        ),
        (
            UndefinedMetricError,
            {"min_recall": 1, "max_false_alarms_per": (0, 5)},
            NONE.format(
                "0.8 with recall 0.615 (at least 1 asked) "
                "and false alarms 0.5 per 5 (at most 0 asked)"
            ),
        ),
    ],
)
def test_messages(curve, error, limits, expected):
    assert message(error, curve.best, **limits) == expected


@pytest.mark.parametrize("budget", [2, (1, 2, 3)])
def test_what_is_no_budget_on_a_datetime_axis(budget):
    expected = PAIR.format(budget, "'2/day' or (2, timedelta(days=1))")
    assert message(InputTypeError, hours().best, max_alarms_per=budget) == expected


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("40/week", (40, timedelta(days=7))),
        ("4/day", (4, timedelta(days=1))),
        ("3 / 2 hours", (3, timedelta(hours=2))),
        ("5/minute", (5, timedelta(minutes=1))),
    ],
)
@pytest.mark.parametrize("limit", ["max_alarms_per", "max_false_alarms_per"])
def test_a_budget_in_words_is_the_pair(text, pair, limit):
    in_words, as_pair = (hours().best(**{limit: budget}) for budget in (text, pair))
    assert in_words == as_pair
    assert in_words.signature == as_pair.signature


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/month", "Expected `max_alarms_per` to have a period of fixed length, got '1/month'."),
        ("2/fortnight", "Expected `max_alarms_per` to be COUNT/DURATION such as 2/week, 1/day"),
    ],
)
def test_a_budget_that_cannot_be_read(text, expected):
    assert message(InputError, hours().best, max_alarms_per=text).startswith(expected)


@pytest.mark.parametrize("duration", [5, None, "a"])
def test_what_is_no_duration_on_a_datetime_axis(duration):
    found = message(InputTypeError, hours().best, max_alarms_per=(1, duration))
    assert found.startswith("Expected `max_alarms_per[1]` to be a timedelta")


@pytest.mark.parametrize("threshold", [float("nan"), None, "0.5"])
def test_what_is_no_threshold(curve, threshold):
    with pytest.raises(InputError, match="Expected `threshold` to be a number, or inf, got"):
        curve.at(threshold)


@pytest.fixture
def ten():
    """Ten events of one sample, in zones of five; eight score 9, the last two score 3."""
    scores = np.ones(50)
    scores[2::5] = [9] * 8 + [3] * 2
    scores[[4, 9]] = 5  # false alarms above the last two
    return cc.affiliation_curve(np.arange(50) % 5 == 2, scores)


def test_each_fold_is_scored_where_the_others_choose(ten):
    found = ten.cross_fitted(folds=5)
    assert found.folds.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    # The last two events tell nobody else to go down to 3, so they are missed themselves.
    assert found.thresholds.tolist() == [3, 3, 3, 3, 9]
    assert (found.recall, found.caught) == (0.8, 8)
    assert found.spread == (3, 9)
    assert found.f1 == found.fbeta(1) == 2 * found.precision * 0.8 / (found.precision + 0.8)
    assert ten.best().fbeta > found.f1
    assert found.to_dict() == {
        "precision": found.precision,
        "recall": 0.8,
        "f1": found.f1,
        "beta": 1.0,
        "caught": 8,
        "thresholds": [3.0, 3.0, 3.0, 3.0, 9.0],
        "folds": found.folds.tolist(),
    }
    assert repr(found).endswith("thresholds 3 to 9 in 5 folds)")


@pytest.mark.parametrize(
    ("folds", "error", "expected"),
    [
        (1, InputError, "Expected `folds` to be"),
        (2.5, InputTypeError, "Expected `folds` to be"),
        (11, InputError, "Expected `folds` to be at most the 10 true events, got 11."),
    ],
)
def test_what_is_no_number_of_folds(ten, folds, error, expected):
    assert message(error, ten.cross_fitted, folds=folds).startswith(expected)


def test_too_few_events_to_cross_fit(curve):
    assert message(UndefinedMetricError, curve.cross_fitted) == (
        "Expected at least 5 true events to cross-fit a threshold, got 2.\n\nHint: With so few, "
        "one event decides the threshold of all others. Choose the threshold on another part of "
        "the time, or on other series."
    )


def most_caught(truth, scores, *, most_alarmed=0.5, most_false=None, cooldown=0):
    """Try every threshold with `affiliation`; return the best, or None if none keeps the limits."""
    found = []
    for threshold in sorted(set(scores), reverse=True):
        alarms = [int(score >= threshold) for score in scores]
        result = cc.affiliation(truth, alarms)
        groups = cc.Events.from_labels(alarms).merged(gap=cooldown)
        events = cc.Events.from_labels(truth)
        false = sum(
            not any(start < stop and low < high for low, high in events
                    for start, stop in [(max(low, first), min(high, last))])
            for first, last in groups
        )  # fmt: skip
        if result.alarmed > most_alarmed or (most_false is not None and false > most_false):
            continue
        found.append((result.caught, -false, result.f1, threshold))
    return max(found, default=None)


def test_the_most_caught_by_brute_force():
    draws, silent = np.random.default_rng(11), 0
    for _ in range(150):
        count = int(draws.integers(6, 40))
        truth = (draws.random(count) < 0.3).astype(int)
        truth[draws.integers(count)] = 1
        scores = draws.integers(0, 9, count) + 2 * truth * draws.integers(0, 2)
        curve = cc.affiliation_curve(truth, scores)
        for limits, asked in (
            ({}, {}),
            ({"most_alarmed": 0.3}, {"max_alarmed": 0.3}),
            ({"most_alarmed": 1}, {"max_alarmed": 1}),
            ({"most_false": 1}, {"max_false_alarms_per": (1, count)}),
        ):
            expected = most_caught(truth.tolist(), scores.tolist(), **limits)
            if expected is None:
                silent += 1
                with pytest.raises(UndefinedMetricError):
                    curve.best(objective="caught", **asked)
                continue
            point = curve.best(objective="caught", **asked)
            assert (point.caught, -point.false_alarms, point.threshold) == (
                *expected[:2],
                expected[3],
            )
            assert point.fbeta == pytest.approx(expected[2], abs=1e-12)
            assert point.signature.options["threshold"] == "most_caught"
    assert silent < 200


def test_cross_fitting_the_most_caught_leaves_the_events_of_a_fold_out():
    draws = np.random.default_rng(5)
    truth = np.tile([0, 0, 1, 1, 0, 0, 0, 0], 6)
    scores = draws.integers(0, 20, truth.size) + 5 * truth
    curve = cc.affiliation_curve(truth, scores)
    fitted = curve.cross_fitted(folds=3, objective="caught", max_alarmed=0.4)
    assert fitted.caught <= curve.best(objective="caught", max_alarmed=1).caught
    # Zones end halfway between events: those of a fold are 16 samples, the first and the last too.
    borders = [0, 15, 31, 48]
    for fold, threshold in enumerate(fitted.thresholds.tolist()):
        rest = np.ones(truth.size, dtype=bool)
        rest[borders[fold] : borders[fold + 1]] = False
        kept = []
        for one in sorted({*scores[rest].tolist()}, reverse=True):
            alarmed = scores[rest] >= one
            if alarmed.mean() <= 0.4:
                events = [slice(8 * k + 2, 8 * k + 4) for k in range(6) if k // 2 != fold]
                kept.append(sum((scores[event] >= one).any() for event in events))
        at = sum(
            (scores[8 * k + 2 : 8 * k + 4] >= threshold).any() for k in range(6) if k // 2 != fold
        )
        assert at == max(kept)


def test_an_unknown_objective():
    text = "Expected `objective` to be 'fbeta' or 'caught', got 'recall'."
    assert message(InputError, hours().best, objective="recall") == text
