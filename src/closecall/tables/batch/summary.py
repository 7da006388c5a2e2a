"""Summaries of a batch: means, pooled numbers, ranks and intervals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.shifts import caught_above_chance
from closecall.errors import InputError, shown
from closecall.evaluated_time import advice_on_many, advice_on_missing_scores
from closecall.fscore import counted_f1, f_measure
from closecall.metrics.result import ratio
from closecall.parameters import read_names
from closecall.statistics import (
    SCORES,
    Interval,
    Sample,
    caution_about,
    caution_about_pairs,
    mean_differences,
    mean_intervals,
)
from closecall.statistics.intervals import read_drawing, read_level
from closecall.statistics.ranks import ranks_of
from closecall.tables.batch.options import ALARMED, BEST, DETECTOR, GAP, LOST, NOTES, QUIET
from closecall.tables.reading import value_type
from closecall.tables.series import Status
from closecall.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.batch.options import BatchOptions

STATUSES = {
    Status.OK: "evaluated",
    Status.CONSTANT_SCORE: "with the same score everywhere",
    Status.UNDEFINED: "with an undefined metric",
    Status.NO_EVENT: "without a true event",
    Status.NAN_SCORE: "with missing scores",
    Status.BAD_SCORES: "with scores that are not numbers",
    Status.BAD_LABELS: "with labels that are not 0 or 1",
    Status.BAD_TIMES: "with times that repeat, go back or cannot be used",
    Status.EMPTY: "without a sample to evaluate",
    Status.FAILED: "that failed",
}
"""Every status a row can have, and how a summary says it."""
DISORDER_HINT = (
    "--disorder sort puts samples in the order of their times, and first, last or mean also keeps "
    "one of each; index counts samples instead"
)


def summarise(
    rows: pa.Table, options: BatchOptions, by: str | Iterable[str] = DETECTOR, *, unread: str = ""
) -> pa.Table:
    """Summarise rows of series, see `BatchResult.summary`; `unread` says what is not in them."""
    import pyarrow as pa

    from closecall.tables.grouping import group  # slow to import

    asked, known = read_names(by, "by"), tuple(dict.fromkeys((*options.by, DETECTOR)))
    for name in asked:
        if name not in known:
            rule = "to name columns that tell series apart"
            raise InputError(rule, repr(name), argument="by", hint=f"There is: {', '.join(known)}.")
    names = (*(name for name in asked if name != DETECTOR), DETECTOR)
    keys, numbers = [], []
    for key, part in group(rows, names):
        keys.append(key)
        numbers.append(_numbers(part, options))
        numbers[-1]["trouble"] = "; ".join(filter(None, [numbers[-1]["trouble"], unread]))
    columns = [
        pa.array([key[place] for key in keys], type=value_type(rows.schema.field(name).type))
        for place, name in enumerate(names)
    ]
    table = pa.Table.from_pylist(numbers)
    return pa.Table.from_arrays([*columns, *table.columns], names=[*names, *table.column_names])


def numbers_of(rows: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of numbers, nan where there is none; F1 as it counts in means."""
    import pyarrow as pa

    def column(name: str) -> NDArray[np.float64]:
        values: NDArray[np.float64] = (
            rows.column(name).cast(pa.float64()).combine_chunks().to_numpy(zero_copy_only=False)
        )
        return values

    numbers = column(name)
    if not name.endswith("_f1") or "predicted_events" not in rows.column_names:
        return numbers
    return counted_f1(numbers, column("predicted_events"), column("true_events"))


