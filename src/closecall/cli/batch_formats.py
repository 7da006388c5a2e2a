"""A batch as a table, as JSON or as CSV."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from closecall.cli.formats import console_for, json_text, write_text
from closecall.cli.interval_csv import interval_csv
from closecall.errors import InputError, expected
from closecall.tables.batch.journal import write_rows
from closecall.tables.batch.status import (
    BAD_LABELS,
    BAD_SCORES,
    BAD_TIMES,
    EMPTY,
    FAILED,
    NO_EVENT,
)
from closecall.tables.batch.summary import interval_rows, summarise

if TYPE_CHECKING:
    import pyarrow as pa

    from closecall.tables.batch.result import BatchResult

_SHOWN_FAILURES = 3
_OF_THE_CALL = (FAILED, BAD_LABELS, BAD_SCORES, BAD_TIMES)


def write_batch(
    result: BatchResult,
    *,
    output_format: str,
    out: str | None,
    intervals: dict[str, Any] | None = None,
) -> None:
    """Write the result, with such intervals if any; fail if a part could not be read."""
    made = None
    if intervals is not None:
        tables = result.table, result.event_table
        made = interval_rows(*tables, result.options, **intervals, seed=0)
    if output_format == "table":
        from closecall.cli.batch_summary import print_batch

        with console_for(None) as console:
            level = None if intervals is None else intervals["level"]
            print_batch(result, console, out=out, intervals=made, level=level)
    elif output_format == "json":
        more = {} if made is None else {"intervals": _plain_rows(made)}
        write_text(json_text(_everything(result) | more), None)
    elif made is None:
        write_rows(_blank_undefined(result), "-")
    else:
        write_text(interval_csv(made.to_pylist()), None)
    _report_failures(result, out)
    _require_some(result)


def _blank_undefined(result: BatchResult) -> pa.Table:
    """Leave blank what is undefined, as the CSV of intervals does; keys stay what they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = result.table
    for place, name in enumerate(table.column_names):
        column = table.column(name)
        if pa.types.is_floating(column.type) and name not in result.options.by:
            known = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
            table = table.set_column(place, name, known)
    return table


def _everything(result: BatchResult) -> dict[str, Any]:
    events = result.event_table
    return {
        "rows": _plain_rows(result.table),
        "events": None if events is None else _plain_rows(events),
        "summary": _plain_rows(summarise(result.table, result.options, unread=result.unread)),
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
    hint = (
        "If reading failed for a while, the same command with --resume tries again. If you mend a "
        "file, the data are other data: start again with --overwrite."
    )
    raise InputError(
        expected(
            "every unit of the data to be read",
            f"{count} of {result.units} that could not be",
            hint if out else "The series in it are not among the rows.",
        )
    )


def _require_some(result: BatchResult) -> None:
    """Fail if everything fails for one and the same reason: then it is the call that is wrong."""
    statuses, reasons = (result.table.column(x).to_pylist() for x in ("status", "reason"))
    told = {
        (status, reason)
        for status, reason in zip(statuses, reasons, strict=True)
        if status not in (NO_EVENT, EMPTY)
    }
    if len(told) != 1:
        return
    status, reason = told.pop()
    if status in _OF_THE_CALL:
        got = f"{status!r} everywhere: {reason}".removesuffix(".")
        raise InputError(expected("at least one series to be evaluated", got))
