"""A table in memory, sliced by its key columns and cut into units of whole series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputTypeError
from closecall.tables.reading import arrow
from closecall.tables.sources.content import content_digest, from_streams, to_stream
from closecall.tables.sources.source import Source, UnitSize, needed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.sources.paths import Damage, DataFile
    from closecall.tables.sources.source import Key, Kind, Unit

_LARGEST_TEXT = 2**31 - 1  # bytes that the offsets of a plain Arrow string array can count


@dataclass(frozen=True, eq=False)
class Grouped:
    """A table whose series lie one after the other."""

    table: pa.Table
    keys: list[Key]
    """Key of each series, in order of first appearance."""
    bounds: list[int]
    """Where each series begins, and where the last one ends."""

    def __iter__(self) -> Iterator[tuple[Key, pa.Table]]:
        table = self.table
        for key, start, stop in zip(self.keys, self.bounds, self.bounds[1:], strict=False):
            yield key, table.slice(start, stop - start)

    def part(self, first: int, last: int) -> Grouped:
        """Return the series from number `first` up to `last`, without a copy."""
        start, stop = self.bounds[first], self.bounds[last]
        bounds = [bound - start for bound in self.bounds[first : last + 1]]
        return Grouped(self.table.slice(start, stop - start), self.keys[first:last], bounds)


def group(table: pa.Table, by: Sequence[str]) -> Grouped:
    """Bring the rows of each series together, in their order; copy nothing if they are."""
    if not table.num_rows:
        return Grouped(table, [], [0])
    if not by:
        return Grouped(table, [()], [0, table.num_rows])
    table = _without_views(table)
    starts, numbers, keys = key_runs(table, by)
    bounds = np.append(starts, table.num_rows)
    if len(keys) < len(starts):
        table, bounds = _gather(table, numbers, bounds)
    return Grouped(table, keys, bounds.tolist())


def key_runs(
    table: pa.Table, by: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Key]]:
    """Return where runs of one key begin, the number of the key of each, and the keys."""
    columns = [whole(table.column(name), name) for name in by]
    starts = run_starts(columns)
    values = [run_values(column, starts) for column in columns]
    numbers, firsts = number_keys(values)
    keys = list(zip(*(value.take(firsts).to_pylist() for value in values), strict=True))
    return starts, numbers, keys


def whole(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return a key column as one array that can be compared."""
    pyarrow = arrow("pyarrow")
    kind = column.type
    if pyarrow.types.is_nested(kind):
        raise InputTypeError(f"column {name!r} to hold plain values", f"{kind}", argument="by")
    if pyarrow.types.is_dictionary(kind):
        return column.unify_dictionaries().combine_chunks()
    if pyarrow.types.is_string_view(kind) or (
        pyarrow.types.is_string(kind) and column.nbytes > _LARGEST_TEXT
    ):
        column = column.cast(pyarrow.large_string())
    return column.combine_chunks()


def run_starts(columns: Sequence[pa.Array]) -> NDArray[np.int64]:
    """Return where a row's key differs from the row before; the first row always does."""
    pyarrow, compute = arrow("pyarrow"), arrow("pyarrow.compute")
    starts = np.zeros(len(columns[0]) + 1, dtype=np.bool_)
    starts[0] = True
    for column in columns:
        codes = column.indices if pyarrow.types.is_dictionary(column.type) else column
        starts[compute.run_end_encode(codes, pyarrow.int64()).run_ends.to_numpy()] = True
    return np.flatnonzero(starts[:-1])


def run_values(column: pa.Array, starts: NDArray[np.int64]) -> pa.Array:
    """Return the key of each run, decoded, and as times that Python can hold where it can."""
    pyarrow = arrow("pyarrow")
    values = column.take(pyarrow.array(starts))
    if pyarrow.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pyarrow.types.is_timestamp(values.type) and values.type.unit == "ns":
        try:
            return values.cast(pyarrow.timestamp("us", values.type.tz))
        except pyarrow.ArrowInvalid:
            return values
    return values


