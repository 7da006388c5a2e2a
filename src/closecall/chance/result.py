"""What `significance` returns: each score beside those of the same predictions moved elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.parameters import read_numbers
from closecall.statistics import SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.series import Pair

Correction = Literal["holm", "bonferroni", "benjamini-hochberg"]
_CORRECTIONS: tuple[str, ...] = get_args(Correction)


def adjust_pvalues(pvalues: Any, correction: Correction = "holm") -> NDArray[np.float64]:
    r"""Adjust the p-values of m tests so that each can be compared with the level of all of them.

    With :math:`p_{(1)} \le \dots \le p_{(m)}`, the adjusted values are

    - ``"bonferroni"``: :math:`m\, p_{(i)}`;
    - ``"holm"``: :math:`\max_{k \le i} (m - k + 1)\, p_{(k)}`, never larger than Bonferroni's.
      Either keeps the probability of any false finding at the level, whatever the dependence;
    - ``"benjamini-hochberg"``: :math:`\min_{k \ge i} \frac{m}{k} p_{(k)}`, which keeps the expected
      share of false findings at the level, for independent tests or positively dependent ones;

    each at most 1. They are in [0, 1], lower is stronger evidence, and none is below its p-value.

    Parameters
    ----------
    pvalues
        In [0, 1], or nan for a test that could not be done. It still counts among the m: whether
        it could be done is itself left to chance.
    correction
        Which of the three.

    Returns
    -------
    numpy.ndarray
        In the order given; nan stays nan.

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust_pvalues([0.01, 0.04, 0.03], "benjamini-hochberg")
    array([0.03, 0.04, 0.04])
    """
    require_correction(correction)
    given = _read_pvalues(pvalues)
    tests = given.size
    order = np.argsort(given)  # nan comes last
    ranked = np.where(np.isnan(given), 1.0, given)[order]
    ranks = np.arange(1, tests + 1)
    if correction == "bonferroni":
        scaled = tests * ranked
    elif correction == "holm":
        scaled = np.maximum.accumulate((tests - ranks + 1) * ranked)
    else:
        scaled = np.minimum.accumulate((tests / ranks * ranked)[::-1])[::-1]
    adjusted = np.empty(tests)
    adjusted[order] = np.minimum(scaled, 1.0)
    adjusted[np.isnan(given)] = np.nan
    return adjusted


def _read_pvalues(pvalues: Any) -> NDArray[np.float64]:
    given = read_numbers(pvalues, "pvalues")
    if given.ndim != 1:
        rule = "`pvalues` to be a list or another sequence of numbers"
        raise InputTypeError(expected(rule, f"{given.ndim} dimensions"))
    wrong = np.flatnonzero((given < 0) | (given > 1))
    if wrong.size:
        got = f"{given[wrong[0]]:g} at index {wrong[0]}"
        raise InputError(expected("`pvalues` to be in [0, 1], or nan", got))
    return given


def require_correction(correction: Any) -> None:
    """Raise if a correction is not known."""
    if correction not in _CORRECTIONS:
        rule = f"`correction` to be one of {', '.join(map(repr, _CORRECTIONS))}"
        raise InputError(expected(rule, repr(correction)))


TOLERANCE = 1e-12  # scores this close are equal: rounding depends on where a prediction is cut


@dataclass(frozen=True, repr=False, eq=False)
class ShiftTest:
    """One score, and its values for the same predictions shifted around the span."""

    observed: float
    """The score of the predictions where they are; nan if it is undefined."""
    null: NDArray[np.float64]
    """The score of each shift."""
    shifted: str
    """What was shifted, in words: ``alarms`` or ``scores``."""

    @cached_property
    def at_least(self) -> int:
        """How many shifts score at least as well; a difference within 1e-12 is a tie."""
        return int(np.count_nonzero(self.null >= self.observed - TOLERANCE))

    @property
    def pvalue(self) -> float:
        """One-sided p-value with the +1 rule, from 1 / (n + 1) to 1; nan if undefined."""
        return nan if isnan(self.observed) else (1 + self.at_least) / (1 + self.null.size)

    @property
    def mean(self) -> float:
        """Mean score of the shifts."""
        return float(self.null.mean())

    @property
    def std(self) -> float:
        """Standard deviation of the scores of the shifts."""
        return float(self.null.std())

    @property
    def above_chance(self) -> float:
        r"""Part of what the shifts lose on average that is not lost, at most 1; 0 at chance.

        :math:`(T - m) / (1 - m)` for the observed score T and the mean m of the shifts; negative
        is worse than they are. nan if the score is undefined, or the mean is 1.
        """
        left = 1 - self.mean
        return (self.observed - self.mean) / left if left > TOLERANCE else nan

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if isnan(self.observed):
            return f"There are no {self.shifted} to shift, so the score is undefined."
        return (
            f"A shift of the same {self.shifted} does at least as well in {self.at_least:,} of "
            f"{self.null.size:,} cases: p = {self.pvalue:.2g}."
        )

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain values that any JSON writer takes, without the draws; nan becomes None."""
        names = ("observed", "pvalue", "at_least", "mean", "std", "above_chance")
        values = {name: getattr(self, name) for name in names}
        if isnan(self.observed):
            values["at_least"] = nan
        return {name: None if isnan(value) else value for name, value in values.items()}

    def __repr__(self) -> str:
        return (
            f"ShiftTest(observed={self.observed:.3f}, pvalue={self.pvalue:.3g}, "
            f"null={self.mean:.3f} +/- {self.std:.3f}, n={self.null.size})"
        )


