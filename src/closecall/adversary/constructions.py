"""How the predictions are made, in ticks; the arguments have been checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.events import Intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.adversary.canvas import Canvas
    from closecall.clock import Tick, Ticks


def alternating(canvas: Canvas, step: Tick) -> Intervals:
    """Alternate inside the events, leave one step beside them, and predict everything else."""
    trivial = canvas.events
    left = np.concatenate(([canvas.start], trivial.stops + step))
    right = np.concatenate((trivial.starts - step, [canvas.stop]))
    around = left < right
    starts, stops = [left[around]], [right[around]]
    for start, stop in zip(trivial.starts.tolist(), trivial.stops.tolist(), strict=True):
        pieces = start + 2 * step * np.arange(-(-(stop - start) // (2 * step)))
        pieces = pieces[pieces < stop]  # rounding may put a last float on the end itself
        starts.append(pieces)
        stops.append(np.minimum(pieces + step, stop))
    return _sorted(np.concatenate(starts), np.concatenate(stops), canvas)


def default_step(canvas: Canvas) -> Tick:
    """Take one sample where there are samples, else a hundredth of the longest event."""
    if canvas.unit:
        return 1
    longest: Tick = (canvas.events.stops - canvas.events.starts).max().item()
    return max(1, longest // 100) if canvas.whole else longest / 100


def beside_trivial(canvas: Canvas, count: int, length: Tick) -> Intervals:
    """Keep the events, and add predictions spread evenly over what they leave free."""
    trivial = canvas.events
    rest = free_length(canvas)
    spacing = rest // count if canvas.whole else rest / count
    first = (rest - spacing * (count - 1) - length) / 2
    starts = np.arange(count) * spacing + (int(first) if canvas.whole else first)
    added = _around(starts, starts + length, canvas)
    both = _sorted(
        np.concatenate((trivial.starts, added.starts)),
        np.concatenate((trivial.stops, added.stops)),
        canvas,
    )
    return both.merged()


def free_length(canvas: Canvas) -> Tick:
    """Measure what the events leave free."""
    covered: Tick = (canvas.events.stops - canvas.events.starts).sum().item()
    return canvas.length - covered


def _around(starts: Ticks, stops: Ticks, canvas: Canvas) -> Intervals:
    """Map places in the free time, counted without the events, back to the whole series."""
    trivial = canvas.events
    skipped = np.concatenate(([0], np.cumsum(trivial.stops - trivial.starts)))
    places = trivial.starts - canvas.start - skipped[:-1]
    starts = starts + skipped[np.searchsorted(places, starts, side="right")]
    stops = stops + skipped[np.searchsorted(places, stops, side="left")]
    return Intervals(starts + canvas.start, stops + canvas.start, canvas.clock)


def everything(canvas: Canvas) -> Intervals:
    """Predict the whole series."""
    kind = canvas.events.starts.dtype
    return Intervals(
        np.array([canvas.start], dtype=kind), np.array([canvas.stop], dtype=kind), canvas.clock
    )


def random_points(canvas: Canvas, count: int, seed: int) -> Intervals:
    """Draw samples of a vector, or moments of a span, each at most once."""
    starts = _distinct(canvas, canvas.length, count, seed) + canvas.start
    return Intervals(starts, starts + 1 if canvas.samples else starts, canvas.clock)


def random_ranges(canvas: Canvas, count: int, length: Tick, seed: int) -> Intervals:
    """Draw disjoint ranges of one length, every placement being as likely as any other."""
    gap = gap_between(canvas)
    free = canvas.length - count * length - (count - 1) * gap
    order = np.arange(count)
    if canvas.whole:
        # Distinct numbers minus their rank are the ways to share the free ticks out.
        before = _distinct(canvas, free + count, count, seed) - order
    else:
        before = np.sort(np.random.default_rng(seed).uniform(0, free, count))
    starts = before + order * (length + gap) + canvas.start
    stops = starts + length
    # Rounding may carry the last float past the end.
    return Intervals(starts, np.minimum(stops, canvas.stop), canvas.clock)


def gap_between(canvas: Canvas) -> int:
    """Keep ranges of samples one sample apart, so that they do not become one."""
    return 1 if canvas.unit else 0


def _distinct(canvas: Canvas, below: Tick, count: int, seed: int) -> Ticks:
    random = np.random.default_rng(seed)
    drawn: NDArray[np.float64] | NDArray[np.int64]
    if canvas.whole:
        drawn = random.choice(int(below), count, replace=False, shuffle=False)
    else:
        drawn = random.uniform(0, below, count)
    return np.sort(drawn)


def _sorted(starts: Ticks, stops: Ticks, canvas: Canvas) -> Intervals:
    kind = canvas.events.starts.dtype
    order = np.argsort(starts, kind="stable")
    return Intervals(starts[order].astype(kind), stops[order].astype(kind), canvas.clock)
