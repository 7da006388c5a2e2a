"""What is asked of every series of a batch: which columns, which metrics, which threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation.rules import ThresholdRule
from closecall.errors import InputError, InputTypeError, UndefinedMetricError, expected
from closecall.metrics.registry import METRICS, find
from closecall.series import Pair, Scored, read_pair, read_scored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.metrics.registry import Metric

Disorder = Literal["error", "sort", "index"]

DETECTOR = "detector"
COUNTS = (
    "samples",
    "true_samples",
    "predicted_samples",
    "hit_samples",
    "true_events",
    "predicted_events",
)
ALARMED = "alarmed_events"  # true events with a prediction in their zone: precision is defined
CHANCE = ("chance_precision", "chance_recall", "chance_f1")

_DISORDERS = ("error", "sort", "index")
_TAKEN = {"status", "reason", "threshold", "event", *COUNTS, ALARMED, *CHANCE}


@dataclass(frozen=True)
class BatchOptions:
    """Every option of a batch that decides a number; frozen, and sent to workers as it is.

    Examples
    --------
    >>> options = BatchOptions.read(by="series", truth="label", score=["a", "b"], time="t")
    >>> options.columns
    ('series', 't', 'label', 'a', 'b')
    >>> options.detectors, options.metric_columns[-1]
    (('a', 'b'), 'affiliation_average_precision')
    """

    by: tuple[str, ...]
    """Columns whose values tell the series apart; none if the table is one series."""
    truth: str
    """Column of 0/1 labels."""
    scores: tuple[str, ...]
    """Columns of scores, one for each detector; empty if `predicted` is given."""
    predicted: tuple[str, ...]
    """Columns of 0/1 predictions, one for each detector; empty if `scores` is given."""
    time: str | None
    """Column of times; the numbers of the samples if None."""
    threshold: ThresholdRule
    """How scores become predictions."""
    metrics: tuple[tuple[str, dict[str, Any]], ...]
    """Names of metrics, with their parameters."""
    per_event: bool = False
    """Whether there is also one row per true event."""
    disorder: Disorder = "error"
    """What is done with a series whose times repeat or go back."""
    strict: bool = False
    """Whether the first series in trouble raises."""
    shared: dict[str, float] = field(default_factory=dict)
    """Thresholds by detector, once ``best_f1_global`` has found them."""

    @classmethod
    def read(
        cls,
        *,
        by: str | Iterable[str] | None = (),
        truth: str,
        score: str | Iterable[str] | None = None,
        predicted: str | Iterable[str] | None = None,
        time: str | None = None,
        threshold: Any = None,
        metrics: Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
        per_event: bool = False,
        disorder: Disorder = "error",
        strict: bool = False,
    ) -> BatchOptions:
        """Check every option of `closecall.evaluate_frame` that decides a number."""
        scores, labels = _one_kind(score, predicted)
        require_disorder(disorder)
        chosen = _read_metrics(metrics, scored=bool(scores), timed=time is not None)
        options = cls(
            by=() if by is None else _names(by, "by"),
            truth=_name(truth, "truth"),
            scores=scores,
            predicted=labels,
            time=None if time is None else _name(time, "time"),
            threshold=_read_threshold(threshold, chosen, per_event, scored=bool(scores)),
            metrics=chosen,
            per_event=_flag(per_event, "per_event"),
            disorder=disorder,
            strict=_flag(strict, "strict"),
        )
        options._refuse_clashes()
        return options

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names of the columns that are evaluated."""
        return self.scores or self.predicted

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read: by, time, truth, detectors."""
        time = () if self.time is None else (self.time,)
        return (*self.by, *time, self.truth, *self.detectors)

    @property
    def is_long(self) -> bool:
        """Whether the table says in a column of its own which detector a row belongs to."""
        return DETECTOR in self.by

    @cached_property
    def entries(self) -> tuple[tuple[Metric, dict[str, Any]], ...]:
        """What the registry knows of the metrics, with their parameters."""
        return tuple((METRICS[name], parameters) for name, parameters in self.metrics)

    @cached_property
    def metric_columns(self) -> tuple[str, ...]:
        """Names of the numbers in a row, as in `closecall.evaluate`."""
        return tuple(
            entry.name if given == "value" else f"{entry.name}_{given}"
            for entry, _ in self.entries
            for given in entry.gives
        )

    def metric_of(self, column: str) -> Metric:
        """Return which metric a number of a row belongs to."""
        names = [entry for entry, _ in self.entries for _ in entry.gives]
        return names[self.metric_columns.index(column)]

    @cached_property
    def has_affiliation(self) -> bool:
        """Whether the affiliation metrics of labels are asked for."""
        return any(name == "affiliation" for name, _ in self.metrics)

    @cached_property
    def has_average_precision(self) -> bool:
        """Whether the affiliation average precision of scores is asked for."""
        return any(name == "affiliation_average_precision" for name, _ in self.metrics)

    @property
    def chance_columns(self) -> tuple[str, ...]:
        """Names of the levels of chance in a row."""
        return CHANCE if self.has_affiliation else ()

    @property
    def needs_curve(self) -> bool:
        """Whether the curve over all thresholds is needed for each series."""
        return self.has_average_precision or self.threshold.kind == "best_f1"

    @property
    def needs_event_scores(self) -> bool:
        """Whether each true event is to be scored."""
        return self.per_event or self.has_affiliation

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns of the result after `by`, in their order."""
        detector = () if self.is_long else (DETECTOR,)
        alarmed = (ALARMED,) if self.has_affiliation else ()
        head = (*detector, "status", "reason", *COUNTS, *alarmed, "threshold")
        return (*head, *self.metric_columns, *self.chance_columns)

    @cached_property
    def blank_row(self) -> dict[str, Any]:
        """A row of which nothing is known yet: None for texts and counts, nan for numbers."""
        numbers = {"threshold", *self.metric_columns, *self.chance_columns}
        return {name: nan if name in numbers else None for name in self.row_columns}

    def with_thresholds(self, shared: Mapping[str, float]) -> BatchOptions:
        """Fix the thresholds that all series of a detector share."""
        return replace(self, shared=dict(shared))

    def describe(self, fingerprint: str) -> dict[str, str]:
        """Return what is asked of which data, as text that is the same if and only if they are."""
        # Neither `strict` nor what was computed decides what is asked.
        named = [one.name for one in fields(self) if one.name not in {"strict", "shared"}]
        values = {name: getattr(self, name) for name in named}
        texts = {
            "score" if name == "scores" else name: str(value)
            if name == "threshold"
            else repr(value)
            for name, value in values.items()
        }
        return {"closecall": installed_version(), "data": fingerprint, **texts}

    def _refuse_clashes(self) -> None:
        repeated = [name for name, count in Counter(self.columns).items() if count > 1]
        if repeated:
            raise InputError(
                expected("each column to have one role", f"{repeated[0]!r} in more than one")
            )
        taken = [name for name in self.by if name in _TAKEN or name in self.metric_columns]
        if taken:
            raise InputError(
                expected(
                    "`by` columns not to be called like columns of the result",
                    f"{taken[0]!r}",
                    "Rename the column.",
                )
            )
        if self.is_long and len(self.detectors) > 1:
            raise InputError(
                expected(
                    f"one column to evaluate where {DETECTOR!r} is among `by`",
                    f"{len(self.detectors)}",
                    "Rename the column if it does not say which detector a row belongs to.",
                )
            )


