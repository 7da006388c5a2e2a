"""The paper's comparison of metrics: 80 cells of precision, recall and F1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.affiliation import affiliation
from closecall.metrics.pointwise import classical
from closecall.paper.published import ALGORITHMS, COMPARISON, DATASETS, METRICS
from closecall.paper.result import Cell, Row, Table
from closecall.paper.writing import scores_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from closecall.datasets import LabelledSeries

# The paper does not print these; they were found by search, and every cell agrees.
_TIME_AWARE = {"theta": 0.5, "delta": 180, "alpha": 0.5}
_RANGE_BASED: dict[str, Any] = {"alpha": 0.5, "precision_bias": "flat"}
_RANGE_BASED_ON_NAB = {"cardinality": "reciprocal", "recall_bias": "back"}
_RANGE_BASED_ON_SWAT = {"cardinality": "one", "recall_bias": "front"}

_NOTES = (
    "Each cell is precision/recall/F1. The paper does not print its settings; these reproduce it.",
    "RP/RR: alpha 0.5 and flat bias for precision; on SWaT, cardinality one and front bias for",
    "recall; elsewhere, cardinality reciprocal and back bias for recall.",
    "TaP/TaR: theta 0.5, delta 180, alpha 0.5. Classical: samples. Affiliation: nothing to set.",
)


def comparison(data: Mapping[str, LabelledSeries]) -> Table:
    """Compare the 80 cells."""
    return Table(
        name="comparison",
        title="Comparison of metrics",
        source="table 5",
        headings=("metric", "algorithm"),
        columns=tuple(DATASETS.values()),
        rows=tuple(
            Row(
                (title, ALGORITHMS[algorithm]),
                tuple(_cell(metric, data[dataset], algorithm) for dataset in DATASETS),
            )
            for metric, title in METRICS.items()
            for algorithm in ALGORITHMS
        ),
        notes=_NOTES,
    )


def _cell(metric: str, series: LabelledSeries, algorithm: str) -> Cell | None:
    published = COMPARISON[metric][series.name].get(algorithm)
    if published is None:
        return None
    compute, settings = _metric(metric, series.name)
    result = compute(series.truth, series.predicted[algorithm], **settings)
    return scores_cell(result.precision, result.recall, result.f1, published)


def _metric(metric: str, dataset: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Give the function, and the settings with which the paper used it on the dataset."""
    if metric == "range_based":
        from closecall.metrics.range_based import range_based

        chosen = _RANGE_BASED_ON_SWAT if dataset == "swat" else _RANGE_BASED_ON_NAB
        return range_based, _RANGE_BASED | chosen
    if metric == "time_aware":
        from closecall.metrics.time_aware import time_aware

        return time_aware, dict(_TIME_AWARE)
    return (classical if metric == "classical" else affiliation), {}
