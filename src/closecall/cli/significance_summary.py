"""What `--significance` adds to the output of `closecall score` and `closecall curve`."""

from __future__ import annotations

from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from closecall.cli import words

if TYPE_CHECKING:
    from rich.console import Console

    from closecall import Affiliation, AffiliationCurve
    from closecall.affiliation.thresholds import OperatingPoint
    from closecall.chance import ScoresSignificance, ShiftTest, Significance

_LEVEL = 0.05
_NOTHING = 0.005
_ADDED = ("pvalue", "adjusted_pvalue")
_NAMES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_LEGEND = (
    "p: share of random shifts of the same {what} that score at least as well,\n"
    "the one observed among them; small where the {what} know when the events are\n"
    "above: 0 where the shifts are on average, 1 where the score is perfect"
)
_ADJUSTED = "adjusted: for the number of events, by Holm's method"


def write_with_significance(
    result: Affiliation,
    test: Significance,
    *,
    output_format: str,
    output: str | None,
    show_all: bool,
) -> None:
    """Write the result of `closecall score` with its test, in any format."""
    from closecall.cli import formats

    if output_format == "json":
        values = result.to_dict() | {"significance": test.to_dict()}
        formats.write_text(formats.json_text(values), output)
    elif output_format == "csv":
        formats.write_text(formats.csv_text(_joined(result, test)), output)
    else:
        from closecall.cli.summary import print_summary

        most = formats.most_events(show_all=show_all)
        with formats.console_for(output) as console:
            print_summary(result, console, most=most)
            console.print()
            print_significance(test, console, most=most)


def print_significance(test: Significance, console: Console, *, most: int | None) -> None:
    """Print the scores beside those of the shifts, and the p-values of the events."""
    console.print(_table({name: getattr(test, key) for key, name in _NAMES.items()}))
    console.print()
    console.print(Text(_headline(test.f1)))
    console.print(Text(_found(test)))
    console.print(_events(test, most))
    hidden = 0 if most is None else len(test.events) - most
    if hidden > 0:
        console.print(Text(f"... and {hidden} more; `--all` shows all.", style="bold"))
    console.print()
    console.print(Text(f"{_LEGEND.format(what='alarms')}\n{_ADJUSTED}", style="dim"))


def print_scores_significance(test: ScoresSignificance, console: Console) -> None:
    """Print the average precision beside that of the shifts."""
    console.print(_table({"average precision": test.average_precision}))
    console.print()
    console.print(Text(test.average_precision.sentence))
    console.print()
    console.print(Text(_LEGEND.format(what="scores"), style="dim"))


def write_curve_with_significance(
    curve: AffiliationCurve,
    chosen: OperatingPoint,
    constraints: dict[str, Any],
    test: ScoresSignificance,
    *,
    points: int | None,
    output_format: str,
    output: str | None,
    show_all: bool,
) -> None:
    """Write the result of `closecall curve` with its test; rows of a curve have no place for it."""
    from closecall.cli import formats

    if output_format == "json":
        from closecall.tables import curve_report

        values = curve_report(curve, chosen, points=points) | {"significance": test.to_dict()}
        formats.write_text(formats.json_text(values), output)
        return
    from closecall.cli.curve_summary import print_curve

    with formats.console_for(output) as console:
        most = formats.most_events(show_all=show_all)
        print_curve(curve, chosen, constraints, console, most=most)
        console.print()
        print_scores_significance(test, console)


def _joined(result: Affiliation, test: Significance) -> list[dict[str, Any]]:
    names = [f"{score}_{added}" for score in _NAMES for added in _ADDED]
    return [
        event | {name: row[name] for name in names}
        for event, row in zip(result.events.rows(), test.events.rows(), strict=True)
    ]


def _table(tests: dict[str, ShiftTest]) -> Table:
    headings = ("", "observed", "shifted", "above", "at least as good", "p")
    table = _empty_table(headings)
    for name, test in tests.items():
        shifted = "-" if isnan(test.mean) else f"{_score(test.mean)} +/- {test.std:.2f}"
        cases = f"{test.at_least:,} of {test.null.size:,}"
        cases = "-" if isnan(test.observed) else cases
        observed, above = _score(test.observed), _score(_near_zero(test.above_chance))
        table.add_row(name, observed, shifted, above, cases, _pvalue(test.pvalue))
    return table


def _score(value: float) -> str:
    return words.score(None if isnan(value) else value)


def _near_zero(above: float) -> float:
    """Take for 0 what two digits show as 0: it is no more above chance than below."""
    return 0.0 if abs(above) < _NOTHING else above


def _headline(f1: ShiftTest) -> str:
    if isnan(f1.observed):
        return f1.sentence
    cases = f"{f1.at_least:,} of {f1.null.size:,} cases"
    return f"A shift of the same alarms reaches this F1 in {cases}: p = {f1.pvalue:.2g}."


def _found(test: Significance) -> str:
    adjusted = test.events.f1.adjusted_pvalue
    count = int((adjusted <= _LEVEL).sum())
    events = f"{adjusted.size} event{'' if adjusted.size == 1 else 's'}"
    return f"Found better than by chance: {count} of {events} (adjusted p of F1 <= {_LEVEL}).\n"


def _events(test: Significance, most: int | None) -> Table:
    rows = list(islice(test.events.rows(), most))
    starts = [row["start"] for row in rows]
    dated = isinstance(starts[0], str)
    texts = words.moments(starts, with_year=True)[0] if dated else map(words.number, starts)
    headings = ("#", "start", "prec. p", "recall p", "F1 p", "adjusted F1 p")
    table = _empty_table(headings)
    names = ("precision_pvalue", "recall_pvalue", "f1_pvalue", "f1_adjusted_pvalue")
    for number, (start, row) in enumerate(zip(texts, rows, strict=True), 1):
        table.add_row(str(number), start, *(_pvalue(row[name]) for name in names))
    return table


def _empty_table(headings: tuple[str, ...]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    return table


def _pvalue(value: float | None) -> Text:
    if value is None or isnan(value):
        return Text(words.UNDEFINED, style="dim")
    return Text(f"{value:.2g}", style="green" if value <= _LEVEL else "")
