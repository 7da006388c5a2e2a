"""What chance reaches on a series with as many alarms: the closed forms, shared by detectors."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation.chance import chance_recall_loss, precision_of_points
from closecall.affiliation.zone_shares import ZoneShares
from closecall.affiliation.zones import zone_borders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.event_scores import EventScores
    from closecall.pair import Pair


@dataclass(frozen=True, slots=True, eq=False)
class ChanceLevels:
    """The levels of each zone, which depend on the true events and the number of alarms alone.

    The mean F1 of a random detector has no closed form, and simulating it for each row would take
    far longer than everything else; a row has the F1 of the two levels instead.
    """

    precision: NDArray[np.float64]
    of_span: NDArray[np.float64]

    @classmethod
    def of(cls, pair: Pair) -> ChanceLevels:
        """Measure the zones of true events."""
        shares = ZoneShares.of(pair, zone_borders(pair))
        return cls(precision_of_points(shares.filled).mean, shares.of_span)

    def beside(self, events: EventScores) -> tuple[float, float, float]:
        """Give precision and recall of `closecall.chance`, exactly, and the F1 of the two."""
        alarms = events.alarms
        if alarms == 0:
            return nan, 0.0, nan
        defined = self.precision[events.predicted_count > 0]
        precision = float(defined.mean()) if defined.size else nan
        recall = float(1 - np.mean(chance_recall_loss(self.of_span, alarms)))
        return precision, recall, 2 * precision * recall / (precision + recall)
