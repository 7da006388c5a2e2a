"""The tables of the paper, computed beside as published, and its figures."""

from __future__ import annotations

import csv
import json
import sys
from importlib import import_module
from typing import TextIO

import click
from rich.console import Console

from closecall.datasets import DownloadError, load_kdd2022
from closecall.errors import MissingExtraError
from evidence.paper.reproduce import reproduce
from evidence.paper.result import Cell, Reproduction, Row, Table
from evidence.paper.writing import print_tables, to_latex, to_rows

__all__ = ["Cell", "Reproduction", "Row", "Table", "reproduce", "study"]

_FIGURE_FORMATS = ("png", "svg", "pdf")
_HELP = """\
Compute every table of the paper, and set each cell beside the published one.

The paper is "Local Evaluation of Time Series Anomaly Detection Algorithms" (KDD 2022). Its
labels come from --data, else from the folder that CLOSECALL_DATA names, else from its authors'
repository, by a download that happens once. The few cells that differ are explained.

With --out, draw the paper's figures into a folder instead. Those that need no data are drawn
without it.

\b
Examples:
  python -m evidence paper
  python -m evidence paper --data ~/affiliation-metrics-py
  python -m evidence paper --format latex -o tables.tex
  python -m evidence paper --out figures --figure-format pdf
  python -m evidence paper --format json | jq '.tables[] | {name, matched, total}'
"""


@click.command(help=_HELP)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Folder with the paper's labels.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json", "csv", "latex"]),
    default="table",
    show_default=True,
    help="json holds everything; csv one row per cell; latex needs the package booktabs.",
)
@click.option(
    "-o",
    "--output",
    type=click.File("w", encoding="utf-8"),
    metavar="FILE",
    help="Write there instead of standard output.",
)
@click.option("--out", metavar="DIR", help="Draw the figures there, instead of writing tables.")
@click.option(
    "--figure-format",
    type=click.Choice(_FIGURE_FORMATS),
    help="Format of the figures that --out draws; png if not given.",
)
def study(
    *,
    data: str | None,
    output_format: str,
    output: TextIO | None,
    out: str | None,
    figure_format: str | None,
) -> None:
    """Compute the tables and write them, or draw the figures."""
    if out is not None:
        if output is not None or output_format != "table":
            raise click.UsageError("--out draws figures, and takes neither --format nor --output.")
        _draw_figures(out, data, figure_format or _FIGURE_FORMATS[0])
    elif figure_format is not None:
        raise click.UsageError("--figure-format needs --out, the folder of the figures.")
    else:
        _write(reproduce(data), output_format, output or sys.stdout)


def _write(result: Reproduction, output_format: str, file: TextIO) -> None:
    if output_format == "json":
        file.write(json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n")
    elif output_format == "csv":
        for reason in result.left_out:  # a row without a number would be taken for a cell
            click.echo(f"Left out: {reason}.", err=True)
        rows = to_rows(result)
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    elif output_format == "latex":
        file.write(to_latex(result))
    else:
        print_tables(result, Console(file=file, highlight=False))


def _draw_figures(folder: str, data_folder: str | None, figure_format: str) -> None:
    """Draw all figures, or those that need no data where it is missing, and print their paths."""
    from evidence.paper import figures  # needs matplotlib, and names the extra if it is missing

    import_module("matplotlib").use("Agg")  # no window
    data, reason = None, ""
    try:
        data = load_kdd2022(data_folder)
    except (DownloadError, MissingExtraError) as error:  # a folder that is wrong is an error
        reason = " ".join(str(error).split())
    for path in figures.draw_figures(folder, data, figure_format=figure_format):
        click.echo(path)
    if data is None:
        names = ", ".join(figure.name for figure in figures.FIGURES if figure.needs_data)
        click.echo(f"Left out: {names}, which need the paper's data. {reason}", err=True)
