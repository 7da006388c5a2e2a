r"""The tables as LaTeX, for a document that uses the package booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.latex import escape, floating, line
from closecall.paper.result import in_blocks

if TYPE_CHECKING:
    from closecall.paper.result import Cell, Reproduction, Row, Table

_WIDTH = 96  # characters that fit the text width of an article in \footnotesize
_SIDES = ("here", "paper")  # short, since many columns are narrow


def to_latex(paper: Reproduction) -> str:
    """Write every table, each column as computed here and as published; what differs is bold."""
    parts: list[str] = []
    for table in paper.tables:
        blocks = list(in_blocks(table, _WIDTH))
        parts += (_floating(block, index, len(blocks)) for index, block in enumerate(blocks))
    return "\n".join(parts) + (
        f"\n% {paper.matched} of {paper.total} computed cells match the paper, and "
        f"{paper.typed_matched} of {paper.typed_total} typed ones.\n"
    )


def _floating(block: Table, index: int, blocks: int) -> str:
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
        _body(block),
        caption=caption + part,
        label=f"{block.name}{f'-{index + 1}' if part else ''}",
        notes=remarks,
    )


def _body(table: Table) -> list[str]:
    """Write the rows, with a little space where the first of several labels changes."""
    grouped = len({row.labels[0] for row in table.rows}) < len(table.rows)
    lines: list[str] = []
    before: Row | None = None
    for row in table.rows:
        same = before is not None and before.labels[0] == row.labels[0]
        if grouped and before is not None and not same:
            lines.append("\\addlinespace")
        labels = ["" if same else escape(row.labels[0]), *map(escape, row.labels[1:])]
        lines.append(line(labels + [text for cell in row.cells for text in _pair(cell)]))
        before = row
    return lines


def _pair(cell: Cell | None) -> tuple[str, str]:
    if cell is None:
        return "", ""
    computed, published = escape(cell.computed), escape(cell.published)
    return (computed if cell.match else f"\\textbf{{{computed}}}"), published
