"""One result as a table, as JSON or as CSV, on standard output or in a file."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from closecall import Affiliation

FORMATS = ("table", "json", "csv")
_MOST_EVENTS = 40  # rows of the table, unless all are asked for


def write_result(
    result: Affiliation, *, output_format: str, output: str | None, show_all: bool
) -> None:
    """Write the result; colour only where it goes to a terminal."""
    if output_format == "table":
        _write_table(result, output, None if show_all else _MOST_EVENTS)
        return
    text = _json(result) if output_format == "json" else _csv(result)
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")


def _write_table(result: Affiliation, output: str | None, most: int | None) -> None:
    from rich.console import Console

    from closecall.cli.summary import print_summary

    if output is None:
        print_summary(result, Console(file=sys.stdout, highlight=False), most=most)
        return
    with Path(output).open("w", encoding="utf-8") as file:
        print_summary(result, Console(file=file, highlight=False), most=most)


def _json(result: Affiliation) -> str:
    return json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n"


def _csv(result: Affiliation) -> str:
    rows = result.to_dict()["events"]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
