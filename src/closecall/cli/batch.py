"""`closecall batch`: many series and detectors at once, from files."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa
import pyarrow.compute as pc
from rich.text import Text

from closecall.cli.intervals import MOST_PAIRS, Lead, interval_csv, limits_text, print_leads
from closecall.cli.options import (
    Command,
    each_once,
    evaluated_options,
    interval_settings,
    intervals_options,
    metric_option,
    output_options,
    parse_number,
    parse_time,
    reading_options,
)
from closecall.cli.output import tell
from closecall.cli.tables import Column, names, print_table, score_cell, texts
from closecall.datasets import read_nab, read_timeeval, read_tsb_ad
from closecall.errors import InputError, expected
from closecall.files import require_apart
from closecall.tables import evaluate_frame
from closecall.tables.batch.status import (
    BAD_LABELS,
    BAD_SCORES,
    BAD_TIMES,
    CONSTANT_SCORE,
    EMPTY,
    FAILED,
    NO_EVENT,
    OK,
    STATUSES,
)
from closecall.tables.batch.summary import higher_is_better
from closecall.wording import UNDEFINED, counted, number_text, plain_name, score_or_dash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import Console

    from closecall.cli.output import Output
    from closecall.tables import BatchResult

_LAYOUTS = ("nab", "tsb-ad", "timeeval")
_LAYOUT_COLUMNS = ("series", "timestamp", "label")  # what is not a detector
_DETECTOR = "detector"
_MOST_FAILURES, _MOST_DETECTORS, _MOST_NUMBERS, _MOST_CAUTIONS = 3, 60, 4, 3
_LONGEST_NAME = 60
_OF_THE_CALL = (FAILED, BAD_LABELS, BAD_SCORES, BAD_TIMES)
_SAID_BY_COUNTS = (OK, NO_EVENT, EMPTY)  # statuses whose reason says no more than their name
_OUT_OF_ORDER = "increasing"  # what the reason says of times that --disorder can mend
_BEST, _RETUNED = "best_f1", "retuned_f1"
_HEADINGS = {
    _BEST: "own best",
    _RETUNED: "retuned",
    "affiliation_f1": "F1",
    "affiliation_precision": "prec.",
    "affiliation_recall": "recall",
    "affiliation_average_precision": "avg. prec.",
}
_HEADLINE = ("affiliation_f1", "affiliation_precision", "affiliation_recall")
_POOLED = {
    "pooled_affiliation_f1": "pooled F1",
    "pooled_affiliation_precision": "pooled prec.",
    "pooled_affiliation_recall": "pooled recall",
}
_CHANCE = "chance: what the same alarms reach on average when they are moved."
_RETUNING = (
    "retuned: F1 of the same scores moved, with the best threshold chosen again each time; "
    "chance of avg. prec.: that of the scores moved."
)
_CAUGHT = "caught: true events that an alarm overlaps; false: alarms that overlap none{}."
_FLATTER = (
    "Thresholds were chosen on the same labels, so these scores flatter; "
    "--threshold cross_fit does not."
)
_CROSS_FITTED = (
    "Thresholds were chosen on other series; own best: F1 at the best threshold of each series, "
    "chosen on the labels that judge it, which flatters."
)
_INTERVALS_LEGEND = """\
from, to: limits of the number or the lead, as there are only so many series
p-value: how often equally good detectors differ so much on so many series
-: nothing can be said"""
_HELP = """\
Evaluate detectors on many series: a leaderboard here, and one row for each series in a file.

DATA is a Parquet or CSV file, a folder, a quoted pattern such as 'runs/*.parquet', or several of
these. --by names the columns that tell series apart. Every --score column (higher is more
anomalous) or every --predicted column (0/1) is a detector. What is wrong with one series is
reported and never stops the others. Parquet is read a part at a time, so it may be larger than
memory.

--threshold turns scores into alarms: a number; best_f1, the best of each series; best_f1_global,
the best that all series of a detector share; cross_fit, the best of other series, so that no
threshold is judged by the labels it was chosen on; or without labels quantile:0.99, sigma:3, mad:3,
spot:0.001 and alarms:2/7d. --fit-until chooses before a time and evaluates after it.

