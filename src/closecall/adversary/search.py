"""The best-scoring uninformative prediction against one metric."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf, isnan, nan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.adversary.families import MOST_TRIED, Contest, plan, read_families
from closecall.adversary.predictions import EventsInSpan, Prediction, read_events_in_span
from closecall.affiliation import affiliation
from closecall.errors import (
    ClosecallError,
    InputError,
    InputTypeError,
    UndefinedMetricError,
    first_line,
    shown,
    with_names,
)
from closecall.evaluate import evaluate
from closecall.events import Events
from closecall.metrics.registry import METRICS, REQUIRED, Metric, find, read_metrics
from closecall.metrics.result import changed, parameters_of
from closecall.parameters import require_count, takes
from closecall.series import read_pair
from closecall.signature import pairs_text, sign

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from closecall.events import Intervals
    from closecall.signature import Signature


Values = dict[str, dict[str, float]]  # by metric, and by the name of the number


def affiliation_above_chance(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> dict[str, float]:
    """Return affiliation precision, recall and F1 above chance: 0 at its level, 1 if perfect."""
    result = affiliation(truth, predicted, times=times, end=end, span=span)
    return {name: getattr(result, f"{name}_above_chance") for name in ABOVE_CHANCE.gives}


ABOVE_CHANCE = Metric(
    affiliation_above_chance, "Huet et al., KDD 2022", "affiliation", "both", lowest=-inf
)
AUDITED = {"affiliation": METRICS["affiliation"], ABOVE_CHANCE.name: ABOVE_CHANCE, **METRICS}
"""What can be audited: the metrics, and affiliation's scores above chance as if they were one."""


def audited(name: str) -> Metric:
    """Return the metric of a name, or raise with the nearest name."""
    return AUDITED[name] if name in AUDITED else find(name)


@dataclass(frozen=True)
class Judge:
    """Metrics with their parameters, the truth, and the axis it is on."""

    truth: Any
    metrics: dict[str, dict[str, Any]]
    axis: dict[str, Any]

    def values(self, predicted: Any) -> Values:
        """Return every number of every metric; lengths of time are in seconds."""
        metrics = {name: parameters for name, parameters in self.metrics.items() if name in METRICS}
        row = evaluate(self.truth, predicted, metrics=metrics, **self.axis) if metrics else {}
        return {
            name: {
                number: _plain(row[name if number == "value" else f"{name}_{number}"])
                for number in find(name).gives
            }
            if name in metrics
            else affiliation_above_chance(self.truth, predicted, **self.axis)
            for name in self.metrics
        }


def read_judge(
    truth: Any, predicted: Any, metrics: Any, axis: dict[str, Any]
) -> tuple[Judge, dict[str, str]]:
    """Choose the metrics, and say which of the defaults cannot be computed on these inputs."""
    if metrics is not None:
        chosen = read_metrics(metrics)
        for name, parameters in chosen.items():
            require_labels(audited(name))
            audited(name).check(parameters)
        return Judge(truth, chosen, axis), {}
    # What is wrong with the input is an error; what one metric cannot take is not.
    read_pair(truth, predicted, **axis)
    chosen, left_out = {}, {}
    for name, entry in AUDITED.items():
        if entry.takes == "labels" and REQUIRED not in entry.parameters.values():
            try:
                Judge(truth, {name: {}}, axis).values(predicted)
            except ClosecallError as error:
                left_out[name] = first_line(error)
            else:
                chosen[name] = {}
    return Judge(truth, chosen, axis), left_out


def require_labels(entry: Metric) -> None:
    """Raise if a metric judges scores, which these predictions have none of."""
    if entry.takes != "labels":
        rule = "metrics that judge 0/1 predictions"
        raise InputError(rule, f"{entry.name!r}, which judges scores")


def main_number(entry: Metric) -> str:
    """Name the number by which predictions are compared: F1 if there is one, else the first."""
    return "f1" if "f1" in entry.gives else entry.gives[0]


def main_numbers(values: Values) -> dict[str, float]:
    """Return that number of each metric."""
    return {name: row[main_number(audited(name))] for name, row in values.items()}


def merit(entry: Metric | None, score: float) -> float:
    """Turn a score so that higher is better, as it is without an entry; undefined is the worst."""
    if isnan(score):
        return -inf
    return score if entry is None or entry.higher_is_better else -score


