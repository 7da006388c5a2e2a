"""Many detectors on many series: how each did on each, and who did best."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import is_listed, read_name, require_choice
from closecall.plot.drawing import (
    INK,
    NAMES,
    PRECISION,
    as_given,
    matplotlib_text,
    read_panels,
    short_enough,
    size_of,
    text_width,
    tidy,
    write_names,
)
from closecall.statistics.ranks import ranks_of
from closecall.tables.batch.result import BatchResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.plot.drawing import Floats

_PANELS = ("heat map", "ranks")
_ORDERS = ("mean", "given")
_COLORS = "cividis"  # even steps of brightness, the same for colour-blind readers
_FONT, _ROW_FONT, _TITLE_FONT = 7.0, 8.5, 9.0
_TITLE_RISE = 9  # points from the axes to the middle of its title
_WIDE, _NARROW, _COLUMN = 10.0, 5.0, 0.16  # inches
_ROW, _LETTER = 0.3, 0.055
_LONGEST = 28  # letters of a name
_MOST_RANKS, _TICK = 8, 15.0  # numbers on the axis of ranks; points for each
_LARGEST = 1e300  # of a value, so that sums and differences are finite
_FEW = 60  # cells up to which each is written in


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

    Examples
    --------
    >>> from closecall.plot import plot_batch
    >>> rows = [("a", "forecast", 0.9), ("a", "threshold", 0.6), ("b", "forecast", 0.7)]
    >>> heat, ranks = plot_batch(rows, value="F1")
    >>> [label.get_text() for label in heat.get_yticklabels()]
    ['forecast', 'threshold']
    """
    if best is not None:
        require_choice(best, "best", ("highest", "lowest"))
    require_choice(order, "order", _ORDERS)
    if isinstance(table, BatchResult):
        told = {"value": value, "best": best}
        options = {name: given for name, given in told.items() if given is not None}
        return table.plot(order=order, ax=ax, **options)
    if value is not None:
        read_name(value, "value")
    series, detectors, values = _read_table(table)
    upward = -values if best == "lowest" else values
    ranks = ranks_of(upward[:, ~np.isnan(upward).all(axis=0)])
    if order == "mean":
        rows, columns = _sorted(upward, ranks)
        values, ranks = values[np.ix_(rows, columns)], ranks[rows]
        series, detectors = [series[i] for i in columns], [detectors[i] for i in rows]
    panels = _new_panels(detectors, series) if ax is None else read_panels(ax, _PANELS)
    named = ax is not None and not _beside(panels, detectors)
    _draw_values(panels[0], values, value or "score")
    _name_cells(panels[0], detectors, series, cut=ax is not None)
    _draw_ranks(panels[1], ranks, detectors, named=named)
    return as_given(panels)


def _read_table(table: Any) -> tuple[list[str], list[str], Floats]:
    cells: dict[tuple[str, str], float] = {}
    for number, row in enumerate(_rows(table)):
        try:
            one, detector, value = row
            cell, score = (str(one), str(detector)), float(value)
        except Exception:  # noqa: BLE001 - whatever a cell does when it is read
            rule = "rows of `table` to be (series, detector, value)"
            raise InputTypeError(rule, f"{shown(row)}", index=number) from None
        if cell in cells:
            rule = "`table` to have one value for each series and detector"
            raise InputError(rule, f"a second one for {cell}", index=number)
        if isfinite(score) and abs(score) > _LARGEST:
            rule = f"values of `table` to lie within {_LARGEST:g} of 0"
            raise InputError(rule, f"{score:g}", index=number)
        cells[cell] = score
    if not cells:
        raise InputError("to have at least one row", "none", argument="table")
    series = list(dict.fromkeys(one for one, _ in cells))
    detectors = list(dict.fromkeys(detector for _, detector in cells))
    values = [[cells.get((one, name), np.nan) for one in series] for name in detectors]
    return series, detectors, np.array(values)


def _rows(table: Any) -> Any:
    if not isinstance(table, Mapping):
        if not is_listed(table):
            raise InputTypeError("to be rows or a mapping", type(table).__name__, argument="table")
        return table
    for series, values in table.items():
        if not isinstance(values, Mapping):
            rule = f"`table[{series!r}]` to be a mapping from detectors to values"
            raise InputTypeError(rule, type(values).__name__)
    return [
        (series, detector, value)
        for series, values in table.items()
        for detector, value in values.items()
    ]


def _sorted(values: Floats, ranks: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    known = ~np.isnan(values)
    sums, counts = np.where(known, values, 0).sum(axis=0), known.sum(axis=0)
    means = np.where(counts, sums / np.maximum(counts, 1), -np.inf)
    rows = np.argsort(ranks.mean(axis=1), kind="stable") if ranks.size else np.arange(len(values))
    return rows, np.argsort(-means, kind="stable")


def _new_panels(detectors: list[str], series: list[str]) -> list[Axes]:
    """Make a figure as large as the table needs, within limits."""
    names = _LETTER * max(len(_short(name)) for name in series)
    width = np.clip(3.2 + _COLUMN * len(series), _NARROW, _WIDE)
    size = (float(width), 1.0 + names + _ROW * max(len(detectors), 2))
    figure = plt.figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=(width - 2.6, 1.5))
    left = figure.add_subplot(grid[0, 0])
    return [left, figure.add_subplot(grid[0, 1], sharey=left)]