With --out, what is finished is kept until all is: after a crash or Ctrl-C, the same command with
--resume goes on.

\b
Examples:
  closecall batch all.parquet --by series --truth label --score a --score b --time t
  closecall batch 'runs/*.csv' --by run --truth label --predicted alarm --out results.parquet
  closecall batch all.parquet --by series --truth label --score a --workers 4 --out results.csv
  closecall batch all.parquet --by series --truth label --score a --score b --intervals
  closecall batch all.parquet --by series --truth label --score a --threshold cross_fit
  closecall batch all.parquet --by series --truth label --score a --time t --max-step 5min
  closecall batch TSB-AD-U --layout tsb-ad --scores eval/score/uni --missing nan
  closecall batch lake/ --by site --by machine --truth label --score a \\
    --engine dask://scheduler:8786 --out results.parquet --resume
"""


def parse_threshold(text: str) -> int | float | str:
    """Read a number, or leave the name of a rule as it is.

    Examples
    --------
    >>> [parse_threshold(text) for text in ("7", "0.7", "best_f1", "quantile:0.99")]
    [7, 0.7, 'best_f1', 'quantile:0.99']
    """
    number = parse_number(text)
    return text if number is None else number


@click.command(cls=Command, help=_HELP)
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
    type=parse_threshold,
    metavar="RULE",
    help="A number, best_f1 (the default), best_f1_global, cross_fit, quantile:Q, sigma:K, mad:K, "
    "spot:P or alarms:COUNT/DURATION.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    metavar="N",
    help="With --threshold cross_fit: into how many folds the series go.",
)
@click.option(
    "--fit-until",
    type=parse_time,
    metavar="TIME",
    help="Choose thresholds on the time before, and evaluate the time after.",
)
@click.option(
    "--retune",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also choose the best threshold again in N shifts of each series' scores.",
)
@evaluated_options(scores=True, files=False)
@reading_options
@metric_option(
    "A metric and its parameters; repeat it. By default affiliation, and for scores its average "
    "precision."
)
@click.option(
    "--layout",
    type=click.Choice(_LAYOUTS),
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
@click.option(
    "--outside", is_flag=True, help="With --layout timeeval: the index may name files outside DATA."
)
@click.option("--per-event", is_flag=True, help="Also one row for each true event.")
@intervals_options("Say how sure the numbers and their differences are, given so many series.")
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
@output_options(
    "json holds everything; csv one row for each series and detector, or the intervals if asked "
    "for.",
    file=False,
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
    output: Output,
    out: str | None,
    resume: str | None,
    layout: str | None,
    scores: str | None,
    missing: str,
    outside: bool,
    **options: Any,
) -> None:
    """Evaluate many series, from files."""
    if resume and out not in (None, resume):
        message = f"Expected --resume and --out to name one file, got {resume} and {out}."
        raise click.UsageError(message)
    out = resume or out
    settings = interval_settings(level, resamples, asked=with_intervals)
    _check_columns(layout, scores, {**options, "predicted": predicted})
    going_on = "what was finished is in {}, and --resume goes on"
    with _interruptible(going_on, out and f"{out}.partial"), _quiet_dask():
        source: Any = data[0] if len(data) == 1 else list(data)
        if layout is not None:
            timed = options["time"] is not None
            require_apart("--out", [out] if out else (), [scores] if scores else ())
            source = _read_layout(layout, data, scores, missing, timed=timed, outside=outside)
            options |= {"by": "series", "truth": "label"}
            score = score or tuple(x for x in source.column_names if x not in _LAYOUT_COLUMNS)
        result = evaluate_frame(
            source,
            score=score or None,
            predicted=predicted or None,
            metrics=each_once(metrics),
            out=out,
            resume=resume is not None,
            **options,
        )
    with _interruptible("all rows are in {}", out):
        write_batch(result, output, out, settings)


def _check_columns(layout: str | None, scores: str | None, named: Mapping[str, Any]) -> None:
    """Raise if options do not go together: a layout knows its columns, files do not."""
    told = [option for option in ("by", "truth", "predicted") if named[option]]
    message = ""
    if layout is not None and told:
        message = (
            f"--{told[0]} does not go with --layout, whose series, labels and scores are known; "
            "--score chooses among its detectors."
        )
    elif layout is None and named["truth"] is None:
        message = "Missing option '--truth'. It, or --layout, says where the labels are."
    elif layout is None and scores is not None:
        message = "--scores goes with --layout; columns of scores are --score."
    if message:
        raise click.UsageError(message)


def _read_layout(
    layout: str,
    data: tuple[str, ...],
    scores: str | None,
    missing: Any,
    *,
    timed: bool,
    outside: bool,
) -> pa.Table:
    """Read the one folder that DATA names, as the benchmark lays it out; times only if asked."""
    message = ""
    if len(data) != 1:
        message = f"With --layout, DATA is one folder; there are {len(data)}."
    elif layout == "nab" and scores is not None:
        message = "With --layout nab there is no --scores: they are in DATA, in results/."
    elif layout != "nab" and scores is None:
        message = f"With --layout {layout}, --scores names the folder of the detectors' scores."
    if message:
        raise click.UsageError(message)
    if scores is None:
        return read_nab(data[0], missing=missing)
    if layout == "tsb-ad":
        return read_tsb_ad(data[0], scores, missing=missing)
    return read_timeeval(data[0], scores, missing=missing, timestamps=timed, outside=outside)


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
    result: BatchResult, output: Output, out: str | None, settings: dict[str, Any] | None
) -> None:
    """Write the result, with such intervals if any; raise if a part could not be read."""
    intervals = None if settings is None else result.intervals(**settings)
    if output.format == "csv":
        if intervals is None:
            replace(result, table=_blank_undefined(result)).write("-")
        else:
            output.text(interval_csv(intervals.to_pylist()))
    else:
        more = {} if intervals is None else {"intervals": _plain_rows(intervals)}
        level = None if settings is None else settings["level"]
        output.write(
            table=lambda console: _print_batch(result, console, out, intervals, level),
            values=lambda: _values(result) | more,
            rows=list,
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


def _values(result: BatchResult) -> dict[str, Any]:
    events = result.event_table
    return {
        "rows": _plain_rows(result.table),
        "events": None if events is None else _plain_rows(events),
        "summary": _plain_rows(result.summary()),
        "failures": [{"unit": unit, "reason": reason} for unit, reason in result.failures],
    }


def _plain_rows(table: Any) -> list[dict[str, Any]]:
    return [
        {name: _plain(value) for name, value in row.items()}
        for row in table.to_pylist()  # all of it: what is printed as JSON is of a size to read
    ]


def _plain(value: Any) -> Any:
    """Return a value as one of JSON's; what is undefined is null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _require_all(result: BatchResult, out: str | None) -> None:
    """Raise if a unit was not read, and name it, so that the rows are not taken for all."""
    if not result.failures:
        return
    for unit, reason in result.failures[:_MOST_FAILURES]:
        tell(f"{plain_name(unit)}: {plain_name(reason)}")
    count = len(result.failures)
    hint = (
        "If reading failed for a while, the same command with --resume tries again. If you mend a "
        "file, the data are other data: start again with --overwrite."
    )
    raise InputError(
        expected(
            "every unit of the data to be read",
            f"{count} of {result.units} that could not be",
            hint if out else "The series in it are not among the rows.",
        )
    )


