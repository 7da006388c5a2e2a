"""What `affiliation` returns: the scores, and one row per true event."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.events import Events
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.chance_level import Chance
    from closecall.affiliation.event_scores import EventScores
    from closecall.statistics import ScoreIntervals

_ABOVE_CHANCE = ("precision_above_chance", "recall_above_chance", "f1_above_chance")


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
    zero_division: float = nan
    """What an event without an affiliated prediction counts for in `precision`; nan: nothing."""

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
        """What a random detector with as many alarms scores, as from `closecall.chance`.

        It is scored with the ``zero_division`` of this result.
        """
        from closecall.affiliation.chance_level import chance_of

        if isnan(self.zero_division):
            return self.events.chance
        return chance_of(self.events, zero_division=self.zero_division)

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

        c is the mean F1 of the random detector. At most 1; nan where nothing is predicted. As for
        the other two, zones without a prediction do not count for precision, neither in F1 nor in
        c, whatever ``zero_division`` is; unless one was chosen, c is ``chance.f1``.
        """
        f1 = float(f_measure(_mean_of_defined(self.events.precision), self.recall))
        return 1 - (1 - f1) / (1 - self.events.chance.f1)

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
        from closecall.plot import plot_events

        return plot_events(*sides, span=span, **options)

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={value:.3f}" for name, value in self.values().items())
        return f"Affiliation({scores}, events={len(self.events)})"

    def _repr_html_(self) -> str:
        """Show the scores, the level of chance and the first events in a notebook."""
        from closecall.affiliation.notebook import as_html

        return as_html(self)


def _mean_of_defined(column: NDArray[np.float64]) -> float:
    return float(np.nanmean(column)) if not np.isnan(column).all() else np.nan
