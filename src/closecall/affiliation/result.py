"""What `affiliation` returns: the scores, and one row per true event."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation.chance import chance_recall_loss
from closecall.affiliation.zone_shares import ZoneShares
from closecall.affiliation.zones import in_ticks
from closecall.drawing import plots
from closecall.events import Events
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.affiliation.chance_level import Chance
    from closecall.bootstrap import ScoreIntervals
    from closecall.clock import Ticks
    from closecall.pair import Pair

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
)
_ABOVE_CHANCE = ("precision_above_chance", "recall_above_chance", "f1_above_chance")


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


@dataclass(frozen=True, repr=False, eq=False)
class Affiliation:
    """Affiliation precision and recall, and the rows per event they are the means of.

    Examples
    --------
    >>> import closecall as cc
    >>> r = cc.affiliation([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0])
    >>> r
    Affiliation(precision=0.625, recall=0.438, f1=0.515, events=2)
    >>> r.events.recall
    array([0.875, 0.   ])
    """

    precision: float
    """Mean individual precision over the events where it is defined; in [0, 1], or nan."""
    recall: float
    """Mean individual recall over all events; in [0, 1]."""
    events: EventScores
    """One row per true event."""

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; nan where the precision is."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> float:
        """Weighted harmonic mean of precision and recall; recall weighs beta times as much.

        Examples
        --------
        >>> import closecall as cc
        >>> cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).fbeta(2)
        0.8974358974358974
        """
        return float(f_measure(self.precision, self.recall, beta))

    @cached_property
    def chance(self) -> Chance:
        """What a random detector with as many alarms scores, as from `closecall.chance`."""
        from closecall.affiliation.chance_level import chance_of

        return chance_of(self.events)

    @property
    def precision_above_chance(self) -> float:
        """Mean over the events where it is defined, at most 1; 0 at chance, nan if undefined.

        Events without an affiliated prediction are left out, whatever ``zero_division`` is.

        Examples
        --------
        >>> import closecall as cc
        >>> r = cc.affiliation([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0])
        >>> r.precision_above_chance, r.recall_above_chance
        (0.6, 0.875)
        """
        return _mean_of_defined(self.events.precision_above_chance)

    @property
    def recall_above_chance(self) -> float:
        """Mean over all events, at most 1; 0 at chance, and where nothing is predicted."""
        return float(self.events.recall_above_chance.mean())

    @property
    def f1_above_chance(self) -> float:
        r"""F1 with 0 at chance and 1 where it is perfect: :math:`(F_1 - c) / (1 - c)`.

        c is ``chance.f1``. At most 1; nan where nothing is predicted. As for the other two, events
        without an affiliated prediction do not count for precision, whatever ``zero_division`` is.
        """
        f1 = float(f_measure(_mean_of_defined(self.events.precision), self.recall))
        return 1 - (1 - f1) / (1 - self.chance.f1)

    def interval(self, *, level: float = 0.95, n: int = 2000, seed: int = 0) -> ScoreIntervals:
        """Say how far the scores may be off, since there are only so many events.

        See `closecall.affiliation.interval.event_interval`.
        """
        from closecall.affiliation.interval import event_interval

        return event_interval(self, level=level, n=n, seed=seed)

    def values(self) -> dict[str, float]:
        """Give the scores by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}

    def to_dict(self) -> dict[str, Any]:
        """Give plain values that any JSON writer takes; what is undefined becomes None."""
        scores = self.values() | {name: getattr(self, name) for name in _ABOVE_CHANCE}
        return {
            **{name: None if np.isnan(value) else value for name, value in scores.items()},
            "chance": self.chance.to_dict(),
            "events": list(self.events.rows()),
        }

    def to_frame(self, backend: Literal["pandas", "polars"] = "pandas") -> Any:
        """Give the rows per event as a dataframe; times keep their time zone.

        Examples
        --------
        >>> import closecall as cc
        >>> frame = cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).to_frame("polars")
        >>> frame["delay"].to_list()
        [0.0]
        """
        from closecall.affiliation.frame import event_frame

        return event_frame(self.events, backend)

    def plot(self, **options: Any) -> Any:
        """Draw the events and their zones; see `closecall.plot.plot_events` for the options."""
        pair = self.events.pair
        span = (pair.clock.scalar(pair.start), pair.clock.scalar(pair.stop))
        sides = Events.wrap(pair.truth), Events.wrap(pair.predicted)
        return plots().plot_events(*sides, span=span, **options)

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={value:.3f}" for name, value in self.values().items())
        return f"Affiliation({scores}, events={len(self.events)})"

    def _repr_html_(self) -> str:
        """Show the scores, the level of chance and the first events in a notebook."""
        from closecall.affiliation.notebook import as_html

        return as_html(self)


def _mean_of_defined(column: NDArray[np.float64]) -> float:
    return float(np.nanmean(column)) if not np.isnan(column).all() else np.nan
