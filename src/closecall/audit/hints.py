"""Detectors with the same hint as an adversary, so that both know the same events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.adversary.canvas import Canvas, read_canvas
from closecall.clock import Timed, on_one_clock
from closecall.events import Intervals
from closecall.series import read_span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick


def with_hint(truth: Any, predicted: Any, hint: Any, span: Any = None) -> Any:
    """Replace the predictions around the hinted events by the hint itself.

    Around an event is its zone, as in the affiliation metrics: up to halfway to its neighbours.
    All three are 0/1 vectors, or Events within the span.
    """
    canvas, claims, known = _on_one_clock(truth, predicted, hint, span)
    borders = _zone_borders(canvas)
    touched = np.unique(np.searchsorted(borders[1:-1], known.starts, side="right"))
    starts, stops = [known.starts], [known.stops]
    for low, high in _runs_of_others(touched, borders):
        kept = _clipped(claims, low, high)
        starts.append(kept.starts)
        stops.append(kept.stops)
    all_starts, all_stops = np.concatenate(starts), np.concatenate(stops)
    order = np.argsort(all_starts, kind="stable")
    return canvas.show(Intervals(all_starts[order], all_stops[order], canvas.clock).merged())


def _on_one_clock(
    truth: Any, predicted: Any, hint: Any, span: Any
) -> tuple[Canvas, Intervals, Intervals]:
    canvases = [
        read_canvas(side, name, span)
        for side, name in ((truth, "truth"), (predicted, "predicted"), (hint, "trivial"))
    ]
    own = canvases[0]
    if own.samples:
        return own, canvases[1].events, canvases[2].events
    parts = [
        Timed("events", ticks, canvas.clock)
        for canvas in canvases
        for ticks in (canvas.events.starts, canvas.events.stops)
    ]
    ticks, clock = on_one_clock(*parts, read_span(span))
    pairs = [Intervals(ticks[at], ticks[at + 1], clock) for at in (0, 2, 4)]
    start, stop = ticks[-1].tolist()
    return Canvas(pairs[0], start, stop, samples=False), pairs[1], pairs[2]


def _zone_borders(canvas: Canvas) -> NDArray[np.float64] | NDArray[np.int64]:
    stops, starts = canvas.events.stops[:-1], canvas.events.starts[1:]
    gaps = starts - stops
    halfway = stops + (gaps // 2 if gaps.dtype.kind == "i" else gaps / 2)
    return np.concatenate(([canvas.start], halfway, [canvas.stop]))


def _runs_of_others(
    touched: NDArray[np.int64], borders: NDArray[np.float64] | NDArray[np.int64]
) -> list[tuple[Tick, Tick]]:
    """List the stretches between the touched zones."""
    lows = [borders[0].item(), *borders[touched + 1].tolist()]
    highs = [*borders[touched].tolist(), borders[-1].item()]
    return [(low, high) for low, high in zip(lows, highs, strict=True) if low < high]


def _clipped(intervals: Intervals, low: Tick, high: Tick) -> Intervals:
    starts, stops = np.maximum(intervals.starts, low), np.minimum(intervals.stops, high)
    points = intervals.starts == intervals.stops
    inside = (starts < stops) | (points & (starts == stops) & (starts < high))
    return Intervals(starts[inside], stops[inside], intervals.clock)
