"""`closecall curve`: every threshold of a detector's scores, and the one to choose."""

from __future__ import annotations

import sys
from contextlib import chdir, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.text import Text

from closecall.affiliation.curve import affiliation_curve
from closecall.affiliation.result import fewest_false_alarms, headlines
from closecall.affiliation.rules import rule_notes
from closecall.affiliation.thresholds import Constraints, OperatingPoint, duration_text
from closecall.cli import options, screen
from closecall.cli.output import tested
from closecall.errors import InputError, UndefinedMetricError, reason, with_names
from closecall.fscore import f_measure
from closecall.signature import data_hash, joined_hash
from closecall.tables.reading import write_table
from closecall.tables.scoring import curve_columns, curve_report, same_alarms, threshold_text
from closecall.wording import counted, number_text, percent_text, plain_name, rate_text, score_text

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.affiliation.rules import ThresholdRule
    from closecall.affiliation.thresholds import CrossFitted, ThresholdLimit
    from closecall.chance import ScoresSignificance, Significance
    from closecall.cli.output import Output
    from closecall.clock import Clock
    from closecall.series import Scored
    from closecall.signature import Signature
    from closecall.tables.series import Inputs, SeriesInput

_CROSS_FITTING_HINTS = {
    "few_events": "With so few, one event decides the threshold of all others. Choose the "
    "threshold on another part of the time (--fit-until), or on other series."
}
_PICTURES = (".pdf", ".png", ".svg")
_ROWS = 11  # of the curve; its ends, the best and the chosen point come on top
_HELP = """\
Score every threshold of a detector at once, and choose the best: overall, and for each event.

TRUTH and SCORES are CSV or Parquet files, plain or gzipped; `-` is standard input. Give only
TRUTH if it has both columns. The truth is a 0/1 column, or a list of events with columns
`start` and `stop` (or any two, as START,STOP). A sample is an alarm where its score is at
least the threshold. Without --truth and --score, columns of those names are taken, or a
file's only column. Repeat --score, or give a pattern, for several detectors. Times are numbers
or ISO 8601.

The threshold with the highest F1 (or F-beta; or, with --maximize caught, with the most events
caught, then the fewest false alarms) is chosen, among those that keep all limits:
--min-precision, --min-recall, --max-alarms-per, --max-false-alarms-per and --max-alarmed. It is
chosen on the labels that it is judged by, and so flatters; --cross-fit says by how much, and
--fit-until chooses on one part of the time and judges on the rest.

\b
Rules for --threshold, the first of which is the default:
  best_f1         the highest F1; the only one that looks at the labels
  0.7             a number
  quantile:0.99   the lowest threshold with at most 1 % of the time in alarm
  sigma:3         mean + 3 standard deviations
  mad:3           median + 3 scaled median absolute deviations
  spot:0.001      what a score exceeds with that probability, by peaks over threshold
  alarms:2/week   the lowest threshold that alarms at most so often; also 2/7d, 1/day, 3/100

\b
Examples:
  closecall curve results.csv --truth label --score score --time timestamp
  closecall curve results.csv --truth label --score score --min-precision 0.9 --plot curve.png
  closecall curve incidents.csv scores.parquet --time timestamp --max-alarms-per 2/day
  closecall curve results.csv --truth label --score score --time t --maximize caught \\
    --max-false-alarms-per 2/week
  closecall curve results.csv --truth label --score score --cross-fit
  closecall curve results.csv --truth label --score 'det*' --format json
  closecall curve results.csv --truth label --score score --time t --threshold quantile:0.99 \\
    --fit-until 2024-02-01
  closecall curve results.csv --truth label --score score --points all --format csv
  closecall curve results.csv --truth label --score score --significance
"""
_MOVED = "by chance: means of the same scores, moved; best F1 re-tuned for each move"
_RATES = {"alarms": "alarm", "false_alarms": "false alarm"}


def parse_picture(text: str) -> str:
    """Check the ending of a file to draw into before anything is read."""
    if Path(text).suffix.lower() not in _PICTURES:
        message = f"{text!r} does not end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}."
        raise click.BadParameter(message)
    return text


def parse_points(text: str) -> int | None:
    """Read a number of points; ``all`` and 0 mean every threshold."""
    if text == "all":
        return None
    if not text.isdecimal():
        message = f"{text!r} is neither a whole number nor `all`."
        raise click.BadParameter(message)
    return int(text) or None


