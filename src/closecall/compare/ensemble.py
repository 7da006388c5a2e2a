"""What detectors would predict together: the times at which enough of them agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.errors import InputError, InputTypeError, shown
from closecall.events import Events, Intervals
from closecall.parameters import require_choice
from closecall.plain import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from closecall.affiliation import Affiliation, EventScores
    from closecall.signature import Signature

How = Literal["union", "intersection", "vote"]
HOW = ("union", "intersection", "vote")


@dataclass(frozen=True, repr=False, eq=False)
class Ensemble:
    """Several detectors taken as one, and its scores.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.compare([0, 1, 1, 0, 0], {"early": [1, 1, 0, 0, 0], "late": [0, 0, 1, 1, 0]})
    >>> c.ensemble(how="union")
    Ensemble(union of 'early', 'late': precision=0.700, recall=1.000, f1=0.824)
    """

    names: tuple[str, ...]
    how: How
    votes: int
    """How many of the detectors must agree: 1 for a union, all for an intersection."""
    result: Affiliation
    """What `closecall.affiliation` gives for the ensemble."""

    @property
    def precision(self) -> float:
        """Mean individual precision, in [0, 1], or nan."""
        return self.result.precision

    @property
    def recall(self) -> float:
        """Mean individual recall, in [0, 1]."""
        return self.result.recall

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; nan where the precision is."""
        return self.result.f1

    @property
    def signature(self) -> Signature:
        """What decided these digits, in one line; see `closecall.signature`."""
        return self.result.signature

    @property
    def events(self) -> EventScores:
        """One row per true event."""
        return self.result.events

    @property
    def predicted(self) -> Events:
        """What the ensemble predicts; alarms that touch have become one."""
        pair = self.result.events.pair
        return Events.wrap(pair.opened(pair.predicted))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        return {
            "names": list(self.names),
            "how": self.how,
            "votes": self.votes,
            **plain(self.result.values()),
            "alarms": len(self.predicted),
            "caught": self.result.caught,
            "false_alarms": self.result.false_alarms,
            "missed": self.result.missed,
        }

    def __repr__(self) -> str:
        rule = f"at least {self.votes} of" if self.how == "vote" else f"{self.how} of"
        names = ", ".join(map(repr, self.names))
        scores = ", ".join(f"{name}={value:.3f}" for name, value in self.result.values().items())
        return f"Ensemble({rule} {names}: {scores})"


def read_votes(how: Any, votes: Any, count: int) -> int:
    """Find out how many of that many detectors must agree."""
    require_choice(how, "how", HOW)
    if how != "vote":
        if votes is not None:
            raise InputTypeError(
                f"no `votes` for the {how}", shown(votes), hint="Pass `how='vote'` with it."
            )
        return 1 if how == "union" else count
    if votes is None:
        return count // 2 + 1
    whole = isinstance(votes, int) and not isinstance(votes, bool)
    if not whole or not 1 <= votes <= count:
        raise InputError(f"to be a whole number from 1 to {count}", shown(votes), argument="votes")
    return int(votes)


def agreed(sides: Sequence[Intervals], votes: int) -> Intervals:
    """Return the times at which at least so many sides predict, exactly, by one sweep.

    A point is there where enough sides cover the time right after it, and no range is: at the
    very end of a range it stays, since it may belong to the next zone. O(m log m) for m intervals.
    """
    starts = np.concatenate([side.starts for side in sides])
    stops = np.concatenate([side.stops for side in sides])
    point = starts == stops
    times, level = _levels(starts[~point], stops[~point])
    enough = np.concatenate(([False], level >= votes))
    begins = times[enough[1:] & ~enough[:-1]]
    ceases = times[enough[:-1] & ~enough[1:]]
    moments, count = np.unique(starts[point], return_counts=True)
    under = np.concatenate(([0], level))[np.searchsorted(times, moments, side="right")]
    moments = moments[(under < votes) & (under + count >= votes)]
    begins, ceases = np.concatenate((begins, moments)), np.concatenate((ceases, moments))
    order = np.argsort(begins, kind="stable")
    return Intervals(begins[order], ceases[order], sides[0].clock)


def _levels(starts: Any, stops: Any) -> tuple[Any, Any]:
    """Return the times at which something changes, and how many ranges cover what follows each."""
    times, place = np.unique(np.concatenate((starts, stops)), return_inverse=True)
    steps = np.repeat(np.array([1, -1]), starts.size)
    change = np.zeros(times.size, dtype=np.int64)
    np.add.at(change, place, steps)
    return times, np.cumsum(change)
