"""One series of a table: a row of numbers for each detector, or a row that says what is wrong."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.affiliation.score import score_pair
from closecall.clock import SAMPLES
from closecall.errors import InputError, UndefinedMetricError, expected
from closecall.events import Intervals
from closecall.fscore import first_highest
from closecall.tables.batch import trouble
from closecall.tables.batch.chance_levels import chance_levels
from closecall.tables.batch.question import ALARMED, CHANCE, CHANCE_AVERAGE
from closecall.tables.batch.series import Series, read_series
from closecall.tables.batch.trouble import TroubleError, blamed_on, one_line

if TYPE_CHECKING:
    import pyarrow as pa

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.metrics.registry import Metric
    from closecall.series import Pair, Scored
    from closecall.tables.batch.question import Question


class Answer(NamedTuple):
    """What is known of one detector on one series."""

    row: dict[str, Any]
    """Every column of the result but `by` and the detector; None where there is nothing to say."""
    affiliation: Affiliation | None
    """Scores of each true event, where there are any."""
    series: Series | None
    """The series that was read, where it could be."""


def evaluate_series(
    table: pa.Table, question: Question, detector: str | None = None
) -> list[Answer]:
    """Evaluate every detector on one series; never raises for what is wrong with the series.

    Parameters
    ----------
    table
        The samples of the series, with the columns of the question.
    question
        What is asked.
    detector
        Whose threshold is used, where a column of the table says it; by default the detector is
        the column that is evaluated.
    """
    try:
        series = read_series(table, question)
        _ = series.in_span
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        row = dict(question.blank_row, samples=table.num_rows)
        row["status"], row["reason"] = _status_of(error)
        return [Answer(dict(row), None, None) for _ in question.detectors]
    return [
        _safely_evaluated(series, table, name, question, detector or name)
        for name in question.detectors
    ]


def _safely_evaluated(
    series: Series, table: pa.Table, name: str, question: Question, detector: str
) -> Answer:
    try:
        return _evaluate_detector(series, table, name, question, detector)
    except Exception as error:  # noqa: BLE001 - neither the other detectors nor the other series
        row = dict(question.blank_row, samples=table.num_rows)
        row["status"], row["reason"] = _status_of(error)
        return Answer(row, None, None)


def _evaluate_detector(
    series: Series, table: pa.Table, name: str, question: Question, detector: str
) -> Answer:
    row = dict(question.blank_row, samples=table.num_rows)
    row["true_events"] = len(series.in_span.truth)
    row["true_samples"] = int(series.positives_before[-1])
    try:
        given = _Given.read(series, table, name, question, detector)
    except Exception as error:  # noqa: BLE001 - the other detectors go on
        row["status"], row["reason"] = _status_of(error)
        return Answer(row, None, series)
    _count(row, series, given.pair)
    row["threshold"] = float(given.threshold)  # an integer of many digits is rounded here only
    scores, failure = _fill_in(row, series, given, question)
    row["status"], row["reason"] = failure or _judge(row, given, name, question)
    return Answer(row, scores, series)


class _Given(NamedTuple):
    """What a detector gave: its scores, or its predictions, or both with a threshold between."""

    scored: Scored | None
    curve: AffiliationCurve | None
    threshold: float
    pair: Pair | None

    @property
    def constant(self) -> Any:
        """The score that every sample has; None where they differ, or there are none."""
        if self.scored is None:
            return None
        scores = self.scored.scores
        same = len(self.curve) == 1 if self.curve is not None else scores.min() == scores.max()
        return scores[0] if same else None

    @classmethod
    def read(
        cls, series: Series, table: pa.Table, name: str, question: Question, detector: str
    ) -> _Given:
        column = table.column(name)
        if question.predicted:
            with blamed_on(trouble.BAD_LABELS):
                labels = series.labelled(column, name)
            return cls(None, None, nan, series.predicting(labels))
        scored = read_scored_column(series, column, name)
        needed = question.needs_curve and len(series.in_span.truth) > 0
        curve = affiliation_curve(scored, None) if needed else None
        threshold = _threshold(scored, curve, question, detector)
        pair = None if isnan(threshold) else scored.at(threshold)
        return cls(scored, curve, threshold, pair)


def read_scored_column(series: Series, column: pa.ChunkedArray, name: str) -> Scored:
    """Read a column of scores; nan and null are trouble of their own."""
    with blamed_on(trouble.BAD_SCORES):
        try:
            return series.scored(column, name)
        except InputError as error:
            # The one rule about values: numbers of any size, but nothing missing.
            raise TroubleError(trouble.NAN_SCORE, one_line(error)) from error


def _threshold(
    scored: Scored, curve: AffiliationCurve | None, question: Question, detector: str
) -> float:
    rule = question.threshold
    if rule.kind == "number":
        return rule.value
    if rule.kind == "quantile":
        # An actual score: it predicts what the interpolated quantile would, and knows infinities.
        level: float = np.quantile(scored.scores, rule.value, method="higher").item()
        return level
    if rule.kind == "best_f1_global":
        return question.shared.get(detector, nan)
    if curve is None or rule.kind == "none":
        return nan
    # As `curve.best()`, without what its constraints cost.
    best: float = curve.thresholds[first_highest(curve.f1)].item()
    return best


def _count(row: dict[str, Any], series: Series, pair: Pair | None) -> None:
    """Count predicted events and samples, and the true samples among them."""
    if pair is None:
        return
    starts, stops = (
        series.sample_numbers(x) for x in (pair.predicted.starts, pair.predicted.stops)
    )
    before = series.positives_before
    row["predicted_events"] = starts.size
    row["predicted_samples"] = int((stops - starts).sum())
    row["hit_samples"] = int((before[stops] - before[starts]).sum())


def _fill_in(
    row: dict[str, Any], series: Series, given: _Given, question: Question
) -> tuple[Affiliation | None, tuple[str, str] | None]:
    """Compute what is asked, each metric on its own; give the scores by event, and a failure."""
    scores, failure = None, None
    if given.pair is not None and len(given.pair.truth) and question.needs_event_scores:
        scores = score_pair(given.pair)
    for entry, parameters in question.entries:
        try:
            values = _values(entry, parameters, series, given, scores)
        except UndefinedMetricError:
            continue
        except Exception as error:  # noqa: BLE001 - the other metrics go on
            failure = failure or (trouble.FAILED, f"{entry.name}: {one_line(error)}")
            continue
        for name, value in values.items():
            row[entry.name if name == "value" else f"{entry.name}_{name}"] = _number(value)
    if scores is not None and question.has_affiliation:
        row[ALARMED] = int(np.count_nonzero(scores.events.predicted_count))
        row.update(zip(CHANCE, chance_levels(scores.events), strict=True))
    if given.curve is not None and question.has_average_precision:
        row[CHANCE_AVERAGE] = given.curve.chance_average_precision
    return scores, failure


def _values(
    entry: Metric,
    parameters: dict[str, Any],
    series: Series,
    given: _Given,
    scores: Affiliation | None,
) -> dict[str, Any]:
    """Give the numbers of one metric, as `closecall.evaluate` would; nothing without its input."""
    if entry.name == "affiliation":
        return {} if scores is None else scores.values()
    if entry.name == "affiliation_average_precision":
        return {} if given.curve is None else {"value": given.curve.average_precision}
    if entry.takes == "scores":
        source: Any = given.scored
    elif entry.counts_samples and parameters.get("by") != "duration":
        source = None if given.pair is None else _in_samples(series, given.pair)
    else:
        source = given.pair
    if source is None:
        return {}
    values: dict[str, Any] = entry.function(source, None, **parameters).values()
    return values


def _in_samples(series: Series, pair: Pair) -> Pair:
    """Count a pair in samples, whatever their times."""
    if series.axis.ticks is None:
        return pair
    starts, stops = (
        series.sample_numbers(x) for x in (pair.predicted.starts, pair.predicted.stops)
    )
    predicted = Intervals(starts, stops, SAMPLES)
    return series.by_samples.in_span.predicting(predicted)


def _number(value: Any) -> float:
    """Give a number of a metric as a float; lengths of time in seconds."""
    return float(value / np.timedelta64(1, "s") if isinstance(value, np.timedelta64) else value)


def _judge(
    row: dict[str, Any], given: _Given, name: str, question: Question
) -> tuple[str, str | None]:
    """Say what there is to know about numbers that were computed."""
    if not row["true_events"]:
        return trouble.NO_EVENT, expected("at least one true event", f"none in `{question.truth}`")
    if given.constant is not None:
        constant = f"{given.constant} for every sample"
        return trouble.CONSTANT_SCORE, expected(f"`{name}` to tell samples apart", constant)
    undefined = [column for column in question.metric_columns if isnan(row[column])]
    if not undefined:
        return trouble.OK, None
    metrics = f"{', '.join(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined"
    if row["predicted_events"] == 0:
        return trouble.UNDEFINED, expected(f"at least one prediction ({metrics})", "none")
    return trouble.UNDEFINED, expected("numbers for every metric", f"{metrics} for this series")


def _status_of(error: Exception) -> tuple[str, str]:
    if isinstance(error, TroubleError):
        return error.status, one_line(error)
    return trouble.FAILED, one_line(error)
