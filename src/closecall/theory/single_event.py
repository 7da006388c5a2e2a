r"""What the affiliation metrics are worth where a closed form exists.

The equations are those of Huet, Navarro and Rossi, *Local Evaluation of Time Series Anomaly
Detection Algorithms* (KDD 2022), section 4.4 and appendices A.1 and C. Everything here concerns
one true event in its zone of affiliation; ``proportion`` (the paper's p) is the share of the
zone that the event fills, and :math:`x_+ = \max(0, x)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, get_args, overload

import numpy as np

from closecall.clock import Timed, on_one_clock, read_times
from closecall.errors import InputError, InputTypeError
from closecall.parameters import read_numbers, require_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick

Position = Literal["border", "halfway", "start", "center"]
Value = TypeVar("Value", float, "NDArray[np.float64]")


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
    def __call__(self, distance: NDArray[Any] | Sequence[Any]) -> NDArray[np.float64]: ...
    def __call__(self, distance: Any) -> float | NDArray[np.float64]:
        """Probability of a distance of at least ``distance``: in [0, 1], higher is closer.

        1 at distance 0; 0 beyond the farthest border and at inf; nan at nan or NaT. A distance is
        a number, or a timedelta where ``timed``; negative ones are an `InputError`.
        """
        lengths = _read_distance(distance, timed=self.timed)
        if (lengths < 0).any():
            got = _first(lengths < 0, np.asarray(distance))
            raise InputError.expected("`distance` to be 0 or more", got, "Use its absolute value.")
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
        raise InputError.expected("`proportion` to be in (0, 1]", _first(~inside, values), hint)
    pair = PrecisionRecall(precision(values), recall(values))
    return pair if values.ndim else PrecisionRecall(float(pair.precision), float(pair.recall))


def _survival(name: str, event: tuple[Any, Any], zone: tuple[Any, Any]) -> Survival:
    parts = [Timed(name, *read_times(event, name)), Timed("zone", *read_times(zone, "zone"))]
    for part in parts:
        if part.ticks.size != 2:  # noqa: PLR2004 - a start and a stop
            rule = f"`{part.name}` to be a pair (start, stop)"
            raise InputTypeError.expected(rule, f"{part.ticks.size} times")
    ticks, clock = on_one_clock(*parts)
    bounds = [pair.tolist() for pair in ticks]
    inner, outer = (f"({clock.text(first)}, {clock.text(last)})" for first, last in bounds)
    (start, stop), (zone_start, zone_stop) = bounds
    if zone_start >= zone_stop:
        raise InputError.expected("`zone` to start before it stops", outer)
    if start > stop:
        raise InputError.expected(f"`{name}` to start before it stops", inner)
    if start < zone_start or stop > zone_stop:
        got = clock.text(start) if name == "position" else inner
        raise InputError.expected(f"`{name}` to be inside the zone {outer}", got)
    borders = sorted((start - zone_start, zone_stop - stop))
    length, nearest, farthest = (_length(clock, t) for t in (zone_stop - zone_start, *borders))
    return Survival(length, nearest, farthest, timed=clock.kind == "datetime")


def _length(clock: Clock, ticks: Tick) -> float:
    return ticks / clock.ticks_per_second if clock.kind == "datetime" else float(ticks)


def _read_distance(distance: Any, *, timed: bool) -> NDArray[np.float64]:
    """Read numbers, or timedeltas in seconds."""
    if not timed:
        return read_numbers(distance, "distance")
    exact = distance.to_timedelta64() if hasattr(distance, "to_timedelta64") else distance
    lengths = np.asarray(exact)
    if lengths.dtype == object and all(isinstance(length, timedelta) for length in lengths.flat):
        lengths = lengths.astype("timedelta64[us]")
    if lengths.dtype.kind != "m":
        rule = "`distance` to be timedeltas, since the zone is in datetimes"
        raise InputTypeError.expected(rule, f"values of type {lengths.dtype}")
    return np.asarray(lengths / np.timedelta64(1, "s"))


def _first(broken: NDArray[np.bool_], values: NDArray[Any]) -> str:
    """Show the first value that breaks a rule, and its index in an array."""
    index = int(broken.argmax())
    return f"{values.flat[index]} at index {index}" if values.ndim else str(values)
