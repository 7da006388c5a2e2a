"""`closecall report`: the explorer, from a file."""

from __future__ import annotations

from typing import Any

import click

from closecall.cli.compile_notice import compile_notice
from closecall.cli.options import axis_options

_HELP = """\
Write an interactive page: the timeline, every threshold, and what became of each event.

DATA is a CSV or Parquet file, plain or gzipped; `-` is standard input. Every --score and every
--predicted column is a detector. The page is one file that opens from disk and asks nothing of
the network. With --by, each value of a column is a series of its own on one page.

\b
Examples:
  closecall report demo.csv -o report.html --truth label --time time --value value \\
    --score threshold_score --score forecast_score
  closecall report all.parquet -o all.html --truth label --time t --score a --by series
"""


@click.command(help=_HELP, short_help="Write an interactive page to explore.")
@click.argument("data", metavar="DATA")
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the page there.")
@click.option("--truth", metavar="COLUMN", help="0/1 column; by default `truth`.")
@click.option(
    "--score",
    "scores",
    multiple=True,
    metavar="COLUMN",
    help="Column of scores; higher is more anomalous. Give it once for each detector.",
)
@click.option(
    "--predicted", multiple=True, metavar="COLUMN", help="0/1 column of alarms, likewise."
)
@axis_options("The whole series; by default that of the samples.")
@click.option("--value", metavar="COLUMN", help="Column of the series itself, to draw.")
@click.option("--by", metavar="COLUMN", help="Column that tells series apart.")
@click.option("--title", metavar="TEXT", help="What the page is called; by default the file.")
@click.option(
    "--script",
    type=click.Choice(["embed", "cdn"]),
    default="embed",
    show_default=True,
    help="Put plotly's script in the page, or link to it.",
)
def report(data: str, output: str, **options: Any) -> None:
    """Write the explorer of a file."""
    from closecall.report.files import report_file

    with compile_notice():
        page = report_file(data, **options)
    path = page.save(output)
    click.echo(f"Wrote {path} ({len(page.html) / 1e6:.1f} MB). Open it in a browser.", err=True)
