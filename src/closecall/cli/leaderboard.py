"""The leaderboard of a batch on the terminal: what became of the series, who leads, how sure."""

from __future__ import annotations

from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from rich.text import Text

from closecall.cli import screen
from closecall.cli.intervals import MOST_PAIRS, print_intervals
from closecall.cli.options import OFFSETS
from closecall.errors import OUT_OF_ORDER
from closecall.statistics.ranks import wins_text
from closecall.tables.batch.summary import DISORDER_HINT, STATUSES
from closecall.tables.series import Status
from closecall.wording import (
    UNDEFINED,
    counted,
    level_text,
    number_text,
    percent_text,
    plain_name,
    pvalue_text,
    score_or_dash,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa
    from rich.console import Console

    from closecall.statistics import Ranks
    from closecall.tables import BatchResult

_MOST_DETECTORS, _MOST_NUMBERS, _MOST_CAUTIONS = 60, 4, 3
_DETECTOR = "detector"
_LONGEST_NAME = 60
_SAID_BY_COUNTS = (Status.OK, Status.NO_EVENT)  # statuses whose reason says no more than their name
_KEPT = "--disorder first, last or mean keeps one sample of each time"
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
_CHANCE = "chance: means with alarms or events shifted in time, whichever is higher."
_SILENT = "A detector without any alarm on a series with true events has an F1 of 0 there."
_RETUNING = (
    "retuned: F1 of the same scores moved, with the best threshold chosen again each time; "
    "chance of avg. prec.: that of the scores moved."
)
_LAST_SAMPLE = "Where times are unevenly spaced, the last sample of a series lasts the median step."
_CAUGHT = (
    "caught: true events that an alarm overlaps, and by chance; false: alarms that overlap none{}, "
    "series without an event included."
)
_FLATTER = (
    "Thresholds were chosen on the same labels, so these scores flatter; "
    "--threshold cross_fit does not."
)
_GROUPS = """\
groups: detectors with a letter in common are not told apart
effect: rank-biserial correlation, from -1 (the first always loses) to 1 (it always wins)
"""
_CROSS_FITTED = (
    "Thresholds were chosen on other series; own best: F1 at the best threshold of each series, "
    "chosen on the labels that judge it, which flatters."
)


def _ordered_metrics(result: BatchResult) -> list[str]:
    """Return the numbers of the rows, the headline first."""
    columns = result.options.metric_columns
    first = [name for name in _HEADLINE if name in columns]
    return [*first, *(name for name in columns if name not in first)]


def _heading(name: str) -> str:
    return "chance" if name.startswith("chance") else _HEADINGS.get(name, name.replace("_", " "))


def print_batch(
    result: BatchResult,
    console: Console,
    *,
    out: str | None,
    intervals: pa.Table | None,
    level: float | None,
    ranks: Ranks | None,
) -> None:
    """Print the counts, the leaderboard, its intervals of a level, ranks, and where all else is."""
    console.print(_counts(result))
    console.print()
    if result.table.num_rows:
        metrics = _ordered_metrics(result)
        board = result.leaderboard(metrics[0]).to_pylist()
        _print_leaderboard(result, board, console)
        if intervals is not None and level is not None:
            ranked = [str(row[_DETECTOR]) for row in board[:_MOST_DETECTORS]]
            headings = {f"mean_{name}": _heading(name) for name in metrics}
            _print_intervals(result, intervals, ranked, headings, level=level, console=console)
        if ranks is not None:
            _print_ranks(ranks, console)
        _print_meaning(result, metrics, console)
    if out is not None and not result.failures:
        path = Path(out)
        text = f"Wrote {counted(result.table.num_rows, 'row')} to {path}"
        if result.event_table is not None:
            events = path.with_name(f"{path.stem}.events{path.suffix}")
            text += f", and {result.event_table.num_rows} of events to {events}"
        console.print(Text(f"{text}."))


def _counts(result: BatchResult) -> Text:
    """Return what became of the series, and what could be done about it."""
    by = [name for name in result.options.by if name != _DETECTOR]
    series: dict[tuple[Any, ...], list[str]] = {}
    keys = zip(*(result.table.column(name).to_pylist() for name in by), strict=True)
    statuses = result.table.column("status").to_pylist()
    for key, status in zip(list(keys) or [()] * len(statuses), statuses, strict=True):
        series.setdefault(key, []).append(status)
    evaluated = sum(
        any(one in (Status.OK, Status.CONSTANT_SCORE) for one in found) for found in series.values()
    )
    parts = [f"{evaluated} series evaluated", *_troubles(series.values())]
    text = Text.assemble((f"{', '.join(parts)}", "bold"))
    if result.failures:
        whose = "its" if len(result.failures) == 1 else "their"
        missing = f"{len(result.failures)} of {result.units} units could not be read"
        text.append(f"\n{missing}; {whose} series are not among the rows", "bold red")
    reasons = _reasons(result)
    for status, (where, reason) in reasons.items():
        text.append(f"\n{status}, as in {where}: {reason}", "dim")
    told = (remedy(status, result) for status in reasons)
    for line in filter(None, told):
        text.append(f"\n{line}")
    for sentence in result.advice:
        text.append(f"\n{sentence}")
    return text


def remedy(status: str, result: BatchResult) -> str:
    """Return the option that helps series of such a status, and how; empty if none does."""
    code, options = result.codes.get(status), result.options
    if status == Status.NAN_SCORE and options.nan == "raise":
        return "--nan ignore leaves out the time of samples without a score"
    if code in OUT_OF_ORDER:
        return {"error": DISORDER_HINT, "sort": _KEPT}.get(options.disorder, "")
    return OFFSETS if code == "mixed_zones" else ""


def _reasons(result: BatchResult) -> dict[str, tuple[str, str]]:
    """Return the first row of each trouble: whose it is, and the reason."""
    first: dict[str, tuple[str, str]] = {}
    names = dict.fromkeys((*result.options.by, _DETECTOR))
    columns = [result.table.column(name).to_pylist() for name in (*names, "status", "reason")]
    for *key, status, reason in zip(*columns, strict=True):
        if status not in _SAID_BY_COUNTS and status not in first:
            where = ", ".join(plain_name(str(part), _LONGEST_NAME) for part in key)
            first[status] = where, reason
    return first


def _troubles(series: Iterable[list[str]]) -> list[str]:
    """Count the series in each trouble; apart, those in which only some detectors are."""
    everywhere: dict[str, int] = {}
    somewhere: dict[str, int] = {}
    for statuses in series:
        for status in dict.fromkeys(statuses):
            counts = everywhere if statuses.count(status) == len(statuses) else somewhere
            counts[status] = counts.get(status, 0) + 1
    return [
        f"{counts[status]} {STATUSES[status]}{suffix}"
        for counts, suffix in ((everywhere, ""), (somewhere, " for some detectors"))
        for status in sorted(counts, key=lambda one: -counts[one])
        if status != Status.OK
    ]


def _print_leaderboard(result: BatchResult, board: list[dict[str, Any]], console: Console) -> None:
    """Print the detectors, best first, with every number beside its level of chance, if any."""
    shown = board[:_MOST_DETECTORS]
    summary = {row[_DETECTOR]: row for row in result.summary().to_pylist()}
    rows = [summary[row[_DETECTOR]] for row in shown]
    ranks = [number_text(x) if isfinite(x) else UNDEFINED for x in (row["rank"] for row in shown)]
    columns = [
        screen.texts("#", ranks),
        screen.names(_DETECTOR, [str(row[_DETECTOR]) for row in shown]),
    ]
    if result.options.has_affiliation:
        columns += _outcome_columns(rows)
    known = [f"{row['series'] - row['undefined']}/{row['series']}" for row in shown]
    counts = [
        screen.texts("best", [row["best_on"] for row in shown], joined=True),
        screen.texts("series", known, joined=True),
    ]
    for metric in _ordered_metrics(result):
        columns.append(_mean_column(metric, rows))
        level = result.options.chance_of(metric)
        if level is not None:
            columns.append(_mean_column(level, rows))
        if metric == "affiliation_f1" and result.options.retune is not None:
            columns.append(_mean_column(_RETUNED, rows))
        if metric == "affiliation_f1" and result.options.shows_best:
            columns.append(_mean_column(_BEST, rows))
        columns += counts
        counts = []  # they are of the first metric
    screen.print_table(console, columns, keys=2)
    if len(board) > len(shown):
        hidden = counted(len(board) - len(shown), "more detector")
        console.print(Text(f"\n... and {hidden}; `--format json` has all.", style="bold"))
    console.print()


def _outcome_columns(rows: list[dict[str, Any]]) -> list[screen.Column]:
    """Return the events caught of all, by chance, the time in alarm, and the false alarms."""
    caught = [
        Text.assemble(
            f"{row['caught']}/{row['pooled_events']}",
            (f" ({level_text(row['chance_caught'])})", "dim"),
        )
        for row in rows
    ]
    shares = [row["mean_alarmed"] for row in rows]
    alarmed = [UNDEFINED if isnan(share) else percent_text(share) for share in shares]
    columns = [screen.Column("caught", caught), screen.texts("in alarm", alarmed)]
    rates = [row["false_alarms_per_day"] for row in rows]
    if any(isfinite(rate) for rate in rates):
        cells = [f"{rate:.3g}" if isfinite(rate) else UNDEFINED for rate in rates]
        return [*columns, screen.texts("false/day", cells)]
    return [*columns, screen.texts("false", [row["false_alarms"] for row in rows])]


def _mean_column(name: str, rows: list[dict[str, Any]]) -> screen.Column:
    chance = name.startswith("chance") or name == _RETUNED
    cells = []
    for value in (row[f"mean_{name}"] for row in rows):
        if chance or not isfinite(value):
            cells.append(Text(score_or_dash(value), "dim"))
        elif name.startswith("affiliation") or name == _BEST:
            cells.append(screen.score_cell(value, None if name == "affiliation_f1" else ""))
        else:
            cells.append(Text(number_text(round(value, 4))))
    return screen.Column(_heading(name), cells, joined=chance)


def _print_intervals(
    result: BatchResult,
    table: pa.Table,
    ranked: list[str],
    headings: Mapping[str, str],
    *,
    level: float,
    console: Console,
) -> None:
    """Print the first numbers under their headings, and the leads, with their limits."""
    rows = table.to_pylist()
    means, first = dict(list(headings.items())[:_MOST_NUMBERS]), next(iter(headings))
    pooled = {} if {row["number"] for row in rows}.isdisjoint(_POOLED) else _POOLED
    shown = [row for row in rows if row["number"] in means | pooled]
    pairs = [row for row in shown if row["against"]]
    cautions = dict.fromkeys(row["caution"] for row in pairs or shown if row["caution"])
    print_intervals(
        console,
        rows,
        ranked,
        filter(None, (means, pooled)),
        level=level,
        over="series",
        cautions=list(cautions)[:_MOST_CAUTIONS],
        headline=first,
        needed=lambda one, other: result.series_needed(
            one, other, first.removeprefix("mean_"), level=level
        ),
        rest="`--format json` has all",
    )
    if len(headings) > len(means):
        hidden = counted(len(headings) - len(means), "more number")
        console.print(Text(f"... and {hidden}; `--format json` has all.\n", style="bold"))


def _print_ranks(ranks: Ranks, console: Console) -> None:
    """Print average ranks with the groups that are not told apart, and every pair."""
    console.print(Text(f"Ranks by {ranks.metric}\n", style="bold"))
    columns = [
        screen.names(_DETECTOR, ranks.detectors),
        screen.texts("avg. rank", [f"{rank:.2f}" for rank in ranks.average_rank]),
        screen.Column("groups", [*map(Text, ranks.groups)], "left"),
        screen.texts("mean", [number_text(round(value, 4)) for value in ranks.mean]),
        screen.texts("best", ranks.best_on, joined=True),
    ]
    screen.print_table(console, columns)
    console.print()
    pairs = ranks.pairs[:MOST_PAIRS]
    columns = [
        screen.names("first", [pair.first for pair in pairs]),
        screen.names("second", [pair.second for pair in pairs]),
        screen.texts("wins/ties/losses", [*map(wins_text, pairs)]),
        screen.texts("effect", [f"{pair.effect:+z.2f}" for pair in pairs]),
        screen.texts("p-value", [pvalue_text(pair.pvalue) for pair in pairs]),
        screen.Column(
            "corrected",
            [Text(pvalue_text(pair.corrected), "green" if pair.apart else "") for pair in pairs],
        ),
    ]
    screen.print_table(console, columns, keys=2)
    if len(ranks.pairs) > len(pairs):
        hidden = counted(len(ranks.pairs) - len(pairs), "more pair")
        console.print(Text(f"... and {hidden}; `--format json` has all.", style="bold"))
    console.print(Text(f"\n{ranks.text}"))
    console.print(Text(_GROUPS, style="dim"))


def _print_meaning(result: BatchResult, metrics: list[str], console: Console) -> None:
    way = "highest" if result.options.metric_of(metrics[0]).higher_is_better else "lowest"
    name = _heading(metrics[0])
    lines = [
        f"Scores are means over the series that have one; best: on how many {name} is the {way}."
    ]
    lines += filter(None, [result.length_units])
    if result.options.has_affiliation:
        dated = pc.any(pc.is_finite(result.table.column("evaluated_days"))).as_py()
        lines.insert(0, _CAUGHT.format(", a day of evaluated time" if dated else ""))
        lines += [_CHANCE, _SILENT]
    if result.options.retune is not None:
        lines.append(_RETUNING)
    if result.options.time is not None:
        lines.append(_LAST_SAMPLE)
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
    if rule.is_optimistic:
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
