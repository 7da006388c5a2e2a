"""Affiliation precision and recall at every threshold at once, exactly."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import _curve_kernels, _shift_kernels
from closecall.affiliation.score import score_pair
from closecall.affiliation.shifts import SHIFTS, spread
from closecall.affiliation.thresholds import OperatingPoint, alarm_budget, best_threshold
from closecall.affiliation.zones import origin_of, zone_borders
from closecall.errors import InputError, expected
from closecall.fscore import f_measure, first_highest
from closecall.series import Scored, read_scored

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.affiliation.result import Affiliation, EventScores
    from closecall.clock import Ticks

    Progress = Callable[[int, int], None]

_MOST_ROLLED, _FEWEST_ROLLS = 20_000_000, 20  # samples of all rolls together
_COLUMNS = ("thresholds", "precision", "recall", "f1", "alarms")
_SIGN = 1 << 63
_ALL_BITS = 2**64 - 1
_FEW = 1 << 20  # samples, for which long digits are faster: their places stay in fast memory
_VERY_FEW = 1 << 12
_HELD = 4  # bytes of any number that float64 holds exactly


@dataclass(frozen=True, repr=False, eq=False)
class EventCurve:
    """Individual precision and recall of one true event, at the thresholds where they change."""

    thresholds: NDArray[Any]
    """Distinct scores inside the event's zone, descending."""
    precision: NDArray[np.float64]
    """Individual precision with everything at or above the threshold predicted."""
    recall: NDArray[np.float64]
    """Individual recall with everything at or above the threshold predicted."""

    def __repr__(self) -> str:
        return f"EventCurve({self.thresholds.size} thresholds)"


@dataclass(frozen=True)
class CurveChance:
    """What scores reach when they are rolled around the series: means over circular shifts."""

    average_precision: float
    """Mean average precision of the rolls."""
    f1: float
    """Mean of the best F1 of each roll, each at a threshold of its own."""
    shifts: int
    """How many rolls there were."""

    def __repr__(self) -> str:
        levels = f"average_precision={self.average_precision:.3f}, f1={self.f1:.3f}"
        return f"CurveChance({levels}, shifts={self.shifts})"