def _require_some(result: BatchResult) -> None:
    """Raise if everything fails for one and the same reason: then it is the call that is wrong."""
    statuses, reasons = (result.table.column(x).to_pylist() for x in ("status", "reason"))
    told = {
        (status, reason)
        for status, reason in zip(statuses, reasons, strict=True)
        if status not in (NO_EVENT, EMPTY)
    }
    if len(told) != 1:
        return
    status, reason = told.pop()
    if status in _OF_THE_CALL:
        got = f"{status!r} everywhere: {reason}".removesuffix(".")
        raise InputError(expected("at least one series to be evaluated", got))


def _ordered_metrics(result: BatchResult) -> list[str]:
    """Return the numbers of the rows, the headline first."""
    columns = result.options.metric_columns
    first = [name for name in _HEADLINE if name in columns]
    return [*first, *(name for name in columns if name not in first)]


def _heading(name: str) -> str:
    return "chance" if name.startswith("chance") else _HEADINGS.get(name, name.replace("_", " "))


def _print_batch(
    result: BatchResult,
    console: Console,
    out: str | None,
    intervals: pa.Table | None,
    level: float | None,
) -> None:
    """Print the counts, the leaderboard, its intervals of a level, and where all else is."""
    console.print(_counts(result))
    console.print()
    if result.table.num_rows:
        metrics = _ordered_metrics(result)
        board = result.leaderboard(metrics[0]).to_pylist()
        _print_leaderboard(result, board, console)
        if intervals is not None and level is not None:
            ranked = [str(row[_DETECTOR]) for row in board[:_MOST_DETECTORS]]
            headings = {f"mean_{name}": _heading(name) for name in metrics}
            _print_intervals(intervals, ranked, headings, level, console)
        _print_meaning(result, metrics, console)
    if out is not None and not result.failures:
        console.print(Text(_written(result, out)))


