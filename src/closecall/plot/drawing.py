"""What the pictures share: colours, panels, the time axis, and texts that fit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, Locator

from closecall.errors import InputTypeError
from closecall.files import whole_file
from closecall.wording import in_words, plain_name, short_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.backend_bases import RendererBase
    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick, Ticks
    from closecall.series import Pair

    Floats = NDArray[np.float64]

# The Okabe-Ito colours, which colour-blind readers tell apart; its yellow is too pale on white.
TRUTH = "#000000"
PREDICTED = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PRECISION, RECALL, CHOSEN = "#0072B2", "#009E73", "#D55E00"
# Shapes and dashes go with the colours, for print without colour.
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (6, 2)), (0, (3, 1.5)), (0, (1, 1)))
BORDER = (0, (4, 3))  # dashes of the zones' borders
HATCHED: dict[str, Any] = {"edgecolors": "0.8", "hatch": "///", "linewidths": 0.0}  # ignored time
INK, FAINT = "0.15", "0.45"
POINTS_PER_INCH = 72
NAMES = 0.28  # of the width of a figure, at most, for the names on one side

LABEL_FONT = 9.0
_FONT = 8.5
_EDGE, _POINT_EDGE = 0.5, 1.5  # a bar is never thinner, so no event is lost from sight
_LARGE, _HUGE = 1e4, 1e12
_BEARINGS = 0.155  # of the font size, what is free beside the first and the last letter
_ROOM = 1.08  # of the font size, for each name
_STEPS = (1, 2, 5)
_SECONDS_PER_DAY = 86400  # matplotlib counts dates in days
_FINEST_DATES = 1e-3  # seconds; its floats cannot tell shorter spans of dates apart
_DATES_PER_INCH, _DATES = 2.1, (3, 11)
_FEWEST_DATES = 5
_EXACT_FLOAT = 2**53
_DOTS_PER_INCH = 150  # of files


def read_panels(ax: Any, names: Sequence[str]) -> list[Axes]:
    """Return the caller's axes, one for each named panel."""
    several = ax.ravel() if isinstance(ax, np.ndarray) else ax
    given = list(several) if isinstance(several, list | tuple | np.ndarray) else [ax]
    if len(given) != len(names) or not all(isinstance(panel, Axes) for panel in given):
        kinds = sorted({type(panel).__name__ for panel in given})
        count = "one axes" if len(names) == 1 else f"{len(names)} axes"
        rule = f"to be {count} ({', '.join(names)})"
        hint = f"Make them with `plt.subplots(ncols={len(names)})`."
        got = f"{len(given)} of type {' and '.join(kinds)}" if given else "none"
        raise InputTypeError(rule, got, argument="ax", hint=hint)
    return given


def new_panels(count: int, size: tuple[float, float]) -> list[Axes]:
    """Make a figure with panels side by side, of one height scale."""
    figure, axes = plt.subplots(ncols=count, figsize=size, squeeze=False, sharey=True)
    figure.set_layout_engine("constrained", w_pad=0.06, wspace=0.04)
    return list(axes[0])


def as_given(panels: Sequence[Axes]) -> Any:
    """Return a single panel as itself, and several as an array."""
    return panels[0] if len(panels) == 1 else np.array(panels, dtype=object)


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure into a file of the kind that its name says, and close it."""
    try:
        with whole_file(path) as new:
            figure.savefig(new, dpi=_DOTS_PER_INCH)
    finally:
        plt.close(figure)


def tidy(axes: Axes, *hidden: str) -> None:
    """Leave out the frame's needless sides, and write in sizes that print well."""
    for side in ("top", "right", *hidden):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=_FONT)
    axes.xaxis.get_offset_text().set_fontsize(_FONT)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(LABEL_FONT)


def edge_widths(starts: NDArray[Any], stops: NDArray[Any]) -> Floats:
    """Return the widths of bars' edges, in points; a bar without a length is seen by its edge."""
    return np.where(starts == stops, _POINT_EDGE, _EDGE)