def _plain(value: Any) -> float:
    if isinstance(value, np.timedelta64):
        return nan if np.isnat(value) else float(value / np.timedelta64(1, "s"))
    return float(value)


@dataclass(frozen=True)
class Trial:
    """What was tried, and its score; of a random prediction, its median draw."""

    family: str
    parameters: dict[str, Any]
    score: float
    draws: int = 1
    """How many draws that is the median of: 1 if it is not random."""
    judged: bool = True
    """Whether the score is one to compare: not random, or of draws that had no say in a choice."""


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """The best uninformative prediction, and everything that was tried."""

    metric: str
    score: float
    prediction: Prediction
    """A 0/1 vector, or `Events`: the kind of the truth."""
    family: str
    parameters: dict[str, Any]
    """What builds it again; ``event`` is the number of the true event that it starts from."""
    knows: int
    """How many true events the prediction was built from: 0 or 1."""
    tried: tuple[Trial, ...]
    left_out: dict[str, str]
    """Families that could not be built on this series, and why."""
    signature: Signature
    """What decided these digits, in one line; see `closecall.signature`."""

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return (
            f"Found({self.metric}={self.score:.3f} by {self.family}({values}), "
            f"best of {len(self.tried)} tried)"
        )


def search(
    metric: str | Callable[[Any, Any], Any],
    truth: Any,
    *,
    families: Iterable[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    trivial: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    seed: int = 0,
    budget: int = 200,
) -> Found:
    """Find the prediction that scores best under a metric though it carries no information.

    Every family of predictions is tried with several parameters. ``alternating`` is `from_trivial`
    and ``composite`` is `against_composite`, each started from one true event (which one, and how
    many predictions are added, varies); ``everything``, ``random_points`` (counts vary) and
    ``random_ranges`` (counts and lengths vary) know nothing of the truth. The same arguments always
    give the same result.

    A random prediction is drawn five times, and its median draw says how it ranks. The best of many
    such medians owes much to luck, so the best three of each random family are drawn 25 times
    afresh, and the best of these 25 times more: the median of those last draws, which had no say in
    any choice, is the score that is compared and reported.

    Parameters
    ----------
    metric
        A name from `closecall.metrics.table`, of a metric that judges 0/1 predictions: its F1 is
        compared, or its only value. Or a function ``(truth, predicted)`` that returns a number,
        higher being better, or an object with ``f1`` or ``value``.
    truth
        A 0/1 vector, or `Events`; predictions are of the same kind.
    families
        Names of families; all by default.
    parameters
        The metric's own parameters, where it is given by name.
    trivial
        What ``alternating`` and ``composite`` start from, of the kind of `truth`: one event, which
        meets one true event. By default each true event in turn, the longest first.
    times, end, span
        As in `closecall.affiliation`; they go to a metric that is given by name.
    seed
        Of the random predictions.
    budget
        How many predictions to score in search of the best, about; at least one of each family
        is. The fresh draws of the best random ones come on top.

    Returns
    -------
    Found
        The prediction, its score, its family and parameters, and all that was tried.

    Examples
    --------
    >>> from closecall import adversary
    >>> truth = [0] * 30 + [1] * 20 + [0] * 30 + [1] * 20
    >>> found = adversary.search("classical", truth, families=["everything", "alternating"])
    >>> found
    Found(classical=0.571 by everything(), best of 3 tried)
    """
    chosen = read_families(families)
    require_count(seed, "seed", 0)
    require_count(budget, "budget", 1, MOST_TRIED)
    series = read_truth(truth, trivial, span)
    axis = {"times": times, "end": end, "span": span}
    given: Any = {} if parameters is None else parameters
    if not isinstance(given, Mapping):
        raise InputTypeError("to be a mapping by name", shown(given), argument="parameters")
    name, score, entry = _scorer(metric, truth, dict(given), axis)
    attempts, left_out = plan(series, chosen, seed=seed, budget=budget)
    if not attempts:
        reasons = "; ".join(f"{family}: {reason}" for family, reason in left_out.items())
        raise UndefinedMetricError("a family that fits this series", reasons)

    named = None if families is None else "/".join(family.name for family in chosen)
    asked = {"metric": metric, "parameters": pairs_text(given) or None, "families": named}
    options = axis if entry else {"span": span if isinstance(truth, Events) else None}
    pair = read_pair(truth, truth if trivial is None else trivial, **options)
    contest = Contest(attempts, series, [name], score, lambda _, values: merit(entry, values))
    contest.hold()
    judged = contest.judged(name)
    best = max(judged, key=lambda index: contest.worth(name, judged[index][1]))
    trials = []
    for index, attempt in enumerate(attempts):
        number = max(number for at, number in contest.draws if at == index)
        how, value = contest.median(name, index, number)
        drawn = len(contest.draws[index, number])
        trials.append(Trial(attempt.family.name, how, value, drawn, index in judged))
    family, trial = attempts[best].family, trials[best]
    return Found(
        metric=name,
        score=trial.score,
        prediction=series.as_given(family.build(series, **trial.parameters)),
        family=trial.family,
        parameters=trial.parameters,
        knows=family.knows,
        tried=tuple(trials),
        left_out=left_out,
        signature=sign(
            {"search": changed(asked, parameters_of(search))},
            pair,
            samples=True,
            seed=seed,
            budget=budget,
        ),
    )


def read_truth(truth: Any, trivial: Any, span: Any) -> EventsInSpan:
    """Read the truth, and the trivial event beside it if there is one."""
    own_span = span if isinstance(truth, Events) else None
    series = read_events_in_span(truth, "truth", own_span)
    if len(series.events) == 0:
        raise UndefinedMetricError("at least one true event", "none in `truth`")
    if trivial is None:
        return series
    with with_names({"predicted": "trivial"}):
        # Read as a pair, so that both are of one kind, of one length and on one clock.
        pair = read_pair(truth, trivial, span=own_span)
    _require_one_true(pair.truth, pair.predicted)
    return EventsInSpan(pair.truth, pair.start, pair.stop, series.samples, pair.predicted)


def _require_one_true(truth: Intervals, trivial: Intervals) -> None:
    """Raise unless it is one event that lasts and meets a true one: others would tell too much."""
    rule = "to be one event, which is true in part or as a whole"
    hint = "Any one true event will do; `adversary.trivial_event` makes one of a rule."
    if len(trivial) != 1:
        raise InputError(
            rule,
            f"{len(trivial)} events" if len(trivial) else "none",
            argument="trivial",
            hint=hint,
        )
    if trivial.stops[0] == trivial.starts[0]:
        raise InputError(rule, f"a point, {trivial.text(0)}", argument="trivial", hint=hint)
    met = (truth.starts < trivial.stops[0]) & (truth.stops > trivial.starts[0])
    if met.sum() != 1:
        got = f"{trivial.text(0)}, which meets {met.sum()} true events"
        raise InputError(rule, got, argument="trivial", hint=hint)


def _scorer(
    metric: Any, truth: Any, parameters: dict[str, Any], axis: dict[str, Any]
) -> tuple[str, Callable[[Any], float], Metric | None]:
    """Return the metric's name, a function of a prediction, and its entry in the registry."""
    if isinstance(metric, str):
        entry = audited(metric)
        require_labels(entry)
        entry.check(parameters, alone=True)
        judge, number = Judge(truth, {metric: parameters}, axis), main_number(entry)
        return metric, lambda predicted: judge.values(predicted)[metric][number], entry
    if not takes(metric, 2):
        rule = "to be a name or a function (truth, predicted)"
        raise InputTypeError(rule, shown(metric), argument="metric")
    for name, value in {"parameters": parameters or None, "times": axis["times"]}.items():
        if value is not None:
            hint = "Let the function pass it on: `lambda truth, predicted: ...`."
            raise InputTypeError(f"no `{name}` beside a function", f"`{name}`", hint=hint)
    name = getattr(metric, "__name__", type(metric).__name__)
    return name, lambda predicted: _number(metric(truth, predicted)), None


def _number(result: Any) -> float:
    result = getattr(result, "f1", getattr(result, "value", result))
    if isinstance(result, Real):
        with suppress(OverflowError):
            return float(result)
    rule = "to return a number, or an object with `f1` or `value`"
    raise InputTypeError(rule, shown(result), argument="metric")
