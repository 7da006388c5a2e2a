"""Choose a threshold from a curve: the best one within limits, or one that other events chose."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isnan, nan
from sys import float_info
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.compiled import interruptible
from closecall.errors import InputError, InputTypeError, UndefinedMetricError, shown
from closecall.fscore import f_measure, first_highest
from closecall.parameters import (
    is_number,
    read_duration,
    read_fraction,
    read_rate,
    require_choice,
    require_count,
)
from closecall.plain import plain
from closecall.wording import in_words, json_number, number_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.affiliation.curve import AffiliationCurve
    from closecall.affiliation.event_scores import EventScores
    from closecall.clock import Clock, Tick
    from closecall.signature import Signature

MOST_ALARMED = 0.5
"""The share of time in alarm above which a budget of alarms means nothing: one endless alarm."""
OBJECTIVES = {"fbeta": "best_f1", "caught": "most_caught"}
"""What a threshold may maximise, and what a signature calls it."""
FEWEST_FOR_FOLDS = 5


@dataclass(frozen=True, slots=True, repr=False)
class OperatingPoint:
    """A threshold and what it gives."""

    threshold: float
    precision: float
    recall: float
    fbeta: float
    """The F-beta that was maximised."""
    beta: float
    caught: int
    """How many true events an alarm overlaps."""
    alarms: int
    """Number of predicted events; with a cooldown, those closer than that count once."""
    false_alarms: int
    """How many of them overlap no true event."""
    alarmed: float
    """The share of the evaluated time that is in alarm."""
    signature: Signature = field(compare=False)
    """What decided these digits, in one line; see `closecall.signature`."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        numbers = [column.name for column in fields(self) if column.name != "signature"]
        values: dict[str, Any] = plain({name: getattr(self, name) for name in numbers})
        return values | {"threshold": json_number(self.threshold)}

    def __repr__(self) -> str:
        return (
            f"OperatingPoint(threshold={self.threshold:.6g}, precision={self.precision:.3f}, "
            f"recall={self.recall:.3f}, f{self.beta:g}={self.fbeta:.3f}, caught={self.caught}, "
            f"alarms={self.alarms}, false_alarms={self.false_alarms})"
        )


class ThresholdColumns(NamedTuple):
    """What is known at each threshold of a series, or of a part of it that lasts `time` ticks."""

    thresholds: NDArray[Any]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    alarms: NDArray[np.int64]
    false_alarms: NDArray[np.int64]
    alarmed: NDArray[np.float64]
    time: Tick
    caught: NDArray[np.int64]


class ThresholdLimit(NamedTuple):
    """A bound on one column, in the caller's own unit; ``scale`` is what 1 there means here."""

    option: str
    column: str
    bound: float
    at_most: bool
    scale: float = 1.0
    unit: str = ""

    def values(self, columns: ThresholdColumns) -> NDArray[np.float64]:
        """Return the column in the unit of the bound."""
        values: NDArray[Any] = getattr(columns, self.column)
        return values if not self.unit else values * (self.scale / columns.time)

    def kept(self, columns: ThresholdColumns) -> NDArray[np.bool_]:
        """Return at which thresholds the limit is kept; counts are compared exactly."""
        values: NDArray[Any] = getattr(columns, self.column)
        if not self.at_most:
            return values >= self.bound
        return values <= (self.bound if not self.unit else self.bound * columns.time / self.scale)

    def missed_by(self, columns: ThresholdColumns) -> NDArray[np.float64]:
        """Return how far each threshold is from keeping it, as a share of the bound or of 1."""
        away = self.values(columns) - self.bound
        with np.errstate(over="ignore"):
            return np.maximum(away if self.at_most else -away, 0) / (self.bound or 1.0)

    def told(self, columns: ThresholdColumns, index: int) -> str:
        """Write what a threshold gives beside what was asked for."""
        name = self.column.replace("_", " ")
        value, bound = float(self.values(columns)[index]), self.bound
        sense = "at most" if self.at_most else "at least"
        return f"{name} {_apart(value, bound)}{self.unit} ({sense} {bound:g} asked)"


