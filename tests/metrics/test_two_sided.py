"""Precision and recall with a tolerance from each side's view, and their null."""

from datetime import datetime, timedelta
from itertools import combinations
from math import comb, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import InputError
from closecall.metrics import classical
from closecall.metrics.window import two_sided, two_sided_null
from tests.metrics.test_window import SPAN, events, on_integers, same
from tests.oracle import window as oracle

VECTORS = st.integers(1, 12).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(0, 1), min_size=size, max_size=size)] * 2)
)


@given(events(), events(), st.sampled_from([0, 1, 2, 2.5, 7]))
def test_samples_are_counted(truth, predicted, tolerance):
    found = two_sided(on_integers(truth), on_integers(predicted), tolerance=tolerance, span=SPAN)
    assert same(found, oracle.two_sided(truth, predicted, tolerance, whole=True))


@given(events(step=0.5), events(step=0.5), st.sampled_from([0, 0.5, 1, 2.5, 7]))
def test_numbers_are_measured(truth, predicted, tolerance):
    sides = cc.Events(truth), cc.Events(predicted)
    found = two_sided(*sides, tolerance=tolerance, span=(0.0, 40.0))
    assert same(found, oracle.two_sided(truth, predicted, tolerance, whole=False))


@given(VECTORS)
def test_tolerance_0_is_classical(sides):
    plain = classical(*sides)
    assert same(two_sided(*sides, tolerance=0), (plain.precision, plain.recall))


@given(VECTORS, st.integers(0, 4))
def test_swapping_the_sides_swaps_precision_and_recall(sides, tolerance):
    there, back = (two_sided(*order, tolerance=tolerance) for order in (sides, sides[::-1]))
    assert same(there, (back.recall, back.precision))


def test_each_side_counts_its_own():
    """Two alarms see the one true sample between them; it sees them as one."""
    result = two_sided([0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0, 0, 0], tolerance=1)
    assert (result.precision, result.recall) == (1.0, 0.5)


@pytest.mark.parametrize("index", [0, 1, 4])
def test_the_ends_of_the_series_are_judged_too(index):
    """The authors' code leaves out the first and the last samples in the numerators."""
    labels = [int(i == index) for i in range(5)]
    assert two_sided(labels, labels, tolerance=2).values() == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
    }


def authors_count(one, other, tolerance):
    """What the notebook beside the paper counts: windows that fit in the series."""
    inner = range(tolerance, len(one) - tolerance)
    return sum(bool(one[t] and other[t - tolerance : t + tolerance + 1].sum() >= 1) for t in inner)


@pytest.mark.parametrize("tolerance", [0, 1, 2, 4])
def test_away_from_the_ends_the_authors_agree(tolerance):
    generator = np.random.default_rng(tolerance)
    truth, predicted = (generator.random((2, 400)) < 0.05).astype(int)
    for side in (truth, predicted):
        side[:tolerance] = side[400 - tolerance :] = 0
    expected = (
        authors_count(predicted, truth, tolerance) / predicted.sum(),
        authors_count(truth, predicted, tolerance) / truth.sum(),
    )
    assert same(two_sided(truth, predicted, tolerance=tolerance), expected)


def test_datetimes_are_measured_in_time():
    def stamp(minutes):
        return datetime(2024, 1, 1) + timedelta(minutes=minutes)  # noqa: DTZ001 - none is needed

    truth = cc.Events([(stamp(10), stamp(20))])
    predicted = cc.Events([(stamp(22), stamp(26))])
    span = (stamp(0), stamp(60))
    result = two_sided(truth, predicted, tolerance=timedelta(minutes=3), span=span)
    # [22, 23) of four minutes is within 3 of the event; [19, 20) of ten is within 3 of the alarm.
    assert (result.precision, result.recall) == (0.25, 0.1)


def exact_null(predicted, count, tolerance):
    """Average over every placement of the true samples."""
    scores = []
    for places in combinations(range(len(predicted)), count):
        truth = np.zeros(len(predicted), dtype=int)
        truth[list(places)] = 1
        result = two_sided(truth, predicted, tolerance=tolerance)
        scores.append((result.precision, result.recall))
    assert len(scores) == comb(len(predicted), count)
    return np.array(scores)