@click.command(cls=options.Command, help=_HELP)
@options.inputs("SCORES", options.score, nan=True)
@options.option("--beta B", "Recall weighs B times as much as precision.", type=float, default=1.0)
@options.choice(
    "--maximize",
    "Choose the highest F1 (F-beta), or the most events caught, then the fewest false alarms.",
    "f1",
    "caught",
)
@options.option("--min-precision P", "Least precision, from 0 to 1.", type=float)
@options.option("--min-recall R", "Least recall, from 0 to 1.", type=float)
@options.option(
    "--max-alarms-per COUNT/DURATION",
    "Most alarms: 2/week, 1/day, 5/8h, or 3/100 on a numeric axis.",
)
@options.option("--max-false-alarms-per COUNT/DURATION", "Most alarms that overlap no true event.")
@options.option(
    "--max-alarmed SHARE",
    "Largest share of the time in alarm, from 0 to 1; 0.5 with a budget of alarms.",
    type=float,
)
@options.option(
    "--cooldown DURATION", "Alarms less than that apart count once: 10min, or a number."
)
@options.option(
    "--threshold RULE",
    "Choose by a rule, see above, instead of by the highest F1.",
    "rule",
    type=options.parse_rule,
)
@options.option("--fit-until TIME", "Choose on the time before, and judge on the time after.")
@options.option(
    "--cross-fit [FOLDS]",
    "Score events at thresholds that other events choose, in FOLDS parts (5 if not given).",
    "folds",
    flag_value="5",
    type=click.IntRange(2),
)
@options.option(
    "--points N",
    "About how many points of the curve json and csv hold; `all` for every threshold.",
    type=parse_points,
    default="200",
)
@options.by_column
@options.significance
@options.output("json holds everything; csv one row per point of the curve.", show_all=True)
@options.option("--plot FILE", "Draw the curve there.", "plot_file", type=parse_picture)
def curve(
    *,
    inputs: Inputs,
    scores: tuple[str, ...],
    beta: float,
    maximize: str,
    points: int | None,
    plot_file: str | None,
    rule: ThresholdRule | None,
    fit_until: Any,
    folds: int | None,
    by_column: tuple[str, ...],
    shifts: int | None,
    output: Output,
    **limits: Any,
) -> None:
    """Score every threshold from files, and choose one."""
    asked = Criterion(
        beta,
        limits | {"objective": "caught" if maximize == "caught" else "fbeta"},
        None if rule is None or rule.looks_at_truth else rule,
    )
    limited = beta != 1 or maximize != "f1" or any(x is not None for x in limits.values())
    if asked.rule is not None and limited:
        message = "--threshold chooses alone; limits, --beta and --maximize are of the highest F1."
        raise click.UsageError(message)
    if maximize != "f1" and shifts is not None:
        raise click.UsageError("--significance tests the highest F1; leave out --maximize.")
    if folds is not None and (asked.rule is not None or fit_until is not None):
        message = "--cross-fit is of the highest F1; leave out --threshold and --fit-until."
        raise click.UsageError(message)
    if shifts is not None and output.format == "csv":
        message = "--significance goes with --format table or json; csv holds the curve only."
        raise click.UsageError(message)
    series, fits, fit_until = _read_parts(inputs, scores, fit_until)
    scored = series.detectors.scored
    if len(scored) > 1 and plot_file is not None:
        raise click.UsageError("--plot draws the curve of one --score.")
    chosen = {name: asked.choose(judged, fits[name]) for name, judged in scored.items()}
    results = {name: curve.at(point.threshold) for name, (curve, point) in chosen.items()}
    told, fewest = headlines(results), fewest_false_alarms(results.values())
    found = {
        name: Choice(
            curve,
            point,
            results[name],
            told[name],
            asked.reason(curve, point, fit_until),
            asked.rates(curve, point, fewest),
            counts=screen.counts_by(results[name], by_column),
            limited=bool(asked.kept(curve.scored.clock)),
            fitted=None if folds is None else _cross_fitted(curve, asked, folds),
            # The best F1 is chosen again in each shift, unless other labels or none chose it.
            test=None
            if shifts is None
            else tested(
                curve.scored,
                scores=(),
                threshold=point.threshold if asked.rule or fit_until is not None else "best_f1",
                n=shifts,
            ),
        )
        for name, (curve, point) in chosen.items()
    }
    rules = {} if asked.rule is None else dict.fromkeys(results, asked.rule)
    cuts = {name: point.threshold for name, (_, point) in chosen.items()}
    pairs = {name: result.events.pair for name, result in results.items()}
    noted = [*screen.notes(series, results), *rule_notes(rules, cuts, pairs)]
    first = next(iter(found.values()))
    signature = _signed(found, fits, asked, n=shifts, folds=folds, fit_until=fit_until)
    signature = signature.adding(**series.signed | {"since": inputs.since})
    if plot_file is not None:
        save_curve(first.curve, first.point, plot_file)
    if output.format == "csv":
        points_of_all = _all_points(found, points)
        rows = len(points_of_all["threshold"])
        write_table(points_of_all | {"signature": [str(signature)] * rows}, output.path or "-")
        return
    output.write(
        table=lambda console: _print_choices(found, noted, console, output.most),
        values=lambda: screen.by_detector(
            {name: x.values(points) for name, x in found.items()}, noted
        ),
        rows=list,
        signature=signature,
    )


