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
from closecall.affiliation.shifts import Chance
from closecall.affiliation.sweep import roll_scores, score_rolls
from closecall.errors import (
    ClosecallError,
    InputError,
    InputTypeError,
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
    CHANCE,
    CODE,
    COUNTS,
    DATA,
    DETECTOR,
    GAP,
    IGNORED,
    LEFT_OUT,
    NOTES,
    OUTCOMES,
    QUIET,
    RETUNED,
)
from closecall.tables.roles import NamedTable, as_times
from closecall.tables.series import Status, read_series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.metrics.registry import Metric
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.series import SeriesInput
    from closecall.tables.units import Unit

_TEXTS = (DETECTOR, "status", "reason", DATA)
WHOLE = (*COUNTS, *OUTCOMES, ALARMED, *LEFT_OUT)
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
    """The row of one detector on one series, and what its rows of events are made from."""

    row: dict[str, Any]
    """Every column of the result except `by` and the detector; None for an empty cell."""
    affiliation: Affiliation | None = None
    """Scores of each true event, where there are any."""
    series: SeriesInput | None = None
    """The series that was read, where it could be."""


def evaluate_series(
    table: pa.Table, options: BatchOptions, key: tuple[Any, ...] = (), detector: str | None = None
) -> list[Answer]:
    """Evaluate every detector on one series; never raises for what is wrong with the series.

    `key` tells the series apart; `detector` is what it says of the detector, if anything.
    """
    tables = [NamedTable("", table)]
    return _answers(
        table.num_rows,
        partial(read_series, tables, options),
        lambda series, name: _DetectorInput.read(
            series, tables, name, options, (key, detector or name)
        ),
        options,
    )


def _answers(
    samples: int,
    read: Callable[[], SeriesInput],
    read_given: Callable[[SeriesInput, str], _DetectorInput],
    options: BatchOptions,
) -> list[Answer]:
    blank = dict(options.blank_row, samples=samples)
    try:
        series = read()
        blank["samples"] = series.length
        blank[NOTES] = series.notes or None
        if options.ignores_time:
            blank[IGNORED] = _number(series.in_span.ignored_time)
            blank[LEFT_OUT[0]] = series.in_span.left_out.events
        blank["true_events"] = len(series.in_span.truth)
        blank["true_samples"] = int(series.positives_before[-1])
        blank[GAP] = options.max_step is None and far_step(series.in_span.axis) > 0
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        return [Answer(blank | _status_of(error)) for _ in options.detectors]
    answers = []
    for name in options.detectors:
        try:
            given = read_given(series, name)
        except Exception as error:  # noqa: BLE001 - the other detectors go on
            answers.append(Answer(blank | _status_of(error), None, series))
            continue
        try:
            answers.append(_evaluate_detector(dict(blank), series, given, name, options))
        except Exception as error:  # noqa: BLE001 - neither the other detectors nor the series
            row = dict(options.blank_row, samples=blank["samples"])
            answers.append(Answer(row | _status_of(error)))
    return answers


class _DetectorInput(NamedTuple):
    """What a detector gave: its scores, or its predictions, or both with a threshold between."""

    scored: Scored | None
    curve: AffiliationCurve | None
    threshold: float
    pair: Pair | None
    unchosen: str | None = None
    """Why there is no threshold, where a rule should have chosen one."""
    constant: Any = None
    """The score that every sample has; None where they differ, or there are none."""
    fitted: Scored | None = None
    """What the threshold was chosen on, where that is another part of the time."""

    @classmethod
    def read(
        cls,
        series: SeriesInput,
        tables: list[NamedTable],
        name: str,
        options: BatchOptions,
        whose: tuple[tuple[Any, ...], str],
    ) -> _DetectorInput:
        scored = series.detector(name)
        if isinstance(scored, Pair):
            return cls(None, None, nan, scored)
        needed = options.needs_curve and len(series.in_span.truth) > 0
        curve = affiliation_curve(scored, None) if needed else None
        threshold, unchosen, fitted = nan, None, None
        try:
            if options.of_many_series:
                threshold = _chosen_on_many(options, *whose)
            elif options.fit_until is not None:
                part = read_series(tables, options, options.limits(fitting=True))
                fitted = read_scored(part, name)
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
        return cls(scored, curve, threshold, pair, unchosen, scores[0] if same else None, fitted)

    @classmethod
    def read_long(
        cls, series: SeriesInput, name: str, whole: LongSeries, options: BatchOptions
    ) -> _DetectorInput:
        pair = series.predicting(whole.column(name))
        threshold = options.threshold.value if options.scores else nan
        return cls(None, None, threshold, pair, constant=whole.constant(name))


