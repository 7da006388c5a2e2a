r"""What random points reach in one zone of affiliation, and on average over zones, in closed form.

Points fall independently and evenly. In a zone of length \|I\| there are k of them; the zone's
event fills the share p = \|gt\|/\|I\| of it. All shares are of the zone: ``before`` is what lies
before the event, ``filled`` is p. The proofs are on the page "Random points" of the documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import read_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)  # exact for quartics


class Moments(NamedTuple):
    """A mean and a variance: two floats, or two arrays."""

    mean: Any
    variance: Any


def precision_of_points(filled: ArrayLike, points: ArrayLike = 1) -> Moments:
    r"""Return mean and variance of the individual precision of k random points in the zone.

    .. math:: E = \tfrac12 + \tfrac{p^2}{2}, \qquad
        \mathrm{Var} = \tfrac1k \left(p + \tfrac{(1-p)^3}{3} - E^2\right)

    The mean is in [1/2, 1]. The variance is 1/12 over k for a true point, 0 at p = 1, and at
    most 0.16 over k.

    Parameters
    ----------
    filled
        The share p of the zone that the event fills, in [0, 1]; 0 for a true point.
    points
        How many points k, 1 or more.

    Examples
    --------
    >>> precision_of_points(0.2)
    Moments(mean=0.52, variance=0.1002...)
    """
    p, k = _together(require_shares(filled, "filled"), require_points(points, "points", 1))
    mean = 0.5 + p * p / 2
    variance = np.maximum(p + (1 - p) ** 3 / 3 - mean**2, 0) / k
    return _plain(mean, variance)


def mean_recall_of_points(points: ArrayLike) -> Any:
    r"""Return the mean individual recall of k random points, :math:`k/(k+1)`, in [0, 1).

    Examples
    --------
    >>> mean_recall_of_points([0, 1, 3]).tolist()
    [0.0, 0.5, 0.75]
    """
    k = require_points(points, "points", 0)
    return k / (k + 1)


def recall_of_one_point(event: tuple[Any, Any], zone: tuple[Any, Any]) -> Moments:
    r"""Return mean and variance of the individual recall of one random point, exactly.

    .. math:: E = \tfrac12, \qquad \mathrm{Var} = \int_0^1 \left(R(x) - \tfrac12\right)^2 dx

    R, the recall of a point at the share x of the zone, is a quadratic polynomial between at most
    six places, so the integral is a sum of polynomials in the ends of event and zone, which
    three nodes on each piece give exactly. In [0, 1/12]; 1/12 for a true point.

    Parameters
    ----------
    event, zone
        Start and stop of either: numbers, or arrays of them. The event lies inside the zone.

    Examples
    --------
    >>> recall_of_one_point((50, 50), (0, 100)).variance
    0.0833...
    >>> round(recall_of_one_point((40, 60), (0, 100)).variance, 4)
    0.0726
    """
    starts, stops, lows, highs = require_inside(event, zone)
    length = highs - lows
    before, filled = np.broadcast_arrays((starts - lows) / length, (stops - starts) / length)
    return _plain(np.full(before.shape, 0.5), one_point_recall_variance(before, filled))


def one_point_recall_variance(before: Floats, filled: Floats) -> Floats:
    """Return the variance of `recall_of_one_point` for zones given by their shares."""
    ends = np.stack([before, before + filled], axis=-1)
    limits = np.broadcast_to([0.0, 1.0], ends.shape)
    kinks = np.concatenate([limits, ends, 2 * ends, 2 * ends - 1], axis=-1)
    panels = np.sort(np.clip(kinks, 0, 1), axis=-1)
    half = np.diff(panels)[..., None] / 2
    x = (panels[..., 1:, None] + panels[..., :-1, None]) / 2 + half * _NODES
    recall = one_point_recall(x, before[..., None, None], filled[..., None, None])
    variance: Floats = ((recall - 0.5) ** 2 * half * _WEIGHTS).sum(axis=(-2, -1))
    return variance


def averaged_precision(filled: ArrayLike, counts: ArrayLike) -> Moments:
    r"""Return mean and variance of the precision over zones that have these numbers of points.

    With D the number of zones that have any, over those zones

    .. math:: E = \frac1D \sum_j E_j, \qquad \mathrm{Var} = \frac{1}{D^2} \sum_j \mathrm{Var}_j,

    since points fall independently in different zones. nan if no zone has any.

    Examples
    --------
    >>> averaged_precision([0.2, 0.4, 0.0], [1, 2, 0])
    Moments(mean=0.55, variance=0.0420...)
    """
    shares, points = require_shares(filled, "filled"), require_points(counts, "counts", 0)
    require_as_many(points, "counts", shares.size)
    hit = points > 0
    if not hit.any():
        return Moments(np.nan, np.nan)
    own = precision_of_points(shares[hit], points[hit])
    return Moments(float(own.mean.mean()), float(own.variance.sum() / hit.sum() ** 2))


def averaged_recall(before: ArrayLike, filled: ArrayLike, counts: ArrayLike) -> Moments:
    r"""Return mean and variance of the recall over zones that have these numbers of points.

    .. math:: E = \frac1n \sum_j \frac{k_j}{k_j + 1}, \qquad
        \mathrm{Var} = \frac{1}{n^2} \sum_j \mathrm{Var}_j

    over all n zones; nan if there are none. The variance is nan if any zone has more than one
    point: that has no closed form here.

    Examples
    --------
    >>> averaged_recall([0.4, 0.3], [0.2, 0.4], [1, 0])
    Moments(mean=0.25, variance=0.0181...)
    """
    u, p = require_shares(before, "before"), require_shares(filled, "filled")
    points = require_points(counts, "counts", 0)
    require_as_many(p, "filled", u.size)
    require_as_many(points, "counts", u.size)
    require_shares((u + p).round(12), "before + filled")
    if not u.size:
        return Moments(np.nan, np.nan)
    single = one_point_recall_variance(u, p)
    variance = np.where(points == 0, 0.0, np.where(points == 1, single, np.nan))
    mean = float(mean_recall_of_points(points).mean())
    return Moments(mean, float(variance.sum() / points.size**2))


def _plain(mean: Any, variance: Any) -> Moments:
    return Moments(mean, variance) if np.ndim(mean) else Moments(float(mean), float(variance))


def one_point_recall(x: Floats, before: Floats, filled: Floats) -> Floats:
    """Return the recall of one point at the share x of a zone."""
    early = _lost(x - before, filled, x / 2)
    late = _lost(before + filled - x, filled, (1 - x) / 2)
    return np.clip(1 - 2 * (early + late), 0, 1)


def _lost(reach: Floats, filled: Floats, cap: Floats) -> Floats:
    """Average min(d, cap) over the event's part on one side of a point, up to a reach from it."""
    length = np.clip(reach, 0, filled)
    nearest = np.maximum(reach, 0) - length
    room = np.where(length > 0, length, 1)
    below = np.where(length > 0, np.clip(cap - nearest, 0, room) / room, nearest < cap)
    mean = below * (nearest + np.minimum(nearest + length, cap)) / 2 + (1 - below) * cap
    part = np.where(filled > 0, length / np.where(filled > 0, filled, 1), reach > 0)
    return part * mean


