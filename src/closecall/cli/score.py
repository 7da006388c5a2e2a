"""`closecall score`: detectors against the truth, from files."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.text import Text

from closecall.affiliation.result import headlines, latex_scores
from closecall.affiliation.rules import BEST_F1, read_rules, rule_notes, signed_rules
from closecall.cli import options, screen
from closecall.cli.output import tested
from closecall.latex import chance_note
from closecall.signature import data_hash, joined_hash
from closecall.tables.scoring import score_series
from closecall.wording import UNDEFINED, counted, in_words, json_number, plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from closecall.affiliation import Affiliation
    from closecall.affiliation.rules import ThresholdRule
    from closecall.chance import Significance
    from closecall.cli.output import Output
    from closecall.evaluate import Evaluation
    from closecall.signature import Signature
    from closecall.tables.series import Inputs

_HELP = """\
Score predicted anomalies against the true ones: overall, and for each true event.

TRUTH and PREDICTED are CSV or Parquet files, plain or gzipped; `-` is standard input. Give
only TRUTH if it has both columns. A side is a 0/1 column, or a list of events with columns
`start` and `stop` (or any two, as START,STOP; the same one twice for points), or as JSON of
NAB, Grafana, Alertmanager or Label Studio. Without --truth and --predicted, columns of those
names are taken, or a file's only column. Times are numbers or ISO 8601.

Several detectors are scored at once: repeat --predicted, or give a pattern. A column of scores
(--score) is cut at the threshold with its highest F1, or by a rule of `closecall curve`
(--threshold 0.7, quantile:0.99, COLUMN=alarms:2/week, ...). --metric adds numbers of other
metrics; csv then has a row per detector instead of per event. --by-column counts events by what
their list says of them.

\b
Examples:
  closecall score results.csv --truth label --predicted alarm --time timestamp
  closecall score truth.csv.gz predicted.csv.gz
  closecall score incidents.csv results.csv --predicted alarm --time timestamp --clip
  closecall score incidents.csv results.csv --predicted alarm --time t --by-column severity
  closecall score alerts.json alarms.parquet --span 2024-01-01 2024-02-01 --open until-end
  closecall score results.csv --truth label --predicted alarm --time t --ignore maintenance.csv
  closecall score results.csv --truth label --predicted alarm --significance
  closecall score results.csv --truth label --score 'det*' --threshold quantile:0.99 --metric all
  zcat results.csv.gz | closecall score - --truth label --predicted alarm --format json
