"""The rows of a batch: of each series and detector, of each true event, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.affiliation.curve import roll_scores, score_rolls
from closecall.affiliation.result import COLUMNS
from closecall.affiliation.score import score_pair
from closecall.affiliation.shifts import Chance
from closecall.errors import ClosecallError, UndefinedMetricError, expected
from closecall.fscore import first_highest
from closecall.tables.batch.options import (
    ALARMED,
    BEST,
    CHANCE,
    COUNTS,
    DETECTOR,
    IGNORED,
    LEFT_OUT,
    OUTCOMES,
    RETUNED,
)
from closecall.tables.batch.series import one_per_time, read_scored_column, read_series
from closecall.tables.batch.status import (
    BAD_LABELS,
    CONSTANT_SCORE,
    FAILED,
    NO_EVENT,
    OK,
    UNDEFINED,
    SeriesError,
    one_line,
    with_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.metrics.registry import Metric
    from closecall.series import Pair, Scored
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.batch.series import Series
    from closecall.tables.sources import Unit

    Keys = list[tuple[tuple[Any, ...], int]]  # the key of a series, and how many rows it has

_TEXTS = (DETECTOR, "status", "reason")
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
    """What is known of one detector on one series."""

    row: dict[str, Any]
    """Every column of the result but `by` and the detector; None where there is nothing to say."""
    affiliation: Affiliation | None = None
    """Scores of each true event, where there are any."""
    series: Series | None = None
    """The series that was read, where it could be."""


def evaluate_series(
    table: pa.Table, options: BatchOptions, key: tuple[Any, ...] = (), detector: str | None = None
) -> list[Answer]:
    """Evaluate every detector on one series; never raises for what is wrong with the series.

    `key` tells the series apart; `detector` is what it says of the detector, if anything.
    """
    table = one_per_time(table, options)
    blank = dict(options.blank_row, samples=table.num_rows)
    try:
        series = read_series(table, options)
        if options.ignores_time:
            blank[IGNORED] = _number(series.in_span.ignored_time)
            blank[LEFT_OUT[0]] = series.in_span.left_out.events
        blank["true_events"] = len(series.in_span.truth)
        blank["true_samples"] = int(series.positives_before[-1])
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        return [Answer(blank | _status_of(error)) for _ in options.detectors]
    answers = []
    for name in options.detectors:
        try:
            given = _Given.read(series, table, name, options, (key, detector or name))
        except Exception as error:  # noqa: BLE001 - the other detectors go on
            answers.append(Answer(blank | _status_of(error), None, series))
            continue
        try:
            answers.append(_evaluate_detector(dict(blank), series, given, name, options))
        except Exception as error:  # noqa: BLE001 - neither the other detectors nor the series
            row = dict(options.blank_row, samples=table.num_rows)
            answers.append(Answer(row | _status_of(error)))
    return answers


class _Given(NamedTuple):
    """What a detector gave: its scores, or its predictions, or both with a threshold between."""

    scored: Scored | None
    curve: AffiliationCurve | None
    threshold: float
    pair: Pair | None
    unchosen: str | None = None
    """Why there is no threshold, where a rule should have chosen one."""

    @classmethod
    def read(
        cls,
        series: Series,
        table: pa.Table,
        name: str,
        options: BatchOptions,
        whose: tuple[tuple[Any, ...], str],
    ) -> _Given:
        column = table.column(name)
        if options.predicted:
            with with_status(BAD_LABELS):
                labels = series.labelled(column, name)
            return cls(None, None, nan, series.predicting(labels))
        scored = read_scored_column(series, column, name)
        needed = options.needs_curve and len(series.in_span.truth) > 0
        curve = affiliation_curve(scored, None) if needed else None
        threshold, unchosen = nan, None
        try:
            if options.of_many_series:
                threshold = _chosen_on_many(options, *whose)
            elif options.fit_until is not None:
                fitted = read_series(table, options, fitting=True)
                threshold = options.threshold.choose(read_scored_column(fitted, column, name))
            elif options.threshold.kind != "none" and (
                curve is not None or options.threshold.kind != "best_f1"
            ):
                threshold = options.threshold.choose(scored, curve)
        except ClosecallError as error:
            unchosen = one_line(error)
        pair = None if isnan(threshold) else scored.at(threshold)
        return cls(scored, curve, threshold, pair, unchosen)

    @property
    def constant(self) -> Any:
        """The score that every sample has; None where they differ, or there are none."""
        if self.scored is None:
            return None
        scores = self.scored.scores
        same = len(self.curve) == 1 if self.curve is not None else scores.min() == scores.max()
        return scores[0] if same else None


def _chosen_on_many(options: BatchOptions, key: tuple[Any, ...], detector: str) -> float:
    threshold = options.shared_threshold(detector, key)
    if isnan(threshold):
        folds = len(options.fold_keys) + 1
        rule, got = "a true event in the other folds of series to choose a threshold by", "none"
        if options.threshold.kind != "cross_fit":
            rule = "a true event in any series to choose a threshold by"
        elif folds == 1:
            rule, got = "two series or more, to choose a threshold for each on others", "one"
        raise UndefinedMetricError.expected(rule, got)
    return threshold


def _evaluate_detector(
    row: dict[str, Any], series: Series, given: _Given, name: str, options: BatchOptions
) -> Answer:
    """Fill in a row: counts, then each metric on its own, then what there is to say of them."""
    if given.pair is not None:
        starts, stops = series.sample_numbers(given.pair.predicted)
        before = series.positives_before
        row["predicted_events"] = starts.size
        row["predicted_samples"] = int((stops - starts).sum())
        row["hit_samples"] = int((before[stops] - before[starts]).sum())
        if options.ignores_time:
            row[LEFT_OUT[1]] = given.pair.left_out.alarms
    row["threshold"] = float(given.threshold)  # an integer of many digits is rounded here only
    scores, failure = None, None
    if given.pair is not None and len(given.pair.truth) and options.needs_event_scores:
        scores = score_pair(given.pair)
    for entry, parameters in options.entries:
        try:
            values = _values(entry, parameters, series, given, scores)
        except UndefinedMetricError:
            continue
        except Exception as error:  # noqa: BLE001 - the other metrics go on
            failure = failure or (FAILED, f"{entry.name}: {one_line(error)}")
            continue
        for number, value in values.items():
            row[entry.name if number == "value" else f"{entry.name}_{number}"] = _number(value)
    _fill_beside(row, given, scores, options)
    row["status"], row["reason"] = failure or judge(
        row, given.constant, name, options, given.unchosen
    )
    return Answer(row, scores, series)


def _fill_beside(
    row: dict[str, Any], given: _Given, scores: Affiliation | None, options: BatchOptions
) -> None:
    """Fill in what is told beside the metrics: outcomes, chance, and other thresholds."""
    if given.pair is not None and options.has_affiliation:
        fill_chance(row, given.pair)
        fill_outcomes(row, given.pair, scores)
    if options.retune is not None and given.scored is not None and len(given.scored.truth):
        rolls = score_rolls(given.scored.scores.size, options.retune)
        means = roll_scores(given.scored, rolls).mean(axis=1)
        row.update(zip(RETUNED, means.tolist(), strict=True))
    if given.curve is not None and options.shows_best:
        row[BEST] = float(given.curve.f1[first_highest(given.curve.f1)])


def fill_chance(row: dict[str, Any], pair: Pair) -> None:
    """Fill in what the alarms reach when they are moved, if there is an event."""
    if len(pair.truth):
        levels = Chance.of(pair, per_event=False).values()
        row.update(zip(CHANCE, levels.values(), strict=True))


def fill_outcomes(row: dict[str, Any], pair: Pair, scores: Affiliation | None) -> None:
    """Fill in what became of the events, and at which price; without events, all alarms are false.

    Lengths of time are in seconds on a dated axis.
    """
    length = pair.stop - pair.start
    if pair.clock.kind == "datetime":
        row["evaluated_days"] = length * pair.clock.seconds / _DAY
    if scores is None:
        covered = (pair.predicted.stops - pair.predicted.starts).sum()
        row |= {
            "caught": 0,
            "false_alarms": len(pair.predicted),
            "alarmed": float(covered / length),
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
    series: Series,
    given: _Given,
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
    values: dict[str, Any] = entry.function(source, None, **parameters).values()
    return values


def _number(value: Any) -> float:
    """Return a number of a metric as a float; lengths of time in seconds."""
    return float(value / np.timedelta64(1, "s") if isinstance(value, np.timedelta64) else value)


def judge(
    row: dict[str, Any],
    constant: Any,
    name: str,
    options: BatchOptions,
    unchosen: str | None = None,
) -> tuple[str, str | None]:
    """Return the status and the reason of numbers that were computed.

    `constant` is the score that every sample has, None if they differ; `unchosen` says why there
    is no threshold.
    """
    if not row["true_events"]:
        got = f"none in `{options.truth}`"
        if row.get(LEFT_OUT[0]):
            got = f"none in evaluated time, and {row[LEFT_OUT[0]]} in ignored time"
        return NO_EVENT, expected("at least one true event", got)
    if constant is not None:
        got = f"{constant} for every sample"
        return CONSTANT_SCORE, expected(f"`{name}` to tell samples apart", got)
    if unchosen is not None:
        return UNDEFINED, unchosen
    undefined = [column for column in options.metric_columns if isnan(row[column])]
    if not undefined:
        return OK, None
    metrics = f"{', '.join(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined"
    if row["predicted_events"] == 0:
        return UNDEFINED, expected(f"at least one prediction ({metrics})", "none")
    return UNDEFINED, expected("numbers for every metric", f"{metrics} for this series")


def _status_of(error: Exception) -> dict[str, str]:
    known = error.status if isinstance(error, SeriesError) else FAILED
    return {"status": known, "reason": one_line(error)}


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
    rows: list[dict[str, Any]] = []
    parts: list[pa.Table] = []
    keys: Keys = []
    event_keys: Keys = []
    schema = None
    for key, table in unit.groups():
        schema = schema or table.schema
        own = detector_of(key, options)
        answers = evaluate_series(table, options, key, own)
        keys.append((key, len(answers)))
        for name, answer in zip(options.detectors, answers, strict=True):
            answer.row[DETECTOR] = own or name
            rows.append(answer.row)
            events = _events_of(answer, own or name, table, options)
            if events is not None:
                parts.append(events)
                event_keys.append((key, events.num_rows))
        if options.strict and any(answer.row["status"] != OK for answer in answers):
            break
    return UnitRows(
        unit.key,
        rows_table(rows, options, keys, schema),
        events_table(parts, options, event_keys, schema),
    )


def detector_of(key: tuple[Any, ...], options: BatchOptions) -> str | None:
    """Return the detector that the key of a series names, if `by` says so."""
    return str(key[options.by.index(DETECTOR)]) if options.is_long else None


def rows_table(
    rows: Sequence[dict[str, Any]],
    options: BatchOptions,
    keys: Keys | None = None,
    schema: pa.Schema | None = None,
) -> pa.Table:
    """Put rows of series and detectors under their columns; keys have the types of the schema."""
    import pyarrow as pa

    types = row_types(options)
    arrays = [pa.array([row[name] for row in rows], type=kind) for name, kind in types.items()]
    by = _key_arrays(options.by, keys or [], schema)
    return pa.Table.from_arrays([*by, *arrays], names=[*options.by, *types])


def row_types(options: BatchOptions) -> dict[str, pa.DataType]:
    """Return the columns of rows after the keys, with their types."""
    import pyarrow as pa

    return {
        name: pa.string() if name in _TEXTS else pa.int64() if name in WHOLE else pa.float64()
        for name in options.row_columns
    }


def _key_arrays(by: Sequence[str], keys: Keys, schema: pa.Schema | None) -> list[pa.Array]:
    import pyarrow as pa

    arrays = []
    for place, name in enumerate(by):
        kind: Any = schema.field(name).type if schema and name in schema.names else None
        if kind is not None and pa.types.is_dictionary(kind):
            kind = kind.value_type
        arrays.append(pa.array([key[place] for key, n in keys for _ in range(n)], type=kind))
    return arrays


def events_table(
    parts: Sequence[pa.Table],
    options: BatchOptions,
    keys: Keys | None = None,
    schema: pa.Schema | None = None,
) -> pa.Table | None:
    """Put the events of many series in one table; None if there are none."""
    import pyarrow as pa

    if not parts:
        return None
    table = pa.concat_tables(parts, promote_options="permissive")
    if options.is_long:
        table = table.drop_columns([DETECTOR])
    arrays = [*_key_arrays(options.by, keys or [], schema), *table.columns]
    return pa.Table.from_arrays(arrays, names=[*options.by, *table.column_names])


def _events_of(
    answer: Answer, detector: str, table: pa.Table, options: BatchOptions
) -> pa.Table | None:
    """Return the rows of events, if they are asked for; what goes wrong is said in the row."""
    series, scores = answer.series, answer.affiliation
    if not options.per_event or scores is None or series is None:
        return None
    time = None if options.time is None else table.schema.field(options.time).type
    try:
        samples = series.numbers_of_all(scores.events.pair.truth)
        return event_rows(detector, scores, samples, time, ignored=time and not series.timed)
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        answer.row["status"], answer.row["reason"] = FAILED, one_line(error)
        return None


def event_rows(
    detector: str,
    scores: Affiliation,
    samples: tuple[NDArray[np.int64], NDArray[np.int64]],
    time: pa.DataType | None,
    *,
    ignored: bool | None = False,
) -> pa.Table:
    """Return the true events of one series, with what one detector made of each.

    Times are those of the time column, in its time zone. Where they were ignored they are null,
    and so are lengths of time: events are known by the numbers of the samples they start and stop
    at.
    """
    import pyarrow as pa

    events, count = scores.events, len(scores.events)
    columns = {
        DETECTOR: pa.array([detector] * count, type=pa.string()),
        "event": pa.array(np.arange(count)),
        "first_sample": pa.array(samples[0]),
        "last_sample": pa.array(samples[1] - 1),
    }
    zoned = time is not None and pa.types.is_timestamp(time) and time.tz is not None
    for name in COLUMNS:
        if ignored and name in _ON_THE_AXIS:
            columns[name] = pa.nulls(count)
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
