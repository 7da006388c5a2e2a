"""The scores of one prediction under several metrics, and which of two scores is the better."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import ClosecallError, InputError, expected, first_line
from closecall.evaluate import evaluate
from closecall.metrics.registry import METRICS, REQUIRED, find, read_metrics
from closecall.series import read_pair

if TYPE_CHECKING:
    from closecall.metrics.registry import Metric


@dataclass(frozen=True)
class Judge:
    """Metrics with their parameters, the truth, and the axis it is on."""

    truth: Any
    metrics: dict[str, dict[str, Any]]
    axis: dict[str, Any]

    def values(self, predicted: Any) -> dict[str, dict[str, float]]:
        """Give every number of every metric; lengths of time are in seconds."""
        row = evaluate(self.truth, predicted, metrics=self.metrics, **self.axis)
        return {
            name: {number: _plain(row[_key(name, number)]) for number in find(name).gives}
            for name in self.metrics
        }

    def scores(self, predicted: Any) -> dict[str, float]:
        """Give the one number of each metric by which predictions are compared."""
        return {name: row[main_number(find(name))] for name, row in self.values(predicted).items()}


def read_judge(
    truth: Any, predicted: Any, metrics: Any, axis: dict[str, Any]
) -> tuple[Judge, dict[str, str]]:
    """Choose the metrics, and say which of the defaults cannot be computed on these inputs."""
    if metrics is not None:
        chosen = read_metrics(metrics)
        for name in chosen:
            require_labels(find(name))
        return Judge(truth, chosen, axis), {}
    # What is wrong with the input is an error; what one metric cannot take is not.
    read_pair(truth, predicted, **axis)
    chosen, left_out = {}, {}
    for name, entry in METRICS.items():
        if entry.takes == "labels" and REQUIRED not in entry.parameters.values():
            try:
                evaluate(truth, predicted, metrics=[name], **axis)
            except ClosecallError as error:
                left_out[name] = first_line(error)
            else:
                chosen[name] = {}
    return Judge(truth, chosen, axis), left_out


def require_labels(entry: Metric) -> None:
    """Refuse a metric that judges scores, which these predictions have none of."""
    if entry.takes != "labels":
        raise InputError(
            expected("metrics that judge 0/1 predictions", f"{entry.name!r}, which judges scores")
        )


def main_number(entry: Metric) -> str:
    """Name the number by which predictions are compared: F1 if there is one, else the first."""
    return "f1" if "f1" in entry.gives else entry.gives[0]


def merit(score: float, *, higher_is_better: bool) -> float:
    """Turn a score so that higher is better; what is undefined is worse than anything."""
    if isnan(score):
        return -inf
    return score if higher_is_better else -score


def _key(metric: str, number: str) -> str:
    return metric if number == "value" else f"{metric}_{number}"


def _plain(value: Any) -> float:
    if isinstance(value, np.timedelta64):
        return nan if np.isnat(value) else float(value / np.timedelta64(1, "s"))
    return float(value)
