"""How intervals overlap, against a look at every pair."""

import numpy as np
import pytest
from hypothesis import given

from closecall.clock import SAMPLES
from closecall.events import Intervals
from closecall.metrics.overlap import (
    covered_before,
    overlap_counts,
    overlap_lengths,
    overlapping,
)
from tests.properties.strategies import mixed_cases


def intervals(pairs):
    starts, stops = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
    return Intervals(starts, stops, SAMPLES)


def overlap(one, other):
    """Tell whether two half-open intervals share a moment; a point is the moment it starts at."""
    if one[0] == one[1]:
        return other[0] == one[0] or other[0] <= one[0] < other[1]
    if other[0] == other[1]:
        return one[0] <= other[0] < one[1]
    return max(one[0], other[0]) < min(one[1], other[1])


@given(mixed_cases)
def test_lengths_and_counts_are_those_of_every_pair(case):
    of, by = intervals(case.truth), intervals(case.predicted)
    lengths = [
        sum(max(0, min(stop, right) - max(start, left)) for left, right in case.predicted)
        for start, stop in case.truth
    ]
    assert overlap_lengths(of, by).tolist() == lengths
    first, after = overlapping(of, by)
    for index, event in enumerate(case.truth):
        expected = [i for i, other in enumerate(case.predicted) if overlap(event, other)]
        assert list(range(first[index], after[index])) == expected
    assert overlap_counts(of, by).tolist() == (after - first).tolist()


@pytest.mark.parametrize(
    ("of", "by", "count"),
    [
        ((3, 5), (5, 7), 0),
        ((5, 7), (3, 5), 0),
        ((3, 5), (4, 4), 1),
        ((3, 5), (3, 3), 1),
        ((3, 5), (5, 5), 0),
        ((3, 3), (3, 5), 1),
        ((5, 5), (3, 5), 0),
        ((4, 4), (4, 4), 1),
    ],
)
def test_touching_is_not_overlapping_and_points_belong_where_they_start(of, by, count):
    assert overlap_counts(intervals([of]), intervals([by])).tolist() == [count]


def test_covered_before_counts_part_of_an_interval():
    covered = covered_before(intervals([(2, 5), (8, 9)]), np.array([0, 2, 4, 5, 7, 8, 20]))
    assert covered.tolist() == [0, 0, 2, 3, 3, 3, 4]


def test_nothing_covers_nothing():
    assert overlap_lengths(intervals([(2, 5)]), intervals([])).tolist() == [0]
    assert overlap_counts(intervals([(2, 5)]), intervals([])).tolist() == [0]
    assert overlap_counts(intervals([]), intervals([(2, 5)])).tolist() == []
