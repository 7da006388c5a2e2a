"""What may be asked of a batch, and what every wrong option is told."""

from __future__ import annotations

import json
import pickle
import sys
from datetime import timedelta

import pytest

import closecall
from closecall.errors import InputError, InputTypeError, MissingExtraError
from closecall.metrics.registry import METRICS, find
from closecall.tables.batch.options import (
    BatchOptions,
    installed_version,
    try_metric,
)


def ask(**options):
    given = {"by": "series", "truth": "label", "score": "score"}
    return BatchOptions.read(**{**given, **options})


def test_columns_are_listed_once_in_the_order_of_their_roles():
    question = ask(by=["site", "machine"], score=["a", "b"], time="t")
    assert question.columns == ("site", "machine", "t", "label", "a", "b")
    assert question.detectors == ("a", "b")
    assert ask(score=None, predicted="p").columns == ("series", "label", "p")
    assert ask(by=()).by == ask(by=[]).by == ask(by=None).by == ()


def test_scores_are_asked_for_affiliation_at_the_best_f1_and_average_precision_by_default():
    question = ask()
    assert question.threshold.kind == "best_f1"
    assert question.metric_columns == (
        "affiliation_precision",
        "affiliation_recall",
        "affiliation_f1",
        "affiliation_average_precision",
    )


def test_labels_are_asked_for_affiliation_alone_by_default():
    question = ask(score=None, predicted=["p"])
    assert question.metrics == (("affiliation", {}),)
    assert question.detectors == ("p",)
    assert question.scores == ()


def test_metrics_are_named_as_in_evaluate():
    question = ask(metrics={"point_adjust_k": {"k": 30}, "auc_roc": {}, "hausdorff": {}})
    assert question.metrics[0] == ("point_adjust_k", {"k": 30})
    assert question.metric_columns == (
        "point_adjust_k_precision",
        "point_adjust_k_recall",
        "point_adjust_k_f1",
        "auc_roc",
        "hausdorff",
    )
    assert not question.has_affiliation


def test_the_columns_of_a_row_follow_from_the_question():
    columns = ask().row_columns
    assert columns[:3] == ("detector", "status", "reason")
    levels = ("chance_precision", "chance_recall", "chance_f1", "chance_caught")
    levels += ("caught_above_chance",)
    assert columns[-6:] == (*levels, "data_hash")
    happened = ("caught", "close_calls", "missed", "false_alarms", "alarmed")
    happened += ("median_delay", "evaluated_days")
    assert columns[9:17] == (*happened, "alarmed_events")
    assert ask(score=None, predicted="p").row_columns[-6:-1] == levels
    average = ask(metrics=["affiliation_average_precision"]).row_columns
    assert average[-3:-1] == ("threshold", "affiliation_average_precision")
    retuned = ask(retune=20).row_columns
    assert retuned[-8:-1] == (*levels, "chance_average_precision", "retuned_f1")
    ignored = ask(nan="ignore").row_columns
    assert ignored[17:20] == ("ignored_time", "left_out_events", "left_out_alarms")
    assert "best_f1" in ask(threshold="cross_fit").row_columns
    plain = ask(metrics=["auc_roc"]).row_columns
    assert plain[-3:] == ("threshold", "auc_roc", "data_hash")
    assert "detector" not in ask(by=["series", "detector"]).row_columns


def test_no_threshold_is_kept_where_nothing_needs_one():
    assert ask(metrics=["auc_roc"], threshold=0.5).threshold.kind == "none"
    assert ask(metrics=["auc_roc"], per_event=True).threshold.kind == "best_f1"
    assert ask(metrics=["auc_roc", "classical"]).threshold.kind == "best_f1"


def test_a_question_is_frozen_and_travels():
    question = ask(metrics={"point_adjust_k": {"k": 30}}, threshold="quantile:0.9")
    assert pickle.loads(pickle.dumps(question)) == question  # noqa: S301 - our own bytes
    with pytest.raises(AttributeError):
        question.truth = "other"


