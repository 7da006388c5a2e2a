"""`closecall audit`: which metrics can be trusted on a series, from a file."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.adversary import TARGETS
from closecall.adversary.audit import audit as run
from closecall.adversary.audit import flat_rows
from closecall.adversary.search import audited
from closecall.cli import options, screen
from closecall.cli.output import show_progress
from closecall.evaluated_time import advice_to_all
from closecall.metrics.registry import LENGTHS_OF_TIME
from closecall.wording import UNDEFINED, plain_name, score_text

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.adversary import Audit
    from closecall.cli.output import Output
    from closecall.tables.series import Inputs

_HELP = """\
Find out which metrics can be trusted on a series: who is fooled, and by what.

TRUTH and DETECTORS are CSV or Parquet files, plain or gzipped, with a 0/1 column of true anomalies
and one of predictions for each detector; `-` is standard input. Give only TRUTH if it has all
columns. A list of events beside samples labels the samples that it meets.

Every metric scores the detectors and predictions that carry no information: the paper's adversary
(alternating), the adversary of composite F1, everything positive, random points and random ranges.
A metric is beaten where one of these does at least as well as the best detector: raw, with the
detectors as they are, or joined, with detectors that were given the true event which the other
prediction knows. The design targets of the paper are measured beside it, on a small series of its
own.

\b
Examples:
  closecall audit results.csv --truth label --predicted mine --predicted theirs
  closecall audit results.csv --truth label --predicted mine --metric affiliation
  closecall audit results.csv --predicted mine --time timestamp --metric margin:margin=10min
  closecall audit incidents.csv results.csv --predicted mine --time timestamp
  closecall audit results.csv --truth label --predicted mine --format csv
