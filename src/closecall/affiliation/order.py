"""The order of scores, from the highest down, by a radix sort where that is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import _curve_kernels
from closecall.compiled import interruptible

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGN = 1 << 63
_ALL_BITS = 2**64 - 1
_FEW = 1 << 20  # samples, for which long digits are faster: their places stay in fast memory
_VERY_FEW = 1 << 12


def descending_order(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of the scores from the highest down; equal ones in any order.

    O(N) for floats, unless nearly all of them share their leading bits; O(N log N) otherwise.
    """
    if scores.dtype != np.float64 or scores.size == 0:
        return interruptible(np.argsort, scores)[::-1].copy()
    place_bits = (scores.size - 1).bit_length()
    low, high = _as_integer(scores.min()), _as_integer(scores.max())
    span_bits = (high - low).bit_length()
    # Three or four digits of the leading bits; more would seldom matter.
    digits, digit_bits = (3, 12) if scores.size <= _FEW else (4, 10)
    if scores.size <= _VERY_FEW:
        digits, digit_bits = 4, 9  # as many bits; counting digits would take longer than sorting
    key_bits = min(span_bits, digits * digit_bits, 64 - place_bits)
    drop = span_bits - key_bits
    order, other = np.empty(scores.size, np.int64), np.empty(scores.size, np.int64)
    packed, spare = order.view(np.uint64), other.view(np.uint64)
    _curve_kernels.pack(scores.view(np.uint64), np.uint64(high), drop, place_bits, packed)
    if _curve_kernels.radix_sort(packed, spare, place_bits, key_bits, digit_bits):
        order, packed = other, spare
    # The order is written over what it is read from.
    if _curve_kernels.unpack(packed, scores, place_bits, order):
        return order
    return interruptible(np.argsort, scores)[::-1].copy()


def _as_integer(score: np.float64) -> int:
    """Return the integer that is ordered among integers as the score is among floats."""
    bits = int((score + 0.0).view(np.uint64))  # -0.0 becomes 0.0
    return bits ^ _ALL_BITS if bits & _SIGN else bits | _SIGN
