"""`closecall report`: the explorer, from a file."""

from __future__ import annotations

from typing import Any

import click

from closecall.cli.compile_notice import compile_notice
from closecall.cli.options import axis_options, truth_option

_HELP = """\
Write an interactive page: the timeline, every threshold, and what became of each event.

TRUTH and DETECTORS are CSV or Parquet files, plain or gzipped; `-` is standard input. Give only
TRUTH if it has all columns. The truth is a 0/1 column, or a list of events with columns `start`
and `stop` (or any two, as START,STOP). Every --score and every --predicted column is a detector.
The page is one file that opens from disk and asks nothing of
the network. With --by, each value of a column is a series of its own on one page.

\b
Examples:
  closecall report demo.csv -o report.html --truth label --time time --value value \\
    --score threshold_score --score forecast_score
  closecall report incidents.csv scores.csv -o report.html --score a --time t
  closecall report all.parquet -o all.html --truth label --time t --score a --by series
"""


@click.command(help=_HELP, short_help="Write an interactive page to explore.")
@click.argument("truth_file", metavar="TRUTH")
@click.argument("detectors_file", metavar="[DETECTORS]", required=False)
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the page there.")
@truth_option
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
def report(truth_file: str, detectors_file: str | None, output: str, **options: Any) -> None:
    """Write the explorer of one or two files."""
    from closecall.report.files import report_files

    with compile_notice():
        page = report_files(truth_file, detectors_file, **options)
    path = page.save(output)
    click.echo(f"Wrote {path} ({len(page.html) / 1e6:.1f} MB). Open it in a browser.", err=True)
