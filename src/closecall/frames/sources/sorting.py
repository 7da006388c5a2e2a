"""Bring the rows of each series together on disk, where they lie apart in a large file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import MissingExtraError
from closecall.frames.files import arrow
from closecall.frames.sources.temporary import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from closecall.frames.sources.row_groups import Layout
    from closecall.frames.sources.unit import Key

_ROW_NUMBER = "closecall row number"
_MEMORY = "512MB"
_SMALLEST_ROW_GROUP = 2048  # what DuckDB writes at least


def sort_out_of_core(
    tables: Iterable[pa.Table], layout: Layout, *, name: str, key: Key, rows: int
) -> tuple[Path, TemporaryFolder]:
    """Sort rows by their key columns with DuckDB, whatever their number.

    Rows of a series keep their order. DuckDB holds at most half a gigabyte and puts the rest in
    the temporary folder, which also holds the sorted file.

    Parameters
    ----------
    tables
        The rows, part by part.
    layout
        The columns, and which of them are the keys.
    name
        What messages call the data.
    key
        A series whose rows lie apart, for the message.
    rows
        How many rows a row group of the sorted file has.

    Raises
    ------
    MissingExtraError
        DuckDB is not installed.
    """
    duckdb = _duckdb(name, layout.by, key)
    folder = TemporaryFolder()
    target = folder.path / "sorted.parquet"
    reader = _numbered(tables, layout.schema)
    with duckdb.connect() as connection:
        connection.sql(f"SET memory_limit = '{_MEMORY}'")
        connection.sql(f"SET temp_directory = {_text(folder.path / 'spill')}")
        connection.register("scattered", reader)
        order = ", ".join(f"{_name(column)} NULLS LAST" for column in layout.by)
        columns = ", ".join(_name(column) for column in layout.schema.names)
        connection.sql(
            f"COPY (SELECT {columns} FROM scattered ORDER BY {order}, {_name(_ROW_NUMBER)}) "  # noqa: S608 - quoted
            f"TO {_text(target)} "
            f"(FORMAT parquet, ROW_GROUP_SIZE {max(_SMALLEST_ROW_GROUP, rows)})"
        )
    return target, folder


def _duckdb(name: str, by: tuple[str, ...], key: Key) -> Any:
    try:
        return importlib.import_module("duckdb")
    except ModuleNotFoundError as error:
        series = ", ".join(f"{column}={value!r}" for column, value in zip(by, key, strict=True))
        what = f"the rows of {series} lie apart in {name}, and must be sorted by {', '.join(by)}"
        raise MissingExtraError(f"duckdb ({what})", "duckdb") from error


def _numbered(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.RecordBatchReader:
    """Add the number of each row, which keeps the order within a series."""
    pyarrow = arrow("pyarrow")
    numbered = schema.append(pyarrow.field(_ROW_NUMBER, pyarrow.int64()))

    def batches() -> Iterator[pa.RecordBatch]:
        start = 0
        for table in tables:
            stop = start + table.num_rows
            numbers = pyarrow.array(np.arange(start, stop, dtype=np.int64))
            plain = table.cast(schema).append_column(_ROW_NUMBER, numbers)
            yield from plain.to_batches()
            start = stop

    return pyarrow.RecordBatchReader.from_batches(numbered, batches())


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
