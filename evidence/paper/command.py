"""`closecall paper`: the paper's tables, as computed beside as published, and its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.cli import screen
from closecall.cli.options import Command, output_options
from closecall.cli.output import load_matplotlib, tell
from closecall.datasets import DownloadError, load_kdd2022
from closecall.errors import MissingExtraError
from closecall.paper import reproduce
from closecall.paper.latex import to_latex

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.cli.output import Output
    from closecall.paper import Cell, Reproduction, Table

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
  closecall paper
  closecall paper --data ~/affiliation-metrics-py
  closecall paper --format latex -o tables.tex
  closecall paper --out figures --figure-format pdf
  closecall paper --format json | jq '.tables[] | {name, matched, total}'
"""
_LEGEND = "Each cell: computed == published where the two are the same, != where they differ."


@click.command(cls=Command, help=_HELP)
@click.option("--data", metavar="DIR", help="Folder with the paper's labels.")
@output_options(
    "json holds everything; csv one row per cell; latex needs the package booktabs.",
    "latex",
    names=("-o", "--output"),  # --out is a folder
)
@click.option("--out", metavar="DIR", help="Draw the figures there, instead of writing tables.")
@click.option(
    "--figure-format",
    type=click.Choice(_FIGURE_FORMATS),
    help="Kind of the figures that --out draws; png if not given.",
)
def paper(data: str | None, output: Output, out: str | None, figure_format: str | None) -> None:
    """Compute the tables and write them, or draw the figures."""
    if out is not None:
        if output.path is not None or output.format != "table":
            raise click.UsageError("--out draws figures, and takes neither --format nor --output.")
        _draw_figures(out, data, figure_format or _FIGURE_FORMATS[0])
        return
    if figure_format is not None:
        raise click.UsageError("--figure-format needs --out, the folder of the figures.")
    result = reproduce(data)
    output.write(
        table=lambda console: _print(result, console),
        values=result.to_dict,
        rows=lambda: _rows(result),
        latex=lambda _: to_latex(result),
    )


def _draw_figures(folder: str, data_folder: str | None, figure_format: Any) -> None:
    """Draw all figures, or those that need no data where it cannot be had, and name the files."""
    load_matplotlib()
    from closecall.paper.figures import FIGURES, draw_figures

    data, reason = None, ""
    try:
        data = load_kdd2022(data_folder)
    except (DownloadError, MissingExtraError) as error:  # a folder that is wrong is an error
        reason = " ".join(str(error).split())
    for path in draw_figures(folder, data, figure_format=figure_format):
        click.echo(path)
    if data is None:
        names = ", ".join(figure.name for figure in FIGURES if figure.needs_data)
        tell(f"Left out: {names}, which need the paper's data. {reason}")


def _rows(result: Reproduction) -> list[dict[str, str]]:
    for reason in result.left_out:  # a row without a number would be taken for a cell
        tell(f"Left out: {reason}.")
    return [
        {
            "table": table.name,
            "row": ", ".join(row.labels),
            "column": column,
            "typed": "yes" if table.typed else "no",
            "computed": cell.computed,
            "published": cell.published,
            "match": "yes" if cell.match else "no",
            "note": cell.note,
        }
        for table in result.tables
        for row, column, cell in table.entries()
    ]


def _print(result: Reproduction, console: Console) -> None:
    console.print(Text(_LEGEND, style="dim"))
    for table in result.tables:
        console.print()
        _print_table(table, console)
    counts, typed = (
        ", ".join(f"{t.name} {t.matched}/{t.total}" for t in result.tables if t.typed is kind)
        for kind in (False, True)
    )
    unexplained = sum(not cell.note for *_, cell in result.mismatches())
    differ = result.total - result.matched
    if not differ:
        rest = "None differs."
    elif not unexplained:
        rest = f"The {differ} that do not are explained below their tables."
    else:
        rest = f"Of those that do not, {unexplained} have no known explanation."
    lost = len(result.left_out)
    if lost:
        rest += f" {lost} more {'is' if lost == 1 else 'are'} left out for want of data."
    text = f"\n{result.matched} of {result.total} computed cells match the paper ({counts}). {rest}"
    console.print(Text(text, style="bold"))
    console.print(Text(f"Counted apart, since they are typed and not computed: {typed}."))


def _print_table(table: Table, console: Console) -> None:
    """Print the title, the cells in tables that fit the width, the notes and the count."""
    console.print(Text.assemble((table.title, "bold cyan"), f" ({table.source})"))
    labels = list(zip(*(row.labels for row in table.rows), strict=True))
    before = ("", *labels[0])
    labels[0] = tuple(
        "" if one == own else one for one, own in zip(labels[0], before, strict=False)
    )
    columns = [
        screen.Column(heading, [*map(Text, own)], "left")
        for heading, own in zip(table.headings, labels, strict=True)
    ]
    for heading, cells in zip(
        table.columns, zip(*(row.cells for row in table.rows), strict=True), strict=True
    ):
        width = max(len(cell.computed) for cell in cells if cell is not None)
        columns.append(screen.Column(heading, [_beside(cell, width) for cell in cells], "left"))
    screen.print_table(console, columns, keys=len(table.headings))
    for note in table.notes:
        console.print(Text(note, style="dim"))
    for remark in (*table.remarks(), *(f"Left out: {reason}." for reason in table.left_out)):
        console.print(Text(remark, style="yellow"))
    style = "green" if table.matched == table.total else "yellow"
    console.print(Text(f"{table.matched} of {table.total} match.", style=style))


def _beside(cell: Cell | None, width: int) -> Text:
    if cell is None:
        return Text()
    mark, style = (" == ", "green") if cell.match else (" != ", "bold red")
    return Text.assemble(cell.computed.ljust(width), (mark, style), (cell.published, "dim"))
