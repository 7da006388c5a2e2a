"""Cut row groups into units of whole series: the key columns are read once, and cut at runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closecall.errors import InputError
from closecall.tables.reading import arrow
from closecall.tables.sources.memory import number_keys, run_starts, run_values, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.sources.content import ContentDigest
    from closecall.tables.sources.parquet import Layout, RowGroup
    from closecall.tables.sources.source import Key, UnitSize


class ScatteredError(Exception):
    """The rows of a series lie apart, over more row groups than one unit may hold."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class Span:
    """Consecutive row groups that make one unit."""

    first: int
    last: int
    """The row group after the last one."""
    skipped: int
    """Rows at the start that belong to the unit before."""
    borrowed: int
    """Rows of row group `last` that complete the last series."""


def plan_spans(layout: Layout, row_groups: Sequence[RowGroup], size: UnitSize) -> list[Span]:
    """Cut the row groups into units; `ScatteredError` if no unit could hold all of a series."""
    columns = len(layout.schema)
    if not row_groups:
        return []
    if sum(one.rows for one in row_groups) * columns <= size.largest:
        return [Span(0, len(row_groups), 0, 0)]
    # A giant series has no borders to look for: its units are as large as they may be.
    smallest = size.smallest if layout.by else size.largest
    spans: list[Span] = []
    first = skipped = held = 0
    for number, carried in enumerate(_carried(layout, row_groups)):
        # Rows that complete the last series of the row group before, if it is cut here.
        if held >= (size.largest if carried else smallest) and carried < row_groups[number].rows:
            spans.append(Span(first, number, skipped, carried))
            first, skipped, held = number, carried, 0
        held += row_groups[number].rows * columns
    spans.append(Span(first, len(row_groups), skipped, 0))
    return spans


def _carried(layout: Layout, row_groups: Sequence[RowGroup]) -> Iterator[int]:
    """Yield how many rows of each row group belong to the last series of the one before it."""
    if not layout.by:
        yield from (0 for _ in row_groups)
        return
    finished: set[Key] = set()
    last: Key | None = None
    for row_group in row_groups:
        here = RowGroupKeys.read(layout, row_group)
        first = next(iter(here.keys))
        apart = [key for key in here.keys if key in finished and key != last]
        if last in here.keys and (first != last or here.first_returns):
            apart.append(last)
        if apart:
            raise ScatteredError(apart[0])
        yield here.head if first == last else 0
        finished.update(here.keys)
        last = here.last


@dataclass(frozen=True)
class RowGroupKeys:
    """Which series a row group holds, and what happens at its two ends."""

    keys: dict[Key, None]
    """In order of appearance."""
    last: Key
    head: int
    """How many rows the first series has before another one begins."""
    first_returns: bool
    """Whether the first series comes back after another one."""

    @classmethod
    def read(cls, layout: Layout, row_group: RowGroup) -> RowGroupKeys:
        """Read the key columns of a row group."""
        only = row_group.file.key(layout.by)
        if only is not None:  # the names of folders say it
            return cls({only: None}, only, row_group.rows, False)
        table = layout.read(row_group.file, [row_group.index], layout.by)
        columns = [whole(table.column(name), name) for name in layout.by]
        starts = run_starts(columns)
        values = [run_values(column, starts) for column in columns]
        numbers, firsts = number_keys(values)
        lists = (value.take(firsts).to_pylist() for value in values)
        keys = [tuple(_same_nan(value) for value in key) for key in zip(*lists, strict=True)]
        others = np.flatnonzero(numbers != 0)
        run = int(others[0]) if len(others) else len(numbers)
        return cls(
            keys=dict.fromkeys(keys),
            last=keys[numbers[-1]],
            head=int(starts[run]) if run < len(starts) else row_group.rows,
            first_returns=bool((numbers[run:] == 0).any()),
        )


def _same_nan(value: object) -> object:
    """Return one nan for all: it differs from itself, unless it is the same object."""
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def write_in_row_groups(
    path: str,
    tables: Iterable[pa.Table],
    *,
    rows: int,
    by: Sequence[str],
    digest: ContentDigest | None = None,
) -> None:
    """Write tables of one schema below each other, and hash them if that is wanted."""
    parquet = arrow("pyarrow.parquet")
    row_groups = _cut(iter(tables), rows)
    first = next(row_groups)
    try:
        with parquet.ParquetWriter(path, first.schema, use_dictionary=list(by)) as writer:
            for table in chain([first], row_groups):
                writer.write_table(table, row_group_size=max(1, table.num_rows))
                if digest is not None:
                    digest.update(table)
    except OSError as error:
        rule = f"room in {Path(path).parent.parent} for a copy of the rows"
        hint = "The variable TMPDIR names the folder."
        raise InputError.expected(rule, f"`{error}`", hint) from error


def _cut(parts: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    pyarrow = arrow("pyarrow")
    waiting = next(parts)
    any_rows = False
    while True:
        while waiting.num_rows >= rows:
            any_rows = True
            yield waiting.slice(0, rows)
            waiting = waiting.slice(rows)
        part = next(parts, None)
        if part is None:
            break
        waiting = pyarrow.concat_tables([waiting, part])
    if waiting.num_rows or not any_rows:
        yield waiting
