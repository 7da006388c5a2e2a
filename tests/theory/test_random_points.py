"""The closed forms, against exact fractions, fine grids and draws."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import ClosecallError
from closecall.theory import (
    averaged_precision,
    averaged_recall,
    mean_recall_of_points,
    one_point_recall,
    precision_of_points,
    recall_of_one_point,
)
from tests.messages import message
from tests.oracle.random_points import (
    averages,
    exact_recall_moments,
    on_grid,
    precision_at,
    random_detectors,
    recall_of,
)
from tests.properties.strategies import small

PLACES = {
    "centred": ((40, 60), (0, 100)),
    "at the border": ((0, 30), (0, 100)),
    "off centre": ((5, 25), (0, 40)),
    "long": ((1, 9), (0, 10)),
    "whole": ((3, 8), (3, 8)),
    "point": ((2, 2), (0, 10)),
    "point at the border": ((10, 10), (0, 10)),
}
everywhere = pytest.mark.parametrize(("event", "zone"), PLACES.values(), ids=PLACES)


def filled(event, zone):
    return (event[1] - event[0]) / (zone[1] - zone[0])


@everywhere
def test_precision_of_one_point(event, zone):
    values, _ = on_grid(event, zone, places=20_000, times=1)
    moments = precision_of_points(filled(event, zone))
    assert moments.mean == pytest.approx(values.mean(), abs=1e-7)
    assert moments.variance == pytest.approx(values.var(), abs=1e-7)
    # It is one inside the event, and uniform outside.
    p = filled(event, zone)
    assert (values == 1).mean() == pytest.approx(p, abs=1e-4)
    rest = np.sort(values[values < 1])
    np.testing.assert_allclose(rest, np.linspace(0, 1 - p, rest.size), atol=2e-4)


@everywhere
@pytest.mark.parametrize("points", [5])
def test_precision_of_more_points(event, zone, points):
    x = np.random.default_rng(points).uniform(*zone, (40_000, points))
    values = precision_at(x, event, zone).mean(axis=1)
    moments = precision_of_points(filled(event, zone), points)
    assert values.mean() == pytest.approx(moments.mean, abs=4 * sqrt(moments.variance / 40_000))
    assert values.var() == pytest.approx(moments.variance, rel=0.04)


@everywhere
@pytest.mark.parametrize("points", [2, 7])
def test_mean_recall_of_points(event, zone, points):
    x = np.random.default_rng(points).uniform(*zone, (20_000, points))
    values = recall_of(x, event, zone, grid=50)
    error = values.std() / sqrt(values.size)
    assert values.mean() == pytest.approx(points / (points + 1), abs=4 * error + 1e-4)
    assert mean_recall_of_points(points) == pytest.approx(points / (points + 1))


def test_mean_recall_of_points_takes_arrays():
    assert mean_recall_of_points([0, 1, 2, 9]).tolist() == pytest.approx([0, 1 / 2, 2 / 3, 0.9])


@everywhere
def test_recall_of_one_point_on_a_grid(event, zone):
    _, values = on_grid(event, zone, places=4000, times=400)
    moments = recall_of_one_point(event, zone)
    assert moments.mean == pytest.approx(values.mean(), abs=1e-6)
    assert moments.variance == pytest.approx(values.var(), abs=1e-6)


@st.composite
def zones(draw):
    low, a, b, high = sorted(draw(small(-50, 50, 4)))
    return (a, b), (low, max(high, low + 1, b))


@given(zones())
@settings(max_examples=200)
def test_variance_of_the_recall_of_one_point_is_exact(place):
    event, zone = place
    exact = [tuple(map(Fraction, interval)) for interval in place]
    mean, variance = exact_recall_moments(*exact)
    assert mean == Fraction(1, 2)
    assert recall_of_one_point(event, zone).variance == pytest.approx(float(variance), abs=1e-15)


@pytest.mark.parametrize("p", [1e-12, 1e-3, 0.1, 0.2, 1 / 3])
def test_short_events_in_the_middle_and_at_a_border(p):
    middle, border = (0.5 - p / 2, 0.5 + p / 2), (0, p)
    expected = {middle: 1 / 12 - p**2 / 3 + 13 * p**3 / 40, border: 1 / 12 - p**3 / 6}
    for event, variance in expected.items():
        assert recall_of_one_point(event, (0, 1)).variance == pytest.approx(variance, abs=1e-15)


def test_moments_of_arrays():
    starts, stops = np.array([0.0, 40.0]), np.array([30.0, 60.0])
    moments = recall_of_one_point((starts, stops), (0, 100))
    single = [recall_of_one_point(ends, (0, 100)).variance for ends in [(0, 30), (40, 60)]]
    assert moments.variance.tolist() == single
    assert moments.mean.tolist() == [0.5, 0.5]
    both = precision_of_points([0.0, 0.5], [1, 4])
    assert both.mean.tolist() == [0.5, 0.625]
    assert both.variance.tolist() == pytest.approx([1 / 12, (0.5 + 1 / 24 - 0.625**2) / 4])


def test_many_zones_are_as_good_as_one():
    ends = np.linspace(0.1, 0.9, 10_001)
    moments = recall_of_one_point((np.full_like(ends, 0.1), ends), (0, 1))
    assert moments.variance[5000] == recall_of_one_point((0.1, ends[5000]), (0, 1)).variance
    assert (np.diff(moments.variance) < 0).all()


def test_averages_given_the_counts():
    truth, span = [(1, 3), (7, 7.5), (18, 18)], (0, 20)
    precision, recall = random_detectors(
        truth, span, 2, draws=100_000, generator=np.random.default_rng(4)
    )
    zones = [(0, 5), (5, 12.75), (12.75, 20)]
    before = [
        (event[0] - low) / (high - low) for event, (low, high) in zip(truth, zones, strict=True)
    ]
    shares = [filled(event, zone) for event, zone in zip(truth, zones, strict=True)]
    hit = ~np.isnan(precision)
    for counts in ([1, 1, 0], [1, 0, 1], [2, 0, 0]):
        chosen = (hit == (np.array(counts) > 0)).all(axis=1)
        p, r, _ = averages(precision[chosen], recall[chosen])
        expected = averaged_precision(shares, counts)
        assert p.mean() == pytest.approx(expected.mean, abs=4 * p.std() / sqrt(p.size))
        assert p.var() == pytest.approx(expected.variance, rel=0.06)
        expected = averaged_recall(before, shares, counts)
        assert r.mean() == pytest.approx(expected.mean, abs=4 * r.std() / sqrt(r.size) + 1e-4)
        assert np.isnan(expected.variance) == (max(counts) > 1)
        if max(counts) == 1:
            assert r.var() == pytest.approx(expected.variance, rel=0.06)


def test_no_points_at_all():
    assert np.isnan(averaged_precision([0.1, 0.2], [0, 0])).all()
    assert averaged_recall([0.1, 0.2], [0.1, 0.2], [0, 0]) == (0, 0)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.data())
def test_scores_are_those_of_the_metric(before, event, after, data):
    length = max(before + event + after, 1)
    place = data.draw(st.integers(0, length))
    truth = cc.Events([(before, before + event)])
    expected = cc.affiliation(truth, cc.Events.from_points([place]), span=(0, length))
    x, u, p = (np.array([value / length]) for value in (place, before, event))
    assert one_point_recall(x, u, p)[0] == pytest.approx(expected.recall, abs=1e-14)


@pytest.mark.parametrize("p", [1e-14, 1e-9, 1e-4])
def test_short_events_are_no_rounding_error(p):
    x = np.linspace(0, 1, 101)[None, :]
    recall = one_point_recall(x, np.array([0.3]), np.array([p]))
    point = one_point_recall(x, np.array([0.3]), np.array([0.0]))
    np.testing.assert_allclose(recall, point, atol=2 * p + 1e-15)


SHARE, WHOLE = "to be in [0, 1], got", "to be whole numbers of"
INSIDE = "`event` to start before it stops, inside its zone, got"


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        (precision_of_points, [1.5], f"`filled` {SHARE} 1.5."),
        (precision_of_points, [float("nan")], f"`filled` {SHARE} nan."),
        (precision_of_points, [[0.5, -0.1]], f"`filled` {SHARE} -0.1 at index 1."),
        (precision_of_points, [0.5, 0], f"`points` {WHOLE} 1 or more, got 0."),
        (precision_of_points, ["x"], "`filled` to be numbers, got 'x'."),
        (mean_recall_of_points, [[3, 1.5]], f"`points` {WHOLE} 0 or more, got 1.5 at index 1."),
        (averaged_precision, [[0.5], [-1]], f"`counts` {WHOLE} 0 or more, got -1 at index 0."),
        (
            averaged_precision,
            [[0.1, 0.2], [1]],
            "`counts` to have one value for each of 2 zones, got 1.",
        ),
        (averaged_recall, [[2.0], [0.5], [1]], f"`before` {SHARE} 2 at index 0."),
        (averaged_recall, [[0.1], [0.95], [1]], f"`before + filled` {SHARE} 1.05 at index 0."),
        (recall_of_one_point, [5, (0, 10)], "`event` to be a pair (start, stop), got 5."),
        (recall_of_one_point, [(40, 160), (0, 100)], f"{INSIDE} (40, 160)."),
        (recall_of_one_point, [(60, 40), (0, 100)], f"{INSIDE} (60, 40)."),
        (recall_of_one_point, [(np.array([1, -1]), 5), (0, 10)], f"{INSIDE} (-1, 5) at index 1."),
        (recall_of_one_point, [(5, 5), (5, 5)], "`zone` to stop after its start, got (5, 5)."),
    ],
)
def test_refusals(function, arguments, text):
    assert message(ClosecallError, function, *arguments) == f"Expected {text}"
