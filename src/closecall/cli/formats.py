"""One result as a table, as JSON or as CSV, on standard output or in a file."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closecall.cli.compile_notice import compile_notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from closecall import Affiliation

FORMATS = ("table", "json", "csv")
_MOST_EVENTS = 40  # rows of the table, unless all are asked for


def write_result(
    result: Affiliation, *, output_format: str, output: str | None, show_all: bool
) -> None:
    """Write the result; colour only where it goes to a terminal."""
    if output_format == "table":
        from closecall.cli.summary import print_summary

        with console_for(output) as console:
            print_summary(result, console, most=most_events(show_all=show_all))
        return
    if output_format == "csv":
        write_text(csv_text(list(result.events.rows())), output)
        return
    with compile_notice():
        values = result.to_dict()
    write_text(json_text(values), output)


def most_events(*, show_all: bool) -> int | None:
    """Return how many events a table shows."""
    return None if show_all else _MOST_EVENTS


@contextmanager
def console_for(output: str | None) -> Iterator[Console]:
    """Give a console that writes to the file, or to standard output."""
    from rich.console import Console

    if output is None:
        yield Console(file=sys.stdout, highlight=False)
        return
    with Path(output).open("w", encoding="utf-8") as file:
        yield Console(file=file, highlight=False)


def write_text(text: str, output: str | None) -> None:
    """Write the text to the file, or to standard output."""
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")


def json_text(values: dict[str, Any]) -> str:
    """Write plain values as JSON that any reader takes."""
    return json.dumps(values, indent=2, allow_nan=False) + "\n"


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Write rows with the same keys as CSV, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
