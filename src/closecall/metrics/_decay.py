"""The sigmoid that falls over the section after an event, and its sums and integrals.

At offset x of a section of length m the weight is f(v) = 1/(1 + exp(v)), with v rising evenly
from -6 at the start to 6 at the end: over the m samples on an integer axis, over [0, m] elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.metrics._running_sums import RunningSums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_REACH = 6.0  # of the sigmoid, on either side
_LONGEST_SUMMED = 4096  # samples; the formula for longer sections is exact to 1e-12


def decay_at(offset: Floats, length: Floats, *, counted: bool) -> Floats:
    """Give the weight at an offset in a section; `counted` says that time is in samples."""
    return _sigmoid(_argument(offset, _slope(length, counted=counted)))


def decay_between(left: Floats, right: Floats, length: Floats, *, counted: bool) -> Floats:
    """Give the weight of [left, right) in a section, summed over samples or integrated."""
    if not counted:
        return _integral(left, right, _slope(length, counted=False))
    total = np.empty(length.size)
    short = length <= _LONGEST_SUMMED
    sums = RunningSums(length[short], _sample_weights)
    total[short] = sums.between(left[short], right[short])
    long = ~short
    total[long] = _euler_maclaurin(left[long], right[long], length[long])
    return total


def _sample_weights(length: int) -> Floats:
    offsets = np.arange(length, dtype=np.float64)
    return decay_at(offsets, np.full(length, float(length)), counted=True)


def _slope(length: Floats, *, counted: bool) -> Floats:
    # A section of one sample has no slope; its sample weighs as the first of any section.
    return 2 * _REACH / (np.maximum(length - 1, 1) if counted else length)


def _argument(offset: Floats, slope: Floats) -> Floats:
    return slope * offset - _REACH


def _sigmoid(argument: Floats) -> Floats:
    weights: Floats = 1 / (1 + np.exp(argument))
    return weights


def _integral(left: Floats, right: Floats, slope: Floats) -> Floats:
    # The difference of two logarithms would cancel on short parts of long sections.
    grown = np.expm1(slope * (right - left))
    integral: Floats = np.log1p(grown * _sigmoid(_argument(right, slope))) / slope
    return integral


def _euler_maclaurin(left: Floats, right: Floats, length: Floats) -> Floats:
    """Sum a smooth function over samples: its integral, corrected at both ends."""
    slope = _slope(length, counted=True)
    first, last = (_sigmoid(_argument(edge, slope)) for edge in (left, right))
    steepness = first * (1 - first) - last * (1 - last)
    return _integral(left, right, slope) + (first - last) / 2 + slope * steepness / 12
