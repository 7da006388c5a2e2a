"""The best-scoring uninformative prediction against one metric."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from closecall.adversary.canvas import Canvas, Prediction, read_canvas, read_trivial
from closecall.adversary.families import plan, read_families
from closecall.adversary.judge import Judge, merit, require_labels
from closecall.errors import InputTypeError, UndefinedMetricError, expected
from closecall.events import Events
from closecall.metrics.registry import find
from closecall.pair import read_pair
from closecall.whole import require_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from closecall.adversary.families import Attempt
    from closecall.intervals import Intervals


@dataclass(frozen=True)
class Trial:
    """What was tried, and its score; of a random prediction, its median draw."""

    family: str
    parameters: dict[str, Any]
    score: float


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
    ``random_ranges`` (counts and lengths vary) know nothing of the truth. A random prediction is
    drawn five times and its median draw counts, so that luck is not taken for a weakness. The
    same arguments always give the same result.

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
        What ``alternating`` and ``composite`` start from, of the kind of `truth`; by default each
        true event in turn, the longest first.
    times, end, span
        As in `closecall.affiliation`; they go to a metric that is given by name.
    seed
        Of the random predictions.
    budget
        How many predictions to score, about; at least one of each family is.

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
    require_whole(seed, "seed", 0)
    require_whole(budget, "budget", 1)
    canvas = read_truth(truth, trivial, span)
    axis = {"times": times, "end": end, "span": span}
    name, score, higher_is_better = _scorer(metric, truth, dict(parameters or {}), axis)
    attempts, left_out = plan(canvas, chosen, seed=seed, budget=budget)
    outcomes = [
        median_draw(attempt, canvas, score, higher_is_better=higher_is_better)
        for attempt in attempts
    ]
    best = max(
        range(len(outcomes)),
        key=lambda index: merit(outcomes[index][2], higher_is_better=higher_is_better),
        default=None,
    )
    if best is None:
        reasons = "; ".join(f"{family}: {reason}" for family, reason in left_out.items())
        raise UndefinedMetricError(expected("a family that fits this series", reasons))
    built, drawn, value = outcomes[best]
    return Found(
        metric=name,
        score=value,
        prediction=canvas.show(drawn),
        family=attempts[best].family.name,
        parameters=built,
        knows=attempts[best].family.knows,
        tried=tuple(
            Trial(attempt.family.name, outcome[0], outcome[2])
            for attempt, outcome in zip(attempts, outcomes, strict=True)
        ),
        left_out=left_out,
    )


def read_truth(truth: Any, trivial: Any, span: Any) -> Canvas:
    """Read the truth, and the trivial event beside it if there is one."""
    own_span = span if isinstance(truth, Events) else None
    canvas = read_canvas(truth, "truth", own_span)
    if len(canvas.events) == 0:
        raise UndefinedMetricError(expected("at least one true event", "none in `truth`"))
    if trivial is None:
        return canvas
    read_trivial(trivial, own_span)
    # Read as a pair, so that both are of one kind, of one length and on one clock.
    pair = read_pair(truth, trivial, span=own_span)
    return Canvas(pair.truth, pair.start, pair.stop, canvas.samples, pair.predicted)


def median_draw(
    attempt: Attempt, canvas: Canvas, score: Callable[[Any], float], *, higher_is_better: bool
) -> tuple[dict[str, Any], Intervals, float]:
    """Score every draw, and return the middle one: how it was built, itself, and its score."""
    scored = [
        (parameters, drawn, score(canvas.show(drawn)))
        for parameters, drawn in attempt.draws(canvas)
    ]
    scored.sort(key=lambda outcome: merit(outcome[2], higher_is_better=higher_is_better))
    return scored[len(scored) // 2]


def _scorer(
    metric: Any, truth: Any, parameters: dict[str, Any], axis: dict[str, Any]
) -> tuple[str, Callable[[Any], float], bool]:
    """Turn the metric into its name, a function of a prediction, and its direction."""
    if isinstance(metric, str):
        entry = find(metric)
        require_labels(entry)
        judge = Judge(truth, {metric: parameters}, axis)
        return metric, lambda predicted: judge.scores(predicted)[metric], entry.higher_is_better
    if not callable(metric):
        raise InputTypeError(
            expected("`metric` to be a name or a function (truth, predicted)", f"{metric!r:.80}")
        )
    for name, value in {"parameters": parameters or None, "times": axis["times"]}.items():
        if value is not None:
            raise InputTypeError(
                expected(
                    f"no `{name}` beside a function",
                    f"`{name}`",
                    "Let the function pass it on: `lambda truth, predicted: ...`.",
                )
            )
    name = getattr(metric, "__name__", type(metric).__name__)
    return name, lambda predicted: _number(metric(truth, predicted)), True


def _number(result: Any) -> float:
    for attribute in ("f1", "value"):
        if hasattr(result, attribute):
            return float(getattr(result, attribute))
    if isinstance(result, Real):
        return float(result)
    raise InputTypeError(
        expected(
            "`metric` to return a number, or an object with `f1` or `value`", f"{result!r:.80}"
        )
    )
