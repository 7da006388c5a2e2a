"""How far the numbers of a summary, and their differences, can be trusted: series are resampled."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from closecall.statistics import (
    SCORES,
    Difference,
    Interval,
    Resamples,
    caution_about,
    caution_about_pairs,
    mean_differences,
    mean_intervals,
)
from closecall.statistics.intervals import read_drawing, read_level
from closecall.tables.batch.leaderboard import higher_is_better
from closecall.tables.batch.question import DETECTOR
from closecall.tables.batch.summary import numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.batch.question import Question

_NUMBERS = ("value", "low", "high", "probability")
_SERIES = "series"
_SOME = "series with this number"
_BOTH = "series where both have this number"


def interval_rows(
    rows: pa.Table, events: pa.Table | None, question: Question, *, level: float, n: int, seed: int
) -> pa.Table:
    """Give an interval for each mean over series and, with events, each number pooled over them.

    See `closecall.tables.batch.result.BatchResult.intervals` for the columns.
    """
    import pyarrow as pa

    level, (n, seed) = read_level(level), read_drawing(n, seed)
    laid = _Laid.out(rows, events, question)
    found = list(_mean_rows(laid, rows, question, level=level, n=n, seed=seed))
    if events is not None and events.num_rows:
        found += _pooled_rows(laid, events, level=level, n=n, seed=seed)
    # Each detector alone, then each pair; within these the means come first.
    found.sort(key=lambda row: (row[0] != row[1], row[0], row[1]))
    return pa.table(
        {
            DETECTOR: laid.names.take(pa.array([row[0] for row in found], pa.int64())),
            "against": pa.array(
                ["" if row[0] == row[1] else str(laid.names[row[1]]) for row in found], pa.string()
            ),
            "number": pa.array([row[2] for row in found], pa.string()),
            **{
                name: pa.array([getattr(row[3], name, nan) for row in found], pa.float64())
                for name in _NUMBERS
            },
            "caution": pa.array([row[4] for row in found], pa.string()),
        }
    )


_Row = tuple[int, int, str, Interval, str]  # two detectors, or one twice; number, limits, caution


@dataclass(frozen=True)
class _Laid:
    """Which detector and which series each row, and each row of events, belongs to, in numbers."""

    names: pa.Array
    """The detectors, in order of appearance."""
    lines: NDArray[np.int64]
    event_lines: NDArray[np.int64]
    columns: NDArray[np.int64]
    event_columns: NDArray[np.int64]
    series: int

    @staticmethod
    def out(rows: pa.Table, events: pa.Table | None, question: Question) -> _Laid:
        by = [name for name in question.by if name != DETECTOR]
        lines, firsts = _numbered(rows, events, [DETECTOR])
        columns, keys = _numbered(rows, events, by)
        count = rows.num_rows
        names = rows.column(DETECTOR).combine_chunks().take(firsts)
        return _Laid(
            names.dictionary_decode() if hasattr(names, "dictionary_decode") else names,
            *(lines[:count], lines[count:], columns[:count], columns[count:]),
            len(keys),
        )

    def spread(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lay a column of the rows out by detector (rows) and series (columns); nan for none."""
        values = np.full((len(self.names), self.series), np.nan)
        values[self.lines, self.columns] = numbers
        return values


