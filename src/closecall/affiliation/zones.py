"""Zones of affiliation: the time axis cut halfway between consecutive true events.

Borders are kept in half ticks counted from an origin: the midpoint of two ticks is then exact,
which it would not be in ticks. Legend: A and B are the borders of a zone, [a, b) is its event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from closecall.clock import Tick, Ticks
    from closecall.series import Pair, TruthInSpan


def origin_of(pair: TruthInSpan) -> Tick:
    """Where half ticks are counted from: the span's start, or 0 for numbers that are not exact."""
    return pair.start if pair.clock.kind != "number" else 0.0


def zone_borders(pair: TruthInSpan) -> Ticks:
    """Give the n + 1 borders of the zones of n true events, in half ticks from the origin."""
    origin = origin_of(pair)
    starts, stops = pair.truth.starts, pair.truth.stops
    borders = np.empty(starts.size + 1, dtype=starts.dtype)
    borders[0], borders[-1] = 2 * (pair.start - origin), 2 * (pair.stop - origin)
    np.add(stops[:-1] - origin, starts[1:] - origin, out=borders[1:-1])
    return borders


def in_ticks(half_ticks: Ticks, pair: Pair) -> Ticks:
    """Turn borders back into times: halves of integers become floats, datetimes are floored."""
    if pair.clock.kind == "datetime":
        return half_ticks // 2 + origin_of(pair)
    return half_ticks / 2 + origin_of(pair)
