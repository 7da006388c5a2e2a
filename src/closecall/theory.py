r"""Closed forms: what the affiliation metrics are worth for one event, and for random points.

The equations for one true event in its zone of affiliation are those of Huet, Navarro and Rossi,
*Local Evaluation of Time Series Anomaly Detection Algorithms* (KDD 2022), section 4.4 and
appendices A.1 and C; ``proportion`` (the paper's p) is the share of the zone that the event fills,
and :math:`x_+ = \max(0, x)`.

Random points fall independently and evenly. In a zone of length \|I\| there are k of them; the
zone's event fills the share p = \|gt\|/\|I\| of it. All shares are of the zone: ``before`` is what
lies before the event, ``filled`` is p. The proofs are on the page "Random points" of the documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, get_args, overload

import numpy as np

from closecall.clock import Timed, on_one_clock, read_times
from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import read_numbers, require_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from closecall.clock import Clock, Tick

    Floats = NDArray[np.float64]

__all__ = [
    "Moments",
    "Position",
    "PrecisionRecall",
    "Survival",
    "averaged_precision",
    "averaged_recall",
    "mean_recall_of_points",
    "precision_of_points",
    "precision_survival",
    "recall_of_one_point",
    "recall_survival",
    "single_prediction",
    "single_random_prediction",
    "whole_interval",
]

Position = Literal["border", "halfway", "start", "center"]
Value = TypeVar("Value", float, "NDArray[np.float64]")
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)  # exact for quartics


class PrecisionRecall(NamedTuple, Generic[Value]):
    """A precision and a recall: two floats, or two arrays of the shape of ``proportion``."""

    precision: Value
    recall: Value


@dataclass(frozen=True, slots=True)
class Survival:
    """Probability that one uniformly random prediction is at least as far away as a distance.

    Made by `precision_survival` and `recall_survival`. Lengths are in the unit of the caller's
    numbers, or in seconds where ``timed``.
    """

    zone_length: float
    nearest_border: float
    farthest_border: float
    timed: bool

    @overload
    def __call__(self, distance: float | timedelta | np.timedelta64) -> float: ...
    @overload
    def __call__(self, distance: NDArray[Any] | Sequence[Any]) -> Floats: ...
    def __call__(self, distance: Any) -> float | Floats:
        """Probability of a distance of at least ``distance``: in [0, 1], higher is closer.

        1 at distance 0; 0 beyond the farthest border and at inf; nan at nan or NaT. A distance is
        a number, or a timedelta where ``timed``; negative ones are an `InputError`.
        """
        lengths = _read_distance(distance, timed=self.timed)
        if (lengths < 0).any():
            got = _first(lengths < 0, np.asarray(distance))
            raise InputError(
                "to be 0 or more", got, argument="distance", hint="Use its absolute value."
            )
        # What is left on either side, over the zone: the printed 1 - (...), but exactly 0 at M.
        near = np.maximum(self.nearest_border - lengths, 0)
        far = np.maximum(self.farthest_border - lengths, 0)
        probability = np.where(lengths == 0, 1.0, (near + far) / self.zone_length)
        return probability if probability.ndim else float(probability)


def precision_survival(event: tuple[Any, Any], zone: tuple[Any, Any]) -> Survival:
    r"""Make the function that turns a predicted time's distance to the event into a precision.

    For an event [a, b) in the zone [A, B), with m and M the smaller and the larger of a - A and
    B - b, it is 1 at 0 and, for d in (0, M], the first equation of appendix A.1:

    .. math:: \bar F(d) = 1 - \frac{(b - a) + \min(d, m) + d}{B - A}

    Range [0, 1], higher is better (closer). Beyond M it is 0, which is what the definition
    :math:`P(\mathrm{distance} \ge d)` gives there, and not the printed expression.

    Parameters
    ----------
    event
        Start and stop of the true event: numbers, datetimes, numpy or pandas stamps.
    zone
        Start and stop of its zone of affiliation, of the same kind.

    Examples
    --------
    The paper's running example, in minutes: 3:50 to 4:10 in the zone 3:30 to 5:00, alarm at 3:40.

    >>> survival = precision_survival((230, 250), (210, 300))
    >>> round(survival(10), 3)
    0.556
    >>> survival([0, 20, 50, 60]).round(3).tolist()
    [1.0, 0.333, 0.0, 0.0]
    """
    return _survival("event", event, zone)


def recall_survival(position: Any, zone: tuple[Any, Any]) -> Survival:
    r"""Make the function that turns a true time's distance to the predictions into a recall.

    For a time y of the event, in the zone [A, B), with :math:`m_y` and :math:`M_y` the smaller
    and the larger of y - A and B - y, it is, for d in [0, :math:`M_y`], the second equation of
    appendix A.1:

    .. math:: \bar F_y(d) = 1 - \frac{\min(d, m_y) + d}{B - A}

    Range [0, 1], higher is better (closer). Beyond :math:`M_y` it is 0, so an event without any
    prediction, at distance inf, has recall 0.

    Parameters
    ----------
    position
        The time y: a number, datetime, numpy or pandas stamp.
    zone
        Start and stop of the event's zone of affiliation, of the same kind.

    Examples
    --------
    The paper's running example, in minutes: the true time 4:10, ten minutes from a prediction.

    >>> round(recall_survival(250, (210, 300))(10), 3)
    0.778
    """
    # A time is an event of no length, and the two survival functions agree there.
    return _survival("position", (position, position), zone)


def whole_interval(proportion: Value) -> PrecisionRecall[Value]:
    r"""Precision and recall when the whole zone is predicted, wherever the event lies in it.

    .. math:: P_{\text{precision}} = \tfrac12 + \tfrac{p^2}{2}, \qquad P_{\text{recall}} = 1

    (section 4.4, appendix C.1). Precision in (1/2, 1], recall 1; higher is better.

    Parameters
    ----------
    proportion
        Share of the zone that the event fills, in (0, 1]; a number or an array.

    Examples
    --------
    >>> whole_interval(0.2)
    PrecisionRecall(precision=0.52, recall=1.0)
    """
    return _at(proportion, _average_precision, np.ones_like)


def single_random_prediction(proportion: Value) -> PrecisionRecall[Value]:
    r"""Return the expected precision and recall of one point, uniformly random in the zone.

    .. math:: E[P_{\text{precision}}] = \tfrac12 + \tfrac{p^2}{2}, \qquad
              E[P_{\text{recall}}] = \tfrac12

    wherever the event lies in the zone (section 4.4, appendix C.2). Precision in (1/2, 1],
    recall 1/2; higher is better.

    Parameters
    ----------
    proportion
        Share of the zone that the event fills, in (0, 1]; a number or an array.

    Examples
    --------
    >>> single_random_prediction(0.2)
    PrecisionRecall(precision=0.52, recall=0.5)
    """
    return _at(proportion, _average_precision, lambda p: np.full_like(p, 0.5))


def single_prediction(proportion: Value, *, position: Position) -> PrecisionRecall[Value]:
    r"""Precision and recall of one point at a named place, for an event centred in its zone.

    From section 4.4 and appendix C.3, (a) to (d); range [0, 1], higher is better:

    - ``"border"``, (a) at the zone's border: precision 0, recall :math:`p/4`.
    - ``"halfway"``, (b) midway between border and event: precision :math:`(1-p)/2`, recall
      :math:`\frac{1-p}{2} + \frac{25}{64p} (p - \frac15)_+^2`.
    - ``"start"``, (c) at the start of the event: precision 1, recall
      :math:`1 - p + \frac{9}{16p} (p - \frac13)_+^2`.
    - ``"center"``, (d) in the middle of the event: precision 1, recall
      :math:`1 - \frac p2 + \frac{1}{2p} (p - \frac12)_+^2`.

    Parameters
    ----------
    proportion
        Share of the zone that the event fills, in (0, 1]; a number or an array.
    position
        Where the point is.

    Notes
    -----
    The paper prints two things that the metric, and this function, contradict. The factor in (c)
    is printed as 16/(9p) and is 9/(16p): at p = 1 the event starts at the zone's border, where (a)
    gives 1/4. And at p = 1 exactly, (a) and (b) are inside the event: their precision is 1.

    Examples
    --------
    >>> single_prediction(0.2, position="center")
    PrecisionRecall(precision=1.0, recall=0.9)
    >>> single_prediction([0.2, 1.0], position="border").recall.tolist()
    [0.05, 0.25]
    """
    hint = "Any other place can be scored: `closecall.affiliation` takes `Events.from_points`."
    require_choice(position, "position", get_args(Position), hint)
    return _at(proportion, *_SINGLE_PREDICTION[position])


def _average_precision(p: Any) -> Any:
    return 0.5 + p * p / 2


def _excess(p: Any, least: float) -> Any:
    return np.maximum(p - least, 0) ** 2 / p


_SINGLE_PREDICTION: dict[Position, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "border": (lambda p: np.where(p < 1, 0.0, 1.0), lambda p: p / 4),
    "halfway": (
        lambda p: np.where(p < 1, (1 - p) / 2, 1.0),
        lambda p: (1 - p) / 2 + 25 / 64 * _excess(p, 1 / 5),
    ),
    "start": (np.ones_like, lambda p: 1 - p + 9 / 16 * _excess(p, 1 / 3)),
    "center": (np.ones_like, lambda p: 1 - p / 2 + _excess(p, 1 / 2) / 2),
}


def _at(
    proportion: Any, precision: Callable[[Any], Any], recall: Callable[[Any], Any]
) -> PrecisionRecall[Any]:
    values = read_numbers(proportion, "proportion")
    inside = (values > 0) & (values <= 1)
    if not inside.all():
        hint = "It is the event's length over its zone's length."
        raise InputError(
            "to be in (0, 1]", _first(~inside, values), argument="proportion", hint=hint
        )
    pair = PrecisionRecall(precision(values), recall(values))
    return pair if values.ndim else PrecisionRecall(float(pair.precision), float(pair.recall))


def _survival(name: str, event: tuple[Any, Any], zone: tuple[Any, Any]) -> Survival:
    parts = [Timed(name, *read_times(event, name)), Timed("zone", *read_times(zone, "zone"))]
    for part in parts:
        if part.ticks.size != 2:  # noqa: PLR2004 - a start and a stop
            rule = "to be a pair (start, stop)"
            raise InputTypeError(rule, f"{part.ticks.size} times", argument=part.name)
    ticks, clock = on_one_clock(*parts)
    bounds = [pair.tolist() for pair in ticks]
    inner, outer = (f"({clock.text(first)}, {clock.text(last)})" for first, last in bounds)
    (start, stop), (zone_start, zone_stop) = bounds
    if zone_start >= zone_stop:
        raise InputError("to start before it stops", outer, argument="zone")
    if start > stop:
        raise InputError("to start before it stops", inner, argument=name)
    if start < zone_start or stop > zone_stop:
        got = clock.text(start) if name == "position" else inner
        raise InputError(f"to be inside the zone {outer}", got, argument=name)
    borders = sorted((start - zone_start, zone_stop - stop))
    length, nearest, farthest = (_length(clock, t) for t in (zone_stop - zone_start, *borders))
    return Survival(length, nearest, farthest, timed=clock.kind == "datetime")


def _length(clock: Clock, ticks: Tick) -> float:
    return ticks / clock.ticks_per_second if clock.kind == "datetime" else float(ticks)


def _read_distance(distance: Any, *, timed: bool) -> Floats:
    """Read numbers, or timedeltas in seconds."""
    if not timed:
        return read_numbers(distance, "distance")
    exact = distance.to_timedelta64() if hasattr(distance, "to_timedelta64") else distance
    lengths = np.asarray(exact)
    if lengths.dtype == object and all(isinstance(length, timedelta) for length in lengths.flat):
        lengths = lengths.astype("timedelta64[us]")
    if lengths.dtype.kind != "m":
        rule = "to be timedeltas, since the zone is in datetimes"
        raise InputTypeError(rule, f"values of type {lengths.dtype}", argument="distance")
    return np.asarray(lengths / np.timedelta64(1, "s"))


def _first(broken: NDArray[np.bool_], values: NDArray[Any]) -> str:
    """Show the first value that breaks a rule, and its index in an array."""
    index = int(broken.argmax())
    return f"{values.flat[index]} at index {index}" if values.ndim else str(values)


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
    moments = precision_of_points(shares[hit], points[hit])
    return Moments(float(moments.mean.mean()), float(moments.variance.sum() / hit.sum() ** 2))


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
        raise InputError("columns of one length, or single numbers", shapes) from None


def require_as_many(values: Floats, name: str, count: int) -> None:
    """Raise if columns of zones differ in length."""
    if values.shape != (count,):
        got = f"{values.size}" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise InputError(f"to have one value for each of {count} zones", got, argument=name)


def _two_ends(times: Any, name: str) -> tuple[Floats, Floats]:
    try:
        start, stop = times
    except (TypeError, ValueError):
        rule = "to be a pair (start, stop)"
        raise InputTypeError(rule, shown(times), argument=name) from None
    return read_numbers(start, name), read_numbers(stop, name)


def _require(good: NDArray[np.bool_], values: Floats, rule: str) -> None:
    """Name the first value that breaks the rule, and where it is; the last axis may be a pair."""
    wrong = np.flatnonzero(~np.atleast_1d(good))
    if wrong.size:
        rows = values.reshape(good.size, -1)
        got = ", ".join(f"{value:g}" for value in rows[wrong[0]])
        got = f"({got})" if rows.shape[1] > 1 else got
        raise InputError(rule, f"{got} at index {wrong[0]}" if good.ndim else got)
