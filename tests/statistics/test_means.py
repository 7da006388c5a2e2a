"""The mean of one number per series, and the difference of two such means."""

from math import inf, isnan, nan

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.statistics import (
    Sample,
    mean_difference,
    mean_differences,
    mean_interval,
    mean_intervals,
    means,
)
from tests.oracle import bootstrap as oracle


def limits(interval):
    return interval.low, interval.high


def test_a_score_has_the_limits_of_scores_over_events():
    random = np.random.default_rng(1)
    values = np.where(random.random(15) < 0.2, nan, random.random(15))
    events = Sample.read([values], [np.zeros(15)]).intervals(0, 0.9, n=500, seed=3).precision
    interval = mean_interval(values, level=0.9, low=0, high=1, n=500, seed=3)
    assert interval.value == pytest.approx(np.nanmean(values))
    assert limits(interval) == pytest.approx(limits(events), abs=1e-12)


@pytest.mark.parametrize(("value", "other"), [(1.0, "low"), (0.0, "high")])
def test_equal_series_are_not_certain(value, other):
    interval = mean_interval([value] * 2, low=0, high=1, n=40_000)
    low, high = oracle.limits_of_share(2 * value, 2)
    assert limits(interval) == pytest.approx((low, high), abs=0.006)
    assert abs(getattr(interval, other) - value) > 0.5


def test_other_bounds_are_only_another_scale():
    random = np.random.default_rng(2)
    shares = random.random(9)
    plain = mean_interval(shares, low=0, high=1, n=300)
    scaled = mean_interval(5 * shares - 3, low=-3, high=2, n=300)
    assert limits(scaled) == pytest.approx((5 * plain.low - 3, 5 * plain.high - 3))


def test_a_number_without_bounds_has_the_limits_of_student():
    values = [0.8, nan, 0.9, 0.4, 0.7]
    low, high, _ = oracle.paired_t([0.8, 0.9, 0.4, 0.7], [0.0] * 4)
    assert limits(mean_interval(values)) == pytest.approx((low, high))
    assert limits(mean_interval(values, low=0.4)) == pytest.approx((0.4, high))
    assert limits(mean_interval(values, high=0.9)) == pytest.approx((low, 0.9))


@pytest.mark.parametrize(
    ("values", "bounds", "value"),
    [
        ([0.3], (0, 1), 0.3),
        ([nan, nan], (0, 1), nan),
        ([], (0, inf), nan),
        ([7.0, 7.0, 7.0], (0, inf), 7.0),
        ([7.0, inf], (0, inf), inf),
    ],
)
def test_where_nothing_can_be_said_there_are_no_limits(values, bounds, value):
    interval = mean_interval(values, low=bounds[0], high=bounds[1])
    assert interval.value == pytest.approx(value, nan_ok=True)
    assert isnan(interval.low)
    assert isnan(interval.high)


def test_many_columns_are_as_each_alone_in_any_blocks(monkeypatch):
    random = np.random.default_rng(4)
    columns = random.random((5, 12))
    columns[2] = np.round(columns[2])
    bounds = [(0, 1), (0, inf), (-1, 1), (0, 1), (0, 2)]
    options = {"level": 0.8, "n": 200, "seed": 5}
    together = mean_intervals(columns, bounds, **options)
    monkeypatch.setattr(means, "_MOST_DRAWS", 1)
    for column, (low, high), one, blocked in zip(
        columns, bounds, together, mean_intervals(columns, bounds, **options), strict=True
    ):
        alone = mean_interval(column, low=low, high=high, **options)
        assert limits(one) == pytest.approx(limits(alone), rel=1e-12)
        assert limits(blocked) == pytest.approx(limits(alone), rel=1e-12)


def test_the_difference_is_that_of_the_paired_t_test_over_series_that_have_both():
    random = np.random.default_rng(6)
    first, second = random.random((2, 30))
    first[3] = second[7] = nan
    second[8] = inf
    kept = np.isfinite(first) & np.isfinite(second)
    made, count = mean_difference(first, second, level=0.8)
    low, high, pvalue = oracle.paired_t(first[kept], second[kept], level=0.8)
    assert count == 27
    assert made.value == pytest.approx((first - second)[kept].mean())
    assert limits(made) == pytest.approx((low, high))
    assert made.pvalue == pytest.approx(pvalue)


