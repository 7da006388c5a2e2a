"""A curve as a table, as JSON or as CSV, on standard output or in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.cli.formats import console_for, json_text, most_events, write_text

if TYPE_CHECKING:
    from closecall import AffiliationCurve
    from closecall.affiliation.thresholds import OperatingPoint


def write_curve(
    curve: AffiliationCurve,
    chosen: OperatingPoint,
    constraints: dict[str, Any],
    *,
    points: int | None,
    output_format: str,
    output: str | None,
    show_all: bool,
) -> None:
    """Write the curve and the chosen point; the table holds a few points of the curve only."""
    from closecall.tables import curve_columns, curve_report, write_table

    if output_format == "csv":
        write_table(curve_columns(curve, points=points, chosen=chosen), output or "-")
    elif output_format == "json":
        write_text(json_text(curve_report(curve, chosen, points=points)), output)
    else:
        from closecall.cli.curve_summary import print_curve

        with console_for(output) as console:
            print_curve(curve, chosen, constraints, console, most=most_events(show_all=show_all))
