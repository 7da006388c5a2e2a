"""Cut row groups into units of whole series."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.tables.files import arrow
from closecall.tables.sources.memory import number_keys, run_starts, run_values, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.sources.content import ContentDigest
    from closecall.tables.sources.parquet import Layout, RowGroup
    from closecall.tables.sources.source import UnitSize

Place = tuple[Any, ...]
"""A value as it is ordered: its rank, and then itself if it is an ordinary one."""
OrderedKey = tuple[Place, ...]

_LEAST: Place = (0,)
_NAN: Place = (2,)
_NULL: Place = (3,)
_GREATEST: Place = (4,)


def place(value: Any) -> Place:
    """Write a key value so that any two values of a column can be compared.

    Examples
    --------
    >>> place("a") < place("b") < place(None)
    True
    """
    if value is None:
        return _NULL
    if isinstance(value, float) and math.isnan(value):
        return _NAN
    return (1, value)


@dataclass(frozen=True)
class ColumnRange:
    """The smallest and the largest value of one column of a row group."""

    lower: Place
    upper: Place

    @classmethod
    def of_one(cls, value: Any) -> ColumnRange:
        """Return the range of a column that has one value."""
        return cls(place(value), place(value))


@dataclass(frozen=True)
class Bounds:
    """The keys of a row group lie between these two, both included."""

    lower: OrderedKey
    upper: OrderedKey

    @classmethod
    def of_ranges(cls, ranges: Sequence[ColumnRange | None]) -> Bounds:
        """Combine the ranges of columns; behind one that varies, nothing is known.

        Examples
        --------
        >>> one, some = ColumnRange.of_one("a"), ColumnRange(place(1), place(7))
        >>> Bounds.of_ranges([one, some]).upper
        ((1, 'a'), (1, 7))
        >>> Bounds.of_ranges([some, one]).upper
        ((1, 7), (4,))
        """
        lower: list[Place] = []
        upper: list[Place] = []
        constant = True
        for known in ranges:
            found = known if constant and known is not None else ColumnRange(_LEAST, _GREATEST)
            lower.append(found.lower)
            upper.append(found.upper)
            constant = constant and found.lower == found.upper
        return cls(tuple(lower), tuple(upper))


def column_range(row_group: Any, index: int | None, kind: pa.DataType) -> ColumnRange | None:
    """Read the statistics of one column, where they are exact enough to order keys by.

    Long text may be cut in statistics, but the range then only grows, so that ranges that lie
    apart really do.
    """
    statistics = None if index is None else row_group.column(index).statistics
    if statistics is None or not _is_ordered(kind) or not statistics.has_null_count:
        return None
    if statistics.null_count == row_group.num_rows:
        return ColumnRange(_NULL, _NULL)
    if not statistics.has_min_max:
        return None
    upper = _NULL if statistics.null_count else place(statistics.max)
    return ColumnRange(place(statistics.min), upper)


def _is_ordered(kind: pa.DataType) -> bool:
    """Say whether Python orders the values of a type as Parquet does, and loses none of them."""
    types = arrow("pyarrow").types
    return bool(
        types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_date32(kind)
    )


@dataclass(frozen=True)
class RowGroupKeys:
    """Which series a row group holds, and what happens at its two ends."""

    keys: frozenset[OrderedKey]
    first: OrderedKey
    last: OrderedKey
    head: int
    """How many rows the first series has before another one begins."""
    first_returns: bool
    """Whether the first series comes back after another one."""

    @property
    def bounds(self) -> Bounds:
        """The smallest and the largest key."""
        return Bounds(min(self.keys), max(self.keys))


@dataclass(frozen=True)
class KeyReader:
    """Reads the key columns of a row group, each at most once."""

    layout: Layout
    row_groups: Sequence[RowGroup]
    known: dict[int, RowGroupKeys] = field(default_factory=dict)

    def keys(self, number: int) -> RowGroupKeys:
        """Return what the key columns of a row group hold."""
        if number not in self.known:
            self.known[number] = self._read(self.row_groups[number])
        return self.known[number]

    def _read(self, row_group: RowGroup) -> RowGroupKeys:
        constant = Bounds.of_ranges(row_group.ranges)
        if constant.lower == constant.upper:
            only = constant.lower
            return RowGroupKeys(frozenset([only]), only, only, row_group.rows, False)
        by = self.layout.by
        table = self.layout.read(row_group.file, [row_group.index], by)
        columns = [whole(table.column(name), name) for name in by]
        starts = run_starts(columns)
        values = [run_values(column, starts) for column in columns]
        numbers, firsts = number_keys(values)
        lists = (value.take(firsts).to_pylist() for value in values)
        keys = [tuple(place(value) for value in key) for key in zip(*lists, strict=True)]
        others = np.flatnonzero(numbers != 0)
        head = int(others[0]) if len(others) else len(numbers)
        return RowGroupKeys(
            keys=frozenset(keys),
            first=keys[0],
            last=keys[numbers[-1]],
            head=int(starts[head]) if head < len(starts) else row_group.rows,
            first_returns=bool((numbers[head:] == 0).any()),
        )


class ScatteredError(Exception):
    """The rows of a series lie apart, over more row groups than one unit may hold."""

    def __init__(self, key: OrderedKey) -> None:
        super().__init__(key)
        self.key = tuple(part[1] if part[1:] else None for part in key)


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


def plan_spans(reader: KeyReader, *, columns: int, size: UnitSize) -> list[Span]:
    """Cut the row groups into units.

    Parameters
    ----------
    reader
        Knows the row groups, and reads their keys where their footers do not tell enough.
    columns
        How many columns are read.
    size
        How many values a unit has.

    Raises
    ------
    ScatteredError
        The rows of a series lie apart, so that no unit could hold all of them.
    """
    row_groups = reader.row_groups
    values = [row_group.rows * columns for row_group in row_groups]
    if not row_groups:
        return []
    if sum(values) <= size.largest:
        return [Span(0, len(row_groups), 0, 0)]
    touching = _touching(reader) if reader.layout.by else [False] * len(row_groups)
    # A giant series has no borders to look for: its units are as large as they may be.
    smallest = size.smallest if reader.layout.by else size.largest
    spans: list[Span] = []
    first = skipped = held = 0
    for number, more in enumerate(values[:-1]):
        held += more
        following = number + 1
        if held < (size.largest if touching[following] else smallest):
            continue
        borrowed = _carried(reader, following) if touching[following] else 0
        if borrowed < row_groups[following].rows:
            spans.append(Span(first, following, skipped, borrowed))
            first, skipped, held = following, borrowed, 0
    spans.append(Span(first, len(row_groups), skipped, 0))
    return spans


def _touching(reader: KeyReader) -> list[bool]:
    """Say of each row group whether it may share a series with the one before it."""
    bounds = [Bounds.of_ranges(row_group.ranges) for row_group in reader.row_groups]
    exact: set[int] = set()
    while conflicts := [pair for pair in _neighbours(bounds) if _overlap(bounds, *pair)]:
        unread = {number for pair in conflicts for number in pair} - exact
        # Where most are in doubt, one pass in order finds a scattered series sooner.
        if not unread or 2 * len(unread) > len(bounds):
            return _touching_by_keys(reader)
        for number in unread:
            bounds[number] = reader.keys(number).bounds
        exact |= unread
    return [False, *(_meet(earlier, later) for earlier, later in pairwise(bounds))]


def _neighbours(bounds: Sequence[Bounds]) -> Iterator[tuple[int, int]]:
    """Pair the row groups that follow each other in the order of their keys."""
    order = sorted(range(len(bounds)), key=lambda n: (bounds[n].lower, bounds[n].upper, n))
    return pairwise(order)


def _overlap(bounds: Sequence[Bounds], smaller: int, larger: int) -> bool:
    """Say whether two row groups may share more than the one series at their common border."""
    if bounds[smaller].upper == bounds[larger].lower:
        return abs(smaller - larger) != 1
    return bounds[smaller].upper > bounds[larger].lower


def _meet(earlier: Bounds, later: Bounds) -> bool:
    return earlier.upper == later.lower or later.upper == earlier.lower


def _touching_by_keys(reader: KeyReader) -> list[bool]:
    """Compare the keys themselves, in one pass over the key columns."""
    touching = [False]
    finished: set[OrderedKey] = set(reader.keys(0).keys)
    for number in range(1, len(reader.row_groups)):
        before, here = reader.keys(number - 1), reader.keys(number)
        shared = here.keys & finished
        carried = before.last == here.first
        if shared - ({here.first} if carried else set()):
            raise ScatteredError(min(shared))
        touching.append(carried)
        finished |= here.keys
    return touching


def _carried(reader: KeyReader, number: int) -> int:
    """Count the rows of a row group that belong to the last series of the one before."""
    before, here = reader.keys(number - 1), reader.keys(number)
    shared = before.keys & here.keys
    if not shared:
        return 0
    if shared != {here.first} or before.last != here.first or here.first_returns:
        raise ScatteredError(min(shared))
    return here.head


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
