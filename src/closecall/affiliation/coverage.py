"""How much of the span the alarms cover: random alarms are points, and cover nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closecall.pair import Pair

_MUCH = 0.25  # the page of the explorer has the same number


def covered_share(pair: Pair) -> float:
    """Give the share of the span that the predicted events cover, in [0, 1].

    Examples
    --------
    >>> import closecall as cc
    >>> covered_share(cc.affiliation([0, 1, 0, 0], [0, 1, 1, 0]).events.pair)
    0.5
    """
    predicted = pair.predicted
    return float((predicted.stops - predicted.starts).sum() / (pair.stop - pair.start))


def covers_much(pair: Pair) -> bool:
    """Whether the alarms cover so much that points at random times are no match for them."""
    return covered_share(pair) > _MUCH
