"""One unit of a batch: some series in, their rows out; what a worker is sent and sends back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from closecall.tables.batch.event_rows import event_rows, events_table
from closecall.tables.batch.one_series import Answer, evaluate_series
from closecall.tables.batch.question import DETECTOR
from closecall.tables.batch.row_tables import Keys, rows_table
from closecall.tables.batch.trouble import FAILED, OK, one_line

if TYPE_CHECKING:
    import pyarrow as pa

    from closecall.tables.batch.question import Question
    from closecall.tables.sources.unit import Unit


@dataclass(frozen=True, slots=True)
class UnitRows:
    """What came of a unit: a row for each of its series and detectors, and for each true event."""

    key: str
    rows: pa.Table
    events: pa.Table | None = None


def evaluate_unit(unit: Unit, question: Question) -> UnitRows:
    """Evaluate every series of a unit; a strict question stops at the first one in trouble."""
    rows: list[dict[str, Any]] = []
    parts: list[pa.Table] = []
    keys, event_keys = Keys(question.by), Keys(question.by)
    for key, table in unit.groups():
        own = detector_of(key, question)
        answers = evaluate_series(table, question, own)
        keys.add(key, table, len(answers))
        for name, answer in zip(question.detectors, answers, strict=True):
            answer.row[DETECTOR] = own or name
            rows.append(answer.row)
            events = _events_of(answer, own or name, table, question)
            if events is not None:
                parts.append(events)
                event_keys.add(key, table, events.num_rows)
        if question.strict and any(answer.row["status"] != OK for answer in answers):
            break
    return UnitRows(
        unit.key, rows_table(keys, rows, question), events_table(event_keys, parts, question)
    )


def _events_of(
    answer: Answer, detector: str, table: pa.Table, question: Question
) -> pa.Table | None:
    """Give the rows of events, if they are asked for; what goes wrong is said in the row."""
    if not question.per_event or answer.affiliation is None or answer.series is None:
        return None
    time = None if question.time is None else table.schema.field(question.time).type
    try:
        return event_rows(detector, answer.affiliation, answer.series, time)
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        answer.row["status"], answer.row["reason"] = FAILED, one_line(error)
        return None


def detector_of(key: tuple[Any, ...], question: Question) -> str | None:
    """Give the detector that the key of a series names, if `by` says so."""
    return str(key[question.by.index(DETECTOR)]) if question.is_long else None
