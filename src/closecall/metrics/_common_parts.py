"""Which intervals of two sets meet, and where: one row for each pair that does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closecall.metrics.overlap import overlapping

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.events import Intervals


@dataclass(frozen=True, slots=True)
class CommonParts:
    """The parts that two sets of disjoint intervals share, in the order of time.

    There are fewer parts than intervals, since every interval of either set ends at most one.
    """

    first: NDArray[np.int64]
    """Index of the interval of the first set."""
    second: NDArray[np.int64]
    """Index of the interval of the second set."""
    starts: Ticks
    stops: Ticks

    @property
    def lengths(self) -> NDArray[np.float64]:
        """How long each part is."""
        return (self.stops - self.starts).astype(np.float64)


def common_parts(first: Intervals, second: Intervals) -> CommonParts:
    """Cut the intervals of two sets with each other; a point meets the interval that holds it."""
    begin, after = overlapping(first, second)
    counts = after - begin
    owner = np.repeat(np.arange(counts.size), counts)
    # Position in the row of parts, minus that of the owner's first part, plus its first partner.
    partner = np.arange(owner.size) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
    return CommonParts(
        owner,
        partner,
        np.maximum(first.starts[owner], second.starts[partner]),
        np.minimum(first.stops[owner], second.stops[partner]),
    )