def require_disorder(disorder: Any) -> None:
    """Raise for a `disorder` that is none of the three."""
    if disorder not in _DISORDERS:
        raise InputError(expected('`disorder` to be "error", "sort" or "index"', f"{disorder!r}"))


def _name(value: Any, argument: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputTypeError(expected(f"`{argument}` to be the name of a column", f"{value!r:.80}"))
    return value


def _names(value: Any, argument: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_name(value, argument),)
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise InputTypeError(
            expected(f"`{argument}` to be a column or a list of columns", f"{value!r:.80}")
        )
    return tuple(_name(one, argument) for one in value)


def _one_kind(score: Any, predicted: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if (score is None) == (predicted is None):
        raise InputTypeError(
            expected(
                "either `score` or `predicted`",
                "neither" if score is None else "both",
                "Columns of scores are cut at a threshold; columns of 0/1 predictions are taken "
                "as they are. Evaluate the two kinds in two calls.",
            )
        )
    kind, value = ("score", score) if predicted is None else ("predicted", predicted)
    names = _names(value, kind)
    if not names:
        raise InputError(expected(f"`{kind}` to name at least one column", "none"))
    return (names, ()) if kind == "score" else ((), names)


def _flag(value: Any, argument: str) -> bool:
    if not isinstance(value, bool):
        raise InputTypeError(expected(f"`{argument}` to be True or False", f"{value!r:.80}"))
    return value


def _read_metrics(
    metrics: Any, *, scored: bool, timed: bool
) -> tuple[tuple[str, dict[str, Any]], ...]:
    if metrics is None:
        names = ("affiliation", "affiliation_average_precision")[: 1 + scored]
        return tuple((name, {}) for name in names)
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InputTypeError(
            expected("`metrics` to be names in a list", repr(metrics), f"Pass [{metrics!r}].")
        )
    asked = metrics if isinstance(metrics, Mapping) else {name: {} for name in metrics}
    if not asked:
        raise InputError(expected("`metrics` to name at least one metric", "none"))
    chosen = []
    for name, parameters in asked.items():
        entry = find(name)
        if entry.takes == "scores" and not scored:
            raise InputTypeError(expected(f"`score` for the metric {name!r}", "`predicted`"))
        entry.check(parameters)
        try_metric(entry, parameters, timed=timed)
        chosen.append((entry.name, dict(parameters)))
    return tuple(chosen)


def _read_threshold(
    threshold: Any,
    metrics: tuple[tuple[str, dict[str, Any]], ...],
    per_event: bool,
    *,
    scored: bool,
) -> ThresholdRule:
    if not scored:
        if threshold is not None:
            raise InputTypeError(
                expected("no `threshold` beside `predicted`", f"{threshold!r:.80}")
            )
        return ThresholdRule("number")
    rule = ThresholdRule.read(threshold)
    needed = per_event or any(METRICS[name].takes == "labels" for name, _ in metrics)
    return rule if needed else ThresholdRule("none")


_TRUTH = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0])
_PREDICTED = np.array([0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0])
_SCORES = np.arange(12) % 5 + _PREDICTED
_WITHOUT_A_PACKAGE = ("affiliation", "affiliation_average_precision")
_OF_THE_SERIES = ("windows",)  # what is legal depends on each series