def require_shares(values: ArrayLike, name: str) -> Floats:
    """Raise unless all are shares of a whole."""
    shares = read_numbers(values, name)
    _require((shares >= 0) & (shares <= 1), shares, f"`{name}` to be in [0, 1]")
    return shares


def require_points(values: ArrayLike, name: str, least: int) -> Floats:
    """Raise unless all are numbers of points."""
    points = read_numbers(values, name)
    whole = (points >= least) & (points == np.floor(points)) & np.isfinite(points)
    _require(whole, points, f"`{name}` to be whole numbers of {least} or more")
    return points


def require_inside(event: tuple[Any, Any], zone: tuple[Any, Any]) -> tuple[Floats, ...]:
    """Return all four ends; raise for zones without length, and events that leave theirs."""
    ends = _together(*_two_ends(event, "event"), *_two_ends(zone, "zone"))
    starts, stops, lows, highs = ends
    long = (lows < highs) & np.isfinite(highs - lows)
    _require(long, np.stack([lows, highs], axis=-1), "`zone` to stop after its start")
    inside = (lows <= starts) & (starts <= stops) & (stops <= highs)
    rule = "`event` to start before it stops, inside its zone"
    _require(inside, np.stack([starts, stops], axis=-1), rule)
    return tuple(ends)


def _together(*columns: Floats) -> tuple[Floats, ...]:
    """Bring columns to one shape."""
    try:
        return tuple(np.broadcast_arrays(*columns))
    except ValueError:
        shapes = " and ".join(str(column.shape) for column in columns)
        raise InputError.expected("columns of one length, or single numbers", shapes) from None


def require_as_many(values: Floats, name: str, count: int) -> None:
    """Raise if columns of zones differ in length."""
    if values.shape != (count,):
        got = f"{values.size}" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise InputError.expected(f"`{name}` to have one value for each of {count} zones", got)


def _two_ends(times: Any, name: str) -> tuple[Floats, Floats]:
    try:
        start, stop = times
    except (TypeError, ValueError):
        rule = f"`{name}` to be a pair (start, stop)"
        raise InputTypeError.expected(rule, shown(times)) from None
    return read_numbers(start, name), read_numbers(stop, name)


def _require(good: NDArray[np.bool_], values: Floats, rule: str) -> None:
    """Name the first value that breaks the rule, and where it is; the last axis may be a pair."""
    wrong = np.flatnonzero(~np.atleast_1d(good))
    if wrong.size:
        rows = values.reshape(good.size, -1)
        got = ", ".join(f"{value:g}" for value in rows[wrong[0]])
        got = f"({got})" if rows.shape[1] > 1 else got
        raise InputError.expected(rule, f"{got} at index {wrong[0]}" if good.ndim else got)
