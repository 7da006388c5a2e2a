"""What commands show on a terminal: tables, a detector's scores and events, tests against chance.

Numbers are never cut, long names fold, and what has no room in a table follows in another.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from rich.columns import Columns as SideBySide
from rich.table import Table
from rich.text import Text

from closecall.affiliation.event_scores import TOLD
from closecall.affiliation.result import headlines
from closecall.errors import with_names
from closecall.evaluated_time import advice_to_all, ignored_length, ignored_notes, said_once
from closecall.wording import (
    TITLES,
    UNDEFINED,
    counted,
    event_length_text,
    length_text,
    number_text,
    outcome_text,
    plain_name,
    score_or_dash,
    time_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from closecall.affiliation import Affiliation
    from closecall.chance import EventSignificance, ScoresSignificance, Significance
    from closecall.tables.series import SeriesInput

LEGEND = (
    "alarm to event: mean distance from the alarms to the event (precision)\n"
    "event to alarm: mean distance from the event to the nearest alarm (recall)\n"
    "outcome: how late the first alarm that overlaps the event is, or the nearest one"
)
_LEVEL = 0.05  # of the p-values that are coloured
_NOTHING = 0.005
_LONGEST_NAME = 24  # in front of a headline, or of an event
_SHIFTS = (
    "p: share of the shifts of {what} that score at least as well;\n"
    "small where the {scored} know when the events are\n"
    "above: 0 where the shifts are on average, 1 where the score is perfect"
)
_ADJUSTED = "\nadjusted: for the number of events, by Holm's method"
_UNIT = "Times and distances are in the units of the input: samples, if it has no times."
# What goes first where there is no room; what else has none comes in a second table.
_DISPENSABLE = ("zone", "alarms", "one line", "year", "lasts")
_GAP = 2  # cells between columns
_NAME = 16  # cells that a name keeps before columns move to a further table
_GOOD, _POOR = 0.9, 0.6  # a random alarm scores about 0.5


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    heading: str
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "right"
    folds: bool = False
    """Whether rich may break its cells over several lines; numbers stay whole."""
    joined: bool = False
    """Whether it stays beside the column before it."""

    @property
    def width(self) -> int:
        """The cells it needs."""
        texts = [self.heading, *(cell.plain for cell in self.cells)]
        widest = max(cell_len(line) for text in texts for line in text.split("\n"))
        return min(widest, _NAME) if self.folds else widest


def texts(heading: str, values: Iterable[object], *, joined: bool = False) -> Column:
    """Return a column of anything, as it is written."""
    return Column(heading, [Text(str(value)) for value in values], joined=joined)


def scores(
    heading: str, values: Iterable[float | None], *, style: str | None = None, joined: bool = False
) -> Column:
    """Return a column of scores in [0, 1], coloured unless a style is given."""
    return Column(heading, [score_cell(value, style) for value in values], joined=joined)


def names(heading: str, values: Iterable[str]) -> Column:
    """Return a column of detectors; no name is no detector."""
    cells = [Text(plain_name(value), "bold cyan") for value in values]
    return Column(heading, cells, "left", folds=True)


def score_cell(value: float | None, style: str | None = None) -> Text:
    """Return a score: green if good, red if hardly better than chance."""
    text = score_or_dash(value)
    if style is None and text == UNDEFINED:
        style = "dim"
    elif style is None:
        shown = float(text.strip("<>"))
        style = "green" if shown >= _GOOD else "yellow" if shown >= _POOR else "red"
    return Text(text, style)


def table_width(columns: Sequence[Column]) -> int:
    """Return the cells that columns side by side need."""
    return sum(column.width + _GAP for column in columns) - _GAP


def print_table(console: Console, columns: Sequence[Column], *, keys: int = 1) -> None:
    """Print columns side by side; those without room follow in further tables.

    The first columns, `keys` of them, say what a row is about, and stand in every table.
    """
    left = list(columns[keys:])
    while True:
        chosen = list(columns[:keys])
        while left:
            together = 1
            while together < len(left) and left[together].joined:
                together += 1
            wider = [*chosen, *left[:together]]
            if len(chosen) > keys and table_width(wider) > console.width:
                break
            chosen, left = wider, left[together:]
        console.print(_rich_table(chosen))
        if not left:
            return
        console.print()


def print_first_that_fits(
    console: Console, tables: Iterable[tuple[Sequence[Column], str]], *, keys: int
) -> None:
    """Print the first of several tables that has room, or the last one in parts.

    Beside each is the UTC offset of its times, which is printed below.
    """
    for table in tables:
        if table_width(table[0]) <= console.width:
            break
    columns, offset = table
    print_table(console, columns, keys=keys)
    if offset:
        console.print(Text(f"Times are at UTC{offset}.", style="dim"))


def _rich_table(columns: Sequence[Column]) -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    lines = max(column.heading.count("\n") for column in columns)
    for column in columns:
        above = "\n" * (lines - column.heading.count("\n"))
        table.add_column(
            Text(f"{above}{column.heading}"),
            justify=column.justify,
            overflow="fold",
            no_wrap=not column.folds,
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table


def print_headline(
    told: str,
    values: Mapping[str, float],
    result: Affiliation,
    threshold: str | None,
    console: Console,
) -> None:
    """Print what was caught, the threshold and the scores, and under them what chance reaches."""
    levels = result.chance.values()
    blocks: list[Table | Text] = []
    for name, value in values.items():
        score, key = score_cell(value), name.lower()
        score.stylize("bold")
        level = score_or_dash(levels[key]) if key in levels else ""
        block = Table.grid(padding=(0, 1, 0, 0))
        block.add_column()
        block.add_column(justify="right")
        block.add_row(Text(name), score)
        block.add_row(Text("" if blocks else "by chance", "dim"), Text(level, "dim"))
        blocks.append(block)
    if threshold is not None:
        blocks.insert(0, Text.assemble("threshold ", (threshold, "bold cyan")))
    console.print(Text(told, style="bold"))
    console.print(SideBySide(blocks, padding=(0, 3)))


def by_detector(values: dict[str, dict[str, Any]], noted: list[str]) -> dict[str, Any]:
    """Return what JSON holds: the values of the only detector, or a record of each."""
    if len(values) == 1:
        (record,) = values.values()
        last = {name: record.pop(name) for name in ("significance",) if name in record}
        return record | {"notes": noted} | last
    records = [{"detector": name} | record for name, record in values.items()]
    return {"detectors": records, "notes": noted}


def print_detectors(
    results: Mapping[str, Affiliation],
    thresholds: Mapping[str, float | None],
    noted: list[str],
    console: Console,
    *more: Column,
) -> None:
    """Print several detectors, a headline and a row each, and what must be known beside them."""
    told = Table.grid(padding=(0, 2, 0, 0))
    for name, text in headlines(results).items():
        told.add_row(Text(plain_name(name, _LONGEST_NAME), "bold cyan", no_wrap=True), Text(text))
    console.print(told)
    print_notes(noted, console)
    found = results.values()
    columns = [
        names("detector", results),
        scores("prec.", [result.precision for result in found]),
        scores("recall", [result.recall for result in found]),
        scores("F1", [result.f1 for result in found]),
        scores("by chance", [result.chance.f1 for result in found], style="dim", joined=True),
        texts("alarms", [result.alarms for result in found]),
        *more,
    ]
    cuts = [thresholds.get(name) for name in results]
    if any(cut is not None for cut in cuts):
        shown = [UNDEFINED if cut is None else f"{cut:.6g}" for cut in cuts]
        columns.append(texts("threshold", shown))
    pairs = [result.events.pair for result in found]
    if len({id(pair.ignored) for pair in pairs}) > 1:  # each is judged on its own time
        columns.append(texts("ignored", [ignored_length(pair) for pair in pairs]))
    console.print()
    print_table(console, columns)


def notes(read: SeriesInput, results: Mapping[str, Affiliation]) -> list[str]:
    """Return what must be known beside the scores: what was inferred, ignored time, and advice."""
    detectors = read.detectors
    found = detectors.scored | detectors.predicted
    advised = advice_to_all(found, max_step=read.reading.max_step)
    left_out = {name: result.left_out.alarms for name, result in results.items()}
    pairs = {name: result.events.pair for name, result in results.items()}
    sentences = [*read.notes, *ignored_notes(pairs, left_out)]
    weightless = sum(result.points_without_weight for result in results.values())
    if weightless:
        sentences.append(
            f"{counted(weightless, 'predicted point')} beside ranges in the same zone "
            f"{'weighs' if weightless == 1 else 'weigh'} nothing in precision: --point-length "
            "gives points a length."
        )
    tied = said_once({name: result.chance.cautions for name, result in results.items()})
    return [*sentences, *tied, *advised]


def print_notes(sentences: list[str], console: Console) -> None:
    """Print each note on lines of its own."""
    for sentence in sentences:
        console.print(Text(sentence, style="yellow"))


def print_meaning(result: Affiliation, console: Console) -> None:
    """Print what chance and the columns mean, and in which unit times are."""
    moved = counted(result.chance.shifts, "shift")
    lines = [f"by chance: mean scores with alarms or events shifted in time ({moved})", LEGEND]
    if result.events.start.dtype.kind != "M":
        lines.append(_UNIT)
    console.print(Text("\n".join(lines), style="dim"))


def print_events(result: Affiliation, console: Console, *, most: int | None) -> None:
    """Print one row per event, and how many are left out."""
    rows = list(islice(result.events.rows(), most))
    missed = result.events.missed
    hidden = (_DISPENSABLE[:count] for count in range(len(_DISPENSABLE) + 1))
    print_first_that_fits(console, (_event_columns(rows, names) for names in hidden), keys=2)
    lost = missed[len(rows) :].sum()
    print_more(len(missed) - len(rows), f", {lost} of them missed", console)


def counts_by(result: Affiliation, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Count what became of the events by columns of their list."""
    with with_names({"column": "by_column"}):
        return [row for column in columns for row in result.counts_by(column)]