def try_metric(entry: Metric, parameters: Mapping[str, Any], *, timed: bool) -> None:
    """Raise for parameters that no series could be evaluated with, and a package that is missing.

    Examples
    --------
    >>> from closecall.metrics.registry import find
    >>> try_metric(find("margin"), {"margin": -3}, timed=False)
    Traceback (most recent call last):
    closecall.errors.InputError: Expected `margin` to be a finite number of 0 or more, got -3.
    """
    if entry.name in _WITHOUT_A_PACKAGE or (entry.takes == "labels" and not parameters):
        return
    tried = {
        name: value
        for name, value in parameters.items()
        if name not in _OF_THE_SERIES and not callable(value)
    }
    dated = any(isinstance(value, timedelta | np.timedelta64) for value in tried.values())
    refusal: InputError | InputTypeError | None = None
    for few in _few_samples(entry, timed=timed, dated=dated):
        try:
            entry.function(few, None, **tried)
        except UndefinedMetricError:
            return
        except (InputError, InputTypeError) as error:
            refusal = refusal or error
        else:
            return
    if refusal is not None and any(f"`{name}`" in str(refusal) for name in tried):
        raise refusal


def _few_samples(entry: Metric, *, timed: bool, dated: bool) -> Iterator[Pair | Scored]:
    """Yield a small series on each axis that is possible, the likeliest first."""
    dates = np.datetime64("2000-01-01", "s") + np.arange(_TRUTH.size)
    axes: list[Any] = [None, np.arange(_TRUTH.size) / 2, dates] if timed else [None]
    for times in reversed(axes) if dated else axes:
        if entry.takes == "scores":
            yield read_scored(_TRUTH, _SCORES, times=times)
        else:
            yield read_pair(_TRUTH, _PREDICTED, times=times)


def installed_version() -> str:
    """Return the version that is installed here; ``unknown`` for a bare copy of the code."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("closecall")
    except PackageNotFoundError:
        return "unknown"
