"""The events of a comparison beside each other, in as much detail as the terminal has room for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from closecall.cli import words
from closecall.cli.event_table import score_style
from closecall.cli.names import plain_name
from closecall.compare.tables import plain_events

if TYPE_CHECKING:
    from closecall.compare import Comparison

_GAP = 3
BEST, TIED = "*", "="

# From the most to the least detail: what is shown of the events, what of each detector, and how
# long its name may be.
_LAYOUTS = (
    ("year lasts", "scores delay", 14),
    ("lasts", "scores delay", 14),
    ("year lasts", "scores", 14),
    ("lasts", "scores", 14),
    ("", "scores", 14),
    ("lasts", "f1 delay", 14),
    ("lasts", "f1", 14),
    ("", "f1", 14),
    ("lasts", "best", 28),
    ("lasts", "best", 14),
    ("", "best", 10),
)


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: list[Text]
    right: bool = True

    @property
    def width(self) -> int:
        lines = [*self.heading.split("\n"), *(cell.plain for cell in self.cells)]
        return max(map(cell_len, lines))


def compared_events(comparison: Comparison, *, width: int, most: int | None) -> tuple[Table, str]:
    """Return the first `most` events as a table, and the UTC offset of its times, if any."""
    rows = plain_events(comparison)[:most]
    for events, detectors, longest in _LAYOUTS:
        columns, offset = _event_columns(rows, events)
        columns += _detector_columns(comparison.names, rows, detectors, longest)
        if sum(column.width + _GAP for column in columns) - _GAP <= width:
            break
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        justify: Any = "right" if column.right else "left"
        table.add_column(Text(column.heading), justify=justify, vertical="bottom", no_wrap=True)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table, offset


def _event_columns(rows: list[dict[str, Any]], layout: str) -> tuple[list[_Column], str]:
    starts, offset = [row["start"] for row in rows], ""
    dated = isinstance(starts[0], str)
    if dated:
        starts, offset = words.moments(starts, with_year="year" in layout)
    else:
        starts = [words.number(start) for start in starts]
    columns = [
        _Column("#", [Text(str(row["event"] + 1)) for row in rows]),
        _Column("start", [Text(start) for start in starts], right=not dated),
    ]
    if "lasts" in layout:
        columns.append(_Column("lasts", [Text(words.lasts(row, dated=dated)) for row in rows]))
    return columns, offset


def _detector_columns(
    names: tuple[str, ...], rows: list[dict[str, Any]], layout: str, longest: int
) -> list[_Column]:
    if layout == "best":
        return _best_columns(rows, len(names), longest)
    return [_detector_column(name, rows, layout, longest) for name in names]


def _detector_column(name: str, rows: list[dict[str, Any]], layout: str, longest: int) -> _Column:
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
    title = plain_name(name, max(longest, len(heading)))
    return _Column(f"{title}\n{heading}", cells, right=False)


_HEADINGS = {"precision": "prec.", "recall": "recall", "f1": "F1"}
_WIDTHS = {"precision": 5, "recall": 6, "f1": 5}


def _score(value: float | None, name: str) -> Text:
    text = words.score(value)
    return Text(text.rjust(_WIDTHS[name]), score_style(text))


def _mark(name: str, best: list[str]) -> str:
    if name not in best:
        return " "
    return BEST if len(best) == 1 else TIED


def _best_columns(rows: list[dict[str, Any]], count: int, longest: int) -> list[_Column]:
    """Name only the best detector, where there is no room for all of them."""
    found, names, scores = [], [], []
    for row in rows:
        finders = [one for one in row["detectors"].values() if one["predicted_count"]]
        found.append(Text(f"{len(finders)} of {count}", "" if finders else "red"))
        text = words.UNDEFINED
        if row["best"]:
            first, *others = row["best"]
            more = f" and {len(others)} more" if others else ""
            names.append(Text(f"{plain_name(first, longest)}{more}"))
            text = words.score(row["detectors"][first]["f1"])
        else:
            names.append(Text("nobody", "red"))
        scores.append(Text(text, score_style(text)))
    return [
        _Column("found by", found),
        _Column("best", names, right=False),
        _Column("its F1", scores),
    ]