def _numbered(
    rows: pa.Table, events: pa.Table | None, names: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the keys of rows, and of events after them, numbers in order of appearance."""
    import pyarrow as pa

    from closecall.tables.sources.grouping import number_keys, run_values, whole  # slow to import

    both = [rows] if events is None else [rows, events]
    total = sum(table.num_rows for table in both)
    if not names or not total:
        return np.zeros(total, np.int64), np.zeros(min(total, 1), np.int64)
    keys = pa.concat_tables([table.select(names) for table in both], promote_options="permissive")
    return number_keys(
        [run_values(whole(keys.column(name), name), np.arange(total)) for name in names]
    )


def _mean_rows(
    laid: _Laid, rows: pa.Table, question: Question, *, level: float, n: int, seed: int
) -> Iterator[_Row]:
    """Take each number of a series as it is: all series weigh the same."""
    names = question.metric_columns
    values = np.stack([laid.spread(numbers_of(rows, name)) for name in names])
    metrics = [question.metric_of(name) for name in names]
    bounds = [(metric.lowest, metric.highest) for metric in metrics]
    each = [pair for pair in bounds for _ in laid.names]
    flat = values.reshape(len(each), laid.series)
    intervals = iter(mean_intervals(flat, each, level=level, n=n, seed=seed))
    for name, own, bound in zip(names, values, bounds, strict=True):
        defined = np.count_nonzero(~np.isnan(own), axis=1).tolist()
        for line, count in enumerate(defined):
            caution = _caution(caution_about, count, laid.series, _SOME)
            yield line, line, f"mean_{name}", next(intervals), caution
        for pair, made, count in mean_differences(own, bound, level=level, n=n, seed=seed):
            gap = made
            if not higher_is_better(name, question):
                gap = Difference(gap.value, gap.low, gap.high, 1 - gap.probability)
            caution = _caution(caution_about_pairs, count, laid.series, _BOTH)
            yield *pair, f"mean_{name}", gap, caution


def _caution(about: Callable[[int, str], str], count: int, series: int, some: str) -> str:
    return about(count, _SERIES if count == series else some)


def _pooled_rows(
    laid: _Laid, events: pa.Table, *, level: float, n: int, seed: int
) -> Iterator[_Row]:
    """Pool the events of the series that a detector, or both of two, have; draw series whole."""
    precision, recall, series = _by_event(laid, events)
    counts = np.zeros((len(laid.names), laid.series), np.int64)
    np.add.at(counts, (laid.event_lines, laid.event_columns), 1)
    # Most often all detectors have the same events, and one draw serves them all.
    shared: dict[bytes, list[tuple[int, int]]] = {}
    for pair in combinations_with_replacement(range(len(laid.names)), 2):
        shared.setdefault(_common(counts, *pair).tobytes(), []).append(pair)
    for pairs in shared.values():
        lines = sorted({line for pair in pairs for line in pair})
        kept = _common(counts, *pairs[0])[series] > 0
        if not kept.any():
            continue
        own = np.ix_(np.array(lines), kept)
        drawn = Resamples.draw(precision[own], recall[own], series[kept], n=n, seed=seed)
        for first, second in pairs:
            places = lines.index(first), lines.index(second)
            yield from _pooled(drawn, (first, second), places, level)


def _pooled(
    drawn: Resamples, pair: tuple[int, int], places: tuple[int, int], level: float
) -> Iterator[_Row]:
    intervals: tuple[Interval, ...]
    if pair[0] == pair[1]:
        alone = drawn.intervals(places[0], level)
        intervals, caution = (alone.precision, alone.recall, alone.f1), alone.caution
    else:
        intervals = drawn.differences(*places, level)
        caution = drawn.pair_caution(*places)
    for score, interval in zip(SCORES, intervals, strict=True):
        yield *pair, f"pooled_affiliation_{score}", interval, caution


def _common(counts: NDArray[np.int64], first: int, second: int) -> NDArray[np.int64]:
    """Give the number of events in each series for which both detectors have the same events."""
    return np.where(counts[first] == counts[second], counts[first], 0)


def _by_event(
    laid: _Laid, events: pa.Table
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Lay precision and recall out by detector (rows) and event, and give each event's series."""
    numbers = events.column("event").to_numpy()
    stride = int(numbers.max()) + 1
    keys, places = np.unique(laid.event_columns * stride + numbers, return_inverse=True)
    shape = len(laid.names), keys.size
    precision, recall = np.full(shape, np.nan), np.full(shape, np.nan)
    precision[laid.event_lines, places] = numbers_of(events, "precision")
    recall[laid.event_lines, places] = numbers_of(events, "recall")
    return precision, recall, keys // stride