def print_counts(counts: list[dict[str, Any]], console: Console) -> None:
    """Print what `counts_by` gave, of one detector or of several, if it was asked for."""
    if not counts:
        return
    values = [UNDEFINED if row["value"] is None else str(row["value"]) for row in counts]
    columns = [
        Column("by", [Text(plain_name(row["column"]), "cyan") for row in counts], "left"),
        Column("", [Text(plain_name(value)) for value in values], "left", folds=True),
        texts("events", [row["events"] for row in counts]),
        texts("caught", [row["caught"] for row in counts]),
        texts("close calls", [row["close_calls"] for row in counts]),
        texts("missed", [row["missed"] for row in counts]),
    ]
    if "detector" in counts[0]:
        columns.insert(2, names("detector", [row["detector"] for row in counts]))
    console.print()
    print_table(console, columns, keys=2)


def print_more(
    hidden: int, what: str, console: Console, where: str | None = "`--all` shows all"
) -> None:
    """Say how many rows are left out, if any are, and where they are."""
    if hidden > 0:
        console.print(Text(f"... and {hidden} more{what}; {where}.", style="bold"))


def _event_columns(
    rows: list[dict[str, Any]], without: tuple[str, ...]
) -> tuple[list[Column], str]:
    """Return the columns of events and the UTC offset of their times, without what is named."""
    with_year, dated = "year" not in without, isinstance(rows[0]["start"], str)
    starts, offset = start_texts([row["start"] for row in rows], with_year=with_year)
    borders = (
        start_texts([row[name] for row in rows], with_year=with_year)[0]
        for name in ("zone_start", "zone_stop")
    )
    distances = {
        name: [length_text(row[name], dated=dated) for row in rows]
        for name in ("precision_distance", "recall_distance")
    }
    columns = {
        "number": texts("#", range(1, len(rows) + 1)),
        "start": Column("start", [*map(Text, starts)], "left" if dated else "right"),
        "lasts": texts("lasts", [event_length_text(row["start"], row["stop"]) for row in rows]),
        **_detail_columns(rows),
        "outcome": outcomes(rows, broken="one line" in without),
        "zone": texts("zone", map(" to ".join, zip(*borders, strict=True))),
        "precision": scores("prec.", [row["precision"] for row in rows]),
        "recall": scores("recall", [row["recall"] for row in rows]),
        "F1": scores("F1", [row["f1"] for row in rows]),
        "alarms": texts("alarms", [row["predicted_count"] for row in rows]),
        "to event": texts("alarm to\nevent", distances["precision_distance"]),
        "to alarm": texts("event to\nalarm", distances["recall_distance"]),
    }
    return [column for name, column in columns.items() if name not in without], offset


