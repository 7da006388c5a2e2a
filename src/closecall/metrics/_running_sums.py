"""Sums over consecutive samples, for many rows of weights that depend on their length alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class RunningSums:
    """Running sums of the weights of each row; rows of one length share theirs.

    Examples
    --------
    >>> sums = RunningSums(np.array([3.0, 2.0]), lambda length: np.arange(1.0, length + 1))
    >>> sums.between(np.array([1.0, 0.0]), np.array([3.0, 2.0]))
    array([5., 3.])
    """

    def __init__(self, lengths: Floats, weights: Callable[[int], Floats]) -> None:
        distinct, row = np.unique(lengths.astype(np.int64), return_inverse=True)
        parts = [np.concatenate(([0.0], np.cumsum(weights(size)))) for size in distinct.tolist()]
        self._sums = np.concatenate([np.zeros(0), *parts])
        self._origin = (np.cumsum(distinct + 1) - (distinct + 1))[row]

    def between(self, left: Floats, right: Floats) -> Floats:
        """Add up the weights of samples [left, right) of each row."""
        stop, start = (self._origin + edge.astype(np.int64) for edge in (right, left))
        sums: Floats = self._sums[stop] - self._sums[start]
        return sums
