"""How detectors rank over many series: the critical-difference diagram, and all pairs."""

from __future__ import annotations

from math import ceil, floor, isnan, log10
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import pyplot as plt

from closecall.errors import InputTypeError
from closecall.parameters import require_choice
from closecall.plot.drawing import (
    FAINT,
    INK,
    POINTS_PER_INCH,
    PREDICTED,
    matplotlib_text,
    read_panels,
    short_enough,
    size_of,
    text_width,
)
from closecall.statistics import Ranks
from closecall.statistics.ranks import wins_text
from closecall.wording import pvalue_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from closecall.statistics import RankedPair

_KINDS = ("diagram", "matrix")
_WIDTH, _WIDEST = 5.0, 7.0  # inches
_FONT, _SMALLEST = 8.0, 5.0  # points
_LANE, _LINE = 5.0, 1.3  # points between groups; of the font size, between names
_BETWEEN = 0.1  # of the line, between two bars beside each other
_SIDE, _HEAD = 0.32, 0.28  # of the width, at most, for names on one side, and beside a matrix
_COLUMN = 300.0  # points below which the font is a little smaller
_CELL = 0.72  # inches
_SOLID: dict[str, Any] = {"linestyle": "-", "linewidth": 3.0}
_DOTTED: dict[str, Any] = {"linestyle": ":", "linewidth": 1.5}
_COLORS = "PuOr_r"  # two sides that colour-blind readers tell apart


def plot_ranks(
    ranks: Ranks, *, kind: Literal["diagram", "matrix"] = "diagram", ax: Any = None
) -> Any:
    """Draw average ranks with the groups that are not told apart, or every pair of detectors.

    Parameters
    ----------
    ranks
        What `closecall.statistics.compute_ranks` or ``result.ranks()`` of a batch returns.
    kind
        ``"diagram"``: the critical-difference diagram. Detectors hang on a line at their average
        ranks, the best on the left, and a bar joins neighbours of which no two are told apart; a
        dotted one joins only its two ends, where one between them is told apart from one of them.
        ``"matrix"``: a cell for every two detectors, the one in the row with the better rank: the
        difference of means (row minus column) with limits that hold for all pairs at once, the
        series on which the row wins, ties and loses, and the p-value corrected by Holm; bold where
        the two are told apart. What has no room is left out from below; colour and a dot remain.
    ax
        Where to draw. A new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from closecall.statistics import compute_ranks
    >>> hits = {"a": [9, 8, 7, 9, 6, 8, 9], "b": [5, 4, 6, 4, 5, 7, 8], "c": [5, 6, 5, 3, 5, 5, 2]}
    >>> ax = plot_ranks(compute_ranks(hits))
    >>> [text.get_text() for text in ax.texts][-4:-1]
    ['a  1.00', 'b  2.29', '2.71  c']
    """
    require_choice(kind, "kind", _KINDS)
    if not isinstance(ranks, Ranks):
        raise InputTypeError("to be ranks of detectors", type(ranks).__name__, argument="ranks")
    if ax is None:
        ax = _new_axes(ranks, kind)
    (axes,) = read_panels(ax, (kind,))
    (_draw_diagram if kind == "diagram" else _draw_matrix)(axes, ranks)
    return axes


def _new_axes(ranks: Ranks, kind: str) -> Axes:
    if kind == "diagram":
        figure = plt.figure(figsize=(_WIDTH, _height(ranks) / POINTS_PER_INCH))
        return figure.add_axes((0.01, 0.02, 0.98, 0.96))
    count = len(ranks.detectors) - 1
    side = min(_WIDEST, 1.6 + _CELL * count)
    figure, axes = plt.subplots(figsize=(side, side * 0.9), layout="constrained")
    return axes


def _height(ranks: Ranks, font: float = _FONT) -> float:
    """Return how many points the diagram needs."""
    rows = ceil(len(ranks.detectors) / 2)
    return 4.5 * font + _LANE * (1 + len(set(_lanes(ranks)))) + _LINE * font * rows


def _draw_diagram(axes: Axes, ranks: Ranks) -> None:
    """Draw in points from the upper left, so that nothing changes its size with the axes."""
    width, height = size_of(axes)
    largest = _FONT if width > _COLUMN else _FONT - 1
    font = float(np.clip(_FONT * height / _height(ranks), _SMALLEST, largest))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    count, left = len(ranks.detectors), ceil(len(ranks.detectors) / 2)
    names = short_enough(ranks.detectors, _SIDE * width - text_width("00.00", font), font)
    texts = [
        f"{name}  {rank:.2f}" if place < left else f"{rank:.2f}  {name}"
        for place, (name, rank) in enumerate(zip(names, ranks.average_rank, strict=True))
    ]
    ends = [
        max(text_width(text, font) for text in part) + 6 for part in (texts[:left], texts[left:])
    ]
    low, high = floor(ranks.average_rank[0]), ceil(ranks.average_rank[-1])
    high = max(high, low + 1)

    def at(rank: float) -> float:
        return ends[0] + 8 + (rank - low) / (high - low) * (width - sum(ends) - 16)

    line = 3.4 * font
    axes.plot([at(low), at(high)], [line, line], color=INK, linewidth=1)
    step = ceil((high - low) * 2.2 * font / (at(high) - at(low)))
    for tick in range(low, high + 1, step):
        axes.plot([at(tick)] * 2, [line - 4, line], color=INK, linewidth=1)
        axes.text(at(tick), line - 6, str(tick), ha="center", va="bottom", size=font, color=INK)
    told = f"average rank by {ranks.metric}, {ranks.series} series"
    title: dict[str, Any] = {"ha": "center", "va": "top", "size": font, "color": FAINT}
    lanes = _lanes(ranks)
    for bar, lane in zip(_bars(ranks), lanes, strict=True):
        first, last = (ranks.average_rank[ranks.detectors.index(bar[end])] for end in (0, -1))
        axes.plot(
            [at(first) - 2, at(last) + 2],
            [line + _LANE * (lane + 1)] * 2,
            color=PREDICTED[0],
            # What lies over a dotted bar, but for its ends, does not belong to it.
            **_DOTTED if bar in ranks.ungrouped else _SOLID,
            solid_capstyle="butt",
            zorder=3,
        )
    top = line + _LANE * (1 + len(set(lanes))) + font
    for place, rank in enumerate(ranks.average_rank):
        on_left = place < left
        row = top + _LINE * font * (place if on_left else count - 1 - place)
        edge = ends[0] if on_left else width - ends[1]
        axes.plot([at(rank), at(rank), edge], [line, row, row], color=FAINT, linewidth=0.7)
        axes.text(
            edge + (-3 if on_left else 3),
            row,
            texts[place],
            ha="right" if on_left else "left",
            va="center",
            size=font,
            color=INK,
        )
    axes.text(width / 2, 1, short_enough([told], width, font)[0], **title)


