"""Many metrics of one detector or of several in one call."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan as undefined
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.rules import ThresholdRule, read_rules
from closecall.detectors import read_detectors
from closecall.errors import InputTypeError
from closecall.events import Events
from closecall.latex import latex_table
from closecall.metrics.registry import METRICS, REQUIRED, Metric, directions, find, read_metrics
from closecall.parameters import read_flag
from closecall.plain import flat_numbers, plain
from closecall.scores import predicted_at, require_nan
from closecall.series import Scored, fit_and_rest, read_pair, read_sample_pair, read_scored
from closecall.signature import data_hash, fit_text, joined_hash, options_of, sign
from closecall.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from closecall.signature import Signature

    _Sides = tuple[Any, Any, Any]  # truth, predicted and scores
    _Chosen = list[tuple[Metric, dict[str, Any]]]  # each with its parameters


class Evaluation(dict[str, Any]):
    """Numbers of metrics by name, as `evaluate` returns them."""

    signature: Signature
    """What decided these digits, in one line; see `closecall.signature`."""

    def to_latex(self, *, caption: str = "", note: str | None = None) -> str:
        """Write a table for a paper, as that of several detectors, with a row for each number."""
        named = Evaluation({"detector": self.get("detector", "value")} | self)
        named.signature = self.signature
        return EvaluationTable([named]).to_latex(caption=caption or "Metrics", note=note)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None.

        Lengths of time become seconds. With `flat`, only numbers, as trackers of experiments take
        them: what is undefined is left out.
        """
        values: dict[str, Any] = plain(self) | {"signature": str(self.signature)}
        return flat_numbers(values) if read_flag(flat, "flat") else values


class EvaluationTable(list[Evaluation]):
    """A row for each detector, as `evaluate` returns them of several."""

    @property
    def signature(self) -> Signature:
        """What decided these digits, of all detectors; see `closecall.signature`."""
        signed = {row["detector"]: row.signature for row in self}
        cuts = {name: signature.options.get("threshold") for name, signature in signed.items()}
        ignored = {
            name: dict(signature.parts).get("ignore", "none") for name, signature in signed.items()
        }
        first, *others = signed.values()
        options: dict[str, Any] = {
            "data": joined_hash({x: signature.data for x, signature in signed.items()})
        }
        for signature in others:  # labels have none
            options |= {key: x for key, x in signature.options.items() if key == "nan"}
        if any(
            signature.options.get("threshold") != first.options.get("threshold")
            for signature in others
        ):
            known = {name: cut for name, cut in cuts.items() if cut is not None}
            options |= {"threshold": None, "thresholds": known}
        if len(set(ignored.values())) > 1:  # each has its own evaluated time
            options["ignore"] = f"#{joined_hash(ignored)}"
        return first.adding(**options)

    def to_latex(self, *, caption: str = "", said: str = "", note: str | None = None) -> str:
        """Write a table for a paper: a row for each number and a column for each detector.

        The best of a row is bold, the second underlined; the package booktabs is needed. What is
        `said` is below the table, and the `note`: the signature, unless there is another.
        """
        return latex_table(
            self,
            {name: name.replace("_", " ") for name in self[0]} | {"detector": "metric"},
            best=directions(),
            title=f"Metrics of {counted(len(self), 'detector')}",
            label="metrics",
            caption=caption,
            said=said,
            note=self.signature.note if note is None else note,
            across="detector",
        )


