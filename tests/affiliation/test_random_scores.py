"""The average precision of random scores, against points let in one by one."""

from datetime import datetime, timedelta
from math import pi

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.random_scores import random_average_precision, sizes_of_ties
from tests.oracle.chance import random_average_precisions

DENSE = [(10 + 20 * i, 28 + 20 * i) for i in range(10)]


def pair_of(truth, span):
    return cc.affiliation(cc.Events(truth), cc.Events.from_points([]), span=span).events.pair


def level(truth, span):
    return random_average_precision(pair_of(truth, span))


@pytest.mark.parametrize("place", [0.0, 1.0, 30.0, 50.0, 99.5])
def test_one_true_point_wherever_it_is(place):
    assert level([(place, place)], (0.0, 100.0)) == pytest.approx(pi**2 / 12 - 1 / 4, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 35])
def test_true_points_in_zones_of_one_length(count):
    """The k-th point of a zone adds a covariance, over the number of zones reached by then."""
    points = [(2 * i + 1, 2 * i + 1) for i in range(count)]
    total = 0.0
    for k in range(1, 60):
        covariance = (2 - k) / (2 * k**2 * (k + 1) * (k + 2))
        total += covariance * sum(m**-k for m in map(float, range(1, count + 1)))
    expected = 0.5 + total / count
    assert level(points, (0, 2 * count)) == pytest.approx(expected, abs=0.00075 / count)


@pytest.mark.parametrize(
    ("truth", "end"),
    [
        ([(45, 50)], 100),
        ([(0, 2)], 100),
        ([(25, 75)], 100),
        ([(0, 40)], 100),
        ([(5, 95)], 100),
        ([(10, 11), (60, 70)], 100),
        ([(0, 30), (32, 60), (99, 100)], 300),
        ([(75 + 300 * i, 225 + 300 * i) for i in range(10)], 3000),
        (DENSE, 3000),  # short zones full of events, which are reached late
    ],
)
def test_it_is_that_of_random_points(truth, end):
    generator = np.random.default_rng(end)
    draws = random_average_precisions(truth, (0, end), 300, draws=1500, generator=generator)
    error = draws.std() / draws.size**0.5
    assert error < 0.007
    assert level(truth, (0, end)) == pytest.approx(draws.mean(), abs=0.013 + 2 * error)


def test_it_is_that_of_shuffled_scores():
    truth = np.zeros(400, dtype=int)
    for start in range(15, 400, 40):
        truth[start : start + 6] = 1
    generator = np.random.default_rng(5)
    curves = [cc.affiliation_curve(truth, generator.permutation(400)) for _ in range(300)]
    mean = np.mean([curve.average_precision for curve in curves])
    assert curves[0].chance_average_precision == pytest.approx(mean, abs=0.015)
    assert mean > 0.51


def labels_of(events, length):
    labels = np.zeros(length, dtype=int)
    for start, stop in events:
        labels[start:stop] = 1
    return labels


EVEN = [(190 + 400 * i, 194 + 400 * i) for i in range(5)]
UNEVEN = [(0, 30), (32, 60), (299, 300)]  # nearly all of the span is the last one's zone


@pytest.mark.parametrize(
    "scores",
    [
        np.arange(2000) < 2,
        np.arange(2000) < 20,
        np.arange(2000) % 2,
        np.arange(2000) % 10,
        np.arange(2000) % 100,
        np.random.default_rng(1).poisson(3, 2000),
        np.random.default_rng(2).normal(size=2000).round(1).astype(np.float32),
    ],
    ids=["2 ones", "20 ones", "2 levels", "10 levels", "100 levels", "counts", "rounded"],
)
@pytest.mark.parametrize("events", [[(1000, 1003)], EVEN, UNEVEN], ids=["one", "even", "uneven"])
def test_it_is_that_of_shuffled_scores_with_ties(events, scores):
    truth, scores = labels_of(events, 2000), scores + 0 * scores  # booleans become numbers
    generator = np.random.default_rng(8)
    shuffled = [generator.permutation(scores) for _ in range(256)]
    draws = np.array([cc.affiliation_curve(truth, one).average_precision for one in shuffled])
    error = draws.std() / 16
    assert error < 0.014
    said = cc.affiliation_curve(truth, scores).chance_average_precision
    assert said == pytest.approx(draws.mean(), abs=0.013 + 2.5 * error)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_one_true_point_whose_first_points_come_together(size):
    """The covariance of each of them with recall counts for its share among them."""
    covariances = [(2 - k) / (2 * k**2 * (k + 1) * (k + 2)) for k in range(1, 3000)]
    weights = [k / size if k <= size else 1 for k in range(1, 3000)]
    expected = 0.5 + np.dot(covariances, weights)
    pair = pair_of([(30.0, 30.0)], (0.0, 100.0))
    assert random_average_precision(pair, np.array([size])) == pytest.approx(expected, abs=0.0002)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 35])
def test_points_that_come_one_by_one_are_no_ties(count):
    pair = pair_of([(2 * i + 1, 2 * i + 1) for i in range(count)], (0, 2 * count))
    one_by_one = random_average_precision(pair, np.ones(20 * count, dtype=np.int64))
    assert one_by_one == pytest.approx(random_average_precision(pair), abs=0.0003)


def test_only_the_highest_scores_are_counted():
    truth = labels_of(EVEN, 2000)
    scores = np.concatenate(
        (np.full(3, 9.0), np.full(2, 8.0), np.full(80, 7.0), np.arange(1915) % 5)
    )
    curve = cc.affiliation_curve(truth, scores)
    pair = curve.scored
    np.testing.assert_array_equal(sizes_of_ties(scores, curve.thresholds, pair), [3, 2, 80, 383])
    assert sizes_of_ties(np.arange(2000), np.arange(2000)[::-1], pair).size == 0


def test_events_that_fill_their_zones_leave_nothing_to_lose():
    assert level([(0, 4)], (0, 4)) == 1
    assert level([(0, 4), (4, 10)], (0, 10)) == pytest.approx(1)


def test_a_zone_without_length_is_never_reached():
    assert level([(0, 10), (10, 10)], (0, 10)) == pytest.approx(0.5)


def test_one_zone_more_than_a_million_times_as_long():
    """All recall of the long zone comes before the short one, which is all event, is reached."""
    alone = pi**2 / 12 - 1 / 4
    expected = (alone + (0.5 + 1) / 2) / 2
    assert level([(0.0, 1.0), (1.0, 2.0)], (0.0, 1e12)) == pytest.approx(expected, abs=0.01)


def test_units_and_origins_do_not_matter():
    truth, start = [(10, 12), (40, 70)], datetime(2024, 3, 1)  # noqa: DTZ001
    days = [tuple(start + timedelta(days=x) for x in event) for event in truth]
    span = (start, start + timedelta(days=100))
    expected = level(truth, (0, 100))
    assert level(days, span) == pytest.approx(expected, abs=1e-14)
    tiny = [(a * 1e-9, b * 1e-9) for a, b in truth]
    assert level(tiny, (0.0, 1e-7)) == pytest.approx(expected, abs=1e-12)
