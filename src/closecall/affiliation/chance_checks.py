"""What the closed forms of chance are given: shares, numbers of points, events inside zones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def require_shares(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Refuse what is no share of a whole."""
    shares = np.asarray(values, dtype=np.float64)
    _require((shares >= 0) & (shares <= 1), shares, f"`{name}` to be in [0, 1]")
    return shares


def require_points(values: ArrayLike, name: str, least: int) -> NDArray[np.float64]:
    """Refuse what is no number of points."""
    points = np.asarray(values, dtype=np.float64)
    whole = (points >= least) & (points == np.floor(points)) & np.isfinite(points)
    _require(whole, points, f"`{name}` to be whole numbers of {least} or more")
    return points


def require_inside(
    event: tuple[Any, Any], zone: tuple[Any, Any]
) -> tuple[NDArray[np.float64], ...]:
    """Refuse zones without length, and events that leave theirs; give all four ends."""
    ends = np.broadcast_arrays(*(np.asarray(end, dtype=np.float64) for end in (*event, *zone)))
    starts, stops, lows, highs = ends
    long = (lows < highs) & np.isfinite(highs - lows)
    _require(long, np.stack([lows, highs], axis=-1), "`zone` to stop after its start")
    inside = (lows <= starts) & (starts <= stops) & (stops <= highs)
    rule = "`event` to start before it stops, inside its zone"
    _require(inside, np.stack([starts, stops], axis=-1), rule)
    return tuple(ends)


def _require(good: NDArray[np.bool_], values: NDArray[np.float64], rule: str) -> None:
    """Name the first value that breaks the rule, and where it is; the last axis may be a pair."""
    wrong = np.flatnonzero(~np.atleast_1d(good))
    if wrong.size:
        rows = values.reshape(good.size, -1)
        got = ", ".join(f"{value:g}" for value in rows[wrong[0]])
        got = f"({got})" if rows.shape[1] > 1 else got
        raise InputError(expected(rule, f"{got} at index {wrong[0]}" if good.ndim else got))
