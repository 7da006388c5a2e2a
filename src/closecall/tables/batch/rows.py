"""The rows of a batch: of each series and detector, of each true event, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.affiliation.event_scores import COLUMNS
from closecall.affiliation.score import score_pair
from closecall.affiliation.shifts import Chance, caught_above_chance
from closecall.affiliation.sweep import roll_scores, score_rolls
from closecall.errors import (
    ClosecallError,
    InputError,
    UndefinedMetricError,
    one_line,
    reason,
    with_names,
)
from closecall.evaluated_time import advice, far_step, ignored_note, quiet_start
from closecall.fscore import first_highest
from closecall.series import Pair, Scored
from closecall.signature import data_hash
from closecall.tables.batch.long_series import LongSeries, WholeSeries
from closecall.tables.batch.options import (
    ALARMED,
    BEST,
    CODE,
    DATA,
    DETECTOR,
    GAP,
    IGNORED,
    LOST,
    NOTES,
    QUIET,
)
from closecall.tables.roles import NamedTable
from closecall.tables.series import Status, read_series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.metrics.registry import Metric
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.series import SeriesInput
    from closecall.tables.units import Unit

_TIMES = frozenset(COLUMNS[:4])
_ON_THE_AXIS = _TIMES | {
    "precision_distance",
    "recall_distance",
    "predicted_duration",
    "early",
    "late",
    "delay",
    "nearest",
}
_PLACE = "__place__"
_DAY = 86_400  # seconds

EVENT_COLUMNS = ("event", "first_sample", "last_sample", *COLUMNS)
"""The columns of a row of an event, after the key and the detector."""


class Answer(NamedTuple):
    """The row of one detector on one series, and the rows of its true events."""

    row: dict[str, Any]
    """Every column of the result except `by` and the detector; None for an empty cell."""
    events: pa.Table | None = None
    """None if there are none, or they were not asked for."""


def evaluate_series(
    table: pa.Table, options: BatchOptions, key: tuple[Any, ...] = (), detector: str | None = None
) -> list[Answer]:
    """Evaluate every detector on one series; never raises for what is wrong with the series.

    `key` tells the series apart; `detector` is what it says of the detector, if anything.
    """
    tables = [NamedTable("", table)]

    def read_detector(series: SeriesInput, name: str) -> _Detector:
        return _Detector.read(series, tables, name, options, (key, detector or name))

    return _answers(
        table, table.num_rows, partial(read_series, tables, options), read_detector, options
    )


def _evaluate_parts(unit: WholeSeries, options: BatchOptions) -> tuple[pa.Schema, list[Answer]]:
    """Evaluate every detector on one series that is read part by part."""
    whole = LongSeries(options)
    for part in unit.tables():
        whole.add(part)
    threshold = options.threshold.value if options.scores else nan

    def read_detector(series: SeriesInput, name: str) -> _Detector:
        pair = series.predicting(whole.column(name))
        return _Detector(series, name, options, pair, threshold, constant=whole.constant(name))

    return part.schema, _answers(part, whole.samples, whole.series, read_detector, options)


def _answers(
    table: pa.Table,
    samples: int,
    read: Callable[[], SeriesInput],
    read_detector: Callable[[SeriesInput, str], _Detector],
    options: BatchOptions,
) -> list[Answer]:
    blank = dict(options.blank_row, samples=samples)
    try:
        series = read()
        blank[NOTES] = series.notes or None
        blank |= _counts(series, options)
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        return [Answer(blank | _status_of(error)) for _ in options.detectors]
    answers = []
    lost = series.in_span.unscored
    for name in options.detectors:
        blank[LOST] = lost.of(name)
        try:
            alone = series.alone(name)
            row = blank if alone is series else blank | _counts(alone, options)
            answers.append(read_detector(alone, name).answer(dict(row), table))
        except Exception as error:  # noqa: BLE001 - the other detectors go on
            answers.append(Answer(blank | _status_of(error)))
    return answers


def _counts(series: SeriesInput, options: BatchOptions) -> dict[str, Any]:
    """Return what a row says of a series in evaluated time, whatever the detector."""
    counts: dict[str, Any] = {"samples": series.length}
    if options.ignores_time:
        counts[IGNORED] = _number(series.in_span.ignored_time)
        counts["left_out_events"] = series.in_span.left_out.events
    counts["true_events"] = len(series.in_span.truth)
    counts["true_samples"] = int(series.positives_before[-1])
    counts[GAP] = options.max_step is None and far_step(series.in_span.axis) > 0
    return counts


@dataclass(frozen=True, slots=True)
class _Detector:
    """What a detector gave: its scores, or its predictions, or both with a threshold between."""

    series: SeriesInput
    name: str
    options: BatchOptions
    pair: Pair | None
    threshold: Any = nan
    scored: Scored | None = None
    curve: AffiliationCurve | None = None
    fitted: Scored | None = None
    """What the threshold was chosen on, where that is another part of the time."""
    unchosen: str | None = None
    """Why there is no threshold, where a rule should have chosen one."""
    constant: Any = None
    """The score that every sample has; None where they differ, or there are none."""

    @classmethod
    def read(
        cls,
        series: SeriesInput,
        tables: list[NamedTable],
        name: str,
        options: BatchOptions,
        whose: tuple[tuple[Any, ...], str],
    ) -> _Detector:
        """Read a detector and choose its threshold."""
        scored = series.detector(name)
        if isinstance(scored, Pair):
            return cls(series, name, options, scored)
        needed = options.needs_curve and len(series.in_span.truth) > 0
        curve = affiliation_curve(scored, None) if needed else None
        threshold: Any = nan
        fitted: Any = None
        unchosen = None
        try:
            if options.of_many_series:
                threshold = options.shared_threshold(*whose)
            elif options.fit_until is not None:
                fitted = read_series(tables, options, options.limits(fitting=True)).detector(name)
                threshold = options.threshold.choose(fitted)
            elif options.threshold.kind != "none" and (
                curve is not None or options.threshold.kind != "best_f1"
            ):
                threshold = options.threshold.choose(scored, curve)
        except ClosecallError as error:
            unchosen = one_line(error)
        pair = None if isnan(threshold) else scored.at(threshold)
        scores = scored.scores
        same = len(curve) == 1 if curve is not None else scores.min() == scores.max()
        constant = scores[0] if same else None
        return cls(
            series, name, options, pair, threshold, scored, curve, fitted, unchosen, constant
        )

    def answer(self, row: dict[str, Any], table: pa.Table) -> Answer:
        """Fill in a row: counts, then each metric, then outcomes, chance and the status."""
        options, pair = self.options, self.pair
        if pair is not None:
            row["predicted_events"] = len(pair.predicted)
            row["predicted_samples"], row["hit_samples"] = self.series.count_samples(pair.predicted)
            if options.ignores_time:
                row["left_out_alarms"] = pair.left_out.alarms
        row[QUIET] = self.scored is not None and quiet_start(self.scored) > 0
        row[NOTES] = [*self.series.notes, *self._notes(row)] or None
        row[DATA] = self._data_hash()
        row["threshold"] = float(self.threshold)  # an integer of many digits is rounded here only
        scores = None
        if pair is not None and len(pair.truth):
            if options.has_affiliation:
                # Before the scores: of millions of events, each takes much memory.
                chance = Chance.of(pair, per_event=False)
                row |= {f"chance_{name}": level for name, level in chance.values().items()}
            if options.has_affiliation or options.per_event:
                scores = score_pair(pair)
            if scores is not None and options.has_affiliation:
                counts = scores.caught, len(pair.truth), chance.caught
                row["caught_above_chance"] = caught_above_chance(*counts)
        failure = self._fill_metrics(row, scores)
        if pair is not None and options.has_affiliation:
            row |= _outcomes(pair, scores)
        row |= self._beside()
        row["status"], row["reason"] = failure or self._judge(row)
        if scores is None or not options.per_event:
            return Answer(row)
        return Answer(row, event_rows(scores, self.series, table, options))

    def _notes(self, row: dict[str, Any]) -> list[str]:
        """Return what to say of the threshold, of ignored time, and of what may be forgotten."""
        in_span, rule = self.series.in_span, self.options.threshold
        noted = [] if self.pair is None else rule.notes(self.threshold, self.pair)
        if in_span.ignored is None and not row[GAP] and not row[QUIET]:
            return noted
        left_out = 0 if self.pair is None else self.pair.left_out.alarms
        advised = advice(self.scored or self.pair, max_step=self.options.max_step)
        return [*noted, *ignored_note(in_span, {self.name: left_out}), *advised]

    def _data_hash(self) -> str | None:
        """Return a hash of what was evaluated: of alarms, unless scores decide more than these."""
        options, pair = self.options, self.pair
        if self.scored is not None and (options.needs_scores or pair is None):
            return data_hash(*filter(None, (self.scored, self.fitted)))
        if pair is None:
            return None
        counted = [self.series.in_samples(pair)] if options.counts_samples else []
        drawn = any(entry.draws_samples for entry, _ in options.entries)
        return data_hash(pair, *counted, samples=drawn)

    def _fill_metrics(
        self, row: dict[str, Any], scores: Affiliation | None
    ) -> tuple[str, str] | None:
        """Fill in the numbers of each metric; return the status and reason of the first failure."""
        failure = None
        for entry, parameters in self.options.entries:
            try:
                values = self._values(entry, parameters, scores)
            except UndefinedMetricError:
                continue
            except Exception as error:  # noqa: BLE001 - the other metrics go on
                failure = failure or (Status.FAILED, f"{entry.name}: {one_line(error)}")
                continue
            for number, value in values.items():
                row[entry.name if number == "value" else f"{entry.name}_{number}"] = _number(value)
        return failure

    def _values(
        self, entry: Metric, parameters: dict[str, Any], scores: Affiliation | None
    ) -> dict[str, Any]:
        """Return the numbers of a metric, as `closecall.evaluate` would; none without its input."""
        if entry.name == "affiliation":
            return {} if scores is None else scores.values()
        if entry.name == "affiliation_average_precision":
            return {} if self.curve is None else {"value": self.curve.average_precision}
        source: Any = self.scored if entry.takes == "scores" else self.pair
        if source is None:
            return {}
        if entry.takes == "labels" and entry.counts_samples and parameters.get("by") != "duration":
            source = self.series.in_samples(source)
        return entry.compute(source, **parameters)

    def _beside(self) -> dict[str, float]:
        """Return the columns beside the metrics: re-tuned chance, and the best F1."""
        row, options, scored = {}, self.options, self.scored
        if options.retune is not None and scored is not None and len(scored.truth):
            rolls = score_rolls(scored.scores.size, options.retune)
            average_precision, best_f1 = roll_scores(scored, rolls).mean(axis=1).tolist()
            row = {"chance_average_precision": average_precision, "retuned_f1": best_f1}
        if self.curve is not None and options.shows_best:
            row[BEST] = float(self.curve.f1[first_highest(self.curve.f1)])
        return row

    def _judge(self, row: dict[str, Any]) -> tuple[str, str | None]:
        """Return the status and the reason of numbers that were computed."""
        options = self.options
        if not row["true_events"]:
            try:
                with with_names({"truth": options.truth}):
                    self.series.in_span.require_truth(options.metrics[0][0])
            except UndefinedMetricError as error:
                return Status.NO_EVENT, reason(error)
        if self.constant is not None:
            got = f"{self.constant} for every sample"
            constant = InputError("to tell samples apart", got, argument=self.name)
            return Status.CONSTANT_SCORE, reason(constant)
        if self.unchosen is not None:
            return Status.UNDEFINED, self.unchosen
        undefined = [column for column in options.metric_columns if isnan(row[column])]
        if not undefined:
            return Status.OK, None
        metrics = f"{', '.join(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined"
        broken = InputError("numbers for every metric", f"{metrics} for this series")
        if row["predicted_events"] == 0:
            broken = InputError(f"at least one prediction ({metrics})", "none")
        return Status.UNDEFINED, reason(broken)


def _outcomes(pair: Pair, scores: Affiliation | None) -> dict[str, Any]:
    """Return what happened to events, delays in seconds; without events, all alarms are false."""
    length, dated = pair.stop - pair.start, pair.clock.kind == "datetime"
    days = {"evaluated_days": length * pair.clock.seconds / _DAY} if dated else {}
    if scores is None:
        alarms = {"false_alarms": len(pair.predicted), "alarmed": pair.alarmed}
        return {"caught": 0, "close_calls": 0, "missed": 0, **alarms, **days}
    delay = _number(scores.events.median_delay)
    return {
        "caught": scores.caught,
        "close_calls": scores.close_calls,
        "missed": scores.missed,
        "false_alarms": scores.false_alarms,
        "alarmed": scores.alarmed,
        "median_delay": inf if isnan(delay) else delay,
        ALARMED: int(np.count_nonzero(scores.events.predicted_count)),
        **days,
    }


def _number(value: Any) -> float:
    """Return a number of a metric as a float; lengths of time in seconds."""
    return float(value / np.timedelta64(1, "s") if isinstance(value, np.timedelta64) else value)


def _status_of(error: Exception) -> dict[str, str]:
    status = getattr(error, "status", "") or Status.FAILED
    return {"status": status, "reason": one_line(error), CODE: getattr(error, "code", "")}


@dataclass(frozen=True, slots=True)
class UnitRows:
    """What came of a unit: a row for each of its series and detectors, and for each true event."""

    key: str
    rows: pa.Table
    events: pa.Table | None = None

    @property
    def tables(self) -> list[pa.Table]:
        """The rows, and those of events if there are any."""
        return [self.rows] if self.events is None else [self.rows, self.events]


def evaluate_unit(unit: Unit, options: BatchOptions) -> UnitRows:
    """Evaluate every series of a unit; strict options stop at the first one in trouble."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    events: list[pa.Table] = []
    schema = None
    for key, types, answers in _evaluated(unit, options):
        schema = schema or types
        for name, answer in zip(options.detectors, answers, strict=True):
            answer.row.update({DETECTOR: name} | dict(zip(options.by, key, strict=True)))
            rows.append(answer.row)
            if answer.events is not None:
                events.append(_with_keys(answer.events, answer.row, types, options))
        if options.strict and any(answer.row["status"] != Status.OK for answer in answers):
            break
    joined = pa.concat_tables(events, promote_options="permissive") if events else None
    return UnitRows(unit.key, rows_table(rows, options, schema), joined)