def _apart(value: float, bound: float) -> str:
    """Write three digits, or as many as tell the value from the bound."""
    texts = (f"{value:.{digits}g}" for digits in range(3, 18))
    told = (
        text for text in texts if float(text) != bound and (float(text) > bound) == (value > bound)
    )
    return next(told, f"{value:.3g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Limits that a chosen threshold must keep, as the caller gave them."""

    min_precision: float | None = None
    min_recall: float | None = None
    max_alarms_per: Any = None
    max_false_alarms_per: Any = None
    max_alarmed: float | None = None
    cooldown: Any = None
    objective: str = "fbeta"

    def __post_init__(self) -> None:
        require_choice(self.objective, "objective", OBJECTIVES)
        for name in ("max_alarms_per", "max_false_alarms_per"):
            object.__setattr__(self, name, read_rate(getattr(self, name), name))

    def limits(self, clock: Clock) -> list[ThresholdLimit]:
        """Check the constraints, and return those that were given."""
        found = [
            ThresholdLimit(name, column, read_fraction(value, name), at_most)
            for name, column, value, at_most in (
                ("min_precision", "precision", self.min_precision, False),
                ("min_recall", "recall", self.min_recall, False),
                ("max_alarmed", "alarmed", self.max_alarmed, True),
            )
            if value is not None
        ]
        budgets = [
            ThresholdLimit(name, column, *read_budget(value, clock, name))
            for name, column, value in (
                ("max_alarms_per", "alarms", self.max_alarms_per),
                ("max_false_alarms_per", "false_alarms", self.max_false_alarms_per),
            )
            if value is not None
        ]
        if (budgets or self.objective == "caught") and self.max_alarmed is None:
            found.append(ThresholdLimit("max_alarmed", "alarmed", MOST_ALARMED, at_most=True))
        return found + budgets

    @property
    def signed(self) -> dict[str, Any]:
        """The objective and the limits as a signature names them."""
        given = {option.name: getattr(self, option.name) for option in fields(self)}
        del given["objective"]
        limits = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }
        return {"threshold": OBJECTIVES[self.objective], **limits}

    def cooldown_ticks(self, clock: Clock) -> float:
        """Return how long a pause must be for two alarms to count twice."""
        return 0.0 if self.cooldown is None else read_duration(self.cooldown, clock, "cooldown")


def best_index(
    columns: ThresholdColumns, beta: float, limits: list[ThresholdLimit], objective: str
) -> int:
    """Return the best threshold among those that keep every limit, the highest of equal ones.

    It has the highest F-beta, or catches most events, with the fewest false alarms, and then has
    the highest F-beta.
    """
    values = interruptible(f_measure, columns.precision, columns.recall, beta)
    allowed = keeping_all(columns, limits)
    if objective == "caught":
        for counts in (columns.caught, -columns.false_alarms):
            allowed &= counts == counts[allowed].max()
    values[~allowed] = -1.0
    return first_highest(values)


def keeping_all(columns: ThresholdColumns, limits: list[ThresholdLimit]) -> NDArray[np.bool_]:
    """Return which thresholds keep every limit; raise if none does, and tell the nearest."""
    allowed = np.ones(len(columns.thresholds), dtype=bool)
    for limit in limits:
        allowed &= limit.kept(columns)
    if not allowed.any():
        away = np.max([limit.missed_by(columns) for limit in limits], axis=0)
        near = int(away.argmin())
        told = [limit.told(columns, near) for limit in limits if not limit.kept(columns)[near]]
        raise UndefinedMetricError(
            "a threshold within the constraints",
            f"none; the nearest is {columns.thresholds[near].item():.6g} with "
            + " and ".join(told),
            hint="Loosen a constraint.",
        )
    return allowed


def read_budget(value: Any, clock: Clock, name: str) -> tuple[float, bool, float, str]:
    """Read a count per duration: the count, that it is a maximum, the duration and its name."""
    dated = clock.kind == "datetime"
    count, duration = (value, 1) if is_number(value) and not dated else (None, None)
    if count is None:
        try:
            count, duration = value
        except (TypeError, ValueError):
            example = "'2/day' or (2, timedelta(days=1))" if dated else "'3/100' or (3, 100)"
            raise InputTypeError(
                "to be a count and a duration", shown(value), argument=name, hint=f"Pass {example}."
            ) from None
    count = count.item() if isinstance(count, np.generic) else count
    if not is_number(count) or not 0 <= count <= float_info.max:
        raise InputError(f"the count in `{name}` to be 0 or more", shown(count))
    ticks = read_duration(duration, clock, f"{name}[1]")
    if ticks == 0:
        raise InputError(f"the duration in `{name}` to be above 0", shown(duration))
    return float(count), True, ticks, f" per {duration_text(ticks, clock)}"


