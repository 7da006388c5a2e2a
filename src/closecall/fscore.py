"""The weighted harmonic mean of precision and recall, in the one place that defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.parameters import read_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST = np.finfo(np.float64).tiny
_ROUNDING = 8 * np.finfo(np.float64).eps  # what a few operations can add up to


def read_beta(beta: Any) -> float:
    """Read how much more recall weighs than precision."""
    return read_number(beta, "beta", "0 or more", lambda x: x >= 0)


def f_measure(
    precision: float | NDArray[np.float64], recall: float | NDArray[np.float64], beta: float = 1.0
) -> Any:
    r"""Combine precision and recall: :math:`F_\beta = (1+\beta^2) P R / (\beta^2 P + R)`.

    In [0, 1], higher is better; nan where the precision is; 0 where both are 0.

    >>> f_measure(1.0, 0.5), f_measure(1.0, 0.5, beta=2)
    (0.6666666666666666, 0.5555555555555556)
    """
    beta = read_beta(beta)
    share = 1 / (1 + beta * beta)
    # It lies between the two; rounding alone could put it above the larger one.
    if not (isinstance(precision, np.ndarray) or isinstance(recall, np.ndarray)):
        total = share * recall + (1 - share) * precision
        return min(precision * recall / total, max(precision, recall)) if total else total
    # One piece of memory: where there are many values, asking for it takes longest.
    total, mean = np.empty((2, *np.broadcast_shapes(np.shape(precision), np.shape(recall))))
    np.multiply(share, recall, out=total)
    np.multiply(1 - share, precision, out=mean)
    total += mean
    np.multiply(precision, recall, out=mean)
    mean /= np.maximum(total, _LEAST, out=total)  # 0 / 0 is 0 here
    return np.minimum(mean, np.maximum(precision, recall, out=total), out=mean)


def first_highest(values: NDArray[np.float64]) -> int:
    """Return the place of the highest value; the first of those that only rounding tells apart.

    >>> first_highest(np.array([0.2, 0.3, 0.1 + 0.2]))
    1
    """
    return int((values >= values.max() * (1 - _ROUNDING)).argmax())


def counted_f1(f1: Any, alarms: Any, events: Any) -> NDArray[np.float64]:
    """Return F1 as it counts where series are averaged: silence must not pay.

    It is undefined without any alarm, and counts as 0 there if there are true events.

    >>> counted_f1([np.nan, np.nan, 0.5], [0, 3, 3], [2, 2, 2])
    array([0. , nan, 0.5])
    """
    silent = np.isnan(f1) & (np.asarray(alarms) == 0) & (np.asarray(events) > 0)
    return np.where(silent, 0.0, f1)
