"""Affiliation precision and recall at every threshold at once, exactly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import _curve_kernels
from closecall.affiliation.result import ignored_to_dict
from closecall.affiliation.score import score_pair
from closecall.affiliation.sweep import (
    cut_samples,
    descending_order,
    roll_scores,
    score_rolls,
    sweep,
    weigh,
)
from closecall.affiliation.thresholds import (
    Constraints,
    CrossFitted,
    OperatingPoint,
    ThresholdColumns,
    best_index,
    cross_fit,
)
from closecall.affiliation.zones import origin_of
from closecall.compiled import interruptible
from closecall.errors import InputError, shown
from closecall.events import covered
from closecall.fscore import f_measure, first_highest, read_beta
from closecall.notebook import display, heading
from closecall.parameters import is_number, read_flag, require_count
from closecall.plain import flat_numbers
from closecall.scores import plain_threshold, predicted_at
from closecall.series import SHIFTS, Scored, read_scored
from closecall.signature import sign
from closecall.wording import counted, json_number, score_or_dash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.event_scores import EventScores
    from closecall.affiliation.result import Affiliation
    from closecall.affiliation.sweep import Pieces
    from closecall.series import LeftOut
    from closecall.signature import Signature

    Counts = tuple[NDArray[np.int64], NDArray[np.int64]]

_MOST_ROLLED, _FEWEST_ROLLS = 20_000_000, 20  # samples of all rolls together
_NOTEBOOK_POINTS = 10
_COLUMNS = (
    "thresholds",
    "precision",
    "recall",
    "f1",
    "caught",
    "alarms",
    "false_alarms",
    "alarmed",
)


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
    >>> c.best().threshold, c.caught, c.false_alarms
    (0.9, array([1, 1, 1, 1, 1]), array([0, 0, 0, 1, 0]))
    """

    thresholds: NDArray[Any]
    """Distinct scores, descending, in the type of the scores."""
    precision: NDArray[np.float64]
    """Precision at each threshold, in [0, 1]; never nan, since something is predicted."""
    recall: NDArray[np.float64]
    """Recall at each threshold, in [0, 1], rising."""
    alarms: NDArray[np.int64]
    """Number of predicted events at each threshold."""
    alarmed: NDArray[np.float64]
    """The share of the evaluated time that is in alarm at each threshold, rising to 1."""
    scored: Scored
    """The true events and the scores."""

    @cached_property
    def signature(self) -> Signature:
        """What decided these digits, in one line; see `closecall.signature`."""
        return sign("affiliation", self.scored, threshold="all")

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall at each threshold."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> NDArray[np.float64]:
        """Weighted harmonic mean at each threshold; recall weighs beta times as much."""
        scores: NDArray[np.float64] = interruptible(f_measure, self.precision, self.recall, beta)
        return scores

    @cached_property
    def average_precision(self) -> float:
        r"""Mean precision, weighted by the recall each threshold adds; in [0, 1], higher is better.

        Step-wise as in scikit-learn, :math:`\sum_k (R_k - R_{k-1}) P_k` with :math:`R_0 = 0`; no
        interpolation between points.
        """
        # A dot product has other last digits with another number of threads.
        return float((np.diff(self.recall, prepend=0.0) * self.precision).sum())

    @property
    def ignored_time(self) -> Any:
        """How much time was ignored, a number or a timedelta; 0 if none was."""
        return self.scored.ignored_time

    @property
    def left_out(self) -> LeftOut:
        """How many true events were left out, since they lie in ignored time.

        Which alarms are depends on the threshold: `at` tells.
        """
        return self.scored.left_out

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

    @cached_property
    def caught(self) -> NDArray[np.int64]:
        """How many true events an alarm overlaps at each threshold, rising."""
        return self._caught(self.thresholds, slice(None))

    def _caught(self, thresholds: NDArray[Any], events: Any) -> NDArray[np.int64]:
        """Count which of some true events an alarm overlaps at each of these thresholds."""
        counts = np.zeros(thresholds.size, dtype=np.int64)
        # An event is caught from the highest score of its pieces down.
        highest = _curve_kernels.highest_within(self._pieces.scores, *self._hits)[events]
        _curve_kernels.add_reached(np.sort(highest), thresholds, 1, counts)
        return counts

    @cached_property
    def false_alarms(self) -> NDArray[np.int64]:
        """How many predicted events overlap no true event at each threshold."""
        counts = self.alarms.copy()
        begun, joined = _curve_kernels.begin_and_join(self._pieces.scores, *self._hits)
        _curve_kernels.add_reached(interruptible(np.sort, begun), self.thresholds, -1, counts)
        _curve_kernels.add_reached(interruptible(np.sort, joined), self.thresholds, 1, counts)
        return counts

    def best(
        self,
        beta: float = 1,
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
        max_alarms_per: Any = None,
        max_false_alarms_per: Any = None,
        max_alarmed: float | None = None,
        cooldown: Any = None,
        objective: str = "fbeta",
    ) -> OperatingPoint:
        """Choose the threshold with the highest F-beta, under constraints if there are any.

        Parameters
        ----------
        beta
            How much more recall weighs than precision.
        objective
            ``"fbeta"``, or ``"caught"`` for the most events caught; of thresholds that catch
            equally many, the one with the fewest false alarms, and then with the highest F-beta.
        min_precision, min_recall
            Floors that the chosen threshold must reach.
        max_alarms_per, max_false_alarms_per
            Budget of alarms, or of alarms that overlap no true event: text such as ``"2/week"``,
            ``"1/day"``, ``"5/8h"`` or ``"3/100"``; a pair ``(count, duration)``, such as
            ``(2, timedelta(days=1))``; or a number, the count per one unit of a numeric axis. The
            rate is that over the whole evaluated time.
        max_alarmed
            The largest share of the time that may be in alarm. With a budget of alarms, or for the
            most events caught, it is 1/2 unless another is given, since one endless alarm keeps any
            budget and catches all.
        cooldown
            Alarms that are separated by less than this duration count once.

        Returns
        -------
        OperatingPoint
            Of all thresholds that keep the constraints, the one with the highest F-beta, or that
            catches most; of equally good ones the highest, which predicts least.

        Raises
        ------
        UndefinedMetricError
            If no threshold keeps them; it says which one comes nearest.

        Examples
        --------
        >>> import closecall as cc
        >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
        >>> c.best(min_recall=0.99).threshold
        0.4
        >>> c.best(objective="caught", max_alarms_per="1/6").caught
        1
        """
        constraints = Constraints(
            min_precision=min_precision,
            min_recall=min_recall,
            max_alarms_per=max_alarms_per,
            max_false_alarms_per=max_false_alarms_per,
            max_alarmed=max_alarmed,
            cooldown=cooldown,
            objective=objective,
        )
        clock = self.scored.clock
        columns = self._columns(constraints.cooldown_ticks(clock))
        index = best_index(columns, beta, constraints.limits(clock), objective)
        asked = self.signature.adding(beta=beta, **constraints.signed)
        return self._point(self.thresholds[index].item(), index, beta, columns, asked)

    def operating_point(
        self, threshold: float, beta: float = 1, *, cooldown: Any = None
    ) -> OperatingPoint:
        """Return what any threshold gives, also one that was chosen elsewhere and is no score.

        Parameters
        ----------
        threshold
            Alarms are where ``score >= threshold``.
        beta
            How much more recall weighs than precision.
        cooldown
            Alarms that are separated by less than this duration count once, as in `best`.

        Examples
        --------
        >>> import closecall as cc
        >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.1, 0.4, 0.1, 0.2])
        >>> c.operating_point(0.3).alarms, c.operating_point(0.3, cooldown=2).alarms
        (2, 1)
        """
        columns = self._columns(Constraints(cooldown=cooldown).cooldown_ticks(self.scored.clock))
        index = int(np.count_nonzero(predicted_at(self.thresholds, threshold))) - 1
        told, weight = plain_threshold(threshold), read_beta(beta)
        asked = self.signature.adding(threshold=told, beta=weight, cooldown=cooldown)
        if index < 0:  # no score reaches it
            return OperatingPoint(told, np.nan, 0.0, np.nan, weight, 0, 0, 0, 0.0, asked)
        return self._point(told, index, weight, columns, asked)

    def _point(
        self,
        threshold: float,
        index: int,
        beta: float,
        columns: ThresholdColumns,
        signature: Signature,
    ) -> OperatingPoint:
        return OperatingPoint(
            threshold=threshold,
            precision=float(self.precision[index]),
            recall=float(self.recall[index]),
            fbeta=float(f_measure(self.precision[index], self.recall[index], beta)),
            beta=float(beta),
            caught=int(self.caught[index]),
            alarms=int(columns.alarms[index]),
            false_alarms=int(columns.false_alarms[index]),
            alarmed=float(self.alarmed[index]),
            signature=signature,
        )

    def cross_fitted(self, beta: float = 1, folds: int = 5, **constraints: Any) -> CrossFitted:
        """Score each event at the threshold that the events of the other folds choose.

        A threshold that was chosen on the labels it is judged by flatters. Here the true events
        are split into consecutive folds, and the events of each are scored at the threshold with
        the highest F-beta on the zones of all others. What is lost against `best` is about what
        the choice had gained by chance. The cost is that of `folds` sweeps.

        Parameters
        ----------
        beta
            How much more recall weighs than precision.
        folds
            How many, from 2 to the number of true events.
        **constraints
            Those of `best`, kept on the folds that choose.

        Returns
        -------
        CrossFitted
            ``precision``, ``recall``, ``f1``, the ``thresholds`` and their ``spread``.

        Raises
        ------
        UndefinedMetricError
            With fewer than five true events.

        Examples
        --------
        >>> import closecall as cc
        >>> truth = [0, 1, 0, 0] * 6
        >>> scores = [0.1, 0.9, 0.3, 0.2, 0.1, 0.7, 0.2, 0.1] * 3
        >>> cc.affiliation_curve(truth, scores).cross_fitted(folds=3)
        CrossFitted(precision=1.000, recall=1.000, f1=1.000, thresholds 0.7 to 0.7 in 3 folds)
        """
        return cross_fit(self, self._columns, beta, folds, Constraints(**constraints))

    def _columns(
        self, cooldown: float = 0.0, without: tuple[int, int] = (0, 0)
    ) -> ThresholdColumns:
        """Return what a threshold is chosen by, alarms closer than `cooldown` ticks counted once.

        `without` leaves out the zones of the true events from the first index to the second.
        """
        if without[0] < without[1]:
            return self._columns_without(cooldown, *without)
        alarms: Counts = self.alarms, self.false_alarms
        if cooldown:
            alarms = self._count(slice(None), self._order, cooldown)
        length = self.scored.stop - self.scored.start
        return ThresholdColumns(
            *(self.thresholds, self.precision, self.recall, *alarms, self.alarmed, length),
            self.caught,
        )

    def _columns_without(self, cooldown: float, first: int, after: int) -> ThresholdColumns:
        """Sweep all zones but some."""
        pieces = self._pieces
        low, high = pieces.offsets[first], pieces.offsets[after]
        kept = np.r_[0:low, high : pieces.scores.size]
        order = self._order[(self._order < low) | (self._order >= high)]
        order[order >= high] -= high - low
        rows = self._rows[kept]
        _curve_kernels.move_zones(rows[low:], first - after)
        alarms, false_alarms = self._count(kept, order, cooldown)
        columns = sweep(pieces.scores[kept], order, rows, len(self.scored.truth) - after + first)
        thresholds, precision, recall, _, alarmed = columns
        # The outer zones may reach beyond the samples.
        left_out = pieces.borders[after] - pieces.borders[first]
        time = self.scored.stop - self.scored.start - 0.5 * left_out
        events = np.r_[0:first, after : len(self.scored.truth)]
        return ThresholdColumns(
            *(thresholds, precision, recall, alarms, false_alarms),
            *(alarmed / (2 * time / pieces.unit), time, self._caught(thresholds, events)),
        )

    def _count(self, kept: Any, order: NDArray[np.int64], cooldown: float) -> Counts:
        """Count the alarms and the false ones among some pieces, at each of their thresholds."""
        pieces = self._pieces
        (first, last), scores = self._hits, pieces.scores[kept]
        hit = covered(first, last + 1, pieces.scores.size)
        ends = pieces.cuts[:-1][kept], pieces.cuts[1:][kept]
        return _curve_kernels.count_groups(scores, order, *ends, hit[kept], 2 * cooldown)

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
        if not is_number(event) or event not in range(count):
            raise InputError(f"to be from 0 to {count - 1}", shown(event), argument="event")
        event = int(event)
        pieces = self._pieces
        low, high = pieces.offsets[event], pieces.offsets[event + 1]
        rows, scores = self._rows[low:high].copy(), pieces.scores[low:high]
        _curve_kernels.move_zones(rows, -event)
        return EventCurve(*sweep(scores, descending_order(scores), rows, 1)[:3])

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
        require_count(points, "points", 1)
        if points >= len(self):
            return np.arange(len(self))
        steps = np.hypot(np.diff(self.precision), np.diff(self.recall))
        way = np.concatenate(([0.0], np.cumsum(steps)))
        even = np.searchsorted(way, np.linspace(0, way[-1], points))
        ends_and_best = (0, len(self) - 1, first_highest(self.f1))
        return np.unique(np.append(even, ends_and_best))

    def to_dict(self, points: int = 200, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes, with a curve of about that many points.

        Infinite thresholds become the texts ``inf`` and ``-inf``. With `flat`, only numbers, by
        dotted names such as ``best.threshold``, as trackers of experiments take them.
        """
        best, chosen = self.best(), self.outline(points)
        columns = {name: getattr(self, name)[chosen].tolist() for name in _COLUMNS}
        columns["thresholds"] = [json_number(value) for value in columns["thresholds"]]
        values = {
            "average_precision": self.average_precision,
            "chance": asdict(self.chance),
            "best": best.to_dict(),
            "distinct_thresholds": len(self),
            **ignored_to_dict(self.scored),
            "signature": str(self.signature),
            "curve": columns,
        }
        return flat_numbers(values) if read_flag(flat, "flat") else values

    def plot(self, **options: Any) -> Any:
        """Draw the curve; see `closecall.plot.plot_curve` for the options."""
        from closecall.plot import plot_curve

        return plot_curve(self, **options)

    @cached_property
    def _pieces(self) -> Pieces:
        return cut_samples(self.scored)

    @cached_property
    def _rows(self) -> NDArray[np.float64]:
        return weigh(self._pieces, self._pieces.scores)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return descending_order(self._pieces.scores)

    @cached_property
    def _hits(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last piece that overlap each true event, of those that have any."""
        truth, origin, cuts = self.scored.truth, origin_of(self.scored), self._pieces.cuts
        first = np.searchsorted(cuts, 2 * (truth.starts - origin), side="right") - 1
        last = np.searchsorted(cuts, 2 * (truth.stops - origin), side="left") - 1
        last, count = np.maximum(last, first), self._pieces.scores.size
        seen = (first < count) & (last >= 0)  # none of them does beyond the samples
        return np.maximum(first[seen], 0), np.minimum(last[seen], count - 1)

    def __len__(self) -> int:
        return self.thresholds.size

    def __repr__(self) -> str:
        best = self.best()
        return (
            f"AffiliationCurve({len(self)} thresholds, "
            f"average_precision={self.average_precision:.3f}, "
            f"best f1={best.fbeta:.3f} at {best.threshold:.6g})"
        )

    def _repr_html_(self) -> str:
        """Show the best threshold and some others in a notebook."""
        best, chosen = self.best().threshold, self.outline(_NOTEBOOK_POINTS)
        columns = {name: getattr(self, name)[chosen].tolist() for name in _COLUMNS}
        thresholds = columns.pop("thresholds")
        for name in ("precision", "recall", "f1"):
            columns[name] = [*map(score_or_dash, columns[name])]
        columns["alarmed"] = [f"{share:.2%}" for share in columns["alarmed"]]
        average = f"average precision {score_or_dash(self.average_precision)}"
        moved = "`chance` tells what the same scores reach when they are moved"
        if "chance" in vars(self):  # it takes seconds, which nobody asked for
            level, f1 = map(score_or_dash, (self.chance.average_precision, self.chance.f1))
            moved = f"the same scores, moved: average precision {level}, best F1 {f1}"
        return display(
            f"best F1 {score_or_dash(self.f1.max())} at {best:.6g}: {self.at(best).headline}",
            f"{average} over {counted(len(self), 'threshold')}; {moved}",
            "the best was chosen on the labels that judge it: `cross_fitted` tells what that gains",
            [
                ("threshold", [f"{one:.6g}{' (best)' * (one == best)}" for one in thresholds]),
                *((heading(name), values) for name, values in columns.items()),
            ],
        )


def affiliation_curve(
    truth: Any,
    scores: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
    close: Any = None,
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
        One score per sample, higher is more anomalous; floats or integers. inf is legal.
        Equal scores enter together.
    times
        Strictly increasing times of the samples; their numbers 0, 1, 2, ... if not given.
    end
        Where the last sample stops. Inferred for evenly spaced times, else required.
    span
        Where the whole series starts and stops; ``(times[0], end)`` if not given.
    ignore, max_step
        Time that does not count, and how long a sample lasts at most, as in `affiliation`.
    nan
        What to do with samples whose score is nan: ``"raise"``, or ``"ignore"`` their time.
    close
        How far from a true event a close call may be at most, as in `affiliation`.

    Returns
    -------
    AffiliationCurve
        ``thresholds`` (descending), ``precision``, ``recall``, ``f1``, ``fbeta(beta)``,
        ``caught``, ``alarms``, ``false_alarms``, ``alarmed``, ``average_precision``,
        ``best(...)``, ``cross_fitted(...)``, ``at(threshold)``. Precision and recall are in
        [0, 1], higher is better (equations 4 to 6 of the paper at each threshold).

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    >>> c
    AffiliationCurve(5 thresholds, average_precision=0.986, best f1=0.957 at 0.9)
    >>> c.at(0.6)
    Affiliation(precision=0.750, recall=0.917, f1=0.825, events=1)
    """
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    scored = read_scored(truth, scores, **axis, nan=nan).calling(close)
    scored.require_truth("affiliation")
    pieces = cut_samples(scored)
    rows, order = weigh(pieces, pieces.scores), descending_order(pieces.scores)
    swept = sweep(pieces.scores, order, rows, len(scored.truth))
    thresholds, precision, recall, alarms, alarmed = swept
    alarmed /= 2 * (scored.stop - scored.start) / pieces.unit  # from half ticks
    return AffiliationCurve(thresholds, precision, recall, alarms, alarmed, scored)
