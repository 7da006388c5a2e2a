"""`closecall batch`: many series and detectors at once, from files."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from closecall.cli import options
from closecall.cli.layouts import layout_options
from closecall.cli.leaderboard import print_batch, remedy
from closecall.cli.output import tell
from closecall.errors import InputError, with_names
from closecall.plain import plain
from closecall.tables import evaluate_frame, read_events
from closecall.tables.series import Status
from closecall.wording import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.cli.layouts import LayoutOptions
    from closecall.cli.output import Output
    from closecall.statistics import Ranks
    from closecall.tables import BatchResult

_MOST_FAILURES = 3
_OF_THE_CALL = (Status.FAILED, Status.BAD_LABELS, Status.BAD_SCORES, Status.BAD_TIMES)
_HELP = """\
Evaluate detectors on many series: a leaderboard here, and one row for each series in a file.

DATA is a Parquet or CSV file, a folder, a quoted pattern such as 'runs/*.parquet', or several of
these. --by names the columns that tell series apart; where each file is a series, --series filename
takes its name. Every --score column (higher is more anomalous) or every --predicted column (0/1) is
a detector. What is wrong with one series is reported and never stops the others. Parquet is read a
part at a time, so it may be larger than memory.

--threshold turns scores into alarms: a number; best_f1, the best of each series; best_f1_global,
the best that all series of a detector share; cross_fit, the best of other series, so that no
threshold is judged by the labels it was chosen on; or without labels quantile:0.99, sigma:3, mad:3,
spot:0.001 and alarms:2/7d. --fit-until chooses before a time and evaluates after it.

With --output, what is finished is kept until all is: after a crash or Ctrl-C, the same command with
--resume goes on.

\b
Examples:
  closecall batch all.parquet --by series --truth label --score a --score b --time t
  closecall batch runs/ --series filename --truth label --predicted alarm --output results.parquet
  closecall batch all.parquet --by series --truth label --score a --workers 4 --output results.csv
  closecall batch all.parquet --by series --truth label --score a --score b --intervals
  closecall batch all.parquet --by series --truth label --score a --score b --ranks
  closecall batch all.parquet --by series --truth label --score a --threshold cross_fit
  closecall batch all.parquet --by series --truth label --score a --time t --max-step 5min
  closecall batch TSB-AD-U --layout tsb-ad --scores eval/score/uni --missing nan
  closecall batch lake/ --by site --by machine --truth label --score a \\
    --engine dask://scheduler:8786 --output results.parquet --resume
