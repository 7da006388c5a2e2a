"""`closecall check`: a gate for pipelines, by limits and an earlier run."""

from __future__ import annotations

from contextlib import ExitStack
from math import isnan
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.check import check as check_results
from closecall.check.gate import columns as cells_by_name
from closecall.check.runs import NUMBERS, is_results
from closecall.cli import options, screen
from closecall.cli.score import score_inputs
from closecall.files import whole_file
from closecall.metrics.registry import REQUIRED
from closecall.plain import schema_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from closecall.affiliation.rules import ThresholdRule
    from closecall.check import Check, Limit, Moved
    from closecall.cli.output import Output
    from closecall.tables.series import Inputs

_HELP = """\
Pass or fail by limits on numbers, and by how they changed since an earlier run.

RESULTS is JSON of `closecall score` or `closecall batch`, or the rows of a batch in CSV or
Parquet. Anything else is data, which is evaluated first, as by `closecall score`; --metric adds
metrics with parameters.

Every detector must keep every limit. Where a number has a 95 % interval (precision, recall and F1
over events, means over the series of a batch, rates of false alarms), a limit that the interval
is on both sides of is neither kept nor broken: investigate. Other numbers decide alone. `missed`
counts every event that was not caught, and `close_calls` those among them that were close.

Against a baseline, no metric may be worse by more than the tolerance, and no event that was caught
may be missed; --max newly_missed=1 allows one. All events that moved are listed.

The exit status is 0 for pass, 1 for fail, 3 for investigate, and 2 for bad input.

\b
Examples:
  closecall check score.json --min affiliation_f1=0.8 --max false_alarms_per_day=2
  closecall check new.json --baseline old.json --tolerance 0.02
  closecall check rows.parquet --detector forest --min affiliation_f1=0.7
  closecall check results.csv --truth label --predicted alarm --time t --max missed=0
  closecall check new.json --baseline old.json --junit junit.xml --markdown summary.md
"""
_STATUS = {"pass": 0, "fail": 1, "investigate": 3}
_STYLES = {"pass": "green", "fail": "bold red", "investigate": "yellow"}
_SCORED = ("affiliation_precision", "affiliation_recall", "affiliation_f1")  # without asking
_FOLDING = ("detector", "series", "title", "reason")
_MEANING = "Where there is no interval, the number alone decides."


def _parse_limit(text: str) -> tuple[str, float]:
    name, _, value = (part.strip() for part in text.partition("="))
    number = options.parse_number(value)
    if not name or number is None:
        raise click.BadParameter(f"{text!r} is no NAME=VALUE, such as affiliation_f1=0.8.")
    return name, number


@click.command(cls=options.Command, help=_HELP)
@options.inputs(
    "PREDICTED",
    options.option(
        "--min NAME=VALUE",
        "The least that a number may be; repeat it.",
        "minimum",
        type=_parse_limit,
        multiple=True,
    ),
    options.option(
        "--max NAME=VALUE",
        "The most that a number may be; repeat it.",
        "maximum",
        type=_parse_limit,
        multiple=True,
    ),
    options.option("--baseline FILE", "Results of an earlier run, as RESULTS."),
    options.option(
        "--tolerance X",
        "How much worse than in the baseline a metric may be; a share if it has no bounds.",
        type=float,
        default=0.0,
    ),
    options.option("--detector NAME", "Check this one of several detectors."),
    options.predicted,
    options.score,
    options.thresholds,
    nan=True,
    first="RESULTS",
)
@options.metric("Also compute that metric of data; repeat it.")
@options.option("--junit FILE", "Write JUnit XML, a test case for each limit.")
@options.option("--markdown FILE", "Write a summary in Markdown.")
@options.output("json holds everything; csv one row per limit.", show_all=True)
def check(
    *,
    inputs: Inputs,
    minimum: tuple[tuple[str, float], ...],
    maximum: tuple[tuple[str, float], ...],
    baseline: str | None,
    tolerance: float,
    detector: str | None,
    predicted: tuple[str, ...],
    scores: tuple[str, ...],
    thresholds: tuple[tuple[str | None, ThresholdRule], ...],
    metrics: dict[str, dict[str, Any]] | None,
    junit: str | None,
    markdown: str | None,
    output: Output,
) -> int:
    """Check results, or data, and return the exit status."""
    if not (minimum or maximum or baseline):
        message = "Give a limit, such as --min affiliation_f1=0.8, or a --baseline."
        raise click.UsageError(message)
    for side, given in (("--min", minimum), ("--max", maximum)):
        if len(dict(given)) < len(given):
            raise click.UsageError(f"{side} is given twice for one number.")
    results, other = inputs.files
    noted: list[str] = []
    if other is not None or not is_results(str(results)):
        asked = metrics or {}
        for name, _ in (*minimum, *maximum):
            metric = NUMBERS.get(name)
            if metric and name not in _SCORED and REQUIRED not in metric.parameters.values():
                asked.setdefault(metric.name, {})
        scored = score_inputs(inputs, predicted, scores, thresholds, asked)
        noted = scored.notes
        results = {
            "schema": schema_name("score"),
            "detectors": [{"detector": name, **scored.values(name)} for name in scored.results],
            "signature": str(scored.signature),
        }
    found = check_results(
        results,
        min=dict(minimum),
        max=dict(maximum),
        baseline=baseline,
        tolerance=tolerance,
        detector=detector,
    )
    values = found.to_dict() | {"notes": noted}
    with ExitStack() as all_or_none:
        for path, text in ((junit, found.to_junit), (markdown, found.to_markdown)):
            if path is not None:
                new = all_or_none.enter_context(whole_file(path))
                new.write_text(text(), encoding="utf-8")
        output.write(
            table=lambda console: _print(found, noted, console, most=output.most),
            values=lambda: values,
            rows=lambda: values["limits"],
            signature=found.signature,
        )
    return _STATUS[found.status]


def _print(found: Check, noted: list[str], console: Console, *, most: int | None) -> None:
    """Print the verdict, the limits, and what moved."""
    console.print(Text(found.headline, _STYLES[found.status]))
    screen.print_notes(noted, console)
    console.print()
    _print_rows(found.limits, console)
    if any(isnan(limit.low) for limit in found.limits):
        console.print(Text(_MEANING, "dim"))
    if found.moved:
        console.print(Text("\nmoved against the baseline\n", "bold"))
        _print_rows(found.moved[:most], console)
        screen.print_more(len(found.moved[most:]) if most else 0, " that moved", console)


def _print_rows(rows: Sequence[Limit | Moved], console: Console) -> None:
    shown = [
        screen.Column(
            name, [Text(cell, _STYLES.get(cell, "")) for cell in column], "left", name in _FOLDING
        )
        for name, column in cells_by_name(rows).items()
    ]
    screen.print_table(console, shown)
