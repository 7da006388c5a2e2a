"""What is asked of every series of a batch: which columns, which metrics, which threshold."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import cached_property
from math import isnan, nan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation.rules import OF_MANY_SERIES, ThresholdRule
from closecall.clock import is_missing
from closecall.errors import InputError, InputTypeError, UndefinedMetricError, shown
from closecall.events import Events
from closecall.metrics.registry import METRICS, find
from closecall.parameters import (
    is_listed,
    read_flag,
    read_name,
    read_names,
    require_count,
)
from closecall.series import Pair, Scored, read_pair, read_scored
from closecall.tables.data_files import FileNames
from closecall.tables.reading import text_codec
from closecall.tables.series import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.metrics.registry import Metric
    from closecall.tables.series import Limit

DETECTOR, SIGNATURE, ALARMED = "detector", "signature", "alarmed_events"
IGNORED, BEST, DATA = "ignored_time", "best_f1", "data_hash"
GAP, QUIET, LOST, CODE, NOTES = "__gap__", "__quiet__", "__lost__", "__code__", "__notes__"
HIDDEN = [GAP, QUIET, LOST, CODE, NOTES]  # columns of rows until they are put together
_FIXED = (
    *("end", "span", "merge", "severity_order", "clip", "timezone", "fold", "open", "usual_end"),
    "of_many",
)
_MOST = 1_000_000  # folds, or moves of a series: more would never end


class Column(NamedTuple):
    """A column of the rows of a batch."""

    name: str
    kind: str = "double"
    """The type, as Arrow calls it; what is not known is nan in a double, and null elsewhere."""
    when: Callable[[Any], bool] = lambda _: True
    """Whether rows have it, by the options of the batch."""
    is_chance: bool = False
    """Whether it is a level of chance: summaries average it, and detectors are ranked by it."""


_OF_AFFILIATION, _OF_IGNORED = attrgetter("has_affiliation"), attrgetter("ignores_time")
_METRICS = Column("the numbers of the metrics")
COLUMNS = (
    Column(DETECTOR, "string", lambda options: not options.is_long),
    Column("status", "string"),
    Column("reason", "string"),
    Column("samples", "int64"),
    Column("true_samples", "int64"),
    Column("predicted_samples", "int64"),
    Column("hit_samples", "int64"),
    Column("true_events", "int64"),
    Column("predicted_events", "int64"),
    Column("caught", "int64", _OF_AFFILIATION),
    Column("close_calls", "int64", _OF_AFFILIATION),
    Column("missed", "int64", _OF_AFFILIATION),
    Column("false_alarms", "int64", _OF_AFFILIATION),
    Column("alarmed", "double", _OF_AFFILIATION),
    Column("median_delay", "double", _OF_AFFILIATION),
    Column("evaluated_days", "double", _OF_AFFILIATION),
    Column(ALARMED, "int64", _OF_AFFILIATION),  # with a prediction in their zone
    Column(IGNORED, "double", _OF_IGNORED),
    Column("left_out_events", "int64", _OF_IGNORED),
    Column("left_out_alarms", "int64", _OF_IGNORED),
    Column("threshold"),
    _METRICS,
    Column(BEST, "double", attrgetter("shows_best")),  # at the series' own best threshold
    Column("chance_precision", "double", _OF_AFFILIATION, is_chance=True),
    Column("chance_recall", "double", _OF_AFFILIATION, is_chance=True),
    Column("chance_f1", "double", _OF_AFFILIATION, is_chance=True),
    Column("chance_caught", "double", _OF_AFFILIATION, is_chance=True),
    Column("caught_above_chance", "double", _OF_AFFILIATION, is_chance=True),
    Column("chance_average_precision", "double", attrgetter("retune"), is_chance=True),
    Column("retuned_f1", "double", attrgetter("retune"), is_chance=True),
    Column(DATA, "string"),
)
"""The columns of rows after those of `by`, in their order."""
COUNTS = tuple(column.name for column in COLUMNS if column.kind == "int64")


@dataclass(frozen=True, kw_only=True)
class BatchOptions(Reading):
    """Every option of `evaluate_frame` that decides a number; sent to workers as it is."""

    by: tuple[str, ...] = ()
    truth: str
    scores: tuple[str, ...] = ()
    """Empty if `predicted` is given."""
    predicted: tuple[str, ...] = ()
    """Empty if `scores` is given."""
    threshold: ThresholdRule
    metrics: tuple[tuple[str, dict[str, Any]], ...]
    """Names of metrics, with their parameters."""
    ignore: str | Events | None = None
    series: str | None = None
    """How the names of files tell series apart; the fields are among `by`."""
    per_event: bool = False
    strict: bool = False
    fit_until: Any = None
    folds: int = 5
    retune: int | None = None
    usual_end: bool = True
    of_many: bool = True
    shared: dict[str, Any] = field(default_factory=dict)
    """Thresholds by detector, once all series were looked at: one, or one for each fold."""
    fold_keys: tuple[tuple[Any, ...], ...] = ()
    """The first key of each fold but the first."""

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
        series: str | None = None,
        encoding: str = "utf-8",
        **others: Any,
    ) -> BatchOptions:
        """Check the options of `closecall.evaluate_frame`; `others` are fields as they are."""
        scores, labels = _one_kind(score, predicted)
        keys = () if by is None else read_names(by, "by")
        chosen = _read_metrics(metrics, scored=bool(scores), timed=time is not None)
        cut = others.get("per_event") is True or any(
            METRICS[name].takes == "labels" for name, _ in chosen
        )
        return cls(
            by=keys if series is None else (*keys, *FileNames.read(series).fields),
            series=series,
            truth=read_name(truth, "truth"),
            scores=scores,
            predicted=labels,
            time=None if time is None else read_name(time, "time"),
            threshold=_read_threshold(threshold, scored=bool(scores), cut=cut),
            metrics=chosen,
            encoding=text_codec(encoding).name,
            **others,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("fit_until", self.time_format().moment(self.fit_until, "`fit_until`"))
        require_count(self.folds, "folds", 2, _MOST)
        if self.retune is not None:
            require_count(self.retune, "retune", 1, _MOST)
        if self.ignore is not None and not isinstance(self.ignore, Events):
            read_name(self.ignore, "ignore")
        for name in ("per_event", "strict"):
            read_flag(getattr(self, name), name)
        self._require_consistent()

    def limits(self, *, fitting: bool = False) -> list[Limit]:
        """Return the ends of evaluated time; `fitting` is for choosing a threshold."""
        return [*super().limits(), ("fit_until", self.fit_until, fitting)]

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names of the columns that are evaluated."""
        return self.scores or self.predicted

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read: by, time, truth, what is ignored, detectors."""
        time = () if self.time is None else (self.time,)
        ignore = (self.ignore,) if isinstance(self.ignore, str) else ()
        return (*self.by, *time, self.truth, *ignore, *self.detectors)

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
        """Return which metric a number of a row belongs to; a level of chance to affiliation."""
        if column in self.chance_columns:
            return METRICS["affiliation"]
        names = [entry for entry, _ in self.entries for _ in entry.gives]
        return names[self.metric_columns.index(column)]

    @cached_property
    def has_affiliation(self) -> bool:
        """Whether the affiliation metrics of labels are asked for."""
        return any(name == "affiliation" for name, _ in self.metrics)

    def chance_of(self, metric: str) -> str | None:
        """Return the column of the level of chance of a metric; None if there is none."""
        level = metric.replace("affiliation", "chance", 1)
        return level if level != metric and level in self.chance_columns else None

    @property
    def chance_columns(self) -> tuple[str, ...]:
        """Names of the levels of chance in a row."""
        return tuple(column.name for column in COLUMNS if column.is_chance and column.when(self))

    @property
    def ignores_time(self) -> bool:
        """Whether some time may be ignored."""
        times = (self.ignore, self.max_step, self.since, self.until, self.fit_until)
        return self.nan != "raise" or any(one is not None for one in times)

    @property
    def of_many_series(self) -> bool:
        """Whether thresholds are chosen once all series were looked at."""
        return self.threshold.kind in OF_MANY_SERIES

    @property
    def shows_best(self) -> bool:
        """Whether rows have the F1 at the series' own best threshold beside the honest one."""
        return self.threshold.kind == "cross_fit" and self.has_affiliation

    @property
    def needs_curve(self) -> bool:
        """Whether the curve over all thresholds is needed for each series."""
        chosen = self.threshold.kind == "best_f1" and self.fit_until is None
        averaged = any(name == "affiliation_average_precision" for name, _ in self.metrics)
        return averaged or self.shows_best or chosen

    @cached_property
    def needs_scores(self) -> bool:
        """Whether scores decide more than where there are alarms."""
        taken = any(entry.takes == "scores" for entry, _ in self.entries)
        return taken or self.retune is not None or self.threshold.kind != "number"

    @cached_property
    def counts_samples(self) -> bool:
        """Whether a metric compares sample by sample, whatever their times."""
        return any(entry.counts_samples and entry.takes == "labels" for entry, _ in self.entries)

    @property
    def signed(self) -> dict[str, Any]:
        """The options that a signature names."""
        names = ("fit_until", "retune", "since", "until", "max_step", "close", "nan", "disorder")
        folds = self.folds if self.threshold.kind == "cross_fit" else None
        named = {name: getattr(self, name) for name in names}
        return {"threshold": self.threshold.signed, "folds": folds, **named}

    @cached_property
    def column_types(self) -> dict[str, str]:
        """Columns of the result after `by`, in their order, with their types."""
        found: dict[str, str] = {}
        for column in COLUMNS:
            if column is _METRICS:
                found |= dict.fromkeys(self.metric_columns, column.kind)
            elif column.when(self):
                found[column.name] = column.kind
        return found

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns of the result after `by`, in their order."""
        return tuple(self.column_types)

    @cached_property
    def blank_row(self) -> dict[str, Any]:
        """A row of which nothing is known yet."""
        kinds = self.column_types.items()
        return {name: nan if kind == "double" else None for name, kind in kinds}

    def with_thresholds(
        self, shared: Mapping[str, Any], fold_keys: Iterable[tuple[Any, ...]] = ()
    ) -> BatchOptions:
        """Fix the thresholds that all series of a detector share, or all of a fold."""
        return replace(self, shared=dict(shared), fold_keys=tuple(fold_keys))

    def series_key(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what of a key names the series, and not the detector."""
        return tuple(part for name, part in zip(self.by, key, strict=True) if name != DETECTOR)

    def detector_of(self, key: tuple[Any, ...]) -> str | None:
        """Return the detector that the key of a series names, if `by` says so."""
        return str(key[self.by.index(DETECTOR)]) if self.is_long else None

    def shared_threshold(self, key: tuple[Any, ...], detector: str) -> float:
        """Return the threshold of a detector for one series; raise if none could be chosen."""
        shared = self.shared.get(detector, nan)
        if isinstance(shared, list | tuple):
            place = sortable(self.series_key(key))
            shared = shared[bisect_right([sortable(first) for first in self.fold_keys], place)]
        if not isnan(shared):
            return float(shared)
        rule, got = "a true event in the other folds of series to choose a threshold by", "none"
        if self.threshold.kind != "cross_fit":
            rule = "a true event in any series to choose a threshold by"
        elif not self.fold_keys:
            rule, got = "two series or more, to choose a threshold for each on others", "one"
        raise UndefinedMetricError(rule, got)

    def describe(self, fingerprint: str) -> dict[str, str]:
        """Return what is asked of which data, as text that is the same if and only if they are."""
        # Neither `strict` nor `memory` nor what was computed decides what is asked.
        left_out = {"strict", "memory", "shared", "fold_keys", *_FIXED}
        named = [one.name for one in fields(self) if one.name not in left_out]
        values = {name: getattr(self, name) for name in named}
        words: dict[str, Callable[[Any], str]] = {
            "threshold": str,
            "ignore": lambda ignore: repr(list(ignore) if isinstance(ignore, Events) else ignore),
        }
        texts = {name: words.get(name, repr)(value) for name, value in values.items()}
        texts = {"score" if name == "scores" else name: text for name, text in texts.items()}
        return {"closecall": installed_version(), "data": fingerprint, **texts}

    def _require_consistent(self) -> None:
        """Raise if options do not go together, or two columns have one name."""
        if self.max_step is not None and self.time is None:
            raise InputTypeError("`time` beside `max_step`", "none")
        if self.fit_until is not None and self.threshold.kind in ("number", "none"):
            got = "`predicted`" if self.predicted else f"the threshold {self.threshold}"
            rule = "a rule that chooses thresholds beside `fit_until`"
            raise InputTypeError(rule, got, hint="Leave earlier time out with `since`.")
        if self.predicted and self.retune is not None:
            raise InputTypeError("`score` beside `retune`", "`predicted`")
        repeated = [name for name, count in Counter(self.columns).items() if count > 1]
        if repeated:
            got = f"{repeated[0]!r} in more than one"
            raise InputError("each column to have one role", got)
        others = {column.name for column in COLUMNS} - {DETECTOR} | {"event", SIGNATURE}
        taken = [name for name in self.by if name in others or name in self.metric_columns]
        if taken:
            rule = "`by` columns not to be called like columns of the result"
            raise InputError(rule, f"{taken[0]!r}", hint="Rename the column.")
        if self.is_long and len(self.detectors) > 1:
            rule = f"one column to evaluate where {DETECTOR!r} is among `by`"
            hint = "Rename the column if it does not say which detector a row belongs to."
            raise InputError(rule, f"{len(self.detectors)}", hint=hint)


