"""Many metrics in one call, from events that are read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.affiliation.rules import ThresholdRule
from closecall.errors import InputTypeError
from closecall.metrics.registry import METRICS, REQUIRED, Metric, find, read_metrics
from closecall.plain import flat_numbers, plain
from closecall.series import (
    Scored,
    fit_and_rest,
    predicted_at,
    read_pair,
    read_sample_pair,
    read_scored,
    require_nan,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Evaluation(dict[str, Any]):
    """Numbers of metrics by name, as `evaluate` returns them."""

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None.

        Lengths of time become seconds. With `flat`, only numbers, as trackers of experiments take
        them: what is undefined is left out.
        """
        values: dict[str, Any] = plain(self)
        return flat_numbers(values) if flat else values


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
) -> Evaluation:
    """Compute many metrics at once: one row of numbers by name.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`.
    predicted
        Predictions of the same kind, for the metrics that take labels.
    scores
        One score per sample, for the metrics that need no threshold.
    metrics
        A name or names from `closecall.metrics.table`, or a mapping from names to parameters; each
        metric once. By default
        every metric that the given inputs allow and whose parameters all have a default.
    threshold
        Instead of `predicted`: a number or a rule of `closecall.choose_threshold` that turns the
        scores into predictions, for the metrics that take labels. The row then has ``threshold``.
    fit
        The part of the time that the rule chooses on, as in `closecall.choose_threshold`; the
        metrics are those of the rest.
    times, end, span, ignore, max_step
        As in `closecall.affiliation`; every metric counts evaluated time only.
    nan
        What to do with samples whose score is nan: ``"raise"``, or ``"ignore"`` their time, also
        for the metrics of `predicted`.

    Returns
    -------
    dict
        Numbers by ``<metric>_<number>``, such as ``affiliation_f1``; a metric with a single value
        goes by its own name. What is undefined is nan. ``to_dict()`` gives plain values.

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
    """
    if predicted is None and scores is None:
        raise InputTypeError.expected(
            "`predicted` or `scores`", "neither", "Pass 0/1 predictions, scores, or both."
        )
    labels = predicted is not None or threshold is not None
    chosen = _chosen(metrics, labels=labels, scores=scores is not None)
    given = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    inputs: dict[str, Any] = {}
    row = Evaluation()
    require_nan(nan)
    if threshold is not None or fit is not None:
        _require_scores_alone(predicted, scores, threshold)
        fitted, judged = _parts(truth, scores, fit, {**given, "nan": nan})
        row["threshold"] = ThresholdRule.read(threshold).choose(fitted)
        inputs["scores"], given["ignore"] = judged, judged.ignored
        predicted = predicted_at(judged.all_scores, row["threshold"])
    of_scores = any(entry.takes == "scores" for entry, _ in chosen)
    if "scores" not in inputs and (of_scores or (scores is not None and nan == "ignore")):
        # First, since samples without a score are ignored by all metrics.
        inputs["scores"] = read_scored(truth, scores, **given, nan=nan)
        given["ignore"] = inputs["scores"].ignored
    for entry, parameters in chosen:
        source = "scores" if entry.takes == "scores" else _reading(entry, parameters)
        if source not in inputs:
            inputs[source] = _READERS[source](truth, predicted, **given)
        for name, value in entry.function(inputs[source], None, **parameters).values().items():
            row[entry.name if name == "value" else f"{entry.name}_{name}"] = value
    return row


def _require_scores_alone(predicted: Any, scores: Any, threshold: Any) -> None:
    if scores is None or predicted is not None:
        got = "`predicted`" if scores is None else "`predicted` as well"
        raise InputTypeError.expected("`scores` alone beside `threshold`", got)
    if threshold is None:
        raise InputTypeError.expected(
            "a `threshold` rule beside `fit`", "none", "Pass, for example, 'best_f1'."
        )


def _parts(truth: Any, scores: Any, fit: Any, given: dict[str, Any]) -> tuple[Scored, Scored]:
    """Read the part to choose a threshold on, and the part to judge it by; all for both."""
    if fit is not None:
        return fit_and_rest(truth, scores, fit, **given)
    scored = read_scored(truth, scores, **given)
    return scored, scored


_READERS = {"samples": read_sample_pair, "times": read_pair}


def _reading(entry: Metric, parameters: Mapping[str, Any]) -> str:
    by_samples = entry.counts_samples and parameters.get("by") != "duration"
    return "samples" if by_samples else "times"


def _chosen(
    metrics: str | Iterable[str] | Mapping[str, Mapping[str, Any]] | None,
    *,
    labels: bool,
    scores: bool,
) -> list[tuple[Metric, dict[str, Any]]]:
    """Pair each metric that was asked for with its parameters."""
    available = {"labels": labels, "scores": scores}
    if metrics is None:
        return [
            (entry, {})
            for entry in METRICS.values()
            if available[entry.takes] and REQUIRED not in entry.parameters.values()
        ]
    chosen = []
    for name, parameters in read_metrics(metrics).items():
        entry = find(name)
        if not available[entry.takes]:
            missing = "predicted" if entry.takes == "labels" else "scores"
            raise InputTypeError.expected(f"`{missing}` for the metric {name!r}", "none")
        entry.check(parameters)
        chosen.append((entry, parameters))
    return chosen