def _bars(ranks: Ranks) -> tuple[tuple[str, ...], ...]:
    """Return what bars join: groups, and then pairs that are not told apart but share none."""
    return ranks.cliques + ranks.ungrouped


def _lanes(ranks: Ranks) -> list[int]:
    """Return how far below the line each bar is, so that no two seem to be one."""
    at = dict(zip(ranks.detectors, ranks.average_rank, strict=True))
    gap = _BETWEEN * (ranks.average_rank[-1] - ranks.average_rank[0])
    ends: list[float] = []
    lanes = []
    for bar in _bars(ranks):
        free = (lane for lane, end in enumerate(ends) if end + gap < at[bar[0]])
        lane = next(free, len(ends))
        ends[lane : lane + 1] = [at[bar[-1]]]
        lanes.append(lane)
    return lanes


def _draw_matrix(axes: Axes, ranks: Ranks) -> None:
    names, count = ranks.detectors, len(ranks.detectors) - 1
    cells = {(names.index(p.first), names.index(p.second) - 1): p for p in ranks.pairs}
    gaps = np.full((count, count), np.nan)
    for place, pair in cells.items():
        gaps[place] = pair.difference.value
    reach = float(np.nanmax(np.abs(gaps), initial=0.0)) or 1.0
    colors = _COLORS if ranks.higher_is_better else _COLORS.removesuffix("_r")
    image = axes.imshow(gaps, cmap=colors, vmin=-2 * reach, vmax=2 * reach, aspect="auto")
    width, height = size_of(axes)
    font = min(_FONT, 0.6 * min(width, height) / count)
    axes.set_yticks(range(count), short_enough(names, _HEAD * width, font)[:-1])
    axes.set_xticks(range(count), short_enough(names, _HEAD * height, font)[1:])
    axes.tick_params(labelsize=font, length=0, labeltop=True, labelbottom=False)
    if max(text_width(name, font) for name in names[1:]) > 0.6 * width / count:
        axes.tick_params(axis="x", rotation=90)
    for side in axes.spines.values():
        side.set_visible(False)
    told = matplotlib_text(f"mean {ranks.metric}, row minus column\n{ranks.series} series; ")
    axes.set_xlabel(told, fontsize=_FONT - 1, color=FAINT)
    axes.figure.canvas.figure.draw_without_rendering()  # names make the cells smaller
    decimals = max(0, 1 - floor(log10(reach)))
    written = _write_cells(axes, cells, [side / count for side in size_of(axes)], decimals)
    axes.set_xlabel(told + ("bold: told apart" if written else "a dot: told apart"))
    if not written:
        bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
        bar.ax.set_ylim(float(np.nanmin(gaps)), float(np.nanmax(gaps)))
        bar.ax.tick_params(labelsize=_SMALLEST + 1, length=2)


def _write_cells(
    axes: Axes, cells: dict[tuple[int, int], RankedPair], room: list[float], decimals: int
) -> bool:
    """Write as much as fits into all cells, or dots; return whether there was room for numbers."""
    texts, font = {}, 0.0
    for lines in (4, 3, 1):
        texts = {place: _cell(pair, decimals)[:lines] for place, pair in cells.items()}
        longest = max((line for text in texts.values() for line in text), key=len)
        fits = _FONT * 0.75 * room[0] / text_width(longest, _FONT)
        font = min(_FONT, room[1] / (1.35 * lines), fits)
        if font >= _SMALLEST:
            break
    written = font >= _SMALLEST
    for (row, column), pair in cells.items():
        dot = "\N{BULLET}" if pair.apart else ""
        text = "\n".join(texts[row, column]) if written else dot
        style: dict[str, Any] = {
            "size": font if written else _FONT,
            "weight": "bold" if pair.apart else "normal",
        }
        axes.text(column, row, text, ha="center", va="center", color=INK, **style)
    return written


def _cell(pair: RankedPair, decimals: int) -> tuple[str, ...]:
    gap = pair.difference
    limits = "" if isnan(gap.low) else f"{gap.low:z.{decimals}f} to {gap.high:z.{decimals}f}"
    value = f"{gap.value:+z.{decimals}f}"
    return value, wins_text(pair), f"p {pvalue_text(pair.corrected)}", limits
