"""Cut row groups into units of whole series, from footers wherever they tell enough."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from closecall.tables.sources.bounds import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from closecall.tables.sources.bounds import OrderedKey
    from closecall.tables.sources.key_reader import KeyReader
    from closecall.tables.sources.unit import UnitSize


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
