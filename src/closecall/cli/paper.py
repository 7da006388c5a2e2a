"""`closecall paper`: the paper's tables, as computed beside as published, and its figures."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import click

from closecall.cli.compile_notice import compile_notice
from closecall.cli.formats import FORMATS, console_for, json_text, write_text
from closecall.cli.options import output_option
from closecall.cli.paper_figures import FIGURE_FORMATS, write_figures

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.paper import Reproduction

_HELP = """\
Compute every table of the paper, and set each cell beside the published one.

The paper is "Local Evaluation of Time Series Anomaly Detection Algorithms" (KDD 2022). Its
labels come from --data, else from the folder that CLOSECALL_DATA names, else from its authors'
repository, by a download that happens once. The few cells that differ are explained.

With --out, draw the paper's figures into a folder instead. Those that need no data are drawn
without it.

\b
Examples:
  closecall paper
  closecall paper --data ~/affiliation-metrics-py
  closecall paper --format latex -o tables.tex
  closecall paper --out figures --figure-format pdf
  closecall paper --format json | jq '.tables[] | {name, matched, total}'
"""
_LEGEND = "Each cell: computed == published where the two are the same, != where they differ."


@click.command(help=_HELP, short_help="Compute the tables of the paper, or draw its figures.")
@click.option("--data", metavar="DIR", help="Folder with the paper's labels.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice((*FORMATS, "latex")),
    default="table",
    show_default=True,
    help="json holds everything; csv one row per cell; latex needs the package booktabs.",
)
@output_option
@click.option("--out", metavar="DIR", help="Draw the figures there, instead of writing tables.")
@click.option(
    "--figure-format",
    type=click.Choice(FIGURE_FORMATS),
    help="Kind of the figures that --out draws; png if not given.",
)
def paper(
    data: str | None,
    output_format: str,
    output: str | None,
    out: str | None,
    figure_format: str | None,
) -> None:
    """Compute the tables and write them, or draw the figures."""
    if out is not None:
        if output is not None or output_format != "table":
            raise click.UsageError("--out draws figures, and takes neither --format nor --output.")
        with compile_notice():
            write_figures(out, data, figure_format or FIGURE_FORMATS[0])
        return
    if figure_format is not None:
        raise click.UsageError("--figure-format needs --out, the folder of the figures.")
    from closecall.paper import reproduce

    with compile_notice():
        result = reproduce(data)
    if output_format == "table":
        with console_for(output) as console:
            _print(result, console)
        return
    if output_format == "json":
        text = json_text(result.to_dict())
    elif output_format == "csv":
        text = _csv(result)
        for reason in result.left_out:  # a row without a number would be taken for a cell
            click.echo(f"Left out: {reason}.", err=True)
    else:
        from closecall.paper.latex import to_latex

        text = to_latex(result)
    write_text(text, output)


def _print(result: Reproduction, console: Console) -> None:
    from rich.text import Text

    from closecall.cli.paper_tables import print_table

    console.print(Text(_LEGEND, style="dim"))
    for table in result.tables:
        console.print()
        print_table(table, console)
    console.print()
    console.print(Text(_conclusion(result), style="bold"))


def _conclusion(result: Reproduction) -> str:
    counts = ", ".join(f"{table.name} {table.matched}/{table.total}" for table in result.tables)
    unexplained = sum(not cell.note for *_, cell in result.mismatches())
    if result.matched == result.total:
        rest = "None differs."
    elif not unexplained:
        rest = f"The {result.total - result.matched} that do not are explained below their tables."
    else:
        rest = f"Of those that do not, {unexplained} have no known explanation."
    lost = len(result.left_out)
    if lost:
        rest += f" {lost} more {'is' if lost == 1 else 'are'} left out for want of data."
    return f"{result.matched} of {result.total} cells match the paper ({counts}). {rest}"


def _csv(result: Reproduction) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("table", "row", "column", "computed", "published", "match", "note"))
    for table in result.tables:
        for row, column, cell in table.entries():
            labels = ", ".join(row.labels)
            matched = "yes" if cell.match else "no"
            writer.writerow(
                (table.name, labels, column, cell.computed, cell.published, matched, cell.note)
            )
    return text.getvalue()
