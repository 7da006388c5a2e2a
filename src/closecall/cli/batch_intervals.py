"""How sure the numbers of a batch and their differences are, on the terminal."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli import words
from closecall.cli.compare_intervals import lead_texts
from closecall.cli.compare_layout import MOST_PAIRS, fitting, headed_table
from closecall.cli.names import plain_name
from closecall.frames.batch.question import DETECTOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from rich.console import Console
    from rich.table import Table

_MOST_NUMBERS = 4
_SIDE_BY_SIDE = 3  # on 80 columns
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


def print_batch_intervals(
    rows: pa.Table,
    ranked: list[str],
    headings: Mapping[str, str],
    console: Console,
    *,
    level: float,
) -> None:
    """Print the numbers under these headings, and the differences, with their limits.

    Parameters
    ----------
    rows
        What `closecall.frames.batch.summary_intervals.interval_rows` gives.
    ranked
        The detectors, best first.
    headings
        By column of the batch, what it is called; the first few are shown.
    console
        Where to print.
    level
        Of the intervals.
    """
    found = {(str(row[DETECTOR]), row["against"], row["number"]): row for row in rows.to_pylist()}
    numbers = {f"mean_{name}": text for name, text in list(headings.items())[:_MOST_NUMBERS]}
    has_pooled = not {number for *_, number in found}.isdisjoint(_POOLED)
    shown = numbers | (_POOLED if has_pooled else {})
    console.print(Text(f"How sure: {100 * level:.4g} % intervals over series\n", style="bold"))
    for some in filter(None, _side_by_side(numbers, _POOLED if has_pooled else {})):
        _print_alone(found, ranked, some, console)
    _print_pairs(found, ranked, shown, console)
    hidden = len(headings) - len(numbers)
    if hidden > 0:
        text = f"... and {hidden} more number{'s' * (hidden > 1)}; `--format json` has all.\n"
        console.print(Text(text, style="bold"))
    _print_cautions(found, set(shown), console)
    console.print(Text(_LEGEND, style="dim"))
    console.print()


def _side_by_side(means: Mapping[str, str], pooled: dict[str, str]) -> list[dict[str, str]]:
    """Split the numbers into tables that fit; there may be too many for one."""
    items = list(means.items())
    return [dict(items[:_SIDE_BY_SIDE]), dict(items[_SIDE_BY_SIDE:]), pooled]


def _print_alone(
    found: _Found, ranked: list[str], numbers: Mapping[str, str], console: Console
) -> None:
    """Print the numbers side by side, or one below the other if they do not fit."""
    table, fits = fitting(partial(_alone, found, ranked, numbers), console)
    if fits or len(numbers) == 1:
        console.print(table)
        console.print()
        return
    for number, heading in numbers.items():
        _print_alone(found, ranked, {number: heading}, console)


def _alone(found: _Found, ranked: list[str], numbers: Mapping[str, str], longest: int) -> Table:
    table = headed_table([DETECTOR, *numbers.values()], left=len(numbers) + 1)
    for name in ranked:
        rows = [found.get((name, "", number)) for number in numbers]
        cells = [words.UNDEFINED if row is None else _limits(row) for row in rows]
        table.add_row(Text(plain_name(name, longest), style="bold cyan"), *cells)
    return table


def _limits(row: dict[str, Any]) -> str:
    value, low, high = (_number(row[name], row["number"]) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})" if low != words.UNDEFINED else f"{value} (-)"


def _number(value: float, name: str) -> str:
    if isnan(value):
        return words.UNDEFINED
    return words.score(value) if "affiliation" in name else words.number(round(value, 4))


def _print_pairs(
    found: _Found, ranked: list[str], numbers: Mapping[str, str], console: Console
) -> None:
    pairs = list(combinations(ranked, 2))
    if not pairs:
        return
    console.print(fitting(partial(_pairs, found, pairs[:MOST_PAIRS], numbers), console)[0])
    hidden = len(pairs) - MOST_PAIRS
    if hidden > 0:
        text = f"... and {hidden} more pairs; `--format json` has all."
        console.print(Text(text, style="bold"))
    console.print()


def _pairs(
    found: _Found, pairs: list[tuple[str, str]], numbers: Mapping[str, str], longest: int
) -> Table:
    table = headed_table(["first", "second", "lead in", "by", "from", "to", "ahead"], left=3)
    for pair in pairs:
        names = [Text(plain_name(name, longest), "bold cyan") for name in pair]
        for number, heading in numbers.items():
            row = _difference(found, *pair, number)
            if row is None:
                continue
            style = ".2f" if "affiliation" in number else ".4g"
            texts = lead_texts(row["value"], row["low"], row["high"], style)
            table.add_row(*names, heading, *texts, _surely(row))
            names = [Text(), Text()]
    return table


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


def _print_cautions(found: _Found, numbers: set[str], console: Console) -> None:
    """Print what is said of pairs, or of detectors if there are none."""
    shown = [row for (*_, number), row in found.items() if number in numbers]
    pairs = [row for row in shown if row["against"]]
    texts = dict.fromkeys(row["caution"] for row in pairs or shown if row["caution"])
    for text in list(texts)[:_MOST_CAUTIONS]:
        console.print(Text(f"Caution: {text}", style="bold yellow"))
