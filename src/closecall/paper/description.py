"""The paper's table of datasets, from the labels and, where at hand, the measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.datasets.kdd2022 import measured
from closecall.events import Events
from closecall.paper.published import DATASETS, DESCRIPTION
from closecall.paper.result import Cell, Row, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from closecall.datasets import LabelledSeries

_ROWS = ("samples", "anom.", "# events", "trivial")


def description(data: Mapping[str, LabelledSeries]) -> Table:
    """Compare the description of the datasets and of their trivial events."""
    columns = [_column(data[name], DESCRIPTION[name]) for name in DATASETS]
    return Table(
        name="datasets",
        title="Datasets, and the function that finds each one's trivial event",
        source="table 4",
        headings=("number",),
        columns=tuple(DATASETS.values()),
        rows=tuple(
            Row((label,), cells)
            for label, cells in zip(_ROWS, zip(*columns, strict=True), strict=True)
        ),
        left_out=tuple(
            f"trivial of {title}: the folder has no measurements of it ({measured(name)})"
            for (name, title), column in zip(DATASETS.items(), columns, strict=True)
            if column[-1] is None
        ),
    )


def _column(series: LabelledSeries, published: tuple[str, ...]) -> tuple[Cell | None, ...]:
    truth = series.truth
    share = float(truth.mean())
    samples, anomalies, events, function = published
    return (
        Cell(str(len(truth)), samples),
        Cell(f"{100 * share:.0f}%", anomalies, values={"share": share}),
        Cell(str(len(Events.from_labels(truth))), events),
        _first_event(series, function) if series.name == "swat" else _function(series, function),
    )


def _first_event(series: LabelledSeries, published: str) -> Cell:
    events = Events.from_labels(series.truth)
    first = np.zeros_like(series.truth)
    for start, stop in zip(events.starts[:1].tolist(), events.stops[:1].tolist(), strict=True):
        first[start:stop] = 1
    same = np.array_equal(first, series.predicted["trivial"])
    return Cell(published if same else "not the first event", published)


def _function(series: LabelledSeries, published: str) -> Cell | None:
    """Say whether the function holds in the trivial event and nowhere else."""
    if series.values is None:
        return None
    trivial = series.predicted["trivial"] == 1
    holds = _holds(series.values, published)
    found, event = int(holds.sum()), int(trivial.sum())
    inside = int((holds & trivial).sum())
    if not inside:
        return Cell("nowhere in the trivial event", published)
    if inside < found:
        return Cell(f"also elsewhere: {found - inside}", published)
    note = f"holds in {found} of the trivial event's {event} samples, and nowhere else"
    return Cell(published, published, "" if found == event else note)


def _holds(values: NDArray[np.float64], function: str) -> NDArray[np.bool_]:
    _, sign, bound = function.split()
    compare = np.less if sign == "<" else np.greater
    return np.asarray(compare(values, float(bound)))
