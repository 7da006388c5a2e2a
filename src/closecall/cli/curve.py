"""`closecall curve`: every threshold of a detector's scores, and the one to choose."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.cli.options import (
    Command,
    axis_options,
    file_arguments,
    output_options,
    parse_budget,
    significance_option,
)
from closecall.cli.output import show_progress
from closecall.cli.result import (
    chance_line,
    counts,
    print_events,
    print_meaning,
    print_shifts,
    scores_line,
    shifts_legend,
)
from closecall.cli.tables import Column, print_table, score_cell, scores, texts
from closecall.errors import MissingExtraError
from closecall.fscore import f_measure
from closecall.tables.reading import write_table
from closecall.tables.scoring import (
    curve_columns,
    curve_files,
    curve_report,
    threshold_text,
)
from closecall.wording import counted, length_text, rate_text, score_or_dash

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.affiliation import Affiliation, AffiliationCurve, OperatingPoint
    from closecall.chance import ScoresSignificance
    from closecall.cli.output import Output

_PICTURES = (".pdf", ".png", ".svg")
_DOTS_PER_INCH = 150
_GAP = 3  # between the threshold and the scores
_ROWS = 11  # of the curve; its ends, the best and the chosen point come on top
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


def parse_picture(text: str) -> str:
    """Check the ending of a file to draw into before anything is read."""
    if Path(text).suffix.lower() not in _PICTURES:
        message = f"{text!r} does not end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}."
        raise click.BadParameter(message)
    return text


def parse_points(text: str) -> int | None:
    """Read a number of points; ``all`` and 0 mean every threshold."""
    if text == "all":
        return None
    if not text.isdecimal():
        message = f"{text!r} is neither a whole number nor `all`."
        raise click.BadParameter(message)
    return int(text) or None


@click.command(cls=Command, help=_HELP)
@file_arguments("SCORES")
@click.option("--score", metavar="COLUMN", help="Column of scores; higher is more anomalous.")
@axis_options()
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
    type=parse_budget,
    metavar="COUNT/DURATION",
    help="Most alarms: 2/1d, 5/8h, or 3/100 on a numeric axis.",
)
@click.option(
    "--points",
    type=parse_points,
    default="200",
    show_default=True,
    metavar="N",
    help="About how many points of the curve json and csv hold; `all` for every threshold.",
)
@significance_option
@output_options("json holds everything; csv one row per point of the curve.", show_all=True)
@click.option(
    "--plot", "plot_file", type=parse_picture, metavar="FILE", help="Draw the curve there."
)
def curve(
    truth_file: str,
    other_file: str | None,
    beta: float,
    points: int | None,
    plot_file: str | None,
    *,
    min_precision: float | None,
    min_recall: float | None,
    max_alarms_per: tuple[float, Any] | None,
    shifts: int | None,
    output: Output,
    **columns_and_times: Any,
) -> None:
    """Score every threshold from files, and choose one."""
    constraints: dict[str, Any] = {
        "min_precision": min_precision,
        "min_recall": min_recall,
        "max_alarms_per": max_alarms_per,
    }
    if shifts is not None and output.format == "csv":
        message = "--significance goes with --format table or json; csv holds the curve only."
        raise click.UsageError(message)
    result = curve_files(truth_file, other_file, **columns_and_times)
    chosen = result.best(beta, **constraints)
    if plot_file is not None:
        save_curve(result, chosen, plot_file)
    if output.format == "csv":
        write_table(curve_columns(result, points=points, chosen=chosen), output.path or "-")
        return
    test = None
    if shifts is not None:
        from closecall.chance import significance

        pair = result.scored
        with show_progress() as progress:
            test = significance(pair, scores=pair.scores, n=shifts, progress=progress)

    def values() -> dict[str, Any]:
        more = {"significance": test.to_dict()} if test else {}
        return curve_report(result, chosen, points=points) | more

    def table(console: Console) -> None:
        _print_curve(result, chosen, constraints, console, most=output.most)
        if test is not None:
            _print_significance(test, console)

    output.write(table=table, values=values, rows=list)


def save_curve(curve: AffiliationCurve, chosen: OperatingPoint, path: str) -> None:
    """Draw the curve with the chosen point into a file of the kind its name says."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    # A window would need a display, and nobody to look at it.
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure = curve.plot(beta=chosen.beta, point=chosen)[0].figure
    try:
        figure.savefig(path, dpi=_DOTS_PER_INCH)
    finally:
        plt.close(figure)


