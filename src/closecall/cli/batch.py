"""`closecall batch`: many series and detectors at once, from files."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closecall.cli.audit import each_once, metric_choice
from closecall.cli.compile_notice import compile_notice
from closecall.cli.failure import INTERRUPTED
from closecall.cli.intervals_option import chosen_intervals, intervals_options
from closecall.cli.layouts import COLUMNS, LAYOUTS, check_columns, read_layout
from closecall.cli.options import format_option

if TYPE_CHECKING:
    from collections.abc import Iterator

_HELP = """\
Evaluate detectors on many series: a leaderboard here, and one row for each series in a file.

DATA is a Parquet or CSV file, a folder, a quoted pattern such as 'runs/*.parquet', or several of
these. --by names the columns that tell series apart. Every --score column (higher is more
anomalous) or every --predicted column (0/1) is a detector. What is wrong with one series is
reported and never stops the others. Parquet is read a part at a time, so it may be larger than
memory.

--threshold turns scores into alarms: best_f1 is the best of each series, best_f1_global the best
that all series of a detector share; both look at the truth. quantile:0.99 and numbers do not.

With --out, what is finished is kept until all is: after a crash or Ctrl-C, the same command with
--resume goes on.

\b
Examples:
  closecall batch all.parquet --by series --truth label --score a --score b --time t
  closecall batch 'runs/*.csv' --by run --truth label --predicted alarm --out results.parquet
  closecall batch all.parquet --by series --truth label --score a --workers 4 --out results.csv
  closecall batch all.parquet --by series --truth label --score a --score b --intervals
  closecall batch TSB-AD-U --layout tsb-ad --scores eval/score/uni --missing nan
  closecall batch lake/ --by site --by machine --truth label --score a \\
    --engine dask://scheduler:8786 --out results.parquet --resume
"""


class InterruptedBatch(click.ClickException):
    """Somebody pressed Ctrl-C."""

    exit_code = INTERRUPTED


def threshold_choice(text: str) -> int | float | str:
    """Read a number, or leave the name of a rule as it is.

    Examples
    --------
    >>> [threshold_choice(text) for text in ("7", "0.7", "best_f1", "quantile:0.99")]
    [7, 0.7, 'best_f1', 'quantile:0.99']
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@click.command(help=_HELP, short_help="Evaluate detectors on many series.")
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@click.option(
    "--by", multiple=True, metavar="COLUMN", help="Column that tells series apart; repeat it."
)
@click.option("--truth", metavar="COLUMN", help="0/1 column of true anomalies.")
@click.option(
    "--score",
    multiple=True,
    metavar="COLUMN",
    help="Column of a detector's scores, higher is more anomalous; repeat it for each.",
)
@click.option(
    "--predicted",
    multiple=True,
    metavar="COLUMN",
    help="0/1 column of a detector, in the place of scores; repeat it for each.",
)
@click.option("--time", metavar="COLUMN", help="Column of times; samples are counted without it.")
@click.option(
    "--threshold",
    type=threshold_choice,
    metavar="RULE",
    help="A number, quantile:Q, best_f1 (the default) or best_f1_global.",
)
@click.option(
    "--metric",
    "metrics",
    type=metric_choice,
    multiple=True,
    metavar="NAME[:P=V,...]",
    help="A metric and its parameters; repeat it. By default affiliation, and for scores its "
    "average precision.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    help="DATA is a folder of that benchmark: --by, --truth and --score are known. Times are read "
    "with --time timestamp.",
)
@click.option("--scores", metavar="DIR", help="With --layout: the folder of scores.")
@click.option(
    "--missing",
    type=click.Choice(["error", "nan", "drop"]),
    default="error",
    show_default=True,
    help="With --layout: for a series without scores, stop, report it, or leave it out.",
)
@click.option("--per-event", is_flag=True, help="Also one row for each true event.")
@intervals_options("Say how sure the numbers and their differences are, by resampling the series.")
@click.option(
    "--disorder",
    type=click.Choice(["error", "sort", "index"]),
    default="error",
    show_default=True,
    help="Where times repeat or go back: report it, sort, or count samples instead.",
)
@click.option("--strict", is_flag=True, help="Stop at the first series in trouble.")
@click.option("--workers", type=int, metavar="N", help="Processes on this machine.")
@click.option("--engine", metavar="ADDRESS", help="Dask scheduler, as dask://host:port.")
@click.option(
    "-o", "--out", metavar="FILE", help="Write all rows there: .parquet or .csv (with .events)."
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[OUT]",
    help="Go on with what OUT, or --out, has of an earlier attempt.",
)
@click.option("--overwrite", is_flag=True, help="Replace what is at --out.")
@format_option(
    "json holds everything; csv one row for each series and detector, or the intervals if asked "
    "for."
)
def batch(
    data: tuple[str, ...],
    *,
    score: tuple[str, ...],
    predicted: tuple[str, ...],
    metrics: tuple[tuple[str, dict[str, Any]], ...],
    with_intervals: bool,
    level: float | None,
    resamples: int | None,
    output_format: str,
    out: str | None,
    resume: str | None,
    engine: str | None,
    layout: str | None,
    scores: str | None,
    missing: str,
    **options: Any,
) -> None:
    """Evaluate many series, from files."""
    from closecall.cli.batch_formats import write_batch
    from closecall.tables.batch.evaluate import evaluate_frame

    out = _output(out, resume)
    intervals = chosen_intervals(level, resamples, asked=with_intervals)
    check_columns(layout, scores, {**options, "predicted": predicted})
    going_on = "what was finished is in {}, and --resume goes on"
    with compile_notice(), _interruptible(going_on, out and f"{out}.partial"), _quiet_dask():
        if layout is None:
            source = data[0] if len(data) == 1 else list(data)
        else:
            timed = options["time"] is not None
            source = read_layout(layout, data, scores, missing, timed=timed)
            options |= {"by": "series", "truth": "label"}
            score = score or tuple(name for name in source.column_names if name not in COLUMNS)
        result = evaluate_frame(
            source,
            score=score or None,
            predicted=predicted or None,
            metrics=each_once(metrics),
            out=out,
            resume=resume is not None,
            engine=engine,
            **options,
        )
    with _interruptible("all rows are in {}", out):
        write_batch(result, output_format=output_format, out=out, intervals=intervals)


def _output(out: str | None, resume: str | None) -> str | None:
    """Give the output, which --resume may name in the place of --out."""
    if resume and out not in (None, resume):
        message = f"Expected --resume and --out to name one file, got {resume} and {out}."
        raise click.UsageError(message)
    return resume or out


@contextmanager
def _interruptible(kept: str, path: str | None) -> Iterator[None]:
    """Say on Ctrl-C what is kept at the path, if it is there."""
    try:
        yield
    except KeyboardInterrupt:
        there = path and Path(path).exists()
        message = f"Interrupted; {kept.format(path)}." if there else "Interrupted."
        raise InterruptedBatch(message) from None


@contextmanager
def _quiet_dask() -> Iterator[None]:
    """Keep Dask's own log off the terminal: what matters is reported in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