def _detail_columns(rows: list[dict[str, Any]]) -> dict[str, Column]:
    """Return what a list of events calls them, and how grave they are, if it says so."""
    details = [row.get("details", {}) for row in rows]
    named = next((name for name in TITLES if name in details[0]), None)
    columns = {}
    for name in (named, "severity"):
        if name in details[0]:
            cells = [Text("" if detail[name] is None else str(detail[name])) for detail in details]
            for cell in cells:
                cell.truncate(_LONGEST_NAME, overflow="ellipsis")
            columns[f"told {name}"] = Column(str(name), cells, "left")
    return columns


def outcomes(rows: list[dict[str, Any]], *, broken: bool) -> Column:
    """Return what happened to the events, on two lines where that is long, misses in red."""
    cells = []
    for row in rows:
        dated = isinstance(row["start"], str)
        text = outcome_text(**{name: row[name] for name in TOLD}, dated=dated)
        if broken:
            text = text.replace("nearest ", "nearest\n").replace("close call, ", "close call,\n")
        cells.append(Text(text, {"missed": "red", "close call": "yellow"}.get(row["outcome"], "")))
    return Column("outcome", cells, "left")


def start_texts(values: list[Any], *, with_year: bool = True) -> tuple[list[str], str]:
    """Write the starts of events, and return the UTC offset of datetimes, if they share one."""
    if isinstance(values[0], str):
        return time_texts(values, with_year=with_year)
    return [number_text(value) for value in values], ""