"""
_LEGEND = (
    "raw: the detectors as they are. joined: where the rival is alternating or composite, which "
    "are built from one true event, the detectors are given that event too.\n"
    "rival: the prediction without information that does best against the detectors. Random ones: "
    "the median of 25 draws that had no say in their choice. json and csv have every prediction."
)
_GROUPS = {  # by whether it is beaten raw, and joined
    (True, True): "Beaten either way (fooled, or no detector is better than chance)",
    (True, False): "Beaten only by a rival that knows a true event which the detectors do not",
    (False, True): "Beaten only once the detectors are given the rival's event",
    (False, False): "Holds either way",
}
_WHOLE = 10  # from where on the decimals of a number without bounds are left out
_ALL_BEATEN = "Every metric is beaten: on this series the detectors may be no better than chance."


@click.command(cls=options.Command, help=_HELP)
@options.inputs(
    "DETECTORS",
    options.predicted,
    options.option("--trivial COLUMN", "0/1 column of an event that anybody can find."),
    nan=False,
)
@options.metric(
    "A metric and its parameters, each metric once; a length of time has a unit (ms, s, min, h, "
    "d). By default all that need no parameter."
)
@click.option("--seed", type=int, default=0, help="Of random predictions.")
@options.option(
    "--budget N",
    "How many uninformative predictions to try, about.",
    type=click.IntRange(max=1_000_000),
    default=120,
)
@options.output("json holds everything; csv one row per metric and prediction.")
def audit(
    *,
    inputs: Inputs,
    predicted: tuple[str, ...],
    trivial: str | None,
    metrics: dict[str, dict[str, Any]] | None,
    output: Output,
    seed: int,
    budget: int,
) -> None:
    """Judge the metrics on a series from a file."""
    series = inputs.read(predicted or [None])
    settings = {name: value for name, value in series.options.items() if name != "nan"}
    settings |= {"metrics": metrics, "seed": seed, "budget": budget}
    if trivial is not None:
        settings["trivial"] = series.column(trivial, "trivial")
    advised = advice_to_all(series.detectors.predicted, max_step=settings["max_step"])
    for line in (*series.notes, *advised):
        click.echo(line, err=True)
    with show_progress() as progress:
        result = run(series.sides.truth, series.sides.predicted, **settings, progress=progress)
    output.write(
        table=lambda console: _print_audit(result, console),
        values=result.to_dict,
        rows=lambda: _rows(result),
        signature=result.signature.adding(**series.reading.signed),
    )


def _rows(audit: Audit) -> list[dict[str, Any]]:
    """Return one row per metric and prediction, with the verdict on the metric in each."""
    rows = flat_rows(audit, "table")
    for row in rows:
        for verdict in audit.verdicts[row["metric"]]:
            row[f"beaten_{verdict.comparison}"] = verdict.beaten
        for name in ("score", "precision", "recall"):
            row[name] = row[name] if isfinite(row[name]) else None
    return rows


def _print_audit(audit: Audit, console: Console) -> None:
    """Print the scores and verdicts, the design targets, and what they mean."""
    console.print(Text(f"{audit.headline}\n", style="bold"))
    screen.print_table(console, _verdict_columns(audit), keys=2)
    console.print()
    for outcome, heading in _GROUPS.items():
        metrics = [
            name
            for name, both in audit.verdicts.items()
            if (both.raw.beaten, both.joined.beaten) == outcome
        ]
        if metrics:
            console.print(Text.assemble((f"{heading}: ", "bold"), ", ".join(metrics)))
    if len(audit.beaten) == len(audit.beaten_joined) == len(audit.verdicts):
        console.print(Text(_ALL_BEATEN, style="bold yellow"))
    distances = [name for name in audit.verdicts if name in LENGTHS_OF_TIME]
    units = f"\n{', '.join(distances)}: in {audit.unit}." if distances else ""
    console.print(Text(f"\n{_LEGEND}{units}", style="dim"))
    console.print(Text("\nDesign targets, on a canonical series\n", style="bold"))
    screen.print_table(console, _target_columns(audit))
    console.print()
    for name, target in TARGETS.items():
        bounds = {"at least": target.least, "at most": target.most}
        limits = " and ".join(f"{word} {b:g}" for word, b in bounds.items() if isfinite(b))
        console.print(Text(f"{name}: {target.meaning} (met if {limits})", style="dim"))
    for row in audit.targets:
        if row["note"]:
            said = "it does" if row["claimed"] else "it does not"
            question = TARGETS[row["target"]].question
            text = f"*: {row['metric']}: {question} The registry says {said}: {row['note']}."
            console.print(Text(text, style="dim"))
    for name, reason in audit.left_out.items():
        console.print(Text(f"Left out: {name}, {reason}", style="yellow"))


def _verdict_columns(audit: Audit) -> list[screen.Column]:
    """Return two lines a metric: the raw comparison, and the joined one below it."""
    verdicts = [verdict for both in audit.verdicts.values() for verdict in both]
    words = {None: ("undefined", "dim"), True: ("beaten", "red"), False: ("holds", "green")}
    metrics = [Text(x.metric if x.comparison == "raw" else "", "cyan") for x in verdicts]
    return [
        screen.Column("metric", metrics, "left"),
        screen.Column("", [Text(x.comparison) for x in verdicts], "left"),
        screen.names("best\ndetector", [x.detector for x in verdicts]),
        screen.texts("its\nscore", [_number(x.metric, x.detector_score) for x in verdicts]),
        screen.Column("rival", [Text(x.by.replace("_", "\n")) for x in verdicts], "left"),
        screen.texts("its\nscore", [_number(x.metric, x.score) for x in verdicts]),
        screen.Column("verdict", [Text(*words[x.beaten]) for x in verdicts], "left"),
    ]


def _number(metric: str, value: float) -> str:
    if not isfinite(value):
        return UNDEFINED
    if audited(metric).highest <= 1 and value >= 0:
        return score_text(value)
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.2g}"


def _target_columns(audit: Audit) -> list[screen.Column]:
    rows = {(row["metric"], row["target"]): row for row in audit.targets}
    metrics = [Text(metric, "cyan") for metric in audit.verdicts]
    columns = [screen.Column("metric", metrics, "left")]
    for name in TARGETS:
        cells = [_target(rows[metric, name]) for metric in audit.verdicts]
        columns.append(screen.Column("\n".join(map(plain_name, name.split("_"))), cells))
    return columns


def _target(row: dict[str, Any]) -> Text:
    star = "*" if row["note"] else ""
    if row["met"] is None:
        return Text(f"{UNDEFINED}{star}", style="dim")
    # A mark beside the colour, for those who see none.
    mark, style = ("+", "green") if row["met"] else ("-", "red")
    return Text(f"{row['value']:.2f} {mark}{star}", style=style)
