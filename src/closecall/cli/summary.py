"""What `--format table` prints: the headline, the events, and what the columns mean."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from rich.text import Text

from closecall.affiliation.result import MUCH, covered_share, covers_much
from closecall.cli import words
from closecall.cli.compile_notice import compile_notice
from closecall.cli.event_table import add_event_table, score_style
from closecall.cli.names import plain_name
from closecall.cli.tables import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from closecall import Affiliation

_LEGEND = (
    "alarm to event: mean distance from the alarms to the event (precision)\n"
    "event to alarm: mean distance from the event to the nearest alarm (recall)\n"
    "first alarm: the first one in the event's zone, relative to the event's start"
)
_LONG = (
    "Alarms cover {share:.0%} of the series; random ones are points. So recall and F1 look\n"
    "better than they are{remedy}."
)
_LONG_ONES = (
    "Alarms of {names} cover much of the time; random ones are points. So recall and F1 look "
    "better beside chance than they are: closecall score --significance moves the alarms "
    "themselves."
)
_MOST_LONG = 4
_REMEDY = ": --significance moves the alarms themselves"
_SCORES = ("precision", "recall", "F1")
_UNIT = "Times and distances are in the units of the input: samples, if it has no times."


def print_summary(result: Affiliation, console: Console, *, most: int | None) -> None:
    """Print the headline scores, what chance reaches, one row per event, and the legend."""
    scores = {name: getattr(result, name.lower()) for name in _SCORES}
    with compile_notice():
        levels = chance_line(result, scores)
    console.print(scores_line(scores))
    console.print(levels)
    console.print(Text(counts(result)))
    print_coverage(result, console, remedy=_REMEDY)
    console.print()
    print_events(result, console, most=most)
    console.print()
    print_meaning(result, console)


def print_coverage(result: Affiliation, console: Console, *, remedy: str = "") -> None:
    """Say so if the alarms are too long to be compared with points, and what to do, if anything."""
    if covers_much(result.events):
        text = _LONG.format(share=covered_share(result.events), remedy=remedy)
        console.print(Text(text, style="dim"))


def coverage_text(shares: Mapping[str, float]) -> str:
    """Name the detectors whose alarms are too long for that, of those that cover these shares.

    Examples
    --------
    >>> coverage_text({"a": 0.05, "b": 0.5})[:31]
    'Alarms of b (50%) cover much of'
    >>> coverage_text({"a": 0.05})
    ''
    """
    long = [f"{plain_name(name, 40)} ({own:.0%})" for name, own in shares.items() if own > MUCH]
    if len(long) > _MOST_LONG:
        long[_MOST_LONG:] = [f"{len(long) - _MOST_LONG} more"]
    return _LONG_ONES.format(names=", ".join(long)) if long else ""


def print_meaning(result: Affiliation, console: Console) -> None:
    """Print what chance and the columns mean, and in which unit times are."""
    alarms = result.chance.alarms
    said = f"by chance: mean scores of {alarms} alarm{'' if alarms == 1 else 's'} at random times"
    console.print(Text(said, style="dim"))
    print_legend(console)
    if result.events.start.dtype.kind != "M":
        console.print(Text(_UNIT, style="dim"))


def chance_line(result: Affiliation, scores: dict[str, float]) -> Text:
    """Return what as many random alarms score, each number under that of the headline."""
    levels = result.chance.values()
    cells: list[str] = []
    for name, value in scores.items():
        level = _score(levels[name.lower()]) if name.lower() in levels else ""
        gap = " " * len(name) if cells else "by chance"
        cells.append(f"{gap} {level:>{len(_score(value))}}")
    return Text("   ".join(cells).rstrip(), style="dim")


def scores_line(scores: dict[str, float]) -> Text:
    """Return names and scores on one line, coloured."""
    return Text("   ").join(_labelled(name, value) for name, value in scores.items())


def print_events(result: Affiliation, console: Console, *, most: int | None) -> None:
    """Print one row per event, and how many are left out."""
    page = Page((), console)
    offset = add_event_table(page, result, width=console.width, most=most)
    page.print()
    if offset:
        console.print(Text(f"Times are at UTC{offset}.", style="dim"))
    hidden = 0 if most is None else len(result.events) - most
    if hidden > 0:
        missed = int((result.events.predicted_count[most:] == 0).sum())
        console.print(
            Text(
                f"... and {hidden} more, {missed} of them missed; `--all` shows all.", style="bold"
            )
        )


def print_legend(console: Console) -> None:
    """Print what the less obvious columns mean."""
    console.print(Text(_LEGEND, style="dim"))


def missed(result: Affiliation) -> int:
    """Count the events without any alarm in their zone."""
    return int((result.events.predicted_count == 0).sum())


def counts(result: Affiliation) -> str:
    """Say how many true events there are, and how many are missed."""
    events = len(result.events)
    return f"{events} true event{'' if events == 1 else 's'}, {missed(result)} missed"


def _labelled(name: str, value: float) -> Text:
    text = _score(value)
    return Text.assemble(f"{name} ", (text, f"bold {score_style(text)}"))


def _score(value: float) -> str:
    return words.score(None if isnan(value) else value)