@dataclass(frozen=True, repr=False, eq=False)
class EventTests:
    """One score of every true event, each beside its values for the shifts; columns are arrays."""

    observed: NDArray[np.float64]
    """The event's score where the predictions are; nan where it is undefined."""
    at_least: NDArray[np.int64]
    """How many shifts score at least as well there; a difference within 1e-12 is a tie."""
    draws: NDArray[np.int64]
    """In how many shifts the score is defined there."""
    mean: NDArray[np.float64]
    """Mean score of these shifts; nan if there is none."""
    std: NDArray[np.float64]
    """Standard deviation of the scores of these shifts; nan if there is none."""
    null: NDArray[np.float64] | None
    """The score of each shift (rows) and event (columns); None beyond four million values."""
    correction: Correction
    """How `adjusted_pvalue` allows for the number of events."""

    @cached_property
    def pvalue(self) -> NDArray[np.float64]:
        """One-sided p-value of each event, among the shifts in which its score is defined.

        nan where the observed score is undefined.
        """
        pvalue = (1 + self.at_least) / (1 + self.draws)
        pvalue[np.isnan(self.observed)] = np.nan
        return pvalue

    @cached_property
    def adjusted_pvalue(self) -> NDArray[np.float64]:
        """The p-values with all events taken into account, see `adjust_pvalues`."""
        return adjust_pvalues(self.pvalue, self.correction)

    @cached_property
    def above_chance(self) -> NDArray[np.float64]:
        """Part of what the shifts lose at each event that is not lost, as in `ShiftTest`.

        nan where the score is undefined, observed or in every shift, and where the mean is 1.
        """
        left = 1 - self.mean
        return (self.observed - self.mean) / np.where(left > TOLERANCE, left, np.nan)

    def __len__(self) -> int:
        return self.observed.size

    def __repr__(self) -> str:
        return f"EventTests({len(self)} events, correction={self.correction!r})"


@dataclass(frozen=True, repr=False, eq=False)
class EventSignificance:
    """The same for each true event; columns such as ``precision.pvalue`` are arrays."""

    pair: Pair
    """The events that were compared."""
    precision: EventTests
    """Individual precision; undefined where no prediction is in the event's zone."""
    recall: EventTests
    """Individual recall; 0 where no prediction is in the event's zone."""
    f1: EventTests
    """Harmonic mean of the two; undefined where the precision is."""

    @property
    def start(self) -> NDArray[Any]:
        """Where the event starts."""
        return self.pair.clock.native(self.pair.opened(self.pair.truth).starts)

    @property
    def stop(self) -> NDArray[Any]:
        """Where the event stops."""
        return self.pair.clock.native(self.pair.opened(self.pair.truth).stops)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each event as plain JSON values; what is undefined becomes None."""
        clock, truth = self.pair.clock, self.pair.opened(self.pair.truth)
        dated = clock.kind == "datetime"
        columns = {
            f"{score}_{name}": getattr(getattr(self, score), name)
            for score in SCORES
            for name in ("observed", "mean", "above_chance", "pvalue", "adjusted_pvalue")
        }
        for index in range(len(self)):
            times = (truth.starts[index].item(), truth.stops[index].item())
            start, stop = (clock.text(t).replace(" ", "T") if dated else t for t in times)
            values = {name: column[index].item() for name, column in columns.items()}
            plain = {name: None if isnan(value) else value for name, value in values.items()}
            yield {"start": start, "stop": stop, **plain}

    def __len__(self) -> int:
        return len(self.pair.truth)

    def __repr__(self) -> str:
        return f"EventSignificance({len(self)} events, correction={self.recall.correction!r})"


@dataclass(frozen=True, repr=False, eq=False)
class Significance:
    """Whether alarms are where they are by more than chance: overall, and for each event.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0] * 60 + [1] * 5 + [0] * 35
    >>> s = cc.significance(truth, [0] * 61 + [1] * 5 + [0] * 34)
    >>> s.recall.sentence
    'A shift of the same alarms does at least as well in 39 of 1,000 cases: p = 0.04.'
    """

    precision: ShiftTest
    """Mean individual precision."""
    recall: ShiftTest
    """Mean individual recall."""
    f1: ShiftTest
    """Harmonic mean of the two."""
    events: EventSignificance
    """The same for each true event."""
    n: int
    """How many shifts were drawn."""
    seed: int
    """Where the random numbers started."""
    method: str
    """How the null was drawn: ``shift``."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes, without the draws; nan becomes None."""
        return {
            "method": self.method,
            "n": self.n,
            "seed": self.seed,
            "correction": self.events.recall.correction,
            **{name: getattr(self, name).to_dict() for name in SCORES},
            "events": list(self.events.rows()),
        }

    def __repr__(self) -> str:
        pvalues = ", ".join(f"{name} p={getattr(self, name).pvalue:.3g}" for name in SCORES)
        return f"Significance({pvalues}, n={self.n}, events={len(self.events)})"


@dataclass(frozen=True, repr=False, eq=False)
class ScoresSignificance:
    """Whether scores are high where they are by more than chance, at all thresholds together."""

    average_precision: ShiftTest
    """What `AffiliationCurve.average_precision` is."""
    n: int
    """How many shifts were drawn."""
    seed: int
    """Where the random numbers started."""
    method: str
    """How the null was drawn: ``shift``."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes, without the draws."""
        return {
            "method": self.method,
            "n": self.n,
            "seed": self.seed,
            "average_precision": self.average_precision.to_dict(),
        }

    def __repr__(self) -> str:
        pvalue = f"average_precision p={self.average_precision.pvalue:.3g}"
        return f"ScoresSignificance({pvalue}, n={self.n})"