"""


@click.command(cls=options.Command, help=_HELP)
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@options.by
@options.option(
    "--series filename|PATTERN",
    "Tell series apart by the names of files, or by a pattern such as {group}/{series}.csv.",
)
@options.option("--truth COLUMN", "0/1 column of true anomalies.")
@options.option(
    "--score COLUMN",
    "Column of a detector's scores, higher is more anomalous; repeat it for each.",
    multiple=True,
)
@options.option(
    "--predicted COLUMN",
    "0/1 column of a detector, in the place of scores; repeat it for each.",
    multiple=True,
)
@options.option("--time COLUMN", "Column of times; samples are counted without it.")
@options.time_unit
@options.option(
    "--threshold RULE",
    "A number, best_f1 (the default), best_f1_global, cross_fit, quantile:Q, sigma:K, mad:K, "
    "spot:P or alarms:COUNT/DURATION.",
    type=options.parse_rule,
)
@options.option(
    "--folds N",
    "With --threshold cross_fit: into how many folds the series go.",
    type=click.IntRange(min=2),
    default=5,
)
@options.option(
    "--fit-until TIME", "Choose thresholds on the time before, and evaluate the time after."
)
@options.option(
    "--retune N",
    "Also choose the best threshold again in N shifts of each series' scores.",
    type=click.IntRange(min=1),
)
@options.evaluated(scores=True)
@options.reading
@options.metric(
    "A metric and its parameters; repeat it. By default affiliation, and for scores its average "
    "precision."
)
@layout_options
@options.option("--per-event", "Also one row for each true event.")
@options.intervals("Say how sure the numbers and their differences are, given so many series.")
@options.option(
    "--ranks [METRIC]",
    "Rank the detectors on every series by a metric, and test which can be told apart.",
    flag_value="",
)
@options.choice(
    "--ranks-missing",
    "Series that some detectors have no number on: error, drop them, or rank those worst.",
    "error",
    "drop",
    "worst",
)
@options.disorder("index")
@options.option("--strict", "Stop at the first series in trouble.")
@options.option("--workers N", "Processes on this machine.", type=int)
@options.option("--engine ADDRESS", "Dask scheduler, as dask://host:port.")
@options.option(
    f"{options.OUTPUT} FILE", "Write all rows there: .parquet or .csv (with .events).", "out"
)
@options.option(
    "--resume [OUT]", "Go on with what OUT, or --output, has of an earlier attempt.", flag_value=""
)
@options.option("--overwrite", "Replace what is at --output.")
@options.output(
    "json holds everything; csv one row for each series and detector, or the intervals if asked "
    "for; latex a table of the means, or of the ranks if asked for.",
    "latex",
    to_file=False,
)
def batch(
    data: tuple[str, ...],
    *,
    score: tuple[str, ...],
    predicted: tuple[str, ...],
    metrics: dict[str, dict[str, Any]] | None,
    settings: dict[str, Any] | None,
    ranks: str | None,
    ranks_missing: str,
    output: Output,
    out: str | None,
    resume: str | None,
    layout: LayoutOptions | None,
    **given: Any,
) -> None:
    """Evaluate many series, from files."""
    if resume and out not in (None, resume):
        message = f"Expected --resume and --output to name one file, got {resume} and {out}."
        raise click.UsageError(message)
    out = resume or out
    if layout is None and given["truth"] is None:
        message = "Missing option '--truth'. It, or --layout, says where the labels are."
        raise click.UsageError(message)
    going_on = "what was finished is in {}, and --resume goes on"
    with _interruptible(going_on, out and f"{out}.partial"), _quiet_dask():
        source: Any = data[0] if len(data) == 1 else list(data)
        ignore = given["ignore"]
        if ignore is not None and Path(ignore).is_file():
            known = {name: given[name] for name in ("encoding", "time_unit")}
            given["ignore"] = read_events(ignore, merge=True, **known)
        if layout is not None:
            known = {name: given[name] for name in ("by", "series", "truth")}
            timed = given["time"] is not None
            source, found = layout.read(data, timed=timed, **known, predicted=predicted)
            given |= {"by": "series", "truth": "label"}
            score = score or found
        result = evaluate_frame(
            source,
            score=score or None,
            predicted=predicted or None,
            metrics=metrics,
            out=out,
            resume=resume is not None,
            progress=tell,
            **given,
        )
    if not result.units:  # it was finished before
        tell(f"{out} is finished: nothing was evaluated. --overwrite starts again.")
        return
    with _interruptible("all rows are in {}", out):
        ranked = None
        if ranks is not None:
            rule = ranks_missing.replace("error", "raise")
            try:
                with with_names({"missing": "ranks_missing", "metric": "ranks"}):
                    ranked = result.ranks(ranks or None, missing=rule)
            except InputError as error:
                error.exit_status = 2  # the rows are whole; what was asked of them cannot be
                raise
        write_batch(result, output, out, settings, ranked)


@contextmanager
def _interruptible(kept: str, path: str | None) -> Iterator[None]:
    """Say on Ctrl-C what is kept at the path, if it is there."""
    try:
        yield
    except KeyboardInterrupt as error:
        if path and Path(path).exists():
            error.args = (f"Interrupted; {kept.format(path)}.",)
        raise


@contextmanager
def _quiet_dask() -> Iterator[None]:
    """Keep Dask's own log off the terminal: what matters is reported in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def write_batch(
    result: BatchResult,
    output: Output,
    out: str | None,
    settings: dict[str, Any] | None,
    ranks: Ranks | None = None,
) -> None:
    """Write the result, with such intervals and ranks, if any; raise if a part was not read."""
    intervals = None if settings is None else result.intervals(**settings)
    if output.format == "csv" and intervals is None:
        replace(result, table=_blank_undefined(result)).write("-")
    else:
        rows = [] if intervals is None else intervals.to_pylist()
        more = {} if intervals is None else {"intervals": plain(rows)}
        more |= {} if ranks is None else {"ranks": ranks.to_dict()}
        level = None if settings is None else settings["level"]
        output.write(
            table=lambda console: print_batch(
                result, console, out=out, intervals=intervals, level=level, ranks=ranks
            ),
            values=lambda: result.to_dict() | more,
            rows=lambda: rows,
            latex=lambda note: (
                ranks.to_latex(note=note)
                if ranks
                else result.to_latex(note=note, **(settings or {}))
            ),
            signature=(ranks or result).signature.drawing(**(settings or {})),
        )
    _require_all(result, out)
    _require_some(result)


def _blank_undefined(result: BatchResult) -> pa.Table:
    """Leave blank what is undefined, as the CSV of intervals does; keys stay what they are."""
    table = result.table
    for place, name in enumerate(table.column_names):
        column = table.column(name)
        if pa.types.is_floating(column.type) and name not in result.options.by:
            known = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
            table = table.set_column(place, name, known)
    return table


def _require_all(result: BatchResult, out: str | None) -> None:
    """Raise if a unit was not read, and name it, so that the rows are not taken for all."""
    if not result.failures:
        return
    for unit, reason in result.failures[:_MOST_FAILURES]:
        tell(f"{plain_name(unit)}: {plain_name(reason)}")
    hint = "The series in it are not among the rows."
    if out:
        hint = (
            "If reading failed for a while, the same command with --resume tries again. If you "
            "mend a file, the data are other data: start again with --overwrite."
        )
    got = f"{len(result.failures)} of {result.units} that could not be"
    raise InputError("every unit of the data to be read", got, hint=hint)


def _require_some(result: BatchResult) -> None:
    """Raise if everything fails for one and the same reason: then it is the call that is wrong."""
    statuses, reasons = (result.table.column(x).to_pylist() for x in ("status", "reason"))
    told = {
        (status, reason)
        for status, reason in zip(statuses, reasons, strict=True)
        if status not in (Status.NO_EVENT, Status.EMPTY)
    }
    if len(told) != 1:
        return
    status, reason = told.pop()
    if status in _OF_THE_CALL:
        got = f"{status!r} everywhere: {reason}".removesuffix(".")
        hint = remedy(status, result)
        raise InputError("at least one series to be evaluated", got, hint=hint and f"{hint}.")