def mean(values: NDArray[np.float64]) -> float:
    """Return the mean of the defined values; nan if there are none."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else nan


def trouble_text(statuses: Iterable[str]) -> str:
    """Count series by what is wrong with them; empty if all are fine."""
    counts = Counter(statuses)
    del counts[Status.OK]
    ordered = counts.most_common()
    return "; ".join(f"{count} {STATUSES.get(status, status)}" for status, count in ordered)


def _numbers(rows: pa.Table, options: BatchOptions) -> dict[str, Any]:
    statuses = rows.column("status").to_pylist()
    kinds = options.column_types.items()
    numbers = {name: numbers_of(rows, name) for name, kind in kinds if kind != "string"}
    metrics = options.metric_columns
    undefined = np.isnan(np.column_stack([numbers[name] for name in metrics])).any(axis=1)
    averaged = (*metrics, *((BEST,) if options.shows_best else ()), *options.chance_columns)
    counts, pooled = _of_events(numbers) if options.has_affiliation else ({}, {})
    return {
        "series": rows.num_rows,
        "series_ok": statuses.count(Status.OK),
        "series_undefined": int(undefined.sum()),
        "trouble": trouble_text(statuses),
        **counts,
        **{f"mean_{name}": mean(numbers[name]) for name in averaged},
        **pooled,
        **_micro(numbers),
    }


def _of_events(
    numbers: Mapping[str, NDArray[np.float64]],
) -> tuple[dict[str, float], dict[str, float]]:
    """Count what happened to the events of the series that were scored, and average over them."""
    precision, recall = numbers["affiliation_precision"], numbers["affiliation_recall"]
    events, alarmed = numbers["true_events"], numbers[ALARMED]
    scored = ~np.isnan(recall)  # a series with a recall is one whose events were scored
    alarms, days = numbers["false_alarms"], numbers["evaluated_days"]
    dated = ~np.isnan(days)
    caught, pooled, level = (
        float(numbers[name][scored].sum()) for name in ("caught", "true_events", "chance_caught")
    )
    counts = {
        "caught": int(caught),
        "close_calls": int(numbers["close_calls"][scored].sum()),
        "missed": int(pooled - caught),
        "pooled_events": int(pooled),
        "chance_caught": level,
        "caught_above_chance": caught_above_chance(caught, pooled, level),
        "mean_alarmed": mean(numbers["alarmed"]),
        "false_alarms": int(np.nansum(alarms)),
        "false_alarms_per_day": float(ratio(alarms[dated].sum(), days[dated].sum())),
    }
    # Each series' means are turned back into the sums they came from.
    precisions = float(np.nansum((precision * alarmed)[scored]))
    recalls = float((recall * events)[scored].sum())
    shares = ratio(precisions, alarmed[scored].sum()), ratio(recalls, events[scored].sum())
    return counts, _with_f1("pooled_affiliation", *shares)


def _micro(numbers: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    """Compare summed samples, wherever something was predicted or could have been."""
    known = ~np.isnan(numbers["predicted_samples"])
    hit, predicted, true = (
        float(numbers[f"{name}_samples"][known].sum()) for name in ("hit", "predicted", "true")
    )
    return _with_f1("micro", ratio(hit, predicted), ratio(hit, true))


def _with_f1(prefix: str, precision: Any, recall: Any) -> dict[str, float]:
    """Return precision, recall and the F1 of the two, under their names."""
    values = {"precision": precision, "recall": recall, "f1": f_measure(precision, recall)}
    return {f"{prefix}_{name}": float(value) for name, value in values.items()}


def advice_on_rows(rows: pa.Table, options: BatchOptions) -> list[str]:
    """Return advice on options that the series of these rows may need."""
    numbers, firsts = _numbered(rows, None, [name for name in options.by if name != DETECTOR])
    gaps, quiet = (np.unique(numbers[numbers_of(rows, name) == 1]).size for name in (GAP, QUIET))
    lost: dict[str, int] = {}
    for detector, count in zip(
        *(rows.column(x).to_pylist() for x in (DETECTOR, LOST)), strict=True
    ):
        lost[detector] = lost.get(detector, 0) + (count or 0)
    events = 0
    if any(lost.values()):
        known = [numbers_of(rows, name)[firsts] for name in ("true_events", "left_out_events")]
        events = int(np.nansum(known))
    return [*advice_on_many(gaps, quiet, firsts.size), *advice_on_missing_scores(lost, events)]


def notes_on_rows(rows: pa.Table, options: BatchOptions) -> list[str]:
    """Return what was inferred of each series, after its name."""
    noted = rows.filter(rows.column(NOTES).is_valid())
    by = [name for name in options.by if name != DETECTOR]
    columns = [noted.column(name).to_pylist() for name in (*by, DETECTOR, NOTES)]
    found: dict[tuple[str, str], list[str]] = {}
    for *key, detector, notes in zip(*columns, strict=True):
        for note in notes:
            found.setdefault((", ".join(map(str, key)), note), []).append(detector)
    sentences = []
    for (series, note), detectors in found.items():
        some = listed(detectors) if len(detectors) < len(options.detectors) else ""
        whose = ", ".join(filter(None, (series, some)))
        sentences.append(f"{whose}: {note}" if whose else note)
    return sentences


def rank_detectors(
    rows: pa.Table, options: BatchOptions, metric: str, detector: str = DETECTOR
) -> pa.Table:
    """Rank detectors by the mean of a metric over series, see `BatchResult.leaderboard`."""
    import pyarrow as pa

    detectors, values = values_by_series(rows, options, metric, detector)[1:]
    sign = 1.0 if options.metric_of(metric).higher_is_better else -1.0
    means = np.array([mean(column) for column in values])
    places = np.where(np.isnan(means), np.nan, ranks_of(sign * means[:, None])[:, 0])
    upward = sign * values[:, ~np.isnan(values).all(axis=0)]
    order = np.argsort(places, kind="stable")
    count = len(order)
    mean_ranks, best_on = np.full(count, np.nan), np.zeros(count, np.int64)
    if upward.size:
        mean_ranks = ranks_of(upward).mean(axis=1)
        best_on = (upward == np.nanmax(upward, axis=0)).sum(axis=1)
    return pa.table(
        {
            "rank": places[order],
            DETECTOR: pa.array([detectors[place] for place in order]),
            f"mean_{metric}": means[order],
            "mean_rank": mean_ranks[order],
            "best_on": best_on[order],
            "series": np.full(count, values.shape[1]),
            "undefined": np.isnan(values).sum(axis=1)[order],
        }
    )


def values_by_series(
    rows: pa.Table, options: BatchOptions, metric: Any, detector: Any = DETECTOR
) -> tuple[list[str], list[Any], NDArray[np.float64]]:
    """Lay one number out by detector (rows) and series (columns); nan where there is none."""
    numbers = (*options.metric_columns, *options.chance_columns)
    if not isinstance(metric, str) or metric not in numbers:
        rule, hint = "to be a number of the rows", f"There is: {', '.join(numbers)}."
        raise InputError(rule, shown(metric), argument="metric", hint=hint)
    known = tuple(dict.fromkeys((*options.by, DETECTOR)))
    if not isinstance(detector, str) or detector not in known:
        rule = "to be a column that tells rows apart"
        raise InputError(rule, shown(detector), argument="detector")
    by = [name for name in known if name != detector]
    positions = _Positions.of(rows, None, by, detector)
    keys = zip(*(rows.column(name).take(positions.series).to_pylist() for name in by), strict=True)
    called = [", ".join(map(str, key)) for key in keys] or [""]
    return called, positions.names.to_pylist(), positions.spread(numbers_of(rows, metric))


_NUMBERS = ("value", "low", "high", "pvalue")
_SERIES = "series"
_SOME = "series with this number"
_BOTH = "series where both have this number"


def interval_rows(
    rows: pa.Table,
    events: pa.Table | None,
    options: BatchOptions,
    *,
    level: float,
    n: int,
    seed: int,
) -> pa.Table:
    """Return intervals of means and, with events, of pooled numbers: `BatchResult.intervals`."""
    import pyarrow as pa

    level, (n, seed) = read_level(level), read_drawing(n, seed)
    positions = _Positions.of(rows, events, [name for name in options.by if name != DETECTOR])
    found = list(_mean_rows(positions, rows, options, level=level, n=n, seed=seed))
    if events is not None and events.num_rows:
        found += _pooled_rows(positions, events, level=level, n=n, seed=seed)
    # Each detector alone, then each pair; within these the means come first.
    found.sort(key=lambda row: (row[0] != row[1], row[0], row[1]))
    return pa.table(
        {
            DETECTOR: positions.names.take(pa.array([row[0] for row in found], pa.int64())),
            "against": pa.array(
                ["" if row[0] == row[1] else str(positions.names[row[1]]) for row in found],
                pa.string(),
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
class _Positions:
    """Indices of the detector and the series of each row, and of each row of events."""

    names: pa.Array
    """The detectors, in order of appearance."""
    lines: NDArray[np.int64]
    event_lines: NDArray[np.int64]
    columns: NDArray[np.int64]
    event_columns: NDArray[np.int64]
    series: NDArray[np.int64]
    """The first row of each series."""

    @staticmethod
    def of(
        rows: pa.Table, events: pa.Table | None, by: list[str], detector: str = DETECTOR
    ) -> _Positions:
        lines, firsts = _numbered(rows, events, [detector])
        columns, series = _numbered(rows, events, by)
        count = rows.num_rows
        names = rows.column(detector).combine_chunks().take(firsts)
        return _Positions(
            names.dictionary_decode() if hasattr(names, "dictionary_decode") else names,
            *(lines[:count], lines[count:], columns[:count], columns[count:]),
            series,
        )

    def spread(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lay a column of the rows out by detector (rows) and series (columns); nan for none."""
        values = np.full((len(self.names), max(self.series.size, 1)), np.nan)
        values[self.lines, self.columns] = numbers
        return values


