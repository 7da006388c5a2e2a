"""Who leads whom, by how much and how surely, on the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isnan
from textwrap import fill
from typing import TYPE_CHECKING

from rich.text import Text

from closecall.cli import words
from closecall.cli.tables import Column, Grid, name_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from closecall.cli.tables import Names, Page, Part

MOST_PAIRS = 15  # unless all are asked for
_KEY_WIDTH = 13  # of what a lead is in, where there is little room


@dataclass(frozen=True)
class Lead:
    """The lead of one detector over another in one number."""

    heading: str
    texts: list[str]
    """By how much, and the limits."""
    surely: Text


@dataclass(frozen=True)
class Leads:
    """All leads of one detector over another."""

    first: str
    second: str
    rows: list[Lead]


def add_leads(page: Page, pairs: Sequence[Leads]) -> None:
    """Add the pairs as one table, or one below the other if that is too wide."""
    below: list[Part] = []
    for pair in pairs:
        key, *numbers = _columns(pair.rows)
        below.append(partial(_title, pair, "\n" if below else ""))
        below += page.split(partial(_wrapped, key), [[column] for column in numbers])
    page.add([partial(_table, pairs)], below)


def _title(pair: Leads, before: str, short: Names) -> Text:
    first, second = ((short[name], "bold cyan") for name in (pair.first, pair.second))
    return Text.assemble(before, first, " against ", second)


def _wrapped(key: Column, _: Names) -> list[Column]:
    cells = [Text(fill(cell.plain, _KEY_WIDTH)) for cell in key.cells]
    return [Column(key.heading, cells, key.right)]


def _table(pairs: Sequence[Leads], short: Names) -> Grid:
    firsts, seconds = (
        [name for pair in pairs for name in [getattr(pair, side)] + [""] * (len(pair.rows) - 1)]
        for side in ("first", "second")
    )
    names = [name_column("first", firsts, short), name_column("second", seconds, short)]
    return Grid([*names, *_columns([row for pair in pairs for row in pair.rows])])


def _columns(rows: Sequence[Lead]) -> list[Column]:
    texts = zip(*(row.texts for row in rows), strict=True)
    return [
        Column("lead in", [Text(row.heading) for row in rows], right=False),
        *(
            Column(heading, [Text(text) for text in column])
            for heading, column in zip(("by", "from", "to"), texts, strict=True)
        ),
        Column("ahead", [row.surely for row in rows]),
    ]


def lead_texts(value: float, low: float, high: float, style: str) -> list[str]:
    """Write a lead and its limits with signs; one that is next to nothing is not behind.

    Limits keep the side of 0 that they are on.

    Examples
    --------
    >>> lead_texts(-0.001, -0.002, 0.2, ".2f"), lead_texts(-0.0, float("nan"), -0.0, ".4g")
    (['+0.00', '-0.00', '+0.20'], ['+0', '-', '+0'])
    """
    texts = [f"{value:+z{style}}", *(f"{limit + 0.0:+{style}}" for limit in (low, high))]
    parts = zip((value, low, high), texts, strict=True)
    return [words.UNDEFINED if isnan(part) else text for part, text in parts]
