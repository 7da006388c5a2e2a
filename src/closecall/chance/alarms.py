"""Alarms shifted around the span: their scores overall, and a tally for each event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.score import score_pair
from closecall.affiliation.zones import origin_of, zone_borders
from closecall.chance.result import TOLERANCE, EventTests
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.affiliation import EventScores
    from closecall.chance.correction import Correction
    from closecall.clock import Ticks
    from closecall.series import Pair

    Progress = Callable[[int, int], None]

MOST_KEPT = 4_000_000  # values of a null for each event: 32 MB for each score
_BLOCK = 2_000_000  # events and alarms that are scored before progress is told


class EventTally:
    """Counts what the shifts give at each event, a block of shifts at a time."""

    def __init__(self, observed: NDArray[np.float64], *, keep: bool) -> None:
        self._observed = observed
        self._blocks: list[NDArray[np.float64]] | None = [] if keep else None
        self._at_least = np.zeros(observed.size, dtype=np.int64)
        self._draws = np.zeros(observed.size, dtype=np.int64)
        self._mean, self._squares = np.zeros(observed.size), np.zeros(observed.size)

    def add(self, values: NDArray[np.float64]) -> None:
        """Count more shifts (rows) at every event (columns)."""
        defined = ~np.isnan(values)
        draws = np.count_nonzero(defined, axis=0)
        mean = np.where(defined, values, 0.0).sum(axis=0) / np.maximum(draws, 1)
        squares = np.square(np.where(defined, values - mean, 0.0)).sum(axis=0)
        # Means and squares of two blocks are joined without ever subtracting large sums.
        total, away = np.maximum(self._draws + draws, 1), mean - self._mean
        self._squares += squares + away**2 * self._draws * draws / total
        self._mean += away * draws / total
        self._draws += draws
        self._at_least += np.count_nonzero(values >= self._observed - TOLERANCE, axis=0)
        if self._blocks is not None:
            self._blocks.append(values)

    def result(self, correction: Correction) -> EventTests:
        """Give what was counted as columns."""
        drawn = self._draws > 0
        return EventTests(
            observed=self._observed,
            at_least=self._at_least,
            draws=self._draws,
            mean=np.where(drawn, self._mean, np.nan),
            std=np.where(drawn, np.sqrt(self._squares / np.maximum(self._draws, 1)), np.nan),
            null=None if self._blocks is None else np.concatenate(self._blocks),
            correction=correction,
        )


def shift_alarms(
    pair: Pair, shifts: Ticks, correction: Correction, progress: Progress | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[EventTests]]:
    """Give precision, recall and F1: those observed, those of each shift, and each event's."""
    result = score_pair(pair)
    events: EventScores = result.events
    keep = shifts.size * len(events) <= MOST_KEPT
    tallies = [EventTally(x, keep=keep) for x in (events.precision, events.recall, events.f1)]
    null = np.empty((3, shifts.size))
    step = max(1, _BLOCK // (len(pair.truth) + len(pair.predicted)))
    for first in range(0, shifts.size, step):
        block = slice(first, first + step)
        null[:, block], each = score_shifted(pair, shifts[block])
        for tally, values in zip(tallies, each, strict=True):
            tally.add(values)
        if progress is not None:
            progress(min(first + step, shifts.size), shifts.size)
    observed = np.array([result.precision, result.recall, result.f1])
    return observed, null, [tally.result(correction) for tally in tallies]


def score_shifted(pair: Pair, shifts: Ticks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score each shift: precision, recall and F1 (first axis), overall and for each event."""
    from closecall.chance import _shift_kernels

    origin = origin_of(pair)
    scores = np.empty((2, shifts.size))
    event_scores = np.empty((2, shifts.size, len(pair.truth)))
    _shift_kernels.score_shifts(
        pair.truth.starts - origin,
        pair.truth.stops - origin,
        pair.predicted.starts - origin,
        pair.predicted.stops - origin,
        pair.start - origin,
        pair.stop - origin,
        zone_borders(pair),
        shifts,
        scores,
        event_scores,
    )
    return _with_f1(scores), _with_f1(event_scores)


def _with_f1(scores: NDArray[np.float64]) -> Any:
    precision, recall = scores
    return np.stack((precision, recall, f_measure(precision, recall)))
