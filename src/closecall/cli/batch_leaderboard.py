"""Who is ahead in a batch: every number beside chance, in tables as wide as the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from closecall.cli import words
from closecall.cli.event_table import score_style
from closecall.cli.names import plain_name
from closecall.frames.batch.leaderboard import rank_detectors
from closecall.frames.batch.question import DETECTOR
from closecall.frames.batch.summary import summarise

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.frames.batch.result import BatchResult

MOST_DETECTORS = 60
_LONGEST_NAME, _SHORTEST_NAME = 40, 14  # as long as there is room for
_GAP = 2
_HEADINGS = {
    "affiliation_f1": "F1",
    "affiliation_precision": "prec.",
    "affiliation_recall": "recall",
    "affiliation_average_precision": "avg. prec.",
}
_HEADLINE = ("affiliation_f1", "affiliation_precision", "affiliation_recall")


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: list[Text]

    @property
    def width(self) -> int:
        heading = max(map(cell_len, self.heading.split("\n")))
        return max([heading, *(cell.cell_len for cell in self.cells)])

    def stacked(self) -> _Column:
        """Put the words of the heading one under the other."""
        return _Column(self.heading.replace(" ", "\n"), self.cells)


_Group = list[_Column]  # columns that stay side by side, as a number and its chance level


def ordered_metrics(result: BatchResult) -> list[str]:
    """List the numbers of the rows, the headline first."""
    columns = result.question.metric_columns
    first = [name for name in _HEADLINE if name in columns]
    return [*first, *(name for name in columns if name not in first)]


def heading_of(name: str) -> str:
    """Say what a column of the rows is called above a table."""
    return "chance" if name.startswith("chance") else _HEADINGS.get(name, name.replace("_", " "))


def print_leaderboard(result: BatchResult, console: Console) -> None:
    """Print the detectors, best first, with all their numbers; those without room come below."""
    metrics = ordered_metrics(result)
    board = rank_detectors(result.table, result.question, metrics[0]).to_pylist()
    shown = board[:MOST_DETECTORS]
    for columns in _tables(shown, _groups(result, metrics, shown), console.width):
        console.print(_table(columns))
        console.print()
    if len(board) > len(shown):
        hidden = len(board) - len(shown)
        text = f"... and {hidden} more detector{'s' * (hidden > 1)}; `--format json` has all.\n"
        console.print(Text(text, style="bold"))


def _groups(result: BatchResult, metrics: list[str], board: list[dict[str, Any]]) -> list[_Group]:
    """Give each number its column, with that of its chance level if it has one."""
    summary = {row[DETECTOR]: row for row in summarise(result.table, result.question).to_pylist()}
    rows = [summary[row[DETECTOR]] for row in board]
    groups = []
    for metric in metrics:
        level = metric.replace("affiliation", "chance", 1)
        names = [metric, level] if level in result.question.chance_columns else [metric]
        groups.append(
            [
                _Column(heading_of(name), [_score(name, row[f"mean_{name}"]) for row in rows])
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


def _ranks(board: list[dict[str, Any]]) -> _Column:
    ranks = [words.number(row["rank"]) if isfinite(row["rank"]) else "-" for row in board]
    return _Column("#", [Text(rank) for rank in ranks])


def _counts(board: list[dict[str, Any]]) -> _Group:
    """Say on how many series each detector is the best, and on how many it has a number."""
    known = [f"{row['series'] - row['undefined']}/{row['series']}" for row in board]
    best = _Column("best", [Text(str(row["best_on"])) for row in board])
    return [best, _Column("series", [Text(text) for text in known])]


def _names(board: list[dict[str, Any]], most: int) -> _Column:
    names = [plain_name(str(row[DETECTOR]), most) for row in board]
    return _Column(DETECTOR, [Text(name, style="bold cyan") for name in names])


def _tables(board: list[dict[str, Any]], groups: list[_Group], width: int) -> list[_Group]:
    """Split the columns into tables that fit; all have the names, the first the ranks as well."""
    shortest = _names(board, _SHORTEST_NAME)
    rank, counts = [_ranks(board)], _counts(board)
    if not _fitting(groups, width - _room([*rank, shortest, *counts])):
        groups, counts = [*groups, counts], []  # then they come last
    tables = []
    while groups:
        count = _fitting(groups, width - _room([*rank, shortest, *counts]))
        if not count:
            count, groups = 1, [[column.stacked() for column in groups[0]], *groups[1:]]
        columns = [column for group in groups[:count] for column in group]
        left = width - _room([*rank, *columns, *counts])
        most = min(max(left, _SHORTEST_NAME), _LONGEST_NAME)
        tables.append([*rank, _names(board, most), *columns, *counts])
        groups, rank, counts = groups[count:], [], []
    return tables


def _fitting(groups: list[_Group], room: int) -> int:
    """Count the first groups for which there is room; the last needs no gap after it."""
    return sum(total <= room + _GAP for total in accumulate(map(_room, groups)))


def _room(columns: list[_Column]) -> int:
    return sum(column.width + _GAP for column in columns)


def _table(columns: list[_Column]) -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "left" if column.heading == DETECTOR else "right"
        table.add_column(Text(column.heading), justify=justify, vertical="bottom", no_wrap=True)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table
