"""How sure the scores of a comparison and their differences are, on the terminal."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from rich.text import Text

from closecall.cli import words
from closecall.cli.compare_ranks import ranked_pairs
from closecall.cli.leads import MOST_PAIRS, Lead, Leads, add_leads, lead_texts
from closecall.cli.tables import Column, name_column
from closecall.statistics import SCORES

if TYPE_CHECKING:
    from closecall.cli.tables import Names, Page
    from closecall.compare import Comparison, ComparisonIntervals, PairIntervals
    from closecall.statistics import Difference, Interval

_HEADINGS = {"precision": "precision", "recall": "recall", "f1": "F1"}
_LEGEND = """\
from, to: limits of the score or the lead, as there are only so many events
ahead: how surely the first leads on such events; 0.50 for no lead
-: nothing can be said"""


def add_intervals(
    page: Page, comparison: Comparison, intervals: ComparisonIntervals, *, show_all: bool
) -> None:
    """Add the scores and the differences with their limits, and what they cannot say."""
    page.text(f"How sure: {100 * intervals.level:.4g} % intervals\n", "bold")

    def keys(short: Names) -> list[Column]:
        return [name_column("detector", intervals.detectors, short)]

    page.add(page.split(keys, [[_scores(intervals, score)] for score in SCORES]))
    page.text()
    names = ranked_pairs(comparison)
    pairs = [intervals.pair(*two) for two in names[: None if show_all else MOST_PAIRS]]
    add_leads(page, [Leads(pair.first, pair.second, _leads(pair)) for pair in pairs])
    if len(names) > len(pairs):
        hidden = len(names) - len(pairs)
        page.text(f"... and {hidden} more pairs; `--all` shows all.", "bold")
    if intervals.caution:
        page.text(f"\nCaution: {intervals.caution}", "bold yellow")
    page.text(_LEGEND, "dim")


def _scores(intervals: ComparisonIntervals, score: str) -> Column:
    cells = [Text(_score(getattr(row, score))) for row in intervals.detectors.values()]
    return Column(_HEADINGS[score], cells, right=False)


def _score(interval: Interval) -> str:
    value, low, high = (words.score(None if isnan(limit) else limit) for limit in _parts(interval))
    return f"{value} ({low} to {high})" if low != words.UNDEFINED else f"{value} (-)"


def _parts(interval: Interval) -> tuple[float, float, float]:
    return interval.value, interval.low, interval.high


def _leads(pair: PairIntervals) -> list[Lead]:
    leads: dict[str, Difference] = {_HEADINGS[score]: getattr(pair, score) for score in SCORES}
    return [
        Lead(heading, lead_texts(*_parts(lead), ".2f"), _surely(lead))
        for heading, lead in leads.items()
    ]


def _surely(lead: Difference) -> Text:
    """Write how surely the first leads, coloured where the interval leaves out 0."""
    if isnan(lead.probability):
        return Text(words.UNDEFINED)
    style = "green" if lead.low > 0 else "red" if lead.high < 0 else ""
    return Text(words.score(lead.probability), style=style)
