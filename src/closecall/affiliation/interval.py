"""The intervals of one detector's scores, over its true events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.statistics import Resamples, ScoreIntervals

if TYPE_CHECKING:
    from closecall.affiliation.result import Affiliation


def event_interval(
    result: Affiliation, *, level: float = 0.95, n: int = 2000, seed: int = 0
) -> ScoreIntervals:
    """Say how far precision, recall and F1 may be off, since there are only so many events.

    The true events at hand are taken as a sample of those that there could be, and resampled (see
    `closecall.statistics`). Events without a precision are left out of its mean, whatever
    `zero_division` was. O(n m) for m events.

    Parameters
    ----------
    result
        What `closecall.affiliation` returns.
    level
        How often such intervals are meant to hold the true score, between 0 and 1.
    n
        How many resamples to draw, 100 or more.
    seed
        The same seed gives the same intervals.

    Returns
    -------
    ScoreIntervals
        ``precision``, ``recall`` and ``f1``, each with ``value``, ``low`` and ``high`` in [0, 1],
        higher is better; nan with a single event. ``caution`` says what few events do not allow.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    >>> found = [0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    >>> event_interval(cc.affiliation(truth, found)).recall
    Interval(0.688, from 0.205 to 0.958)
    """
    events = result.events
    resamples = Resamples.draw([events.precision], [events.recall], n=n, seed=seed)
    return resamples.intervals(0, level)
