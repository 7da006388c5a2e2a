"""What `closecall curve` prints: the chosen threshold, the events there, and the curve."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from closecall.cli import words
from closecall.cli.event_table import score_style
from closecall.cli.summary import counts, print_events, print_meaning, scores_line
from closecall.frames import alarm_rate, curve_columns
from closecall.frames.thresholds import threshold_text
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from rich.console import Console

    from closecall import AffiliationCurve
    from closecall.affiliation.operating import OperatingPoint

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
    console.print(_headline(curve, chosen))
    console.print(Text(f"{_rate(curve, chosen.alarms)}; {counts(result)}"))
    console.print(Text(_reason(chosen, constraints)))
    console.print()
    print_events(result, console, most=most)
    console.print()
    console.print(_curve_headline(curve))
    console.print(_table(curve, chosen))
    console.print()
    print_meaning(result, console)


def _headline(curve: AffiliationCurve, chosen: OperatingPoint) -> Text:
    scores = {"precision": chosen.precision, "recall": chosen.recall, _name(chosen): chosen.fbeta}
    text = threshold_text(curve, chosen.threshold)
    return Text.assemble("threshold ", (text, "bold cyan"), "   ", scores_line(scores))


def _name(chosen: OperatingPoint) -> str:
    return f"F{chosen.beta:g}"


def _rate(curve: AffiliationCurve, alarms: int) -> str:
    pair = curve.scored.nothing_predicted
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


def _table(curve: AffiliationCurve, chosen: OperatingPoint) -> Table:
    columns = curve_columns(curve, points=_ROWS, chosen=chosen)
    columns["f1"] = f_measure(columns["precision"], columns["recall"], chosen.beta)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in ("threshold", "prec.", "recall", _name(chosen), "alarms", ""):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    best = curve.best(chosen.beta).threshold
    for threshold, *scores, alarms in zip(*(c.tolist() for c in columns.values()), strict=True):
        texts = [words.score(score) for score in scores]
        cells = [Text(text, style=score_style(text)) for text in texts]
        notes = {
            "chosen": threshold == chosen.threshold,
            f"best {_name(chosen)}": threshold == best,
        }
        note = ", ".join(name for name, holds in notes.items() if holds)
        mark = Text(f"<- {note}" if note else "", style="cyan")
        table.add_row(threshold_text(curve, threshold), *cells, str(alarms), mark)
    return table
