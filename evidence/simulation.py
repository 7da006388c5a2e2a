"""What simulations share: their options, their processes, and the tables of what they found."""

from __future__ import annotations

import csv
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Record = dict[str, Any]


class Pivot(NamedTuple):
    """A table to read: a row for each value of one field, a column for each value of another."""

    title: str
    headings: list[str]
    rows: list[list[str]]


def simulation_options(quick: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --quick, --format and --output to a command; `quick` says what --quick does."""
    options = (
        click.option("--quick", is_flag=True, help=quick),
        click.option(
            "--format",
            "output_format",
            type=click.Choice(["table", "markdown", "csv"]),
            default="table",
            show_default=True,
            help="csv has one row for each simulated case, with all its numbers.",
        ),
        click.option(
            "-o",
            "--output",
            type=click.File("w", encoding="utf-8"),
            default="-",
            metavar="FILE",
            help="Write there instead of standard output.",
        ),
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def run_all(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call functions in several processes, and return their results in the same order."""
    with ProcessPoolExecutor() as executor:
        futures = [executor.submit(job) for job in jobs]
        return [future.result() for future in tqdm(futures, unit="case", disable=None)]


def pivot(
    title: str, records: Iterable[Record], row: str, column: str, text: Callable[[Record], str]
) -> Pivot:
    """Arrange records by the values of two fields, each cell as its text.

    >>> records = [{"alarms": "bursts", "events": count} for count in (1, 2)]
    >>> pivot("Squares", records, "alarms", "events", lambda one: str(one["events"] ** 2))
    Pivot(title='Squares', headings=['alarms by events', '1', '2'], rows=[['bursts', '1', '4']])
    """
    cells: dict[Any, dict[Any, str]] = {}
    for record in records:
        cells.setdefault(record[row], {})[record[column]] = text(record)
    columns = sorted({value for found in cells.values() for value in found})
    headings = [f"{row} by {column}", *map(str, columns)]
    rows = [[name, *(found.get(value, "") for value in columns)] for name, found in cells.items()]
    return Pivot(title, headings, rows)


def write(
    output: TextIO,
    output_format: str,
    records: Sequence[Record],
    tables: Iterable[Pivot],
    notes: Iterable[str] = (),
) -> None:
    """Write the records as CSV, or the tables and notes to a terminal or as Markdown."""
    if output_format == "csv":
        fields = list(dict.fromkeys(field for record in records for field in record))
        writer = csv.DictWriter(output, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return
    if output_format == "markdown":
        for table in tables:
            lines = [table.headings, ["---"] * len(table.headings), *table.rows]
            output.write(f"**{table.title}**\n\n")
            output.writelines(f"| {' | '.join(cells)} |\n" for cells in lines)
            output.write("\n")
        output.writelines(f"{note}\n" for note in notes)
        return
    console = Console(file=output, highlight=False)
    for table in tables:
        shown = Table(box=None, pad_edge=False, header_style="bold")
        for place, heading in enumerate(table.headings):
            shown.add_column(heading, justify="right" if place else "left")
        for cells in table.rows:
            shown.add_row(*cells)
        console.print(f"[bold]{table.title}[/bold]", shown, "", sep="\n")
    for note in notes:
        console.print(note, markup=False)
