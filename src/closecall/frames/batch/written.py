"""Rows of a batch in a file: Parquet or CSV, as the name says, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from closecall.errors import InputError, expected
from closecall.frames.files import write_table

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = (".parquet", ".pq", ".csv")


def require_suffix(path: str | os.PathLike[str], argument: str) -> None:
    """Refuse a name that says neither Parquet nor CSV."""
    if Path(path).suffix not in _SUFFIXES:
        rule = f"`{argument}` to end in .parquet or .csv"
        raise InputError(expected(rule, f"{os.fspath(path)!r}"))


def write_rows(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table; ``-`` is standard output, as CSV."""
    if str(path) != "-":
        require_suffix(path, "path")
    write_table({name: table.column(name) for name in table.column_names}, path)