def test_the_null_is_that_of_all_permutations():
    truth, predicted = [0, 0, 1, 0, 0, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0, 1]
    exact = exact_null(predicted, 2, 1)
    null = two_sided_null(truth, predicted, tolerance=1, simulations=4000, seed=1)
    error = exact.std(axis=0) / np.sqrt(4000)
    observed = two_sided(truth, predicted, tolerance=1)
    assert null.observed == observed
    means = np.array([null.precision_mean, null.recall_mean])
    assert (np.abs(means - exact.mean(axis=0)) < 4 * error).all()
    chances = (exact >= [observed.precision, observed.recall]).mean(axis=0)
    p_values = np.array([null.precision_p_value, null.recall_p_value])
    assert (np.abs(p_values - chances) < 4 * np.sqrt(chances * (1 - chances) / 4000) + 1e-3).all()


def test_points_on_a_continuous_axis_fall_uniformly():
    """One alarm in the middle: a random point is within 5 of it with chance 10 / 100."""
    truth, predicted = cc.Events.from_points([10.0, 20.0]), cc.Events.from_points([50.0])
    null = two_sided_null(truth, predicted, tolerance=5, span=(0.0, 100.0), simulations=4000)
    assert null.recall_mean == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 8000))
    assert null.precision_mean == pytest.approx(1 - 0.9**2, abs=4 * np.sqrt(0.16 / 4000))


def test_ranges_on_a_continuous_axis_stay_whole():
    """A true event as long as half the span always meets the middle of it."""
    truth, predicted = cc.Events([(0.0, 60.0)]), cc.Events([(45.0, 55.0)])
    null = two_sided_null(truth, predicted, tolerance=0, span=(0.0, 100.0), simulations=50)
    assert null.precision.tolist() == [1.0] * 50
    assert null.recall == pytest.approx(1 / 6)


def test_datetimes_have_the_null_of_numbers():
    def stamps(days):
        return np.datetime64("2024-01-01", "s") + np.array(days) * np.timedelta64(86400, "s")

    numbers = two_sided_null(
        cc.Events.from_points([10.0, 20.0]),
        cc.Events([(50.0, 60.0)]),
        tolerance=5,
        span=(0.0, 100.0),
        simulations=100,
    )
    dates = two_sided_null(
        cc.Events.from_points(stamps([10, 20])),
        cc.Events.from_arrays(stamps([50]), stamps([60])),
        tolerance=timedelta(days=5),
        span=tuple(stamps([0, 100])),
        simulations=100,
    )
    np.testing.assert_allclose(dates.precision, numbers.precision, atol=1e-9)
    np.testing.assert_allclose(dates.recall, numbers.recall, atol=1e-9)


def test_the_seed_decides():
    sides = [0, 0, 1, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0, 1, 0]
    first, again, other = (
        two_sided_null(*sides, tolerance=1, simulations=50, seed=seed) for seed in (1, 1, 2)
    )
    assert first.precision.tolist() == again.precision.tolist()
    assert first.precision.tolist() != other.precision.tolist()


def test_p_values_count_the_observation_itself():
    null = two_sided_null([1, 1, 1], [1, 1, 1], tolerance=0, simulations=9)
    assert (null.precision_p_value, null.recall_p_value) == (1.0, 1.0)
    rare = two_sided_null([0] * 500 + [1], [0] * 500 + [1], tolerance=0, simulations=9, seed=3)
    assert (rare.precision_p_value, rare.recall_p_value) == (0.1, 0.1)


def test_quantiles_and_the_line_that_sums_up():
    null = two_sided_null([0, 0, 1, 0], [0, 1, 0, 0], tolerance=1, simulations=200)
    lowest, highest = null.quantile(0), null.quantile(1)
    assert (lowest.precision, highest.precision) == (0.0, 1.0)
    assert null.quantile(0.5).recall == np.median(null.recall)
    with pytest.raises(InputError, match="`q` to be a number from 0 to 1, got 2"):
        null.quantile(2)
    assert repr(null) == (
        f"TwoSidedNull(precision_mean={null.precision_mean:.3g}, "
        f"precision_p_value={null.precision_p_value:.3g}, recall_mean={null.recall_mean:.3g}, "
        f"recall_p_value={null.recall_p_value:.3g})"
    )


def test_without_truth_recall_has_no_null():
    null = two_sided_null([0, 0, 0], [0, 1, 0], tolerance=1, simulations=5)
    assert (null.precision_mean, null.precision_p_value) == (0.0, 1.0)
    assert isnan(null.recall_mean)
    assert isnan(null.recall_p_value)


def test_a_generator_is_a_seed():
    sides = [0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0, 0, 0]
    seeded = two_sided_null(*sides, tolerance=1, seed=5, simulations=50)
    drawn = two_sided_null(*sides, tolerance=1, seed=np.random.default_rng(5), simulations=50)
    np.testing.assert_array_equal(seeded.precision, drawn.precision)