def print_significance(
    test: Significance | ScoresSignificance, console: Console, *, most: int | None
) -> None:
    """Print F1 beside that of the shifts, then what is not to be named first, and the events."""
    events = getattr(test, "events", None)
    if hasattr(test, "average_precision"):
        tests = {"best F1": test.f1, "average precision": test.average_precision}
    else:
        tests = {"F1": test.f1, "  precision": test.precision, "  recall": test.recall}
    shifted, above, cases = [], [], []
    for score in tests.values():
        mean = f"{score_or_dash(score.mean)} +/- {score.std:.2f}"
        shifted.append(UNDEFINED if isnan(score.mean) else mean)
        # What two digits show as 0 is no more above chance than below.
        above.append(0.0 if abs(score.above_chance) < _NOTHING else score.above_chance)
        count = f"{score.at_least:,} of {score.draws:,}"
        cases.append(UNDEFINED if isnan(score.observed) else count)
    columns = [
        Column("", [*map(Text, tests)], "left"),
        scores("observed", [score.observed for score in tests.values()], style=""),
        texts("shifted", shifted),
        scores("above", above, style=""),
        texts("at least as good", cases),
        _pvalues("p", [score.pvalue for score in tests.values()]),
    ]
    console.print()
    print_table(console, columns)
    console.print(Text(f"\n{test.sentence}"))
    if events is not None:
        _print_tested_events(events, console, most)
    what, scored = ("scores", "scores") if events is None else ("alarms, or of events,", "alarms")
    legend = _SHIFTS.format(what=what, scored=scored)
    console.print(Text(f"\n{legend}{'' if events is None else _ADJUSTED}", style="dim"))


def _print_tested_events(events: EventSignificance, console: Console, most: int | None) -> None:
    adjusted = events.f1.adjusted_pvalue
    low = (adjusted <= _LEVEL).sum()
    text = f"Adjusted p of F1 at most {_LEVEL}: {low} of {counted(adjusted.size, 'event')}.\n"
    console.print(Text(text))
    rows = list(islice(events.rows(), most))
    headings = {
        "prec. p": "precision_pvalue",
        "recall p": "recall_pvalue",
        "F1 p": "f1_pvalue",
        "adjusted F1 p": "f1_adjusted_pvalue",
    }
    columns = [
        texts("#", range(1, len(rows) + 1)),
        texts("start", start_texts([row["start"] for row in rows])[0]),
        *(_pvalues(heading, [row[name] for row in rows]) for heading, name in headings.items()),
    ]
    print_table(console, columns, keys=2)
    print_more(len(events) - len(rows), "", console)


def _pvalues(heading: str, values: list[float | None]) -> Column:
    """Return a column of p-values, the small ones coloured."""
    cells = [
        Text(UNDEFINED, "dim")
        if value is None or isnan(value)
        else Text(f"{value:.2g}", "green" if value <= _LEVEL else "")
        for value in values
    ]
    return Column(heading, cells)
