"""Bring the rows of each series together on disk, where they lie apart in a large file."""

from __future__ import annotations

import importlib
import shutil
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, MissingExtraError, first_line
from closecall.tables.reading import arrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from closecall.tables.grouping import Key

_MEMORY = "512MB"
_ROOM = 1.5  # bytes on disk for each byte in memory; 1.2 to 1.4 were measured with DuckDB 2
_PATIENCE = 0.2  # seconds between looks at the keyboard


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
    """Sort rows by their key columns with DuckDB into a Parquet file, whatever their number.

    Rows of a series keep their order. DuckDB holds at most half a gigabyte and puts the rest
    beside the target, in a folder that is removed if the sort fails. `key` is a series whose rows
    lie apart, and `rows` the length of a row group.
    """
    duckdb = _duckdb(name, by, key)
    sorted_as, seen = _sortable(schema), _Seen()
    batches = _numbered(tables, schema, sorted_as, seen)

    def sort(connection: Any) -> None:
        reader = arrow("pyarrow").RecordBatchReader
        spill = str(target.with_name("spill")).replace("'", "''")
        connection.sql(f"SET memory_limit = '{_MEMORY}'")
        connection.sql(f"SET temp_directory = '{spill}'")
        connection.register("scattered", reader.from_batches(sorted_as, batches))
        *columns, number = sorted_as.names
        order = [f"{columns[schema.names.index(name)]} NULLS LAST" for name in by]
        query = f"SELECT {', '.join(columns)} FROM scattered ORDER BY {', '.join([*order, number])}"  # noqa: S608 - numbers
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
        if seen.damage is not None:
            raise seen.damage from None
        rule, got = f"to sort {name} by {', '.join(by)}", f"`{first_line(error)}`"
        if isinstance(error, (duckdb.OperationalError, OSError)):
            room = f"{ceil(_ROOM * seen.row_bytes)} MB or more for each million rows"
            hint = f"The variable TMPDIR names the folder. It needs {room}."
            raise InputError(f"room in {target.parent.parent} {rule}", got, hint=hint) from error
        if isinstance(error, (duckdb.Error, arrow("pyarrow").ArrowException)):
            hint = f"Sort the rows by {', '.join(by)} before, then they are taken as they are."
            raise InputError(f"DuckDB {rule}", got, hint=hint) from error
        raise


@dataclass
class _Seen:
    """What was noticed where the rows were read."""

    damage: Exception | None = None
    """Why they cannot be; DuckDB only passes the text of it on."""
    row_bytes: float = 0.0


def _numbered(
    tables: Iterable[pa.Table], schema: pa.Schema, sorted_as: pa.Schema, seen: _Seen
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with their numbers, which keep the order within a series."""
    first = 0
    try:
        for table in tables:
            numbers = np.arange(first, first + table.num_rows, dtype=np.int64)
            first += table.num_rows
            # Text keys come as codes, which only one more cast turns into text.
            plain = table.cast(schema).append_column("", arrow("pyarrow").array(numbers))
            plain = plain.rename_columns(sorted_as.names).cast(sorted_as)
            seen.row_bytes = plain.nbytes / max(table.num_rows, 1)
            yield from plain.to_batches()
    except Exception as error:
        seen.damage = error
        raise


def _sortable(schema: pa.Schema) -> pa.Schema:
    """Return the types that columns are sorted as, since DuckDB knows fewer, and the number's.

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
    named = [(f"c{place}", kind) for place, kind in enumerate([*kinds, pyarrow.int64()])]
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
