r"""Thresholds that series of a detector share: the best F1 pooled over the events of many series.

``best_f1_global`` takes one for all series, ``cross_fit`` for each fold the one of the others. As
the threshold falls from the highest score of any series, the sum of the individual precisions, the
number of events that have one, and the sum of the individual recalls change only at scores of the
series. Every series gives its changes, from its exact curve; all are sorted once and summed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import AffiliationCurve, affiliation_curve
from closecall.affiliation.sweep import cut_samples
from closecall.fscore import f_measure
from closecall.tables.batch.options import sortable
from closecall.tables.roles import NamedTable
from closecall.tables.series import read_series

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.units import Unit

_AT_A_TIME = 1_000_000  # thresholds whose F1 is computed together


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """How the sums over events change as the threshold falls, one entry for each score."""

    thresholds: NDArray[Any]
    """Scores, descending."""
    sums: NDArray[np.float64]
    """What each adds, in three rows: to the sum of the individual precisions that are defined, to
    how many are, and to the sum of the individual recalls."""
    events: int
    """Number of true events."""

    @classmethod
    def of_curve(cls, curve: AffiliationCurve) -> Changes:
        """Take the changes from the exact curve of one series."""
        pieces = cut_samples(curve.scored)
        events = len(curve.scored.truth)
        # A zone has a prediction, and its event a precision, from its highest score down.
        highest = np.sort(np.maximum.reduceat(pieces.scores, pieces.offsets[:-1]))
        defined = events - np.searchsorted(highest, curve.thresholds)
        totals = np.stack((curve.precision * defined, defined, curve.recall * events))
        return cls(curve.thresholds, np.diff(totals, prepend=0.0), events)

    @classmethod
    def merged(cls, parts: Iterable[Changes]) -> Changes:
        """Merge the changes of several series into one, each threshold once."""
        parts = list(parts)
        thresholds = np.concatenate([part.thresholds for part in parts])
        order = np.argsort(thresholds, kind="stable")[::-1]
        thresholds = thresholds[order]
        first = np.flatnonzero(np.append(True, thresholds[1:] != thresholds[:-1]))
        sums = np.concatenate([part.sums for part in parts], axis=1)[:, order]
        events = sum(part.events for part in parts)
        return cls(thresholds[first], np.add.reduceat(sums, first, axis=1), events)

    def f1(self) -> Iterator[NDArray[np.float64]]:
        """Yield the pooled F1 at each threshold, some thresholds at a time."""
        totals = np.zeros((3, 1))
        for start in range(0, self.thresholds.size, _AT_A_TIME):
            more = self.sums[:, start : start + _AT_A_TIME]
            # Sums go on from the last ones, so that no digit depends on where they are cut.
            totals = np.cumsum(np.concatenate((totals[:, -1:], more), axis=1), axis=1)[:, 1:]
            yield f_measure(totals[0] / totals[1], totals[2] / self.events)

    def best(self) -> float:
        """Return the highest threshold that has the best pooled F1."""
        highest, place, start = -1.0, 0, 0
        for scores in self.f1():
            index = int(scores.argmax())
            if scores[index] > highest:
                highest, place = float(scores[index]), start + index
            start += scores.size
        best: float = self.thresholds[place].item()
        return best


class PooledChanges:
    """The changes of all units, merged as they arrive, so that equal scores are kept once.

    Parts of about the same size are merged, so that each entry is copied a few times only; and in
    the order of the units, so that sums have the same digits on every engine.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = deque(keys)
        self._waiting: dict[str, Mapping[str, Changes]] = {}
        self._parts: dict[str, list[Changes]] = {}

    def add(self, key: str, unit: Mapping[str, Changes]) -> None:
        """Take what came of a unit, by detector."""
        self._waiting[key] = unit
        while self._keys and self._keys[0] in self._waiting:
            for detector, changes in self._waiting.pop(self._keys.popleft()).items():
                parts = self._parts.setdefault(detector, [])
                parts.append(changes)
                while len(parts) > 1 and parts[-2].thresholds.size < 2 * parts[-1].thresholds.size:
                    parts[-2:] = [Changes.merged(parts[-2:])]

    def best(self) -> dict[str, float]:
        """Return the best threshold of each detector."""
        return {name: Changes.merged(parts).best() for name, parts in self._parts.items()}


def unit_changes(unit: Unit, options: BatchOptions) -> dict[str, Changes]:
    """Merge the changes of the series of a unit, by detector; series in trouble give none."""
    parts: dict[str, list[Changes]] = {}
    for _, by_detector in series_changes(unit, options):
        for detector, changes in by_detector.items():
            parts.setdefault(detector, []).append(changes)
    return {detector: Changes.merged(changes) for detector, changes in parts.items()}


SeriesChanges = list[tuple[tuple[Any, ...], dict[str, Changes]]]


def series_changes(unit: Unit, options: BatchOptions) -> SeriesChanges:
    """Return the changes of each series of a unit, by detector, under the key of the series."""
    return [
        (options.series_key(key), dict(_changes(table, options, options.detector_of(key))))
        for key, table in unit.groups()
    ]


def _changes(
    table: Any, options: BatchOptions, detector: str | None
) -> Iterator[tuple[str, Changes]]:
    try:
        limits = options.limits(fitting=True)
        series = read_series([NamedTable("", table)], options, limits)
        if len(series.in_span.truth) == 0:
            return
    except Exception:  # noqa: BLE001 - its rows say what is wrong, when the series is evaluated
        return
    for name in options.scores:
        try:
            changes = Changes.of_curve(affiliation_curve(series.detector(name), None))
        except Exception:  # noqa: BLE001, S112 - as above
            continue
        yield detector or name, changes


class FoldedChanges:
    """The changes of every series, from which each fold gets the threshold of the others.

    Series are in the order of their keys, whatever brought them, so that folds and sums are the
    same. Memory holds the distinct scores of all series.
    """

    def __init__(self) -> None:
        self._series: dict[tuple[Any, ...], dict[str, Changes]] = {}

    def add(self, _: str, unit: SeriesChanges) -> None:
        """Take what came of a unit, series by series."""
        for key, by_detector in unit:
            self._series.setdefault(key, {}).update(by_detector)

    def best(self, folds: int) -> tuple[dict[str, list[float]], list[tuple[Any, ...]]]:
        """Return the thresholds of the folds by detector, nan for none, and their first keys."""
        keys = sorted(self._series, key=sortable)
        count = min(folds, len(keys))
        fold_of = np.arange(len(keys)) * count // max(len(keys), 1)
        first_keys = [keys[place] for place in np.searchsorted(fold_of, np.arange(1, count))]
        detectors = dict.fromkeys(
            name for by_detector in self._series.values() for name in by_detector
        )
        return {name: self._of_folds(name, keys, fold_of) for name in detectors}, first_keys

    def _of_folds(
        self, detector: str, keys: list[tuple[Any, ...]], fold_of: NDArray[np.int64]
    ) -> list[float]:
        parts: dict[int, list[Changes]] = {}
        for key, fold in zip(keys, fold_of.tolist(), strict=True):
            if detector in self._series[key]:
                parts.setdefault(fold, []).append(self._series[key][detector])
        merged = {fold: Changes.merged(changes) for fold, changes in parts.items()}
        thresholds = []
        for fold in range(int(fold_of[-1]) + 1):
            others = [part for other, part in merged.items() if other != fold]
            thresholds.append(Changes.merged(others).best() if others else np.nan)
        return thresholds
