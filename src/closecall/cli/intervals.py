"""How sure numbers and leads are, on the terminal and as CSV: `compare` and `batch`."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli.output import csv_text
from closecall.cli.tables import Column, names, print_table, texts
from closecall.wording import UNDEFINED, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

MOST_PAIRS = 15  # unless all are asked for
_COLUMNS = ("detector", "against", "number", "value", "low", "high", "pvalue", "caution")


@dataclass(frozen=True)
class Lead:
    """The lead of one detector over another in one number."""

    first: str
    second: str
    number: str
    """What it is a lead in."""
    value: float
    low: float
    high: float
    pvalue: float
    """Of equally good detectors; nan if nothing can be said."""
    style: str = ".2f"


def limits_text(value: str, low: str, high: str) -> str:
    """Write a number with its limits, if it has any."""
    return f"{value} ({low} to {high})" if low != UNDEFINED else f"{value} (-)"


def print_leads(console: Console, leads: Sequence[Lead]) -> None:
    """Print who leads whom, by how much, and the p-value; each pair is named once."""
    firsts, seconds = [], []
    for before, lead in zip([None, *leads], leads, strict=False):
        new = before is None or (before.first, before.second) != (lead.first, lead.second)
        firsts.append(lead.first if new else "")
        seconds.append(lead.second if new else "")
    numbers = zip(*(lead_texts(x.value, x.low, x.high, x.style) for x in leads), strict=True)
    columns = [
        names("first", firsts),
        names("second", seconds),
        Column("lead in", [Text(lead.number) for lead in leads], "left", folds=True),
        *map(texts, ("by", "from", "to"), numbers),
        Column("p-value", [_pvalue(lead) for lead in leads]),
    ]
    print_table(console, columns, keys=3)


def _pvalue(lead: Lead) -> Text:
    """Return the p-value, coloured where the interval leaves out 0."""
    return Text(pvalue_text(lead.pvalue), "green" if lead.low > 0 or lead.high < 0 else "")


def lead_texts(value: float, low: float, high: float, style: str) -> list[str]:
    """Write a lead and its limits with signs; one that is next to nothing is not behind.

    Limits keep the side of 0 that they are on.

    Examples
    --------
    >>> lead_texts(-0.001, -0.002, 0.2, ".2f"), lead_texts(-0.0, float("nan"), -0.0, ".4g")
    (['+0.00', '-0.00', '+0.20'], ['+0', '-', '+0'])
    """
    written = [f"{value:+z{style}}", *(f"{limit + 0.0:+{style}}" for limit in (low, high))]
    parts = zip((value, low, high), written, strict=True)
    return [UNDEFINED if isnan(part) else text for part, text in parts]


def interval_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write the rows of intervals; what is undefined is left blank."""
    known = (
        {
            name: None if isinstance(value, float) and isnan(value) else value
            for name, value in row.items()
        }
        for row in rows
    )
    return csv_text(known, _COLUMNS)
