"""Rows of a batch in a file: Parquet or CSV, as the name says, and nothing else."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from closecall.errors import InputError, expected
from closecall.tables.reading import arrow, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

_SUFFIXES = (".parquet", ".pq", ".csv")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def require_suffix(path: str | os.PathLike[str], argument: str) -> None:
    """Refuse a name that says neither Parquet nor CSV."""
    if Path(path).suffix not in _SUFFIXES:
        rule = f"`{argument}` to end in .parquet or .csv"
        raise InputError(expected(rule, f"{os.fspath(path)!r}"))


def write_rows(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table; ``-`` is standard output, as CSV. Lengths of time are seconds in CSV."""
    if str(path) != "-":
        require_suffix(path, "path")
    text = Path(path).suffix not in _SUFFIXES[:2]
    columns = {name: table.column(name) for name in table.column_names}
    with naming(path):
        write_table({name: _in_seconds(x) if text else x for name, x in columns.items()}, path)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say which file cannot be written: a full disk does not say it by itself."""
    try:
        yield
    except OSError as error:
        if error.filename is None and str(path) != "-":
            error.filename = os.fspath(path)
        raise


def _in_seconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn lengths of time into seconds; in a text, a number of nanoseconds has lost its unit."""
    pyarrow, compute = arrow("pyarrow"), arrow("pyarrow.compute")
    if not pyarrow.types.is_duration(column.type):
        return column
    ticks = column.cast(pyarrow.int64()).cast(pyarrow.float64(), safe=False)
    return compute.divide(ticks, float(_PER_SECOND[column.type.unit]))
