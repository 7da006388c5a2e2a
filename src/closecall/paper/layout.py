"""Part a table by columns where it is wider than the page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from closecall.paper.result import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.paper.result import Cell, Table

GAP = 2
"""Characters between columns."""
MARK = 4
"""Characters between what is computed and what is published."""


def in_blocks(table: Table, width: int) -> Iterator[Table]:
    """Yield the table in parts with as many columns as fit, but one at least.

    Columns share a part only if they have cells in the same rows; the other rows are left out.

    Parameters
    ----------
    table
        The table.
    width
        Characters in a line.
    """
    left = width - sum(label_widths(table)) - GAP * len(table.headings)
    chosen: list[int] = []
    used = 0
    for index in range(len(table.columns)):
        needed = column_width(table, index) + GAP
        if chosen and (used + needed > left + GAP or not _alike(table, chosen[0], index)):
            yield _part(table, chosen)
            chosen, used = [], 0
        chosen.append(index)
        used += needed
    yield _part(table, chosen)


def label_widths(table: Table) -> list[int]:
    """Give the width of each column of labels."""
    return [
        max(len(heading), *(len(row.labels[index]) for row in table.rows))
        for index, heading in enumerate(table.headings)
    ]


def column_width(table: Table, index: int) -> int:
    """Give the width of a column with what is computed beside what is published."""
    return max(len(table.columns[index]), sum(cell_widths(table, index)) + MARK)


def cell_widths(table: Table, index: int) -> tuple[int, int]:
    """Give the widths of what is computed and of what is published in a column."""
    cells = [cell for row in table.rows if (cell := row.cells[index]) is not None]
    return _longest(cell.computed for cell in cells), _longest(cell.published for cell in cells)


def _alike(table: Table, one: int, other: int) -> bool:
    return all((row.cells[one] is None) == (row.cells[other] is None) for row in table.rows)


def _longest(texts: Iterator[str]) -> int:
    return max(map(len, texts), default=0)


def _part(table: Table, columns: list[int]) -> Table:
    rows = (_pick(row, columns) for row in table.rows)
    return replace(
        table,
        columns=tuple(table.columns[index] for index in columns),
        rows=tuple(row for row in rows if any(cell is not None for cell in row.cells)),
    )


def _pick(row: Row, columns: list[int]) -> Row:
    cells: list[Cell | None] = [row.cells[index] for index in columns]
    return Row(row.labels, tuple(cells))