def test_shared_thresholds_are_part_of_a_new_question():
    question = ask(threshold="best_f1_global")
    fixed = question.with_thresholds({"score": 0.5})
    assert (question.shared, fixed.shared) == ({}, {"score": 0.5})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"score": None}, InputTypeError, "Expected either `score` or `predicted`, got neither"),
        ({"predicted": "p"}, InputTypeError, "Expected either `score` or `predicted`, got both"),
        ({"score": []}, InputError, "Expected `score` to name at least one column, got none"),
        ({"score": 3}, InputTypeError, "Expected `score` to be a column or a list of columns"),
        ({"score": ["a", 3]}, InputTypeError, "Expected `score` to be the name of a column, got 3"),
        ({"truth": 3}, InputTypeError, "Expected `truth` to be the name of a column, got 3"),
        ({"truth": ""}, InputTypeError, "Expected `truth` to be the name of a column, got ''"),
        ({"time": 3}, InputTypeError, "Expected `time` to be the name of a column, got 3"),
        ({"by": {"a": 1}}, InputTypeError, "Expected `by` to be a column or a list of columns"),
        ({"by": "label"}, InputError, "Expected each column to have one role, got 'label'"),
        ({"score": ["a", "a"]}, InputError, "Expected each column to have one role, got 'a'"),
        ({"by": "status"}, InputError, "got 'status'"),
        ({"by": "affiliation_f1"}, InputError, "got 'affiliation_f1'"),
        ({"by": "detector", "score": ["a", "b"]}, InputError, "among `by`, got 2"),
        ({"disorder": "fix"}, InputError, "Expected `disorder` to be"),
        ({"per_event": 1}, InputTypeError, "Expected `per_event` to be True or False, got 1"),
        ({"strict": "yes"}, InputTypeError, "Expected `strict` to be True or False, got 'yes'"),
        ({"metrics": "vus"}, InputTypeError, "Expected `metrics` to be names in a list"),
        ({"metrics": []}, InputError, "Expected `metrics` to name at least one metric, got none"),
        ({"metrics": ["afiliation"]}, InputError, "Did you mean 'affiliation'"),
        ({"metrics": {"affiliation": {"k": 2}}}, InputError, "no parameters"),
        ({"metrics": ["margin"]}, InputTypeError, "`margin` for the metric 'margin'"),
        (
            {"score": None, "predicted": "p", "metrics": ["auc_roc"]},
            InputTypeError,
            "Expected `score` for the metric 'auc_roc', got `predicted`",
        ),
        (
            {"score": None, "predicted": "p", "threshold": 0.5},
            InputTypeError,
            "Expected no `threshold` beside `predicted`, got 0.5",
        ),
        ({"threshold": "best"}, InputError, "a known rule, got 'best'"),
        ({"ignore": 3}, InputTypeError, "Expected `ignore` to be the name of a column, got 3"),
        ({"ignore": "label"}, InputError, "Expected each column to have one role, got 'label'"),
        (
            {"nan": "drop"},
            InputError,
            "Expected `nan` to be 'raise', 'ignore' or 'each', got 'drop'",
        ),
        ({"time": None, "max_step": 3}, InputTypeError, "Expected `time` beside `max_step`"),
        ({"max_step": "1h"}, InputTypeError, "`max_step` to be a number, or a timedelta where"),
        ({"max_step": -1}, InputError, "`max_step` to be a finite number of 0 or more, got -1"),
        ({"max_step": timedelta(0)}, InputError, "`max_step` to be longer than 0"),
        ({"folds": 1}, InputError, "`folds`"),
        ({"retune": 0}, InputError, "`retune`"),
        ({"by": "caught"}, InputError, "got 'caught'"),
        (
            {"fit_until": 3, "threshold": 0.5},
            InputTypeError,
            "a rule that chooses thresholds beside `fit_until`, got the threshold 0.5",
        ),
        (
            {"fit_until": 3, "score": None, "predicted": "p"},
            InputTypeError,
            "beside `fit_until`, got `predicted`",
        ),
        (
            {"retune": 9, "score": None, "predicted": "p"},
            InputTypeError,
            "Expected `score` beside `retune`, got `predicted`",
        ),
    ],
)
def test_every_wrong_option_is_named(options, error, message):
    with pytest.raises(error, match=message):
        ask(**options)


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
        BatchOptions.read(truth="label", score="a", metrics=["affiliation", "auc_roc"])


def test_the_version_is_that_of_the_package():
    assert installed_version() == closecall.__version__


def test_a_bare_copy_has_none(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [])
    assert installed_version() == "unknown"


def test_the_description_tells_questions_apart():
    def about(fingerprint="one", **options):
        return BatchOptions.read(truth="label", score="a", **options).describe(fingerprint)

    same = about(strict=True)
    assert same == about()
    assert json.loads(json.dumps(same)) == same
    for options in ({"threshold": 0.5}, {"by": "series"}, {"disorder": "sort"}, {"time": "t"}):
        changed = about(**options)
        assert [name for name in same if same[name] != changed[name]] == list(options)
    assert about("two")["data"] == "two"


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (None, "best_f1"),
        ("best_f1_global", "best_f1_global"),
        ({"quantile": 0.9}, "quantile:0.9"),
        (1, "1"),
        (1.0, "1.0"),
    ],
)
def test_thresholds_and_columns_are_called_what_a_caller_passes(threshold, text):
    about = BatchOptions.read(truth="label", score="a", threshold=threshold).describe("one")
    assert (about["threshold"], about["score"]) == (text, "('a',)")
    assert "scores" not in about