def _signed(
    found: dict[str, Choice], fits: dict[str, Scored], asked: Criterion, **options: Any
) -> Signature:
    """Return what decided the curves of all detectors, and the thresholds that were chosen."""
    hashes = {}
    for name, choice in found.items():
        judged, fitted = choice.curve.scored, fits[name]
        hashes[name] = data_hash(*((judged,) if fitted is judged else (judged, fitted)))
    rule = "best_f1" if asked.rule is None else asked.rule.signed
    first = next(iter(found.values())).curve.signature
    chosen: dict[str, Any] = {"threshold": rule}
    if asked.rule is None:
        chosen = {"beta": asked.beta, **Constraints(**asked.limits).signed}
    return first.adding(data=joined_hash(hashes), **chosen, **options)


def _read_parts(
    inputs: Inputs, scores: tuple[str, ...], fit_until: Any
) -> tuple[SeriesInput, dict[str, Scored], Any]:
    """Read what thresholds are judged on, and chosen on, until when: all, if that is not said."""
    since = inputs.since
    if fit_until is None:
        series = inputs.read(scores=scores or [None])
        return series, series.detectors.scored, None
    fit_until = replace(inputs, until=fit_until).until  # in the zone of the others
    with suppress(TypeError):  # a number beside a datetime is refused with the times
        if since is not None and since < fit_until:
            raise InputError(
                "not before `fit_until`",
                f"{since} and {fit_until}",
                argument="since",
                hint="A threshold is not judged on the time that it was chosen on.",
            )
    judged = replace(inputs, since=fit_until if since is None else since)
    with with_names({"since": "fit_until"} if since is None else {}):
        series = judged.read(scores=scores or [None])
    part = replace(judged, files=judged.tables, since=None, until=fit_until)
    return series, part.read(scores=[*series.detectors.scored]).detectors.scored, fit_until


@dataclass(frozen=True)
class Choice:
    """A detector's curve, the threshold that was chosen, and what is said of it."""

    curve: AffiliationCurve
    point: OperatingPoint
    at: Affiliation
    """What the threshold gives, event by event."""
    headline: str
    reason: str
    rates: str
    counts: list[dict[str, Any]]
    """By columns of the true events; empty if none were asked for."""
    limited: bool
    fitted: CrossFitted | str | None
    """The cross-fitted score, or why there is none; None if it was not asked for."""
    test: Significance | ScoresSignificance | None

    def values(self, points: int | None) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        report = curve_report(self.curve, self.point, points=points)
        report["chosen"] |= {"headline": self.headline, "reason": self.reason}
        if self.counts:
            report["by_column"] = self.counts
        if isinstance(self.fitted, str):
            report["cross_fitted"] = {"undefined": self.fitted}
        elif self.fitted is not None:
            report["cross_fitted"] = self.fitted.to_dict()
        return report if self.test is None else report | {"significance": self.test.to_dict()}


