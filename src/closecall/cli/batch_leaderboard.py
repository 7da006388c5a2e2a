"""Who is ahead in a batch: every number beside chance, in tables as wide as the terminal."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli import words
from closecall.cli.event_table import score_style
from closecall.cli.tables import Column, name_column
from closecall.tables.batch.options import DETECTOR
from closecall.tables.batch.summary import summarise

if TYPE_CHECKING:
    from closecall.cli.tables import Names, Page
    from closecall.tables.batch.result import BatchResult

MOST_DETECTORS = 60
_HEADINGS = {
    "affiliation_f1": "F1",
    "affiliation_precision": "prec.",
    "affiliation_recall": "recall",
    "affiliation_average_precision": "avg. prec.",
}
_HEADLINE = ("affiliation_f1", "affiliation_precision", "affiliation_recall")


def ordered_metrics(result: BatchResult) -> list[str]:
    """List the numbers of the rows, the headline first."""
    columns = result.options.metric_columns
    first = [name for name in _HEADLINE if name in columns]
    return [*first, *(name for name in columns if name not in first)]


def heading_of(name: str) -> str:
    """Say what a column of the rows is called above a table."""
    return "chance" if name.startswith("chance") else _HEADINGS.get(name, name.replace("_", " "))


def add_leaderboard(page: Page, result: BatchResult, board: list[dict[str, Any]]) -> None:
    """Add the detectors, best first, with all their numbers; those without room come below."""
    shown = board[:MOST_DETECTORS]
    names = [str(row[DETECTOR]) for row in shown]

    def keys(short: Names) -> list[Column]:
        return [name_column(DETECTOR, names, short)]

    groups = _groups(result, shown)
    page.add(page.split(keys, groups, before=[_ranks(shown)], after=_counts(shown)))
    page.text()
    if len(board) > len(shown):
        hidden = len(board) - len(shown)
        text = f"... and {hidden} more detector{'s' * (hidden > 1)}; `--format json` has all.\n"
        page.text(text, "bold")


def _groups(result: BatchResult, board: list[dict[str, Any]]) -> list[list[Column]]:
    """Give each number its column, with that of its chance level if it has one."""
    summary = {row[DETECTOR]: row for row in summarise(result.table, result.options).to_pylist()}
    rows = [summary[row[DETECTOR]] for row in board]
    groups = []
    for metric in ordered_metrics(result):
        level = metric.replace("affiliation", "chance", 1)
        names = [metric, level] if level in result.options.chance_columns else [metric]
        groups.append(
            [
                Column(heading_of(name), [_score(name, row[f"mean_{name}"]) for row in rows])
                for name in names
            ]
        )
    return groups


def _score(name: str, value: float) -> Text:
    if name.startswith("chance") or not isfinite(value):
        return Text(words.score(value if isfinite(value) else None), style="dim")
    if name.startswith("affiliation"):
        text = words.score(value)
        return Text(text, style=score_style(text) if name == "affiliation_f1" else "")
    return Text(words.number(round(value, 4)))


def _ranks(board: list[dict[str, Any]]) -> Column:
    ranks = [words.number(row["rank"]) if isfinite(row["rank"]) else "-" for row in board]
    return Column("#", [Text(rank) for rank in ranks])


def _counts(board: list[dict[str, Any]]) -> list[Column]:
    """Say on how many series each detector is the best, and on how many it has a number."""
    known = [f"{row['series'] - row['undefined']}/{row['series']}" for row in board]
    best = Column("best", [Text(str(row["best_on"])) for row in board])
    return [best, Column("series", [Text(text) for text in known])]
