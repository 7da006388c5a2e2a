"""One row per true event: its scores, its distances, and the zone they hold in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.chance import chance_recall_loss
from closecall.affiliation.zone_shares import ZoneShares
from closecall.affiliation.zones import in_ticks
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.affiliation.chance_level import Chance
    from closecall.clock import Ticks
    from closecall.series import Pair

COLUMNS = (
    "start",
    "stop",
    "zone_start",
    "zone_stop",
    "precision",
    "recall",
    "f1",
    "precision_distance",
    "recall_distance",
    "predicted_count",
    "predicted_duration",
    "early",
    "late",
    "delay",
    "precision_above_chance",
    "recall_above_chance",
    "f1_above_chance",
)


@dataclass(frozen=True, repr=False, eq=False)
class EventScores:
    """One row per true event, each column an array.

    On a datetime axis, times are datetime64 (UTC) and lengths of time are timedelta64, with NaT
    for what is undefined or infinite.
    """

    pair: Pair
    """The events that were compared."""
    borders: Ticks
    """Borders of the zones, in half ticks from the origin."""
    table: NDArray[np.float64]
    """The columns as computed, in ticks."""
    predicted_count: NDArray[np.int64]
    """How many predicted events, or parts of them, lie in the event's zone."""
    alarms: int
    """How many predicted events there are in all."""

    @property
    def start(self) -> NDArray[Any]:
        """Where the event starts."""
        return self.pair.clock.native(self.pair.truth.starts)

    @property
    def stop(self) -> NDArray[Any]:
        """Where the event stops."""
        return self.pair.clock.native(self.pair.truth.stops)

    @cached_property
    def zone_start(self) -> NDArray[Any]:
        """Where the event's zone of affiliation starts."""
        return self.pair.clock.native(in_ticks(self.borders[:-1], self.pair))

    @cached_property
    def zone_stop(self) -> NDArray[Any]:
        """Where the event's zone of affiliation stops."""
        return self.pair.clock.native(in_ticks(self.borders[1:], self.pair))

    @property
    def precision(self) -> NDArray[np.float64]:
        """Individual precision probability in [0, 1]; nan where nothing is predicted."""
        return self.table[:, 0]

    @property
    def recall(self) -> NDArray[np.float64]:
        """Individual recall probability in [0, 1]; 0 where nothing is predicted."""
        return self.table[:, 1]

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of the two; nan where nothing is predicted."""
        f1: NDArray[np.float64] = f_measure(self.precision, self.recall)
        return f1

    @cached_property
    def precision_distance(self) -> NDArray[Any]:
        """Mean distance from the predictions to the event; nan where nothing is predicted."""
        return self._duration(2)

    @cached_property
    def recall_distance(self) -> NDArray[Any]:
        """Mean distance from the event to the predictions; inf where nothing is predicted."""
        return self._duration(3)

    @cached_property
    def early(self) -> NDArray[Any]:
        """The part of `precision_distance` that lies before the event."""
        return self._duration(4)

    @cached_property
    def late(self) -> NDArray[Any]:
        """The part of `precision_distance` that lies after the event."""
        return self._duration(5)

    @cached_property
    def delay(self) -> NDArray[Any]:
        """The first affiliated alarm minus the event's start; negative if it came before."""
        return self._duration(6)

    @cached_property
    def predicted_duration(self) -> NDArray[Any]:
        """How long the predictions in the event's zone last."""
        return self._duration(7)

    @property
    def missed(self) -> NDArray[np.bool_]:
        """Whether the event is missed: nothing is predicted in its zone. Decided here only."""
        missed: NDArray[np.bool_] = self.predicted_count == 0
        return missed

    @cached_property
    def zone_shares(self) -> ZoneShares:
        """The zones and events as shares, all that chance depends on."""
        return ZoneShares.of(self.pair, self.borders)

    @cached_property
    def precision_above_chance(self) -> NDArray[np.float64]:
        r"""Precision with 0 at the level of chance c and 1 where it is perfect; at most 1.

        It is :math:`(P - c) / (1 - c)` with :math:`c = 1/2 + p^2/2`, p being the share of the zone
        that the event fills; nan where the precision is, and at p = 1, where all are perfect.
        """
        loss = self.zone_shares.empty * (1 + self.zone_shares.filled) / 2
        return np.where(loss > 0, 1 - (1 - self.precision) / np.where(loss > 0, loss, 1), np.nan)

    @cached_property
    def recall_above_chance(self) -> NDArray[np.float64]:
        r"""Recall with 0 at the level of chance c and 1 where it is perfect; at most 1.

        It is :math:`(R - c) / (1 - c)`, with c the mean recall of as many random alarms, over the
        whole span, as there are predicted events; negative where the event is missed, 0 where
        nothing is predicted anywhere.
        """
        loss = chance_recall_loss(self.zone_shares.of_span, self.alarms)
        return 1 - (1 - self.recall) / loss

    @cached_property
    def chance(self) -> Chance:
        """What a random detector with as many alarms scores, over the zones that it reaches."""
        from closecall.affiliation.chance_level import chance_of

        return chance_of(self)

    @cached_property
    def f1_above_chance(self) -> NDArray[np.float64]:
        r"""F1 with 0 at the level of chance c and 1 where it is perfect; at most 1.

        It is :math:`(F_1 - c) / (1 - c)`, with c the mean F1 in the zone of as many random alarms
        over the whole span, given that one of them is there; nan where nothing is predicted. c is
        simulated, see `closecall.chance`.
        """
        return 1 - (1 - self.f1) / (1 - self.chance.events.f1)

    def _duration(self, row: int) -> NDArray[Any]:
        return self.pair.clock.duration(self.table[:, row])

    def __len__(self) -> int:
        return len(self.pair.truth)

    def __repr__(self) -> str:
        return f"EventScores({len(self)} events, columns {', '.join(COLUMNS)})"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give each event as plain JSON values.

        Times of a datetime axis become ISO 8601 text and lengths of time seconds; nan and inf
        become None.
        """
        from closecall.affiliation.frame import plain_rows

        return plain_rows(self)
