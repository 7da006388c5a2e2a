"""What `closecall compare` prints: the detectors, the events, the pairs and the ensembles."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from rich.text import Text

from closecall.cli import words
from closecall.cli.compare_events import BEST, TIED, compared_events
from closecall.cli.compare_intervals import print_intervals
from closecall.cli.compare_layout import (
    MOST_PAIRS,
    NAME_WIDTHS,
    comparable,
    fitting,
    headed_table,
    ranked_pairs,
)
from closecall.cli.event_table import score_style
from closecall.cli.names import plain_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from closecall.compare import Comparison, ComparisonIntervals, Ensemble, PairComparison

_SHOWN_NUMBERS = 30
_MOST_SENTENCES = 6  # unless all are asked for
_SEVERAL = 2
_UNIT = "Times are in the units of the input: samples, if it has no times."
_LEGEND = f"""\
{BEST}: the highest F1 of the event; {TIED}: the highest, and shared
found: events with an alarm in their zone
alone: events that nobody else finds
best, tied: events on which the detector has the highest F1, or shares it
equivocal: of precision and recall, one is higher and the other lower
better, worse, equivocal: only events that both detectors find"""


def print_comparison(
    comparison: Comparison,
    intervals: ComparisonIntervals | None,
    console: Console,
    *,
    most: int | None,
) -> None:
    """Print every part, and what the columns mean."""
    console.print(_headline(comparison))
    console.print(fitting(lambda longest: _detectors(comparison, longest), console)[0])
    console.print()
    _print_events(comparison, console, most)
    console.print()
    _print_pairs(comparison, console, show_all=most is None)
    console.print()
    if intervals is not None:
        print_intervals(comparison, intervals, console, show_all=most is None)
        console.print()
    _print_ensembles(comparison, console)
    console.print()
    console.print(Text(_LEGEND, style="dim"))
    if comparison.decimals is not None:
        places = f"{comparison.decimals} decimal{'' if comparison.decimals == 1 else 's'}"
        console.print(Text(f"Scores are rounded to {places} before they are compared.", "dim"))
    first = next(iter(comparison.results.values()))
    if first.events.start.dtype.kind != "M":
        console.print(Text(_UNIT, style="dim"))


def _headline(comparison: Comparison) -> Text:
    events = len(comparison.best)
    numbers = [number + 1 for number in comparison.missed_by_all]
    if not numbers:
        missed = Text("every one is found by somebody", "green")
    else:
        missed = Text(f"nobody finds {_listed(numbers)}", "bold red")
    plural = "" if events == 1 else "s"
    return Text.assemble((f"{events} true event{plural}", "bold"), "; ", missed, "\n")


def _listed(numbers: list[int]) -> str:
    shown = [f"#{number}" for number in numbers[:_SHOWN_NUMBERS]]
    hidden = len(numbers) - len(shown)
    if hidden:
        return f"{', '.join(shown)} and {hidden} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


def _detectors(comparison: Comparison, longest: int) -> Table:
    cut = any(row.threshold is not None for row in comparison.detectors)
    narrow = longest == min(NAME_WIDTHS)
    columns = ["found", "best"] if narrow else ["alarms", "found", "alone", "best", "tied"]
    columns += ["threshold"] if cut else []
    table = headed_table(["detector", "prec.", "recall", "F1", *columns])
    for row in comparison.detectors:
        cells = {
            "alarms": str(row.alarms),
            "found": str(row.found),
            "alone": str(row.found_alone),
            "best": str(row.best),
            "tied": str(row.tied),
            "threshold": words.UNDEFINED if row.threshold is None else f"{row.threshold:.6g}",
        }
        table.add_row(
            Text(plain_name(row.name, longest), style="bold cyan"),
            *(_score(value) for value in (row.precision, row.recall, row.f1)),
            *(cells[name] for name in columns),
        )
    return table


def _score(value: float) -> Text:
    text = words.score(value if isfinite(value) else None)
    return Text(text, style=score_style(text))


def _print_events(comparison: Comparison, console: Console, most: int | None) -> None:
    table, offset = compared_events(comparison, width=console.width, most=most)
    console.print(table)
    if offset:
        console.print(Text(f"Times are at UTC{offset}.", style="dim"))
    hidden = 0 if most is None else len(comparison.best) - most
    if hidden > 0:
        console.print(Text(f"... and {hidden} more events; `--all` shows all.", style="bold"))


def _print_pairs(comparison: Comparison, console: Console, *, show_all: bool) -> None:
    """Print one row per pair, the best detectors first; sentences where rows are too wide."""
    names = ranked_pairs(comparison)
    pairs = [comparison.pair(*two) for two in names[: None if show_all else MOST_PAIRS]]
    console.print(Text("Two by two: on how many events the first is ...\n", style="bold"))
    table, fits = fitting(lambda longest: _pair_table(pairs, longest), console)
    if fits:
        console.print(table)
    else:
        pairs = pairs if show_all else pairs[:_MOST_SENTENCES]
        for pair in pairs:
            console.print(_pair_sentence(pair))
    hidden = len(names) - len(pairs)
    if hidden:
        console.print(Text(f"... and {hidden} more pairs; `--all` shows all.", style="bold"))


def _pair_table(pairs: list[PairComparison], longest: int) -> Table:
    headings = [
        "first\ndetector",
        "second\ndetector",
        "better\nin both",
        "only in\nprecision",
        "only in\nrecall",
        "\nequivocal",
        "\nequal",
        "\nworse",
        "missed by\nfirst",
        "\nsecond",
        "\nboth",
    ]
    table = headed_table(headings, left=2)
    for pair in pairs:
        missed = (pair.missed_by_first, pair.missed_by_second, pair.missed_by_both)
        better = (pair.better_both, pair.better_precision, pair.better_recall)
        counts = (*better, pair.equivocal, pair.equal, pair.worse, *missed)
        names = (plain_name(name, longest) for name in (pair.first, pair.second))
        table.add_row(*(Text(name, "bold cyan") for name in names), *map(str, counts))
    return table


def _pair_sentence(pair: PairComparison) -> Text:
    first, second = (plain_name(name, NAME_WIDTHS[0]) for name in (pair.first, pair.second))
    return Text.assemble(
        (first, "bold cyan"),
        " against ",
        (second, "bold cyan"),
        f": better on {pair.better} ({pair.better_both} in both, {pair.better_precision} only in "
        f"precision, {pair.better_recall} only in recall), equivocal on {pair.equivocal}, equal on "
        f"{pair.equal}, worse on {pair.worse}; missed by {first}: {pair.missed_by_first}, by "
        f"{second}: {pair.missed_by_second}, by both: {pair.missed_by_both}",
    )


def _print_ensembles(comparison: Comparison, console: Console) -> None:
    shown = [comparison.best_pair("union"), comparison.best_pair("intersection")]
    title = "Taken together"
    if len(comparison.names) > _SEVERAL:
        title += ": the best two, and all"
        shown += [comparison.ensemble(how="union"), comparison.ensemble(how="intersection")]
        shown += [comparison.ensemble(how="vote")]
    console.print(Text(f"{title}\n", style="bold"))
    table, _ = fitting(lambda longest: _ensembles(shown, longest), console)
    console.print(table)
    console.print(_verdict(comparison, shown))


def _ensembles(shown: list[Ensemble], longest: int) -> Table:
    table = headed_table(["ensemble", "prec.", "recall", "F1", "alarms", "missed"])
    for ensemble in shown:
        scores = (_score(value) for value in (ensemble.precision, ensemble.recall, ensemble.f1))
        name = _ensemble_name(ensemble, longest)
        plain = ensemble.to_dict()
        table.add_row(Text(name), *scores, str(plain["alarms"]), str(plain["missed"]))
    return table


def _ensemble_name(ensemble: Ensemble, longest: int) -> str:
    rule = f"at least {ensemble.votes}" if ensemble.how == "vote" else ensemble.how
    if len(ensemble.names) > _SEVERAL:
        return f"{rule} of all {len(ensemble.names)}"
    return f"{rule} of {' and '.join(plain_name(name, longest) for name in ensemble.names)}"


def _verdict(comparison: Comparison, shown: list[Ensemble]) -> Text:
    """Say whether any of these is better than the best detector alone."""
    alone = max(comparison.detectors, key=lambda row: comparable(row.f1))
    together = max(shown, key=lambda row: comparable(row.f1))
    if not isfinite(together.f1):
        return Text("Nobody predicts anything.", "bold yellow")
    name = plain_name(alone.name, NAME_WIDTHS[0])
    if together.f1 > alone.f1:
        return Text(
            f"Better than the best detector alone, {name} with {words.score(alone.f1)}: "
            f"{_ensemble_name(together, NAME_WIDTHS[0])} with {words.score(together.f1)}.",
            "bold green",
        )
    return Text(f"None of these is better than {name} alone, with {words.score(alone.f1)}.", "bold")
