"""How the tables of a comparison are laid out: names as long as fit, the best detectors first."""

from __future__ import annotations

from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from closecall.compare import Comparison

NAME_WIDTHS = (28, 20, 14, 10)  # the widest that fits is taken
MOST_PAIRS = 15  # unless all are asked for
_ANY_WIDTH = 10_000


def fitting(build: Callable[[int], Table], console: Console) -> tuple[Table, bool]:
    """Return the table with the longest names for which there is room, and whether there is any."""
    for longest in NAME_WIDTHS:
        table = build(longest)
        wanted = Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), table)
        if wanted.maximum <= console.width:
            return table, True
    return table, False


def headed_table(headings: list[str], *, left: int = 1) -> Table:
    """Return an empty table; the first so many columns are text, and the others numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(
            Text(heading),
            justify="left" if place < left else "right",
            vertical="bottom",
            no_wrap=True,
        )
    return table


def ranked_pairs(comparison: Comparison) -> list[tuple[str, str]]:
    """Name every two detectors, those with the highest F1 first."""
    ranked = sorted(comparison.detectors, key=lambda row: -comparable(row.f1))
    return list(combinations((row.name for row in ranked), 2))


def comparable(score: float) -> float:
    """Put what is undefined below every score."""
    return score if isfinite(score) else -1.0
