"""Tables on the terminal: numbers are never cut, long names fold, and wide tables are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from closecall.wording import UNDEFINED, plain_name, score_or_dash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

_GAP = 2  # cells between columns
_NAME = 16  # cells that a name keeps before columns move to a further table
_GOOD, _POOR = 0.9, 0.6  # a random alarm scores about 0.5


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    heading: str
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "right"
    folds: bool = False
    """Whether rich may break its cells over several lines; numbers stay whole."""
    joined: bool = False
    """Whether it stays beside the column before it."""

    @property
    def width(self) -> int:
        """The cells it needs."""
        texts = [self.heading, *(cell.plain for cell in self.cells)]
        widest = max(cell_len(line) for text in texts for line in text.split("\n"))
        return min(widest, _NAME) if self.folds else widest


def texts(heading: str, values: Iterable[object], *, joined: bool = False) -> Column:
    """Return a column of anything, as it is written."""
    return Column(heading, [Text(str(value)) for value in values], joined=joined)


def scores(
    heading: str, values: Iterable[float | None], *, style: str | None = None, joined: bool = False
) -> Column:
    """Return a column of scores in [0, 1], coloured unless a style is given."""
    return Column(heading, [score_cell(value, style) for value in values], joined=joined)


def names(heading: str, values: Iterable[str]) -> Column:
    """Return a column of detectors; no name is no detector."""
    cells = [Text(plain_name(value), "bold cyan") for value in values]
    return Column(heading, cells, "left", folds=True)


def score_cell(value: float | None, style: str | None = None) -> Text:
    """Return a score: green if good, red if hardly better than chance."""
    text = score_or_dash(value)
    if style is None and text == UNDEFINED:
        style = "dim"
    elif style is None:
        shown = float(text.strip("<>"))
        style = "green" if shown >= _GOOD else "yellow" if shown >= _POOR else "red"
    return Text(text, style)


def table_width(columns: Sequence[Column]) -> int:
    """Return the cells that columns side by side need."""
    return sum(column.width + _GAP for column in columns) - _GAP


def print_table(console: Console, columns: Sequence[Column], *, keys: int = 1) -> None:
    """Print columns side by side; those without room follow in further tables.

    The first columns, `keys` of them, say what a row is about, and stand in every table.
    """
    left = list(columns[keys:])
    while True:
        chosen = list(columns[:keys])
        while left:
            together = 1
            while together < len(left) and left[together].joined:
                together += 1
            wider = [*chosen, *left[:together]]
            if len(chosen) > keys and table_width(wider) > console.width:
                break
            chosen, left = wider, left[together:]
        console.print(_rich_table(chosen))
        if not left:
            return
        console.print()


def _rich_table(columns: Sequence[Column]) -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    lines = max(column.heading.count("\n") for column in columns)
    for column in columns:
        above = "\n" * (lines - column.heading.count("\n"))
        table.add_column(
            Text(f"{above}{column.heading}"),
            justify=column.justify,
            overflow="fold",
            no_wrap=not column.folds,
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table