def duration_text(ticks: float, clock: Clock) -> str:
    """Write a length of time as the caller would."""
    return in_words(ticks * clock.seconds) if clock.kind == "datetime" else number_text(ticks)


@dataclass(frozen=True, repr=False, eq=False)
class CrossFitted:
    """Scores of events, each at a threshold that was chosen without them."""

    precision: float
    """Mean individual precision over the events where it is defined, in [0, 1]."""
    recall: float
    """Mean individual recall over all events, in [0, 1]."""
    beta: float
    """The F-beta that each threshold maximises on the other folds."""
    thresholds: NDArray[Any]
    """The threshold of each fold."""
    folds: NDArray[np.int64]
    """The fold of each event; the events of one follow each other."""
    caught: int
    """How many events an alarm overlaps, at their own thresholds."""
    signature: Signature
    """What decided these digits, in one line; see `closecall.signature`."""

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> float:
        """Weighted harmonic mean of precision and recall; recall weighs beta times as much."""
        return float(f_measure(self.precision, self.recall, beta))

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest threshold."""
        return self.thresholds.min().item(), self.thresholds.max().item()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes."""
        return {
            "precision": None if isnan(self.precision) else self.precision,
            "recall": self.recall,
            "f1": None if isnan(self.f1) else self.f1,
            "beta": self.beta,
            "caught": self.caught,
            "thresholds": [json_number(value) for value in self.thresholds.tolist()],
            "folds": self.folds.tolist(),
        }

    def __repr__(self) -> str:
        low, high = self.spread
        return (
            f"CrossFitted(precision={self.precision:.3f}, recall={self.recall:.3f}, "
            f"f1={self.f1:.3f}, thresholds {low:.6g} to {high:.6g} in {self.thresholds.size} folds)"
        )


def split_events(count: int, folds: Any) -> NDArray[np.int64]:
    """Return the fold of each of so many events, in consecutive folds of nearly one size."""
    require_count(folds, "folds", 2)
    if count < FEWEST_FOR_FOLDS:
        raise UndefinedMetricError(
            f"at least {FEWEST_FOR_FOLDS} true events to cross-fit a threshold",
            f"{count}",
            hint="With so few, one event decides the threshold of all others. Choose the threshold "
            "on another part of the time, or on other series.",
            code="few_events",
        )
    if folds > count:
        raise InputError(f"to be at most the {count} true events", shown(folds), argument="folds")
    return np.arange(count) * int(folds) // count


def cross_fit(
    curve: AffiliationCurve,
    columns_of: Callable[..., ThresholdColumns],
    beta: float,
    folds: int,
    constraints: Constraints,
) -> CrossFitted:
    """Choose a threshold for each fold on the others, and score its events there."""
    scored = curve.scored
    fold_of = split_events(len(scored.truth), folds)
    limits, pause = constraints.limits(scored.clock), constraints.cooldown_ticks(scored.clock)
    thresholds = np.empty(int(folds), dtype=curve.thresholds.dtype)
    precision, recall = np.empty(fold_of.size), np.empty(fold_of.size)
    caught = 0
    at: dict[Any, EventScores] = {}
    for fold in range(int(folds)):
        first, after = np.searchsorted(fold_of, [fold, fold + 1])
        columns = columns_of(pause, without=(int(first), int(after)))
        chosen = columns.thresholds[best_index(columns, beta, limits, constraints.objective)]
        events = at.setdefault(chosen.item(), curve.events_at(chosen))
        rows = slice(first, after)
        thresholds[fold] = chosen
        precision[rows], recall[rows] = events.precision[rows], events.recall[rows]
        caught += int(np.count_nonzero(events.caught[rows]))
    defined = ~np.isnan(precision)
    mean = float(precision[defined].mean()) if defined.any() else nan
    chosen_by = {"folds": int(folds), "beta": beta}
    return CrossFitted(
        precision=mean,
        recall=float(recall.mean()),
        beta=float(beta),
        thresholds=thresholds,
        folds=fold_of,
        caught=caught,
        signature=curve.signature.adding(**chosen_by, **constraints.signed),
    )


def frontier(
    false_alarms: NDArray[np.int64], caught: NDArray[np.int64], usable: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the thresholds that catch more than any with as few false alarms, fewest first."""
    rows = np.flatnonzero(usable)
    rows = rows[np.lexsort((-caught[rows], false_alarms[rows]))]
    best = np.maximum.accumulate(caught[rows])
    return rows[np.concatenate((best[:1] >= 0, best[1:] > best[:-1]))]
