"""Rules that turn scores into a threshold, fitted on all of the time or on a part of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import _curve_kernels
from closecall.affiliation.curve import affiliation_curve
from closecall.affiliation.sweep import descending_order
from closecall.affiliation.thresholds import (
    MOST_ALARMED,
    ThresholdColumns,
    ThresholdLimit,
    keeping_all,
    read_budget,
)
from closecall.errors import (
    InputError,
    InputTypeError,
    UndefinedMetricError,
    shown,
    with_names,
)
from closecall.evaluated_time import said_once
from closecall.fscore import first_highest
from closecall.parameters import is_number, read_rate
from closecall.scores import read_scores
from closecall.series import Scored, fit_and_rest, read_scored
from closecall.signature import fit_text, sign, value_text
from closecall.wording import percent_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.curve import AffiliationCurve
    from closecall.series import Pair
    from closecall.signature import Signature

# The rules that need a number: what it is called, its default, and the range it must lie in.
_NUMBERS = {
    "quantile": ("a quantile from 0 to 1", 0.99, 0.0, 1.0),
    "sigma": ("a number of standard deviations", 3.0, -np.inf, np.inf),
    "mad": ("a number of deviations", 3.0, -np.inf, np.inf),
    "spot": ("a probability between 0 and 1", 1e-3, 1e-300, 1.0),
}
OF_MANY_SERIES = ("best_f1_global", "cross_fit")
_LABELLED = ("best_f1", *OF_MANY_SERIES)
_HINT = (
    "Pass a number, 'best_f1', 'quantile:0.99', 'sigma:3' (mean + 3 standard deviations), 'mad:3' "
    "(median + 3 scaled median deviations), 'spot:0.001' (peaks over threshold) or 'alarms:2/week'."
)
_WORDS = {
    "number": "the threshold that was asked for",
    "quantile": "the lowest threshold with at most {rest:g} % of the time in alarm",
    "sigma": "the mean of the scores plus {value:g} standard deviations",
    "mad": "the median of the scores plus {value:g} scaled median absolute deviations",
    "spot": "what a score exceeds with probability {value:g}, by peaks over threshold",
    "alarms": "the lowest threshold within the budget of alarms and half of the time in alarm",
}
_TO_SIGMA = 1.4826  # a normal distribution's standard deviation, in median absolute deviations
_INITIAL = 0.98  # SPOT's initial quantile, beyond which its tail is fitted
_FEWEST_PEAKS = 10
_PAIR = 2  # a count and a duration
_ROUNDING = 1e-12  # of a share of the time: 1 - 0.9 is less than 0.1 in floats


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """How a threshold is found.

    >>> ThresholdRule.read("quantile:0.99"), str(ThresholdRule.read({"mad": 4}))
    (ThresholdRule(kind='quantile', value=0.99), 'mad:4')
    """

    kind: str
    """``number``, ``best_f1``, ``quantile``, ``sigma``, ``mad``, ``spot``, ``alarms``, or one of
    `OF_MANY_SERIES`; ``none`` where nothing needs a threshold."""
    value: Any = None
    """The number, or the count and duration of ``alarms``."""

    @classmethod
    def read(cls, rule: Any) -> ThresholdRule:
        """Read a number, a rule as text, or a mapping from its name; None is ``best_f1``."""
        if rule is None:
            return cls("best_f1")
        if isinstance(rule, ThresholdRule):
            return rule
        if isinstance(rule, str):
            name, colon, value = rule.partition(":")
            return cls._named(name, value if colon else None, rule)
        if isinstance(rule, Mapping):
            if len(rule) != 1:
                raise _unknown(rule)
            ((name, value),) = rule.items()
            return cls._named(name, value, rule)
        if not is_number(rule):
            raise InputTypeError(
                "to be a number or a rule", shown(rule), argument="threshold", hint=_HINT
            )
        return cls("number", _read_number(rule))

    @classmethod
    def _named(cls, name: Any, value: Any, given: Any) -> ThresholdRule:
        if name in _LABELLED and value is None:
            return cls(name)
        if name == "alarms" and value is not None:
            budget = read_rate(value, name)
            if is_number(budget):
                return cls(name, (budget, 1))
            if not isinstance(budget, tuple | list) or len(budget) != _PAIR:
                raise _unknown(given)
            return cls(name, tuple(budget))
        if name not in _NUMBERS:
            raise _unknown(given)
        what, default, low, high = _NUMBERS[name]
        try:
            number = default if value is None else float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not low <= number <= high:
            rule = f"the value of the rule {name!r} to be {what}"
            raise InputError(rule, shown(value), hint=_HINT)
        return cls(name, number)

    def __str__(self) -> str:
        """Return the rule as a caller would pass it."""
        if self.kind == "number":
            return "none" if self.value is None else repr(self.value)
        if self.kind == "alarms":
            count, duration = self.value
            length = f"{duration:g}" if is_number(duration) else value_text(duration)
            return f"alarms:{count:g}/{length}"
        return self.kind if self.value is None else f"{self.kind}:{value_text(self.value)}"

    @property
    def signed(self) -> int | float | str | None:
        """The rule as a signature names it, and a caller may pass it: a number, a text or None."""
        return self.value if self.kind == "number" else None if self.kind == "none" else str(self)

    @property
    def words(self) -> str:
        """What a threshold found without labels is, with the rule."""
        rest = 100 * (1 - self.value) if self.kind == "quantile" else 0
        text = _WORDS[self.kind].format(value=self.value, rest=rest)
        return text if self.kind == "number" else f"{text} ({self})"

    @property
    def looks_at_truth(self) -> bool:
        """Whether the truth takes part in the choice."""
        return self.kind in _LABELLED

    @property
    def is_optimistic(self) -> bool:
        """Whether scores are optimistic, since the labels that judge a series chose for it."""
        return self.looks_at_truth and self.kind != "cross_fit"

    def choose(self, scored: Scored, curve: AffiliationCurve | None = None) -> Any:
        """Return the threshold for one series; `curve` saves computing it for ``best_f1``."""
        if self.kind == "number":
            return self.value
        if self.kind == "best_f1":
            swept = affiliation_curve(scored, None) if curve is None else curve
            return swept.thresholds[first_highest(swept.f1)].item()
        if self.kind == "alarms":
            return _within_budget(scored, self.value)
        if self.kind == "quantile":
            return _quantile(scored, self.value)
        if self.kind not in _NUMBERS:
            raise InputError("a rule for a single series", repr(self.kind), hint=_HINT)
        return _of_scores(scored.scores, self.kind, self.value)

    def notes(self, threshold: Any, judged: Pair) -> list[str]:
        """Say that a threshold found without labels gives no alarm, or alarms most of the time."""
        if self.kind not in (*_NUMBERS, "alarms"):
            return []
        if self.kind == "quantile" and threshold == inf and len(judged.predicted) == 0:
            most = 100 * (1 - self.value)
            why = f"every threshold puts more than {most:g} % of the time in alarm"
            return [f"`{self}` gives no alarm: {why}."]
        if judged.alarmed <= MOST_ALARMED:
            return []
        share = percent_text(judged.alarmed)
        what = f"`{self}` puts {share} of the time in alarm, so that events are caught by chance"
        return [f"{what}: choose a higher threshold, or another rule."]


BEST_F1 = ThresholdRule("best_f1")


def read_rules(
    rules: Any, scored: Collection[str], argument: str = "thresholds"
) -> dict[str, ThresholdRule]:
    """Read a rule for all detectors that gave scores, or a mapping from the names of some."""
    if rules is None:
        return {}
    if not isinstance(rules, Mapping):
        if not scored:
            raise InputTypeError(f"`scores` beside `{argument}`", "none")
        rules = dict.fromkeys(scored, rules)
    read = {}
    for name, rule in rules.items():
        called = name if isinstance(name, str) else shown(name)
        if called not in scored:
            close = get_close_matches(called, scored, n=1)
            names = ", ".join(map(repr, scored)) or "none"
            raise InputError(
                "to name detectors in `scores`",
                shown(name),
                argument=argument,
                hint=(f"Did you mean {close[0]!r}? " if close else "") + f"There are: {names}.",
            )
        if rule is not None:
            with with_names({"threshold": f"{argument}[{called!r}]"}):
                read[called] = ThresholdRule.read(rule)
    return read


def signed_rules(rules: Mapping[str, ThresholdRule]) -> dict[str, Any]:
    """Return the rules of detectors as a signature names them."""
    given = {name: rule.signed for name, rule in rules.items() if rule != BEST_F1}
    best = "best_f1" if len(given) < len(rules) else None
    return {"threshold": best, "thresholds": given or None}


def rule_notes(
    rules: Mapping[str, ThresholdRule], thresholds: Mapping[str, Any], pairs: Mapping[str, Pair]
) -> list[str]:
    """Return what to know of the thresholds of detectors, some of which have no rule."""
    return said_once(
        {
            name: rules[name].notes(thresholds[name], pair) if name in rules else []
            for name, pair in pairs.items()
        }
    )


def _of_scores(scores: NDArray[Any], kind: str, value: float) -> Any:
    """Return the threshold of a rule that looks at nothing but the scores."""
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"finite scores for the rule {kind!r}", "inf", hint="Use a quantile.")
    if kind == "sigma":
        return float(values.mean() + value * values.std())
    if kind == "mad":
        middle = np.median(values)
        return float(middle + value * _TO_SIGMA * np.median(np.abs(values - middle)))
    return _peaks_over_threshold(values, value)


def _read_number(threshold: Any) -> int | float:
    """Read a number; integers stay integers, so that integer scores are compared exactly."""
    # No score is as large as those that do not fit in 64 bits.
    if isinstance(threshold, int | np.integer) and -(2**63) <= threshold < 2**64:
        return int(threshold)
    try:
        number = float(threshold)
    except OverflowError:
        return inf if threshold > 0 else -inf
    if isnan(number):
        raise InputError("to be a number, or inf", "nan", argument="threshold", hint=_HINT)
    return number


def _unknown(rule: Any) -> InputError:
    return InputError(
        "to be a number or a known rule", shown(rule), argument="threshold", hint=_HINT
    )


def _quantile(scored: Scored, quantile: float) -> Any:
    """Return the lowest threshold with at most 1 - q of the time in alarm; inf if there is none."""
    columns = _alarm_columns(scored)
    kept = int(np.count_nonzero(columns.alarmed <= 1 - quantile + _ROUNDING))  # it rises
    if kept == 0 and columns.thresholds[0] == inf:
        raise UndefinedMetricError(
            f"a threshold with at most {100 * (1 - quantile):g} % of the time in alarm",
            f"none: {percent_text(columns.alarmed[0])} of the time has the score inf",
            hint="Give finite scores, or use a lower quantile.",
        )
    return columns.thresholds[kept - 1].item() if kept else inf


def _within_budget(scored: Scored, budget: Any) -> Any:
    """Return the lowest threshold that keeps a budget of alarms, and at most half alarmed."""
    columns = _alarm_columns(scored)
    limits = [
        ThresholdLimit("alarms", "alarms", *read_budget(budget, scored.clock, "the rule 'alarms'")),
        ThresholdLimit("max_alarmed", "alarmed", MOST_ALARMED, at_most=True),
    ]
    return columns.thresholds[np.flatnonzero(keeping_all(columns, limits))[-1]].item()


def _alarm_columns(scored: Scored) -> ThresholdColumns:
    """Return the alarms at every threshold of scores whose truth does not matter."""
    cuts = scored.axis.borders()
    order = descending_order(scored.scores)
    time = np.cumsum(np.diff(cuts)[order], dtype=np.float64) / (scored.stop - scored.start)
    ordered = scored.scores[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    hit = np.zeros(ordered.size, dtype=bool)
    ends = cuts[:-1], cuts[1:]
    alarms = _curve_kernels.count_groups(scored.scores, order, *ends, hit, 0.0)
    unknown, length = np.full(alarms[0].size, np.nan), scored.stop - scored.start
    none = np.zeros(alarms[0].size, dtype=np.int64)
    return ThresholdColumns(ordered[last], unknown, unknown, *alarms, time[last], length, none)


def _peaks_over_threshold(values: NDArray[np.float64], risk: float) -> float:
    r"""Return the level that a new score exceeds with a small probability q.

    The initial step of SPOT: a generalised Pareto distribution is fitted to the excesses over the
    98 % quantile t, and :math:`z = t + (\sigma / \gamma) ((q n / N_t)^{-\gamma} - 1)`.
    """
    from scipy.stats import genpareto

    start = np.quantile(values, _INITIAL)
    excesses = values[values > start] - start
    if excesses.size < _FEWEST_PEAKS:
        raise UndefinedMetricError(
            f"at least {_FEWEST_PEAKS} scores above their {_INITIAL} quantile to fit a tail to",
            f"{excesses.size}",
            hint="Fit on more of the time, or use a quantile.",
        )
    if risk * values.size >= excesses.size:  # no tail is needed for what is so common
        return float(np.quantile(values, 1 - risk))
    shape, _, scale = genpareto.fit(excesses, floc=0)
    return float(start + genpareto.isf(risk * values.size / excesses.size, shape, scale=scale))


@dataclass(frozen=True, slots=True)
class ChosenThreshold:
    """A threshold, and the rule that chose it."""

    threshold: float
    rule: str
    """As a caller would pass it."""
    fitted: bool
    """Whether it was chosen on another part of the time than it is to be judged on."""
    notes: tuple[str, ...]
    """What to know about it: that there is no alarm, or one for more than half of the time."""
    signature: Signature = field(repr=False, compare=False)
    """What decided it, in one line; see `closecall.signature`."""


def choose_threshold(
    truth: Any,
    scores: Any,
    rule: Any = "best_f1",
    *,
    fit: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
) -> ChosenThreshold:
    r"""Choose a threshold by a rule, on all of the time or on the part `fit`.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`; None for the rules that need no labels.
    scores
        One score per sample, higher is more anomalous.
    rule
        ``"best_f1"``, the highest affiliation F1, is the only one that looks at the truth. The
        others are ``"quantile:0.99"``, the lowest threshold with at most 1 % of the time in alarm,
        or inf where so many scores are equal that there is none; ``"sigma:3"``,
        :math:`\text{mean} + 3 \sigma`; ``"mad:3"``, the median and 3 times 1.4826 times the median
        absolute deviation; ``"spot:0.001"``, what a score exceeds with that probability by the
        tail beyond the 98 % quantile; and
        ``"alarms:2/week"``, the lowest threshold that alarms at most that often and at most half of
        the time. A mapping such as ``{"alarms": (2, timedelta(days=7))}`` does as well.
    fit
        The part of the time to choose on: `Events`, pairs or a 0/1 vector. Evaluate on the rest,
        with ``ignore=fit``.
    times, end, span, ignore, max_step, nan
        As in `closecall.affiliation_curve`.

    Returns
    -------
    ChosenThreshold
        ``threshold``, ``rule``, ``fitted`` and ``notes``, which say if there is no alarm on the
        part it was chosen on, or one for more than half of it.

    Examples
    --------
    >>> import closecall as cc
    >>> scores = [0.2, 0.1, 0.9, 0.3, 0.1, 0.2, 0.8, 0.7]
    >>> chosen = cc.choose_threshold(None, scores, "quantile:0.75", fit=[(0, 4)])
    >>> chosen.threshold
    0.9
    >>> alarms = [score >= chosen.threshold for score in scores]
    >>> cc.affiliation([0, 0, 0, 0, 0, 0, 1, 1], alarms, ignore=[(0, 4)]).headline
    '0 of 1 caught, no alarms'
    """
    known = ThresholdRule.read(rule)
    if truth is None:
        if known.looks_at_truth:
            raise InputTypeError(f"for the rule {str(known)!r}", "none", argument="truth")
        scores = read_scores(scores, nan="ignore")
        truth = np.zeros(scores.size, dtype=np.uint8)
    axis = {"times": times, "end": end, "span": span, "max_step": max_step, "nan": nan}
    part: dict[str, Any] = {}
    if fit is None:
        scored = read_scored(truth, scores, **axis, ignore=ignore)
    else:
        scored, _ = fit_and_rest(truth, scores, fit, **axis, ignore=ignore)
        part = {"ignore": None, "fit": fit_text(scored)}
    signature = sign("affiliation", scored, threshold=known.signed, **part)
    threshold = known.choose(scored)
    notes = tuple(known.notes(threshold, scored.at(threshold)))
    return ChosenThreshold(threshold, str(known), fit is not None, notes, signature)
