"""How much of the span the alarms cover: random alarms are points, and cover nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closecall.affiliation.event_scores import EventScores

_DURATION = 7  # column of the table: how long the alarms in a zone last, in ticks
MUCH = 0.25  # of the span, beyond which points at random times are no match; so in the explorer


def covered_share(events: EventScores) -> float:
    """Give the share of the span that the predicted events cover, in [0, 1].

    Examples
    --------
    >>> import closecall as cc
    >>> covered_share(cc.affiliation([0, 1, 0, 0], [0, 1, 1, 0]).events)
    0.5
    """
    # From the durations by zone, which the result of a stream has as well.
    return float(events.table[:, _DURATION].sum() / (events.pair.stop - events.pair.start))


def covers_much(events: EventScores) -> bool:
    """Whether the alarms cover so much that points at random times are no match for them."""
    return covered_share(events) > MUCH
