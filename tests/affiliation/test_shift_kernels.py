"""Shifted intervals, and the order of rolled scores, in the kernels alone."""

from math import nan

import numpy as np
import pytest

from closecall.affiliation import _shift_kernels
from closecall.fscore import f_measure
from tests.oracle.significance import shifted


def shift(intervals, by, span, kind=np.int64):
    starts, stops = np.array(intervals, dtype=kind).reshape(-1, 2).T.copy()
    moved_starts, moved_stops = np.full((2, len(starts) + 1), -99, dtype=kind)
    first, after = map(kind, span)
    count = _shift_kernels.shift_intervals(
        starts, stops, kind(by), first, after, moved_starts, moved_stops
    )
    pairs = zip(moved_starts[:count].tolist(), moved_stops[:count].tolist(), strict=True)
    return list(pairs)


@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (0, [(2, 4), (7, 10)]),
        (1, [(0, 1), (3, 5), (8, 10)]),  # one goes over the end and is cut
        (2, [(0, 2), (4, 6), (9, 10)]),
        (3, [(0, 3), (5, 7)]),  # it starts at the end, so it is whole again
        (7, [(0, 1), (4, 7), (9, 10)]),
        (9, [(1, 3), (6, 9)]),
    ],
)
def test_one_interval_is_cut_where_it_wraps(by, expected, kind):
    assert shift([(2, 4), (7, 10)], by, (0, 10), kind) == expected


@pytest.mark.parametrize(
    ("intervals", "by", "expected"),
    [
        ([(3, 3), (9, 9)], 1, [(0, 0), (4, 4)]),  # points are never cut
        ([(3, 3), (9, 9)], 5, [(4, 4), (8, 8)]),
        ([(10, 10)], 0, [(10, 10)]),  # one at the end stays unless it is shifted
        ([(10, 10)], 4, [(4, 4)]),
        ([(0, 10)], 4, [(0, 4), (4, 10)]),  # the whole span
        ([], 4, []),
    ],
)
def test_shifts_at_the_borders(intervals, by, expected):
    assert shift(intervals, by, (0, 10)) == expected


@pytest.mark.parametrize("by", range(23))
def test_every_shift_is_arithmetic_modulo_the_span(by):
    intervals, span = [(-5, -5), (-3, 1), (1, 2), (6, 6), (9, 15)], (-5, 18)
    assert shift(intervals, by, span) == shifted(intervals, by, span)


def test_floats_stay_within_the_span():
    random = np.random.default_rng(5)
    first, after = 0.1, 0.1 + 1 / 3
    for by in random.uniform(0, after - first, size=200):
        borders = np.sort(random.uniform(first, after, size=8)).reshape(-1, 2)
        borders[-1, 1] = after
        moved = np.array(shift(borders, by, (first, after), np.float64))
        assert moved.min() >= first
        assert moved.max() <= after
        assert (np.diff(moved.ravel()) >= 0).all()
        np.testing.assert_allclose(np.ptp(moved, axis=1).sum(), np.ptp(borders, axis=1).sum())


def test_a_roll_moves_scores_and_keeps_their_order():
    scores = np.array([0.4, 0.9, 0.1, 0.6])
    order = np.argsort(-scores)
    owners, firsts = np.array([0, 1, 1, 2, 3]), np.array([0, 1, 3, 4, 5])
    rolled, rolled_order = np.empty(5), np.empty(5, dtype=np.int64)
    _shift_kernels.roll_pieces(scores, order, 3, owners, firsts, rolled, rolled_order)
    # The samples are now 0.9, 0.1, 0.6, 0.4, and the second of them is in two pieces.
    assert rolled.tolist() == [0.9, 0.1, 0.1, 0.6, 0.4]
    assert rolled_order.tolist() == [0, 3, 4, 1, 2]


def test_a_curve_in_two_numbers():
    average, best = _shift_kernels.curve_scores(
        np.array([1.0, 0.5, 0.7]), np.array([0.2, 0.6, 0.6])
    )
    assert average == pytest.approx(0.2 * 1 + 0.4 * 0.5, abs=1e-15)
    assert best == f_measure(0.7, 0.6)


@pytest.mark.parametrize(("precision", "recall"), [(0.3, 0.7), (0.0, 0.0), (1.0, 1.0), (nan, 0.0)])
def test_the_harmonic_mean_is_f1_to_the_last_bit(precision, recall):
    found = _shift_kernels.harmonic_mean(precision, recall)
    np.testing.assert_array_equal(found, f_measure(precision, recall))


def test_counting_a_value_is_mean_and_variance():
    values, row = np.array([0.2, 0.9, 0.4, 0.4 - 1e-13]), np.zeros(4)
    for value in values:
        _shift_kernels.add_value(row, value, 0.4)
    np.testing.assert_allclose(row, [4, 3, values.mean(), 4 * values.var()], rtol=1e-15)
