"""What is counted of shifts, and the order of rolled scores, in the kernels alone."""

from math import nan

import numpy as np
import pytest

from closecall.affiliation import _shift_kernels
from closecall.fscore import f_measure


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


def test_counting_a_value():
    values, row = np.array([0.2, 0.9, 0.4, 0.4 - 1e-13]), np.zeros(_shift_kernels.SHIFT_COLUMNS)
    row[_shift_kernels.OBSERVED] = 0.4
    for value in values:
        _shift_kernels.add_value(row, value)
    away = values - 0.2
    np.testing.assert_allclose(row, [0.4, 4, 3, 0.2, away.sum(), (away**2).sum()], rtol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_places_are_found_from_any_place_before_them(seed):
    generator = np.random.default_rng(seed)
    ends = np.sort(generator.integers(0, 40, 30 * (seed > 0)))
    for limit in range(-1, 42):
        for side in ("left", "right"):
            place = int(np.searchsorted(ends, limit, side))
            for before in range(place + 1):
                found = _shift_kernels.first_beyond(ends, before, limit, side == "left")
                assert found == place