def _counts(result: BatchResult) -> Text:
    """Return what became of the series, and what could be done about it."""
    by = [name for name in result.options.by if name != _DETECTOR]
    series: dict[tuple[Any, ...], list[str]] = {}
    keys = zip(*(result.table.column(name).to_pylist() for name in by), strict=True)
    statuses = result.table.column("status").to_pylist()
    for key, status in zip(list(keys) or [()] * len(statuses), statuses, strict=True):
        series.setdefault(key, []).append(status)
    evaluated = sum(any(one in (OK, CONSTANT_SCORE) for one in own) for own in series.values())
    parts = [f"{evaluated} series evaluated", *_troubles(series.values())]
    text = Text.assemble((f"{', '.join(parts)}", "bold"))
    if result.failures:
        whose = "its" if len(result.failures) == 1 else "their"
        missing = f"{len(result.failures)} of {result.units} units could not be read"
        text.append(f"\n{missing}; {whose} series are not among the rows", "bold red")
    reasons = _reasons(result)
    for status, (where, reason) in reasons.items():
        text.append(f"\n{status}, as in {where}: {reason}", "dim")
    disordered = _OUT_OF_ORDER in reasons.get(BAD_TIMES, ("", ""))[1]
    if disordered and result.options.disorder == "error":
        text.append("\n--disorder sort puts samples in the order of their times; ")
        text.append("--disorder index counts samples instead")
    return text


def _reasons(result: BatchResult) -> dict[str, tuple[str, str]]:
    """Return the first row of each trouble: whose it is, and the reason."""
    first: dict[str, tuple[str, str]] = {}
    names = dict.fromkeys((*result.options.by, _DETECTOR))
    columns = [result.table.column(name).to_pylist() for name in (*names, "status", "reason")]
    for *key, status, reason in zip(*columns, strict=True):
        if status not in _SAID_BY_COUNTS and status not in first:
            first[status] = ", ".join(plain_name(str(part), _LONGEST_NAME) for part in key), reason
    return first


def _troubles(series: Iterable[list[str]]) -> list[str]:
    """Count the series in each trouble; apart, those in which only some detectors are."""
    everywhere: dict[str, int] = {}
    somewhere: dict[str, int] = {}
    for own in series:
        for status in dict.fromkeys(own):
            counts = everywhere if own.count(status) == len(own) else somewhere
            counts[status] = counts.get(status, 0) + 1
    return [
        f"{counts[status]} {STATUSES[status]}{suffix}"
        for counts, suffix in ((everywhere, ""), (somewhere, " for some detectors"))
        for status in sorted(counts, key=lambda one: -counts[one])
        if status != OK
    ]


