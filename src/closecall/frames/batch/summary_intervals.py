"""How far the numbers of a summary can be trusted: intervals over series and their events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.bootstrap import hierarchical, mean_interval
from closecall.frames.batch.question import DETECTOR
from closecall.frames.batch.summary import numbers_of

if TYPE_CHECKING:
    import pyarrow as pa

    from closecall.bootstrap import Interval
    from closecall.frames.batch.question import Question

_SCORES = ("precision", "recall", "f1")


def interval_rows(
    rows: pa.Table, events: pa.Table | None, question: Question, *, level: float, n: int, seed: int
) -> pa.Table:
    """Give an interval for each mean over series and, with events, each number pooled over them.

    See `closecall.frames.batch.result.BatchResult.intervals` for the columns.
    """
    import pyarrow as pa

    found: list[dict[str, Any]] = []
    from closecall.frames.sources.grouping import group  # slow to import

    of_events = {} if events is None else dict(iter(group(events, [DETECTOR])))
    for (detector,), part in group(rows, [DETECTOR]):
        for name in question.metric_columns:
            metric = question.metric_of(name)
            low, high = metric.lowest, metric.highest
            interval = mean_interval(numbers_of(part, name), level=level, low=low, high=high)
            found.append(_row(detector, f"mean_{name}", interval, ""))
        own = of_events.get((detector,))
        if own is None:
            continue
        precision, recall = (numbers_of(own, name) for name in _SCORES[:2])
        series = _series_numbers(own, question)
        pooled = hierarchical(precision, recall, series, level=level, n=n, seed=seed)
        found.extend(
            _row(detector, f"pooled_affiliation_{name}", getattr(pooled, name), pooled.caution)
            for name in _SCORES
        )
    return pa.Table.from_pylist(found)


def _row(detector: str, number: str, interval: Interval, caution: str) -> dict[str, Any]:
    return {
        DETECTOR: detector,
        "number": number,
        "value": interval.value,
        "low": interval.low,
        "high": interval.high,
        "caution": caution,
    }


def _series_numbers(events: pa.Table, question: Question) -> Any:
    """Give each event the number of its series."""
    names = [name for name in question.by if name != DETECTOR]
    if not names:
        return np.zeros(events.num_rows, dtype=np.int64)
    keys = list(zip(*(events.column(name).to_pylist() for name in names), strict=True))
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])
