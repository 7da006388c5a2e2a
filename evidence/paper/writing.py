r"""The tables of the paper as text for a terminal, as rows of CSV, and as LaTeX with booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table as RichTable
from rich.text import Text

from closecall.latex import escape, floating, line
from evidence.paper.result import in_blocks

if TYPE_CHECKING:
    from rich.console import Console

    from evidence.paper.result import Cell, Reproduction, Row, Table

_LEGEND = "Each cell: computed == published where the two are the same, != where they differ."
_LATEX_WIDTH = 96  # characters that fit the text width of an article in \footnotesize
_SIDES = ("here", "paper")  # short, since many columns are narrow


def to_rows(paper: Reproduction) -> list[dict[str, str]]:
    """Return one row per cell."""
    return [
        {
            "table": table.name,
            "row": ", ".join(row.labels),
            "column": column,
            "typed": "yes" if table.typed else "no",
            "computed": cell.computed,
            "published": cell.published,
            "match": "yes" if cell.match else "no",
            "note": cell.note,
        }
        for table in paper.tables
        for row, column, cell in table.entries()
    ]


def print_tables(paper: Reproduction, console: Console) -> None:
    """Print every table, and how many cells match."""
    console.print(Text(_LEGEND, style="dim"))
    for table in paper.tables:
        console.print()
        _print_table(table, console)
    counts, typed = (
        ", ".join(f"{t.name} {t.matched}/{t.total}" for t in paper.tables if t.typed is kind)
        for kind in (False, True)
    )
    unexplained = sum(not cell.note for *_, cell in paper.mismatches())
    differ = paper.total - paper.matched
    if not differ:
        rest = "None differs."
    elif not unexplained:
        rest = f"The {differ} that do not are explained below their tables."
    else:
        rest = f"Of those that do not, {unexplained} have no known explanation."
    lost = len(paper.left_out)
    if lost:
        rest += f" {lost} more {'is' if lost == 1 else 'are'} left out for want of data."
    text = f"\n{paper.matched} of {paper.total} computed cells match the paper ({counts}). {rest}"
    console.print(Text(text, style="bold"))
    console.print(Text(f"Counted apart, since they are typed and not computed: {typed}."))


def _print_table(table: Table, console: Console) -> None:
    """Print the title, the cells in parts that fit the width, the notes and the count."""
    console.print(Text.assemble((table.title, "bold cyan"), f" ({table.source})"))
    for number, block in enumerate(in_blocks(table, console.width, same_rows=False)):
        if number:
            console.print()
        shown = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        for heading in (*block.headings, *block.columns):
            shown.add_column(Text(heading), overflow="fold", no_wrap=True)
        widths = [
            max(len(cell.computed) for cell in cells if cell is not None)
            for cells in zip(*(row.cells for row in block.rows), strict=True)
        ]
        before = ""
        for row in block.rows:
            first = "" if row.labels[0] == before else row.labels[0]
            before = row.labels[0]
            cells = [_beside(cell, wide) for cell, wide in zip(row.cells, widths, strict=True)]
            shown.add_row(*map(Text, (first, *row.labels[1:])), *cells)
        console.print(shown)
    for note in table.notes:
        console.print(Text(note, style="dim"))
    for remark in (*table.remarks(), *(f"Left out: {reason}." for reason in table.left_out)):
        console.print(Text(remark, style="yellow"))
    style = "green" if table.matched == table.total else "yellow"
    console.print(Text(f"{table.matched} of {table.total} match.", style=style))


def _beside(cell: Cell | None, width: int) -> Text:
    if cell is None:
        return Text()
    mark, style = (" == ", "green") if cell.match else (" != ", "bold red")
    return Text.assemble(cell.computed.ljust(width), (mark, style), (cell.published, "dim"))


def to_latex(paper: Reproduction) -> str:
    """Write every table, each column as computed here and as published; what differs is bold."""
    parts: list[str] = []
    for table in paper.tables:
        blocks = list(in_blocks(table, _LATEX_WIDTH, same_rows=True))
        parts += (_latex_table(block, index, len(blocks)) for index, block in enumerate(blocks))
    return "\n".join(parts) + (
        f"\n% {paper.matched} of {paper.total} computed cells match the paper, and "
        f"{paper.typed_matched} of {paper.typed_total} typed ones.\n"
    )


def _latex_table(block: Table, index: int, blocks: int) -> str:
    part = f", part {index + 1} of {blocks}" if blocks > 1 else ""
    matched = f"{block.matched} of {block.total} match"
    caption = f"{block.title} ({block.source} of the paper): {matched}"
    remarks = block.remarks()
    if index + 1 == blocks:
        remarks += [*block.notes, *(f"Left out: {reason}." for reason in block.left_out)]
    labels = len(block.headings)
    columns = [labels + 1 + 2 * place for place in range(len(block.columns))]
    names = [f"\\multicolumn{{2}}{{c}}{{{escape(name)}}}" for name in block.columns]
    head = [
        line([""] * labels + names),
        "".join(f"\\cmidrule(lr){{{first}-{first + 1}}}" for first in columns),
        line([*map(escape, block.headings), *_SIDES * len(columns)]),
    ]
    return floating(
        "l" * (labels + 2 * len(columns)),
        head,
        _latex_rows(block),
        caption=caption + part,
        label=f"{block.name}{f'-{index + 1}' if part else ''}",
        notes=remarks,
    )


def _latex_rows(table: Table) -> list[str]:
    """Write the rows, with a little space where the first of several labels changes."""
    grouped = len({row.labels[0] for row in table.rows}) < len(table.rows)
    lines: list[str] = []
    before: Row | None = None
    for row in table.rows:
        same = before is not None and before.labels[0] == row.labels[0]
        if grouped and before is not None and not same:
            lines.append("\\addlinespace")
        labels = ["" if same else escape(row.labels[0]), *map(escape, row.labels[1:])]
        lines.append(line(labels + [text for cell in row.cells for text in _latex_pair(cell)]))
        before = row
    return lines


def _latex_pair(cell: Cell | None) -> tuple[str, str]:
    if cell is None:
        return "", ""
    computed, published = escape(cell.computed), escape(cell.published)
    return (computed if cell.match else f"\\textbf{{{computed}}}"), published
