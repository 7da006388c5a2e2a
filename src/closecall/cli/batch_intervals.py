"""How sure the numbers of a batch and their differences are, on the terminal."""

from __future__ import annotations

from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli import words
from closecall.cli.leads import MOST_PAIRS, Lead, Leads, add_leads, lead_texts
from closecall.cli.tables import Column, name_column
from closecall.tables.batch.options import DETECTOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from closecall.cli.tables import Names, Page

_MOST_NUMBERS = 4
_MOST_CAUTIONS = 3
_POOLED = {
    "pooled_affiliation_f1": "pooled F1",
    "pooled_affiliation_precision": "pooled prec.",
    "pooled_affiliation_recall": "pooled recall",
}
_LEGEND = """\
from, to: limits of the number or the lead, as there are only so many series
ahead: how surely the first is the better one on such series; 0.50 for no lead
-: nothing can be said"""

_Found = dict[tuple[str, str, str], dict[str, Any]]


def add_batch_intervals(
    page: Page,
    rows: pa.Table,
    ranked: list[str],
    headings: Mapping[str, str],
    *,
    level: float,
) -> None:
    """Add the numbers under these headings, and the differences, with their limits.

    Parameters
    ----------
    page
        Where to print.
    rows
        What `closecall.tables.batch.summary.interval_rows` gives.
    ranked
        The detectors, best first.
    headings
        By column of the batch, what it is called; the first few are shown.
    level
        Of the intervals.
    """
    found = {(str(row[DETECTOR]), row["against"], row["number"]): row for row in rows.to_pylist()}
    numbers = {f"mean_{name}": text for name, text in list(headings.items())[:_MOST_NUMBERS]}
    pooled = {} if {number for *_, number in found}.isdisjoint(_POOLED) else _POOLED
    page.text(f"How sure: {100 * level:.4g} % intervals over series\n", "bold")
    for some in filter(None, (numbers, pooled)):
        _add_alone(page, found, ranked, some)
    _add_pairs(page, found, ranked, numbers | pooled)
    hidden = len(headings) - len(numbers)
    if hidden > 0:
        text = f"... and {hidden} more number{'s' * (hidden > 1)}; `--format json` has all.\n"
        page.text(text, "bold")
    _add_cautions(page, found, {*numbers, *pooled})
    page.text(f"{_LEGEND}\n", "dim")


def _add_alone(page: Page, found: _Found, ranked: list[str], numbers: Mapping[str, str]) -> None:
    """Add the numbers side by side, or below each other if they do not fit."""

    def keys(short: Names) -> list[Column]:
        return [name_column(DETECTOR, ranked, short)]

    groups = []
    for number, heading in numbers.items():
        rows = [found.get((name, "", number)) for name in ranked]
        texts = [words.UNDEFINED if row is None else _limits(row) for row in rows]
        groups.append([Column(heading, [Text(text) for text in texts], right=False)])
    page.add(page.split(keys, groups))
    page.text()


def _limits(row: dict[str, Any]) -> str:
    value, low, high = (_number(row[name], row["number"]) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})" if low != words.UNDEFINED else f"{value} (-)"


def _number(value: float, name: str) -> str:
    if isnan(value):
        return words.UNDEFINED
    return words.score(value) if "affiliation" in name else words.number(round(value, 4))


def _add_pairs(page: Page, found: _Found, ranked: list[str], numbers: Mapping[str, str]) -> None:
    pairs = list(combinations(ranked, 2))
    leads = [
        Leads(first, second, rows)
        for first, second in pairs[:MOST_PAIRS]
        if (rows := _leads(found, first, second, numbers))
    ]
    if not leads:
        return
    add_leads(page, leads)
    hidden = len(pairs) - MOST_PAIRS
    if hidden > 0:
        page.text(f"... and {hidden} more pairs; `--format json` has all.", "bold")
    page.text()


def _leads(found: _Found, first: str, second: str, numbers: Mapping[str, str]) -> list[Lead]:
    leads = []
    for number, heading in numbers.items():
        row = _difference(found, first, second, number)
        if row is not None:
            style = ".2f" if "affiliation" in number else ".4g"
            texts = lead_texts(row["value"], row["low"], row["high"], style)
            leads.append(Lead(heading, texts, _surely(row)))
    return leads


def _difference(found: _Found, first: str, second: str, number: str) -> dict[str, Any] | None:
    """Give the row of two detectors, turned if it is there the other way round."""
    row = found.get((first, second, number))
    if row is not None:
        return row
    row = found.get((second, first, number))
    if row is None:
        return None
    turned = {"value": -row["value"], "low": -row["high"], "high": -row["low"]}
    return row | turned | {"probability": 1 - row["probability"]}


def _surely(row: dict[str, Any]) -> Text:
    """Write how surely the first is better, coloured where the interval leaves out 0."""
    if isnan(row["probability"]):
        return Text(words.UNDEFINED)
    apart = row["low"] > 0 or row["high"] < 0
    style = ("green" if row["probability"] > 1 / 2 else "red") if apart else ""
    return Text(words.score(row["probability"]), style=style)


def _add_cautions(page: Page, found: _Found, numbers: set[str]) -> None:
    """Add what is said of pairs, or of detectors if there are none."""
    shown = [row for (*_, number), row in found.items() if number in numbers]
    pairs = [row for row in shown if row["against"]]
    texts = dict.fromkeys(row["caution"] for row in pairs or shown if row["caution"])
    for text in list(texts)[:_MOST_CAUTIONS]:
        page.text(f"Caution: {text}", "bold yellow")
