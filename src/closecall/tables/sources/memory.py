"""A table in memory, cut into units of whole series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from closecall.tables.reading import arrow
from closecall.tables.sources.content import content_digest
from closecall.tables.sources.grouping import Grouped, group
from closecall.tables.sources.needed import needed_columns
from closecall.tables.sources.source import Source
from closecall.tables.sources.unit import UnitSize

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from closecall.tables.batch.question import Question
    from closecall.tables.sources.source import Kind
    from closecall.tables.sources.unit import Key, Unit


@dataclass(frozen=True, eq=False)
class MemoryUnit:
    """Some series of a table; it takes its rows along when it is pickled."""

    key: str
    grouped: Grouped

    @property
    def rows(self) -> int:
        """How many rows the series have."""
        return int(self.grouped.table.num_rows)

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series."""
        # Slices of many chunks are slow to cut and slow to use.
        table = self.grouped.table.combine_chunks()
        return iter(Grouped(table, self.grouped.keys, self.grouped.bounds))

    def __reduce__(self) -> tuple[Any, ...]:
        # A slice would be pickled with all the rows around it; a stream of batches holds its own.
        grouped = self.grouped
        return _from_stream, (self.key, grouped.keys, grouped.bounds, _stream(grouped.table))


def memory_source(
    table: pa.Table,
    question: Question,
    *,
    kind: Kind,
    name: str,
    size: UnitSize | None = None,
    fingerprint: str | None = None,
) -> Source:
    """Make a source of an Arrow table; only the columns that are needed are kept.

    Parameters
    ----------
    table
        The rows.
    question
        Which columns are asked for.
    kind
        The kind of table that a result is given back in.
    name
        What messages call the table.
    size
        How many values a unit has.
    fingerprint
        What the data is; a hash of the values if not given, worked out when it is needed.
    """
    kept = table.select(needed_columns(table.column_names, question, name))
    kept = kept.replace_schema_metadata(None)
    sizes = size or UnitSize()

    def identify() -> str:
        return f"{kind}:{content_digest(kept)}" if fingerprint is None else fingerprint

    def plan() -> list[Unit]:
        return _units(group(kept, question.by), sizes)

    return Source(name, kind, kept.schema, identify, plan)


def _units(grouped: Grouped, size: UnitSize) -> list[Unit]:
    wanted = size.rows(columns=grouped.table.num_columns)
    units: list[Unit] = []
    first = 0
    for last in range(1, len(grouped.keys) + 1):
        start, stop = grouped.bounds[first], grouped.bounds[last]
        if stop - start >= wanted or last == len(grouped.keys):
            units.append(MemoryUnit(f"rows {start}-{stop}", grouped.part(first, last)))
            first = last
    return units


def _stream(table: pa.Table) -> pa.Buffer:
    pyarrow = arrow("pyarrow")
    table = table.combine_chunks()
    for index, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            # Only the values of these series travel, not those of the whole table.
            own = table.column(index).cast(field.type.value_type).dictionary_encode()
            table = table.set_column(index, field.name, own)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _from_stream(key: str, keys: list[Key], bounds: list[int], stream: pa.Buffer) -> MemoryUnit:
    table = arrow("pyarrow").ipc.open_stream(stream).read_all()
    return MemoryUnit(key, Grouped(table, keys, bounds))
