"""Whether a detector is better than chance: its predictions scored again at random shifts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from closecall.affiliation import _curve_kernels
from closecall.affiliation.curve import cut_samples, descending_order
from closecall.affiliation.score import score_pair
from closecall.affiliation.zones import origin_of, zone_borders
from closecall.axis import read_axis
from closecall.chance import _kernels
from closecall.chance.result import (
    TOLERANCE,
    Correction,
    EventSignificance,
    EventTests,
    ScoresSignificance,
    ShiftTest,
    Significance,
    require_correction,
)
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events, read_labels
from closecall.fscore import f_measure
from closecall.parameters import require_count
from closecall.series import Pair, Scored, read_pair, read_scored

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.clock import Ticks

    Progress = Callable[[int, int], None]

MOST_SHIFTS = 1_000_000
_EVEN = 1e-9  # of a step: sampling times of floats that differ less are even
MOST_KEPT = 4_000_000  # values of a null for each event: 32 MB for each score
_BLOCK = 2_000_000  # events and alarms that are scored before progress is told


@overload
def significance(
    truth: Any,
    predicted: Any,
    *,
    scores: None = None,
    n: int = 1000,
    method: Literal["shift"] = "shift",
    seed: int = 0,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    correction: Correction = "holm",
    progress: Progress | None = None,
) -> Significance: ...


@overload
def significance(
    truth: Any,
    predicted: None = None,
    *,
    scores: Any,
    n: int = 1000,
    method: Literal["shift"] = "shift",
    seed: int = 0,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
    correction: Correction = "holm",
    progress: Progress | None = None,
) -> ScoresSignificance: ...


def significance(
    truth: Any,
    predicted: Any = None,
    *,
    scores: Any = None,
    n: int = 1000,
    method: Literal["shift"] = "shift",
    seed: int = 0,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
    correction: Correction = "holm",
    progress: Progress | None = None,
) -> Significance | ScoresSignificance:
    r"""Test whether predictions are closer to the true events than the same ones moved elsewhere.

    All predictions are shifted together by a random time; what leaves the span at its end comes
    back at its start. A shift keeps their number, lengths and spacing, and so everything but the
    link with the true events. With :math:`T` a score and :math:`T_1, \dots, T_n` its values for
    n random shifts,

    .. math:: p = \frac{1 + \#\{i : T_i \ge T\}}{n + 1},

    one-sided, in [1/(n + 1), 1], lower is stronger evidence that the detector knows where the
    events are. If it does not, :math:`P(p \le \alpha) \le \alpha` for every level
    :math:`\alpha`, provided that any shift of its alarms was as likely. The cost is O(n (t + m))
    for t true and m predicted events.

    Parameters
    ----------
    truth, predicted
        Two 0/1 vectors of one length, or two `Events`.
    scores
        Instead of `predicted`: one score per sample, higher is more anomalous. The vector is
        shifted by whole samples and average precision is compared, see
        `AffiliationCurve.average_precision`; the cost is that of n curves without sorting.
    n
        How many shifts to draw, from 1 to 1,000,000; no p-value can be below 1 / (n + 1).
    method
        ``"shift"``, the only one.
    seed
        Of numpy's default generator; the same seed gives the same shifts.
    times, end, span, ignore, max_step
        As in `closecall.affiliation`; beside `scores` as in `closecall.affiliation_curve`.
    nan
        What to do with samples whose score is nan: ``"raise"``, or ``"ignore"`` their time.
    correction
        How the adjusted p-values of the events allow for their number: ``"holm"``,
        ``"bonferroni"`` or ``"benjamini-hochberg"``, see
        `closecall.chance.adjust_pvalues`.
    progress
        Called with what is done and what there is to do, in shifts.

    Returns
    -------
    Significance
        ``precision``, ``recall`` and ``f1``, each with ``observed``, ``null`` (the n draws),
        ``pvalue``, ``mean``, ``std``, ``above_chance`` and ``sentence``; ``events``, the same for
        each true event, with ``adjusted_pvalue``. With `scores`, a `ScoresSignificance` with
        ``average_precision`` instead.

    Notes
    -----
    Labels at evenly spaced times, and scores, are shifted by whole samples; everything else by
    whole ticks on integer and datetime axes, and by any number on a float axis. Every
    shift is equally likely, no shift at all among them.

    A draw within 1e-12 of the observed score is a tie, and ties count as at least as good: a
    prediction that no shift changes has p = 1.

    An event's precision and F1 are undefined where no prediction is in its zone. Then its p-values
    are nan, which count among the tests in the correction; otherwise it is compared with the shifts
    that do put a prediction in its zone. Its recall is always defined.

    Without any prediction there is nothing to shift: precision and F1 are undefined and recall is
    0 for all shifts, so its p-value is 1.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0] * 60 + [1] * 5 + [0] * 35
    >>> late = [0] * 61 + [1] * 5 + [0] * 34
    >>> s = cc.significance(truth, late)
    >>> s
    Significance(precision p=0.04, recall p=0.04, f1 p=0.04, n=1000, events=1)
    >>> s.f1.sentence
    'A shift of the same alarms does at least as well in 39 of 1,000 cases: p = 0.04.'

    With scores instead of alarms:

    >>> cc.significance(truth, scores=[-abs(sample - 61) for sample in range(100)])
    ScoresSignificance(average_precision p=0.029, n=1000)
    """
    require_count(n, "n", 1, MOST_SHIFTS)
    require_count(seed, "seed", 0)
    require_correction(correction)
    if method != "shift":
        raise InputError(expected("`method` to be 'shift'", repr(method)))
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    if isinstance(truth, Scored) or (scores is not None and predicted is None):
        return _of_scores(read_scored(truth, scores, **axis, nan=nan), int(n), int(seed), progress)
    if not isinstance(truth, Pair) and (scores is None) == (predicted is None):
        got = "neither" if scores is None else "both"
        raise InputTypeError(expected("either `predicted` or `scores`", got))
    given = read_pair(truth, predicted, **axis)
    given.require_truth("affiliation")
    even = not isinstance(truth, Pair | Events) and span is None and _is_even(truth, times, end)
    pair = read_pair(truth, predicted) if even and given.ignored is None else given
    observed, null, events = shift_alarms(pair, _draw(pair, n, seed), correction, progress)
    tests = [ShiftTest(float(x), draws, "alarms") for x, draws in zip(observed, null, strict=True)]
    return Significance(
        precision=tests[0],
        recall=tests[1],
        f1=tests[2],
        events=EventSignificance(given, *events),
        n=int(n),
        seed=int(seed),
        method=method,
    )


def _of_scores(scored: Scored, n: int, seed: int, progress: Progress | None) -> ScoresSignificance:
    scored.require_truth("affiliation")
    observed = float(roll_scores(scored, np.zeros(1, dtype=np.int64), None)[0])
    shifts = np.random.default_rng(seed).integers(scored.scores.size, size=n)
    test = ShiftTest(observed, roll_scores(scored, shifts, progress), "scores")
    return ScoresSignificance(test, n, seed, "shift")


def _draw(pair: Pair, n: int, seed: int) -> Ticks:
    """Draw how far to shift, from nothing to just below the whole span."""
    length, random = pair.stop - pair.start, np.random.default_rng(seed)
    if pair.clock.kind == "number":
        return random.uniform(0, length, size=n)
    return random.integers(int(length), size=n)


def _is_even(labels: Any, times: Any, end: Any) -> bool:
    """Whether the times are evenly spaced, so that sample numbers do as well."""
    if times is None:  # then they are the times already
        return False
    if end is None:  # it was inferred, which only even times allow
        return True
    axis = read_axis(read_labels(labels, "truth").size, times, end, of="labels")
    steps = axis.lengths()
    return bool(steps.max() - steps.min() <= _EVEN * steps.max())


class EventTally:
    """Counts what the shifts give at each event, a block of shifts at a time."""

    def __init__(self, observed: NDArray[np.float64], *, keep: bool) -> None:
        self._observed = observed
        self._blocks: list[NDArray[np.float64]] | None = [] if keep else None
        self._at_least = np.zeros(observed.size, dtype=np.int64)
        self._draws = np.zeros(observed.size, dtype=np.int64)
        self._mean, self._squares = np.zeros(observed.size), np.zeros(observed.size)

    def add(self, values: NDArray[np.float64]) -> None:
        """Count more shifts (rows) at every event (columns)."""
        defined = ~np.isnan(values)
        draws = np.count_nonzero(defined, axis=0)
        mean = np.where(defined, values, 0.0).sum(axis=0) / np.maximum(draws, 1)
        squares = np.square(np.where(defined, values - mean, 0.0)).sum(axis=0)
        # Means and squares of two blocks are joined without ever subtracting large sums.
        total, away = np.maximum(self._draws + draws, 1), mean - self._mean
        self._squares += squares + away**2 * self._draws * draws / total
        self._mean += away * draws / total
        self._draws += draws
        self._at_least += np.count_nonzero(values >= self._observed - TOLERANCE, axis=0)
        if self._blocks is not None:
            self._blocks.append(values)

    def result(self, correction: Correction) -> EventTests:
        """Return what was counted as columns."""
        drawn = self._draws > 0
        return EventTests(
            observed=self._observed,
            at_least=self._at_least,
            draws=self._draws,
            mean=np.where(drawn, self._mean, np.nan),
            std=np.where(drawn, np.sqrt(self._squares / np.maximum(self._draws, 1)), np.nan),
            null=None if self._blocks is None else np.concatenate(self._blocks),
            correction=correction,
        )


def shift_alarms(
    pair: Pair, shifts: Ticks, correction: Correction, progress: Progress | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[EventTests]]:
    """Return precision, recall and F1: those observed, those of each shift, and each event's."""
    result = score_pair(pair)
    events = result.events
    keep = shifts.size * len(events) <= MOST_KEPT
    tallies = [EventTally(x, keep=keep) for x in (events.precision, events.recall, events.f1)]
    null = np.empty((3, shifts.size))
    step = max(1, _BLOCK // (len(pair.truth) + len(pair.predicted)))
    for first in range(0, shifts.size, step):
        block = slice(first, first + step)
        null[:, block], each = score_shifted(pair, shifts[block])
        for tally, values in zip(tallies, each, strict=True):
            tally.add(values)
        if progress is not None:
            progress(min(first + step, shifts.size), shifts.size)
    observed = np.array([result.precision, result.recall, result.f1])
    return observed, null, [tally.result(correction) for tally in tallies]


def score_shifted(pair: Pair, shifts: Ticks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score each shift: precision, recall and F1 (first axis), overall and for each event."""
    origin = origin_of(pair)
    scores = np.empty((2, shifts.size))
    event_scores = np.empty((2, shifts.size, len(pair.truth)))
    _kernels.score_shifts(
        pair.truth.starts - origin,
        pair.truth.stops - origin,
        pair.predicted.starts - origin,
        pair.predicted.stops - origin,
        pair.start - origin,
        pair.stop - origin,
        zone_borders(pair),
        shifts,
        scores,
        event_scores,
    )
    return _with_f1(scores), _with_f1(event_scores)


def _with_f1(scores: NDArray[np.float64]) -> Any:
    precision, recall = scores
    return np.stack((precision, recall, f_measure(precision, recall)))


def roll_scores(
    scored: Scored, shifts: NDArray[np.int64], progress: Progress | None
) -> NDArray[np.float64]:
    """Return the average precision of the scores rolled by each number of samples.

    A roll keeps how scores compare, so they are sorted once and each roll costs two passes.
    """
    pair, values = scored, scored.scores
    # Cutting the numbers of the samples says which sample each piece is part of.
    pieces = cut_samples(replace(scored, scores=np.arange(values.size)))
    owners = pieces.scores
    firsts = np.searchsorted(owners, np.arange(values.size + 1))
    order, origin = descending_order(values), origin_of(pair)
    rolled, rolled_order = np.empty(owners.size, dtype=values.dtype), np.empty_like(owners)
    rows = np.empty((owners.size, _curve_kernels.COLUMNS))
    thresholds, alarms = np.empty_like(rolled), np.empty(owners.size, dtype=np.int64)
    precision, recall, alarmed = np.empty((3, owners.size))
    found = np.empty(shifts.size)
    for k, shift in enumerate(shifts.tolist()):
        _kernels.roll_pieces(values, order, shift, owners, firsts, rolled, rolled_order)
        _curve_kernels.weigh_pieces(
            rolled,
            pieces.cuts,
            pieces.offsets,
            pair.truth.starts,
            pair.truth.stops,
            origin,
            pieces.borders,
            rows,
        )
        columns = (thresholds, precision, recall, alarms, alarmed)
        count = _curve_kernels.sweep(rolled, rolled_order, rows, len(pair.truth), *columns)
        found[k] = _kernels.average_precision(precision[:count], recall[:count])
        if progress is not None:
            progress(k + 1, shifts.size)
    return found
