"""What `reproduce` returns: tables of cells, each as computed and as published."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry of a table, computed here and published there.

    Examples
    --------
    >>> Cell("0.17/0.85/0.29", "0.17/0.85/0.28").match
    False
    """

    computed: str
    """What came out, written as the paper would."""
    published: str
    """What the paper prints."""
    note: str = ""
    """Why the two differ, or what else there is to say."""
    values: Mapping[str, float] = field(default_factory=dict)
    """The computed numbers, not rounded."""

    @property
    def match(self) -> bool:
        """Whether the two are the same, character by character."""
        return self.computed == self.published

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; nan and inf become None."""
        return {
            "computed": self.computed,
            "published": self.published,
            "match": self.match,
            "note": self.note or None,
            "values": {name: v if isfinite(v) else None for name, v in self.values.items()},
        }


@dataclass(frozen=True, slots=True)
class Row:
    """A row: what it is called, and a cell per column; None where the paper has none."""

    labels: tuple[str, ...]
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """One table of the paper."""

    name: str
    title: str
    source: str
    """Where the paper has it."""
    headings: tuple[str, ...]
    """What the labels of the rows are."""
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What holds for the table as a whole, such as settings that the paper does not print."""
    left_out: tuple[str, ...] = ()
    """Cells that could not be computed from the data, each with the reason."""
    typed: bool = False
    """Whether its cells are stated in the registry of metrics, and not computed."""

    def entries(self) -> Iterator[tuple[Row, str, Cell]]:
        """Yield each cell with its row and the name of its column."""
        for row in self.rows:
            for column, cell in zip(self.columns, row.cells, strict=True):
                if cell is not None:
                    yield row, column, cell

    def remarks(self) -> list[str]:
        """Return which cells carry a note, and what it says."""
        places: dict[tuple[str, str], list[str]] = {}
        for row, column, cell in self.entries():
            if cell.note:
                places.setdefault((", ".join(row.labels), cell.note), []).append(column)
        several = len(self.columns) > 1
        return [
            f"{row}{', ' + ' and '.join(columns) if several else ''}: {note}."
            for (row, note), columns in places.items()
        ]

    @property
    def total(self) -> int:
        """How many cells there are."""
        return sum(1 for _ in self.entries())

    @property
    def matched(self) -> int:
        """How many cells are as published."""
        return sum(cell.match for _, _, cell in self.entries())

    def cell(self, *labels: str, column: str) -> Cell:
        """Look a cell up by the labels of its row and the name of its column.

        Examples
        --------
        >>> row = Row(("samples",), (Cell("35", "35"),))
        >>> table = Table("counts", "Counts", "section 4.3", ("number",), ("SWaT",), (row,))
        >>> table.cell("samples", column="SWaT").match
        True
        """
        for row, name, cell in self.entries():
            if row.labels == labels and name == column:
                return cell
        raise KeyError(f"table {self.name!r} has no row {labels} with column {column!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, one entry per cell."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "typed": self.typed,
            "matched": self.matched,
            "total": self.total,
            "notes": list(self.notes),
            "left_out": list(self.left_out),
            "cells": [
                {
                    **dict(zip(self.headings, row.labels, strict=True)),
                    "column": column,
                    **cell.to_dict(),
                }
                for row, column, cell in self.entries()
            ],
        }

    def __repr__(self) -> str:
        kind = "typed cells" if self.typed else "cells"
        return f"Table({self.name}, {self.matched} of {self.total} {kind} match)"


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction:
    """Every table of the paper, as computed beside as published."""

    tables: tuple[Table, ...]

    def __getitem__(self, name: str) -> Table:
        """Return a table by its name."""
        for table in self.tables:
            if table.name == name:
                return table
        names = ", ".join(table.name for table in self.tables)
        raise KeyError(f"no table {name!r}; there are {names}")

    def mismatches(self) -> Iterator[tuple[Table, Row, str, Cell]]:
        """Yield each cell that is not as published, with its table, row and column."""
        for table in self.tables:
            for row, column, cell in table.entries():
                if not cell.match:
                    yield table, row, column, cell

    @property
    def total(self) -> int:
        """How many cells are computed."""
        return sum(table.total for table in self.tables if not table.typed)

    @property
    def matched(self) -> int:
        """How many of the computed cells are as published."""
        return sum(table.matched for table in self.tables if not table.typed)

    @property
    def typed_total(self) -> int:
        """How many cells are typed, and not computed."""
        return sum(table.total for table in self.tables if table.typed)

    @property
    def typed_matched(self) -> int:
        """How many of the typed cells are as published."""
        return sum(table.matched for table in self.tables if table.typed)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Cells that could not be computed from the data, each with the reason."""
        return tuple(f"{table.name}, {text}" for table in self.tables for text in table.left_out)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values: nan and inf become None."""
        return {
            "matched": self.matched,
            "total": self.total,
            "typed_matched": self.typed_matched,
            "typed_total": self.typed_total,
            "left_out": list(self.left_out),
            "tables": [table.to_dict() for table in self.tables],
        }

    def __repr__(self) -> str:
        typed = f"{self.typed_matched} of {self.typed_total} typed ones"
        return f"Reproduction({self.matched} of {self.total} computed cells match, {typed})"


_GAP = 2  # characters between columns
_MARK = 4  # characters between what is computed and what is published


def in_blocks(table: Table, width: int, *, same_rows: bool) -> Iterator[Table]:
    """Yield the table in parts with as many columns as fit a line, but one at least.

    With `same_rows`, columns share a part only if they have cells in the same rows, and a part
    leaves out rows without cells.
    """
    labels = zip(table.headings, *(row.labels for row in table.rows), strict=True)
    left = width - sum(max(map(len, texts)) + _GAP for texts in labels)
    chosen: list[int] = []
    used, shared = 0, [False]
    for index, name in enumerate(table.columns):
        cells = [row.cells[index] for row in table.rows]
        pairs = [(len(cell.computed), len(cell.published)) for cell in cells if cell is not None]
        wide = sum(map(max, zip(*pairs, strict=True))) + _MARK
        needed = max(len(name), wide) + _GAP
        empty = [same_rows and cell is None for cell in cells]
        if chosen and (used + needed > left + _GAP or empty != shared):
            yield _part(table, chosen, same_rows=same_rows)
            chosen, used = [], 0
        shared = empty
        chosen.append(index)
        used += needed
    yield _part(table, chosen, same_rows=same_rows)


def _part(table: Table, columns: list[int], *, same_rows: bool) -> Table:
    rows = [Row(row.labels, tuple(row.cells[at] for at in columns)) for row in table.rows]
    if same_rows:
        rows = [row for row in rows if any(cell is not None for cell in row.cells)]
    return replace(table, columns=tuple(table.columns[at] for at in columns), rows=tuple(rows))