def test_the_difference_of_scores_is_that_over_events():
    random = np.random.default_rng(7)
    first, second = np.round(random.random((2, 30)), 1)
    _, expected, _ = Sample.read([first, second], [first, second]).differences(0, 1, 0.9)
    made, _ = mean_difference(first, second, level=0.9, low=0, high=1)
    plain, _ = mean_difference(first, second, level=0.9)
    assert limits(made) == pytest.approx(limits(expected))
    assert made.pvalue == pytest.approx(expected.pvalue)
    assert made.low <= plain.low < plain.high <= made.high
    scaled, _ = mean_difference(5 * first - 3, 5 * second - 3, level=0.9, low=-3, high=2)
    assert limits(scaled) == pytest.approx((5 * made.low, 5 * made.high))
    assert scaled.pvalue == pytest.approx(made.pvalue)


def test_every_two_of_many_are_as_alone():
    random = np.random.default_rng(8)
    columns = random.random((4, 20))
    columns[1, 3] = columns[2, 7] = nan
    together = mean_differences(columns, (0, 1), level=0.8)
    assert [pair for pair, _, _ in together] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [count for _, _, count in together] == [19, 19, 20, 18, 19, 19]
    for (first, second), one, _ in together:
        alone, _ = mean_difference(columns[first], columns[second], low=0, high=1, level=0.8)
        assert one == alone


def test_differences_of_few_and_of_steady_series():
    few, count = mean_difference([1.0] * 5, [0.0] * 5)
    assert (few.value, count) == (1.0, 5)
    assert isnan(few.low)
    assert isnan(few.pvalue)
    steady, _ = mean_difference([1.0] * 6, [0.0] * 6, low=0, high=1)
    low, high, pvalue = oracle.limits_of_lead(1.0, 0.0, judged=6, differing=6)
    assert (steady.low, steady.high, steady.pvalue) == pytest.approx((low, high, pvalue))
    assert (steady.high, steady.pvalue) == (1.0, 1 / 32)
    assert isnan(mean_difference([1.0] * 6, [0.0] * 6)[0].low)
    nothing, count = mean_difference([nan, 1.0], [1.0, nan])
    assert count == 0
    assert isnan(nothing.value)


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_numbers_outside_of_their_bounds_are_refused(value):
    with pytest.raises(InputError, match=f"numbers from 0 to 1, got {value} at index 1"):
        mean_interval([0.5, value], low=0, high=1)
    with pytest.raises(InputError, match=f"numbers from 0 to 1, got {value} at index 1"):
        mean_difference([0.5, value], [0.5, 0.5], low=0, high=1)
    assert mean_interval([0.5, 1 + 1e-12], low=0, high=1).high <= 1 + 1e-12


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        ({"low": "a"}, InputTypeError, "`low` to be a number, which may be infinite, got 'a'"),
        ({"high": None}, InputTypeError, "`high` to be a number"),
        ({"low": nan}, InputError, "`low` to be a number, which may be infinite, got nan"),
        ({"low": 5, "high": 1}, InputError, "`low` to be below `high`, got 5 and 1"),
        ({"low": 1, "high": 1}, InputError, "`low` to be below `high`, got 1 and 1"),
    ],
)
def test_bounds_are_checked(bounds, error, message):
    with pytest.raises(error, match=message):
        mean_interval([0.5, 0.7], **bounds)


@pytest.mark.parametrize("options", [{"n": 99}, {"seed": -1}, {"level": 1}])
def test_options_are_checked_even_if_nothing_is_drawn(options):
    with pytest.raises(InputError, match=next(iter(options))):
        mean_interval([1.0, 2.0], **options)
    with pytest.raises(InputError, match="level"):
        mean_difference([1.0, 2.0], [1.0, 2.0], level=1)


def test_differences_whose_squares_overflow_have_no_limits():
    gap, _ = mean_difference([1e300, 0.0, 1.0, 2.0, 3.0, 4.0], [0.0] * 6)
    assert (gap.low, gap.high, gap.pvalue) == (-inf, inf, 1.0)
