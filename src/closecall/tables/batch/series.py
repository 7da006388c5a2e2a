"""One series of a table: read once, then a row of numbers for each detector, or what is wrong."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.affiliation.score import score_pair
from closecall.axis import Axis, read_axis, require_increasing
from closecall.clock import SAMPLES, read_times
from closecall.errors import ClosecallError, InputError, UndefinedMetricError, expected, renamed
from closecall.events import Intervals, read_labels
from closecall.series import Pair, Scored, TruthInSpan, on_axis, read_scores
from closecall.tables.batch.options import ALARMED, CHANCE
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
    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.clock import Clock
    from closecall.metrics.registry import Metric
    from closecall.series import Pair
    from closecall.tables.batch.options import BatchOptions, Disorder


@dataclass(frozen=True, eq=False)
class Series:
    """The true events of a series, and what is needed to put predictions beside them."""

    labels: NDArray[Any]
    """True labels, in the order of time."""
    axis: Axis
    order: NDArray[np.int64] | None
    """How the samples were put in the order of time; None if they came in it."""
    timed: bool
    """Whether the axis is that of the time column."""

    @cached_property
    def in_span(self) -> TruthInSpan:
        """The true events in the span of the series."""
        return on_axis(Intervals.from_labels(self.labels, self.axis), self.axis)

    def labelled(self, column: pa.ChunkedArray, name: str) -> NDArray[Any]:
        """Read a column of 0/1 predictions."""
        return read_labels(self._in_order(to_numpy(column, name)), name)

    def scored(self, column: pa.ChunkedArray, name: str) -> Scored:
        """Read a column of scores."""
        scores = read_scores(self._in_order(to_numpy(column, name)), name)
        return Scored.of(self.in_span, scores)

    def predicting(self, labels: NDArray[Any]) -> Pair:
        """Put 0/1 predictions beside the true events."""
        return self.in_span.predicting(Intervals.from_labels(labels, self.axis))

    def sample_numbers(self, events: Intervals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of the samples where events start and stop, N for the end."""
        if self.axis.ticks is None:
            return events.starts, events.stops
        ticks = self.axis.ticks
        return np.searchsorted(ticks, events.starts), np.searchsorted(ticks, events.stops)

    def in_samples(self, pair: Pair) -> Pair:
        """Count a pair in samples, whatever their times."""
        if self.axis.ticks is None:
            return pair
        predicted = Intervals(*self.sample_numbers(pair.predicted), SAMPLES)
        return self._sampled.predicting(predicted)

    @cached_property
    def _sampled(self) -> TruthInSpan:
        return _counted(self.labels).in_span

    @cached_property
    def positives_before(self) -> NDArray[np.int64]:
        """How many true samples come before each one, and in all at the end."""
        counts = np.empty(self.labels.size + 1, dtype=np.int64)
        counts[0] = 0
        np.cumsum(self.labels, out=counts[1:])
        return counts

    def _in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.order is None else values[self.order]


def read_series(table: pa.Table, options: BatchOptions) -> Series:
    """Read the truth and the times of one series; `SeriesError` says what is wrong with them."""
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
        return timed_series(labels, times, name=options.time, disorder=options.disorder)


def timed_series(
    labels: NDArray[Any], times: NDArray[Any], *, name: str, disorder: Disorder
) -> Series:
    """Put labels on an axis; do what `disorder` says, and end uneven times by the median step."""
    # Most series are in order and even; only the others pay for finding out what they are.
    with suppress(ClosecallError):
        return Series(labels, read_axis(labels.size, times, None, of="labels"), None, timed=True)
    try:
        return _mended(labels, times, name, disorder)
    except InputError:
        # A column that holds no times at all is another error: there is nothing to ignore.
        if disorder != "index":
            raise
        return _counted(labels)


def _counted(labels: NDArray[Any]) -> Series:
    axis = read_axis(labels.size, None, None, of="labels")
    return Series(labels, axis, None, timed=False)


def _mended(labels: NDArray[Any], times: NDArray[Any], name: str, disorder: Disorder) -> Series:
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
    return Series(labels, _axis_of(times, ticks, clock), order, timed=True)


def _axis_of(times: NDArray[Any], ticks: NDArray[Any], clock: Clock) -> Axis:
    try:
        return read_axis(ticks.size, times, None, of="labels")
    except InputError:
        # Whether steps are even is the axis' own judgement; this is the step that its hint names.
        steps = np.sort(np.diff(ticks))
        end = clock.native(ticks[-1:] + steps[steps.size // 2])[0]
        return read_axis(ticks.size, times, end, of="labels")


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
    table: pa.Table, options: BatchOptions, detector: str | None = None
) -> list[Answer]:
    """Evaluate every detector on one series; never raises for what is wrong with the series."""
    blank = dict(options.blank_row, samples=table.num_rows)
    try:
        series = read_series(table, options)
        blank["true_events"] = len(series.in_span.truth)
        blank["true_samples"] = int(series.positives_before[-1])
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        return [Answer(blank | _status_of(error)) for _ in options.detectors]
    answers = []
    for name in options.detectors:
        try:
            given = _Given.read(series, table, name, options, detector or name)
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

    @classmethod
    def read(
        cls, series: Series, table: pa.Table, name: str, options: BatchOptions, detector: str
    ) -> _Given:
        column = table.column(name)
        if options.predicted:
            with with_status(BAD_LABELS):
                labels = series.labelled(column, name)
            return cls(None, None, nan, series.predicting(labels))
        scored = read_scored_column(series, column, name)
        needed = options.needs_curve and len(series.in_span.truth) > 0
        curve = affiliation_curve(scored, None) if needed else None
        threshold = _threshold(scored, curve, options, detector)
        pair = None if isnan(threshold) else scored.at(threshold)
        return cls(scored, curve, threshold, pair)

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


def _threshold(
    scored: Scored, curve: AffiliationCurve | None, options: BatchOptions, detector: str
) -> float:
    rule = options.threshold
    if rule.kind == "none" or (rule.kind == "best_f1" and curve is None):
        return nan
    if rule.kind == "best_f1_global":
        return options.shared.get(detector, nan)
    threshold: float = rule.choose(scored, curve)
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
    if scores is not None and options.has_affiliation:
        fill_chance(row, scores)
    row["status"], row["reason"] = failure or judge(row, given.constant, name, options)
    return Answer(row, scores, series)


def fill_chance(row: dict[str, Any], scores: Affiliation) -> None:
    """Fill in how many true events have an alarm, and what the same alarms reach when moved."""
    row[ALARMED] = int(np.count_nonzero(scores.events.predicted_count))
    row.update(zip(CHANCE, scores.chance.values().values(), strict=True))


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
    row: dict[str, Any], constant: Any, name: str, options: BatchOptions
) -> tuple[str, str | None]:
    """Return the status and the reason of numbers that were computed.

    `constant` is the score that every sample has, None if they differ.
    """
    if not row["true_events"]:
        return NO_EVENT, expected("at least one true event", f"none in `{options.truth}`")
    if constant is not None:
        got = f"{constant} for every sample"
        return CONSTANT_SCORE, expected(f"`{name}` to tell samples apart", got)
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
