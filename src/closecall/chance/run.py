"""Whether a detector is better than chance: the public function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from closecall.axis import read_axis
from closecall.chance.alarms import shift_alarms
from closecall.chance.correction import Correction, require_correction
from closecall.chance.result import (
    EventSignificance,
    ScoresSignificance,
    ShiftTest,
    Significance,
)
from closecall.chance.scores import roll_scores
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events, read_labels
from closecall.parameters import require_count
from closecall.series import Pair, Scored, read_pair, read_scored

if TYPE_CHECKING:
    from closecall.chance.alarms import Progress
    from closecall.clock import Ticks

MOST_SHIFTS = 1_000_000
_EVEN = 1e-9  # of a step: sampling times of floats that differ less are even


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
    times, end, span
        As in `closecall.affiliation`; beside `scores` as in `closecall.affiliation_curve`.
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
    axis = {"times": times, "end": end, "span": span}
    if isinstance(truth, Scored) or (scores is not None and predicted is None):
        return _of_scores(read_scored(truth, scores, **axis), int(n), int(seed), progress)
    if not isinstance(truth, Pair) and (scores is None) == (predicted is None):
        got = "neither" if scores is None else "both"
        raise InputTypeError(expected("either `predicted` or `scores`", got))
    given = read_pair(truth, predicted, **axis)
    given.require_truth("affiliation")
    even = not isinstance(truth, Pair | Events) and span is None and _is_even(truth, times, end)
    pair = read_pair(truth, predicted) if even else given
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
