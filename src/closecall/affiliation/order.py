"""The order of the scores, from the highest down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGN = 1 << 63
_ALL_BITS = 2**64 - 1


def descending_order(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Give the places of the scores from the highest down; equal ones in any order.

    Most detectors give float64, for which packed integers are sorted (see `_order_kernels`).
    """
    from closecall.affiliation import _order_kernels

    if scores.dtype != np.float64 or scores.size == 0:
        return np.argsort(scores)[::-1].copy()
    place_bits = (scores.size - 1).bit_length()
    low, high = _as_integer(scores.min()), _as_integer(scores.max())
    drop = max(0, (high - low).bit_length() + place_bits - 64)
    order = np.empty(scores.size, dtype=np.int64)
    packed = order.view(np.uint64)  # the order is written over what it is read from
    _order_kernels.pack(scores.view(np.uint64), np.uint64(high), drop, place_bits, packed)
    packed.sort()
    if _order_kernels.unpack(packed, scores, place_bits, order):
        return order
    return np.argsort(scores)[::-1].copy()


def _as_integer(score: np.float64) -> int:
    """Give the integer that is ordered among integers as the score is among floats."""
    bits = int((score + 0.0).view(np.uint64))  # -0.0 becomes 0.0
    return bits ^ _ALL_BITS if bits & _SIGN else bits | _SIGN
