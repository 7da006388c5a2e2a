"""What happened to each event, at one threshold and at all, beside brute force."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import closecall as cc
from closecall.events import runs
from tests.oracle.outcomes import median_delay, outcomes
from tests.properties.strategies import Case, cases, dyadic_steps, on_uneven_axis, small


def check(case, close=None):
    result = case.score(close=close)
    far = np.inf if close is None else close
    rows, false = outcomes(case.truth, case.predicted, case.span, far)
    found = result.events
    assert list(found.outcome) == [row[0] for row in rows]
    np.testing.assert_array_equal(found.delay, [row[1] for row in rows])
    np.testing.assert_array_equal(found.nearest, [row[2] for row in rows])
    assert found.already_in_alarm.tolist() == [row[3] for row in rows]
    assert result.close_calls == sum(row[0] == "close call" for row in rows)
    assert result.missed == sum(row[0] != "caught" for row in rows)
    assert result.caught == sum(row[0] == "caught" for row in rows)
    assert (result.alarms, result.false_alarms) == (len(case.predicted), false)
    assert found.median_delay == median_delay(rows)
    span = case.span[1] - case.span[0]
    share = sum(stop - start for start, stop in case.predicted) / span
    assert result.alarmed == pytest.approx(share, abs=1e-14)


@given(cases())
@example(Case([(40, 42), (44, 46)], [(43, 44)], (0, 60)))  # starts on a border: no more in its zone
@example(Case([(14, 16), (18, 20)], [(16, 17)], (0, 60)))  # ends on a border: not yet
@example(Case([(14, 16), (18, 20)], [(17, 17)], (0, 60)))  # a point on it is in the zone behind
def test_ranges_and_points(case):
    check(case)


@given(on_uneven_axis(cases(), dyadic_steps))
def test_uneven_axes(case):
    check(case)


@given(cases(), st.integers(0, 6))
def test_an_alarm_beyond_what_is_close_is_no_close_call(case, close):
    check(case, close)


def joined(labels, times, truth, cooldown):
    """Count the alarms, and those that overlap no true sample, where a short pause joins two."""
    groups = []
    if any(labels):
        for first, after in zip(*runs(np.array(labels)), strict=True):
            hit = any(truth[first:after])
            if groups and times[first] - groups[-1][0] < cooldown:
                groups[-1] = (times[after], groups[-1][1] or hit)
            else:
                groups.append((times[after], hit))
    return len(groups), sum(not hit for _, hit in groups)


@st.composite
def flapping(draw, most=24):
    """Draw true labels, scores that rise and fall, and the borders of the samples."""
    size = draw(st.integers(5, most))
    samples, widths = draw(small(0, 13, size)), draw(small(1, 4, size))
    truth, scores = [sample % 2 for sample in samples], [sample // 2 for sample in samples]
    truth[-1] |= not any(truth)
    return truth, scores, np.cumsum([0, *widths])


@given(flapping(), st.integers(1, 9))
def test_alarms_with_a_cooldown(series, cooldown):
    truth, scores, borders = series
    curve = cc.affiliation_curve(truth, scores, times=borders[:-1], end=borders[-1])
    columns = curve._columns(cooldown)
    for index, threshold in enumerate(curve.thresholds):
        labels = [int(score >= threshold) for score in scores]
        expected = joined(labels, borders, truth, cooldown)
        assert (columns.alarms[index], columns.false_alarms[index]) == expected
        point = curve.operating_point(threshold - 0.5, cooldown=cooldown)
        assert (point.alarms, point.false_alarms) == expected


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "min_precision": st.sampled_from([0.3, 0.5, 0.8]),
        "min_recall": st.sampled_from([0.3, 0.5, 0.9]),
        "max_alarms_per": st.tuples(st.integers(0, 3), st.integers(5, 30)),
        "max_false_alarms_per": st.tuples(st.integers(0, 2), st.integers(5, 30)),
        "max_alarmed": st.sampled_from([0.2, 0.6, 1.0]),
        "cooldown": st.integers(1, 9),
    },
)


@given(flapping(), LIMITS)
def test_best_is_the_optimum_of_what_was_asked(series, limits):
    truth, scores, borders = series
    span = borders[-1]
    admissible = {}
    for threshold in sorted(set(scores)):
        labels = [int(score >= threshold) for score in scores]
        own = cc.affiliation(truth, labels, times=borders[:-1], end=span)
        alarms, false = joined(labels, borders, truth, limits.get("cooldown", 0))
        budgets = [
            (count, limits[name])
            for count, name in ((alarms, "max_alarms_per"), (false, "max_false_alarms_per"))
            if name in limits
        ]
        most = limits.get("max_alarmed", 0.5 if budgets else 1)
        if (
            own.precision >= limits.get("min_precision", 0)
            and own.recall >= limits.get("min_recall", 0)
            and own.alarmed <= most
            and all(count * every <= allowed * span for count, (allowed, every) in budgets)
        ):
            admissible[threshold] = own.f1
    curve = cc.affiliation_curve(truth, scores, times=borders[:-1], end=span)
    if not admissible:
        with pytest.raises(cc.errors.UndefinedMetricError, match="the nearest is"):
            curve.best(**limits)
        return
    best = curve.best(**limits)
    assert best.threshold in admissible
    assert best.fbeta == pytest.approx(max(admissible.values()), abs=1e-12)


@given(flapping(40), st.integers(2, 5))
def test_cross_fitting_scores_each_event_where_the_others_choose(series, folds):
    truth, scores, borders = series
    curve = cc.affiliation_curve(truth, scores, times=borders[:-1], end=borders[-1])
    events = len(curve.scored.truth)
    if events < 5:
        with pytest.raises(cc.errors.UndefinedMetricError, match="at least 5 true events"):
            curve.cross_fitted(folds=folds)
        return
    found = curve.cross_fitted(folds=folds)
    tables = {h: curve.events_at(h) for h in curve.thresholds.tolist()}
    precision, recall = [], []
    for fold, threshold in enumerate(found.thresholds.tolist()):
        own = found.folds == fold
        others = {}
        for h, table in tables.items():
            precisions = table.precision[~own]
            if not np.isnan(precisions).all():
                p, r = np.nanmean(precisions), table.recall[~own].mean()
                others[h] = 2 * p * r / (p + r) if p + r else 0.0
        assert others[threshold] == pytest.approx(max(others.values()), abs=1e-12)
        precision.extend(tables[threshold].precision[own])
        recall.extend(tables[threshold].recall[own])
    assert found.recall == pytest.approx(np.mean(recall))
    if not np.isnan(precision).all():
        assert found.precision == pytest.approx(np.nanmean(precision))
    assert sorted(set(found.folds.tolist())) == list(range(folds))