def evaluate(
    truth: Any,
    predicted: Any = None,
    *,
    scores: Any = None,
    metrics: str | Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    threshold: Any = None,
    fit: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
) -> Any:
    """Compute many metrics at once: a row of numbers by name, or one for each detector.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`.
    predicted
        Predictions of the same kind, for the metrics that take labels; or a mapping from names of
        detectors, in which labels and `Events` may be mixed.
    scores
        One score per sample, for the metrics that need no threshold; or a mapping from names of
        detectors other than those in `predicted`.
    metrics
        A name or names from `closecall.metrics.table`, or a mapping from names to parameters; each
        metric once. ``"all"``, the default, is
        every metric that the given inputs allow and whose parameters all have a default.
    threshold
        Instead of `predicted`: a number or a rule of `closecall.choose_threshold` that turns the
        scores into predictions, for the metrics that take labels. The row then has ``threshold``.
        Beside several detectors, a mapping is one from their names.
    fit
        The part of the time that the rule chooses on, as in `closecall.choose_threshold`; the
        metrics are those of the rest.
    times, end, span, ignore, max_step
        As in `closecall.affiliation`; every metric counts evaluated time only.
    nan
        What to do with samples whose score is nan: ``"raise"``, or ``"ignore"`` their time, also
        for the metrics of `predicted`, and for all detectors if one of them has none. ``"each"``
        ignores it only for the detector that has none: each is judged on its own time, and rows of
        several detectors then have ``ignored_time``.

    Returns
    -------
    dict or list of dict
        Numbers by ``<metric>_<number>``, such as ``affiliation_f1``; a metric with a single value
        goes by its own name. What is undefined is nan. Of several detectors, a list of such rows
        that begin with ``detector``, as any dataframe takes it; nan is also what a detector gave
        nothing for, such as the area under a curve of one that gave labels. ``to_dict()`` of a row
        gives plain values, and ``to_latex()`` of the list a table for a paper.

    Examples
    --------
    >>> import closecall as cc
    >>> row = cc.evaluate([0, 1, 1, 0], [0, 0, 1, 1], metrics=["classical", "affiliation"])
    >>> row["classical_f1"], round(row["affiliation_f1"], 3)
    (0.5, 0.729)

    With a threshold that is chosen on the first four samples and judged on the others:

    >>> truth, scores = [0, 1, 0, 0, 0, 0, 1, 0], [0, 9, 2, 1, 3, 0, 4, 1]
    >>> row = cc.evaluate(
    ...     truth, scores=scores, threshold="mad:1", fit=[(0, 4)], metrics=["event_wise"]
    ... )
    >>> row["event_wise_precision"], row["event_wise_recall"]
    (0.5, 1.0)

    Several detectors, and a rule for those that give scores:

    >>> found = cc.evaluate(
    ...     truth, {"quiet": [0, 0, 0, 0, 0, 0, 1, 0]}, scores={"loud": scores},
    ...     threshold="quantile:0.5", metrics=["event_wise", "auc_roc"],
    ... )
    >>> [(row["detector"], row["event_wise_recall"], row["auc_roc"]) for row in found]
    [('quiet', 0.5, nan), ('loud', 1.0, 1.0)]
    """
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    given = axis | {"nan": nan}
    require_nan(nan)
    several = isinstance(predicted, Mapping) or isinstance(scores, Mapping)
    predicted, scores = (
        None if isinstance(side, Mapping) and not side else side for side in (predicted, scores)
    )
    if predicted is None and scores is None:
        raise InputTypeError(
            "`predicted` or `scores`", "neither", hint="Pass 0/1 predictions, scores, or both."
        )
    labels = predicted is not None or threshold is not None
    asked = {"all": {}} if metrics is None else read_metrics(metrics)
    named: Any = "all" if [*asked] == ["all"] else None
    chosen = _chosen(asked, labels=labels, scores=scores is not None)
    compute = _table if several else _row
    found = compute((truth, predicted, scores), chosen, given, threshold, fit)
    named = named or {entry.name: entry.changed(parameters) for entry, parameters in chosen}
    for row in found if isinstance(found, list) else [found]:
        row.signature = row.signature.naming(named)
    return found


def _row(
    sides: _Sides, chosen: _Chosen, given: dict[str, Any], threshold: Any = None, fit: Any = None
) -> Evaluation:
    """Compute the metrics of one detector."""
    truth, predicted, scores = sides
    inputs: dict[str, Any] = {}
    row = Evaluation()
    axis = {name: value for name, value in given.items() if name != "nan"}
    rule, fitted = None, None
    if threshold is not None or fit is not None:
        _require_scores_alone(predicted, scores, threshold)
        rule = ThresholdRule.read(threshold)
        fitted, judged = _parts(truth, scores, fit, given)
        row["threshold"] = rule.choose(fitted)
        inputs["scores"], axis["ignore"] = judged, judged.ignored
        predicted = predicted_at(judged.all_scores, row["threshold"])
        if isinstance(truth, Events):  # which have no samples to count
            inputs["samples"] = inputs["times"] = judged.at(row["threshold"])
    of_scores = any(entry.takes == "scores" for entry, _ in chosen)
    if "scores" not in inputs and (of_scores or (scores is not None and given["nan"] != "raise")):
        # First, since samples without a score are ignored by all metrics.
        inputs["scores"] = read_scored(truth, scores, **given)
        axis["ignore"] = inputs["scores"].ignored
    for entry, parameters in chosen:
        by_samples = entry.counts_samples and parameters.get("by") != "duration"
        source = "scores" if entry.takes == "scores" else "samples" if by_samples else "times"
        if source not in inputs:
            inputs[source] = _READERS[source](truth, predicted, **axis)
        for name, value in entry.compute(inputs[source], **parameters).items():
            row[entry.name if name == "value" else f"{entry.name}_{name}"] = value
    drawn = any(entry.draws_samples for entry, _ in chosen)
    row.signature = _signed(inputs, of_scores=of_scores, rule=rule, fitted=fitted, samples=drawn)
    return row


