"""Rows written to a temporary Parquet file, in row groups of the size that units are made of."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from closecall.errors import InputError, expected
from closecall.tables.reading import arrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.sources.content import ContentDigest


def write_in_row_groups(
    path: str,
    tables: Iterable[pa.Table],
    *,
    rows: int,
    by: Sequence[str],
    digest: ContentDigest | None = None,
) -> None:
    """Write tables of one schema below each other, and hash them if that is wanted.

    Parameters
    ----------
    path
        Where to write.
    tables
        The rows, part by part; at least one part. The file does not depend on how they are cut.
    rows
        How many rows a row group has.
    by
        The key columns, which are written as codes.
    digest
        Is given the rows as they pass by.
    """
    parquet = arrow("pyarrow.parquet")
    row_groups = _cut(iter(tables), rows)
    first = next(row_groups)
    try:
        with parquet.ParquetWriter(path, first.schema, use_dictionary=list(by)) as writer:
            for table in chain([first], row_groups):
                writer.write_table(table, row_group_size=table.num_rows)
                if digest is not None:
                    digest.update(table)
    except OSError as error:
        rule = f"room in {Path(path).parent.parent} for a copy of the rows"
        hint = "The variable TMPDIR names the folder."
        raise InputError(expected(rule, f"`{error}`", hint)) from error


def _cut(parts: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    pyarrow = arrow("pyarrow")
    waiting = next(parts)
    while True:
        while waiting.num_rows >= rows:
            yield waiting.slice(0, rows)
            waiting = waiting.slice(rows)
        part = next(parts, None)
        if part is None:
            break
        waiting = pyarrow.concat_tables([waiting, part])
    if waiting.num_rows:
        yield waiting
