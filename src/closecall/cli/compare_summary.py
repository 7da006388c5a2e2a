"""What `closecall compare` prints: the detectors, the events, the pairs and the ensembles."""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.affiliation.result import covered_share
from closecall.cli import words
from closecall.cli.compare_events import BEST, TIED, add_events
from closecall.cli.compare_intervals import add_intervals
from closecall.cli.compare_ranks import comparable, ranked_pairs
from closecall.cli.compile_notice import compile_notice
from closecall.cli.event_table import score_style
from closecall.cli.leads import MOST_PAIRS
from closecall.cli.summary import coverage_text
from closecall.cli.tables import Column, Grid, Page, name_column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from closecall.cli.tables import Names, Part
    from closecall.compare import Comparison, ComparisonIntervals, Ensemble, PairComparison

_SHOWN_NUMBERS = 30
_MOST_SENTENCES = 6  # unless all are asked for
_SEVERAL = 2
_UNIT = "Times are in the units of the input: samples, if it has no times."
_LEGEND = f"""\
{BEST}: the highest F1 of the event; {TIED}: the highest, and shared
chance: mean F1 of as many alarms at random times
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
    page = Page(comparison.names, console)
    _add_detectors(page, comparison)
    add_events(page, comparison, most=most)
    page.text()
    _add_pairs(page, comparison, show_all=most is None)
    page.text()
    if intervals is not None:
        add_intervals(page, comparison, intervals, show_all=most is None)
        page.text()
    _add_ensembles(page, comparison)
    console.print(_headline(comparison))
    page.print()
    console.print()
    long = {name: covered_share(result.events) for name, result in comparison.results.items()}
    console.print(Text("\n".join(filter(None, (coverage_text(long), _LEGEND))), style="dim"))
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


def _add_detectors(page: Page, comparison: Comparison) -> None:
    rows = comparison.detectors
    with compile_notice():
        levels = [result.chance.f1 for result in comparison.results.values()]

    def keys(short: Names) -> list[Column]:
        return [name_column("detector", comparison.names, short)]

    chance = Column("chance", [Text(_score(level).plain, style="dim") for level in levels])
    groups = [
        [_scores("prec.", [row.precision for row in rows])],
        [_scores("recall", [row.recall for row in rows])],
        [_scores("F1", [row.f1 for row in rows]), chance],
        [_texts("alarms", [row.alarms for row in rows])],
        [_texts("found", [row.found for row in rows])],
        [_texts("alone", [row.found_alone for row in rows])],
        [
            _texts("best", [row.best for row in rows]),
            _texts("tied", [row.tied for row in rows]),
        ],
    ]
    if any(row.threshold is not None for row in rows):
        cuts = [row.threshold for row in rows]
        texts = [words.UNDEFINED if cut is None else f"{cut:.6g}" for cut in cuts]
        groups.append([_texts("threshold", texts)])
    page.add(page.split(keys, groups))
    page.text()


def _scores(heading: str, values: Iterable[float]) -> Column:
    return Column(heading, [_score(value) for value in values])


def _texts(heading: str, values: Iterable[Any]) -> Column:
    return Column(heading, [Text(str(value)) for value in values])


def _score(value: float) -> Text:
    text = words.score(value if isfinite(value) else None)
    return Text(text, style=score_style(text))


def _add_pairs(page: Page, comparison: Comparison, *, show_all: bool) -> None:
    """Add one row per pair, the best detectors first; sentences where rows are too wide."""
    names = ranked_pairs(comparison)
    pairs = [comparison.pair(*two) for two in names[: None if show_all else MOST_PAIRS]]
    page.text("Two by two: on how many events the first is ...\n", "bold")
    few = pairs if show_all else pairs[:_MOST_SENTENCES]
    page.add(
        [partial(_pair_table, pairs), *_more_pairs(len(names) - len(pairs))],
        [*(partial(_pair_sentence, pair) for pair in few), *_more_pairs(len(names) - len(few))],
    )


def _more_pairs(hidden: int) -> list[Part]:
    text = Text(f"... and {hidden} more pairs; `--all` shows all.", style="bold")
    return [lambda _: text] if hidden else []


def _pair_table(pairs: list[PairComparison], short: Names) -> Grid:
    counts = {
        "better\nin both": [pair.better_both for pair in pairs],
        "only in\nprecision": [pair.better_precision for pair in pairs],
        "only in\nrecall": [pair.better_recall for pair in pairs],
        "equivocal": [pair.equivocal for pair in pairs],
        "equal": [pair.equal for pair in pairs],
        "worse": [pair.worse for pair in pairs],
        "missed by\nfirst": [pair.missed_by_first for pair in pairs],
        "second": [pair.missed_by_second for pair in pairs],
        "both": [pair.missed_by_both for pair in pairs],
    }
    return Grid(
        [
            name_column("first\ndetector", [pair.first for pair in pairs], short),
            name_column("second\ndetector", [pair.second for pair in pairs], short),
            *(_texts(heading, values) for heading, values in counts.items()),
        ]
    )


def _pair_sentence(pair: PairComparison, short: Names) -> Text:
    first, second = short[pair.first], short[pair.second]
    return Text.assemble(
        (first, "bold cyan"),
        " against ",
        (second, "bold cyan"),
        f": better on {pair.better} ({pair.better_both} in both, {pair.better_precision} only in "
        f"precision, {pair.better_recall} only in recall), equivocal on {pair.equivocal}, equal on "
        f"{pair.equal}, worse on {pair.worse}; missed by {first}: {pair.missed_by_first}, by "
        f"{second}: {pair.missed_by_second}, by both: {pair.missed_by_both}",
    )


def _add_ensembles(page: Page, comparison: Comparison) -> None:
    """Add the ensembles; their names are on several lines where there is no room."""
    shown = [comparison.best_pair("union"), comparison.best_pair("intersection")]
    title = "Taken together"
    if len(comparison.names) > _SEVERAL:
        title += ": the best two, and all"
        shown += [comparison.ensemble(how="union"), comparison.ensemble(how="intersection")]
        shown += [comparison.ensemble(how="vote")]
    page.text(f"{title}\n", "bold")
    plain = [ensemble.to_dict() for ensemble in shown]
    columns = [
        _scores("prec.", [ensemble.precision for ensemble in shown]),
        _scores("recall", [ensemble.recall for ensemble in shown]),
        _scores("F1", [ensemble.f1 for ensemble in shown]),
        _texts("alarms", [one["alarms"] for one in plain]),
        _texts("missed", [one["missed"] for one in plain]),
    ]

    def keys(spaces: tuple[str, str], short: Names) -> list[Column]:
        names = [Text(_ensemble_name(ensemble, short, spaces)) for ensemble in shown]
        return [Column("ensemble", names, right=False)]

    page.add(
        page.split(partial(keys, (" ", " ")), [columns]),
        page.split(partial(keys, (" ", "\n")), [columns]),
        page.split(
            partial(keys, ("\n", "\n")), [[column] for column in columns[:3]] + [columns[3:]]
        ),
    )
    page.add([partial(_verdict, comparison, shown)])


def _ensemble_name(ensemble: Ensemble, short: Names, spaces: tuple[str, str] = (" ", " ")) -> str:
    """Say what is taken together; the spaces before "of" and "and" may be ends of lines."""
    rule = f"at least {ensemble.votes}" if ensemble.how == "vote" else ensemble.how
    of, then = spaces
    if len(ensemble.names) > _SEVERAL:
        return f"{rule}{of}of all {len(ensemble.names)}"
    return f"{rule}{of}of " + f"{then}and ".join(short[name] for name in ensemble.names)


def _verdict(comparison: Comparison, shown: list[Ensemble], short: Names) -> Text:
    """Say whether any of these is better than the best detector alone."""
    alone = max(comparison.detectors, key=lambda row: comparable(row.f1))
    together = max(shown, key=lambda row: comparable(row.f1))
    if not isfinite(together.f1):
        return Text("Nobody predicts anything.", "bold yellow")
    name = short[alone.name]
    if together.f1 > alone.f1:
        return Text(
            f"Better than the best detector alone, {name} with {words.score(alone.f1)}: "
            f"{_ensemble_name(together, short)} with {words.score(together.f1)}.",
            "bold green",
        )
    return Text(f"None of these is better than {name} alone, with {words.score(alone.f1)}.", "bold")