@dataclass(frozen=True)
class Criterion:
    """What the threshold is to be the best of, or the rule that chooses it."""

    beta: float
    limits: dict[str, Any]
    """The objective is among them."""
    rule: ThresholdRule | None
    """One that does not look at the labels; None for the highest F-beta."""

    def kept(self, clock: Clock) -> list[ThresholdLimit]:
        """Return the limits that were asked for, shares of time last."""
        limits = [] if self.rule is not None else Constraints(**self.limits).limits(clock)
        return sorted(limits, key=lambda limit: limit.column == "alarmed")

    def choose(self, judged: Scored, fit: Scored) -> tuple[AffiliationCurve, OperatingPoint]:
        """Choose a threshold on one part of the time; return it where it is judged."""
        curve = affiliation_curve(judged, None)
        if self.rule is None and fit is judged:
            return curve, curve.best(self.beta, **self.limits)
        if self.rule is not None:
            threshold = self.rule.choose(fit)
        else:
            threshold = affiliation_curve(fit, None).best(self.beta, **self.limits).threshold
        pause = self.limits["cooldown"]
        return curve, curve.operating_point(threshold, self.beta, cooldown=pause)

    def reason(self, curve: AffiliationCurve, chosen: OperatingPoint, fit_until: Any) -> str:
        """Say exactly what the threshold is."""
        if self.rule is not None:
            what = self.rule.words[0].upper() + self.rule.words[1:]
        else:
            clock = curve.scored.clock
            limits = " and ".join(map(_limit_text, self.kept(clock)))
            best = f"The highest {_name(chosen)}"
            if self.limits["objective"] == "caught":
                best = "The most events caught, then the fewest false alarms,"
            what = f"{best}{f' with {limits}' if limits else ''}"
            if not limits and fit_until is None:
                what += f" of {counted(len(curve), 'threshold')}"
            pause = Constraints(**self.limits).cooldown_ticks(clock)
            if pause:
                what += f", alarms less than {duration_text(pause, clock)} apart counted once"
        if fit_until is None:
            return f"{what}."
        if self.rule is not None and self.rule.kind == "number":
            return f"{what}, judged after {fit_until}."
        return f"{what}, chosen before {fit_until}, judged after."

    def rates(self, curve: AffiliationCurve, chosen: OperatingPoint, fewest: int) -> str:
        """Say how often and how long there are alarms, in the unit that was asked for."""
        scored, told = curve.scored, []
        for limit in self.kept(scored.clock):
            if limit.column in _RATES:
                count = getattr(chosen, limit.column)
                rate = f"{count * limit.scale / (scored.stop - scored.start):.2g}"
                noun = f"{_RATES[limit.column]}{'' if rate == '1' else 's'}"
                told.append(f"{rate} {noun}{limit.unit} (at most {limit.bound:g} asked)")
        if not told:
            dated = scored.clock.kind == "datetime"
            length = (scored.stop - scored.start) * (scored.clock.seconds if dated else 1.0)
            told.append(rate_text(chosen.alarms, "alarm", length, dated=dated, fewest=fewest))
        joined = "" if self.limits["cooldown"] is None else "Counted so: "
        return f"{joined}{', '.join(told)}; {percent_text(chosen.alarmed)} of the time is in alarm."


def _limit_text(limit: ThresholdLimit) -> str:
    """Write a limit that a threshold must keep."""
    if limit.column in _RATES:
        noun = f"{_RATES[limit.column]}{'' if limit.bound == 1 else 's'}"
        return f"at most {number_text(limit.bound)} {noun}{limit.unit}"
    if limit.column == "alarmed":
        return f"at most {100 * limit.bound:g} % of the time in alarm"
    return f"{limit.column} >= {limit.bound:g}"


def _cross_fitted(curve: AffiliationCurve, asked: Criterion, folds: int) -> CrossFitted | str:
    """Score events at thresholds of the other folds, or say why that cannot be."""
    try:
        return curve.cross_fitted(asked.beta, folds, **asked.limits)
    except UndefinedMetricError as error:
        return f"{reason(error)} {_CROSS_FITTING_HINTS.get(error.code, error.hint)}"


def _all_points(found: dict[str, Choice], points: int | None) -> dict[str, Any]:
    """Lay the curves out as columns, one after the other."""
    parts = {
        name: curve_columns(choice.curve, points=points, chosen=choice.point)
        for name, choice in found.items()
    }
    first = next(iter(parts.values()))
    if len(parts) == 1:
        return first
    counts = [columns["threshold"].size for columns in parts.values()]
    joined = {name: np.concatenate([columns[name] for columns in parts.values()]) for name in first}
    return {"detector": np.repeat([*parts], counts).tolist(), **joined}


def save_curve(curve: AffiliationCurve, chosen: OperatingPoint, path: str) -> None:
    """Draw the curve with the chosen point into a file of the kind its name says."""
    from closecall.plot import needing_matplotlib

    with needing_matplotlib(), chdir(sys.prefix):  # a `matplotlibrc` beside the data is data
        import matplotlib as mpl
    mpl.use("Agg")  # a window would need a display, and nobody to look at it
    from closecall.plot.drawing import save_figure

    save_figure(curve.plot(beta=chosen.beta, point=chosen)[0].figure, path)


