"""`closecall compare`: several detectors against the truth and each other, from files."""

from __future__ import annotations

from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from closecall.affiliation.result import headlines, ignored_to_dict
from closecall.cli import options, screen
from closecall.cli.intervals import MOST_PAIRS, print_intervals
from closecall.compare import compare as run
from closecall.wording import counted, event_length_text, plain_name, score_text

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.affiliation.rules import ThresholdRule
    from closecall.cli.output import Output
    from closecall.compare import Comparison, ComparisonIntervals, Ensemble
    from closecall.tables.series import Inputs

_HELP = """\
Compare detectors event by event: who is better, on which events, and what two give together.

TRUTH and DETECTORS are CSV or Parquet files, plain or gzipped; `-` is standard input. Give
only TRUTH if it has all columns. The truth is a 0/1 column, or a list of events with columns
`start` and `stop` (or any two, as START,STOP). A detector is a 0/1 column (--predicted), or a
column of scores (--score), which is cut at the threshold with its own best F1, or by --threshold:
a number or a rule of `closecall curve`, for all or as COLUMN=RULE. Detectors go by the names of
their columns.
Times are numbers or ISO 8601.

\b
Examples:
  closecall compare results.csv --truth label --predicted mine --predicted theirs
  closecall compare results.csv --truth label --score mine --score theirs --time timestamp
  closecall compare results.csv --truth label --score a --score b --threshold quantile:0.99
  closecall compare results.csv --truth label --score a --score b --threshold a=0.7
  closecall compare results.csv --truth label --predicted a --predicted b --decimals 2
  closecall compare results.csv --truth label --predicted a --predicted b --intervals
"""
_BEST, _TIED = "*", "="
_REST = "`--all` shows all"
_MOST_NUMBERS = 30  # of events that all miss
_FEWEST_EVENTS = 5  # that are shown, however many detectors there are
_SEVERAL = 2
_SCORE = 5  # cells of a score, which a mark may follow
_SCORES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_UNIT = "Times are in the units of the input: samples, if it has no times."
_LEGEND = f"""\
{_BEST}: the highest F1 of the event; {_TIED}: the highest, and shared
by chance: mean F1 with alarms or events shifted in time
missed: no alarm overlaps the event, or comes close to it
alone: events that no other detector caught
best, tied: events on which the detector has the highest F1, or shares it
equivocal: of precision and recall, one is higher and the other lower
better, worse, equivocal, equal: only events with alarms of both in their zone"""