@dataclass(frozen=True, repr=False, eq=False)
class AffiliationCurve:
    """Precision and recall at every distinct score; ``score >= threshold`` is predicted.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    >>> c.thresholds
    array([0.9, 0.6, 0.4, 0.2, 0.1])
    >>> c.best().threshold
    0.9
    """

    thresholds: NDArray[Any]
    """Distinct scores, descending, in the type of the scores."""
    precision: NDArray[np.float64]
    """Precision at each threshold, in [0, 1]; never nan, since something is predicted."""
    recall: NDArray[np.float64]
    """Recall at each threshold, in [0, 1], rising."""
    alarms: NDArray[np.int64]
    """Number of predicted events at each threshold."""
    scored: Scored
    """The true events and the scores."""

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall at each threshold."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> NDArray[np.float64]:
        """Weighted harmonic mean at each threshold; recall weighs beta times as much."""
        scores: NDArray[np.float64] = f_measure(self.precision, self.recall, beta)
        return scores

    @cached_property
    def average_precision(self) -> float:
        r"""Mean precision, weighted by the recall each threshold adds; in [0, 1], higher is better.

        Step-wise as in scikit-learn, :math:`\sum_k (R_k - R_{k-1}) P_k` with :math:`R_0 = 0`; no
        interpolation between points.
        """
        # A dot product has other last digits with another number of threads.
        return float((np.diff(self.recall, prepend=0.0) * self.precision).sum())

    @cached_property
    def chance(self) -> CurveChance:
        """What the same scores reach when they are rolled: means over circular shifts.

        The best F1 is chosen again in each roll, as it is in `best`. The cost is that of up to
        1,000 curves without sorting, and of fewer, 20 at least, beyond 20,000 samples.
        """
        count = self.scored.scores.size
        most = min(max(_MOST_ROLLED // count, _FEWEST_ROLLS), SHIFTS)
        scores = roll_scores(self.scored, score_rolls(count, most))
        average, best = scores.mean(axis=1).tolist()
        return CurveChance(average, best, scores.shape[1])

    def best(
        self,
        beta: float = 1,
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
        max_alarms_per: Any = None,
    ) -> OperatingPoint:
        """Choose the threshold with the highest F-beta, under constraints if there are any.

        Parameters
        ----------
        beta
            How much more recall weighs than precision.
        min_precision, min_recall
            Floors that the chosen threshold must reach.
        max_alarms_per
            Budget of alarms (predicted events): a pair ``(count, duration)``, such as
            ``(2, timedelta(days=1))``; or a number, the count per one unit of a numeric axis.
            Only thresholds above the first one that breaks the budget are considered: far below
            it everything is one endless alarm.

        Returns
        -------
        OperatingPoint
            Of equally good thresholds, the highest, which predicts least.

        Examples
        --------
        >>> import closecall as cc
        >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
        >>> c.best(min_recall=0.99)
        OperatingPoint(threshold=0.4, precision=0.833, recall=1.000, f1=0.909, alarms=1)
        """
        scored = self.scored
        most = alarm_budget(max_alarms_per, scored.stop - scored.start, scored.clock)
        return best_threshold(
            self, beta, min_precision=min_precision, min_recall=min_recall, max_alarms=most
        )

    def at(self, threshold: float) -> Affiliation:
        """Score the predictions at any threshold, as `affiliation` does."""
        return score_pair(self.scored.at(threshold))

    def events_at(self, threshold: float) -> EventScores:
        """Return each true event's precision, recall and distances at any threshold."""
        return self.at(threshold).events

    def event_curve(self, event: int) -> EventCurve:
        """Return one true event's precision and recall at every threshold of its zone.

        Examples
        --------
        >>> import closecall as cc
        >>> c = cc.affiliation_curve([0, 1, 0, 0, 0, 1], [0.1, 0.8, 0.6, 0.1, 0.7, 0.2])
        >>> c.event_curve(1).thresholds
        array([0.7, 0.2, 0.1])
        """
        count = len(self.scored.truth)
        if event not in range(count):
            raise InputError(expected(f"`event` to be from 0 to {count - 1}", f"{event}"))
        thresholds, precision, recall, _ = _sweep(self.scored, self._pieces, event, event + 1)
        return EventCurve(thresholds, precision, recall)

    def outline(self, points: int = 200) -> NDArray[np.int64]:
        """Choose indices of points that draw the curve: evenly spread along it, with its ends.

        The best F1 and both ends are always among them; the chosen points are exact.

        Examples
        --------
        >>> import closecall as cc
        >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
        >>> c.outline(3)
        array([0, 2, 4])
        """
        if points < 1 or points % 1:
            raise InputError(expected("`points` to be a whole number above 0", f"{points}"))
        if points >= len(self):
            return np.arange(len(self))
        steps = np.hypot(np.diff(self.precision), np.diff(self.recall))
        way = np.concatenate(([0.0], np.cumsum(steps)))
        even = np.searchsorted(way, np.linspace(0, way[-1], points))
        ends_and_best = (0, len(self) - 1, first_highest(self.f1))
        return np.unique(np.append(even, ends_and_best))

    def to_dict(self, points: int = 200) -> dict[str, Any]:
        """Return plain values that any JSON writer takes, with a curve of about that many points.

        Infinite thresholds become the texts ``inf`` and ``-inf``.
        """
        best, chosen = self.best(), self.outline(points)
        columns = {name: getattr(self, name)[chosen].tolist() for name in _COLUMNS}
        columns["thresholds"] = [_json_number(value) for value in columns["thresholds"]]
        return {
            "average_precision": self.average_precision,
            "chance": asdict(self.chance),
            "best": {**asdict(best), "threshold": _json_number(best.threshold)},
            "distinct_thresholds": len(self),
            "curve": columns,
        }

    def plot(self, **options: Any) -> Any:
        """Draw the curve; see `closecall.plot.plot_curve` for the options."""
        from closecall.plot import plot_curve

        return plot_curve(self, **options)

    @cached_property
    def _pieces(self) -> Pieces:
        return cut_samples(self.scored)

    def __len__(self) -> int:
        return self.thresholds.size

    def __repr__(self) -> str:
        best = self.best()
        return (
            f"AffiliationCurve({len(self)} thresholds, "
            f"average_precision={self.average_precision:.3f}, "
            f"best f1={best.fbeta:.3f} at {best.threshold:.6g})"
        )


def _json_number(value: float) -> float | str:
    return str(value) if isinf(value) else value


def affiliation_curve(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> AffiliationCurve:
    r"""Score a detector at every threshold, each exactly as `affiliation` would.

    As the threshold falls, samples enter the prediction one by one. Individual precision is a
    quotient of two running sums; individual recall changes only in the gap that a sample falls
    into, whose ends are found for all samples with one stack. The cost is O(N log N) for N
    samples, most of it sorting the scores.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events` (then `times` is required).
    scores
        One score per sample, higher is more anomalous; float32, float64 or integers. inf is
        legal, nan is not. Equal scores enter together.
    times
        Strictly increasing times of the samples; their numbers 0, 1, 2, ... if not given.
    end
        Where the last sample stops. Inferred for evenly spaced times, else required.
    span
        Where the whole series starts and stops; ``(times[0], end)`` if not given.

    Returns
    -------
    AffiliationCurve
        ``thresholds`` (descending), ``precision``, ``recall``, ``f1``, ``fbeta(beta)``,
        ``alarms``, ``average_precision``, ``best(...)``, ``at(threshold)``. Precision and recall
        are in [0, 1], higher is better (equations 4 to 6 of the paper at each threshold).

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    >>> c
    AffiliationCurve(5 thresholds, average_precision=0.986, best f1=0.957 at 0.9)
    >>> c.at(0.6)
    Affiliation(precision=0.750, recall=0.917, f1=0.825, events=1)
    """
    scored = read_scored(truth, scores, times=times, end=end, span=span)
    scored.require_truth("affiliation")
    columns = _sweep(scored, cut_samples(scored), 0, len(scored.truth))
    return AffiliationCurve(*columns, scored=scored)


def _sweep(
    scored: Scored, pieces: Pieces, first: int, after: int
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return thresholds, precision, recall and alarms over the zones first, ..., after - 1."""
    low, high = pieces.offsets[first], pieces.offsets[after]
    scores = pieces.scores[low:high]
    rows = np.empty((scores.size, _curve_kernels.COLUMNS))
    _curve_kernels.weigh_pieces(
        scores,
        pieces.cuts[low : high + 1],
        pieces.offsets[first : after + 1] - low,
        scored.truth.starts[first:after],
        scored.truth.stops[first:after],
        origin_of(scored),
        pieces.borders[first : after + 1],
        rows,
    )
    order = descending_order(scores)
    thresholds = np.empty_like(scores)
    precision, recall = np.empty(scores.size), np.empty(scores.size)
    # The numbers of alarms are written over the part of the order that has been walked.
    columns = (thresholds, precision, recall, order)
    count = _curve_kernels.sweep(scores, order, rows, after - first, *columns)
    for column in columns:
        column.resize(count, refcheck=False)
    return columns


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Pieces that tile the axis: piece k is [cuts[k], cuts[k + 1]), in half ticks."""

    scores: NDArray[Any]
    cuts: Ticks
    offsets: NDArray[np.int64]  # zone j holds the pieces offsets[j], ..., offsets[j + 1] - 1
    borders: Ticks


def cut_samples(scored: Scored) -> Pieces:
    """Cut the samples at the zone borders; the scores are copied only if one is cut."""
    axis, scores = scored.axis, scored.scores
    borders = zone_borders(scored)
    cuts = axis.borders(np.arange(axis.length + 1))
    cuts -= origin_of(scored)
    cuts *= 2
    inside = borders[(borders > cuts[0]) & (borders < cuts[-1])]
    places = np.searchsorted(cuts, inside)
    new = cuts[places] != inside
    if new.any():
        places = places[new]
        scores = np.insert(scores, places, scores[places - 1])
        cuts = np.insert(cuts, places, inside[new])
    offsets = np.searchsorted(cuts[:-1], borders)
    # Zones may reach beyond the first and the last sample.
    offsets[0], offsets[-1] = 0, scores.size
    return Pieces(scores, cuts, offsets, borders)


def score_rolls(samples: int, n: int) -> NDArray[np.int64]:
    """Return by how many samples scores are rolled: all numbers up to n of them, else n."""
    if samples <= n:
        return np.arange(samples)
    return np.minimum((spread(n) * samples).astype(np.int64), samples - 1)


def roll_scores(
    scored: Scored, rolls: NDArray[np.int64], progress: Progress | None = None
) -> NDArray[np.float64]:
    """Return average precision and the best F1 (rows) of the scores rolled by so many samples.

    A roll keeps how scores compare, so they are sorted once and each roll costs two passes.
    """
    values = scored.scores
    # Cutting the numbers of the samples says which sample each piece is part of.
    pieces = cut_samples(replace(scored, scores=np.arange(values.size)))
    owners = pieces.scores
    firsts = np.searchsorted(owners, np.arange(values.size + 1))
    order, origin = descending_order(values), origin_of(scored)
    rolled, rolled_order = np.empty(owners.size, dtype=values.dtype), np.empty_like(owners)
    rows = np.empty((owners.size, _curve_kernels.COLUMNS))
    thresholds, alarms = np.empty_like(rolled), np.empty(owners.size, dtype=np.int64)
    precision, recall = np.empty(owners.size), np.empty(owners.size)
    found = np.empty((2, rolls.size))
    for k, shift in enumerate(rolls.tolist()):
        _shift_kernels.roll_pieces(values, order, shift, owners, firsts, rolled, rolled_order)
        _curve_kernels.weigh_pieces(
            rolled,
            pieces.cuts,
            pieces.offsets,
            scored.truth.starts,
            scored.truth.stops,
            origin,
            pieces.borders,
            rows,
        )
        columns = (thresholds, precision, recall, alarms)
        count = _curve_kernels.sweep(rolled, rolled_order, rows, len(scored.truth), *columns)
        found[:, k] = _shift_kernels.curve_scores(precision[:count], recall[:count])
        if progress is not None:
            progress(k + 1, rolls.size)
    return found


def descending_order(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of the scores from the highest down; equal ones in any order.

    O(N) for numbers that float64 holds exactly, unless nearly all of them share their leading
    bits; O(N log N) otherwise.
    """
    exact = scores.dtype == np.float64 or scores.dtype.itemsize <= _HELD
    if not exact or scores.size == 0:
        return np.argsort(scores)[::-1].copy()
    values = scores.astype(np.float64, copy=False)
    place_bits = (values.size - 1).bit_length()
    low, high = _as_integer(values.min()), _as_integer(values.max())
    span_bits = (high - low).bit_length()
    # Three or four digits of the leading bits; more would seldom matter.
    digits, digit_bits = (3, 12) if values.size <= _FEW else (4, 10)
    if values.size <= _VERY_FEW:
        digits, digit_bits = 4, 9  # as many bits; counting digits would take longer than sorting
    key_bits = min(span_bits, digits * digit_bits, 64 - place_bits)
    drop = span_bits - key_bits
    order, other = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    packed, spare = order.view(np.uint64), other.view(np.uint64)
    _curve_kernels.pack(values.view(np.uint64), np.uint64(high), drop, place_bits, packed)
    if _curve_kernels.radix_sort(packed, spare, place_bits, key_bits, digit_bits):
        order, packed = other, spare
    # The order is written over what it is read from.
    if _curve_kernels.unpack(packed, values, place_bits, order):
        return order
    return np.argsort(scores)[::-1].copy()


def _as_integer(score: np.float64) -> int:
    """Return the integer that is ordered among integers as the score is among floats."""
    bits = int((score + 0.0).view(np.uint64))  # -0.0 becomes 0.0
    return bits ^ _ALL_BITS if bits & _SIGN else bits | _SIGN