def read_scored(series: SeriesInput, name: str) -> Scored:
    """Return a detector that gave scores; raise what is wrong with it."""
    scored = series.detector(name)
    if not isinstance(scored, Scored):
        raise InputTypeError("scores", "labels", argument=name)
    return scored


def _chosen_on_many(options: BatchOptions, key: tuple[Any, ...], detector: str) -> float:
    threshold = options.shared_threshold(detector, key)
    if isnan(threshold):
        folds = len(options.fold_keys) + 1
        rule, got = "a true event in the other folds of series to choose a threshold by", "none"
        if options.threshold.kind != "cross_fit":
            rule = "a true event in any series to choose a threshold by"
        elif folds == 1:
            rule, got = "two series or more, to choose a threshold for each on others", "one"
        raise UndefinedMetricError(rule, got)
    return threshold


def _evaluate_detector(
    row: dict[str, Any],
    series: SeriesInput,
    given: _DetectorInput,
    name: str,
    options: BatchOptions,
) -> Answer:
    """Fill in a row: counts, then each metric, then outcomes, chance and the status."""
    if given.pair is not None:
        alarms = given.pair.predicted
        row["predicted_events"] = len(alarms)
        row["predicted_samples"], row["hit_samples"] = series.count_samples(alarms)
        if options.ignores_time:
            row[LEFT_OUT[1]] = given.pair.left_out.alarms
    row[QUIET] = given.scored is not None and quiet_start(given.scored) > 0
    row[NOTES] = [*series.notes, *_notes(row, series, given, name, options)] or None
    row[DATA] = _data_hash(series, given, options)
    row["threshold"] = float(given.threshold)  # an integer of many digits is rounded here only
    scores, failure = None, None
    if given.pair is not None and len(given.pair.truth):
        if options.has_affiliation:
            # Before the scores: of millions of events, each takes much memory.
            levels = Chance.of(given.pair, per_event=False).values()
            row.update(zip(CHANCE, levels.values(), strict=True))
        if options.has_affiliation or options.per_event:
            scores = score_pair(given.pair)
    for entry, parameters in options.entries:
        try:
            values = _values(entry, parameters, series, given, scores)
        except UndefinedMetricError:
            continue
        except Exception as error:  # noqa: BLE001 - the other metrics go on
            failure = failure or (Status.FAILED, f"{entry.name}: {one_line(error)}")
            continue
        for number, value in values.items():
            row[entry.name if number == "value" else f"{entry.name}_{number}"] = _number(value)
    _fill_beside(row, given, scores, options)
    row["status"], row["reason"] = failure or _judge(row, series, given, name, options)
    return Answer(row, scores if options.per_event else None, series)


def _notes(
    row: dict[str, Any],
    series: SeriesInput,
    given: _DetectorInput,
    name: str,
    options: BatchOptions,
) -> list[str]:
    """Return what to say of the threshold, of ignored time, and of what may be forgotten."""
    noted = [] if given.pair is None else options.threshold.notes(given.threshold, given.pair)
    if series.in_span.ignored is None and not row[GAP] and not row[QUIET]:
        return noted
    left_out = 0 if given.pair is None else given.pair.left_out.alarms
    advised = advice(given.scored or given.pair, max_step=options.max_step)
    return [*noted, *ignored_note(series.in_span, {name: left_out}), *advised]


def _data_hash(series: SeriesInput, given: _DetectorInput, options: BatchOptions) -> str | None:
    """Return a hash of what was evaluated: of alarms, unless scores decide more than these."""
    if given.scored is not None and (options.needs_scores or given.pair is None):
        return data_hash(*filter(None, (given.scored, given.fitted)))
    if given.pair is None:
        return None
    pair = given.pair
    counted = [series.in_samples(pair)] if options.counts_samples else []
    drawn = any(entry.draws_samples for entry, _ in options.entries)
    return data_hash(pair, *counted, samples=drawn)


