"""One true event in its zone of affiliation, and the panels that show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import index
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.affiliation import Affiliation, affiliation
from closecall.affiliation.zones import origin_of
from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import require_choice
from closecall.plot.drawing import (
    BORDER,
    TimeAxis,
    as_given,
    edge_widths,
    new_panels,
    read_panels,
    shade_ignored,
    ticks_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.axis import IgnoredTime
    from closecall.plot.drawing import Floats

Side = Literal["both", "precision", "recall"]
_SMALL, _AROUND = 0.2, 0.6  # of the zone, when to zoom in; of what matters, what is kept around it


def draw_sides(
    draw: Callable[[Axes, Zone, str], None],
    size: tuple[float, float],
    truth: Any,
    predicted: Any,
    *,
    event: int,
    side: str,
    ax: Any,
    **axis: Any,
) -> Any:
    """Draw the sides that were chosen of one event's zone, on the caller's axes or on new ones."""
    zone = read_zone(_read_result(truth, predicted, axis), event)
    require_choice(side, "side", get_args(Side))
    sides = ("precision", "recall") if side == "both" else (side,)
    if ax is None:
        panels = new_panels(len(sides), (size[0] * len(sides), size[1]))
    else:
        panels = read_panels(ax, sides)
    for axes, name in zip(panels, sides, strict=True):
        draw(axes, zone, name)
    if ax is None and len(panels) > 1:
        panels[-1].tick_params(labelleft=False)
    return as_given(panels)


def _read_result(truth: Any, predicted: Any, axis: dict[str, Any]) -> Affiliation:
    """Take a result as it is, or score the truth and what was predicted."""
    if not isinstance(truth, Affiliation):
        return affiliation(truth, predicted, **axis)
    given = {"predicted": predicted, **axis}
    for name, value in given.items():
        if value is not None:
            rule = f"no `{name}` beside a result, which has its own"
            hint = f"Pass the truth instead of the result, or leave `{name}` out."
            raise InputTypeError(rule, f"`{name}`", hint=hint)
    return truth


def read_zone(result: Affiliation, event: Any) -> Zone:
    """Cut one zone out of a result."""
    events, row = result.events, _read_event(event, len(result.events))
    pair, origin = events.pair, origin_of(events.pair)
    low, high = events.borders[row], events.borders[row + 1]
    starts, stops = 2 * (pair.predicted.starts - origin), 2 * (pair.predicted.stops - origin)
    # A point on a border belongs to the zone that starts there, or that the series ends in.
    last = high if row == len(events) - 1 else None
    points = (starts == stops) & (starts >= low) & ((starts < high) | (starts == last))
    inside = points | ((stops > low) & (starts < high) & (starts < stops))
    predicted = Spans(
        (np.maximum(starts[inside], low) - low) / 2, (np.minimum(stops[inside], high) - low) / 2
    )
    truth = Spans(
        (2 * (pair.truth.starts[row : row + 1] - origin) - low) / 2,
        (2 * (pair.truth.stops[row : row + 1] - origin) - low) / 2,
    )
    offset = low / 2 - (pair.start - origin)
    length = float(high - low) / 2
    scores, ignored = events.table[row], None
    if pair.ignored is not None:
        starts, stops, seams = (
            (ticks - pair.start).astype(np.float64) - offset
            for ticks in (pair.ignored.starts, pair.ignored.stops, pair.ignored.seams)
        )
        ignored = replace(pair.ignored, starts=starts, stops=stops, seams=seams)
    return Zone(
        row, len(events), truth, predicted, length, offset, TimeAxis.of(pair), scores, ignored
    )


def _read_event(event: Any, count: int) -> int:
    try:
        row = index(event)
    except TypeError:
        raise InputTypeError("to be the number of a row", shown(event), argument="event") from None
    if not -count <= row < count:
        rule = f"to be one of the {count} rows of the result, 0 to {count - 1}"
        raise InputError(rule, shown(row), argument="event", hint="The first event is 0.")
    return row % count


@dataclass(frozen=True, slots=True)
class Spans:
    """Disjoint intervals, in ticks from the zone's start."""

    starts: Floats
    stops: Floats

    def __len__(self) -> int:
        return self.starts.size

    @property
    def length(self) -> float:
        """How long they last together."""
        return float((self.stops - self.starts).sum())

    def nearest(self, places: Floats) -> Floats:
        """Return the nearest time of the intervals to each place; nan where there are none."""
        if not len(self):
            return np.full(places.size, np.nan)
        after = np.searchsorted(self.starts, places, side="right")
        before = np.maximum(after - 1, 0)
        left = np.clip(places, self.starts[before], self.stops[before])
        right = self.starts[np.minimum(after, len(self) - 1)]
        return np.where(np.abs(right - places) < np.abs(left - places), right, left)


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone with its event and its predictions, in ticks from the zone's start."""

    number: int
    count: int
    event: Spans
    predicted: Spans
    length: float
    offset: float
    scale: TimeAxis
    scores: Floats
    ignored: IgnoredTime | None = None
    """Counted from the zone's start as well, where that lies on the closed axis."""

    @property
    def seams(self) -> Floats:
        """Where the axis is closed over ignored time inside the zone."""
        seams: Floats = np.empty(0) if self.ignored is None else self.ignored.seams
        return seams[(seams > 0) & (seams < self.length)]

    @property
    def name(self) -> str:
        """What the event is called."""
        return f"event {self.number + 1}" if self.count > 1 else "event"

    def words(self, ticks: float) -> str:
        """Write a length of time as people read it."""
        return ticks_text(ticks, self.scale.clock)

    def precision_at(self, places: Floats) -> Floats:
        """Return the precision that each place would have (appendix A.1 of the paper)."""
        start, stop = self.event.starts[0], self.event.stops[0]
        distance = np.maximum(np.maximum(start - places, places - stop), 0)
        return self._survival(start, self.length - stop, distance)

    def recall_at(self, places: Floats) -> Floats:
        """Return the recall that each place would have if it were true."""
        distance = np.abs(self.predicted.nearest(places) - places)
        return self._survival(places, self.length - places, distance)

    def _survival(self, before: Any, after: Any, distance: Any) -> Floats:
        left = np.maximum(before - distance, 0) + np.maximum(after - distance, 0)
        # Without any prediction the distance is infinite, and nan here.
        shares = np.nan_to_num(np.where(distance == 0, 1.0, left / self.length))
        return np.asarray(shares, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ZonePanel:
    """An axes that shows a zone; places are counted from the zone's start, in ticks."""

    axes: Axes
    zone: Zone
    shown: tuple[float, float]

    @classmethod
    def on(cls, axes: Axes, zone: Zone, low: float, high: float) -> ZonePanel:
        """Show the zone, or what lies between two places if that is a small part of it."""
        shown = (0.0, zone.length)
        if 0 < high - low < _SMALL * zone.length:
            more = _AROUND * (high - low)
            shown = (max(low - more, 0.0), min(high + more, zone.length))
        panel = cls(axes, zone, shown)
        zone.scale.prepare(axes)
        axes.set_xlim(panel.positions(shown[:1])[0], panel.positions(shown[1:], stops=True)[0])
        return panel

    def positions(self, places: Any, *, stops: bool = False) -> Floats:
        """Return the drawn positions of places; at a seam after what is ignored, or before it."""
        ticks, ignored = np.asarray(places, dtype=np.float64), self.zone.ignored
        if ignored is not None:
            ticks = ignored.open_stops(ticks) if stops else ignored.open_starts(ticks)
        return self.zone.scale.from_start(ticks + self.zone.offset)

    def shade_ignored(self, named_at: float) -> None:
        """Hatch what is ignored inside the zone."""
        if self.zone.ignored is None or not self.zone.seams.size:
            return
        inside = np.isin(self.zone.ignored.seams, self.zone.seams)
        ends = self.zone.ignored.starts[inside], self.zone.ignored.stops[inside]
        starts, stops = (self.zone.scale.from_start(end + self.zone.offset) for end in ends)
        shade_ignored(self.axes, starts, stops, self.axes.get_ylim(), named_at)
        label = self.axes.get_xlabel()
        self.axes.set_xlabel(f"{label}    hatched: ignored".strip())

    def mark_borders(self) -> None:
        """Draw the zone's borders that are shown, dashed; the frame does not cut them."""
        ends = (self.positions([0.0]), self.positions([self.zone.length], stops=True))
        drawn = (0.0 in self.shown, self.zone.length in self.shown)
        style: dict[str, Any] = {
            "colors": "0.45",
            "linestyles": BORDER,
            "linewidths": 0.8,
            "zorder": 1,
        }
        places = np.concatenate(ends)[list(drawn)]
        self.axes.vlines(places, *self.axes.get_ylim(), clip_on=False, **style)

    def draw_lane(self, spans: Spans, low: float, high: float, color: str) -> None:
        """Draw intervals as bars between two heights; points are wide enough to see."""
        starts, stops = self.positions(spans.starts), self.positions(spans.stops, stops=True)
        widths = np.where(spans.starts == spans.stops, 0.0, stops - starts)
        style: dict[str, Any] = {"align": "edge", "color": color, "edgecolor": color, "zorder": 3}
        edges = edge_widths(spans.starts, spans.stops)
        self.axes.bar(starts, high - low, widths, low, linewidth=edges, **style)

    def between(self, starts: NDArray[Any], stops: NDArray[Any]) -> Floats:
        """Return drawn borders halfway between neighbours, and where the panel ends."""
        inner = (stops[:-1] + starts[1:]) / 2
        return self.positions(np.concatenate((self.shown[:1], inner, self.shown[1:])))