def _evaluated(
    unit: Unit, options: BatchOptions
) -> Iterator[tuple[tuple[Any, ...], pa.Schema, list[Answer]]]:
    if isinstance(unit, WholeSeries) and unit.cut:
        yield (), *_evaluate_parts(unit, options)
        return
    for key, table in unit.groups():
        yield key, table.schema, evaluate_series(table, options, key, options.detector_of(key))


def rows_table(
    rows: Sequence[dict[str, Any]], options: BatchOptions, schema: pa.Schema | None = None
) -> pa.Table:
    """Put rows of series and detectors under their columns; keys have the types of the schema."""
    import pyarrow as pa

    types = {name: _key_type(name, schema) for name in options.by} | row_types(options)
    types |= dict.fromkeys((GAP, QUIET), pa.bool_()) | {LOST: pa.int64(), CODE: pa.string()}
    types[NOTES] = pa.list_(pa.string())
    arrays = [pa.array([row.get(name) for row in rows], type=kind) for name, kind in types.items()]
    return pa.Table.from_arrays(arrays, names=list(types))


def row_types(options: BatchOptions) -> dict[str, pa.DataType]:
    """Return the columns of rows after the keys, with their types."""
    import pyarrow as pa

    return {name: pa.type_for_alias(kind) for name, kind in options.column_types.items()}


