"""What the weighted means of precision and recall are made of, one row per event or series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closecall.fscore import f_measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_MOST_WEIGHTS = 1 << 20  # in memory at a time
_ADDED = 0.5  # of an event, at the far end of each limit; see the package


class SetBack(NamedTuple):
    """Leads over another detector in resamples with half an event against it, all arrays alike."""

    one: NDArray[np.float64]
    """It scores 0 there, or the other 1: whichever is worse. The one left is as on average."""
    both: NDArray[np.float64]
    """It scores 0 there and the other 1."""


class Drawn(NamedTuple):
    """Scores in resamples of the same events, all arrays alike."""

    plain: NDArray[np.float64]
    """As the resampled events have them."""
    worse: NDArray[np.float64]
    """With half an event of score 0."""
    better: NDArray[np.float64]
    """With half an event of score 1."""

    def at(self, *place: int) -> Drawn:
        """Give those of one score, or of one detector."""
        return Drawn(self.plain[place], self.worse[place], self.better[place])

    def set_back(self, other: Drawn, scale: float = 1.0) -> SetBack:
        """Give the leads over another detector with half an event against it."""
        one = np.minimum(self.worse - other.plain, self.plain - other.better)
        return SetBack(scale * one, scale * (self.worse - other.better))


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over each event, or over the events of each series (rows), for detectors (columns)."""

    precision: NDArray[np.float64]
    defined: NDArray[np.float64]
    """How many events have a precision."""
    recall: NDArray[np.float64]
    events: NDArray[np.float64]
    """How many events there are: one column."""

    @staticmethod
    def of_events(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> Sums:
        """Take every event on its own; detectors are in rows here."""
        defined = ~np.isnan(precision.T)
        events = np.ones((recall.shape[1], 1))
        return Sums(
            np.where(defined, precision.T, 0.0), defined.astype(np.float64), recall.T, events
        )

    def by_series(self, places: NDArray[np.int64], count: int) -> Sums:
        """Add up the events of each series."""

        def added(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            total = np.zeros((count, rows.shape[1]))
            np.add.at(total, places, rows)
            return total

        return Sums(*map(added, (self.precision, self.defined, self.recall, self.events)))

    def __len__(self) -> int:
        return len(self.events)

    def values(self) -> NDArray[np.float64]:
        """Give precision, recall and F1 (rows) of each detector (columns), without resampling."""
        return _scores(self._weighed(np.ones((1, len(self)))), np.zeros((1, 1)), 0.0)[:, :, 0]

    def resampled(self, n: int, seed: int) -> Drawn:
        """Give the scores of resamples.

        Arrays are indexed by score, detector and resample. O(n m) for m rows, in blocks: the
        weights of a block are all that is held.
        """
        shape = (3, self.recall.shape[1], n)
        plain, worse, better = np.empty(shape), np.empty(shape), np.empty(shape)
        size = (self.events**2).sum() / self.events.sum()  # of the series of an event, on average
        for block, weights, added in self._weights(n, seed):
            weighed, extra = self._weighed(weights), added * size
            plain[:, :, block] = _scores(weighed, np.zeros_like(extra), 0.0)
            worse[:, :, block] = _scores(weighed, extra, 0.0)
            better[:, :, block] = _scores(weighed, extra, 1.0)
        return Drawn(plain, worse, better)

    def _weights(
        self, n: int, seed: int
    ) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
        """Draw the weights block by block; the blocks do not change what is drawn."""
        ours, extra = np.random.default_rng(seed).spawn(2)
        added = extra.standard_gamma(_ADDED, size=(n, 1))
        rows = ceil(_MOST_WEIGHTS / len(self))
        for start in range(0, n, rows):
            block = slice(start, min(start + rows, n))
            yield block, ours.standard_exponential((block.stop - start, len(self))), added[block]

    def differing(self, first: int, second: int, rounding: float) -> tuple[int, int, int]:
        """Count the rows on which two detectors differ in precision, in recall, and in either."""

        def apart(column: NDArray[np.float64]) -> NDArray[np.bool_]:
            return np.abs(column[:, first] - column[:, second]) > rounding

        precision, recall = apart(self.precision) | apart(self.defined), apart(self.recall)
        precise, recalled, either = map(np.count_nonzero, (precision, recall, precision | recall))
        return int(precise), int(recalled), int(either)

    @cached_property
    def _columns(self) -> NDArray[np.float64]:
        return np.hstack([self.precision, self.defined, self.recall, self.events])

    def _weighed(self, weights: NDArray[np.float64]) -> Sums:
        """Add up the weighted rows: one row for each resample."""
        width = self.precision.shape[1]
        ends = [width, 2 * width, 3 * width]
        return Sums(*np.split(weights @ self._columns, ends, axis=1))


def _scores(weighed: Sums, extra: NDArray[np.float64], score: float) -> NDArray[np.float64]:
    """Take the means, with so much of an event with that score added to each resample."""
    defined = weighed.defined + extra
    precision = np.full_like(defined, np.nan)
    np.divide(weighed.precision + extra * score, defined, precision, where=defined > 0)
    recall = (weighed.recall + extra * score) / (weighed.events + extra)
    # Rounding alone could put a mean of ones above 1.
    precision, recall = np.minimum(precision, 1.0), np.minimum(recall, 1.0)
    return np.stack([precision, recall, f_measure(precision, recall)]).transpose(0, 2, 1)
