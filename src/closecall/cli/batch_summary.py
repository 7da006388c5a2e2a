"""What `closecall batch` prints: who is ahead, beside chance, and what became of the series."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli.batch_leaderboard import (
    MOST_DETECTORS,
    add_leaderboard,
    heading_of,
    ordered_metrics,
)
from closecall.cli.names import plain_name
from closecall.cli.summary import coverage_text
from closecall.cli.tables import Page
from closecall.tables.batch.options import DETECTOR
from closecall.tables.batch.status import (
    BAD_TIMES,
    CONSTANT_SCORE,
    EMPTY,
    NO_EVENT,
    OK,
    STATUSES,
)
from closecall.tables.batch.summary import higher_is_better, rank_detectors

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from rich.console import Console

    from closecall.tables.batch.result import BatchResult

_LONGEST = 60
_SAID_BY_COUNTS = (OK, NO_EVENT, EMPTY)  # statuses whose reason says no more than their name
_OUT_OF_ORDER = "increasing"  # what the reason says of times that --disorder can mend
_CHANCE = (
    "chance: about what as many alarms at random times reach, usually within 0.02;\n"
    "closecall score and cc.chance give the means themselves, series by series."
)
_CHANCE_AVERAGE = "chance of avg. prec.: about that of shuffled scores, usually within 0.02."
_LOOKS = {
    "best_f1": "Thresholds are the best of each series",
    "best_f1_global": "Thresholds are the best that all series of a detector share",
}
_OPTIMISTIC = ", chosen with the truth: what a detector could reach, not what it would."


def print_batch(
    result: BatchResult,
    console: Console,
    *,
    out: str | None,
    intervals: pa.Table | None = None,
    level: float | None = None,
) -> None:
    """Print the counts, the leaderboard, its intervals of a level, and where all else is."""
    console.print(_counts(result))
    console.print()
    if result.table.num_rows:
        _print_numbers(result, intervals, level, console)
        _print_meaning(result, ordered_metrics(result), console)
    if out is not None and not result.failures:
        console.print(Text(_written(result, out)))


def _counts(result: BatchResult) -> Text:
    """Say what became of the series, and what could be done about it."""
    by = [name for name in result.options.by if name != DETECTOR]
    series: dict[tuple[Any, ...], list[str]] = {}
    keys = zip(*(result.table.column(name).to_pylist() for name in by), strict=True)
    statuses = result.table.column("status").to_pylist()
    for key, status in zip(list(keys) or [()] * len(statuses), statuses, strict=True):
        series.setdefault(key, []).append(status)
    evaluated = sum(any(one in (OK, CONSTANT_SCORE) for one in own) for own in series.values())
    parts = [f"{evaluated} series evaluated", *_troubles(series.values())]
    text = Text.assemble((f"{', '.join(parts)}", "bold"))
    if result.failures:
        whose = "its" if len(result.failures) == 1 else "their"
        missing = f"{len(result.failures)} of {result.units} units could not be read"
        text.append(f"\n{missing}; {whose} series are not among the rows", "bold red")
    reasons = _reasons(result)
    for status, (where, reason) in reasons.items():
        text.append(f"\n{status}, as in {where}: {reason}", "dim")
    disordered = _OUT_OF_ORDER in reasons.get(BAD_TIMES, ("", ""))[1]
    if disordered and result.options.disorder == "error":
        text.append("\n--disorder sort puts samples in the order of their times; ")
        text.append("--disorder index counts samples instead")
    return text


def _reasons(result: BatchResult) -> dict[str, tuple[str, str]]:
    """Give the first row of each trouble: whose it is, and the reason."""
    first: dict[str, tuple[str, str]] = {}
    names = dict.fromkeys((*result.options.by, DETECTOR))
    columns = [result.table.column(name).to_pylist() for name in (*names, "status", "reason")]
    for *key, status, reason in zip(*columns, strict=True):
        if status not in _SAID_BY_COUNTS and status not in first:
            first[status] = ", ".join(plain_name(str(part), _LONGEST) for part in key), reason
    return first


def _troubles(series: Iterable[list[str]]) -> list[str]:
    """Count the series in each trouble; apart, those in which only some detectors are."""
    everywhere: dict[str, int] = {}
    somewhere: dict[str, int] = {}
    for own in series:
        for status in dict.fromkeys(own):
            counts = everywhere if own.count(status) == len(own) else somewhere
            counts[status] = counts.get(status, 0) + 1
    return [
        f"{counts[status]} {STATUSES[status]}{suffix}"
        for counts, suffix in ((everywhere, ""), (somewhere, " for some detectors"))
        for status in sorted(counts, key=lambda one: -counts[one])
        if status != OK
    ]


def _print_numbers(
    result: BatchResult, intervals: pa.Table | None, level: float | None, console: Console
) -> None:
    metrics = ordered_metrics(result)
    board = rank_detectors(result.table, result.options, metrics[0]).to_pylist()
    ranked = [str(row[DETECTOR]) for row in board[:MOST_DETECTORS]]
    page = Page(ranked, console)
    add_leaderboard(page, result, board)
    if intervals is not None and level is not None:
        from closecall.cli.batch_intervals import add_batch_intervals

        headings = {name: heading_of(name) for name in metrics}
        add_batch_intervals(page, intervals, ranked, headings, level=level)
    page.print()


def _print_meaning(result: BatchResult, metrics: list[str], console: Console) -> None:
    way = "highest" if higher_is_better(metrics[0], result.options) else "lowest"
    name = heading_of(metrics[0])
    lines = [
        f"Scores are means over the series that have one; best: on how many {name} is the {way}."
    ]
    if result.options.has_affiliation:
        lines += filter(None, (_CHANCE, coverage_text(_shares(result))))
    if "affiliation_average_precision" in metrics:
        lines.append(_CHANCE_AVERAGE)
    rule = result.options.threshold
    if rule.looks_at_truth:
        lines.append(f"{_LOOKS[rule.kind]}{_OPTIMISTIC}")
    console.print(Text("\n".join(lines), style="dim"))


def _shares(result: BatchResult) -> dict[str, float]:
    """Give the share of the samples that each detector predicts, over all series."""
    sums: dict[str, list[float]] = {}
    columns = (DETECTOR, "status", "samples", "predicted_samples")
    for name, status, samples, predicted in zip(
        *(result.table.column(column).to_pylist() for column in columns), strict=True
    ):
        if status == OK:
            sums.setdefault(str(name), []).append(predicted / samples)
    return {name: fmean(own) for name, own in sums.items()}


def _written(result: BatchResult, out: str) -> str:
    path = Path(out)
    count = result.table.num_rows
    text = f"Wrote {count} row{'' if count == 1 else 's'} to {path}"
    if result.event_table is None:
        return f"{text}."
    events = path.with_name(f"{path.stem}.events{path.suffix}")
    return f"{text}, and {result.event_table.num_rows} of events to {events}."