def _print_leaderboard(result: BatchResult, board: list[dict[str, Any]], console: Console) -> None:
    """Print the detectors, best first, with every number beside its level of chance, if any."""
    shown = board[:_MOST_DETECTORS]
    summary = {row[_DETECTOR]: row for row in result.summary().to_pylist()}
    rows = [summary[row[_DETECTOR]] for row in shown]
    ranks = [number_text(x) if isfinite(x) else UNDEFINED for x in (row["rank"] for row in shown)]
    columns = [texts("#", ranks), names(_DETECTOR, [str(row[_DETECTOR]) for row in shown])]
    if result.options.has_affiliation:
        columns += _happened(rows)
    known = [f"{row['series'] - row['undefined']}/{row['series']}" for row in shown]
    counts = [
        texts("best", [row["best_on"] for row in shown], joined=True),
        texts("series", known, joined=True),
    ]
    for metric in _ordered_metrics(result):
        columns.append(_mean_column(metric, rows))
        level = metric.replace("affiliation", "chance", 1)
        if level in result.options.chance_columns:
            columns.append(_mean_column(level, rows))
        if metric == "affiliation_f1" and result.options.retune is not None:
            columns.append(_mean_column(_RETUNED, rows))
        if metric == "affiliation_f1" and result.options.shows_best:
            columns.append(_mean_column(_BEST, rows))
        columns += counts
        counts = []  # they are of the first metric
    print_table(console, columns, keys=2)
    if len(board) > len(shown):
        hidden = counted(len(board) - len(shown), "more detector")
        console.print(Text(f"\n... and {hidden}; `--format json` has all.", style="bold"))
    console.print()


def _happened(rows: list[dict[str, Any]]) -> list[Column]:
    """Return how many events were caught of all, and the false alarms, a day if times are dated."""
    caught = [f"{row['caught']}/{row['pooled_events']}" for row in rows]
    rates = [row["false_alarms_per_day"] for row in rows]
    if any(isfinite(rate) for rate in rates):
        cells = [f"{rate:.3g}" if isfinite(rate) else UNDEFINED for rate in rates]
        return [texts("caught", caught), texts("false/day", cells)]
    return [texts("caught", caught), texts("false", [row["false_alarms"] for row in rows])]


def _mean_column(name: str, rows: list[dict[str, Any]]) -> Column:
    chance = name.startswith("chance") or name == _RETUNED
    cells = []
    for value in (row[f"mean_{name}"] for row in rows):
        if chance or not isfinite(value):
            cells.append(Text(score_or_dash(value), "dim"))
        elif name.startswith("affiliation") or name == _BEST:
            cells.append(score_cell(value, None if name == "affiliation_f1" else ""))
        else:
            cells.append(Text(number_text(round(value, 4))))
    return Column(_heading(name), cells, joined=chance)


def _print_intervals(
    table: pa.Table, ranked: list[str], headings: Mapping[str, str], level: float, console: Console
) -> None:
    """Print the first numbers under their headings, and the leads, with their limits."""
    rows = {(str(row[_DETECTOR]), row["against"], row["number"]): row for row in table.to_pylist()}
    means = dict(list(headings.items())[:_MOST_NUMBERS])
    pooled = {} if {number for *_, number in rows}.isdisjoint(_POOLED) else _POOLED
    title = f"How sure: {100 * level:.4g} % intervals over series\n"
    console.print(Text(title, style="bold"))
    for numbers in filter(None, (means, pooled)):
        columns = [names(_DETECTOR, ranked)]
        for number, heading in numbers.items():
            own = [rows.get((name, "", number)) for name in ranked]
            cells = [Text(UNDEFINED if row is None else _limits(row)) for row in own]
            columns.append(Column(heading, cells, "left"))
        print_table(console, columns)
        console.print()
    _print_leads(rows, ranked, means | pooled, console)
    if len(headings) > len(means):
        hidden = counted(len(headings) - len(means), "more number")
        console.print(Text(f"... and {hidden}; `--format json` has all.\n", style="bold"))
    shown = [row for (*_, number), row in rows.items() if number in means | pooled]
    pairs = [row for row in shown if row["against"]]
    cautions = dict.fromkeys(row["caution"] for row in pairs or shown if row["caution"])
    for text in list(cautions)[:_MOST_CAUTIONS]:
        console.print(Text(f"Caution: {text}", style="bold yellow"))
    console.print(Text(f"{_INTERVALS_LEGEND}\n", style="dim"))