def _print_choices(
    found: dict[str, Choice], noted: list[str], console: Console, most: int | None
) -> None:
    """Print the choice of the only detector, or those of several under a table of all."""
    if len(found) == 1:
        _print_choice(next(iter(found.values())), noted, console, most)
        return
    cuts = {name: choice.point.threshold for name, choice in found.items()}
    results = {name: choice.at for name, choice in found.items()}
    screen.print_detectors(results, cuts, noted, console)
    for name, choice in found.items():
        console.print(Text(f"\n{plain_name(name)}", style="bold cyan"))
        _print_choice(choice, [], console, most)


def _print_choice(found: Choice, noted: list[str], console: Console, most: int | None) -> None:
    """Print the threshold, what it gives, and the whole curve."""
    point = found.point
    values = {"precision": point.precision, "recall": point.recall, _name(point): point.fbeta}
    threshold = threshold_text(found.curve, point.threshold)
    screen.print_headline(found.headline, values, found.at, threshold, console)
    console.print(Text(f"{found.reason}\n{found.rates}"))
    screen.print_notes(noted, console)
    console.print()
    screen.print_events(found.at, console, most=most)
    screen.print_counts(found.counts, console)
    console.print()
    _print_whole_curve(found, console)
    _print_points(found, console)
    console.print()
    screen.print_meaning(found.at, console)
    if found.test is not None:
        screen.print_significance(found.test, console, most=most)


def _name(chosen: OperatingPoint) -> str:
    return f"F{chosen.beta:g}"


def _print_whole_curve(found: Choice, console: Console) -> None:
    """Print the scores that are of no single threshold, beside what chance reaches."""
    curve, chosen, fitted = found.curve, found.point, found.fitted
    moved = curve.chance
    rows: dict[str, tuple[float, float | None]] = {
        "best F1": (curve.best().fbeta, moved.f1),
        "average precision": (curve.average_precision, moved.average_precision),
    }
    if fitted is not None and not isinstance(fitted, str):
        name = f"cross-fitted {_name(chosen)}{', within limits' if found.limited else ''}"
        rows = {"best F1": rows["best F1"], name: (fitted.fbeta(chosen.beta), None)} | rows
    observed, levels = zip(*rows.values(), strict=True)
    columns = [
        screen.Column(f"of {counted(len(curve), 'threshold')}", [*map(Text, rows)], "left"),
        screen.scores("score", observed),
        screen.scores("by chance", levels, style="dim"),
    ]
    screen.print_table(console, columns)
    console.print(Text(_MOVED, style="dim"))
    if isinstance(fitted, str):
        console.print(Text(f"\nThere is no cross-fitted score. {fitted}", style="yellow"))
    elif fitted is not None:
        console.print(Text(f"\n{_difference(curve, chosen, fitted)}"))
    console.print()


def _difference(curve: AffiliationCurve, chosen: OperatingPoint, fitted: CrossFitted) -> str:
    """Say what the difference to the cross-fitted score means."""
    low, high = (threshold_text(curve, value) for value in fitted.spread)
    name, lost = _name(chosen), chosen.fbeta - fitted.fbeta(chosen.beta)
    each = (
        f"With each event at a threshold that other events chose ({low} to {high}), "
        f"{fitted.caught} of {fitted.folds.size} are caught."
    )
    if lost <= 0:
        return f"{each} Choosing on the events it is judged by does not flatter this {name}."
    much = "Less than 0.01" if score_text(lost) == "<0.01" else f"About {score_text(lost)}"
    return (
        f"{each} {much} of the {name} of {score_text(chosen.fbeta)} comes from choosing the "
        "threshold on the events that it is judged by."
    )


def _print_points(found: Choice, console: Console) -> None:
    curve, chosen = found.curve, found.point
    points = curve_columns(curve, points=_ROWS, chosen=chosen)
    thresholds = points["threshold"].tolist()
    best = f"best {_name(chosen)}"
    marks = {best: curve.best(chosen.beta).threshold}
    for index in same_alarms(curve, chosen.threshold).tolist():
        marks = {"chosen": curve.thresholds[index].item()} | marks
    notes = [
        ", ".join(name for name, marked in marks.items() if marked == value) for value in thresholds
    ]
    columns = [
        screen.texts("threshold", [threshold_text(curve, value) for value in thresholds]),
        screen.scores("prec.", points["precision"].tolist()),
        screen.scores("recall", points["recall"].tolist()),
        screen.scores(_name(chosen), f_measure(points["precision"], points["recall"], chosen.beta)),
        screen.texts("caught", points["caught"].tolist()),
        screen.texts("alarms", points["alarms"].tolist()),
        screen.texts("false", points["false_alarms"].tolist()),
        screen.Column("", [Text(f"<- {note}" if note else "", "cyan") for note in notes], "left"),
    ]
    screen.print_table(console, columns)
