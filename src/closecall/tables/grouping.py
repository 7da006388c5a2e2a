"""The rows of each series together, in memory or on disk; tables in blocks, streams and a hash."""

from __future__ import annotations

import hashlib
import importlib
import math
import shutil
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, MissingExtraError, first_line
from closecall.tables.reading import arrow, plain_schema, value_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

Key = tuple[Any, ...]
_LARGEST_TEXT = 2**31 - 1  # bytes that the offsets of a plain Arrow string array can count
_HASHED_ROWS = 2**18  # hashed together, wherever chunks begin and end
_MEMORY = "512MB"
_PATIENCE = 0.2  # seconds between looks at the keyboard


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
    """Return where runs of one key begin, the number of the key of each, and the keys.

    Equal keys of two tables are equal in Python, too: there is one nan.
    """
    columns = [whole(table.column(name), name) for name in by]
    starts = _run_starts(columns)
    values = [run_values(column, starts) for column in columns]
    numbers, firsts = number_keys(values)
    lists = [value.take(firsts).to_pylist() for value in values]
    for place, value in enumerate(values):
        if arrow("pyarrow").types.is_floating(value.type):
            lists[place] = [math.nan if key != key else key for key in lists[place]]  # noqa: PLR0124
    return starts, numbers, list(zip(*lists, strict=True))


def whole(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return a key column as one array of values that are equal where their bits are."""
    pyarrow = arrow("pyarrow")
    types, kind = pyarrow.types, value_type(column.type)
    if types.is_nested(kind):
        raise InputTypeError(f"column {name!r} to hold plain values", f"{kind}", argument="by")
    if types.is_floating(kind):  # -0.0 becomes 0.0
        column = arrow("pyarrow.compute").add(column.cast(pyarrow.float64()), 0.0).cast(kind)
    elif types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    elif types.is_string_view(kind) or (types.is_string(kind) and column.nbytes > _LARGEST_TEXT):
        column = column.cast(pyarrow.large_string())
    return column.combine_chunks()


def _run_starts(columns: Sequence[pa.Array]) -> NDArray[np.int64]:
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
        with suppress(pyarrow.ArrowInvalid):
            return values.cast(pyarrow.timestamp("us", values.type.tz))
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


def sort_out_of_core(
    tables: Iterable[pa.Table],
    schema: pa.Schema,
    by: tuple[str, ...],
    target: Path,
    *,
    name: str,
    key: Key,
    rows: int,
) -> None:
    """Sort rows by series with DuckDB into a Parquet file, whatever their number.

    Series are in order of first appearance and their rows in their order: DuckDB sorts two columns
    of numbers, so that it need not agree on which keys are equal. It holds at most half a gigabyte
    and puts the rest beside the target, in a folder that is removed if the sort fails. `key` is a
    series whose rows lie apart, and `rows` the length of a row group.
    """
    duckdb = _duckdb(name, by, key)
    damage: list[Exception] = []  # why rows cannot be read; DuckDB only passes on the text of it
    sorted_as = _sortable(schema)
    batches = _numbered(tables, by, sorted_as, damage)

    def sort(connection: Any) -> None:
        reader = arrow("pyarrow").RecordBatchReader
        spill = str(target.with_name("spill")).replace("'", "''")
        connection.sql(f"SET memory_limit = '{_MEMORY}'")
        connection.sql(f"SET temp_directory = '{spill}'")
        connection.register("scattered", reader.from_batches(sorted_as, batches))
        *columns, series, row = sorted_as.names
        query = f"SELECT {', '.join(columns)} FROM scattered ORDER BY {series}, {row}"  # noqa: S608 - numbers
        writer = arrow("pyarrow.parquet").ParquetWriter
        with writer(target, schema, use_dictionary=list(by)) as file:
            for batch in reader.from_stream(connection.sql(query)):
                table = arrow("pyarrow").Table.from_batches([batch]).rename_columns(schema.names)
                file.write_table(table.cast(schema), row_group_size=rows)

    try:
        with duckdb.connect() as connection, ThreadPoolExecutor(1) as thread:
            # In a thread, so that Ctrl-C is raised here, and not somewhere inside DuckDB.
            _wait(thread.submit(sort, connection), connection)
    except BaseException as error:
        shutil.rmtree(target.parent, ignore_errors=True)
        if isinstance(error.__context__, KeyboardInterrupt):  # a busy connection cannot be closed
            raise error.__context__ from None
        if damage:
            raise damage[0] from None
        rule, got = f"to sort {name} by {', '.join(by)}", f"`{first_line(error)}`"
        if isinstance(error, (duckdb.OperationalError, OSError)):
            hint = "The variable TMPDIR names the folder. It needs twice the size of the rows."
            raise InputError(f"room in {target.parent.parent} {rule}", got, hint=hint) from error
        if isinstance(error, (duckdb.Error, arrow("pyarrow").ArrowException)):
            hint = f"Sort the rows by {', '.join(by)} before, then they are taken as they are."
            raise InputError(f"DuckDB {rule}", got, hint=hint) from error
        raise


def _numbered(
    tables: Iterable[pa.Table], by: tuple[str, ...], sorted_as: pa.Schema, damage: list[Exception]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with the numbers of their series, and their own."""
    array, first = arrow("pyarrow").array, 0
    known: dict[Key, int] = {}
    try:
        for table in tables:
            starts, numbers, keys = key_runs(table, by)
            series = np.array([known.setdefault(key, len(known)) for key in keys])[numbers]
            series = np.repeat(series, np.diff(starts, append=table.num_rows))
            row = np.arange(first, first + table.num_rows)
            first += table.num_rows
            plain = table.append_column("", array(series)).append_column("", array(row))
            yield from plain.rename_columns(sorted_as.names).cast(sorted_as).to_batches()
    except Exception as error:
        damage.append(error)
        raise


def _sortable(schema: pa.Schema) -> pa.Schema:
    """Return the types that columns are sorted as, since DuckDB knows fewer, and of the numbers.

    Columns are called by their places, since DuckDB takes `p` and `P` for one.
    """
    pyarrow = arrow("pyarrow")
    types, kinds = pyarrow.types, []
    for kind in schema.types:
        if types.is_date32(kind) or types.is_time32(kind):
            kinds.append(pyarrow.int32())
        elif types.is_temporal(kind) and not types.is_interval(kind):
            kinds.append(pyarrow.int64())
        else:
            kinds.append(pyarrow.float32() if types.is_float16(kind) else kind)
    named = [(f"c{place}", kind) for place, kind in enumerate([*kinds, *[pyarrow.int64()] * 2])]
    return pyarrow.schema(named)


def _wait(work: Future[None], connection: Any) -> None:
    """Wait for DuckDB; Ctrl-C stops it."""
    try:
        while not work.done():
            wait([work], timeout=_PATIENCE)
    except BaseException:
        while not work.done():
            connection.interrupt()  # more than once: it does not count between two statements
            wait([work], timeout=_PATIENCE)
        raise
    work.result()


def _duckdb(name: str, by: tuple[str, ...], key: Key) -> Any:
    try:
        return importlib.import_module("duckdb")
    except ModuleNotFoundError as error:
        series = ", ".join(f"{column}={value!r}" for column, value in zip(by, key, strict=True))
        what = f"the rows of {series} lie apart in {name}, and must be sorted by {', '.join(by)}"
        missing = MissingExtraError(f"duckdb ({what})", "duckdb")
        hint = missing.hint.removesuffix(".")
        missing.hint = f"{hint}, or sort the rows by {', '.join(by)} before."
        raise missing from error


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
