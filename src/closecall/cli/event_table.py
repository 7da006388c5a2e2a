"""The table of true events, with as many columns as the terminal has room for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from closecall.cli import words

if TYPE_CHECKING:
    from closecall import Affiliation

_GAP = 2
_GOOD, _POOR = 0.9, 0.6  # a random alarm scores about 0.5

# What goes first where there is no room; the rest always stays.
_DISPENSABLE = ("zone", "alarms", "year", "lasts", "F1")


@dataclass(frozen=True)
class Column:
    """One column of text, ready to print."""

    name: str
    heading: str
    cells: list[str]
    right: bool = True

    @property
    def width(self) -> int:
        """The characters its widest line takes."""
        return max(map(len, [*self.heading.split("\n"), *self.cells]))


def event_table(result: Affiliation, *, width: int, most: int | None) -> tuple[Table, str]:
    """Return the first `most` events as a table, and the UTC offset of its times, if any."""
    rows = list(islice(result.events.rows(), most))
    columns, offset = _fitting(rows, width)
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            Text(column.heading),
            justify="right" if column.right else "left",
            vertical="bottom",
            no_wrap=True,
        )
    for index in range(len(rows)):
        table.add_row(*(_styled(column.name, column.cells[index]) for column in columns))
    return table, offset


def score_style(text: str) -> str:
    """Return the colour of a score: green if good, red if hardly better than chance."""
    if text == words.UNDEFINED:
        return "dim"
    value = float(text.strip("<>"))
    if value >= _GOOD:
        return "green"
    return "yellow" if value >= _POOR else "red"


def _fitting(rows: list[dict[str, Any]], width: int) -> tuple[list[Column], str]:
    """Leave out columns, least important first, until the rest fits."""
    for count in range(len(_DISPENSABLE) + 1):
        without = _DISPENSABLE[:count]
        columns, offset = _columns(rows, with_year="year" not in without)
        columns = [column for column in columns if column.name not in without]
        if sum(column.width + _GAP for column in columns) - _GAP <= width:
            break
    return columns, offset


def _columns(rows: list[dict[str, Any]], *, with_year: bool) -> tuple[list[Column], str]:
    dated = isinstance(rows[0]["start"], str)
    starts, offset = _times(rows, "start", with_year=with_year)
    zones = [_times(rows, name, with_year=with_year)[0] for name in ("zone_start", "zone_stop")]

    def lengths(name: str) -> list[str]:
        return [words.length(row[name], dated=dated) for row in rows]

    def scores(name: str) -> list[str]:
        return [words.score(row[name]) for row in rows]

    columns = [
        Column("number", "#", [str(number) for number in range(1, len(rows) + 1)]),
        Column("start", "start", starts, right=not dated),
        Column("lasts", "lasts", [words.lasts(row, dated=dated) for row in rows]),
        Column("zone", "zone", [" to ".join(zone) for zone in zip(*zones, strict=True)]),
        Column("precision", "prec.", scores("precision")),
        Column("recall", "recall", scores("recall")),
        Column("F1", "F1", scores("f1")),
        Column("alarms", "alarms", [str(row["predicted_count"]) for row in rows]),
        Column("distance", "alarm to\nevent", lengths("precision_distance")),
        Column("distance", "event to\nalarm", lengths("recall_distance")),
        Column("delay", "first alarm", [words.delay(row["delay"], dated=dated) for row in rows]),
    ]
    return columns, offset


def _times(rows: list[dict[str, Any]], name: str, *, with_year: bool) -> tuple[list[str], str]:
    values = [row[name] for row in rows]
    if isinstance(values[0], str):
        return words.moments(values, with_year=with_year)
    return [words.number(value) for value in values], ""


def _styled(name: str, cell: str) -> Text:
    if name in {"precision", "recall", "F1"}:
        return Text(cell, style=score_style(cell))
    if name == "delay":
        return Text(cell, style="red" if cell == "missed" else "")
    return Text(cell, style="dim" if cell == words.UNDEFINED else "")
