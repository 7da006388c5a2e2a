"""`closecall audit`: which metrics can be trusted on a series, from a file."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.adversary import TARGETS
from closecall.adversary.audit import audit as run
from closecall.adversary.audit import flat_rows
from closecall.cli.options import (
    Command,
    axis_options,
    each_once,
    metric_option,
    output_options,
)
from closecall.cli.output import show_progress
from closecall.cli.tables import Column, names, plain_name, print_table, table_width, texts
from closecall.metrics.registry import find
from closecall.tables.roles import read_sources, read_times, read_values
from closecall.wording import UNDEFINED, counted, score_text

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.adversary import Audit, Verdict
    from closecall.cli.output import Output

_HELP = """\
Find out which metrics can be trusted on a series: who is fooled, and by what.

FILE is a CSV or Parquet file, plain or gzipped, with a 0/1 column of true anomalies and one
of predictions for each detector; `-` is standard input. Every metric scores the detectors and
predictions that carry no information: the paper's adversary (alternating), the adversary of
composite F1, everything positive, random points and random ranges. A metric is beaten where one
of these does at least as well as the best detector. The design targets of the paper are measured
beside it, on a small series of its own.

\b
Examples:
  closecall audit results.csv --truth label --predicted mine --predicted theirs
  closecall audit results.csv --truth label --predicted mine --metric affiliation
  closecall audit results.csv --predicted mine --time timestamp --metric margin:margin=10min
  closecall audit results.csv --truth label --predicted mine --format csv
