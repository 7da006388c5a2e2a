"""The keys of single row groups, read where statistics leave something open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from closecall.tables.sources.bounds import Bounds, place
from closecall.tables.sources.grouping import number_keys, run_starts, run_values, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from closecall.tables.sources.bounds import OrderedKey
    from closecall.tables.sources.row_groups import Layout, RowGroup


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