"""
_FLATTERED = (
    "Thresholds are those with the highest F1, chosen on the labels that they are judged by: "
    "`closecall curve --cross-fit` says how much that flatters."
)
_LONGEST_NAME = 24
_SECOND = np.timedelta64(1, "s")
_SCORES = {"precision": "precision", "recall": "recall", "f1": "F1"}


@click.command(cls=options.Command, help=_HELP)
@options.inputs("PREDICTED", options.predicted, options.score, options.thresholds, nan=True)
@options.option(
    "--point-length DURATION",
    "A length for points, 1min or a number; without one they weigh nothing beside ranges.",
)
@options.choice(
    "--zero-division",
    "Precision of an event without alarms; nan leaves it out of the mean.",
    "nan",
    "0",
    "1",
)
@options.by_column
@options.metric("Also compute that metric, `all` for all that need no parameter; repeat it.")
@options.significance
@options.output(
    "json holds everything; csv one row per event; latex a table of the detectors.",
    "latex",
    show_all=True,
)
def score(
    *,
    inputs: Inputs,
    predicted: tuple[str, ...],
    scores: tuple[str, ...],
    thresholds: tuple[tuple[str | None, ThresholdRule], ...],
    point_length: Any,
    zero_division: str,
    by_column: tuple[str, ...],
    metrics: dict[str, dict[str, Any]] | None,
    shifts: int | None,
    output: Output,
) -> None:
    """Score detectors against the truth, from files."""
    if shifts is not None and zero_division != "nan":
        message = "--significance goes with --zero-division nan only: it scores the shifts so."
        raise click.UsageError(message)
    if metrics is not None and by_column and output.format == "csv":
        raise click.UsageError("csv holds either --metric or --by-column; json holds both.")
    lengths = {"point_length": point_length, "zero_division": float(zero_division)}
    found = score_inputs(
        *(inputs, predicted, scores, thresholds, metrics),
        by_column=by_column,
        shifts=shifts,
        **lengths,
    )
    output.write(
        table=lambda console: _print_scores(found, console, most=output.most),
        values=lambda: screen.by_detector(
            {name: found.values(name) for name in found.results}, found.notes
        ),
        rows=found.rows,
        latex=found.latex,
        signature=found.signature,
    )


def score_inputs(
    inputs: Inputs,
    predicted: tuple[str, ...],
    scores: tuple[str, ...],
    given: tuple[tuple[str | None, ThresholdRule], ...],
    metrics: dict[str, dict[str, Any]] | None,
    *,
    by_column: tuple[str, ...] = (),
    shifts: int | None = None,
    **lengths: Any,
) -> Scores:
    """Read and score detectors; raise if a threshold has nothing to cut, or cannot be tested."""
    series = inputs.read(predicted or ([] if scores else [None]), scores)
    scored = series.detectors.scored
    rules = dict.fromkeys(scored, BEST_F1) | read_rules(
        options.read_thresholds(given, scored), scored
    )
    on_labels = any(rule.looks_at_truth for rule in rules.values())
    if on_labels and shifts is not None:
        message = (
            "--significance goes with a --threshold that does not look at the labels; "
            "`closecall curve --significance` tests the highest F1."
        )
        raise click.UsageError(message)
    results, thresholds = score_series(series, rules, **lengths)
    numbers: dict[str, Evaluation] = {}
    if metrics:
        from closecall.evaluate import evaluate  # all metrics are many modules

        for row in evaluate(**series.arguments, threshold=thresholds or None, metrics=metrics):
            row.pop("threshold", None)
            numbers[row.pop("detector")] = row
    counts, tests = {}, {}
    for name, result in results.items():
        if by_column:
            counts[name] = screen.counts_by(result, by_column)
        if shifts is not None:
            tests[name] = tested(result.events.pair, None, n=shifts)
    pairs = {name: result.events.pair for name, result in results.items()}
    notes = [*screen.notes(series, results), *rule_notes(rules, thresholds, pairs)]
    notes += [_FLATTERED] if on_labels else []
    searched = {name: scored[name] for name, rule in rules.items() if rule.kind != "number"}
    hashed = pairs | searched
    hashes = {name: data_hash(data) for name, data in hashed.items()}
    named: dict[str, dict[str, Any]] = {"affiliation": {}}
    for name, row in numbers.items():
        named |= row.signature.metrics
        hashes[f"metrics of {name}"] = row.signature.data
    first = next(iter(results.values())).signature
    one = set(rules.values())
    cut = {"threshold": one.pop().signed} if len(one) == 1 else signed_rules(rules)
    signature = first.adding(**cut, n=shifts, **series.signed)
    signature = signature.adding(data=joined_hash(hashes)).naming(named)
    return Scores(results, thresholds, numbers, counts, tests, notes, signature)


@dataclass(frozen=True)
class Scores:
    """What was found of each detector, by its name."""

    results: dict[str, Affiliation]
    thresholds: dict[str, Any]
    """Of those that gave scores."""
    metrics: dict[str, Evaluation]
    """Empty if none were asked for, as counts and tests are."""
    counts: dict[str, list[dict[str, Any]]]
    """By columns of the true events."""
    tests: dict[str, Significance]
    notes: list[str]
    signature: Signature
    """What decided the numbers of all detectors."""

    def values(self, name: str) -> dict[str, Any]:
        """Return everything of one detector as plain JSON values."""
        record = self.results[name].to_dict() | {"headline": headlines(self.results)[name]}
        if name in self.thresholds:
            record["threshold"] = json_number(self.thresholds[name])
        if self.counts:
            record["by_column"] = self.counts[name]
        if self.metrics:
            record["metrics"] = {key: _json_number(x) for key, x in self.metrics[name].items()}
        return record | ({"significance": self.tests[name].to_dict()} if self.tests else {})

    def rows(self) -> list[dict[str, Any]]:
        """Return what was asked for beside the scores, else a row per event."""
        if self.metrics:
            cuts = {name: {"threshold": cut} for name, cut in self.thresholds.items()}
            rows = {name: cuts.get(name, {}) | numbers for name, numbers in self.metrics.items()}
            columns = dict.fromkeys(key for row in rows.values() for key in row)
            return [
                {"detector": name} | {key: _json_number(row.get(key, nan)) for key in columns}
                for name, row in rows.items()
            ]
        several = len(self.results) > 1
        return [
            ({"detector": name} if several else {}) | row
            for name, result in self.results.items()
            for row in self.counts.get(name) or _rows(result, self.tests.get(name))
        ]

    def latex(self, note: str) -> str:
        """Return a table for a paper: of the metrics, if any were asked for, else the scores.

        Both have the events caught, the level of chance and the number of events.
        """
        if not self.metrics:
            return latex_scores(self.results, {}, note=note)
        from closecall.evaluate import Evaluation, EvaluationTable  # with all metrics

        rows = []
        for name, numbers in self.metrics.items():
            result = self.results[name]
            chance = result.chance
            rows.append(Evaluation({"detector": name}))
            for number, value in numbers.items():
                rows[-1][number] = value
                if number == "affiliation_f1":
                    rows[-1]["affiliation_f1_by_chance"] = chance.f1
            rows[-1] |= {"caught": result.caught, "caught_by_chance": chance.caught}
        said = chance_note(counted(len(result.events), "true event"))
        return EvaluationTable(rows).to_latex(said=said, note=note)


def _rows(result: Affiliation, test: Significance | None) -> list[dict[str, Any]]:
    events = [*result.events.flat_rows()]
    if test is None:
        return events
    added = [f"{score}_{kind}" for score in _SCORES for kind in ("pvalue", "adjusted_pvalue")]
    return [
        event | {name: row[name] for name in added}
        for event, row in zip(events, test.events.rows(), strict=True)
    ]


def _json_number(value: Any) -> float | str | None:
    """Return a number, or a length of time in seconds, as JSON has it."""
    return json_number(value / _SECOND if isinstance(value, np.timedelta64) else value)


def _number_text(value: Any) -> str:
    """Write a number, or a length of time in words."""
    if isinstance(value, np.timedelta64):
        return UNDEFINED if np.isnat(value) else in_words(value / _SECOND)
    return UNDEFINED if isnan(value) else f"{value:.4g}"


def _print_metrics(numbers: Mapping[str, dict[str, float]], console: Console) -> None:
    """Print one row per number, and a column per detector."""
    rows = dict.fromkeys(key for row in numbers.values() for key in row)
    columns = [screen.Column("metric", [Text(key, "cyan") for key in rows], "left")]
    for name, row in numbers.items():
        cells = [_number_text(row.get(key, nan)) for key in rows]
        columns.append(screen.texts(plain_name(name, _LONGEST_NAME), cells))
    console.print()
    screen.print_table(console, columns)


def _print_scores(found: Scores, console: Console, *, most: int | None) -> None:
    """Print what was caught, the scores, one row per event, the legend, metrics and tests."""
    several = len(found.results) > 1
    if several:
        screen.print_detectors(found.results, found.thresholds, found.notes, console)
    for name, result in found.results.items():
        if several:
            console.print(Text(f"\n{plain_name(name)}\n", style="bold cyan"))
        else:
            scores = {name: getattr(result, key) for key, name in _SCORES.items()}
            cut = found.thresholds.get(name)
            threshold = None if cut is None else f"{cut:.6g}"
            screen.print_headline(result.headline, scores, result, threshold, console)
            screen.print_notes(found.notes, console)
            console.print()
        screen.print_events(result, console, most=most)
        screen.print_counts(found.counts.get(name, []), console)
    console.print()
    screen.print_meaning(next(iter(found.results.values())), console)
    if found.metrics:
        _print_metrics(found.metrics, console)
    for name, test in found.tests.items():
        if several:
            console.print(Text(f"\n{plain_name(name)}", style="bold cyan"))
        screen.print_significance(test, console, most=most)