"""
_STAR = "*: the prediction that beats the detectors by most, for this metric."
_RIVAL = "rival: the strongest prediction without information, for this metric."
_LEGEND = (
    "alternating, composite: built from one true event; the detectors they are compared with for "
    "the verdict are given the same event. Random predictions: the median of 25 "
    "draws that had no say in their choice. Each family is shown with its strongest attempt.\n"
    "A metric is also beaten where no detector is better than chance."
)
_DISTANCES = ("hausdorff", "modified_hausdorff", "semimetric")  # lengths of time
_WHOLE = 10  # from where on the decimals of a number without bounds are left out
_ALL_BEATEN = "Every metric is beaten: on this series the detectors may be no better than chance."


@click.command(cls=Command, help=_HELP)
@click.argument("file", metavar="FILE")
@click.option("--truth", metavar="COLUMN", help="0/1 column of true anomalies.")
@click.option(
    "--predicted",
    metavar="COLUMN",
    multiple=True,
    help="0/1 column of a detector; repeat it for each detector.",
)
@click.option("--trivial", metavar="COLUMN", help="0/1 column of an event that anybody can find.")
@axis_options()
@metric_option(
    "A metric and its parameters, each metric once; a length of time has a unit (ms, s, min, h, "
    "d). By default all that need no parameter."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of random predictions.")
@click.option(
    "--budget",
    type=int,
    default=120,
    show_default=True,
    metavar="N",
    help="How many uninformative predictions to try, about.",
)
@output_options("json holds everything; csv one row per metric and prediction.")
def audit(
    file: str,
    *,
    metrics: tuple[tuple[str, dict[str, Any]], ...],
    output: Output,
    seed: int,
    budget: int,
    **columns_and_times: Any,
) -> None:
    """Judge the metrics on a series from a file."""
    arguments = _read(file, **columns_and_times)
    chosen = each_once(metrics)
    with show_progress() as progress:
        result = run(**arguments, metrics=chosen, seed=seed, budget=budget, progress=progress)
    output.write(
        table=lambda console: _print_audit(result, console),
        values=result.to_dict,
        rows=lambda: _rows(result),
    )


def _read(
    file: str,
    *,
    truth: str | None,
    predicted: tuple[str, ...],
    trivial: str | None,
    time: str | None,
    end: Any,
    span: Any,
) -> dict[str, Any]:
    """Take the columns out of the file, as the arguments of the library call."""
    (source,) = read_sources(file)
    options: dict[str, Any] = {"time": time, "shared": True}
    return {
        "truth": read_values(source, "truth", truth, **options),
        "detectors": {
            name: read_values(source, "predicted", None if name == "predicted" else name, **options)
            for name in predicted or ("predicted",)
        },
        "trivial": None if trivial is None else source.column(trivial, "trivial"),
        "times": None if time is None else read_times([source], time),
        "end": end,
        "span": span,
    }


def _rows(audit: Audit) -> list[dict[str, Any]]:
    """Return one row per metric and prediction, with the verdict on the metric in each."""
    rows = flat_rows(audit, "table")
    for row in rows:
        row["beaten"] = audit.verdicts[row["metric"]].beaten
        for name in ("score", "precision", "recall"):
            row[name] = row[name] if isfinite(row[name]) else None
    return rows


def _print_audit(audit: Audit, console: Console) -> None:
    """Print the scores and verdicts, the design targets, and what they mean."""
    beaten = len(audit.beaten)
    text = (
        f"{beaten} of {len(audit.verdicts)} metrics are beaten by a prediction without "
        f"information ({counted(audit.events, 'true event')}, {audit.tried} such predictions "
        "tried)\n"
    )
    console.print(Text(text, style="bold"))
    columns = _every_prediction(audit)
    needed = table_width(columns)
    fits = needed <= console.width
    print_table(console, columns if fits else _compared(audit))
    console.print()
    if beaten == len(audit.verdicts):
        console.print(Text(_ALL_BEATEN, style="bold yellow"))
    elsewhere = f"A terminal of {needed} columns, json and csv show every prediction."
    lines = [_STAR if fits else f"{_RIVAL} {elsewhere}"]
    distances = [name for name in audit.verdicts if name in _DISTANCES]
    if distances:
        lines.append(f"{', '.join(distances)}: in {audit.unit}.")
    console.print(Text("\n".join([*lines, _LEGEND]), style="dim"))
    console.print(Text("\nDesign targets, on a canonical series\n", style="bold"))
    print_table(console, _target_columns(audit))
    console.print()
    for name, target in TARGETS.items():
        bounds = {"at least": target.least, "at most": target.most}
        limits = " and ".join(f"{word} {b:g}" for word, b in bounds.items() if isfinite(b))
        console.print(Text(f"{name}: {target.meaning} (met if {limits})", style="dim"))
    for name, reason in audit.left_out.items():
        console.print(Text(f"Left out: {name}, {reason}", style="yellow"))


def _heading(name: str) -> str:
    return "\n".join(map(plain_name, name.split("_")))


def _metric_column(audit: Audit) -> Column:
    return Column("metric", [Text(metric, "cyan") for metric in audit.verdicts], "left")


def _verdict_column(audit: Audit) -> Column:
    words = {None: ("undefined", "dim"), True: ("beaten", "red"), False: ("holds", "green")}
    cells = [Text(*words[verdict.beaten]) for verdict in audit.verdicts.values()]
    return Column("verdict", cells, "left")


def _every_prediction(audit: Audit) -> list[Column]:
    rows = {(row["metric"], row["prediction"]): row for row in audit.table}
    columns = [_metric_column(audit)]
    for name in dict.fromkeys(row["prediction"] for row in audit.table):
        cells = [_score(rows.get((metric, name)), own) for metric, own in audit.verdicts.items()]
        columns.append(Column(_heading(name), cells))
    return [*columns, _verdict_column(audit)]


def _compared(audit: Audit) -> list[Column]:
    """Return only what the verdicts compare, where there is no room for every prediction."""
    own = audit.verdicts
    return [
        _metric_column(audit),
        names("best\ndetector", [verdict.detector for verdict in own.values()]),
        texts("its\nscore", [_number(name, own[name].detector_score) for name in own]),
        Column("rival", [Text(x.by.replace("_", " ")) for x in own.values()], "left"),
        texts("rival's\nscore", [_number(name, own[name].score) for name in own]),
        _verdict_column(audit),
    ]


def _score(row: dict[str, Any] | None, verdict: Verdict) -> Text:
    if row is None:
        return Text(UNDEFINED, style="dim")
    text = _number(row["metric"], row["score"])
    if row["kind"] == "uninformative" and row["prediction"] == verdict.by:
        return Text(
            f"{text}*" if verdict.beaten else text, style="bold red" if verdict.beaten else ""
        )
    return Text(text, style="bold" if row["prediction"] == verdict.detector else "")


def _number(metric: str, value: float) -> str:
    if not isfinite(value):
        return UNDEFINED
    entry = find(metric)
    bounded = entry.lowest >= -1 and entry.highest <= 1
    if bounded and value >= 0:
        return score_text(value)
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.2g}"


def _target_columns(audit: Audit) -> list[Column]:
    rows = {(row["metric"], row["target"]): row for row in audit.targets}
    columns = [_metric_column(audit)]
    for name in TARGETS:
        cells = [_target(rows[metric, name]) for metric in audit.verdicts]
        columns.append(Column(_heading(name), cells))
    return columns


def _target(row: dict[str, Any]) -> Text:
    if row["met"] is None:
        return Text(UNDEFINED, style="dim")
    # A mark beside the colour, for those who see none.
    mark, style = ("+", "green") if row["met"] else ("-", "red")
    return Text(f"{row['value']:.2f} {mark}", style=style)
