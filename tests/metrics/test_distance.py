"""Distances between true and predicted events."""

from datetime import UTC, datetime, timedelta
from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.metrics.distance import hausdorff, modified_hausdorff, segmentation, semimetric
from tests.oracle import distance as oracle
from tests.properties.strategies import cases, events, mixed_cases


def sides(case):
    return events(case.truth), events(case.predicted)


@given(mixed_cases)
def test_equals_the_search_over_all_moments(case):
    pair = case.truth, case.predicted
    close = {"rel": 1e-12, "nan_ok": True}
    for metric in (hausdorff, modified_hausdorff):
        expected = getattr(oracle, metric.__name__)(*pair)
        assert metric(*sides(case), span=case.span).value == pytest.approx(expected, **close)
    expected = oracle.segmentation(*pair, case.span)
    assert segmentation(*sides(case), span=case.span).value == pytest.approx(expected, **close)
    for p in (0.5, 2, 40):  # the order weighs far moments
        expected = oracle.semimetric(*pair, p)
        # The quadrature of a root is not exact where it starts from 0.
        rel = 1e-5 if p < 1 else 1e-11
        value = semimetric(*sides(case), span=case.span, p=p).value
        assert value == pytest.approx(expected, rel=rel, nan_ok=True), p


@given(case=cases(truth="only", predicted="only", at_least=1))
def test_points_give_the_distances_of_the_literature(case):
    distance = pytest.importorskip("scipy.spatial.distance")
    true, found = (
        np.array([[start] for start, _ in side]) for side in (case.truth, case.predicted)
    )
    there, back = (distance.directed_hausdorff(*pair)[0] for pair in ((true, found), (found, true)))
    assert hausdorff(*sides(case), span=case.span).value == max(there, back)
    table = distance.cdist(true, found)
    means = table.min(axis=1).mean(), table.min(axis=0).mean()
    assert modified_hausdorff(*sides(case), span=case.span).value == pytest.approx(max(means))
    assert semimetric(*sides(case), span=case.span).value == pytest.approx(sum(means) / 2)


def test_a_worked_example_of_ranges():
    # [2, 4) and [3, 5): half of each is inside, the rest at a mean distance of 1/2.
    labels = [0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 0]
    assert hausdorff(*labels).value == 1.0
    assert modified_hausdorff(*labels).value == 0.25
    assert semimetric(*labels).value == 0.25
    assert semimetric(*labels, p=2).value == pytest.approx((1 / 6) ** 0.5)
    # Between sample numbers it would be twice as much.
    numbers = cc.Events.from_points([2, 3]), cc.Events.from_points([3, 4])
    assert modified_hausdorff(*numbers, span=(0, 6)).value == 0.5
    assert semimetric(*numbers, span=(0, 6)).value == 0.5
    # Boundaries 3 and 5 are one sample from 2 and 4.
    assert segmentation(*labels).value == 2 / 6


def test_the_farthest_moment_may_be_between_two_events():
    # From samples 0 and 2 the moment 1.5 is half a sample away.
    assert hausdorff([1, 1, 1], [1, 0, 1]).value == 0.5
    assert hausdorff([1, 1, 1, 1, 1], [1, 0, 0, 0, 1]).value == 1.5


def test_points_weigh_nothing_beside_ranges_but_can_be_near():
    truth, span = cc.Events([(10, 20)]), (0, 100)
    mixed = cc.Events([(10, 20), (90, 90)])
    assert modified_hausdorff(truth, mixed, span=span).value == 0.0
    assert hausdorff(truth, mixed, span=span).value == 70.0
    far = cc.Events([(10, 20), (50, 60)])
    near = cc.Events([(10, 20), (55, 55)])
    # The second event is 2.5 from the point on average, and weighs half.
    assert modified_hausdorff(far, near, span=span).value == 1.25


def test_datetimes_give_lengths_of_time():
    at = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=i) for i in range(7)]
    axis = {"times": at[:6], "end": at[6]}
    labels = [0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 0]
    assert hausdorff(*labels, **axis).value == np.timedelta64(60, "s")
    assert modified_hausdorff(*labels, **axis).value == np.timedelta64(15, "s")
    assert semimetric(*labels, **axis, p=2).value / np.timedelta64(60, "s") == pytest.approx(
        (1 / 6) ** 0.5
    )
    assert segmentation(*labels, **axis).value == 2 / 6
    for metric in (hausdorff, modified_hausdorff, semimetric):
        assert np.isnat(metric([0, 1, 0, 0, 0, 0], [0] * 6, **axis).value)


def test_nanoseconds_far_from_the_origin_are_exact():
    start = np.datetime64("2024-01-01T00:00:00.000000000")
    times = start + np.arange(6)
    found = hausdorff([0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 0], times=times).value
    assert found == np.timedelta64(1, "ns")


@pytest.mark.parametrize("metric", [hausdorff, modified_hausdorff, semimetric])
def test_an_empty_side_is_infinitely_far(metric):
    assert metric([0, 1, 0], [0, 0, 0]).value == inf
    assert metric([0, 0, 0], [0, 1, 0]).value == inf
    assert isnan(metric([0, 0, 0], [0, 0, 0]).value)
    assert metric([0, 1, 0], [0, 1, 0]).value == 0.0


def test_segmentation_is_undefined_without_boundaries():
    assert isnan(segmentation([0, 1, 0], [0, 0, 0]).value)
    assert isnan(segmentation([0, 0, 0], [0, 1, 0]).value)
    # Where the series starts and stops nothing changes.
    assert isnan(segmentation([0, 1, 0], [1, 1, 1]).value)
    assert segmentation([1, 1, 0, 0], [1, 0, 0, 0]).value == 1 / 4


def test_a_boundary_that_touching_events_share_counts_once():
    touching = cc.Events([(2, 4), (4, 6)])
    assert segmentation(cc.Events([(2, 6)]), touching, span=(0, 10)).value == 2 / 10


def test_segmentation_is_the_relative_distance_of_change_points_times_their_number():
    true, found, length = [100, 400, 650], [90, 640, 700], 1000
    nearest = [10, 10, 50]
    points = cc.Events.from_points
    value = segmentation(points(true), points(found), span=(0, length)).value
    assert value == sum(nearest) / length


def test_a_large_order_approaches_the_hausdorff_distance():
    span, points = (0, 10**9), cc.Events.from_points
    pair = points([10, 10**6]), points([10, 10**8])
    assert semimetric(*pair, span=span, p=500).value == pytest.approx(
        hausdorff(*pair, span=span).value, rel=0.01
    )


@given(case=mixed_cases, factor=st.sampled_from([0.1, 3.7, 1e6]))
def test_a_longer_unit_gives_smaller_numbers(case, factor):
    scaled = case.moved(lambda tick: tick * factor)
    for metric in (hausdorff, modified_hausdorff, semimetric):
        value = metric(*sides(case), span=case.span).value
        assert metric(*sides(scaled), span=scaled.span).value == pytest.approx(
            value * factor, rel=1e-9, abs=1e-9 * factor, nan_ok=True
        )
