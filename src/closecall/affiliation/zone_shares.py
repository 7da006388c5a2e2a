"""Zones and events as shares of the zone and of the span: all that chance depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation.zones import origin_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Pair


@dataclass(frozen=True, slots=True, eq=False)
class ZoneShares:
    """One row per zone. A zone without length, which can only hold a true point, has p = 0."""

    borders: NDArray[np.float64]
    """The n + 1 borders, from 0 at the span's start to 1 at its end."""
    ends: NDArray[np.float64]
    """Start and stop of each event, on the same scale."""
    of_span: NDArray[np.float64]
    """The share w of the span that the zone is."""
    before: NDArray[np.float64]
    """The share of the zone that lies before the event."""
    filled: NDArray[np.float64]
    """The share p of the zone that the event fills."""
    empty: NDArray[np.float64]
    """The share 1 - p that it leaves."""

    @classmethod
    def of(cls, pair: Pair, borders: Ticks) -> ZoneShares:
        """Measure the zones with these borders, in half ticks from the origin."""
        origin = origin_of(pair)
        starts, stops = 2 * (pair.truth.starts - origin), 2 * (pair.truth.stops - origin)
        lengths = np.diff(borders)
        divisor = np.where(lengths > 0, lengths, 1)
        total = float(borders[-1] - borders[0])
        events = stops - starts
        return cls(
            borders=(borders - borders[0]) / total,
            ends=(np.stack([starts, stops], axis=1) - borders[0]) / total,
            of_span=lengths / total,
            before=np.clip((starts - borders[:-1]) / divisor, 0, 1),
            filled=np.clip(events / divisor, 0, 1),
            empty=np.where(lengths > 0, np.clip((lengths - events) / divisor, 0, 1), 1.0),
        )
