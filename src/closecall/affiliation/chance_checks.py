"""What the closed forms of chance are given: shares, numbers of points, events inside zones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.parameters import read_numbers, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def require_shares(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Refuse what is no share of a whole."""
    shares = read_numbers(values, name)
    _require((shares >= 0) & (shares <= 1), shares, f"`{name}` to be in [0, 1]")
    return shares


def require_points(values: ArrayLike, name: str, least: int) -> NDArray[np.float64]:
    """Refuse what is no number of points."""
    points = read_numbers(values, name)
    whole = (points >= least) & (points == np.floor(points)) & np.isfinite(points)
    _require(whole, points, f"`{name}` to be whole numbers of {least} or more")
    return points


def require_inside(
    event: tuple[Any, Any], zone: tuple[Any, Any]
) -> tuple[NDArray[np.float64], ...]:
    """Refuse zones without length, and events that leave theirs; give all four ends."""
    ends = np.broadcast_arrays(*_two_ends(event, "event"), *_two_ends(zone, "zone"))
    starts, stops, lows, highs = ends
    long = (lows < highs) & np.isfinite(highs - lows)
    _require(long, np.stack([lows, highs], axis=-1), "`zone` to stop after its start")
    inside = (lows <= starts) & (starts <= stops) & (stops <= highs)
    rule = "`event` to start before it stops, inside its zone"
    _require(inside, np.stack([starts, stops], axis=-1), rule)
    return tuple(ends)


def require_as_many(values: NDArray[np.float64], name: str, count: int) -> None:
    """Refuse columns of zones that differ in length."""
    if values.shape != (count,):
        got = f"{values.size}" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise InputError(expected(f"`{name}` to have one value for each of {count} zones", got))


def _two_ends(times: Any, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        start, stop = times
    except (TypeError, ValueError):
        rule = f"`{name}` to be a pair (start, stop)"
        raise InputTypeError(expected(rule, shown(times))) from None
    return read_numbers(start, name), read_numbers(stop, name)


def _require(good: NDArray[np.bool_], values: NDArray[np.float64], rule: str) -> None:
    """Name the first value that breaks the rule, and where it is; the last axis may be a pair."""
    wrong = np.flatnonzero(~np.atleast_1d(good))
    if wrong.size:
        rows = values.reshape(good.size, -1)
        got = ", ".join(f"{value:g}" for value in rows[wrong[0]])
        got = f"({got})" if rows.shape[1] > 1 else got
        raise InputError(expected(rule, f"{got} at index {wrong[0]}" if good.ndim else got))
