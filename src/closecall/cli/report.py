"""`closecall report`: the explorer, from a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from closecall.cli import options
from closecall.cli.layouts import layout_options
from closecall.cli.output import tell
from closecall.report.files import folder_inputs, report_inputs
from closecall.tables.batch.summary import trouble_text
from closecall.tables.roles import NamedTable
from closecall.wording import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.affiliation.rules import ThresholdRule
    from closecall.cli.layouts import LayoutOptions
    from closecall.report import Report
    from closecall.tables.series import Inputs

_MOST_LINES, _LONGEST_NAME = 12, 60

_HELP = """\
Write an interactive page: the timeline, every threshold, and what became of each event.

TRUTH and DETECTORS are CSV or Parquet files, plain or gzipped; `-` is standard input. Give only
TRUTH if it has all columns. The truth is a 0/1 column, or a list of events with columns `start`
and `stop` (or any two, as START,STOP). Every --score and every --predicted column is a detector.
The page opens at the best F1 of each, or at --threshold: a number or a rule of `closecall curve`,
for all or as COLUMN=RULE. It is one file that opens from disk and asks nothing of the network.

With --by, each value of a column is a series of its own on one page; more than 50 MB of series go
to a folder beside it. The series are read as by
`closecall batch`: where times are uneven, the last sample of a series lasts its median step, and
what is wrong with one series is listed and never stops the others, while a file that cannot be
read does; --disorder index counts the
samples of a series whose times repeat or go back. TRUTH may also be a folder: --series filename
takes each file for a series, as a pattern such as {group}/{series}.csv does, and --layout reads the
folder of a benchmark. --batch opens each series at the thresholds that `closecall batch` chose;
the output of `closecall batch` alone, as TRUTH, is a page of its leaderboard and heat map.

\b
Examples:
  closecall report demo.csv -o report.html --truth label --time time --value value \\
    --score threshold_score --score forecast_score
  closecall report incidents.csv scores.csv -o report.html --score a --time t
  closecall report results.csv -o report.html --score 'det*' --threshold quantile:0.99
  closecall report all.parquet -o all.html --truth label --time t --score a --by series
  closecall report runs/ --series filename -o all.html --truth label --score a --batch rows.parquet
  closecall report TSB-AD-U --layout tsb-ad --scores eval/score/uni -o all.html
  closecall report rows.parquet -o rows.html
"""


@click.command(cls=options.Command, help=_HELP)
@options.inputs(
    "DETECTORS",
    options.option(f"{options.OUTPUT} FILE", "Write the page there.", "output", required=True),
    options.score,
    options.predicted,
    options.thresholds,
    nan=True,
    disorders=("index",),
)
@options.option("--value COLUMN", "Column of the series itself, to draw.")
@options.by
@layout_options
@options.option(
    "--batch FILE",
    "Rows that `closecall batch --output FILE` wrote: each series opens at its thresholds.",
)
@options.option("--title TEXT", "What the page is called; by default the file.")
@options.choice("--script", "Put plotly's script in the page, or link to it.", "embed", "cdn")
def report(
    *,
    inputs: Inputs,
    output: str,
    thresholds: tuple[tuple[str | None, ThresholdRule], ...],
    by: tuple[str, ...],
    layout: LayoutOptions | None,
    **detectors: Any,
) -> None:
    """Write the explorer of one or two files, or of a folder."""
    if layout is None:
        inputs, by = folder_inputs(inputs, by)
    else:
        data = [str(file) for file in inputs.files if file is not None]
        known = {"by": by, "truth": inputs.truth, "predicted": detectors["predicted"]}
        table, found = layout.read(data, timed=inputs.time is not None, **known)
        detectors["scores"] = detectors["scores"] or found
        inputs = replace(inputs, files=(NamedTable(data[0], table),), truth="label")
        by = ("series",)
    given = options.read_thresholds(thresholds, inputs.names(detectors["scores"], "score"))
    page, noted = report_inputs(inputs, by=by, thresholds=given or None, **detectors)
    path = page.save(output)
    folder = page.folder(output)
    beside = "" if folder is None else f" and, beside it, {folder} with a file for each series"
    opened = "Open it in a browser." if folder is None else "Open the page, and keep both together."
    tell(f"Wrote {path}{beside} ({page.megabytes:.1f} MB){_scored(page)}. {opened}")
    for line in [*noted, *_trouble_lines(page)]:
        tell(line)


def _scored(page: Report) -> str:
    """Say how many series are scored, if not all are."""
    lost = [trouble for trouble in page.troubles if trouble.detector is None]
    if not lost:
        return f": all {len(page.series)} series scored" if len(page.series) > 1 else ""
    counts = trouble_text(trouble.status for trouble in lost)
    scored = len(page.series) - len(lost)
    return f": {scored} of {len(page.series)} series scored; {len(lost)} not: {counts}"


def _trouble_lines(page: Report) -> Iterator[str]:
    """Say once what is wrong, with whom, and what can be done about it."""
    names: dict[str, list[str]] = {}
    for trouble in page.troubles:
        whose = (trouble.series, trouble.detector)
        name = ", ".join(plain_name(one, _LONGEST_NAME) for one in whose if one is not None)
        names.setdefault(f"{trouble.status}: {trouble.reason}", []).append(name)
    for text, (first, *others) in list(names.items())[:_MOST_LINES]:
        yield f"  {first}{f' and {len(others)} more' if others else ''}: {text}"
    if len(names) > _MOST_LINES:
        yield f"  and {len(names) - _MOST_LINES} more troubles, which the page lists"
    for hint in dict.fromkeys(trouble.hint for trouble in page.troubles if trouble.hint):
        yield f"Hint: {hint}"