@click.command(cls=options.Command, help=_HELP)
@options.inputs("DETECTORS", options.predicted, options.score, options.thresholds, nan=True)
@options.option(
    "--decimals N", "Round the scores of events to N decimals before they are compared.", type=int
)
@options.by_column
@options.intervals(
    "Say how sure the scores and their differences are, given so many events.",
    options.option(
        "--block N",
        "Take N consecutive events together in them, where events depend on each other.",
        type=click.IntRange(1, 1_000_000),
    ),
)
@options.output(
    "json holds everything; csv one row per event and detector, or the intervals if asked for; "
    "latex a table of the detectors.",
    "latex",
    show_all=True,
)
def compare(
    *,
    inputs: Inputs,
    predicted: tuple[str, ...],
    scores: tuple[str, ...],
    decimals: int | None,
    by_column: tuple[str, ...],
    thresholds: tuple[tuple[str | None, ThresholdRule], ...],
    settings: dict[str, Any] | None,
    output: Output,
) -> None:
    """Compare several detectors, from files."""
    series = inputs.read(predicted, scores, fewest=2)
    given = options.read_thresholds(thresholds, series.sides.scores)
    result = run(**series.arguments, close=inputs.close, thresholds=given, decimals=decimals)
    intervals = None if settings is None else result.intervals(**settings)
    pair = next(iter(result.results.values())).events.pair
    on_time = pair if result.on_one_time else series.in_span
    noted = [*screen.notes(series, result.results), *result.notes]
    more = {"headlines": headlines(result.results), "notes": noted, **ignored_to_dict(on_time)}
    counted_by = [screen.counts_by(scored, by_column) for scored in result.results.values()]
    counts = [
        {"detector": name} | row
        for rows in zip(*counted_by, strict=True)
        for name, row in zip(result.results, rows, strict=True)
    ]
    more |= {"by_column": counts} if counts else {}
    more |= {} if intervals is None else {"intervals": intervals.to_dict()}
    output.write(
        table=lambda console: _print_comparison(
            result, noted, counts, intervals, console, most=output.most
        ),
        values=lambda: result.to_dict() | more,
        rows=lambda: _rows(result) if intervals is None else intervals.rows(),
        latex=lambda note: result.to_latex(note=note, **(settings or {})),
        signature=result.signature.adding(**series.reading.signed).drawing(**(settings or {})),
    )


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return one row per event and detector, as plain values."""
    events = {name: list(result.events.flat_rows()) for name, result in comparison.results.items()}
    return [
        {"event": event, "detector": name, **rows[event], "best": name in best}
        for event, best in enumerate(comparison.best)
        for name, rows in events.items()
    ]


def _print_comparison(
    comparison: Comparison,
    noted: list[str],
    counts: list[dict[str, Any]],
    intervals: ComparisonIntervals | None,
    console: Console,
    *,
    most: int | None,
) -> None:
    """Print the detectors, the events, the pairs and the ensembles, and what the columns mean."""
    most_pairs = None if most is None else MOST_PAIRS
    console.print(_headline(comparison))
    rows = comparison.detectors
    columns = [
        screen.texts("missed", [row.missed for row in rows]),
        screen.texts("alone", [row.caught_alone for row in rows]),
        screen.texts("best", [row.best for row in rows]),
        screen.texts("tied", [row.tied for row in rows], joined=True),
    ]
    screen.print_detectors(comparison.results, comparison.thresholds, noted, console, *columns)
    console.print()
    _print_events(comparison, console, most)
    screen.print_counts(counts, console)
    console.print()
    _print_pairs(comparison, console, most_pairs)
    if intervals is not None:
        _print_intervals(comparison, intervals, console, None if most is None else _REST)
    if comparison.on_one_time:
        _print_ensembles(comparison, console)
    lines = ["", _LEGEND]
    if comparison.decimals is not None:
        places = counted(comparison.decimals, "decimal")
        lines.append(f"Scores are rounded to {places} before they are compared.")
    first = next(iter(comparison.results.values()))
    if first.events.start.dtype.kind != "M":
        lines.append(_UNIT)
    console.print(Text("\n".join(lines), style="dim"))


def _headline(comparison: Comparison) -> Text:
    lost = [f"#{number + 1}" for number in comparison.missed_by_all]
    if not lost:
        text = Text("none is missed by all", "green")
    else:
        shown, hidden = lost[:_MOST_NUMBERS], len(lost) - _MOST_NUMBERS
        last = f"{hidden} more" if hidden > 0 else shown.pop()
        text = Text(f"all miss {' and '.join(filter(None, (', '.join(shown), last)))}")
        text.stylize("bold red")
    events = counted(len(comparison.best), "true event")
    return Text.assemble((events, "bold"), "; ", text, "\n")


def _print_events(comparison: Comparison, console: Console, most: int | None) -> None:
    """Print one row per event and detector; fewer events if there are many detectors."""
    total, several = len(comparison.best), len(comparison.names)
    count = total if most is None else min(total, max(2 * most // several, _FEWEST_EVENTS), most)
    rows = _rows(comparison)[: count * several]
    dated = isinstance(rows[0]["start"], str)
    numbers, lengths, f1 = [], [], []
    for place, row in enumerate(rows):
        event, detector = divmod(place, several)
        first = detector == 0
        numbers.append(event + 1 if first else "")
        lengths.append(event_length_text(row["start"], row["stop"]) if first else "")
        cell = screen.score_cell(row["f1"])
        cell.pad_left(_SCORE - cell.cell_len)
        if row["best"]:
            cell.stylize("bold")
            cell.append(_BEST if len(comparison.best[event]) == 1 else _TIED)
        f1.append(cell)

    def columns(*, with_year: bool, broken: bool) -> tuple[list[screen.Column], str]:
        all_starts, offset = screen.start_texts([row["start"] for row in rows], with_year=with_year)
        starts = [text if numbers[place] else "" for place, text in enumerate(all_starts)]
        shown = [
            screen.texts("#", numbers),
            screen.Column("start", [*map(Text, starts)], "left" if dated else "right"),
            screen.texts("lasts", lengths),
            screen.names("detector", [row["detector"] for row in rows]),
            screen.outcomes(rows, broken=broken),
            screen.scores("prec.", [row["precision"] for row in rows]),
            screen.scores("recall", [row["recall"] for row in rows]),
            screen.Column("F1".rjust(_SCORE), f1, "left"),
        ]
        return shown, offset

    ways = ((True, False), (False, False), (False, True))
    tables = (columns(with_year=with_year, broken=broken) for with_year, broken in ways)
    screen.print_first_that_fits(console, tables, keys=4)
    screen.print_more(total - count, " events", console)


def _ranked(comparison: Comparison) -> list[str]:
    """Return the detectors, that with the highest F1 first."""
    ranked = sorted(comparison.detectors, key=lambda row: -_comparable(row.f1))
    return [row.name for row in ranked]


def _comparable(score: float) -> float:
    return -1.0 if isnan(score) else score


def _print_pairs(comparison: Comparison, console: Console, most: int | None) -> None:
    every = list(combinations(_ranked(comparison), 2))
    pairs = [comparison.pair(*two) for two in every[:most]]
    console.print(Text("Two by two: on how many events the first is ...\n", style="bold"))
    columns = [
        screen.names("first\ndetector", [pair.first for pair in pairs]),
        screen.names("second\ndetector", [pair.second for pair in pairs]),
        screen.texts("better\nin both", [pair.better_both for pair in pairs]),
        screen.texts("only in\nprecision", [pair.better_precision for pair in pairs]),
        screen.texts("only in\nrecall", [pair.better_recall for pair in pairs]),
        screen.texts("equivocal", [pair.equivocal for pair in pairs]),
        screen.texts("equal", [pair.equal for pair in pairs]),
        screen.texts("worse", [pair.worse for pair in pairs]),
        screen.texts("missed by\nfirst", [pair.missed_by_first for pair in pairs]),
        screen.texts("second", [pair.missed_by_second for pair in pairs], joined=True),
        screen.texts("both", [pair.missed_by_both for pair in pairs], joined=True),
    ]
    screen.print_table(console, columns, keys=2)
    screen.print_more(len(every) - len(pairs), " pairs", console)
    console.print()


def _print_intervals(
    comparison: Comparison, intervals: ComparisonIntervals, console: Console, rest: str | None
) -> None:
    print_intervals(
        console,
        intervals.rows(),
        _ranked(comparison),
        [_SCORES],
        level=intervals.level,
        over="events",
        cautions=[intervals.caution],
        headline="f1",
        needed=intervals.events_needed,
        rest=rest,
    )


def _print_ensembles(comparison: Comparison, console: Console) -> None:
    """Print what detectors score together, and whether that is better than the best alone."""
    shown = [comparison.best_pair("union"), comparison.best_pair("intersection")]
    title = "Taken together"
    if len(comparison.names) > _SEVERAL:
        title += ": the best two, and all"
        shown += [comparison.ensemble(how=how) for how in ("union", "intersection", "vote")]
    console.print(Text(f"{title}\n", style="bold"))
    plain = [ensemble.to_dict() for ensemble in shown]
    columns = [
        screen.Column("ensemble", [Text(_ensemble_name(one)) for one in shown], "left", folds=True),
        screen.scores("prec.", [ensemble.precision for ensemble in shown]),
        screen.scores("recall", [ensemble.recall for ensemble in shown]),
        screen.scores("F1", [ensemble.f1 for ensemble in shown]),
        screen.texts("alarms", [one["alarms"] for one in plain]),
        screen.texts("missed", [one["missed"] for one in plain]),
    ]
    screen.print_table(console, columns)
    alone = max(comparison.detectors, key=lambda row: _comparable(row.f1))
    together = max(shown, key=lambda row: _comparable(row.f1))
    if isnan(together.f1):
        console.print(Text("Nobody predicts anything.", "bold yellow"))
        return
    name, score = plain_name(alone.name), score_text(alone.f1)
    if together.f1 > alone.f1:
        text = (
            f"Better than the best detector alone, {name} with {score}: "
            f"{_ensemble_name(together)} with {score_text(together.f1)}."
        )
        console.print(Text(text, "bold green"))
    else:
        console.print(Text(f"None of these is better than {name} alone, with {score}.", "bold"))


def _ensemble_name(ensemble: Ensemble) -> str:
    rule = f"at least {ensemble.votes}" if ensemble.how == "vote" else ensemble.how
    if len(ensemble.names) > _SEVERAL:
        return f"{rule} of all {len(ensemble.names)}"
    return f"{rule} of {' and '.join(map(plain_name, ensemble.names))}"