def number_keys(values: Sequence[pa.Array]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each run the number of its key, in order of appearance, and each key its first run."""
    pyarrow = arrow("pyarrow")
    numbers: NDArray[np.int64] = np.zeros(len(values[0]), dtype=np.int64)
    for value in values:
        encoded = value.dictionary_encode(null_encoding="encode")
        combined = numbers * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy()
        # Numbered anew after every column, so that the product never overflows.
        numbers = pyarrow.array(combined).dictionary_encode().indices.to_numpy().astype(np.int64)
    highest = np.maximum.accumulate(numbers)
    return numbers, np.flatnonzero(np.diff(highest, prepend=-1))


def _without_views(table: pa.Table) -> pa.Table:
    """Turn views of text into text, since views cannot be moved."""
    pyarrow = arrow("pyarrow")
    for index, field in enumerate(table.schema):
        if pyarrow.types.is_string_view(field.type):
            text = table.column(index).cast(pyarrow.large_string())
            table = table.set_column(index, field.name, text)
    return table


def _gather(
    table: pa.Table, numbers: NDArray[np.int64], bounds: NDArray[np.int64]
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Move whole runs, since there are fewer of them than rows."""
    # Short numbers are sorted by counting, which is ten times faster.
    short = numbers.astype(np.uint16) if numbers.max() < 2**16 else numbers
    order = np.argsort(short, kind="stable")
    lengths = np.diff(bounds)[order]
    stops = np.cumsum(lengths)
    rows = np.repeat(bounds[:-1][order] - (stops - lengths), lengths) + np.arange(table.num_rows)
    taken = table.combine_chunks().take(arrow("pyarrow").array(rows))
    counts = np.bincount(numbers, weights=np.diff(bounds)).astype(np.int64)
    return taken, np.concatenate([[0], np.cumsum(counts)])


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
    options: BatchOptions,
    *,
    kind: Kind,
    name: str,
    size: UnitSize | None = None,
    fingerprint: str | None = None,
) -> Source:
    """Make a source of an Arrow table; only the columns that are needed are kept."""
    kept = table.select(needed_columns(table.column_names, options, name))
    kept = kept.replace_schema_metadata(None)
    sizes = size or UnitSize()

    def identify() -> str:
        return f"{kind}:{content_digest(kept)}" if fingerprint is None else fingerprint

    @cache
    def grouped() -> Grouped:
        return group(kept, options.by)

    return Source(
        name,
        kind,
        kept.schema,
        identify,
        units=lambda: _units(grouped(), sizes),
        count=lambda: len(grouped().keys),
    )


def with_other_files(
    source: Source, vacant: Iterable[DataFile], filled: Iterable[DataFile], damage: Damage
) -> Source:
    """Add series that only files without rows name, and a unit that fails for a damaged file."""
    known = {file.key(damage.by) for file in (*filled, *damage.errors)} | {None}
    named = dict.fromkeys(file.key(damage.by) for file in vacant)
    keys = [key for key in named if key is not None and key not in known]
    others: list[Unit] = [*damage.units()]
    if keys:
        without_rows = Grouped(source.schema.empty_table(), keys, [0] * (len(keys) + 1))
        others.insert(0, MemoryUnit("series without rows", without_rows))
    return replace(
        source, units=lambda: [*source.units(), *others], count=lambda: source.count() + len(keys)
    )


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


def _stream(table: pa.Table) -> bytes:
    pyarrow = arrow("pyarrow")
    table = table.combine_chunks()
    for index, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            # Only the values of these series travel, not those of the whole table.
            own = table.column(index).cast(field.type.value_type).dictionary_encode()
            table = table.set_column(index, field.name, own)
    return to_stream(table)


def _from_stream(key: str, keys: list[Key], bounds: list[int], stream: bytes) -> MemoryUnit:
    (table,) = from_streams(stream)
    return MemoryUnit(key, Grouped(table, keys, bounds))
