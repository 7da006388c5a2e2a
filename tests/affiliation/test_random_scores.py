"""The average precision of random scores, against points let in one by one."""

from datetime import datetime, timedelta
from math import pi

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.random_scores import random_average_precision
from oracle.chance import random_average_precisions

DENSE = [(10 + 20 * i, 28 + 20 * i) for i in range(10)]


def level(truth, span):
    pair = cc.affiliation(cc.Events(truth), cc.Events.from_points([]), span=span).events.pair
    return random_average_precision(pair)


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
    assert level(points, (0, 2 * count)) == pytest.approx(expected, abs=0.0009 / count)


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
