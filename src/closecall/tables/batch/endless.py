"""One giant series cut in time: its parts are evaluated apart, and only their streams travel."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import read_axis
from closecall.errors import InputError, expected
from closecall.tables.batch import trouble
from closecall.tables.batch.chance_levels import chance_levels
from closecall.tables.batch.event_rows import event_rows, events_table
from closecall.tables.batch.outcome import unread
from closecall.tables.batch.question import ALARMED, CHANCE, COUNTS, DETECTOR
from closecall.tables.batch.row_tables import Keys, rows_table
from closecall.tables.batch.series import Series
from closecall.tables.batch.series_part import SeriesPart, evaluate_part
from closecall.tables.batch.unit import UnitRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation
    from closecall.tables.batch.outcome import Failure, Outcome
    from closecall.tables.batch.question import Question
    from closecall.tables.batch.series_part import DetectorPart
    from closecall.tables.sources.unit import Unit


def can_be_cut(question: Question) -> bool:
    """Say whether parts of a series, evaluated apart, answer the question with the same digits.

    They do for the affiliation metrics of 0/1 predictions, or of scores and a threshold that is a
    number. Any other threshold or metric looks at all samples at once.
    """
    return (
        not question.by
        and [name for name, _ in question.metrics] == ["affiliation"]
        and bool(question.predicted or question.threshold.kind == "number")
        and (question.time is None or question.disorder == "error")
    )


def evaluate_endless(
    units: Sequence[Unit],
    question: Question,
    run: Callable[[Sequence[Unit], Callable[[Unit], SeriesPart]], Iterator[Outcome[SeriesPart]]],
) -> UnitRows:
    """Evaluate one series whose units follow each other in time.

    Memory, here and on the workers, is bounded by one unit, by the true events, and by the
    predicted events around the borders of units.

    Parameters
    ----------
    units
        The parts of the series, in the order of time.
    question
        What is asked; see `can_be_cut`.
    run
        `closecall.tables.batch.engine.run` with its engine: calls a function with every unit and
        yields the outcomes, in any order.

    Raises
    ------
    InputError
        A part could not be read, after all others were: a series with a hole has no scores.
    """
    if not can_be_cut(question):
        raise InputError(
            expected(
                "a question that parts of a series can answer",
                "one that needs all of it",
                'Ask for `metrics=["affiliation"]` with `predicted`, or with a number as '
                "`threshold`.",
            )
        )
    whole, places = SeriesPart(), {unit.key: place for place, unit in enumerate(units)}
    waiting: dict[int, SeriesPart] = {}
    failures: list[Failure] = []
    joined = 0
    function = partial(evaluate_part, question=question)
    with closing(run(units, function)) as outcomes:  # type: ignore[type-var]
        for outcome in outcomes:
            if outcome.value is None:
                failures.append((outcome.key, str(outcome.error)))
                continue
            waiting[places[outcome.key]] = outcome.value
            while joined in waiting:
                whole = whole.followed_by(waiting.pop(joined))
                joined += 1
    if failures:
        raise unread(sorted(failures))
    return _rows(whole, units[0].key, question)


def _rows(whole: SeriesPart, key: str, question: Question) -> UnitRows:
    keys, event_keys = Keys(question.by), Keys(question.by)
    rows, events = [], []
    for place, name in enumerate(question.detectors):
        row = _blank(whole, question)
        rows.append({DETECTOR: name, **row})
        if whole.trouble or not whole.samples:
            continue
        detector = whole.detectors[place]
        result, status = _fill_in(rows[-1], whole, detector, name, question)
        rows[-1]["status"], rows[-1]["reason"] = status
        if question.per_event and result is not None:
            events.append(event_rows(name, result, _numbered(whole, result), whole.time_type))
    table = events_table(event_keys, events, question)
    return UnitRows(key, rows_table(keys, rows, question), table)


def _blank(whole: SeriesPart, question: Question) -> dict[str, Any]:
    empty = trouble.EMPTY, expected("at least one sample", "none")
    status, reason = whole.trouble or (empty if not whole.samples else (trouble.OK, None))
    row: dict[str, Any] = {"status": status, "reason": reason, **dict.fromkeys(COUNTS)}
    row |= {"samples": whole.samples, "threshold": nan}
    row |= {ALARMED: None, **dict.fromkeys((*question.metric_columns, *CHANCE), nan)}
    return row


def _fill_in(
    row: dict[str, Any],
    whole: SeriesPart,
    detector: DetectorPart,
    name: str,
    question: Question,
) -> tuple[Affiliation | None, tuple[str, str | None]]:
    """Put in the numbers of one detector; give its scores by event, status and reason."""
    row |= {"true_samples": whole.true_samples, "true_events": len(whole.numbers)}
    if detector.trouble:
        return None, detector.trouble
    stream = detector.stream
    row |= {
        "predicted_events": stream.alarms,
        "predicted_samples": detector.predicted_samples,
        "hit_samples": detector.hit_samples,
        "threshold": float(question.threshold.value) if question.scores else nan,
    }
    if not row["true_events"]:
        reason = expected("at least one true event", f"none in `{question.truth}`")
        return None, (trouble.NO_EVENT, reason)
    try:
        result = _result(whole, detector, question)
    except InputError as error:
        return None, (trouble.BAD_TIMES, trouble.one_line(error))
    row |= {f"affiliation_{key}": value for key, value in result.values().items()}
    row[ALARMED] = int(np.count_nonzero(result.events.predicted_count))
    row.update(zip(CHANCE, chance_levels(result.events), strict=True))
    return result, _judge(row, detector, name, question)


def _result(whole: SeriesPart, detector: DetectorPart, question: Question) -> Affiliation:
    if question.time is None:
        return detector.stream.result()
    if whole.usual_step is None:
        raise InputError(
            expected(
                f"`{question.time}` to have at least two times, which tell how long a sample is",
                "one",
            )
        )
    try:
        return detector.stream.result()
    except InputError:
        # Uneven times: the last sample lasts the usual step of the last part.
        return detector.stream.result(end=whole.last_time + whole.usual_step)


def _judge(
    row: dict[str, Any], detector: DetectorPart, name: str, question: Question
) -> tuple[str, str | None]:
    if detector.lowest == detector.highest:
        constant = f"{detector.lowest} for every sample"
        return trouble.CONSTANT_SCORE, expected(f"`{name}` to tell samples apart", constant)
    undefined = [column for column in question.metric_columns if isnan(row[column])]
    if not undefined:
        return trouble.OK, None
    metrics = f"{', '.join(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined"
    return trouble.UNDEFINED, expected(f"at least one prediction ({metrics})", "none")


@dataclass(frozen=True, eq=False)
class _NumberedEvents(Series):
    """The true events of a series by the numbers of their samples."""

    ticks: NDArray[Any]
    numbers: NDArray[np.int64]

    def sample_numbers(self, ticks: NDArray[Any]) -> NDArray[np.int64]:
        """Give the numbers of the samples where true events start, or stop."""
        return self.numbers[np.searchsorted(self.ticks, ticks)]


def _numbered(whole: SeriesPart, result: Affiliation) -> Series:
    truth = result.events.pair.truth
    own = whole.numbers.result().events.pair.truth
    axis = read_axis(whole.samples, None, None, of="labels")
    return _NumberedEvents(
        np.empty(0, dtype=np.uint8),
        axis,
        None,
        timed=whole.time_type is not None,
        ticks=np.column_stack((truth.starts, truth.stops)).ravel(),
        numbers=np.column_stack((own.starts, own.stops)).ravel(),
    )
