"""`closecall metrics`: every metric there is, and what it handles."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Any

import click

from closecall.cli.formats import console_for, csv_text, json_text, write_text
from closecall.cli.options import format_option, output_option

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 120  # columns of a terminal from which on everything is shown
_DISPENSABLE = {"family", "takes"}
_HELP = """\
List every metric: what it gives, its range, what it handles, and its parameters.

\b
Examples:
  closecall metrics
  closecall metrics --format json
"""
_LEGEND = """\
(A): a near miss counts for more than a far one. (B): a long event counts no more than a short one.
P/R: precision, recall and F1. lower is better where the range is followed by a minus."""

_ELSEWHERE = f"A terminal of {_WIDE} columns, json and csv name the parameters."


@click.command(help=_HELP, short_help="List every metric and what it handles.")
@format_option("json and csv also name the papers.")
@output_option
def metrics(output_format: str, output: str | None) -> None:
    """List the registry."""
    from closecall.metrics import table

    rows = [_plain(row) for row in table()]
    if output_format == "table":
        with console_for(output) as console:
            _print(rows, console)
    elif output_format == "json":
        write_text(json_text({"metrics": rows}), output)
    else:
        write_text(csv_text([_flat(row) for row in rows]), output)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Turn a row into JSON values; what has no bound has none."""
    low, high = (None if isinf(bound) else bound for bound in row["range"])
    return {**row, "gives": list(row["gives"]), "range": [low, high]}


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    parameters = "; ".join(_parameters(row))
    return {**row, "gives": " ".join(row["gives"]), "range": _range(row), "parameters": parameters}


def _print(rows: list[dict[str, Any]], console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    columns = {
        "metric": [row["name"] for row in rows],
        "family": [row["family"] for row in rows],
        "takes": [row["takes"] for row in rows],
        "gives": ["P/R" if "recall" in row["gives"] else ", ".join(row["gives"]) for row in rows],
        "range": [_range(row) + ("" if row["higher_is_better"] else " -") for row in rows],
        "for": [row["mainly_for"] for row in rows],
        "(A)": ["yes" if row["handles_adjacency"] else "no" for row in rows],
        "(B)": ["yes" if row["handles_durations"] else "no" for row in rows],
        "parameters": [f"{len(row['parameters'])}  {', '.join(_parameters(row))}" for row in rows],
    }
    legend = _LEGEND
    if console.width < _WIDE:
        columns = {name: cells for name, cells in columns.items() if name not in _DISPENSABLE}
        columns["parameters"] = [str(len(row["parameters"])) for row in rows]
        legend += f" {_ELSEWHERE}"
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in columns:
        grid.add_column(name, no_wrap=name != "parameters", overflow="fold")
    for name, *cells in zip(*columns.values(), strict=True):
        grid.add_row(Text(name, style="bold cyan"), *cells)
    console.print(grid)
    console.print(Text(f"\n{legend}", style="dim"))


def _range(row: dict[str, Any]) -> str:
    low, high = row["range"]
    return f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"


def _parameters(row: dict[str, Any]) -> list[str]:
    return [
        name if default == "required" else f"{name}={default}"
        for name, default in row["parameters"].items()
    ]
