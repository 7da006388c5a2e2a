"""One series of a table: read once, then a row of numbers for each detector, or what is wrong."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.affiliation.curve import roll_scores, score_rolls
from closecall.affiliation.score import score_pair
from closecall.affiliation.shifts import Chance
from closecall.axis import Axis, IgnoredTime, read_axis, require_increasing
from closecall.clock import SAMPLES, Timed, mixed_zones, on_one_clock, read_times
from closecall.errors import (
    ClosecallError,
    InputError,
    UndefinedMetricError,
    UnevenTimesError,
    expected,
    renamed,
)
from closecall.events import Intervals, read_labels
from closecall.fscore import first_highest
from closecall.parameters import read_length
from closecall.series import (
    Pair,
    Scored,
    TruthInSpan,
    close_series,
    on_axis,
    predict_labels,
    read_scores,
    require_scores,
)
from closecall.tables.batch.options import (
    ALARMED,
    BEST,
    CHANCE,
    IGNORED,
    LEFT_OUT,
    RETUNED,
)
from closecall.tables.batch.status import (
    BAD_LABELS,
    BAD_SCORES,
    BAD_TIMES,
    CONSTANT_SCORE,
    EMPTY,
    FAILED,
    NAN_SCORE,
    NO_EVENT,
    OK,
    UNDEFINED,
    SeriesError,
    one_line,
    with_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.metrics.registry import Metric
    from closecall.tables.batch.options import BatchOptions, Disorder

_DAY = 86_400  # seconds


@dataclass(frozen=True, eq=False)
class Series:
    """The true events of a series, and what is needed to put predictions beside them."""

    labels: NDArray[Any]
    """True labels of all samples, in the order of time."""
    axis: Axis
    """That of all samples."""
    order: NDArray[np.int64] | None
    """How the samples were put in the order of time; None if they came in it."""
    timed: bool
    """Whether the axis is that of the time column."""
    closed: TruthInSpan | None = None
    """The true events in evaluated time; None if nothing is ignored."""
    kept: NDArray[np.bool_] | None = None
    """Which samples are evaluated; None if all are."""

    @cached_property
    def in_span(self) -> TruthInSpan:
        """The true events in the evaluated time of the series."""
        if self.closed is not None:
            return self.closed
        return on_axis(Intervals.from_labels(self.labels, self.axis), self.axis)

    @property
    def evaluated_labels(self) -> NDArray[Any]:
        """True labels of the samples that are evaluated."""
        return self.labels if self.kept is None else self.labels[self.kept]

    def labelled(self, column: pa.ChunkedArray, name: str) -> NDArray[Any]:
        """Read a column of 0/1 predictions."""
        return read_labels(self.in_order(to_numpy(column, name)), name)

    def scored(self, column: pa.ChunkedArray, name: str) -> Scored:
        """Read a column of scores, of which those of ignored samples may be missing."""
        values = score_values(column, name, missing=self.kept is not None)
        scores = read_scores(self.in_order(values), name, nan="ignore")
        require_scores(scores, name, self.kept)
        return Scored.of(self.in_span, scores, self.kept)

    def predicting(self, labels: NDArray[Any]) -> Pair:
        """Put 0/1 predictions beside the true events."""
        return predict_labels(self.in_span, labels, self.kept)

    def sample_numbers(self, events: Intervals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of the evaluated samples events start and stop at, N for the end."""
        axis = self.in_span.axis
        if axis is None or axis.ticks is None:
            return events.starts, events.stops
        ticks = axis.ticks
        return np.searchsorted(ticks, events.starts), np.searchsorted(ticks, events.stops)

    def numbers_of_all(self, events: Intervals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of all samples events start and stop at."""
        first, after = self.sample_numbers(events)
        if self.kept is None:
            return first, after
        numbers = np.flatnonzero(self.kept)
        return numbers[first], numbers[after - 1] + 1

    def in_samples(self, pair: Pair) -> Pair:
        """Count a pair in evaluated samples, whatever their times."""
        if pair.axis is None or pair.axis.ticks is None:
            return pair
        predicted = Intervals(*self.sample_numbers(pair.predicted), SAMPLES)
        return self._sampled.predicting(predicted)

    @cached_property
    def _sampled(self) -> TruthInSpan:
        return _counted(self.evaluated_labels).in_span

    @cached_property
    def positives_before(self) -> NDArray[np.int64]:
        """How many true samples come before each evaluated one, and in all at the end."""
        labels = self.evaluated_labels
        counts = np.empty(labels.size + 1, dtype=np.int64)
        counts[0] = 0
        np.cumsum(labels, out=counts[1:])
        return counts

    def in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what came with the samples in the order of time."""
        return values if self.order is None else values[self.order]


def read_series(table: pa.Table, options: BatchOptions, *, fitting: bool = False) -> Series:
    """Read the truth and the times of one series; `SeriesError` says what is wrong with them.

    With `fitting`, its evaluated time is that which thresholds are chosen on.
    """
    series = _read_whole(table, options)
    if not options.ignores_time:
        return series
    ignore: list[Any] = list(_ignored_samples(series, table, options))
    with with_status(BAD_TIMES):
        ignore += _ignored_ends(series, table, options, fitting=fitting)
        longest = options.max_step if series.timed else None
        if longest is not None:
            read_length(longest, series.axis.clock, "max_step")
    with with_status(EMPTY):
        closed, kept = close_series(series.in_span, series.labels, ignore, longest)
    return replace(series, closed=closed, kept=kept)


def _ignored_samples(
    series: Series, table: pa.Table, options: BatchOptions
) -> Iterator[NDArray[Any]]:
    """Yield 0/1 vectors: the column of what is ignored, and where a detector has no score."""
    if options.ignore is not None:
        with with_status(BAD_LABELS):
            yield series.labelled(table.column(options.ignore), options.ignore)
    if options.nan == "ignore":
        for name in options.scores:
            with suppress(ClosecallError, TypeError):  # its own row says what is wrong with it
                missing = np.isnan(score_values(table.column(name), name, missing=True))
                if not missing.all():  # a detector that was not run takes no time from the others
                    yield series.in_order(missing)


def _ignored_ends(
    series: Series, table: pa.Table, options: BatchOptions, *, fitting: bool
) -> Iterator[IgnoredTime]:
    """Yield the time before and after that which is asked for."""
    limits = {"since": options.since, "until": options.until}
    if options.fit_until is not None:
        limits["fit_until"] = options.fit_until
    for name, moment in limits.items():
        if moment is None:
            continue
        if options.time is not None and not series.timed:
            rule = f"times in their order beside `{name}`"
            raise InputError(expected(rule, "samples that are counted instead"))
        zone = options.time and getattr(table.schema.field(options.time).type, "tz", None)
        (span, (tick,)), clock = on_one_clock(
            Timed("times", np.array([series.axis.start, series.axis.end]), series.axis.clock),
            Timed(name, *read_times([_in_utc(moment, name, zone)], name)),
        )
        start, stop = span
        after = name == "until" or (name == "fit_until" and fitting)
        first, last = (max(start, tick), stop) if after else (start, min(tick, stop))
        if first < last:
            yield IgnoredTime.of(np.array([first]), np.array([last]), clock)


def _in_utc(moment: Any, name: str, zone: str | None) -> Any:
    """Return a time without its zone, as the columns that have one are read in UTC."""
    if zone is None or not isinstance(moment, datetime):
        return moment
    if moment.tzinfo is None:
        raise mixed_zones(f"`{name}` and the times", f"{moment} and times with the zone {zone}")
    return moment.astimezone(UTC).replace(tzinfo=None)


def _read_whole(table: pa.Table, options: BatchOptions) -> Series:
    if table.num_rows == 0:
        raise SeriesError(EMPTY, expected("at least one sample", "none"))
    with with_status(BAD_LABELS):
        labels = read_labels(to_numpy(table.column(options.truth), options.truth), options.truth)
    if options.time is None:
        return _counted(labels)
    column = table.column(options.time)
    if column.null_count and options.disorder == "index":
        return _counted(labels)
    with with_status(BAD_TIMES), renamed({"times": options.time}):
        times = to_numpy(column, options.time)
        return timed_series(
            labels,
            times,
            name=options.time,
            disorder=options.disorder,
            max_step=options.max_step,
        )


def timed_series(
    labels: NDArray[Any],
    times: NDArray[Any],
    *,
    name: str,
    disorder: Disorder,
    max_step: Any = None,
) -> Series:
    """Put labels on an axis; do what `disorder` says, and end uneven times by the median step."""
    # Most series are in order and even; only the others pay for finding out what they are.
    with suppress(ClosecallError):
        axis = read_axis(labels.size, times, None, of="labels", max_step=max_step)
        return Series(labels, axis, None, timed=True)
    try:
        return _mended(labels, times, name, disorder, max_step)
    except InputError:
        # A column that holds no times at all is another error: there is nothing to ignore.
        if disorder != "index":
            raise
        return _counted(labels)


def _counted(labels: NDArray[Any]) -> Series:
    axis = read_axis(labels.size, None, None, of="labels")
    return Series(labels, axis, None, timed=False)


def _mended(
    labels: NDArray[Any], times: NDArray[Any], name: str, disorder: Disorder, max_step: Any
) -> Series:
    ticks, clock = read_times(times, name)
    order = None
    if not (ticks[1:] > ticks[:-1]).all():
        if disorder == "sort":
            order = np.argsort(ticks, kind="stable")
            labels, times, ticks = labels[order], times[order], ticks[order]
        require_increasing(ticks, clock, name)
    if ticks.size == 1:
        raise InputError(
            expected(f"`{name}` to have at least two times, which tell how long a sample is", "one")
        )
    if max_step is not None:
        read_length(max_step, clock, "max_step")
    try:
        axis = read_axis(times.size, times, None, of="labels", max_step=max_step)
    except UnevenTimesError as error:
        axis = read_axis(times.size, times, error.end, of="labels")
    return Series(labels, axis, order, timed=True)


def to_numpy(column: pa.ChunkedArray, name: str) -> NDArray[Any]:
    """Return a column as an array; datetimes with a time zone become datetimes in UTC.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_numpy(pa.chunked_array([[0.5], [1.5]]), "score")
    array([0.5, 1.5])
    """
    if column.null_count:
        raise _missing(column, name)
    plain = plain_values(column)
    chunk = plain.chunk(0) if plain.num_chunks == 1 else plain.combine_chunks()
    array: NDArray[Any] = chunk.to_numpy(zero_copy_only=False)
    return array


def score_values(column: pa.ChunkedArray, name: str, *, missing: bool) -> NDArray[Any]:
    """Return a column of scores as an array; nulls are nan if some may be missing."""
    import pyarrow as pa

    if missing and column.null_count:
        column = plain_values(column)
        if not pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        column = column.fill_null(nan)
    return to_numpy(column, name)


def plain_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn categories into their values, and decimals, which numpy does not know, into floats."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain_values(column.cast(kind.value_type))
    return column.cast(pa.float64()) if pa.types.is_decimal(kind) else column


def _missing(column: pa.ChunkedArray, name: str) -> InputError:
    import pyarrow.compute as pc

    index = pc.index(column.is_null(), value=True).as_py()
    return InputError(
        expected(
            f"`{name}` to have no missing values",
            f"a null at index {index}",
            "Drop or fill those rows first.",
        )
    )


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


def read_scored_column(series: Series, column: pa.ChunkedArray, name: str) -> Scored:
    """Read a column of scores; nan and null have a status of their own."""
    with with_status(BAD_SCORES, values=NAN_SCORE):
        return series.scored(column, name)


def _chosen_on_many(options: BatchOptions, key: tuple[Any, ...], detector: str) -> float:
    threshold = options.shared_threshold(detector, key)
    if isnan(threshold):
        folds = len(options.fold_keys) + 1
        rule, got = "a true event in the other folds of series to choose a threshold by", "none"
        if options.threshold.kind != "cross_fit":
            rule = "a true event in any series to choose a threshold by"
        elif folds == 1:
            rule, got = "two series or more, to choose a threshold for each on others", "one"
        raise UndefinedMetricError(expected(rule, got))
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