def draw_bars(
    axes: Axes,
    starts: Floats,
    stops: Floats,
    heights: tuple[float, float],
    color: str,
    **style: Any,
) -> None:
    """Draw events between two heights as a single artist, however many there are."""
    corners: Any = np.empty((starts.size, 4, 2))
    corners[:, :2, 0], corners[:, 2:, 0] = starts[:, None], stops[:, None]
    corners[:, :, 1] = heights + heights[::-1]
    style.setdefault("linewidths", edge_widths(starts, stops))
    style.setdefault("zorder", 3)
    style.setdefault("edgecolors", color)
    bars = PolyCollection(corners, facecolors=color, **style)
    axes.add_collection(bars, autolim=False)


def shade_ignored(
    axes: Axes, starts: Floats, stops: Floats, heights: tuple[float, float], named_at: float
) -> None:
    """Hatch ignored time over all that is drawn between two heights, and name it where it fits."""
    draw_bars(axes, starts, stops, heights, "0.97", zorder=3.5, **HATCHED)
    # Between two stretches is a zone without a text.
    borders = np.column_stack((starts, stops)).ravel()
    names = ["ignored", ""] * starts.size
    anchors = (borders[1:] + borders[:-1]) / 2
    ZoneLabels(axes, borders, anchors, named_at, [names[:-1]], fontsize=7, color=FAINT)


def matplotlib_text(name: str) -> str:
    r"""Write a name so that matplotlib shows it letter by letter.

    Dollar signs would start a formula, and what cannot be printed has no letters.

    >>> matplotlib_text("price_$a_vs_$b"), matplotlib_text("a\tb")
    ('price_\\$a_vs_\\$b', 'a\\tb')
    """
    return "\n".join(map(plain_name, name.split("\n"))).replace("$", r"\$")


@lru_cache(maxsize=4096)
def text_width(text: str, font: float) -> float:
    """Return the width of a text in points: that of its longest line."""
    measured = text_to_path.get_text_width_height_descent
    how = FontProperties(size=font), False
    widest = max(float(measured(plain_name(line), *how)[0]) for line in text.split("\n"))
    return max(widest - _BEARINGS * font, 0.0)


def size_of(panel: Any) -> tuple[float, float]:
    """Return width and height of an axes or a figure, in points."""
    box = panel.get_window_extent()
    dots = panel.figure.dpi / POINTS_PER_INCH
    return box.width / dots, box.height / dots


def short_enough(names: Sequence[str], room: float, font: float, fewest: int = 7) -> list[str]:
    """Cut names to a room in points, so that what tells them apart is left; they show as they are.

    Whatever the room, so many letters are left.
    """
    shown = [*map(plain_name, names)]
    if max(text_width(name, font) for name in shown) <= room:
        return [*map(matplotlib_text, names)]
    letters = min(len(name) / max(text_width(name, font), 1.0) for name in shown)
    return [matplotlib_text(name) for name in short_names(names, max(int(letters * room), fewest))]


def broken(text: str, room: float, font: float) -> str:
    """Write a text in two lines if it is wider than its room, in points."""
    if text_width(text, font) <= room:
        return text
    spaces = [place for place, letter in enumerate(text) if letter == " "]
    middle = min(spaces, key=lambda place: abs(place - len(text) / 2), default=None)
    return text if middle is None else f"{text[:middle]}\n{text[middle + 1 :]}"


def ticks_text(ticks: float, clock: Clock) -> str:
    """Write a length of time in words on a dated axis (``1 min 30 s``), else as a number."""
    if clock.kind == "datetime":
        return in_words(ticks * clock.seconds)
    # Whole numbers are kept whole, and large ones are not written with an exponent.
    return f"{ticks:.0f}" if _LARGE <= abs(ticks) < _HUGE else f"{ticks:.4g}"