def _key_type(name: str, schema: pa.Schema | None) -> Any:
    """Return the type of a key column; None if the table does not know it."""
    kind: Any = schema.field(name).type if schema and name in schema.names else None
    return getattr(kind, "value_type", kind)  # of a dictionary


def _with_keys(
    events: pa.Table, row: dict[str, Any], schema: pa.Schema, options: BatchOptions
) -> pa.Table:
    """Put the key of the series, and the detector, before rows of events."""
    import pyarrow as pa

    types = {name: _key_type(name, schema) for name in options.by}
    if not options.is_long:
        types[DETECTOR] = pa.string()
    keys = [pa.array([row[name]] * events.num_rows, type=kind) for name, kind in types.items()]
    names = [*types, *events.column_names]
    return pa.Table.from_arrays([*keys, *events.columns], names=names)


def event_rows(
    scores: Affiliation, series: SeriesInput, table: pa.Table, options: BatchOptions
) -> pa.Table:
    """Return the true events of one series, with what one detector made of each.

    Where times were ignored they are null, and so are lengths of time.
    """
    import pyarrow as pa

    events = scores.events
    first, after = series.numbers_of_all(events.pair.truth)
    columns = {
        "event": pa.array(np.arange(len(events))),
        "first_sample": pa.array(first),
        "last_sample": pa.array(after - 1),
    }
    counted = options.time is not None and not series.timed
    zone = None
    if options.time is not None and series.timed:
        zone = getattr(
            options.time_format().column(table.column(options.time), options.time, "").type,
            "tz",
            None,
        )
    for name in COLUMNS:
        if counted and name in _ON_THE_AXIS:
            columns[name] = pa.nulls(len(events))
            continue
        array = pa.array(np.ascontiguousarray(getattr(events, name)))
        if zone is not None and name in _TIMES:  # stamps are in UTC here
            array = array.view(pa.timestamp(array.type.unit, zone))
        columns[name] = array
    return pa.table(columns)


def in_order(tables: Iterable[pa.Table], options: BatchOptions) -> pa.Table:
    """Join tables of rows and sort them by key, then as the detectors were given, then by event."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.concat_tables(tables, promote_options="permissive")
    # Arrow does not sort floats of half precision.
    half = {name for name in options.by if pa.types.is_float16(table.schema.field(name).type)}
    columns = {
        name: table.column(name).cast(pa.float32()) if name in half else table.column(name)
        for name in options.by
    }
    if not options.is_long:
        given = pa.array(options.detectors, type=pa.string())
        columns[_PLACE] = pc.index_in(table.column(DETECTOR), value_set=given)
    if "event" in table.column_names:
        columns["event"] = table.column("event")
    order = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
    return table.take(order)
