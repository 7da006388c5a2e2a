"""The passes behind the curve: what a piece adds, and sums that forget nothing."""

from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.affiliation import _curve_kernels as kernels
from closecall.affiliation import _kernels


@given(st.lists(st.floats(-1e100, 1e100), max_size=50))
def test_sums_keep_what_rounding_drops(terms):
    total, rest = 0.0, 0.0
    for term in terms:
        total, rest = kernels.add(total, rest, term)
    assert total + rest == pytest.approx(fsum(terms), rel=1e-13, abs=1e-26 * fsum(map(abs, terms)))


@given(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100))
def test_one_step_is_exact(total, term):
    new, rest = kernels.add(total, 0.0, term)
    assert Fraction(new) + Fraction(rest) == Fraction(total) + Fraction(term)


def recall_loss(pieces, a, b, zone):
    """Give what recall misses of 1 with these pieces, times the zone and the event's weight."""
    row = np.empty(_kernels.COLUMNS)
    _kernels.recall_row(np.array(pieces), a, b, *zone, row)
    return (1 - row[_kernels.RECALL]) * (zone[1] - zone[0]) * max(b - a, 1 if a == b else 0)


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=8),
    st.integers(0, 10),
    st.integers(0, 10),
    st.data(),
)
def test_what_a_piece_gains_is_the_change_of_the_loss(widths, start, length, data):
    cuts = np.concatenate(([0], np.cumsum(widths)))
    a, b = start, start + length
    zone = (0, int(max(cuts[-1], b)) + data.draw(st.integers(0, 5)))
    others = data.draw(st.sets(st.integers(0, len(widths) - 1)))
    piece = data.draw(st.integers(0, len(widths) - 1))
    others -= {piece}
    left = max((other for other in others if other < piece), default=-1)
    right = min((other for other in others if other > piece), default=-1)
    gain = kernels.gain_of(cuts, piece, left, right, (a, b, *zone))
    spans = {k: (cuts[k], cuts[k + 1]) for k in {*others, piece}}
    after = recall_loss([spans[k] for k in sorted(spans)], a, b, zone)
    full = (zone[1] - zone[0]) * (b - a if a < b else 1)
    before = recall_loss([spans[k] for k in sorted(others)], a, b, zone) if others else full
    assert gain == pytest.approx(before - after, abs=1e-11)
