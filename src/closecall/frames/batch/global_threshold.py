r"""One threshold for all series of a detector: the best F1 pooled over the events of all of them.

As the threshold falls from the highest score of any series, the sum of the individual precisions,
the number of events that have one, and the sum of the individual recalls change only at scores of
the series. Every series gives its changes, from its exact curve; all are sorted once and summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import AffiliationCurve, affiliation_curve
from closecall.affiliation.pieces import cut_samples
from closecall.frames.batch.one_series import read_scored_column
from closecall.frames.batch.series import read_series
from closecall.frames.batch.unit import detector_of
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from closecall.frames.batch.question import Question
    from closecall.frames.sources.unit import Unit


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """How the sums over events change as the threshold falls, one entry for each score."""

    thresholds: NDArray[Any]
    """Scores, descending."""
    precision: NDArray[np.float64]
    """What each adds to the sum of the individual precisions that are defined."""
    defined: NDArray[np.int64]
    """How many individual precisions become defined."""
    recall: NDArray[np.float64]
    """What each adds to the sum of the individual recalls."""
    events: int
    """Number of true events."""

    @classmethod
    def of_curve(cls, curve: AffiliationCurve) -> Changes:
        """Take the changes from the exact curve of one series."""
        pieces = cut_samples(curve.scored)
        events = len(curve.scored.nothing_predicted.truth)
        # A zone has a prediction, and its event a precision, from its highest score down.
        highest = np.sort(np.maximum.reduceat(pieces.scores, pieces.offsets[:-1]))
        defined = events - np.searchsorted(highest, curve.thresholds)
        return cls(
            curve.thresholds,
            np.diff(curve.precision * defined, prepend=0.0),
            np.diff(defined, prepend=0),
            np.diff(curve.recall * events, prepend=0.0),
            events,
        )

    @classmethod
    def merged(cls, parts: Iterable[Changes]) -> Changes:
        """Merge the changes of several series into one, each threshold once."""
        parts = list(parts)
        thresholds = np.concatenate([part.thresholds for part in parts])
        order = np.argsort(thresholds, kind="stable")[::-1]
        thresholds = thresholds[order]
        first = np.flatnonzero(np.append(True, thresholds[1:] != thresholds[:-1]))
        precision, defined, recall = (
            np.add.reduceat(np.concatenate(columns)[order], first)
            for columns in (
                [part.precision for part in parts],
                [part.defined for part in parts],
                [part.recall for part in parts],
            )
        )
        events = sum(part.events for part in parts)
        return cls(thresholds[first], precision, defined, recall, events)

    def f1(self) -> NDArray[np.float64]:
        """Give the pooled F1 at each threshold."""
        precision = np.cumsum(self.precision) / np.cumsum(self.defined)
        recall = np.cumsum(self.recall) / self.events
        scores: NDArray[np.float64] = f_measure(precision, recall)
        return scores

    def best(self) -> float:
        """Give the highest threshold that has the best pooled F1."""
        best: float = self.thresholds[int(self.f1().argmax())].item()
        return best


def unit_changes(unit: Unit, question: Question) -> dict[str, Changes]:
    """Merge the changes of the series of a unit, by detector; series in trouble give none."""
    parts: dict[str, list[Changes]] = {}
    for key, table in unit.groups():
        own = detector_of(key, question)
        for name, changes in _series_changes(table, question):
            parts.setdefault(own or name, []).append(changes)
    return {detector: Changes.merged(own) for detector, own in parts.items()}


def _series_changes(table: Any, question: Question) -> list[tuple[str, Changes]]:
    found = []
    try:
        series = read_series(table, question)
        if len(series.nothing_predicted.truth) == 0:
            return []
    except Exception:  # noqa: BLE001 - its rows say what is wrong, when the series is evaluated
        return []
    for name in question.scores:
        try:
            scored = read_scored_column(series, table.column(name), name)
            found.append((name, Changes.of_curve(affiliation_curve(scored, None))))
        except Exception:  # noqa: BLE001, S112 - as above
            continue
    return found


def shared_thresholds(units: Iterable[dict[str, Changes]]) -> dict[str, float]:
    """Give the best threshold of each detector, from the changes of all units."""
    parts: dict[str, list[Changes]] = {}
    for unit in units:
        for detector, changes in unit.items():
            parts.setdefault(detector, []).append(changes)
    return {detector: Changes.merged(own).best() for detector, own in parts.items()}
