"""A batch as a table, as JSON or as CSV."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from closecall.cli.formats import console_for, json_text, write_text
from closecall.errors import InputError, expected
from closecall.frames.batch.question import DETECTOR
from closecall.frames.batch.summary import summarise

if TYPE_CHECKING:
    from closecall.frames.batch.result import BatchResult

_SHOWN_FAILURES = 3


def write_batch(result: BatchResult, *, output_format: str, out: str | None) -> None:
    """Write the result; fail if a part of the data could not be read."""
    if output_format == "table":
        from closecall.cli.batch_summary import print_batch

        with console_for(None) as console:
            print_batch(result, console, out=out)
    elif output_format == "json":
        write_text(json_text(_everything(result)), None)
    else:
        result.write("-")
    _report_failures(result, out)


def _everything(result: BatchResult) -> dict[str, Any]:
    events = result.event_table
    return {
        "rows": _plain_rows(result.table),
        "events": None if events is None else _plain_rows(events),
        "summary": _plain_rows(summarise(result.table, result.question, DETECTOR)),
        "failures": [{"unit": unit, "reason": reason} for unit, reason in result.failures],
    }


def _plain_rows(table: Any) -> list[dict[str, Any]]:
    return [
        {name: _plain(value) for name, value in row.items()}
        for row in table.to_pylist()  # all of it: what is printed as JSON is of a size to read
    ]


def _plain(value: Any) -> Any:
    """Turn a value into one of JSON's; what is undefined is null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _report_failures(result: BatchResult, out: str | None) -> None:
    """Name what is missing from the rows, so that they are not taken for all."""
    if not result.failures:
        return
    for unit, reason in result.failures[:_SHOWN_FAILURES]:
        click.echo(f"{unit}: {reason}", err=True)
    count = len(result.failures)
    hint = f"Its rows are missing. {out}.partial has the others: mend it and use --resume."
    raise InputError(
        expected(
            "every part of the data to be read and evaluated",
            f"{count} that could not be",
            hint if out else "Its rows are missing.",
        )
    )