def _numbered(
    rows: pa.Table, events: pa.Table | None, names: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys of rows, and of events after them, numbers in order of appearance."""
    import pyarrow as pa

    from closecall.tables.grouping import number_keys, run_values, whole  # slow to import

    both = [rows] if events is None else [rows, events]
    total = sum(table.num_rows for table in both)
    if not names or not total:
        return np.zeros(total, np.int64), np.zeros(min(total, 1), np.int64)
    keys = pa.concat_tables([table.select(names) for table in both], promote_options="permissive")
    return number_keys(
        [run_values(whole(keys.column(name), name), np.arange(total)) for name in names]
    )


def _mean_rows(
    positions: _Positions, rows: pa.Table, options: BatchOptions, *, level: float, n: int, seed: int
) -> Iterator[_Row]:
    """Yield the intervals of means, in which all series weigh the same."""
    names = options.metric_columns
    values = np.stack([positions.spread(numbers_of(rows, name)) for name in names])
    metrics = [options.metric_of(name) for name in names]
    bounds = [(metric.lowest, metric.highest) for metric in metrics]
    each = [pair for pair in bounds for _ in positions.names]
    flat = values.reshape(len(each), positions.series.size)
    intervals = iter(mean_intervals(flat, each, level=level, n=n, seed=seed))
    for name, numbers, bound in zip(names, values, bounds, strict=True):
        defined = np.count_nonzero(~np.isnan(numbers), axis=1).tolist()
        for line, count in enumerate(defined):
            caution = _caution(caution_about, count, positions.series.size, _SOME)
            yield line, line, f"mean_{name}", next(intervals), caution
        for pair, gap, count in mean_differences(numbers, bound, level=level):
            caution = _caution(caution_about_pairs, count, positions.series.size, _BOTH)
            yield *pair, f"mean_{name}", gap, caution


def _caution(about: Callable[[int, str], str], count: int, series: int, some: str) -> str:
    return about(count, _SERIES if count == series else some)


def _pooled_rows(
    positions: _Positions, events: pa.Table, *, level: float, n: int, seed: int
) -> Iterator[_Row]:
    """Pool the events of the series that a detector, or both of two, have; draw series whole."""
    (precision, recall, *samples), series = _by_event(positions, events)
    counts = np.zeros((len(positions.names), positions.series.size), np.int64)
    np.add.at(counts, (positions.event_lines, positions.event_columns), 1)

    def common(one: int, other: int) -> NDArray[np.int64]:
        """Return the number of events in each series for which both have the same events."""
        first, last = (side[[one, other]] for side in samples)
        same = counts[one] == counts[other]
        same[series[first.max(axis=0) > last.min(axis=0)]] = False  # those do not overlap
        return np.where(same, counts[one], 0)

    # Most often all detectors have the same events, and one draw serves them all.
    shared: dict[bytes, list[tuple[int, int]]] = {}
    for pair in combinations_with_replacement(range(len(positions.names)), 2):
        shared.setdefault(common(*pair).tobytes(), []).append(pair)
    for pairs in shared.values():
        lines = sorted({line for pair in pairs for line in pair})
        kept = common(*pairs[0])[series] > 0
        if not kept.any():
            continue
        cells = np.ix_(np.array(lines), kept)
        sample = Sample.read(precision[cells], recall[cells], series[kept])
        for first, second in pairs:
            places = lines.index(first), lines.index(second)
            yield from _pooled_intervals(
                sample, (first, second), places, level=level, n=n, seed=seed
            )


def _pooled_intervals(
    sample: Sample,
    pair: tuple[int, int],
    places: tuple[int, int],
    *,
    level: float,
    n: int,
    seed: int,
) -> Iterator[_Row]:
    intervals: tuple[Interval, ...]
    if pair[0] == pair[1]:
        alone = sample.intervals(places[0], level, n=n, seed=seed)
        intervals, caution = (alone.precision, alone.recall, alone.f1), alone.caution
    else:
        intervals = sample.differences(*places, level)
        caution = sample.pair_cautions(*places).text
    for score, interval in zip(SCORES, intervals, strict=True):
        yield *pair, f"pooled_affiliation_{score}", interval, caution


def _by_event(
    positions: _Positions, events: pa.Table
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """Lay numbers out by detector (rows) and event, and give each event's series.

    These are precision, recall, and the first and the last sample.
    """
    numbers = events.column("event").to_numpy()
    stride = int(numbers.max()) + 1
    keys, places = np.unique(positions.event_columns * stride + numbers, return_inverse=True)
    found = []
    for name in ("precision", "recall", "first_sample", "last_sample"):
        values = np.full((len(positions.names), keys.size), np.nan)
        values[positions.event_lines, places] = numbers_of(events, name)
        found.append(values)
    return found, keys // stride
