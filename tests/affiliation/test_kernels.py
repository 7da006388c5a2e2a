"""The compiled walks: integrals against sums, cuts at borders, and the same without compiling."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.affiliation import _kernels

quarters = st.integers(0, 40).map(lambda count: count / 4)


def integral(function, low, high, count=4000):
    """Sum up a piecewise linear function; exact where its kinks lie on the grid."""
    if low >= high:
        return 0.0
    borders = np.linspace(low, high, count + 1)
    return float(function((borders[1:] + borders[:-1]) / 2).mean() * (high - low))


@given(quarters, quarters, quarters)
def test_ramp(low, length, cap):
    found = _kernels.ramp(low, low + length, cap)
    summed = integral(lambda d: np.minimum(d, cap), low, low + length)
    assert found == pytest.approx(summed, abs=1e-5)


@given(quarters, quarters, quarters, quarters)
def test_outside(low, length, event, m):
    loss, distance = _kernels.outside(low, low + length, event, m)
    high = low + length
    assert loss == pytest.approx(
        integral(lambda d: event + np.minimum(d, m) + d, low, high), abs=1e-5
    )
    assert distance == pytest.approx((high**2 - low**2) / 2)


def lost_at(y, left, right, A, B):
    """Give the loss of recall at y between two predictions, from the definition, and d."""
    d = np.minimum(y - left, right - y)
    return np.minimum(d, np.minimum(y - A, B - y)) + d, d


ordered = st.lists(st.integers(0, 60), min_size=6, max_size=6).map(sorted)


@given(ordered, st.booleans())
def test_between(bounds, is_event_inside):
    # Predictions up to `left` and from `right` on, in a zone [A, B] with the event [a, b].
    A, first, second, third, fourth, B = bounds
    a, b, left, right = (
        (second, third, first, fourth) if is_event_inside else (first, fourth, second, third)
    )
    low, high = max(a, left), min(b, right)
    if a == b:  # a true point is evaluated where a true range is integrated
        expected = lost_at(a, left, right, A, B) if left <= a <= right else (0, 0)
    else:
        expected = (
            integral(lambda y: lost_at(y, left, right, A, B)[0], low, high),
            integral(lambda y: lost_at(y, left, right, A, B)[1], low, high),
        )
    found = _kernels.between(a, b, left, right)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-3)


def cut(predicted, borders, origin=0):
    starts, stops = np.array(predicted, dtype=np.int64).reshape(-1, 2).T.copy()
    pieces = np.full((len(starts) + len(borders) - 1, 2), -99)
    offsets = np.full(len(borders), -99)
    _kernels.cut_at_borders(
        starts, stops, origin, 2 * (np.array(borders) - origin), pieces, offsets
    )
    return [
        [(start / 2 + origin, stop / 2 + origin) for start, stop in pieces[low:high].tolist()]
        for low, high in pairwise(offsets)
    ]


@pytest.mark.parametrize(
    ("predicted", "zones"),
    [
        ([], [[], [], []]),
        ([(1, 2)], [[(1, 2)], [], []]),
        ([(1, 4)], [[(1, 4)], [], []]),
        ([(4, 5)], [[], [(4, 5)], []]),
        ([(3, 5)], [[(3, 4)], [(4, 5)], []]),
        ([(0, 12)], [[(0, 4)], [(4, 8)], [(8, 12)]]),
        ([(4, 8)], [[], [(4, 8)], []]),
        ([(4, 4), (8, 8), (12, 12)], [[], [(4, 4)], [(8, 8), (12, 12)]]),
        ([(0, 0), (2, 4), (4, 4)], [[(0, 0), (2, 4)], [(4, 4)], []]),
        ([(9, 10)], [[], [], [(9, 10)]]),
        ([(1, 9), (10, 11)], [[(1, 4)], [(4, 8)], [(8, 9), (10, 11)]]),
    ],
)
@pytest.mark.parametrize("origin", [0, -3])
def test_cut_at_borders(predicted, zones, origin):
    assert cut(predicted, [0, 4, 8, 12], origin) == zones
