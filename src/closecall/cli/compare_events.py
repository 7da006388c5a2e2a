"""The events of a comparison beside each other, in as much detail as the terminal has room for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli import words
from closecall.cli.event_table import score_style
from closecall.cli.tables import Column, Grid
from closecall.compare.tables import plain_events

if TYPE_CHECKING:
    from closecall.cli.tables import Names, Page
    from closecall.compare import Comparison

_GAP = 3
BEST, TIED = "*", "="

# From the most to the least detail: what is shown of the events, and what of each detector.
_LAYOUTS = (
    ("year lasts", "scores delay"),
    ("lasts", "scores delay"),
    ("year lasts", "scores"),
    ("lasts", "scores"),
    ("", "scores"),
    ("lasts", "f1 delay"),
    ("lasts", "f1"),
    ("", "f1"),
    ("lasts", "best"),
    ("", "best"),
)


def add_events(page: Page, comparison: Comparison, *, most: int | None) -> None:
    """Add the first `most` events, in two tables if not even who is best fits beside them."""
    rows = plain_events(comparison)[:most]
    count = len(comparison.names)

    def table(events: str, detectors: str, short: Names) -> Grid:
        of_detectors = (
            _best_columns(rows, count, short)
            if detectors == "best"
            else [_detector_column(name, rows, detectors, short) for name in comparison.names]
        )
        return Grid([*_event_columns(rows, events)[0], *of_detectors], _GAP)

    def found(short: Names) -> Grid:
        return Grid([*_event_columns(rows, "")[0], *_best_columns(rows, count, short)[:1]], _GAP)

    def best(short: Names) -> Grid:
        number, *_ = _event_columns(rows, "")[0]
        return Grid([number, *_best_columns(rows, count, short, " +{}")[1:]], _GAP)

    page.add(*([partial(table, *layout)] for layout in _LAYOUTS), [found, lambda _: Text(), best])
    offset = _event_columns(rows, "")[1]
    if offset:
        page.text(f"Times are at UTC{offset}.", "dim")
    hidden = len(comparison.best) - len(rows)
    if hidden:
        page.text(f"... and {hidden} more events; `--all` shows all.", "bold")


def _event_columns(rows: list[dict[str, Any]], layout: str) -> tuple[list[Column], str]:
    starts, offset = [row["start"] for row in rows], ""
    dated = isinstance(starts[0], str)
    if dated:
        starts, offset = words.moments(starts, with_year="year" in layout)
    else:
        starts = [words.number(start) for start in starts]
    columns = [
        Column("#", [Text(str(row["event"] + 1)) for row in rows]),
        Column("start", [Text(start) for start in starts], right=not dated),
    ]
    if "lasts" in layout:
        columns.append(Column("lasts", [Text(words.lasts(row, dated=dated)) for row in rows]))
    return columns, offset


def _detector_column(name: str, rows: list[dict[str, Any]], layout: str, short: Names) -> Column:
    """Lay a detector's scores out as one column, so that its name stands above all of them."""
    dated = isinstance(rows[0]["start"], str)
    scores = ("precision", "recall", "f1") if "scores" in layout else ("f1",)
    delays = [words.delay(row["detectors"][name]["delay"], dated=dated) for row in rows]
    size = max(map(len, ["first alarm", *delays]))
    cells = []
    for row, delay in zip(rows, delays, strict=True):
        cell = Text("  ").join(_score(row["detectors"][name][score], score) for score in scores)
        if name in row["best"]:
            cell.stylize("bold")
        cell.append(_mark(name, row["best"]))
        if "delay" in layout:
            cell.append(f"  {delay:>{size}}", "red" if delay == "missed" else "")
        cells.append(cell)
    heading = "  ".join(_HEADINGS[score].rjust(_WIDTHS[score]) for score in scores) + " "
    if "delay" in layout:
        heading += f"  {'first alarm':>{size}}"
    return Column(f"{short[name]}\n{heading}", cells, right=False)


_HEADINGS = {"precision": "prec.", "recall": "recall", "f1": "F1"}
_WIDTHS = {"precision": 5, "recall": 6, "f1": 5}


def _score(value: float | None, name: str) -> Text:
    text = words.score(value)
    return Text(text.rjust(_WIDTHS[name]), score_style(text))


def _mark(name: str, best: list[str]) -> str:
    if name not in best:
        return " "
    return BEST if len(best) == 1 else TIED


def _best_columns(
    rows: list[dict[str, Any]], count: int, short: Names, tied: str = " and {} more"
) -> list[Column]:
    """Name only the best detector, where there is no room for all of them."""
    found, names, scores = [], [], []
    for row in rows:
        finders = [one for one in row["detectors"].values() if one["predicted_count"]]
        found.append(Text(f"{len(finders)} of {count}", "" if finders else "red"))
        text = words.UNDEFINED
        if row["best"]:
            first, *others = row["best"]
            more = tied.format(len(others)) if others else ""
            names.append(Text(f"{short[first]}{more}"))
            text = words.score(row["detectors"][first]["f1"])
        else:
            names.append(Text("nobody", "red"))
        scores.append(Text(text, score_style(text)))
    return [
        Column("found by", found),
        Column("best", names, right=False),
        Column("its F1", scores),
    ]
