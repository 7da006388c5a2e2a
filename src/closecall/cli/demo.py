"""`closecall demo`: the whole idea on data that closecall carries."""

from __future__ import annotations

import sys
from textwrap import indent
from typing import TYPE_CHECKING

import click

from closecall.cli.compile_notice import compile_notice

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from closecall import Affiliation

_ABOUT = {
    "threshold": "alarms whenever the latency is high: noisy, and blind at night",
    "forecast": "alarms when it differs from the days before: late, but precise",
}
_NEXT = """\
closecall demo --save {file}
closecall score {file} --truth label --predicted forecast --time time
closecall curve {file} --truth label --score forecast_score --time time
closecall curve --help"""
_PYTHON = """\
import closecall as cc
from closecall.datasets import demo

data = demo()
r = cc.affiliation(data.truth, data.predicted["forecast"], times=data.times)
print(r)
print(r.events.delay.astype("timedelta64[m]"))"""

_HELP = """\
Score two detectors on two weeks of generated data: what closecall tells, in one look.

\b
Examples:
  closecall demo
  closecall demo --save demo.csv
  closecall score demo.csv --truth label --predicted forecast --time time
  closecall curve demo.csv --truth label --score forecast_score --time time
"""


@click.command(help=_HELP, short_help="Score two detectors on generated data.")
@click.option(
    "--save", metavar="FILE", help="Write the data there (.csv or .parquet) and print nothing else."
)
def demo(save: str | None) -> None:
    """Show on generated data what closecall tells, or save that data."""
    from closecall.datasets import demo as generate

    data = generate()
    if save is not None:
        from closecall.tables import write_table

        write_table(data.columns(), save)
        click.echo(f"Wrote {len(data.times)} rows to {save}. Now try:", err=True)
        click.echo(indent("\n".join(_NEXT.format(file=save).splitlines()[1:3]), "  "), err=True)
        return

    from rich.console import Console

    from closecall import Events, affiliation

    with compile_notice():
        results = {
            name: affiliation(data.truth, predicted, times=data.times)
            for name, predicted in data.predicted.items()
        }
    alarms = {name: len(Events.from_labels(labels)) for name, labels in data.predicted.items()}
    _print(results, alarms, Console(file=sys.stdout, highlight=False))


def _print(results: dict[str, Affiliation], alarms: dict[str, int], console: Console) -> None:
    from rich.text import Text

    from closecall.cli.summary import print_events, print_legend

    console.print(Text("A service's latency: two weeks, every 5 minutes, seven incidents."))
    console.print(Text("How well do two detectors find them?\n"))
    console.print(_scores(results, alarms))
    for name, result in results.items():
        console.print(Text.assemble("\n", (name, "bold cyan"), f": {_ABOUT[name]}\n"))
        print_events(result, console, most=None)
    console.print()
    print_legend(console)
    for title, lines in (("Next", _NEXT.format(file="demo.csv")), ("In Python", _PYTHON)):
        console.print(Text(f"\n{title}:", style="bold"))
        # Soft wrapping keeps each command whole, so that it can be copied.
        console.print(Text(indent(lines, "  ")), soft_wrap=True)


def _scores(results: dict[str, Affiliation], alarms: dict[str, int]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from closecall.cli.event_table import score_style
    from closecall.cli.summary import missed
    from closecall.cli.words import score

    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("detector", style="bold cyan")
    for heading in ("precision", "recall", "F1", "missed", "alarms"):
        table.add_column(heading, justify="right")
    for name, result in results.items():
        scores = [score(value) for value in (result.precision, result.recall, result.f1)]
        cells = [Text(text, style=score_style(text)) for text in scores]
        table.add_row(name, *cells, str(missed(result)), str(alarms[name]))
    return table
