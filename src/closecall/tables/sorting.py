"""Bring the rows of each series together on disk, where they lie apart in a large file."""

from __future__ import annotations

import importlib
import shutil
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, MissingExtraError, first_line
from closecall.tables.reading import arrow
from closecall.tables.units import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from closecall.tables.grouping import Key
    from closecall.tables.parquet_units import Layout

_MEMORY = "512MB"
_ROOM = 1.5  # bytes on disk for each byte in memory; 1.2 to 1.4 were measured with DuckDB 2
_PATIENCE = 0.2  # seconds between looks at the keyboard


def sort_out_of_core(
    tables: Iterable[pa.Table], layout: Layout, *, name: str, key: Key, rows: int
) -> tuple[Path, TemporaryFolder]:
    """Sort rows by their key columns with DuckDB, whatever their number.

    Rows of a series keep their order. DuckDB holds at most half a gigabyte and puts the rest in
    the temporary folder, which also holds the sorted file.
    """
    by = ", ".join(layout.by)
    duckdb = _duckdb(name, layout.by, key)
    folder, numbered = TemporaryFolder(), _Numbered(layout.schema)
    target = folder.path / "sorted.parquet"
    try:
        with duckdb.connect() as connection, ThreadPoolExecutor(1) as thread:
            # In a thread, so that Ctrl-C is raised here, and not somewhere inside DuckDB.
            batches = numbered.batches(tables)
            _wait(thread.submit(_sort, connection, batches, layout, target, rows), connection)
    except BaseException as error:
        shutil.rmtree(folder.path, ignore_errors=True)
        if isinstance(error.__context__, KeyboardInterrupt):  # a busy connection cannot be closed
            raise error.__context__ from None
        if numbered.damage:
            raise numbered.damage[0] from None
        if isinstance(error, (duckdb.OperationalError, OSError)):
            raise InputError(
                f"room in {folder.path.parent} to sort {name} by {by}",
                f"`{first_line(error)}`",
                hint="The variable TMPDIR names the folder. It needs "
                f"{ceil(_ROOM * numbered.row_bytes)} MB or more for each million rows.",
            ) from error
        if isinstance(error, (duckdb.Error, arrow("pyarrow").ArrowException)):
            hint = f"Sort the rows by {by} before, then they are taken as they are."
            got = f"`{first_line(error)}`"
            raise InputError(f"DuckDB to sort {name} by {by}", got, hint=hint) from error
        raise
    return target, folder


def _sort(
    connection: Any, batches: pa.RecordBatchReader, layout: Layout, target: Path, rows: int
) -> None:
    """Sort the rows into a Parquet file with the columns that they came with."""
    pyarrow, schema = arrow("pyarrow"), layout.schema
    spill = str(target.with_name("spill")).replace("'", "''")
    connection.sql(f"SET memory_limit = '{_MEMORY}'")
    connection.sql(f"SET temp_directory = '{spill}'")
    connection.register("scattered", batches)
    *columns, number = batches.schema.names
    order = [f"{columns[schema.names.index(name)]} NULLS LAST" for name in layout.by]
    query = f"SELECT {', '.join(columns)} FROM scattered ORDER BY {', '.join([*order, number])}"  # noqa: S608 - numbers
    found = pyarrow.RecordBatchReader.from_stream(connection.sql(query))
    writer = arrow("pyarrow.parquet").ParquetWriter
    with writer(target, schema, use_dictionary=list(layout.by)) as file:
        for batch in found:
            table = pyarrow.Table.from_batches([batch]).rename_columns(schema.names)
            file.write_table(table.cast(schema), row_group_size=rows)


@dataclass(eq=False)
class _Numbered:
    """Rows with their numbers, which keep the order within a series."""

    schema: pa.Schema
    damage: list[Exception] = field(default_factory=list)
    """What went wrong where the rows were read; DuckDB only passes the text of it on."""
    row_bytes: float = 0.0

    def batches(self, tables: Iterable[pa.Table]) -> pa.RecordBatchReader:
        """Return the rows as DuckDB takes them."""
        pyarrow = arrow("pyarrow")
        # Columns are called by their places, since DuckDB takes `p` and `P` for one.
        kinds = [*(_sortable(kind) for kind in self.schema.types), pyarrow.int64()]
        schema = pyarrow.schema([(f"c{place}", kind) for place, kind in enumerate(kinds)])

        def read() -> Iterator[pa.RecordBatch]:
            rows = 0
            try:
                for table in tables:
                    numbers = np.arange(rows, rows + table.num_rows, dtype=np.int64)
                    rows += table.num_rows
                    # Text keys come as codes, which only one more cast turns into text.
                    plain = table.cast(self.schema).append_column("", pyarrow.array(numbers))
                    plain = plain.rename_columns(schema.names).cast(schema)
                    self.row_bytes = plain.nbytes / max(table.num_rows, 1)
                    yield from plain.to_batches()
            except Exception as error:
                self.damage.append(error)
                raise

        return pyarrow.RecordBatchReader.from_batches(schema, read())


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


def _sortable(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column is sorted as, since DuckDB knows fewer than Arrow."""
    pyarrow = arrow("pyarrow")
    types = pyarrow.types
    if types.is_date32(kind) or types.is_time32(kind):
        return pyarrow.int32()
    if types.is_temporal(kind) and not types.is_interval(kind):
        return pyarrow.int64()
    return pyarrow.float32() if types.is_float16(kind) else kind
