"""`closecall score`: one detector against the truth, from files."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.affiliation import affiliation
from closecall.cli.options import (
    Command,
    input_options,
    output_options,
    parse_duration,
    significance_option,
)
from closecall.cli.output import show_progress
from closecall.cli.result import (
    LEVEL,
    chance_line,
    notes,
    print_events,
    print_meaning,
    print_notes,
    print_shifts,
    pvalues,
    scores_line,
    shifts_legend,
    start_texts,
)
from closecall.cli.tables import print_table, texts
from closecall.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.affiliation import Affiliation
    from closecall.chance import Significance
    from closecall.cli.output import Output
    from closecall.tables.inputs import Inputs

_HELP = """\
Score predicted anomalies against the true ones: overall, and for each true event.

TRUTH and PREDICTED are CSV or Parquet files, plain or gzipped; `-` is standard input. Give
only TRUTH if it has both columns. A side is a 0/1 column, or a list of events with columns
`start` and `stop` (or any two, as START,STOP; the same one twice for points), or as JSON of
NAB, Grafana, Alertmanager or Label Studio. Without --truth and --predicted, columns of those
names are taken, or a file's only column. Times are numbers or ISO 8601.

\b
Examples:
  closecall score results.csv --truth label --predicted alarm --time timestamp
  closecall score truth.csv.gz predicted.csv.gz
  closecall score incidents.csv results.csv --predicted alarm --time timestamp --clip
  closecall score alerts.json alarms.parquet --span 2024-01-01 2024-02-01 --open until-end
  closecall score results.csv --truth label --predicted alarm --time t --ignore maintenance.csv
  closecall score results.csv --truth label --predicted alarm --significance
  zcat results.csv.gz | closecall score - --truth label --predicted alarm --format json
"""
_ADJUSTED = "adjusted: for the number of events, by Holm's method"
_SCORES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_TESTS = {"f1": "F1", "precision": "  precision", "recall": "  recall"}


@click.command(cls=Command, help=_HELP)
@input_options(
    "PREDICTED",
    click.option(
        "--predicted", metavar="COLUMN", help="0/1 column of PREDICTED, or START,STOP columns."
    ),
    nan=False,
)
@click.option(
    "--point-length",
    type=parse_duration,
    metavar="DURATION",
    help="A length for points, 1min or a number; without one they weigh nothing beside ranges.",
)
@click.option(
    "--zero-division",
    type=click.Choice(["nan", "0", "1"]),
    default="nan",
    show_default=True,
    help="Precision of an event without alarms; nan leaves it out of the mean.",
)
@significance_option
@output_options("json holds everything; csv one row per event.", show_all=True)
def score(
    *,
    inputs: Inputs,
    predicted: str | None,
    point_length: Any,
    zero_division: str,
    shifts: int | None,
    output: Output,
) -> None:
    """Score one detector against the truth, from files."""
    if shifts is not None and zero_division != "nan":
        message = "--significance goes with --zero-division nan only: it scores the shifts so."
        raise click.UsageError(message)
    columns = inputs.read([predicted])
    (given,) = columns.detectors().predicted.values()
    undefined = float(zero_division)
    result = affiliation(given, None, point_length=point_length, zero_division=undefined)
    pair = result.events.pair
    noted = columns.notes + notes({"": result}, inputs.max_step)
    test = None
    if shifts is not None:
        from closecall.chance import significance

        with show_progress() as progress:
            test = significance(pair, None, n=shifts, progress=progress)
    more: dict[str, Any] = {"headline": result.headline, "notes": noted}
    if test is not None:
        more["significance"] = test.to_dict()
    output.write(
        table=lambda console: print_score(result, noted, test, console, most=output.most),
        values=lambda: result.to_dict() | more,
        rows=lambda: _rows(result, test),
    )


def _rows(result: Affiliation, test: Significance | None) -> list[dict[str, Any]]:
    events = [event | event.pop("details", {}) for event in result.events.rows()]
    if test is None:
        return events
    added = [f"{score}_{kind}" for score in _SCORES for kind in ("pvalue", "adjusted_pvalue")]
    return [
        event | {name: row[name] for name in added}
        for event, row in zip(events, test.events.rows(), strict=True)
    ]


def print_score(
    result: Affiliation,
    noted: list[str],
    test: Significance | None,
    console: Console,
    *,
    most: int | None,
) -> None:
    """Print what was caught, the scores, what chance reaches, one row per event, and the legend."""
    values = {name: getattr(result, key) for key, name in _SCORES.items()}
    console.print(Text(result.headline, style="bold"))
    console.print(scores_line(values), chance_line(result, values), sep="\n")
    print_notes(noted, console)
    console.print()
    print_events(result, console, most=most)
    console.print()
    print_meaning(result, console)
    if test is not None:
        console.print()
        _print_significance(test, console, most=most)


def _print_significance(test: Significance, console: Console, *, most: int | None) -> None:
    """Print the scores beside those of the shifts, and the p-values of the events."""
    print_shifts({name: getattr(test, key) for key, name in _TESTS.items()}, console)
    adjusted = test.events.f1.adjusted_pvalue
    console.print(Text(f"\n{test.sentence}"))
    console.print(
        f"Adjusted p of F1 at most {LEVEL}: {(adjusted <= LEVEL).sum()} of "
        f"{counted(adjusted.size, 'event')}.\n",
        markup=False,
    )
    rows = list(islice(test.events.rows(), most))
    headings = {
        "prec. p": "precision_pvalue",
        "recall p": "recall_pvalue",
        "F1 p": "f1_pvalue",
        "adjusted F1 p": "f1_adjusted_pvalue",
    }
    columns = [
        texts("#", range(1, len(rows) + 1)),
        texts("start", start_texts([row["start"] for row in rows])[0]),
        *(pvalues(heading, [row[name] for row in rows]) for heading, name in headings.items()),
    ]
    print_table(console, columns, keys=2)
    if len(test.events) > len(rows):
        hidden = len(test.events) - len(rows)
        console.print(Text(f"... and {hidden} more; `--all` shows all.", style="bold"))
    console.print(Text(f"\n{shifts_legend('alarms')}\n{_ADJUSTED}", style="dim"))