def _print_curve(
    curve: AffiliationCurve,
    chosen: OperatingPoint,
    constraints: dict[str, Any],
    console: Console,
    *,
    most: int | None,
) -> None:
    """Print the headline, one row per event, and some rows of the curve."""
    result = curve.at(chosen.threshold)
    _print_headline(curve, chosen, result, console)
    console.print(Text(f"{_rate(curve, chosen.alarms)}; {counts(result)}"))
    console.print(Text(_reason(chosen, constraints)))
    console.print()
    print_events(result, console, most=most)
    average = score_cell(curve.average_precision)
    average.stylize("bold")
    level = curve.chance
    chance = f"; by chance {score_or_dash(level.average_precision)}\n"
    retuned = f"{score_or_dash(level.f1)} is the best F1 of the same scores, moved and re-tuned."
    over = f" over {counted(len(curve), 'threshold')}"
    console.print(Text.assemble("\naverage precision ", average, over, (chance, "dim")))
    _print_points(curve, chosen, console)
    console.print(Text(f"\n{retuned}", style="dim"))
    print_meaning(result, console)


def _print_headline(
    curve: AffiliationCurve, chosen: OperatingPoint, result: Affiliation, console: Console
) -> None:
    """Print the threshold, the scores there, and under them what chance reaches."""
    values = {"precision": chosen.precision, "recall": chosen.recall, _name(chosen): chosen.fbeta}
    line, levels = scores_line(values), chance_line(result, values)
    text = threshold_text(curve, chosen.threshold)
    threshold = Text.assemble("threshold ", (text, "bold cyan"))
    before = threshold.cell_len + _GAP
    if before + line.cell_len > console.width:
        console.print(threshold, line, levels, sep="\n")
    else:
        console.print(Text.assemble(threshold, " " * _GAP, line))
        console.print(Text.assemble(" " * before, levels))


def _name(chosen: OperatingPoint) -> str:
    return f"F{chosen.beta:g}"


def _rate(curve: AffiliationCurve, alarms: int) -> str:
    scored = curve.scored
    dated = scored.clock.kind == "datetime"
    length = (scored.stop - scored.start) * (scored.clock.seconds if dated else 1.0)
    return rate_text(alarms, "alarm", length, dated=dated)


def _reason(chosen: OperatingPoint, constraints: dict[str, Any]) -> str:
    """Say what the threshold is the best of."""
    limits = [
        f"{text} {constraints[name]:g}"
        for name, text in (("min_precision", "precision >="), ("min_recall", "recall >="))
        if constraints[name] is not None
    ]
    if constraints["max_alarms_per"] is not None:
        count, duration = constraints["max_alarms_per"]
        dated = isinstance(duration, timedelta)
        size = length_text(duration.total_seconds() if dated else duration, dated=dated)
        limits.append(f"at most {count:g} alarm{'' if count == 1 else 's'} per {size}")
    among = f" with {' and '.join(limits)}" if limits else " of all thresholds"
    return f"The highest {_name(chosen)}{among}."


def _print_points(curve: AffiliationCurve, chosen: OperatingPoint, console: Console) -> None:
    points = curve_columns(curve, points=_ROWS, chosen=chosen)
    thresholds = points["threshold"].tolist()
    best = f"best {_name(chosen)}"
    marks = {"chosen": chosen.threshold, best: curve.best(chosen.beta).threshold}
    notes = [
        ", ".join(name for name, marked in marks.items() if marked == value) for value in thresholds
    ]
    columns = [
        texts("threshold", [threshold_text(curve, value) for value in thresholds]),
        scores("prec.", points["precision"].tolist()),
        scores("recall", points["recall"].tolist()),
        scores(_name(chosen), f_measure(points["precision"], points["recall"], chosen.beta)),
        texts("alarms", points["alarms"].tolist()),
        Column("", [Text(f"<- {note}" if note else "", "cyan") for note in notes], "left"),
    ]
    print_table(console, columns)


def _print_significance(test: ScoresSignificance, console: Console) -> None:
    """Print the best F1 and the average precision beside those of the shifts."""
    console.print()
    print_shifts({"best F1": test.f1, "average precision": test.average_precision}, console)
    console.print(Text(f"\n{test.sentence}\n"))
    console.print(Text(shifts_legend("scores"), style="dim"))
