"""A metric that no series could be evaluated with is refused before any is."""

import sys
from datetime import timedelta

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError, MissingExtraError
from closecall.metrics.registry import METRICS, find
from closecall.tables.batch.metric_trial import try_metric
from closecall.tables.batch.question import Question


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize(
    ("name", "parameters", "kind", "message"),
    [
        ("margin", {"margin": -3}, InputError, "Expected `margin` to be a finite number of 0"),
        ("margin", {"margin": "abc"}, InputTypeError, "Expected `margin` to be a finite number"),
        ("vus", {"window": 2.5}, InputTypeError, "Expected `window` to be a whole number"),
        ("nab", {"profile": "mine"}, InputError, "Expected `profile` to be"),
        ("range_based", {"alpha": 2}, InputError, "Expected `alpha`"),
    ],
)
def test_what_is_wrong_on_every_axis_is_refused(name, parameters, kind, message, timed):
    with pytest.raises(kind) as caught:
        try_metric(find(name), parameters, timed=timed)
    assert str(caught.value).startswith(message)


def test_lengths_of_time_are_let_through_where_times_may_be_dates():
    minutes = {"margin": timedelta(minutes=5)}
    try_metric(find("margin"), minutes, timed=True)
    with pytest.raises(InputTypeError, match="`margin` to be a finite number"):
        try_metric(find("margin"), minutes, timed=False)
    with pytest.raises(InputError, match="`margin` to be a timedelta of 0 or more"):
        try_metric(find("margin"), {"margin": timedelta(-1)}, timed=True)


def test_half_samples_are_let_through_where_times_may_be_numbers():
    try_metric(find("time_aware"), {"delta": 0.5}, timed=True)
    with pytest.raises(InputError, match="`delta` to be a whole number of samples"):
        try_metric(find("time_aware"), {"delta": 0.5}, timed=False)


def test_what_depends_on_the_series_is_not_tried():
    try_metric(find("nab"), {"windows": [(100, 200)]}, timed=False)
    sizes = {"cardinality": lambda _: 1 / 0}
    try_metric(find("range_based"), sizes, timed=False)


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_passes_with_its_defaults(name, timed):
    entry = find(name)
    required = {key: 3 for key, value in entry.parameters.items() if isinstance(value, type)}
    try_metric(entry, {**entry.parameters, **required}, timed=timed)


def test_a_package_that_is_missing_is_said_when_the_question_is_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(MissingExtraError, match="This needs scikit-learn"):
        Question.ask(truth="label", score="a", metrics=["affiliation", "auc_roc"])


def test_a_question_knows_whether_there_are_times():
    asked = {
        "truth": "label",
        "predicted": "a",
        "metrics": {"margin": {"margin": np.timedelta64(5, "s")}},
    }
    assert Question.ask(**asked, time="t").metrics[0][0] == "margin"
    with pytest.raises(InputTypeError, match="`margin`"):
        Question.ask(**asked)
