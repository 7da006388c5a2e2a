"""The rows of each series together; and tables in blocks, as streams, and as a hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputTypeError
from closecall.tables.reading import arrow, plain_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

Key = tuple[Any, ...]
_LARGEST_TEXT = 2**31 - 1  # bytes that the offsets of a plain Arrow string array can count
_HASHED_ROWS = 2**18  # hashed together, wherever chunks begin and end


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


def in_blocks(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Yield the rows of tables of one schema again, so many at a time; at least one table."""
    held, any_rows = None, False
    for table in tables:
        held = table if held is None else arrow("pyarrow").concat_tables([held, table])
        while held.num_rows >= rows:
            any_rows = True
            yield held.slice(0, rows)
            held = held.slice(rows)
    if held is not None and (held.num_rows or not any_rows):
        yield held


def content_digest(tables: Iterable[pa.Table]) -> str:
    """Return a hash of the names, types and values of tables, wherever they were cut."""
    pyarrow, digest = arrow("pyarrow"), hashlib.sha256()
    for number, block in enumerate(in_blocks(tables, _HASHED_ROWS)):
        if number == 0:
            plain = [(field.name, str(field.type)) for field in plain_schema(block.schema)]
            digest.update(repr(plain).encode())
        for column in block.columns:
            array = _plain(column)
            # What lies under a null means nothing, and may differ between equal tables.
            for part in (array.is_null().cast("uint8"), array.drop_null()):
                digest.update(pyarrow.record_batch([part], names=["column"]).serialize())
    return digest.hexdigest()


def to_stream(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = arrow("pyarrow").BufferOutputStream()
    with arrow("pyarrow.ipc").new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_streams(streams: bytes) -> list[pa.Table]:
    """Return the tables of Arrow streams that follow each other."""
    source = arrow("pyarrow").BufferReader(streams)
    tables = []
    while source.tell() < source.size():
        tables.append(arrow("pyarrow.ipc").open_stream(source).read_all())
    return tables


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Return one array of the values themselves; bits would keep those of their neighbours."""
    pyarrow = arrow("pyarrow")
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_string_view(kind):
        column = column.cast(pyarrow.large_string())
    elif types.is_boolean(kind):
        column = column.cast(pyarrow.uint8())
    return column.combine_chunks()
