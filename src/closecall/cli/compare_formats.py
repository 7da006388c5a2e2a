"""A comparison as a table, as JSON or as CSV, on standard output or in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.cli.compile_notice import compile_notice
from closecall.cli.formats import console_for, csv_text, json_text, most_events, write_text
from closecall.cli.interval_csv import interval_csv
from closecall.compare.tables import plain_events

if TYPE_CHECKING:
    from closecall.compare import Comparison, ComparisonIntervals


def write_comparison(
    comparison: Comparison,
    intervals: ComparisonIntervals | None,
    *,
    output_format: str,
    output: str | None,
    show_all: bool,
) -> None:
    """Write the comparison; json holds everything, csv the events, or the intervals if any."""
    if output_format == "table":
        from closecall.cli.compare_summary import print_comparison

        with console_for(output) as console:
            print_comparison(comparison, intervals, console, most=most_events(show_all=show_all))
    elif output_format == "json":
        with compile_notice():
            values = comparison.to_dict()
        more = {} if intervals is None else {"intervals": intervals.to_dict()}
        write_text(json_text(values | more), output)
    elif intervals is None:
        write_text(csv_text(_rows(comparison)), output)
    else:
        write_text(interval_csv(intervals.rows()), output)


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Lay the events out with one row per event and detector."""
    return [
        {
            "event": event["event"],
            "detector": name,
            **{column: event[column] for column in ("start", "stop", "zone_start", "zone_stop")},
            **scores,
            "best": name in event["best"],
        }
        for event in plain_events(comparison)
        for name, scores in event["detectors"].items()
    ]
