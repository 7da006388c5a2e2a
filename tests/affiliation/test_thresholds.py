"""Choosing a threshold, under constraints."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from tests.properties.curve_strategies import float_kinds, scored_cases

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.5, 0.9, 0.2, 0.3, 0.1, 0.8, 0.1, 0.7, 0.0]
HOUR = timedelta(hours=1)


def hours(unit="s"):
    times = np.datetime64("2024-03-01", unit) + np.arange(10) * np.timedelta64(1, "h")
    return cc.affiliation_curve(TRUTH, SCORES, times=times)


@pytest.fixture
def curve():
    return cc.affiliation_curve(TRUTH, SCORES)


def message(error, curve, **options):
    with pytest.raises(error) as caught:
        curve.best(**options)
    return str(caught.value)


@given(scored_cases(float_kinds), st.sampled_from([0, 0.5, 1, 2]))
def test_the_maximum_and_of_equals_the_highest_threshold(case, beta):
    curve = case.curve()
    values = curve.fbeta(beta).tolist()
    point = values.index(max(values))  # thresholds descend, so the first is the highest
    best = curve.best(beta)
    assert (best.threshold, best.fbeta) == (curve.thresholds[point], values[point])
    assert (best.precision, best.recall) == (curve.precision[point], curve.recall[point])
    assert (best.alarms, best.beta) == (curve.alarms[point], beta)


@given(
    scored_cases(float_kinds),
    st.floats(0, 1) | st.none(),
    st.floats(0, 1) | st.none(),
    st.integers(0, 6) | st.none(),
)
def test_the_maximum_among_what_is_allowed(case, precision, recall, alarms):
    curve = case.curve()
    duration = case.span[1] - case.span[0]
    allowed = [
        (value, -point)
        for point, value in enumerate(curve.f1.tolist())
        if (precision is None or curve.precision[point] >= precision)
        and (recall is None or curve.recall[point] >= recall)
        and (alarms is None or curve.alarms[: point + 1].max() <= alarms)
    ]
    options = {"min_precision": precision, "min_recall": recall}
    options["max_alarms_per"] = None if alarms is None else (alarms, duration)
    if not allowed:
        assert "a threshold within the constraints" in message(
            UndefinedMetricError, curve, **options
        )
        return
    value, point = max(allowed)
    best = curve.best(**options)
    assert (best.fbeta, best.threshold) == (value, curve.thresholds[-point])


def test_equally_good_thresholds():
    # Both samples are inside the event, and the first already tells everything about it.
    curve = cc.affiliation_curve(cc.Events([(1, 1)]), [3, 2, 1], times=[0, 1, 2], span=(0, 3))
    assert curve.f1[0] == curve.f1[1] == curve.f1.max()
    assert curve.best().threshold == 3


def test_each_constraint_moves_the_choice(curve):
    assert curve.best().threshold == 0.7
    assert curve.best(min_precision=0.99).threshold == 0.9
    assert curve.best(min_recall=0.99).threshold == 0.2
    assert curve.best(max_alarms_per=0.2).threshold == 0.9
    assert curve.best(2, max_alarms_per=0.2).threshold == 0.8
    # Lower still, all is one alarm, which has F1 0.709 to the 0.629 at 0.9; that is no budget kept.
    assert curve.alarms[-2:].tolist() == [1, 1]
    assert curve.f1[-2] > curve.f1[0]


def test_floors_are_inclusive(curve):
    for point in range(len(curve)):
        precision, recall = curve.precision[point], curve.recall[point]
        best = curve.best(min_precision=precision, min_recall=recall)
        assert best.precision >= precision
        assert best.recall >= recall


def test_the_point_shows_itself(curve):
    best = curve.best(2)
    assert repr(best) == (
        f"OperatingPoint(threshold={best.threshold:.6g}, precision={best.precision:.3f}, "
        f"recall={best.recall:.3f}, f2={best.fbeta:.3f}, alarms={best.alarms})"
    )
    assert repr(curve.best(min_recall=0.99)).startswith("OperatingPoint(threshold=0.2, precision=")
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


def test_the_budget_counts_the_whole_span():
    events, options = cc.Events([(2, 4), (8, 9)]), {"times": range(10)}
    short = cc.affiliation_curve(events, SCORES, span=(0, 10), **options)
    long = cc.affiliation_curve(events, SCORES, span=(0, 20), **options)
    assert short.best(max_alarms_per=0.15).threshold == 0.9
    assert long.best(max_alarms_per=0.15).threshold == 0.7


PAIR = "Expected `max_alarms_per` to be a count and a duration"
NUMBER = (
    ", which is a number on this axis, got {!r}.\n\nHint: For example `max_alarms_per=(3, 100)`."
)
TIMEDELTA = (
    ", which is a timedelta on this axis, got {!r}.\n\n"
    "Hint: For example `max_alarms_per=(2, timedelta(days=1))`."
)


@pytest.mark.parametrize(
    "budget",
    [
        *([1, 2, 3], (1, 2, 3), "2/1d", (1, None), (1, "a")),
        *((1, HOUR), (1, np.timedelta64(5, "s")), (1, np.timedelta64(1, "M"))),
    ],
)
def test_what_is_no_budget_on_a_numeric_axis(curve, budget):
    assert message(InputTypeError, curve, max_alarms_per=budget) == PAIR + NUMBER.format(budget)


@pytest.mark.parametrize("budget", [2, (1, 5), (1, 2, 3), (1, None), (1, np.timedelta64(1, "M"))])
def test_what_is_no_budget_on_a_datetime_axis(budget):
    assert message(InputTypeError, hours(), max_alarms_per=budget) == PAIR + TIMEDELTA.format(
        budget
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        *(
            ({"max_alarms_per": budget}, f"{PAIR} above 0, got {budget!r}.")
            for budget in (-1, float("nan"), (1, 0), (1, -2), (-1, 2))
        ),
        *(
            ({name: floor}, f"Expected `{name}` to be from 0 to 1, got {floor}.")
            for name in ("min_precision", "min_recall")
            for floor in (-0.1, 1.1, float("nan"))
        ),
    ],
)
def test_options_out_of_range(curve, options, expected):
    assert message(InputError, curve, **options) == expected


@pytest.mark.parametrize("duration", [timedelta(0), np.timedelta64("NaT", "s"), timedelta(-1)])
def test_a_duration_that_is_none(duration):
    found = message(InputError, hours(), max_alarms_per=(1, duration))
    assert found.startswith(f"{PAIR} above 0, got")


def test_nothing_within_the_constraints(curve):
    assert message(UndefinedMetricError, curve, max_alarms_per=0) == (
        "Expected a threshold within the constraints, got none (precision reaches 1.000, recall "
        "1.000, and the fewest alarms are 1).\n\nHint: Loosen a constraint."
    )


@pytest.mark.parametrize("threshold", [float("nan"), None, "0.5"])
def test_what_is_no_threshold(curve, threshold):
    with pytest.raises(InputError, match="Expected `threshold` to be a number, or inf, got"):
        curve.at(threshold)
