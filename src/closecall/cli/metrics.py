"""`closecall metrics`: every metric there is, and what it handles."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.cli import options, screen
from closecall.metrics import table

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.cli.output import Output

_WIDE = 120  # columns of a terminal from which on everything is shown
_HELP = """\
List every metric: what it gives, its range, what it handles, and its parameters.

\b
Examples:
  closecall metrics
  closecall metrics --format json
"""
_LEGEND = """\
(A): a near miss counts for more than a far one. (B): a long event counts no more than a short one.
P/R: precision, recall and F1. lower is better where the range is followed by a minus.
*: what the paper says, but `closecall audit` measures otherwise; json and csv say why."""
_ELSEWHERE = f"A terminal of {_WIDE} columns, json and csv name the parameters."


@click.command(cls=options.Command, help=_HELP)
@options.output("json and csv also name the papers.")
def metrics(output: Output) -> None:
    """List the registry."""
    rows = [_plain(row) for row in table()]
    output.write(
        table=lambda console: _print(rows, console),
        values=lambda: {"metrics": rows},
        rows=lambda: [_flat(row) for row in rows],
    )


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row as JSON values; what has no bound has none."""
    low, high = (None if isinf(bound) else bound for bound in row["range"])
    return {**row, "gives": list(row["gives"]), "range": [low, high]}


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    parameters = "; ".join(_parameters(row))
    notes = "; ".join(f"{name}: {why}" for name, why in row["measured_otherwise"].items())
    flat = {"gives": " ".join(row["gives"]), "range": _range(row), "parameters": parameters}
    return {**row, **flat, "measured_otherwise": notes}


def _print(rows: list[dict[str, Any]], console: Console) -> None:
    wide = console.width >= _WIDE
    cells: dict[str, list[str]] = {"metric": [row["name"] for row in rows]}
    if wide:
        cells |= {name: [row[name] for row in rows] for name in ("family", "takes")}
    counts = [str(len(row["parameters"])) for row in rows]
    named = [f"{len(row['parameters'])}  {', '.join(_parameters(row))}" for row in rows]
    cells |= {
        "gives": ["P/R" if "recall" in row["gives"] else ", ".join(row["gives"]) for row in rows],
        "range": [_range(row) + ("" if row["higher_is_better"] else " -") for row in rows],
        "for": [row["mainly_for"] for row in rows],
        "(A)": [_flag(row, "handles_adjacency") for row in rows],
        "(B)": [_flag(row, "handles_durations") for row in rows],
        **({"parameters": named} if wide else {"param.": counts}),
    }
    columns = [
        screen.Column(
            heading,
            [Text(text, "bold cyan" if heading == "metric" else "") for text in column],
            "left",
            folds=wide and heading == "parameters",
        )
        for heading, column in cells.items()
    ]
    screen.print_table(console, columns)
    console.print(Text(f"\n{_LEGEND}{'' if wide else f' {_ELSEWHERE}'}", style="dim"))


def _flag(row: dict[str, Any], name: str) -> str:
    return ("yes" if row[name] else "no") + ("*" if name in row["measured_otherwise"] else "")


def _range(row: dict[str, Any]) -> str:
    low, high = row["range"]
    return f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"


def _parameters(row: dict[str, Any]) -> list[str]:
    return [
        name if default == "required" else f"{name}={default}"
        for name, default in row["parameters"].items()
    ]
