"""Detectors ranked by one number over the series of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.tables.batch.question import DETECTOR
from closecall.tables.batch.summary import mean, numbers_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.batch.question import Question


def rank_detectors(
    rows: pa.Table, question: Question, metric: str, detector: str = DETECTOR
) -> pa.Table:
    """Rank detectors by the mean of a metric over series, and by their mean rank on each series.

    See `closecall.tables.batch.result.BatchResult.leaderboard` for the columns.
    """
    import pyarrow as pa

    detectors, values = values_by_series(rows, question, metric, detector)[1:]
    sign = 1.0 if higher_is_better(metric, question) else -1.0
    means = np.array([mean(own) for own in values])
    places = np.where(np.isnan(means), np.nan, _ranks(sign * means[:, None])[:, 0])
    known = ~np.isnan(values).all(axis=0)
    ranks = _ranks(sign * values[:, known])
    best = _is_best(sign * values[:, known])
    order = np.argsort(places, kind="stable")
    return pa.table(
        {
            "rank": places[order],
            detector: pa.array([detectors[place] for place in order]),
            f"mean_{metric}": means[order],
            "mean_rank": (ranks.mean(axis=1) if known.any() else np.full(len(order), np.nan))[
                order
            ],
            "best_on": best.sum(axis=1)[order],
            "series": np.full(len(order), values.shape[1]),
            "undefined": np.isnan(values).sum(axis=1)[order],
        }
    )


def values_by_series(
    rows: pa.Table, question: Question, metric: str, detector: str = DETECTOR
) -> tuple[list[str], list[Any], NDArray[np.float64]]:
    """Lay one number out by detector (rows) and series (columns); nan where there is none."""
    require_metric(metric, question)
    known = tuple(dict.fromkeys((*question.by, DETECTOR)))
    if detector not in known:
        raise InputError(
            expected("`detector` to be a column that tells rows apart", repr(detector))
        )
    series_by = [name for name in known if name != detector]
    numbers = numbers_of(rows, metric)
    names = rows.column(detector).to_pylist()
    keys = list(zip(*(rows.column(name).to_pylist() for name in series_by), strict=True))
    detectors = list(dict.fromkeys(names))
    series = list(dict.fromkeys(keys or [()]))
    values = np.full((len(detectors), len(series)), np.nan)
    columns = {key: place for place, key in enumerate(series)}
    lines = {name: place for place, name in enumerate(detectors)}
    for name, key, number in zip(names, keys or [()] * len(names), numbers, strict=True):
        values[lines[name], columns[key]] = number
    shown = [", ".join(str(part) for part in key) for key in series]
    return shown, detectors, values


def require_metric(metric: str, question: Question) -> None:
    """Refuse a number that the rows do not hold."""
    known = (*question.metric_columns, *question.chance_columns)
    if metric not in known:
        raise InputError(
            expected(
                "`metric` to be a number of the rows",
                repr(metric),
                f"There is: {', '.join(known)}.",
            )
        )


def higher_is_better(metric: str, question: Question) -> bool:
    """Tell which way a number of the rows is better."""
    return metric in question.chance_columns or question.metric_of(metric).higher_is_better


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank each column, the highest first; equal values share the mean rank, nan is last."""
    filled = np.where(np.isnan(values), -np.inf, values)
    ranks = np.empty(values.shape)
    # One detector at a time: all pairs at once would not fit in memory for a million series.
    for line, own in enumerate(filled):
        above, level = (filled > own).sum(axis=0), (filled == own).sum(axis=0)
        ranks[line] = above + (level + 1) / 2
    return ranks


def _is_best(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    if not values.size:
        return np.zeros(values.shape, dtype=np.bool_)
    best: NDArray[np.bool_] = values == np.nanmax(values, axis=0)
    return best
