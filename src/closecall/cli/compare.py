"""`closecall compare`: several detectors against the truth and each other, from files."""

from __future__ import annotations

from typing import Any

import click

from closecall.cli.compile_notice import compile_notice
from closecall.cli.intervals_option import chosen_intervals, intervals_options
from closecall.cli.options import (
    all_option,
    axis_options,
    format_option,
    output_option,
    truth_option,
)

_HELP = """\
Compare detectors event by event: who is better, on which events, and what two give together.

TRUTH and DETECTORS are CSV or Parquet files, plain or gzipped; `-` is standard input. Give
only TRUTH if it has all columns. The truth is a 0/1 column, or a list of events with columns
`start` and `stop` (or any two, as START,STOP). A detector is a 0/1 column (--predicted), or a
column of scores (--score), which is cut at the threshold with its own best F1 or at the one
given with --threshold. Detectors go by the names of their columns. Times are numbers or
ISO 8601.

\b
Examples:
  closecall compare results.csv --truth label --predicted mine --predicted theirs
  closecall compare results.csv --truth label --score mine --score theirs --time timestamp
  closecall compare results.csv --truth label --score a --score b --threshold a=0.7
  closecall compare results.csv --truth label --predicted a --predicted b --decimals 2
  closecall compare results.csv --truth label --predicted a --predicted b --intervals
"""


def threshold_choice(text: str) -> tuple[str, float]:
    """Read the threshold of one detector, ``COLUMN=VALUE``.

    Examples
    --------
    >>> threshold_choice("forecast=24"), threshold_choice("a=b=0.5")
    (('forecast', 24), ('a=b', 0.5))
    """
    name, _, value = text.rpartition("=")
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        if name:
            return name, number
    message = f"{text!r} is no COLUMN=VALUE, such as score=0.7."
    raise click.BadParameter(message)


@click.command(help=_HELP, short_help="Compare detectors event by event.")
@click.argument("truth_file", metavar="TRUTH")
@click.argument("detectors_file", metavar="[DETECTORS]", required=False)
@truth_option
@click.option(
    "--predicted",
    metavar="COLUMN",
    multiple=True,
    help="0/1 column of a detector; repeat it for each.",
)
@click.option(
    "--score",
    "scores",
    metavar="COLUMN",
    multiple=True,
    help="Column of a detector's scores, higher is more anomalous; repeat it for each.",
)
@click.option(
    "--threshold",
    "thresholds",
    type=threshold_choice,
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Where to cut a column of scores; by default at its best F1.",
)
@axis_options("The whole series; by default that of the samples.")
@click.option(
    "--decimals",
    type=int,
    metavar="N",
    help="Round the scores of events to N decimals before they are compared.",
)
@intervals_options("Say how sure the scores and their differences are, by resampling the events.")
@format_option(
    "json holds everything; csv one row per event and detector, or the intervals if asked for."
)
@output_option
@all_option
def compare(
    truth_file: str,
    detectors_file: str | None,
    *,
    thresholds: tuple[tuple[str, float], ...],
    with_intervals: bool,
    level: float | None,
    resamples: int | None,
    output_format: str,
    output: str | None,
    show_all: bool,
    **columns_and_times: Any,
) -> None:
    """Compare several detectors, from files."""
    from closecall.cli.compare_formats import write_comparison
    from closecall.tables import compare_files

    given = dict(thresholds)
    if len(given) < len(thresholds):
        message = "--threshold is given twice for one column."
        raise click.UsageError(message)
    chosen = chosen_intervals(level, resamples, asked=with_intervals)
    with compile_notice():
        result = compare_files(truth_file, detectors_file, thresholds=given, **columns_and_times)
        write_comparison(
            result,
            None if chosen is None else result.intervals(**chosen),
            output_format=output_format,
            output=output,
            show_all=show_all,
        )