def sortable(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key that sorts as rows do: what is missing comes last."""
    missing = [is_missing(part) for part in key]
    return tuple((gone, 0 if gone else part) for gone, part in zip(missing, key, strict=True))


def _one_kind(score: Any, predicted: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if (score is None) == (predicted is None):
        hint = (
            "Columns of scores are cut at a threshold; columns of 0/1 predictions are taken as "
            "they are. Evaluate the two kinds in two calls."
        )
        got = "neither" if score is None else "both"
        raise InputTypeError("either `score` or `predicted`", got, hint=hint)
    kind, value = ("score", score) if predicted is None else ("predicted", predicted)
    names = read_names(value, kind)
    if not names:
        raise InputError("to name at least one column", "none", argument=kind)
    return (names, ()) if kind == "score" else ((), names)


def _read_threshold(threshold: Any, *, scored: bool, cut: bool) -> ThresholdRule:
    """Read the rule that cuts scores; none if nothing needs them cut."""
    if scored:
        rule = ThresholdRule.read(threshold)
        return rule if cut else ThresholdRule("none")
    if threshold is not None:
        raise InputTypeError("no `threshold` beside `predicted`", shown(threshold))
    return ThresholdRule("number")


def _read_metrics(
    metrics: Any, *, scored: bool, timed: bool
) -> tuple[tuple[str, dict[str, Any]], ...]:
    if metrics is None:
        names = ("affiliation", "affiliation_average_precision")[: 1 + scored]
        return tuple((name, {}) for name in names)
    if not (isinstance(metrics, Mapping) or is_listed(metrics)):
        got = shown(metrics)
        raise InputTypeError(
            "to be names in a list", got, argument="metrics", hint=f"Pass [{got}]."
        )
    asked = metrics if isinstance(metrics, Mapping) else {find(name).name: {} for name in metrics}
    if not asked:
        raise InputError("to name at least one metric", "none", argument="metrics")
    chosen = []
    for name, parameters in asked.items():
        entry = find(name)
        if entry.takes == "scores" and not scored:
            raise InputTypeError(f"for the metric {name!r}", "`predicted`", argument="score")
        entry.check(parameters)
        try_metric(entry, parameters, timed=timed)
        chosen.append((entry.name, dict(parameters)))
    return tuple(chosen)


_TRUTH = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0])
_PREDICTED = np.array([0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0])
_SCORES = np.arange(12) % 5 + _PREDICTED
_WITHOUT_A_PACKAGE = ("affiliation", "affiliation_average_precision")
_OF_THE_SERIES = ("windows",)  # what is legal depends on each series


def try_metric(entry: Metric, parameters: Mapping[str, Any], *, timed: bool) -> None:
    """Raise for parameters that no series could be evaluated with, and for a missing package."""
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
            entry.compute(few, **tried)
        except UndefinedMetricError:
            return
        except (InputError, InputTypeError) as error:
            refusal = refusal or error
        else:
            return
    if refusal is not None and refusal.argument in tried:
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