def _limits(row: dict[str, Any]) -> str:
    return limits_text(*(_number(row[name], row["number"]) for name in ("value", "low", "high")))


def _number(value: float, name: str) -> str:
    if isnan(value):
        return UNDEFINED
    return score_or_dash(value) if "affiliation" in name else number_text(round(value, 4))


def _print_leads(
    rows: Mapping[tuple[str, str, str], dict[str, Any]],
    ranked: list[str],
    numbers: Mapping[str, str],
    console: Console,
) -> None:
    pairs = list(combinations(ranked, 2))
    leads = [
        lead
        for first, second in pairs[:MOST_PAIRS]
        for number, heading in numbers.items()
        if (lead := _lead(rows, first, second, number, heading)) is not None
    ]
    if not leads:
        return
    print_leads(console, leads)
    if len(pairs) > MOST_PAIRS:
        text = f"... and {len(pairs) - MOST_PAIRS} more pairs; `--format json` has all."
        console.print(Text(text, style="bold"))
    console.print()


def _lead(
    rows: Mapping[tuple[str, str, str], dict[str, Any]],
    first: str,
    second: str,
    number: str,
    heading: str,
) -> Lead | None:
    """Return the lead of one detector over another, turned if it is there the other way round."""
    style = ".2f" if "affiliation" in number else ".4g"
    row, sign = rows.get((first, second, number)), 1
    if row is None:
        row, sign = rows.get((second, first, number)), -1
    if row is None:
        return None
    low, high = sorted((sign * row["low"], sign * row["high"]))
    return Lead(first, second, heading, sign * row["value"], low, high, row["pvalue"], style)


def _print_meaning(result: BatchResult, metrics: list[str], console: Console) -> None:
    way = "highest" if higher_is_better(metrics[0], result.options) else "lowest"
    name = _heading(metrics[0])
    lines = [
        f"Scores are means over the series that have one; best: on how many {name} is the {way}."
    ]
    if result.options.has_affiliation:
        dated = pc.any(pc.is_finite(result.table.column("evaluated_days"))).as_py()
        lines.insert(0, _CAUGHT.format(", a day of evaluated time" if dated else ""))
        lines.append(_CHANCE)
    if result.options.retune is not None:
        lines.append(_RETUNING)
    lines += filter(None, (_ignored(result), _chosen(result)))
    console.print(Text("\n".join(lines), style="dim"))


def _chosen(result: BatchResult) -> str:
    """Return how thresholds were chosen, where that bears on what the scores mean."""
    options = result.options
    rule = options.threshold
    if options.fit_until is not None:
        return f"Thresholds were chosen ({rule}) on the time before {options.fit_until}."
    if rule.kind == "cross_fit":
        return _CROSS_FITTED
    if rule.looks_at_truth:
        return _FLATTER
    return f"Thresholds: {rule.words}." if rule.value is not None else ""


def _ignored(result: BatchResult) -> str:
    """Return how much was left out as it lies in ignored time."""
    if not result.options.ignores_time:
        return ""
    count = result.table.filter(pc.greater(result.table.column("ignored_time"), 0)).num_rows
    events, alarms = (
        pc.sum(result.table.column(f"left_out_{what}")).as_py() or 0
        for what in ("events", "alarms")
    )
    return (
        f"Some time is ignored in {count} of {counted(result.table.num_rows, 'row')}, and with it "
        f"{counted(events, 'true event')} and {counted(alarms, 'alarm')} (each detector counted)."
    )


def _written(result: BatchResult, out: str) -> str:
    path = Path(out)
    count = result.table.num_rows
    text = f"Wrote {counted(count, 'row')} to {path}"
    if result.event_table is None:
        return f"{text}."
    events = path.with_name(f"{path.stem}.events{path.suffix}")
    return f"{text}, and {result.event_table.num_rows} of events to {events}."
