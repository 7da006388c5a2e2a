"""Zones of affiliation: the time axis cut halfway between consecutive true events.

Borders are kept in half ticks counted from an origin: the midpoint of two ticks is then exact,
which it would not be in ticks. Legend: zone [A, B), its true event [a, b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from closecall.clock import Tick, Ticks
    from closecall.series import Pair, TruthInSpan


def origin_of(series: TruthInSpan) -> Tick:
    """Return where half ticks are counted from: the start, or 0 for numbers that are not exact."""
    return series.start if series.clock.kind != "number" else 0.0


def zone_borders(pair: TruthInSpan) -> Ticks:
    """Return the n + 1 borders of the zones of n true events, in half ticks from the origin."""
    truth = pair.truth
    return borders_between(truth.starts, truth.stops, origin_of(pair), pair.start, pair.stop)


def borders_between(starts: Ticks, stops: Ticks, origin: Tick, start: Tick, stop: Tick) -> Ticks:
    """Return the borders between consecutive events, and where the outer zones start and stop."""
    borders = np.empty(max(len(starts), 1) + 1, dtype=starts.dtype)
    np.add(stops[:-1] - origin, starts[1:] - origin, out=borders[1:-1])
    borders[0], borders[-1] = 2 * (start - origin), 2 * (stop - origin)
    return borders


def in_ticks(half_ticks: Ticks, pair: Pair) -> Ticks:
    """Turn borders back into times: halves of integers become floats, datetimes are floored."""
    if pair.clock.kind == "datetime":
        return half_ticks // 2 + origin_of(pair)
    return half_ticks / 2 + origin_of(pair)