def write_names(
    axes: Axes,
    which: str,
    places: Sequence[float],
    names: Sequence[str],
    *,
    size: float,
    keep_last: bool = False,
) -> None:
    """Name places on the x or y axis, or every second, fifth, tenth... where they crowd."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    known = {float(place): name for place, name in zip(places, names, strict=True)}
    axis.set_major_locator(_NameLocator(places, size, keep_last=keep_last))
    axis.set_major_formatter(FuncFormatter(lambda place, _: known.get(float(place), "")))
    axes.tick_params(axis="x" if which == "x" else "y", labelsize=size, length=0)


class _NameLocator(Locator):
    """Places of the names that have room, at any size and zoom; the last one may be kept."""

    def __init__(self, places: Sequence[float], size: float, *, keep_last: bool) -> None:
        positions = np.asarray(places, dtype=np.float64)
        self.places = positions[:-1] if keep_last else positions
        self.last = positions[-1:] if keep_last else positions[:0]
        self.size = size

    def __call__(self) -> Any:
        axis: Any = self.axis
        return self.tick_values(*axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        room = self._room(abs(vmax - vmin))
        steps = (base * 10**power for power in range(9) for base in _STEPS)
        step = next((step for step in steps if step >= room), 1)
        # Counted from 1, every fifth name is 5, 10, 15...
        named = self.places[step - 1 :: step]
        if self.last.size:
            named = named[np.abs(named - self.last) >= room]
        return np.concatenate((named, self.last))

    def _room(self, seen: float) -> float:
        """Return how many places a name takes, which is a line of its font."""
        axis: Any = self.axis
        box = axis.axes.bbox
        pixels = box.width if axis.axis_name == "x" else box.height
        points = pixels * POINTS_PER_INCH / axis.axes.figure.dpi
        return float(_ROOM * self.size * seen / points) if points else 1.0


class ZoneLabels(Artist):
    """One short text per zone, near its event, written only where it has room, at any zoom.

    There is one border more than there are zones. A text is centred at its anchor if its zone lets
    it, with `margin` points free. `layouts` are ways to write the texts, from the widest to the
    narrowest, each one text per zone; `style` is matplotlib's. With `room`, in the axes' height,
    texts that are higher are not written.
    """

    def __init__(
        self,
        axes: Axes,
        borders: Floats,
        anchors: Floats,
        height: float,
        layouts: Sequence[Sequence[str]],
        *,
        margin: float = 3.5,
        room: float = inf,
        **style: Any,
    ) -> None:
        super().__init__()
        self.borders, self.anchors, self.height, self.layouts = borders, anchors, height, layouts
        self.margin, self.room = margin, room
        self._text = Text(ha="center", va="center", linespacing=1.05, **style)
        self.set_in_layout(False)
        self.set_zorder(4)
        axes.add_artist(self)
        self._text.set_figure(axes.figure)
        self._text.set_transform(axes.transData)

    def placed(self, renderer: RendererBase) -> list[tuple[float, str]]:
        """Return the texts that have room, and where: the widest layout that loses none of them."""
        shown: list[tuple[float, str]] = []
        for layout in reversed(self.layouts):
            now = self._placed(layout, renderer)
            if len(now) < len(shown):
                break
            shown = now
        return shown

    def left_out(self, renderer: RendererBase) -> tuple[int, int]:
        """Return how many texts of the zones in sight have no room, and how many zones are."""
        low, high = sorted(self._host.get_xlim())
        in_sight = int(np.count_nonzero((self.borders[1:] > low) & (self.borders[:-1] < high)))
        return in_sight - len(self.placed(renderer)), in_sight

    def draw(self, renderer: RendererBase) -> None:
        """Write the texts that have room."""
        for position, text in self.placed(renderer) if self.get_visible() else ():
            self._text.set_text(text)
            self._text.set_position((position, self.height))
            self._text.draw(renderer)
        self.stale = False

    def _placed(self, layout: Sequence[str], renderer: RendererBase) -> list[tuple[float, str]]:
        low, high = sorted(self._host.get_xlim())
        borders = self._pixels(np.clip(self.borders, low, high))
        left, right = np.minimum(borders[:-1], borders[1:]), np.maximum(borders[:-1], borders[1:])
        sizes = self._sizes(layout, renderer)
        half, high_enough = sizes[:, 0] / 2, sizes[:, 1] <= self._room()
        centres = np.clip(self._pixels(self.anchors), left + half, right - half)
        points = np.column_stack((centres, np.zeros(centres.size)))
        positions = self._host.transData.inverted().transform(points)[:, 0]
        fits = (right - left >= 2 * half) & high_enough
        return [(positions[i], layout[i]) for i in np.flatnonzero(fits).tolist()]

    def _room(self) -> float:
        """Return how high texts may be, in pixels."""
        low, high = self._host.get_ylim()
        return self.room * self._host.bbox.height / abs(high - low)

    def _pixels(self, positions: Floats) -> Floats:
        points = np.column_stack((positions, np.zeros(positions.size)))
        return self._host.transData.transform(points)[:, 0]

    def _sizes(self, layout: Sequence[str], renderer: RendererBase) -> Floats:
        margin: Any = renderer.points_to_pixels(self.margin)
        known: dict[str, tuple[float, float]] = {}
        for text in set(layout):
            self._text.set_text(text)
            box = self._text.get_window_extent(renderer)
            known[text] = box.width + margin, box.height
        return np.array([known[text] for text in layout]).reshape(-1, 2)

    @property
    def _host(self) -> Axes:
        axes: Axes = self.axes  # type: ignore[assignment]  # add_artist has set it
        return axes


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """A straight line from ticks to positions; from zero where floats cannot hold the ticks."""

    clock: Clock
    start: Tick
    base: float
    step: float = 1.0
    dated: bool = False

    @classmethod
    def of(cls, pair: Pair) -> TimeAxis:
        """Choose how a span is drawn: as dates, as numbers, or as offsets from its start."""
        clock, (start, stop) = pair.clock, pair.span
        if clock.kind == "number":
            return cls(clock, start, start)
        if clock.kind == "integer":
            exact = max(abs(start), abs(stop)) <= _EXACT_FLOAT
            return cls(clock, start, float(start) if exact else 0.0)
        seconds = float(clock.duration(np.ones(1))[0] / np.timedelta64(1, "s"))
        if (stop - start) * seconds < _FINEST_DATES:
            return cls(clock, start, 0.0)
        base = float(_dates().date2num(np.int64(start).view(f"datetime64[{clock.unit}]")))
        return cls(clock, start, base, seconds / _SECONDS_PER_DAY, dated=True)

    def positions(self, ticks: Ticks) -> Floats:
        """Return the drawn position of each tick."""
        return self.from_start(ticks - self.start)

    def from_start(self, offsets: NDArray[Any]) -> Floats:
        """Return the drawn position of ticks that are counted from the span's start."""
        return self.base + self.step * np.asarray(offsets, dtype=np.float64)

    def prepare(self, axes: Axes) -> None:
        """Write dates along the axis, or say what the numbers count from."""
        if self.dated:
            dates, zone = _dates(), self.clock.tz or UTC
            inches = axes.bbox.width / axes.figure.dpi
            most = int(np.clip(inches * _DATES_PER_INCH, *_DATES))
            # matplotlib finds no interval, and warns, where half as many dates are too few.
            least = min(_FEWEST_DATES, max(1, (most - 1) // 2))
            locator = dates.AutoDateLocator(tz=zone, minticks=least, maxticks=most)
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=zone))
        elif self.base != self.start:
            unit = self.clock.unit or "ticks"
            axes.set_xlabel(f"{unit} since {self.clock.text(self.start)}")


def _dates() -> Any:
    """Import the part of matplotlib that has no types."""
    return import_module("matplotlib.dates")