def _short(name: str) -> str:
    """Cut a long name in its middle, since names often differ at their ends."""
    if len(name) <= _LONGEST:
        return name
    kept = (_LONGEST - 1) // 2
    return f"{name[:kept]}\N{HORIZONTAL ELLIPSIS}{name[-kept:]}"


def _beside(panels: list[Axes], detectors: list[str]) -> bool:
    """Return whether the rows of both panels are at one height, and names have no room between."""
    left, right = (panel.get_position() for panel in panels)
    gap = (right.x0 - left.x1) * size_of(panels[0].figure)[0]
    one_row = (left.y0, left.y1) == (right.y0, right.y1)
    return one_row and 0 < gap < max(text_width(_short(name), _ROW_FONT) for name in detectors)


def _draw_values(axes: Axes, values: Floats, value: str) -> None:
    """Draw the values as colours, crosses for missing ones, and a bar that tells what they mean."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    image = axes.imshow(
        values, cmap=_COLORS, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )
    style: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.6", "hatch": "xxxx"}
    for row, column in np.argwhere(np.isnan(values)).tolist():
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, linewidth=0, **style))
    for (row, column), one in np.ndenumerate(values) if values.size <= _FEW else ():
        if np.isfinite(one):
            color = "white" if one < (low + high) / 2 else "black"
            text = f"{one:.2f}".removeprefix("0") if abs(one) < 1 else f"{one:.3g}"
            axes.text(column, row, text, ha="center", va="center", fontsize=_FONT, color=color)
    for side in axes.spines.values():
        side.set_visible(False)
    bar = axes.figure.colorbar(image, ax=axes, location="top", aspect=40, pad=0.02, fraction=0.06)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, length=2, pad=1)
    bar.set_label(matplotlib_text(value), fontsize=9, color=INK)


def _name_cells(axes: Axes, detectors: list[str], series: list[str], *, cut: bool) -> None:
    """Name rows and columns; `cut` to a share of the figure, if that was not made for them."""
    sides = zip("yx", (detectors, series), size_of(axes.figure), (_ROW_FONT, _FONT), strict=True)
    for which, names, room, font in sides:
        named = [matplotlib_text(_short(name)) for name in names]
        if cut and max(text_width(_short(name), font) for name in names) > NAMES * room:
            named = short_enough(names, NAMES * room, font)
        write_names(axes, which, range(len(named)), named, size=font)
    axes.tick_params(axis="x", rotation=90, pad=2)


def _draw_ranks(axes: Axes, ranks: Floats, detectors: list[str], *, named: bool) -> None:
    """Draw the mean rank of each detector, the middle half of its ranks, and how often it won."""
    rows, count = np.arange(len(detectors)), len(detectors)
    if ranks.shape[1]:
        low, high = np.quantile(ranks, (0.25, 0.75), axis=1)
        axes.hlines(rows, low, high, colors=PRECISION, linewidths=5, alpha=0.3, zorder=2)
        axes.plot(ranks.mean(axis=1), rows, "o", color=PRECISION, markersize=6, zorder=3)
    wins = (ranks == ranks.min(axis=0)).sum(axis=1)
    for row, won in enumerate(wins.tolist()):
        _write_beside(axes, str(won), row, ("axes fraction", "data"), 0)
    title, beside = "mean rank", "best on"
    if size_of(axes)[0] < text_width(title, _TITLE_FONT):
        title, beside = "rank", "best"
    _write_beside(axes, beside, 1, "axes fraction", _TITLE_RISE)
    axes.set(xlim=(0.7, max(count, 2) + 0.3), ylim=(count - 0.5, -0.5), xlabel="rank")
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    most = min(_MOST_RANKS, max(int(size_of(axes)[0] / _TICK), 1))
    axes.set_xticks(np.arange(1, max(count, 2) + 1, max(1, -(-count // most))))
    if named:
        write_names(
            axes, "y", range(count), [matplotlib_text(_short(n)) for n in detectors], size=_ROW_FONT
        )
    else:
        axes.tick_params(axis="y", length=0, labelleft=False)
    axes.set_title(title, fontsize=_TITLE_FONT, color=INK, loc="left")
    tidy(axes, "left")


def _write_beside(axes: Axes, text: str, height: float, coordinates: Any, up: float) -> None:
    """Write to the right of the axes."""
    style: dict[str, Any] = {"fontsize": _ROW_FONT, "va": "center", "color": INK}
    style |= {"xycoords": coordinates, "textcoords": "offset points", "annotation_clip": False}
    axes.annotate(text, (1, height), (6, up), **style)
