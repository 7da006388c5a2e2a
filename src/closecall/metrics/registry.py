"""Every metric by name, and what is known of it: one table, in the order of the documents."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from inspect import Parameter, signature
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from closecall.affiliation.score import affiliation
from closecall.errors import InputError, InputTypeError, shown
from closecall.metrics.affiliation_variants import normalised_affiliation, unbiased_affiliation
from closecall.metrics.distance import hausdorff, modified_hausdorff, segmentation, semimetric
from closecall.metrics.nab import nab
from closecall.metrics.pate import pate
from closecall.metrics.pointwise import (
    classical,
    composite,
    event_wise,
    point_adjust,
    point_adjust_k,
    point_adjust_k_area,
)
from closecall.metrics.range_based import range_based
from closecall.metrics.result import changed, parameters_of
from closecall.metrics.threshold_free import (
    affiliation_average_precision,
    auc_roc,
    average_precision,
)
from closecall.metrics.time_aware import enhanced_time_aware, time_aware
from closecall.metrics.vus import vus
from closecall.metrics.window import margin, two_sided, window_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from closecall.series import Pair, Scored

REQUIRED = Parameter.empty
"""Stands for the default of a parameter that has none."""


@dataclass(frozen=True)
class Metric:
    """One metric: what it takes and gives, what it handles, and where it comes from."""

    function: Callable[..., Any]
    """The public function ``(truth, predicted or scores, *, times, end, span, ...)``.

    It also takes a `Pair` or `Scored` that has been read already, in the place of the truth.
    """
    paper: str
    family: Literal["affiliation", "pointwise", "range", "window", "distance", "threshold-free"]
    mainly_for: Literal["point", "range", "both"]
    gives: tuple[str, ...] = ("precision", "recall", "f1")
    """Names of the numbers in the result: precision, recall and f1; or value; or its own."""
    lowest: float = 0.0
    highest: float = 1.0
    higher_is_better: bool = True
    handles_adjacency: bool = False
    """Limitation (A) of the paper: does a near miss count for more than a far one?

    This and the next are what the paper's table 2 says of the metric's class, and for metrics
    that it does not list what the audit measures.
    """
    handles_durations: bool = False
    """Limitation (B): does a long event count no more than a short one?"""
    measured_otherwise: Mapping[str, str] = field(default_factory=dict)
    """Why the audit's measurement differs from one of these two, by the name of the field."""
    counts_samples: bool = False
    """Whether label vectors are compared sample by sample, whatever their times."""
    draws_samples: bool = False
    """Whether its digits depend on where samples are, beside the events."""

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    def compute(self, series: Pair | Scored, **parameters: Any) -> dict[str, Any]:
        """Return the numbers by name, of a series that was read for many metrics."""
        values: dict[str, Any] = self.function(series, None, **parameters).values()
        return values

    @cached_property
    def takes(self) -> Literal["labels", "scores"]:
        """What stands beside the truth: 0/1 predictions, or scores."""
        return "scores" if "scores" in signature(self.function).parameters else "labels"

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Names and defaults of the metric's own parameters."""
        return parameters_of(self.function)

    def changed(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that are not their defaults."""
        return changed(parameters, self.parameters)

    def check(self, parameters: Mapping[str, Any], *, alone: bool = False) -> None:
        """Raise if a parameter is unknown, or one without a default is missing.

        They are those of one metric that is `alone`, or of one among `metrics`.
        """
        known = self.parameters
        given: Any = parameters
        if not isinstance(given, Mapping):
            rule = f"the parameters of {self.name} to be a mapping by name"
            raise InputTypeError(rule, shown(given))
        for name in parameters:
            if name not in known:
                has = ", ".join(known) or "no parameters"
                raise InputError(f"a parameter of {self.name} ({has})", shown(name))
        for name, default in known.items():
            if default is REQUIRED and name not in parameters:
                given = f"{{{name!r}: ...}}"
                way = f"parameters={given}" if alone else f"metrics={{{self.name!r}: {given}}}"
                raise InputTypeError(
                    f"for the metric {self.name!r}, which has no default",
                    "none",
                    argument=name,
                    hint=f"Pass {way}.",
                    code="" if alone else "metric_parameter",
                    metric=self.name,
                    parameter=name,
                )


_affiliation = partial(
    Metric, family="affiliation", mainly_for="both", handles_adjacency=True, handles_durations=True
)
_range = partial(Metric, family="range", mainly_for="range", handles_durations=True)
_points = partial(Metric, mainly_for="point", handles_adjacency=True)
_window = partial(_points, family="window")
_ONCE = {
    "handles_durations": "the paper says no of all metrics with windows, since they are made for "
    "points; where events last, each counts once however long it is"
}
_distance = partial(
    _points, family="distance", gives=("value",), highest=inf, higher_is_better=False
)
_area = partial(Metric, family="threshold-free", gives=("value",), counts_samples=True)

# fmt: off
METRICS = {metric.name: metric for metric in (
    _affiliation(affiliation, "Huet et al., KDD 2022"),
    _affiliation(normalised_affiliation, "Zhong et al., IEEE TNNLS 2025", lowest=-1.0),
    _affiliation(unbiased_affiliation, "Zhong et al., IEEE TNNLS 2025", lowest=-inf,
                 draws_samples=True),
    Metric(classical, "the definition", "pointwise", "point", counts_samples=True),
    Metric(composite, "Garg et al., IEEE TNNLS 2021", "pointwise", "range"),
    Metric(event_wise, "the definition; recall as in Hundman et al., KDD 2018", "pointwise",
           "range", handles_durations=True),
    Metric(point_adjust, "Xu et al., WWW 2018", "pointwise", "range"),
    Metric(point_adjust_k, "Kim et al., AAAI 2022", "pointwise", "range"),
    Metric(point_adjust_k_area, "Kim et al., AAAI 2022", "pointwise", "range", gives=("value",)),
    _range(range_based, "Tatbul et al., Precision and Recall for Time Series, NeurIPS 2018"),
    _range(time_aware, "Hwang et al., Time-Series Aware Precision and Recall, CIKM 2019",
           handles_adjacency=True, measured_otherwise={"handles_adjacency": "a near miss counts "
           "only with a `delta`, which is 0 by default as in the authors' program"}),
    # Its precision weighs a prediction by the square root of its length.
    _range(enhanced_time_aware, "Hwang et al., Do You Know Existing Accuracy Metrics Overrate "
           "Time-Series Anomaly Detections?, SAC 2022", handles_durations=False),
    _window(window_once, "Gensler and Sick 2014", measured_otherwise=_ONCE),
    _window(margin, "Truong, Oudre and Vayatis 2020", measured_otherwise=_ONCE),
    _window(two_sided, "Scharwaechter and Mueller 2020"),
    _window(nab, "Lavin and Ahmad 2015", gives=("value",), lowest=-inf, highest=100.0,
            counts_samples=True, measured_otherwise=_ONCE),
    _distance(hausdorff, "Truong et al., Signal Processing 2020"),
    _distance(modified_hausdorff, "Dubuisson and Jain, ICPR 1994"),
    _distance(semimetric, "James et al., Physica D 2020"),
    _distance(segmentation, "Gharghabi et al., ICDM 2017"),
    _area(auc_roc, "Hanley and McNeil, Radiology 1982", mainly_for="point"),
    _area(average_precision, "the definition", mainly_for="point"),
    _area(affiliation_average_precision, "Huet et al., KDD 2022", mainly_for="both",
          handles_adjacency=True, handles_durations=True, counts_samples=False),
    _area(vus, "Paparrizos et al., PVLDB 2022", mainly_for="range", gives=("roc", "pr"),
          handles_adjacency=True),
    _area(pate, "Ghorbani et al., KDD 2024", mainly_for="range", handles_adjacency=True),
)}
# fmt: on

LENGTHS_OF_TIME = ("hausdorff", "modified_hausdorff", "semimetric")
"""The metrics whose value is a length of time."""
_LISTED = "`closecall.metrics.table()` lists them all."
"""The hint beside an unknown name, which the command line puts in its own words."""


def find(name: Any) -> Metric:
    """Return the metric of a name, or raise with the nearest name."""
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    close = difflib.get_close_matches(shown(name), METRICS, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise InputError("the name of a metric", shown(name), hint=f"{hint}{_LISTED}")


def directions() -> dict[str, bool]:
    """Return whether higher is better for every number that the metrics give, by its name."""
    return {
        metric.name if part == "value" else f"{metric.name}_{part}": metric.higher_is_better
        for metric in METRICS.values()
        for part in metric.gives
    }


def table() -> list[dict[str, Any]]:
    """List every metric: name, family, range, direction, parameters, what it handles, paper.

    Examples
    --------
    >>> from closecall import metrics
    >>> row = metrics.table()[0]
    >>> row["name"], row["range"], row["parameters"]
    ('affiliation', (0.0, 1.0), {})
    """
    return [
        {
            "name": metric.name,
            "family": metric.family,
            "takes": metric.takes,
            "gives": metric.gives,
            "range": (metric.lowest, metric.highest),
            "higher_is_better": metric.higher_is_better,
            "mainly_for": metric.mainly_for,
            "handles_adjacency": metric.handles_adjacency,
            "handles_durations": metric.handles_durations,
            "measured_otherwise": dict(metric.measured_otherwise),
            "parameters": {
                name: "required" if default is REQUIRED else default
                for name, default in metric.parameters.items()
            },
            "paper": metric.paper,
        }
        for metric in METRICS.values()
    ]


_RULE = "`metrics` to be names of metrics"
_HINT = "Pass a name, a list of names, or a mapping such as {'margin': {'margin': 10}}."


def _read_name(name: Any) -> str:
    """Return the name of a metric; raise at once, a range has more than memory holds."""
    if not isinstance(name, str):
        raise InputTypeError(_RULE, shown(name), hint=_HINT)
    return name


def read_metrics(metrics: Any) -> dict[str, dict[str, Any]]:
    """Read a name, names, or parameters by name, and return parameters by name.

    Examples
    --------
    >>> read_metrics("classical"), read_metrics({"point_adjust_k": {"k": 30}})
    ({'classical': {}}, {'point_adjust_k': {'k': 30}})
    """
    if isinstance(metrics, str):
        return {metrics: {}}
    if hasattr(metrics, "items"):
        for name, parameters in metrics.items():
            if not hasattr(parameters, "items"):
                rule = f"`metrics[{name!r}]` to be parameters by name"
                hint = "Pass {} where there are none."
                raise InputTypeError(rule, shown(parameters), hint=hint)
        chosen = {name: dict(parameters) for name, parameters in metrics.items()}
    else:
        try:
            names = iter(metrics)
        except TypeError:
            raise InputTypeError(_RULE, shown(metrics), hint=_HINT) from None
        chosen = {_read_name(name): {} for name in names}
    for name in chosen:
        _read_name(name)
    if not chosen:
        raise InputError("at least one metric in `metrics`", "none", hint=_HINT)
    return chosen
