"""`closecall demo`: the whole idea on data that closecall carries."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

import click
from rich.text import Text

from closecall.affiliation import affiliation
from closecall.cli import options, screen
from closecall.cli.output import Output, print_signature, tell
from closecall.datasets import demo as generate
from closecall.signature import sign
from closecall.tables.reading import write_table

if TYPE_CHECKING:
    from closecall.datasets import Demo

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


@click.command(cls=options.Command, help=_HELP)
@options.option("--save FILE", "Write the data there (.csv or .parquet) and print nothing else.")
def demo(save: str | None) -> None:
    """Show on generated data what closecall tells, or save that data."""
    data = generate()
    if save is None:
        _print(data)
        return
    write_table(data.columns(), save)
    tell(f"Wrote {len(data.times)} rows to {save}. Now try:")
    for line in _NEXT.splitlines()[1:3]:
        tell(f"  {line.format(file=save)}")


def _print(data: Demo) -> None:
    results = {
        name: affiliation(data.truth, predicted, times=data.times)
        for name, predicted in data.predicted.items()
    }
    with Output("table").console() as console:
        console.print(Text("A service's latency: two weeks, every 5 minutes, seven incidents."))
        console.print(Text("How well do two detectors find them?\n"))
        screen.print_detectors(results, {}, [], console)
        for name, result in results.items():
            console.print(Text.assemble("\n", (name, "bold cyan"), f": {_ABOUT[name]}\n"))
            screen.print_events(result, console, most=None)
        console.print(Text(f"\n{screen.LEGEND}", style="dim"))
        pairs = {name: result.events.pair for name, result in results.items()}
        print_signature(sign("affiliation", pairs), console)
        for title, lines in (("Next", _NEXT.format(file="demo.csv")), ("In Python", _PYTHON)):
            console.print(Text(f"\n{title}:", style="bold"))
            # Soft wrapping keeps each command whole, so that it can be copied.
            console.print(Text(indent(lines, "  ")), soft_wrap=True)
