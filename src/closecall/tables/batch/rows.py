"""The rows of a batch: of each series and detector, of each true event, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.event_scores import COLUMNS
from closecall.tables.batch.options import ALARMED, COUNTS, DETECTOR
from closecall.tables.batch.series import Answer, evaluate_series
from closecall.tables.batch.status import FAILED, OK, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from closecall.affiliation import Affiliation
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.batch.series import Series
    from closecall.tables.sources.source import Unit

_TEXTS = (DETECTOR, "status", "reason")
_WHOLE = (*COUNTS, ALARMED)


class Keys:
    """The values of the `by` columns, in their own types, row by row."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.values: list[list[Any]] = [[] for _ in names]
        self.types: dict[str, Any] = {}

    def add(self, key: Sequence[Any], table: pa.Table, times: int) -> None:
        """Note that the next rows belong to a series, and learn the types from its table."""
        if len(self.types) < len(self.names):
            self._learn_types(table)
        for values, value in zip(self.values, key, strict=True):
            values.extend([value] * times)

    def _learn_types(self, table: pa.Table) -> None:
        import pyarrow as pa

        for name in self.names:
            kind: Any = table.schema.field(name).type if name in table.column_names else None
            coded = kind is not None and pa.types.is_dictionary(kind)
            self.types[name] = kind.value_type if coded else kind

    def arrays(self) -> list[pa.Array]:
        """Give the columns."""
        import pyarrow as pa

        return [
            pa.array(values, type=self.types.get(name))
            for name, values in zip(self.names, self.values, strict=True)
        ]


def rows_table(keys: Keys, rows: Sequence[dict[str, Any]], options: BatchOptions) -> pa.Table:
    """Put rows of series and detectors under their columns."""
    import pyarrow as pa

    columns = options.row_columns
    arrays = [pa.array([row[name] for row in rows], type=_type_of(name)) for name in columns]
    return pa.Table.from_arrays([*keys.arrays(), *arrays], names=[*keys.names, *columns])


def _type_of(name: str) -> Any:
    import pyarrow as pa

    if name in _TEXTS:
        return pa.string()
    return pa.int64() if name in _WHOLE else pa.float64()


# What would have to be simulated, for each series and detector, takes longer than all the rest.
_EXACT = tuple(name for name in COLUMNS if name != "f1_above_chance")
_TIMES = frozenset(COLUMNS[:4])
_ON_THE_AXIS = _TIMES | {
    "precision_distance",
    "recall_distance",
    "predicted_duration",
    "early",
    "late",
    "delay",
}


def event_rows(
    detector: str, scores: Affiliation, series: Series, time: pa.DataType | None
) -> pa.Table:
    """Give the true events of one series, with what one detector made of each.

    Times are those of the time column, in its time zone. Where a series' times were ignored they
    are null, and so are lengths of time: its events are known by the numbers of their samples.
    """
    import pyarrow as pa

    events, count = scores.events, len(scores.events)
    truth = events.pair.truth
    ignored = time is not None and not series.timed
    columns = {
        DETECTOR: pa.array([detector] * count, type=pa.string()),
        "event": pa.array(np.arange(count)),
        "first_sample": pa.array(series.sample_numbers(truth.starts)),
        "last_sample": pa.array(series.sample_numbers(truth.stops) - 1),
    }
    for name in _EXACT:
        if ignored and name in _ON_THE_AXIS:
            columns[name] = pa.nulls(count)
            continue
        array = pa.array(np.ascontiguousarray(getattr(events, name)))
        columns[name] = _in_zone(array, time) if name in _TIMES else array
    return pa.table(columns)


def _in_zone(array: pa.Array, time: pa.DataType | None) -> pa.Array:
    """Give stamps, which are in UTC here, the time zone of the time column."""
    import pyarrow as pa

    if time is None or not pa.types.is_timestamp(time) or time.tz is None:
        return array
    return array.view(pa.timestamp(array.type.unit, time.tz))


def events_table(keys: Keys, parts: Sequence[pa.Table], options: BatchOptions) -> Any:
    """Put the events of many series in one table; the keys say whose they are."""
    import pyarrow as pa

    if not parts:
        return None
    table = pa.concat_tables(parts, promote_options="permissive")
    if options.is_long:
        table = table.drop_columns([DETECTOR])
    arrays = [*keys.arrays(), *table.columns]
    return pa.Table.from_arrays(arrays, names=[*keys.names, *table.column_names])


@dataclass(frozen=True, slots=True)
class UnitRows:
    """What came of a unit: a row for each of its series and detectors, and for each true event."""

    key: str
    rows: pa.Table
    events: pa.Table | None = None


def evaluate_unit(unit: Unit, options: BatchOptions) -> UnitRows:
    """Evaluate every series of a unit; a strict options stops at the first one in trouble."""
    rows: list[dict[str, Any]] = []
    parts: list[pa.Table] = []
    keys, event_keys = Keys(options.by), Keys(options.by)
    for key, table in unit.groups():
        own = detector_of(key, options)
        answers = evaluate_series(table, options, own)
        keys.add(key, table, len(answers))
        for name, answer in zip(options.detectors, answers, strict=True):
            answer.row[DETECTOR] = own or name
            rows.append(answer.row)
            events = _events_of(answer, own or name, table, options)
            if events is not None:
                parts.append(events)
                event_keys.add(key, table, events.num_rows)
        if options.strict and any(answer.row["status"] != OK for answer in answers):
            break
    return UnitRows(
        unit.key, rows_table(keys, rows, options), events_table(event_keys, parts, options)
    )


def _events_of(
    answer: Answer, detector: str, table: pa.Table, options: BatchOptions
) -> pa.Table | None:
    """Give the rows of events, if they are asked for; what goes wrong is said in the row."""
    if not options.per_event or answer.affiliation is None or answer.series is None:
        return None
    time = None if options.time is None else table.schema.field(options.time).type
    try:
        return event_rows(detector, answer.affiliation, answer.series, time)
    except Exception as error:  # noqa: BLE001 - a series in trouble must not stop the others
        answer.row["status"], answer.row["reason"] = FAILED, one_line(error)
        return None


def detector_of(key: tuple[Any, ...], options: BatchOptions) -> str | None:
    """Give the detector that the key of a series names, if `by` says so."""
    return str(key[options.by.index(DETECTOR)]) if options.is_long else None


_PLACE = "__place__"


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
    keys = [(name, "ascending") for name in options.by]
    sortable = _with_sortable_keys(table, options)
    if not options.is_long:
        given = pa.array(options.detectors, type=pa.string())
        places = pc.index_in(table.column(DETECTOR), value_set=given)
        sortable = sortable.append_column(_PLACE, places)
        keys.append((_PLACE, "ascending"))
    if "event" in table.column_names:
        keys.append(("event", "ascending"))
    return table.take(pc.sort_indices(sortable, sort_keys=keys))


def _with_sortable_keys(table: pa.Table, options: BatchOptions) -> pa.Table:
    """Give floats of half precision, which Arrow does not sort, the precision that it does."""
    import pyarrow as pa

    for name in options.by:
        if pa.types.is_float16(table.schema.field(name).type):
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(name).cast(pa.float32()))
    return table
