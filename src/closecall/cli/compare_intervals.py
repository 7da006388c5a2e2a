"""How sure the scores of a comparison and their differences are, on the terminal."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from rich.text import Text

from closecall.bootstrap import SCORES
from closecall.cli import words
from closecall.cli.compare_layout import MOST_PAIRS, fitting, headed_table, ranked_pairs
from closecall.cli.names import plain_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from closecall.bootstrap import Difference, Interval
    from closecall.compare import Comparison, ComparisonIntervals, PairIntervals

_HEADINGS = {"precision": "precision", "recall": "recall", "f1": "F1"}
_LEGEND = """\
from, to: limits of the score or the lead, as there are only so many events
ahead: how surely the first leads on such events; 0.50 for no lead
-: nothing can be said"""


def print_intervals(
    comparison: Comparison, intervals: ComparisonIntervals, console: Console, *, show_all: bool
) -> None:
    """Print the scores and the differences with their limits, and what they cannot say."""
    console.print(Text(f"How sure: {100 * intervals.level:.4g} % intervals\n", style="bold"))
    console.print(fitting(lambda longest: _detectors(intervals, longest), console)[0])
    console.print()
    names = ranked_pairs(comparison)
    pairs = [intervals.pair(*two) for two in names[: None if show_all else MOST_PAIRS]]
    console.print(fitting(lambda longest: _pairs(pairs, longest), console)[0])
    if len(names) > len(pairs):
        hidden = len(names) - len(pairs)
        console.print(Text(f"... and {hidden} more pairs; `--all` shows all.", style="bold"))
    if intervals.caution:
        console.print(Text(f"\nCaution: {intervals.caution}", style="bold yellow"))
    console.print(Text(_LEGEND, style="dim"))


def _detectors(intervals: ComparisonIntervals, longest: int) -> Table:
    table = headed_table(["detector", *_HEADINGS.values()], left=len(_HEADINGS) + 1)
    for name, row in intervals.detectors.items():
        cells = [_score(getattr(row, score)) for score in SCORES]
        table.add_row(Text(plain_name(name, longest), style="bold cyan"), *cells)
    return table


def _score(interval: Interval) -> str:
    value, low, high = (words.score(None if isnan(limit) else limit) for limit in _parts(interval))
    return f"{value} ({low} to {high})" if low != words.UNDEFINED else f"{value} (-)"


def _parts(interval: Interval) -> tuple[float, float, float]:
    return interval.value, interval.low, interval.high


def _pairs(pairs: list[PairIntervals], longest: int) -> Table:
    table = headed_table(["first", "second", "lead in", "by", "from", "to", "ahead"], left=3)
    for pair in pairs:
        names = [Text(plain_name(name, longest), "bold cyan") for name in (pair.first, pair.second)]
        for score, heading in _HEADINGS.items():
            lead: Difference = getattr(pair, score)
            table.add_row(*names, heading, *lead_texts(*_parts(lead), ".2f"), _surely(lead))
            names = [Text(), Text()]
    return table


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


def _surely(lead: Difference) -> Text:
    """Write how surely the first leads, coloured where the interval leaves out 0."""
    if isnan(lead.probability):
        return Text(words.UNDEFINED)
    style = "green" if lead.low > 0 else "red" if lead.high < 0 else ""
    return Text(words.score(lead.probability), style=style)