def _signed(
    inputs: dict[str, Any],
    rule: ThresholdRule | None,
    fitted: Scored | None,
    *,
    of_scores: bool,
    samples: bool,
) -> Signature:
    """Return what decided the numbers, but for the metrics: alarms at a number are enough."""
    judged = inputs.get("scores")
    chosen = rule is not None and rule.kind != "number"
    read = [series for name, series in inputs.items() if name != "scores" or of_scores or chosen]
    options: dict[str, Any] = {"threshold": rule and rule.signed, "fit": None}
    if fitted is not None and fitted is not judged:
        read.append(fitted)
        options["fit"] = fit_text(fitted)
    first = judged or next(iter(read), None)
    if first is not None:
        options |= options_of(first)
    hashes = {found: found for found in (data_hash(series, samples=samples) for series in read)}
    return sign({}, joined_hash(hashes) if hashes else None, **options)


def _table(
    sides: _Sides, chosen: _Chosen, given: dict[str, Any], threshold: Any = None, fit: Any = None
) -> EvaluationTable:
    """Compute the metrics of each detector, on the time that is evaluated for it, or for all."""
    truth, predicted, scores = sides
    read = read_detectors(truth, predicted, scores, **given)
    if not read.scored and (threshold is not None or fit is not None):
        raise InputTypeError("`scores` beside `threshold` or `fit`", "none")
    rules = read_rules(threshold, read.scored, "threshold")
    shared = {**given, "ignore": read.truth.ignored}
    judged = shared
    if fit is not None:
        # Missing scores are ignored above for all detectors, or below for each by itself.
        length = next(iter(read.scored.values())).all_scores.size
        _, rest = fit_and_rest(truth, np.zeros(length), fit, **shared)
        judged = {**shared, "ignore": rest.ignored}
        read = read_detectors(truth, predicted, scores, **judged)
    labels, curves = (
        [pair for pair in chosen if pair[0].takes == takes] for takes in ("labels", "scores")
    )
    rows: dict[str, Evaluation] = {}
    for name, pair in read.predicted.items():
        events = isinstance(truth, Events) or isinstance(predicted[name], Events)
        # Metrics of samples count time where there are events.
        sides = (pair, (), None) if events else (truth, predicted[name], None)
        rows[name] = _row(sides, labels, judged)
    for name in read.scored:
        sides = truth, None, scores[name]
        if rules.get(name) is None:
            rows[name] = _row(sides, curves, judged)
        else:
            rows[name] = _row(sides, chosen, shared, rules[name], fit)
    columns = dict.fromkeys(key for row in rows.values() for key in row)
    table, series = EvaluationTable(), read.predicted | read.scored
    for name, row in rows.items():
        full = Evaluation({"detector": name} | {key: row.get(key, undefined) for key in columns})
        if given["nan"] == "each":
            full["ignored_time"] = series[name].ignored_time
        full.signature = row.signature
        table.append(full)
    return table


def _require_scores_alone(predicted: Any, scores: Any, threshold: Any) -> None:
    if scores is None or predicted is not None:
        got = "`predicted`" if scores is None else "`predicted` as well"
        raise InputTypeError("alone beside `threshold`", got, argument="scores")
    if threshold is None:
        raise InputTypeError(
            "a `threshold` rule beside `fit`", "none", hint="Pass, for example, 'best_f1'."
        )


def _parts(truth: Any, scores: Any, fit: Any, given: dict[str, Any]) -> tuple[Scored, Scored]:
    """Read the part to choose a threshold on, and the part to judge it by; all for both."""
    if fit is not None:
        return fit_and_rest(truth, scores, fit, **given)
    scored = read_scored(truth, scores, **given)
    return scored, scored


_READERS = {"samples": read_sample_pair, "times": read_pair}


def _chosen(
    asked: dict[str, dict[str, Any]], *, labels: bool, scores: bool
) -> list[tuple[Metric, dict[str, Any]]]:
    """Pair each metric that was asked for with its parameters."""
    available = {"labels": labels, "scores": scores}
    if "all" in asked:
        if asked.pop("all"):
            raise InputTypeError("no parameters of all metrics", "some")
        usual: dict[str, dict[str, Any]] = {
            entry.name: {}
            for entry in METRICS.values()
            if available[entry.takes] and REQUIRED not in entry.parameters.values()
        }
        asked = usual | asked
    chosen = []
    for name, parameters in asked.items():
        entry = find(name)
        if not available[entry.takes]:
            missing = "predicted" if entry.takes == "labels" else "scores"
            hint = "`threshold` makes predictions of scores." if missing == "predicted" else ""
            raise InputTypeError(f"for the metric {name!r}", "none", argument=missing, hint=hint)
        entry.check(parameters)
        chosen.append((entry, parameters))
    return chosen
