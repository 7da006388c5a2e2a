"""The panels of `plot_batch`: values by colour, and ranks beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from closecall.plot.palette import INK, PRECISION
from closecall.plot.panels import tidy
from closecall.plot.plain_text import plain
from closecall.plot.thinned_names import write_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_COLORS = "cividis"  # even steps of brightness, the same for colour-blind readers
_FONT, _ROW_FONT = 7.0, 8.5
_TITLE_RISE = 9  # points from the axes to the middle of its title
_WIDE, _NARROW, _COLUMN = 10.0, 5.0, 0.16  # inches
_ROW, _LETTER = 0.3, 0.055
_LONGEST = 28  # letters of a name
_FEW = 60  # cells up to which each is written in


def new_panels(count: int, detectors: list[str], series: list[str]) -> list[Axes]:
    """Make a figure as large as the table needs, within limits."""
    from matplotlib import pyplot as plt

    names = _LETTER * max(len(short(name)) for name in series)
    width = np.clip(3.2 + _COLUMN * count, _NARROW, _WIDE)
    size = (float(width), 1.0 + names + _ROW * max(len(detectors), 2))
    figure = plt.figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=(width - 2.6, 1.5))
    left = figure.add_subplot(grid[0, 0])
    return [left, figure.add_subplot(grid[0, 1], sharey=left)]


def short(name: str) -> str:
    """Cut a long name in its middle, since names often differ at their ends."""
    if len(name) <= _LONGEST:
        return name
    kept = (_LONGEST - 1) // 2
    return f"{name[:kept]}\N{HORIZONTAL ELLIPSIS}{name[-kept:]}"


def draw_values(
    axes: Axes, values: NDArray[np.float64], detectors: list[str], series: list[str], value: str
) -> None:
    """Draw the values as colours, with a bar that tells what they mean."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    image = axes.imshow(
        values, cmap=_COLORS, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )
    _cross_missing(axes, values)
    if values.size <= _FEW:
        _write_values(axes, values, (low + high) / 2)
    write_names(
        axes, "y", range(len(detectors)), [plain(short(n)) for n in detectors], size=_ROW_FONT
    )
    write_names(axes, "x", range(len(series)), [plain(short(n)) for n in series], size=_FONT)
    axes.tick_params(axis="x", rotation=90, pad=2)
    for side in axes.spines.values():
        side.set_visible(False)
    bar = axes.figure.colorbar(image, ax=axes, location="top", aspect=40, pad=0.02, fraction=0.06)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, length=2, pad=1)
    bar.set_label(plain(value), fontsize=9, color=INK)


def _cross_missing(axes: Axes, values: NDArray[np.float64]) -> None:
    for row, column in np.argwhere(np.isnan(values)).tolist():
        axes.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5),
                1,
                1,
                facecolor="white",
                edgecolor="0.6",
                hatch="xxxx",
                linewidth=0,
            )
        )


def _write_values(axes: Axes, values: NDArray[np.float64], middle: float) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            color = "white" if value < middle else "black"
            text = f"{value:.2f}".removeprefix("0") if abs(value) < 1 else f"{value:.3g}"
            axes.text(column, row, text, ha="center", va="center", fontsize=_FONT, color=color)


def draw_ranks(
    axes: Axes, ranks: NDArray[np.float64], detectors: list[str], *, named: bool
) -> None:
    """Draw the mean rank of each detector, the middle half of its ranks, and how often it won.

    The ranks are those on series where any detector has a value; there may be none.
    """
    rows, count = np.arange(len(detectors)), len(detectors)
    if ranks.shape[1]:
        low, high = np.quantile(ranks, (0.25, 0.75), axis=1)
        axes.hlines(rows, low, high, colors=PRECISION, linewidths=5, alpha=0.3, zorder=2)
        axes.plot(ranks.mean(axis=1), rows, "o", color=PRECISION, markersize=6, zorder=3)
    wins = (ranks == ranks.min(axis=0)).sum(axis=1)
    for row, won in enumerate(wins.tolist()):
        _write_beside(axes, str(won), row, ("axes fraction", "data"), 0)
    _write_beside(axes, "best on", 1, "axes fraction", _TITLE_RISE)
    axes.set(xlim=(0.7, max(count, 2) + 0.3), ylim=(count - 0.5, -0.5), xlabel="rank")
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xticks(_rank_ticks(count))
    if named:
        write_names(axes, "y", range(count), [plain(short(n)) for n in detectors], size=_ROW_FONT)
    else:
        axes.tick_params(axis="y", length=0, labelleft=False)
    axes.set_title("mean rank", fontsize=9, color=INK, loc="left")
    tidy(axes, "left")


def _write_beside(axes: Axes, text: str, height: float, coordinates: Any, up: float) -> None:
    """Write to the right of the axes."""
    axes.annotate(
        text,
        (1, height),
        (6, up),
        xycoords=coordinates,
        textcoords="offset points",
        fontsize=_ROW_FONT,
        va="center",
        color=INK,
        annotation_clip=False,
    )


def _rank_ticks(count: int) -> Any:
    step = max(1, -(-count // 8))
    return np.arange(1, max(count, 2) + 1, step)
