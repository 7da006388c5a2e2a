"""Many detectors on many series: how each did on each, and who did best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.plot.extra import needing_matplotlib
from closecall.plot.panels import as_given, read_panels
from closecall.tables.batch.result import BatchResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PANELS = ("heat map", "ranks")
_ORDERS = ("mean", "given")


def plot_batch(
    table: Any,
    *,
    value: str | None = None,
    best: Literal["highest", "lowest"] | None = None,
    order: Literal["mean", "given"] = "mean",
    ax: Any = None,
) -> Any:
    """Draw a heat map of detectors by series, and how the detectors rank.

    Rows are detectors, columns are series. Beside each row are the detector's mean rank over the
    series where any detector has a value (1 is best; equal values share a rank, and a missing one
    is last), the middle half of its ranks as a bar, and on how many of them it is the best, alone
    or with others. Names that have no room are left out. A crossed cell has no value, or nan.

    Parameters
    ----------
    table
        Rows ``(series, detector, value)``, or a mapping from series to a mapping from detectors
        to values; or what `closecall.evaluate_frame` returns, whose affiliation F1 is drawn, or
        its first number (``result.plot(metric)`` draws any other).
    value
        What the values are, for the colour bar; ``"score"``, or the name of the metric.
    best
        Whether the highest or the lowest value is the best; the highest, or what is best for the
        metric.
    order
        ``"mean"`` puts the detector with the best mean rank on top and the series with the best
        mean value first; ``"given"`` keeps both as they come.
    ax
        Where to draw: two axes. A new figure if not given.

    Returns
    -------
    numpy.ndarray
        The two axes: heat map and ranks.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> from closecall.plot import plot_batch
    >>> rows = [("a", "forecast", 0.9), ("a", "threshold", 0.6), ("b", "forecast", 0.7)]
    >>> heat, ranks = plot_batch(rows, value="F1")
    >>> [label.get_text() for label in heat.get_yticklabels()]
    ['forecast', 'threshold']
    """
    for name, given, known in (
        ("best", best, ("highest", "lowest", None)),
        ("order", order, _ORDERS),
    ):
        if given not in known:
            raise InputError(expected(f'`{name}` to be "{known[0]}" or "{known[1]}"', repr(given)))
    if isinstance(table, BatchResult):
        told = {"value": value, "best": best}
        own = {name: given for name, given in told.items() if given is not None}
        return table.plot(order=order, ax=ax, **own)
    series, detectors, values = _read_table(table)
    upward = -values if best == "lowest" else values
    ranks = _ranks(upward)
    if order == "mean":
        rows, columns = _sorted(upward, ranks)
        values, ranks = values[np.ix_(rows, columns)], ranks[rows]
        series, detectors = [series[i] for i in columns], [detectors[i] for i in rows]
    with needing_matplotlib():
        from closecall.plot import heat_map

        panels = (
            heat_map.new_panels(len(series), detectors, series)
            if ax is None
            else read_panels(ax, _PANELS)
        )
        heat_map.draw_values(panels[0], values, detectors, series, value or "score")
        heat_map.draw_ranks(panels[1], ranks, detectors, named=ax is not None)
        return as_given(panels)


def _read_table(table: Any) -> tuple[list[str], list[str], NDArray[np.float64]]:
    cells: dict[tuple[str, str], float] = {}
    for number, row in enumerate(_rows(table)):
        try:
            one, detector, value = row
            cell, score = (str(one), str(detector)), float(value)
        except (TypeError, ValueError):
            rule = "rows of `table` to be (series, detector, value)"
            raise InputTypeError(expected(rule, f"{row!r:.80} at index {number}")) from None
        if cell in cells:
            rule = "`table` to have one value for each series and detector"
            raise InputError(expected(rule, f"a second one for {cell} at index {number}"))
        cells[cell] = score
    if not cells:
        raise InputError(expected("`table` to have at least one row", "none"))
    series = list(dict.fromkeys(one for one, _ in cells))
    detectors = list(dict.fromkeys(detector for _, detector in cells))
    values = [[cells.get((one, name), np.nan) for one in series] for name in detectors]
    return series, detectors, np.array(values)


def _rows(table: Any) -> Iterable[Any]:
    if not isinstance(table, Mapping):
        if not isinstance(table, Iterable):
            raise InputTypeError(expected("`table` to be rows or a mapping", type(table).__name__))
        return table
    for series, own in table.items():
        if not isinstance(own, Mapping):
            rule = f"`table[{series!r}]` to be a mapping from detectors to values"
            raise InputTypeError(expected(rule, type(own).__name__))
    return [
        (series, detector, value)
        for series, own in table.items()
        for detector, value in own.items()
    ]


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank the detectors on each series with a value; equal ones share the mean, nan is last."""
    known = values[:, ~np.isnan(values).all(axis=0)]
    filled = np.where(np.isnan(known), -np.inf, known)
    above = (filled[None, :, :] > filled[:, None, :]).sum(axis=1)
    level = (filled[None, :, :] == filled[:, None, :]).sum(axis=1)
    return np.asarray(above + (level + 1) / 2, dtype=np.float64)


def _sorted(
    values: NDArray[np.float64], ranks: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    known = ~np.isnan(values)
    sums, counts = np.where(known, values, 0).sum(axis=0), known.sum(axis=0)
    means = np.where(counts, sums / np.maximum(counts, 1), -np.inf)
    rows = np.argsort(ranks.mean(axis=1), kind="stable") if ranks.size else np.arange(len(values))
    return rows, np.argsort(-means, kind="stable")