def _fill_beside(
    row: dict[str, Any], given: _DetectorInput, scores: Affiliation | None, options: BatchOptions
) -> None:
    """Fill in the columns beside the metrics: outcomes, re-tuned chance, and the best F1."""
    if given.pair is not None and options.has_affiliation:
        _fill_outcomes(row, given.pair, scores)
    if options.retune is not None and given.scored is not None and len(given.scored.truth):
        rolls = score_rolls(given.scored.scores.size, options.retune)
        means = roll_scores(given.scored, rolls).mean(axis=1)
        row.update(zip(RETUNED, means.tolist(), strict=True))
    if given.curve is not None and options.shows_best:
        row[BEST] = float(given.curve.f1[first_highest(given.curve.f1)])


def _fill_outcomes(row: dict[str, Any], pair: Pair, scores: Affiliation | None) -> None:
    """Fill in the outcomes of events, delays in seconds; without events, all alarms are false."""
    length = pair.stop - pair.start
    if pair.clock.kind == "datetime":
        row["evaluated_days"] = length * pair.clock.seconds / _DAY
    if scores is None:
        row |= {
            "caught": 0,
            "false_alarms": len(pair.predicted),
            "alarmed": pair.alarmed,
        }
        return
    delay = _number(scores.events.median_delay)
    row |= {
        "caught": scores.caught,
        "false_alarms": scores.false_alarms,
        "alarmed": scores.alarmed,
        "median_delay": inf if isnan(delay) else delay,
        ALARMED: int(np.count_nonzero(scores.events.predicted_count)),
    }


def _values(
    entry: Metric,
    parameters: dict[str, Any],
    series: SeriesInput,
    given: _DetectorInput,
    scores: Affiliation | None,
) -> dict[str, Any]:
    """Return the numbers of one metric, as `closecall.evaluate` would; none without its input."""
    if entry.name == "affiliation":
        return {} if scores is None else scores.values()
    if entry.name == "affiliation_average_precision":
        return {} if given.curve is None else {"value": given.curve.average_precision}
    source: Any = given.scored if entry.takes == "scores" else given.pair
    if source is None:
        return {}
    if entry.takes == "labels" and entry.counts_samples and parameters.get("by") != "duration":
        source = series.in_samples(source)
    return entry.compute(source, **parameters)


def _number(value: Any) -> float:
    """Return a number of a metric as a float; lengths of time in seconds."""
    return float(value / np.timedelta64(1, "s") if isinstance(value, np.timedelta64) else value)


def _judge(
    row: dict[str, Any],
    series: SeriesInput,
    given: _DetectorInput,
    name: str,
    options: BatchOptions,
) -> tuple[str, str | None]:
    """Return the status and the reason of numbers that were computed."""
    if not row["true_events"]:
        return Status.NO_EVENT, _no_event(series, options)
    if given.constant is not None:
        got = f"{given.constant} for every sample"
        constant = InputError("to tell samples apart", got, argument=name)
        return Status.CONSTANT_SCORE, reason(constant)
    if given.unchosen is not None:
        return Status.UNDEFINED, given.unchosen
    undefined = [column for column in options.metric_columns if isnan(row[column])]
    if not undefined:
        return Status.OK, None
    metrics = f"{', '.join(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined"
    if row["predicted_events"] == 0:
        broken = InputError(f"at least one prediction ({metrics})", "none")
    else:
        broken = InputError("numbers for every metric", f"{metrics} for this series")
    return Status.UNDEFINED, reason(broken)


def _no_event(series: SeriesInput, options: BatchOptions) -> str:
    """Return the reason of a series without a true event."""
    try:
        with with_names({"truth": options.truth}):
            series.in_span.require_truth(options.metrics[0][0])
    except UndefinedMetricError as error:
        return reason(error)
    return ""


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
            events += _events_of(answer, types, options)
        if options.strict and any(answer.row["status"] != Status.OK for answer in answers):
            break
    joined = pa.concat_tables(events, promote_options="permissive") if events else None
    return UnitRows(unit.key, rows_table(rows, options, schema), joined)


