"""How sure numbers and leads are, on the terminal: `compare` and `batch`."""

from __future__ import annotations

from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli import screen
from closecall.wording import UNDEFINED, number_text, plain_name, pvalue_text, score_or_dash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rich.console import Console

    Row = Mapping[str, Any]

MOST_PAIRS = 15  # unless all are asked for
_LEGEND = """\
from, to: limits of the number or the lead, as there are only so many {over}
p-value: how often equally good detectors differ so much on so many {over}
-: nothing can be said
"""


def print_intervals(
    console: Console,
    rows: Iterable[Row],
    ranked: Sequence[str],
    tables: Iterable[Mapping[str, str]],
    *,
    level: float,
    over: str,
    cautions: Iterable[str],
    headline: str,
    needed: Callable[[str, str], tuple[int, int] | None],
    rest: str | None = None,
) -> None:
    """Print the numbers and the leads of ranked detectors with their limits.

    Each table has headings by number; all leads are shown, or the first, and where the `rest` is.
    The last sentence says how many events are `needed` to show the difference of the first two in
    the `headline`, or that it cannot be said.
    """
    tables = [*tables]
    by_question = {(str(row["detector"]), row["against"], row["number"]): row for row in rows}
    console.print(Text(f"How sure: {100 * level:.4g} % intervals over {over}\n", style="bold"))
    for headings in tables:
        columns = [screen.names("detector", ranked)]
        for number, heading in headings.items():
            cells = [Text(_limits(by_question.get((name, "", number)))) for name in ranked]
            columns.append(screen.Column(heading, cells, "left"))
        screen.print_table(console, columns)
        console.print()
    pairs = list(combinations(ranked, 2))
    shown = pairs if rest is None else pairs[:MOST_PAIRS]
    leads = [
        (*two, heading, lead)
        for two in shown
        for headings in tables
        for number, heading in headings.items()
        if (
            lead := by_question.get((*two, number))
            or _turned(by_question.get((*two[::-1], number)))
        )
    ]
    if leads:
        _print_leads(console, leads)
        screen.print_more(len(pairs) - len(shown), " pairs", console, rest)
        first, second, heading, lead = next(x for x in leads if x[3]["number"] == headline)
        names = f"{plain_name(first)} and {plain_name(second)}"
        if lead["low"] <= 0 <= lead["high"]:
            text = (
                f"{names} do not differ significantly in {heading}. How many {over} would show a "
                "difference cannot be said: it may be 0."
            )
            console.print(Text(text))
        elif enough := needed(first, second):
            least, most = (f"{float(f'{count:.2g}'):.0f}" for count in enough)
            text = (
                f"{names} differ in {heading}. To show that again with a power of 80 % takes "
                f"{least} to {most} {over}, depending on where in its limits the difference is."
            )
            console.print(Text(text))
        console.print()
    for text in filter(None, cautions):
        console.print(Text(f"Caution: {text}", style="bold yellow"))
    console.print(Text(_LEGEND.format(over=over), style="dim"))


def _limits(row: Row | None) -> str:
    """Write a number with its limits, if it has any."""
    if row is None:
        return UNDEFINED
    value, low, high = (_number(row, name) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})" if low != UNDEFINED else f"{value} (-)"


def _number(row: Row, name: str) -> str:
    if _is_score(row) or isnan(row[name]):
        return score_or_dash(row[name])
    return number_text(round(row[name], 4))


def _is_score(row: Row) -> bool:
    return "affiliation" in row["number"] or row["number"] in ("precision", "recall", "f1")


def _turned(row: Row | None) -> Row | None:
    """Return the lead as the second detector sees it."""
    return row and {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}


def _print_leads(console: Console, leads: list[tuple[str, str, str, Row]]) -> None:
    """Print who leads whom, by how much, and the p-value; each pair is named once."""
    pairs = [lead[:2] for lead in leads]
    new = [place == 0 or pairs[place - 1] != pair for place, pair in enumerate(pairs)]
    named = [pair if is_new else ("", "") for pair, is_new in zip(pairs, new, strict=True)]
    numbers, pvalues = [], []
    for *_, row in leads:
        style = ".2f" if _is_score(row) else ".4g"
        numbers.append(lead_texts(row["value"], row["low"], row["high"], style))
        apart = row["low"] > 0 or row["high"] < 0
        pvalues.append(Text(pvalue_text(row["pvalue"]), "green" if apart else ""))
    columns = [
        *map(screen.names, ("first", "second"), zip(*named, strict=True)),
        screen.Column("lead in", [Text(lead[2]) for lead in leads], "left", folds=True),
        *map(screen.texts, ("by", "from", "to"), zip(*numbers, strict=True)),
        screen.Column("p-value", pvalues),
    ]
    screen.print_table(console, columns, keys=3)


def lead_texts(value: float, low: float, high: float, style: str) -> list[str]:
    """Write a lead and its limits with signs; one that is next to nothing is not behind.

    Limits keep the side of 0 that they are on.

    >>> lead_texts(-0.001, -0.002, 0.2, ".2f"), lead_texts(-0.0, float("nan"), -0.0, ".4g")
    (['+0.00', '-0.00', '+0.20'], ['+0', '-', '+0'])
    """
    written = [f"{value:+z{style}}", *(f"{limit + 0.0:+{style}}" for limit in (low, high))]
    parts = zip((value, low, high), written, strict=True)
    return [UNDEFINED if isnan(part) else text for part, text in parts]
