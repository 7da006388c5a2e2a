"""The rows of a batch: of each series and detector, of each true event, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.result import COLUMNS
from closecall.tables.batch.options import ALARMED, COUNTS, DETECTOR, LEFT_OUT, OUTCOMES
from closecall.tables.batch.series import evaluate_series
from closecall.tables.batch.status import FAILED, OK, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.batch.series import Answer
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

EVENT_COLUMNS = ("event", "first_sample", "last_sample", *COLUMNS)
"""The columns of a row of an event, after the key and the detector."""


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

    columns = options.row_columns
    types = [
        pa.string() if name in _TEXTS else pa.int64() if name in WHOLE else pa.float64()
        for name in columns
    ]
    arrays = [
        pa.array([row[name] for row in rows], type=kind)
        for name, kind in zip(columns, types, strict=True)
    ]
    by = _key_arrays(options.by, keys or [], schema)
    return pa.Table.from_arrays([*by, *arrays], names=[*options.by, *columns])


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
    """Join tables of rows and sort them by key, then as the detectors were given, then by event.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from closecall.tables.batch.options import BatchOptions
    >>> options = BatchOptions.read(by="series", truth="label", score=["b", "a"])
    >>> parts = [pa.table({"series": [key] * 2, "detector": ["a", "b"]}) for key in ("y", "x")]
    >>> in_order(parts, options).to_pylist()[:2]
    [{'series': 'x', 'detector': 'b'}, {'series': 'x', 'detector': 'a'}]
    """
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