def _evaluated(
    unit: Unit, options: BatchOptions
) -> Iterator[tuple[tuple[Any, ...], pa.Schema, list[Answer]]]:
    if isinstance(unit, WholeSeries) and unit.cut:
        whole = LongSeries(options)
        for part in unit.tables():
            table = _with_times(part, options)
            whole.add(table)
        given = partial(_DetectorInput.read_long, whole=whole, options=options)
        yield (), table.schema, _answers(whole.samples, whole.series, given, options)
        return
    for key, group in unit.groups():
        table = _with_times(group, options)
        yield key, table.schema, evaluate_series(table, options, key, detector_of(key, options))


def _with_times(table: pa.Table, options: BatchOptions) -> pa.Table:
    """Turn times that are ISO text into datetimes."""
    if options.time is None:
        return table
    column = table.column(options.time)
    try:
        times = as_times(column, options.time)
    except InputTypeError:  # what is wrong with the times is told where they are read
        return table
    if times is column:
        return table
    return table.set_column(table.column_names.index(options.time), options.time, times)


def detector_of(key: tuple[Any, ...], options: BatchOptions) -> str | None:
    """Return the detector that the key of a series names, if `by` says so."""
    return str(key[options.by.index(DETECTOR)]) if options.is_long else None


def rows_table(
    rows: Sequence[dict[str, Any]], options: BatchOptions, schema: pa.Schema | None = None
) -> pa.Table:
    """Put rows of series and detectors under their columns; keys have the types of the schema."""
    import pyarrow as pa

    types = {name: _key_type(name, schema) for name in options.by} | row_types(options)
    types |= dict.fromkeys((GAP, QUIET), pa.bool_()) | {CODE: pa.string()}
    types[NOTES] = pa.list_(pa.string())
    arrays = [pa.array([row.get(name) for row in rows], type=kind) for name, kind in types.items()]
    return pa.Table.from_arrays(arrays, names=list(types))


def row_types(options: BatchOptions) -> dict[str, pa.DataType]:
    """Return the columns of rows after the keys, with their types."""
    import pyarrow as pa

    return {
        name: pa.string() if name in _TEXTS else pa.int64() if name in WHOLE else pa.float64()
        for name in options.row_columns
    }


def _key_type(name: str, schema: pa.Schema | None) -> Any:
    """Return the type of a key column; None if the table does not know it."""
    kind: Any = schema.field(name).type if schema and name in schema.names else None
    return getattr(kind, "value_type", kind)  # of a dictionary


def _events_of(answer: Answer, schema: pa.Schema, options: BatchOptions) -> list[pa.Table]:
    """Return the rows of events, if there are any; what goes wrong is said in the row."""
    import pyarrow as pa

    scores, series = answer.affiliation, answer.series
    if scores is None or series is None:
        return []
    types = {name: _key_type(name, schema) for name in options.by}
    if not options.is_long:
        types[DETECTOR] = pa.string()
    time = None if options.time is None else schema.field(options.time).type
    try:
        table = event_rows(scores, series, time)
        keys = {
            name: pa.array([answer.row[name]] * table.num_rows, type=kind)
            for name, kind in types.items()
        }
        names = [*keys, *table.column_names]
        return [pa.Table.from_arrays([*keys.values(), *table.columns], names=names)]
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        answer.row["status"], answer.row["reason"] = Status.FAILED, one_line(error)
        return []


def event_rows(scores: Affiliation, series: SeriesInput, time: pa.DataType | None) -> pa.Table:
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
    zoned = time is not None and pa.types.is_timestamp(time) and time.tz is not None
    for name in COLUMNS:
        if time is not None and not series.timed and name in _ON_THE_AXIS:
            columns[name] = pa.nulls(len(events))
            continue
        array = pa.array(np.ascontiguousarray(getattr(events, name)))
        if zoned and time is not None and name in _TIMES:  # stamps are in UTC here
            array = array.view(pa.timestamp(array.type.unit, time.tz))
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
