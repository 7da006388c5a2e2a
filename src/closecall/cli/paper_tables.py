"""A table of the paper on a terminal: each cell as computed beside as published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table as Grid
from rich.text import Text

from closecall.paper.result import GAP, cell_widths, in_blocks

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.paper import Cell, Table


def print_table(table: Table, console: Console) -> None:
    """Print the title, the cells in parts that fit the width, the notes and the count."""
    console.print(Text.assemble((table.title, "bold cyan"), f" ({table.source})"))
    for index, block in enumerate(in_blocks(table, console.width)):
        if index:
            console.print()
        console.print(_grid(block))
    for note in table.notes:
        console.print(Text(note, style="dim"))
    for remark in table.remarks():
        console.print(Text(remark, style="yellow"))
    for reason in table.left_out:
        console.print(Text(f"Left out: {reason}.", style="yellow"))
    style = "green" if table.matched == table.total else "yellow"
    console.print(Text(f"{table.matched} of {table.total} match.", style=style))


def _grid(block: Table) -> Grid:
    grid = Grid(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for heading in block.headings:
        grid.add_column(heading, no_wrap=True)
    for name in block.columns:
        grid.add_column(name, no_wrap=True)
    widths = [cell_widths(block, index)[0] for index in range(len(block.columns))]
    before = ""
    for row in block.rows:
        first, *others = row.labels
        cells = [_beside(cell, width) for cell, width in zip(row.cells, widths, strict=True)]
        grid.add_row("" if first == before else first, *others, *cells)
        before = first
    return grid


def _beside(cell: Cell | None, width: int) -> Text:
    if cell is None:
        return Text()
    mark, style = (" == ", "green") if cell.match else (" != ", "bold red")
    return Text.assemble(cell.computed.ljust(width), (mark, style), (cell.published, "dim"))
