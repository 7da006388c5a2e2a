"""Precision, recall and F-beta from times: that of found events, and that of false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.parameters import read_number

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class FoundTime:
    """How much of the events is found at descending thresholds, and how much of the rest."""

    thresholds: NDArray[Any]
    false: NDArray[np.float64]
    """Predicted time outside of events, at each threshold."""
    found: NDArray[np.float64]
    """Time of the events that are found; it is the same for many thresholds, and given once."""
    counts: NDArray[np.int64]
    """For how many thresholds."""
    total: float
    """How long all events are."""

    def precision(self) -> NDArray[np.float64]:
        """Give the share of the predicted time that is found."""
        return self._found_over(1.0)

    def recall(self) -> NDArray[np.float64]:
        """Give the share of the events that is found."""
        return np.repeat(np.minimum(self.found / self.total, 1.0), self.counts)

    def fbeta(self, beta: float) -> NDArray[np.float64]:
        """Give their F-beta: the found time over a mean of what the two are shares of."""
        beta = read_number(beta, "beta", "0 or more", lambda x: x >= 0)
        return self._found_over(1 / (1 + beta * beta))

    def _found_over(self, share: float) -> NDArray[np.float64]:
        """Divide by a mean of the predicted time, of which it is that share, and of all events."""
        from closecall.metrics import _levels

        values, rest = np.empty_like(self.false), (1 - share) * self.total
        _levels.divide_found(self.found, self.counts, self.false, share, rest, values)
        return values
