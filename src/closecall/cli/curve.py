"""`closecall curve`: every threshold of a detector's scores, and the one to choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closecall.cli.audit import show_progress
from closecall.cli.budget import alarm_budget
from closecall.cli.compile_notice import compile_notice
from closecall.cli.curve_formats import write_curve
from closecall.cli.options import (
    all_option,
    axis_options,
    format_option,
    output_option,
    truth_option,
)
from closecall.cli.significance_option import CommandWithShifts, significance_option

_PICTURES = (".pdf", ".png", ".svg")
_HELP = """\
Score every threshold of a detector at once, and choose the best: overall, and for each event.

TRUTH and SCORES are CSV or Parquet files, plain or gzipped; `-` is standard input. Give only
TRUTH if it has both columns. The truth is a 0/1 column, or a list of events with columns
`start` and `stop` (or any two, as START,STOP). A sample is an alarm where its score is at
least the threshold. Without --truth and --score, columns of those names are taken, or a
file's only column. Times are numbers or ISO 8601.

The threshold with the highest F1 (or F-beta) is chosen, among those that keep to all of
--min-precision, --min-recall and --max-alarms-per.

\b
Examples:
  closecall curve results.csv --truth label --score score --time timestamp
  closecall curve results.csv --truth label --score score --min-precision 0.9 --plot curve.png
  closecall curve incidents.csv scores.parquet --time timestamp --max-alarms-per 2/1d
  closecall curve results.csv --truth label --score score --points all --format csv
  closecall curve results.csv --truth label --score score --significance
"""


def picture(text: str) -> str:
    """Refuse what cannot be drawn before anything is read."""
    if Path(text).suffix.lower() not in _PICTURES:
        message = f"{text!r} does not end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}."
        raise click.BadParameter(message)
    return text


def point_count(text: str) -> int | None:
    """Read a number of points; ``all`` and 0 mean every threshold."""
    if text == "all":
        return None
    if not text.isdecimal():
        message = f"{text!r} is neither a whole number nor `all`."
        raise click.BadParameter(message)
    return int(text) or None


@click.command(
    cls=CommandWithShifts, help=_HELP, short_help="Score every threshold, and choose the best."
)
@click.argument("truth_file", metavar="TRUTH")
@click.argument("scores_file", metavar="[SCORES]", required=False)
@truth_option
@click.option("--score", metavar="COLUMN", help="Column of scores; higher is more anomalous.")
@axis_options("The whole series; by default that of the samples.")
@click.option(
    "--beta",
    type=float,
    default=1.0,
    show_default=True,
    metavar="B",
    help="Recall weighs B times as much as precision.",
)
@click.option("--min-precision", type=float, metavar="P", help="Least precision, from 0 to 1.")
@click.option("--min-recall", type=float, metavar="R", help="Least recall, from 0 to 1.")
@click.option(
    "--max-alarms-per",
    type=alarm_budget,
    metavar="COUNT/DURATION",
    help="Most alarms: 2/1d, 5/8h, or 3/100 on a numeric axis.",
)
@click.option(
    "--points",
    type=point_count,
    default="200",
    show_default=True,
    metavar="N",
    help="About how many points of the curve json and csv hold; `all` for every threshold.",
)
@significance_option
@format_option("json holds everything; csv one row per point of the curve.")
@output_option
@click.option("--plot", "plot_file", type=picture, metavar="FILE", help="Draw the curve there.")
@all_option
def curve(
    truth_file: str,
    scores_file: str | None,
    beta: float,
    points: int | None,
    plot_file: str | None,
    *,
    min_precision: float | None,
    min_recall: float | None,
    max_alarms_per: tuple[float, Any] | None,
    shifts: int | None,
    output_format: str,
    output: str | None,
    show_all: bool,
    **columns_and_times: Any,
) -> None:
    """Score every threshold from files, and choose one."""
    from closecall.tables import curve_files

    constraints: dict[str, Any] = {
        "min_precision": min_precision,
        "min_recall": min_recall,
        "max_alarms_per": max_alarms_per,
    }
    if shifts is not None and output_format == "csv":
        message = "--significance goes with --format table or json; csv holds the curve only."
        raise click.UsageError(message)
    writing: dict[str, Any] = {
        "points": points,
        "output_format": output_format,
        "output": output,
        "show_all": show_all,
    }
    with compile_notice():
        result = curve_files(truth_file, scores_file, **columns_and_times)
        chosen = result.best(beta, **constraints)
        if plot_file is not None:
            from closecall.cli.picture import save_curve

            save_curve(result, chosen, plot_file)
        if shifts is None:
            write_curve(result, chosen, constraints, **writing)
            return
    from closecall.chance import significance
    from closecall.cli.significance_summary import write_curve_with_significance

    with compile_notice(), show_progress() as progress:
        test = significance(result.scored, scores=result.scored.scores, n=shifts, progress=progress)
    write_curve_with_significance(result, chosen, constraints, test, **writing)
