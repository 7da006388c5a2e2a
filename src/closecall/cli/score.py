"""`closecall score`: one detector against the truth, from files."""

from __future__ import annotations

from typing import Any

import click

from closecall.cli.audit import show_progress
from closecall.cli.compile_notice import compile_notice
from closecall.cli.formats import write_result
from closecall.cli.options import (
    all_option,
    axis_options,
    format_option,
    output_option,
    truth_option,
)
from closecall.cli.significance_option import CommandWithShifts, significance_option

_HELP = """\
Score predicted anomalies against the true ones: overall, and for each true event.

TRUTH and PREDICTED are CSV or Parquet files, plain or gzipped; `-` is standard input. Give
only TRUTH if it has both columns. A side is a 0/1 column, or a list of events with columns
`start` and `stop` (or any two, as START,STOP; the same one twice for points). Without
--truth and --predicted, columns of those names are taken, or a file's only column.
Times are numbers or ISO 8601.

\b
Examples:
  closecall score results.csv --truth label --predicted alarm --time timestamp
  closecall score truth.csv.gz predicted.csv.gz
  closecall score incidents.csv alarms.parquet --span 2024-01-01 2024-02-01
  closecall score results.csv --truth label --predicted alarm --significance
  zcat results.csv.gz | closecall score - --truth label --predicted alarm --format json
"""


@click.command(
    cls=CommandWithShifts, help=_HELP, short_help="Score predicted anomalies against the true ones."
)
@click.argument("truth_file", metavar="TRUTH")
@click.argument("predicted_file", metavar="[PREDICTED]", required=False)
@truth_option
@click.option(
    "--predicted", metavar="COLUMN", help="0/1 column of PREDICTED, or START,STOP columns."
)
@axis_options("The whole series, for event lists.")
@click.option(
    "--zero-division",
    type=click.Choice(["nan", "0", "1"]),
    default="nan",
    show_default=True,
    help="Precision of an event without alarms; nan leaves it out of the mean.",
)
@significance_option
@format_option("json holds everything; csv one row per event.")
@output_option
@all_option
def score(
    truth_file: str,
    predicted_file: str | None,
    zero_division: str,
    *,
    shifts: int | None,
    output_format: str,
    output: str | None,
    show_all: bool,
    **columns_and_times: Any,
) -> None:
    """Score one detector against the truth, from files."""
    from closecall.affiliation import affiliation
    from closecall.tables.arguments import arguments_of_files

    if shifts is not None and zero_division != "nan":
        message = "--significance goes with --zero-division nan only: it scores the shifts so."
        raise click.UsageError(message)
    arguments = arguments_of_files(truth_file, predicted_file, **columns_and_times)
    options: dict[str, Any] = {
        "output_format": output_format,
        "output": output,
        "show_all": show_all,
    }
    with compile_notice():
        result = affiliation(**arguments, zero_division=float(zero_division))
    if shifts is None:
        write_result(result, **options)
        return
    from closecall.chance import significance
    from closecall.cli.significance_summary import write_with_significance

    with compile_notice(), show_progress() as progress:
        test = significance(**arguments, n=shifts, progress=progress)
    write_with_significance(result, test, **options)
