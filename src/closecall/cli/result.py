"""One detector's scores, its events and its test against chance: `score`, `curve` and `demo`."""

from __future__ import annotations

from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli.tables import (
    Column,
    print_table,
    score_cell,
    scores,
    table_width,
    texts,
)
from closecall.wording import (
    UNDEFINED,
    alarm_text,
    counted,
    event_length_text,
    length_text,
    number_text,
    score_or_dash,
    time_texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from closecall.affiliation import Affiliation
    from closecall.chance import ShiftTest

LEGEND = (
    "alarm to event: mean distance from the alarms to the event (precision)\n"
    "event to alarm: mean distance from the event to the nearest alarm (recall)\n"
    "first alarm: the first one in the event's zone, relative to the event's start"
)
LEVEL = 0.05  # of the p-values that are coloured
_NOTHING = 0.005
_SHIFTS = (
    "p: share of the shifts of the same {what}, not to shift them included, that\n"
    "score at least as well; small where the {what} know when the events are\n"
    "above: 0 where the shifts are on average, 1 where the score is perfect"
)
_UNIT = "Times and distances are in the units of the input: samples, if it has no times."
# What goes first where there is no room; what else has none comes in a second table.
_DISPENSABLE = ("zone", "alarms", "year", "lasts")


def scores_line(values: Mapping[str, float]) -> Text:
    """Return names and scores on one line, coloured."""
    parts = []
    for name, value in values.items():
        cell = score_cell(value)
        cell.stylize("bold")
        parts.append(Text.assemble(f"{name} ", cell))
    return Text("   ").join(parts)


def chance_line(result: Affiliation, values: Mapping[str, float]) -> Text:
    """Return what the same alarms score when moved, each number under that of the headline."""
    levels = result.chance.values()
    cells: list[str] = []
    for name, value in values.items():
        level = score_or_dash(levels[name.lower()]) if name.lower() in levels else ""
        gap = " " * len(name) if cells else "by chance"
        cells.append(f"{gap} {level:>{len(score_or_dash(value))}}")
    return Text("   ".join(cells).rstrip(), style="dim")


def counts(result: Affiliation) -> str:
    """Write how many true events there are, and how many are missed."""
    return f"{counted(len(result.events), 'true event')}, {result.events.missed.sum()} missed"


def print_meaning(result: Affiliation, console: Console) -> None:
    """Print what chance and the columns mean, and in which unit times are."""
    moved = counted(result.chance.shifts, "shift")
    lines = [f"by chance: mean scores of the same alarms, moved ({moved})", LEGEND]
    if result.events.start.dtype.kind != "M":
        lines.append(_UNIT)
    console.print(Text("\n".join(lines), style="dim"))


def print_events(result: Affiliation, console: Console, *, most: int | None) -> None:
    """Print one row per event, and how many are left out."""
    rows = list(islice(result.events.rows(), most))
    missed = result.events.missed
    for hidden in range(len(_DISPENSABLE) + 1):
        without = _DISPENSABLE[:hidden]
        columns, offset = _event_columns(rows, missed.tolist(), with_year="year" not in without)
        shown = [column for name, column in columns.items() if name not in without]
        if table_width(shown) <= console.width:
            break
    print_table(console, shown, keys=2)
    if offset:
        console.print(Text(f"Times are at UTC{offset}.", style="dim"))
    if len(missed) > len(rows):
        left, lost = len(missed) - len(rows), missed[len(rows) :].sum()
        text = f"... and {left} more, {lost} of them missed; `--all` shows all."
        console.print(Text(text, style="bold"))


def _event_columns(
    rows: list[dict[str, Any]], missed: list[bool], *, with_year: bool
) -> tuple[dict[str, Column], str]:
    dated = isinstance(rows[0]["start"], str)
    starts, offset = start_texts([row["start"] for row in rows], with_year=with_year)
    borders = (
        start_texts([row[name] for row in rows], with_year=with_year)[0]
        for name in ("zone_start", "zone_stop")
    )
    distances = {
        name: [length_text(row[name], dated=dated) for row in rows]
        for name in ("precision_distance", "recall_distance")
    }
    alarms = [
        alarm_text(row["delay"], missed=lost, dated=dated)
        for row, lost in zip(rows, missed, strict=False)
    ]
    columns = {
        "number": texts("#", range(1, len(rows) + 1)),
        "start": Column("start", [*map(Text, starts)], "left" if dated else "right"),
        "lasts": texts("lasts", [event_length_text(row["start"], row["stop"]) for row in rows]),
        "zone": texts("zone", map(" to ".join, zip(*borders, strict=True))),
        "precision": scores("prec.", [row["precision"] for row in rows]),
        "recall": scores("recall", [row["recall"] for row in rows]),
        "F1": scores("F1", [row["f1"] for row in rows]),
        "alarms": texts("alarms", [row["predicted_count"] for row in rows]),
        "to event": texts("alarm to\nevent", distances["precision_distance"]),
        "to alarm": texts("event to\nalarm", distances["recall_distance"]),
        "first alarm": Column("first alarm", [*map(alarm_cell, alarms)]),
    }
    return columns, offset


def alarm_cell(text: str) -> Text:
    """Return what became of an event, red if it was missed."""
    return Text(text, "red" if text == "missed" else "")


def start_texts(values: list[Any], *, with_year: bool = True) -> tuple[list[str], str]:
    """Write the starts of events, and return the UTC offset of datetimes, if they share one."""
    if isinstance(values[0], str):
        return time_texts(values, with_year=with_year)
    return [number_text(value) for value in values], ""


def print_shifts(tests: Mapping[str, ShiftTest], console: Console) -> None:
    """Print scores beside those of the shifts."""
    shifted, above, cases = [], [], []
    for test in tests.values():
        mean = f"{score_or_dash(test.mean)} +/- {test.std:.2f}"
        shifted.append(UNDEFINED if isnan(test.mean) else mean)
        # What two digits show as 0 is no more above chance than below.
        above.append(0.0 if abs(test.above_chance) < _NOTHING else test.above_chance)
        count = f"{test.at_least:,} of {test.null.size:,}"
        cases.append(UNDEFINED if isnan(test.observed) else count)
    columns = [
        Column("", [*map(Text, tests)], "left"),
        scores("observed", [test.observed for test in tests.values()], style=""),
        texts("shifted", shifted),
        scores("above", above, style=""),
        texts("at least as good", cases),
        pvalues("p", [test.pvalue for test in tests.values()]),
    ]
    print_table(console, columns)


def pvalues(heading: str, values: list[float | None]) -> Column:
    """Return a column of p-values, the small ones coloured."""
    known = [None if value is None or isnan(value) else value for value in values]
    cells = [
        Text(UNDEFINED, "dim")
        if value is None
        else Text(f"{value:.2g}", "green" if value <= LEVEL else "")
        for value in known
    ]
    return Column(heading, cells)


def shifts_legend(what: str) -> str:
    """Explain the columns of `print_shifts`, for alarms or for scores that are shifted."""
    return _SHIFTS.format(what=what)
