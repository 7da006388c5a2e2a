"""What `closecall curve` prints: the chosen threshold, the events there, and the curve."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli import words
from closecall.cli.compile_notice import compile_notice
from closecall.cli.event_table import score_style
from closecall.cli.summary import (
    chance_line,
    counts,
    print_coverage,
    print_events,
    print_meaning,
    scores_line,
)
from closecall.cli.tables import Column, Page
from closecall.fscore import f_measure
from closecall.tables import alarm_rate, curve_columns
from closecall.tables.thresholds import threshold_text

if TYPE_CHECKING:
    from rich.console import Console

    from closecall import Affiliation, AffiliationCurve
    from closecall.affiliation.thresholds import OperatingPoint

_GAP = 3  # between the threshold and the scores
_ROWS = 11  # of the curve; its ends, the best and the chosen point come on top


def print_curve(
    curve: AffiliationCurve,
    chosen: OperatingPoint,
    constraints: dict[str, Any],
    console: Console,
    *,
    most: int | None,
) -> None:
    """Print the headline, one row per event, and some rows of the curve."""
    result = curve.at(chosen.threshold)
    _print_headline(curve, chosen, result, console)
    console.print(Text(f"{_rate(curve, chosen.alarms)}; {counts(result)}"))
    console.print(Text(_reason(chosen, constraints)))
    print_coverage(result, console)
    console.print()
    print_events(result, console, most=most)
    console.print()
    console.print(_curve_headline(curve))
    _print_table(curve, chosen, console)
    console.print()
    print_meaning(result, console)


def _print_headline(
    curve: AffiliationCurve, chosen: OperatingPoint, result: Affiliation, console: Console
) -> None:
    """Print the threshold, the scores there, and under them what chance reaches."""
    scores = {"precision": chosen.precision, "recall": chosen.recall, _name(chosen): chosen.fbeta}
    with compile_notice():
        levels = chance_line(result, scores)
    text = threshold_text(curve, chosen.threshold)
    threshold = Text.assemble("threshold ", (text, "bold cyan"))
    line, before = scores_line(scores), threshold.cell_len + _GAP
    if before + line.cell_len > console.width:
        console.print(threshold, line, levels, sep="\n")
    else:
        console.print(Text.assemble(threshold, " " * _GAP, line))
        console.print(Text.assemble(" " * before, levels))


def _name(chosen: OperatingPoint) -> str:
    return f"F{chosen.beta:g}"


def _rate(curve: AffiliationCurve, alarms: int) -> str:
    pair = curve.scored
    count = f"{alarms} alarm{'' if alarms == 1 else 's'}"
    rate = alarm_rate(curve, alarms)
    if pair.clock.kind == "datetime":
        return f"{count} ({words.daily_rate(rate, days=alarms / rate)})"
    return f"{count} ({words.rate(rate)})"


def _reason(chosen: OperatingPoint, constraints: dict[str, Any]) -> str:
    """Say what the threshold is the best of."""
    limits = [
        f"{words_for} {constraints[name]:g}"
        for name, words_for in (("min_precision", "precision >="), ("min_recall", "recall >="))
        if constraints[name] is not None
    ]
    if constraints["max_alarms_per"] is not None:
        count, duration = constraints["max_alarms_per"]
        dated = isinstance(duration, timedelta)
        size = words.length(duration.total_seconds() if dated else duration, dated=dated)
        limits.append(f"at most {count:g} alarm{'' if count == 1 else 's'} per {size}")
    among = f" with {' and '.join(limits)}" if limits else " of all thresholds"
    return f"The highest {_name(chosen)}{among}."


def _curve_headline(curve: AffiliationCurve) -> Text:
    text = words.score(curve.average_precision)
    noun = "threshold" if len(curve) == 1 else "thresholds"
    return Text.assemble(
        "average precision ",
        (text, f"bold {score_style(text)}"),
        f" over {len(curve)} {noun}",
        (f"; by chance about {words.score(curve.chance_average_precision)}\n", "dim"),
    )


def _print_table(curve: AffiliationCurve, chosen: OperatingPoint, console: Console) -> None:
    columns = curve_columns(curve, points=_ROWS, chosen=chosen)
    columns["f1"] = f_measure(columns["precision"], columns["recall"], chosen.beta)
    thresholds = columns["threshold"].tolist()
    alarms = [Text(str(count)) for count in columns["alarms"].tolist()]
    headings = {"precision": "prec.", "recall": "recall", "f1": _name(chosen)}
    scores = [
        Column(heading, [_score(value) for value in columns[name].tolist()])
        for name, heading in headings.items()
    ]
    key = Column("threshold", [Text(threshold_text(curve, value)) for value in thresholds])
    best = curve.best(chosen.beta).threshold
    notes = Column("", [_note(chosen, best, value) for value in thresholds], right=False)
    page = Page((), console)
    page.add(page.split(lambda _: [key], [scores, [Column("alarms", alarms)], [notes]]))
    page.print()


def _score(value: float) -> Text:
    text = words.score(value)
    return Text(text, style=score_style(text))


def _note(chosen: OperatingPoint, best: float, threshold: float) -> Text:
    notes = {"chosen": threshold == chosen.threshold, f"best {_name(chosen)}": threshold == best}
    note = ", ".join(name for name, holds in notes.items() if holds)
    return Text(f"<- {note}" if note else "", style="cyan")
