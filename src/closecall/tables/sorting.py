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
    duckdb = _duckdb(name, layout.by, key)
    folder = TemporaryFolder()
    sort = _Sort(layout, name, folder.path, rows)
    try:
        with duckdb.connect() as connection, ThreadPoolExecutor(1) as thread:
            # In a thread, so that Ctrl-C is raised here, and not somewhere inside DuckDB.
            _wait(thread.submit(sort.run, connection, tables), connection)
    except BaseException as error:
        shutil.rmtree(folder.path, ignore_errors=True)
        if isinstance(error.__context__, KeyboardInterrupt):  # a busy connection cannot be closed
            raise error.__context__ from None
        if isinstance(error, (duckdb.OperationalError, OSError)):
            raise sort.without_room(error) from error
        if isinstance(error, (duckdb.Error, arrow("pyarrow").ArrowException)):
            raise sort.refused(error) from error
        raise
    return sort.target, folder


@dataclass(eq=False)
class _Sort:
    layout: Layout
    name: str
    folder: Path
    rows: int
    damage: list[Exception] = field(default_factory=list)
    """What went wrong where the rows were read; DuckDB only passes the text of it on."""
    read_rows: int = 0
    read_bytes: int = 0

    @property
    def target(self) -> Path:
        return self.folder / "sorted.parquet"

    def run(self, connection: Any, tables: Iterable[pa.Table]) -> None:
        """Sort the rows into a Parquet file with the columns that they came with."""
        by, names = self.layout.by, self.layout.schema.names
        connection.sql(f"SET memory_limit = '{_MEMORY}'")
        connection.sql(f"SET temp_directory = {_text(self.folder / 'spill')}")
        connection.register("scattered", self._numbered(tables))
        order = ", ".join(f"{_name(names.index(column))} NULLS LAST" for column in by)
        columns = ", ".join(_name(place) for place in range(len(names)))
        query = f"SELECT {columns} FROM scattered ORDER BY {order}, {_name(len(names))}"  # noqa: S608 - numbers
        try:
            self._write(arrow("pyarrow").RecordBatchReader.from_stream(connection.sql(query)))
        except Exception:
            if self.damage:
                raise self.damage[0] from None
            raise

    def _write(self, batches: Iterable[pa.RecordBatch]) -> None:
        pyarrow, parquet = arrow("pyarrow"), arrow("pyarrow.parquet")
        by, schema = list(self.layout.by), self.layout.schema
        with parquet.ParquetWriter(self.target, schema, use_dictionary=by) as writer:
            for batch in batches:
                table = pyarrow.Table.from_batches([batch]).rename_columns(schema.names)
                writer.write_table(table.cast(schema), row_group_size=self.rows)

    def _numbered(self, tables: Iterable[pa.Table]) -> pa.RecordBatchReader:
        """Add the number of each row, which keeps the order within a series."""
        pyarrow = arrow("pyarrow")
        # Columns are called by their numbers, since DuckDB takes `p` and `P` for one.
        kinds = [*(_plain(one.type) for one in self.layout.schema), pyarrow.int64()]
        schema = pyarrow.schema([(_name(place), kind) for place, kind in enumerate(kinds)])

        def batches() -> Iterator[pa.RecordBatch]:
            try:
                for table in tables:
                    start, self.read_rows = self.read_rows, self.read_rows + table.num_rows
                    numbers = pyarrow.array(np.arange(start, self.read_rows, dtype=np.int64))
                    # Text keys come as codes, which only one more cast turns into text.
                    own = table.cast(self.layout.schema).append_column("number", numbers)
                    plain = own.rename_columns(schema.names).cast(schema)
                    self.read_bytes += plain.nbytes
                    yield from plain.to_batches()
            except Exception as error:
                self.damage.append(error)
                raise

        return pyarrow.RecordBatchReader.from_batches(schema, batches())

    def without_room(self, error: Exception) -> InputError:
        """Return the error for a disk that does not take the rows, with the room they need."""
        needed = _ROOM * self.read_bytes / max(self.read_rows, 1)
        return InputError(
            f"room in {self.folder.parent} to sort {self.name} by {', '.join(self.layout.by)}",
            f"`{first_line(error)}`",
            hint="The variable TMPDIR names the folder. It needs "
            f"{ceil(needed)} MB or more for each million rows.",
        )

    def refused(self, error: Exception) -> InputError:
        """Return the error that tells that DuckDB cannot sort the rows."""
        by = ", ".join(self.layout.by)
        hint = f"Sort the rows by {by} before, then they are taken as they are."
        return InputError(
            f"DuckDB to sort {self.name} by {by}", f"`{first_line(error)}`", hint=hint
        )


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
        missing.hint = (
            f"{missing.hint.removesuffix('.')}, or sort the rows by {', '.join(by)} before."
        )
        raise missing from error


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column is sorted as, since DuckDB knows fewer than Arrow."""
    pyarrow = arrow("pyarrow")
    types = pyarrow.types
    if types.is_date32(kind) or types.is_time32(kind):
        return pyarrow.int32()
    if types.is_temporal(kind) and not types.is_interval(kind):
        return pyarrow.int64()
    return pyarrow.float32() if types.is_float16(kind) else kind


def _name(place: int) -> str:
    return f"c{place}"


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
