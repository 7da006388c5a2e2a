"""Windows around true events: counted once, the margin rule, and a tolerance with its null."""

from datetime import datetime, timedelta
from itertools import combinations
from math import comb, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import InputError
from closecall.metrics import margin, two_sided, two_sided_null, window_once
from tests.oracle import window as oracle
from tests.properties.strategies import small

SPAN = (0, 40)


def events(*, step=1.0):
    """Draw disjoint events in the span, points among them, on multiples of the step."""

    def make(numbers):
        last, pairs = int(SPAN[1] / step), []
        borders = sorted({number % last for number in numbers})
        ranges = iter(number % 2 for number in reversed(numbers))
        while borders:
            start = borders.pop(0)
            stop = borders.pop(0) if borders and next(ranges) else start
            pairs.append((start * step, stop * step))
        return pairs

    return small(0, 255, 0, 12).map(make)


def on_integers(pairs):
    return cc.Events([(int(start), int(stop)) for start, stop in pairs])


def same(result, expected):
    return np.allclose([result.precision, result.recall], expected, atol=1e-12, equal_nan=True)


DEFINED = {
    "window_once": (window_once, "margin", oracle.window_once),
    "margin": (margin, "margin", oracle.margin_rule),
    "two_sided": (two_sided, "tolerance", oracle.two_sided),
}


@given(truth=events(), predicted=events(), reach=st.sampled_from([0, 1, 2, 3, 2.5, 7, 10]))
def test_on_samples_each_is_its_definition(truth, predicted, reach):
    sides = on_integers(truth), on_integers(predicted)
    for name, (metric, option, definition) in DEFINED.items():
        found = metric(*sides, span=SPAN, **{option: reach})
        assert same(found, definition(truth, predicted, reach, whole=True)), name


@given(sides=st.tuples(*[events(step=0.5)] * 2), reach=st.sampled_from([0, 0.5, 1, 2.5, 7, 10]))
def test_on_numbers_each_is_its_definition(sides, reach):
    for name, (metric, option, definition) in DEFINED.items():
        found = metric(*map(cc.Events, sides), span=(0.0, 40.0), **{option: reach})
        assert same(found, definition(*sides, reach, whole=False)), name


@given(events(step=0.5), events(step=0.5), st.sampled_from([0, 1, 2.5]))
def test_datetimes_give_what_numbers_give(truth, predicted, reach):
    def stamp(hours):
        return datetime(2024, 1, 1) + timedelta(hours=hours)  # noqa: DTZ001 - none is needed

    def dated(pairs):
        return cc.Events([(stamp(start), stamp(stop)) for start, stop in pairs])

    span, wide = (stamp(0), stamp(40)), timedelta(hours=reach)
    for metric in (window_once, margin):
        numbers = metric(cc.Events(truth), cc.Events(predicted), margin=reach, span=(0.0, 40.0))
        dates = metric(dated(truth), dated(predicted), margin=wide, span=span)
        assert same(dates, (numbers.precision, numbers.recall))


SOME, GUIDE = ([20, 50], [18, 19, 23, 90]), ([100, 200], [105, 115, 350, 400])


@pytest.mark.parametrize(
    ("metric", "points", "reach", "expected"),
    [
        (window_once, SOME, 5, (0.5, 0.5)),  # one window hit, one false alarm at 90
        (margin, SOME, 5, (0.25, 0.5)),  # over all predictions
        # The first example in the guide of ruptures.
        (margin, GUIDE, 5, (0.0, 0.0)),
        (margin, GUIDE, 6, (1 / 4, 1 / 2)),
        (margin, GUIDE, 20, (1 / 4, 1 / 2)),
        # Where windows overlap precision stays at 1; the paper's rule would give 2 and 1.
        (window_once, ([10, 12], [11]), 2, (1.0, 1.0)),
        (margin, ([10, 12], [11]), 2, (1.0, 0.5)),
        # A true event must not take every prediction near it, as it does in ruptures.
        (margin, ([10, 12], [11, 13]), 5, (1.0, 1.0)),
        (window_once, ([0], [2**61]), 1e300, (1.0, 1.0)),  # beyond the span
    ],
)
def test_points_by_hand(metric, points, reach, expected):
    sides = map(cc.Events.from_points, points)
    result = metric(*sides, margin=reach, span=(0, 2**61 + 1))
    assert (result.precision, result.recall) == expected


@pytest.mark.parametrize("metric", [window_once, margin])
@pytest.mark.parametrize("labels", [[0, 1, 0, 0, 1, 1], [1, 0, 0, 0, 0, 1], [1, 1, 1]])
def test_a_perfect_prediction_at_margin_0_is_perfect(metric, labels):
    assert metric(labels, labels, margin=0).values() == {"precision": 1, "recall": 1, "f1": 1}


@pytest.mark.parametrize(("reach", "recall"), [(2, 0.0), (3, 1.0)])
def test_samples_of_ranges_are_as_far_apart_as_their_nearest(reach, recall):
    result = window_once(cc.Events([(3, 7)]), cc.Events([(9, 10)]), margin=reach, span=(0, 12))
    assert result.recall == recall


def test_epoch_nanoseconds_are_compared_exactly():
    origin = np.datetime64("2024-01-01T00:00:00.000000001", "ns")
    truth = cc.Events.from_points(np.array([origin]))
    span = (origin, origin + np.timedelta64(400, "D"))
    distance = np.timedelta64(300, "D")
    predicted = cc.Events.from_points(np.array([origin + distance]))
    closer = distance - np.timedelta64(1000, "ns")
    assert window_once(truth, predicted, margin=distance, span=span).recall == 1.0
    assert window_once(truth, predicted, margin=closer, span=span).recall == 0.0
    assert margin(truth, predicted, margin=distance, span=span).recall == 0.0


def test_ruptures_agrees_where_windows_are_apart():
    ruptures = pytest.importorskip("ruptures.metrics")
    generator = np.random.default_rng(3)
    compared = 0
    for _ in range(300):
        truth, predicted = (
            np.sort(generator.choice(np.arange(1, 300), generator.integers(1, 9), replace=False))
            for _ in range(2)
        )
        reach = int(generator.integers(1, 25))
        if np.diff(truth, append=10_000).min() < 2 * reach - 1:
            continue
        sides = cc.Events.from_points(truth), cc.Events.from_points(predicted)
        ours = margin(*sides, margin=reach, span=(0, 300))
        theirs = ruptures.precision_recall([*truth, 300], [*predicted, 300], margin=reach)
        assert same(ours, theirs)
        compared += 1
    assert compared > 50


def test_each_side_counts_its_own():
    """Two alarms see the one true sample between them; it sees them as one."""
    result = two_sided([0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0, 0, 0], tolerance=1)
    assert (result.precision, result.recall) == (1.0, 0.5)


@pytest.mark.parametrize("index", [0, 1, 4])
def test_the_ends_of_the_series_are_judged_too(index):
    """The authors' code leaves out the first and the last samples in the numerators."""
    labels = [int(i == index) for i in range(5)]
    assert same(two_sided(labels, labels, tolerance=2), (1, 1))


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

    sides = cc.Events.from_points([10.0, 20.0]), cc.Events([(50.0, 60.0)])
    numbers = two_sided_null(*sides, tolerance=5, span=(0.0, 100.0), simulations=100)
    alarm = cc.Events.from_arrays(stamps([50]), stamps([60]))
    sides, axis = (cc.Events.from_points(stamps([10, 20])), alarm), {"span": stamps([0, 100])}
    dates = two_sided_null(*sides, tolerance=timedelta(days=5), simulations=100, **axis)
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
