"""One unit of a batch: some series in, their rows out; what a worker is sent and sends back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from closecall.frames.batch.event_rows import event_rows, events_table
from closecall.frames.batch.one_series import evaluate_series
from closecall.frames.batch.question import DETECTOR
from closecall.frames.batch.row_tables import Keys, rows_table
from closecall.frames.batch.trouble import OK

if TYPE_CHECKING:
    import pyarrow as pa

    from closecall.frames.batch.question import Question
    from closecall.frames.sources.unit import Unit


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
            if question.per_event and answer.affiliation is not None and answer.series is not None:
                time = None if question.time is None else table.schema.field(question.time).type
                parts.append(event_rows(own or name, answer.affiliation, answer.series, time))
                event_keys.add(key, table, parts[-1].num_rows)
        if question.strict and any(answer.row["status"] != OK for answer in answers):
            break
    return UnitRows(
        unit.key, rows_table(keys, rows, question), events_table(event_keys, parts, question)
    )


def detector_of(key: tuple[Any, ...], question: Question) -> str | None:
    """Give the detector that the key of a series names, if `by` says so."""
    return str(key[question.by.index(DETECTOR)]) if question.is_long else None
