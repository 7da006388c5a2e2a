"""What may be asked of a batch, and what every wrong option is told."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.tables.batch.question import Question


def ask(**options):
    given = {"by": "series", "truth": "label", "score": "score"}
    return Question.ask(**{**given, **options})


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
    levels = ("chance_precision", "chance_recall", "chance_f1")
    assert columns[-4:] == (*levels, "chance_average_precision")
    assert "alarmed_events" in columns
    assert ask(score=None, predicted="p").row_columns[-3:] == levels
    average = ask(metrics=["affiliation_average_precision"]).row_columns
    assert average[-2:] == ("affiliation_average_precision", "chance_average_precision")
    plain = ask(metrics=["auc_roc"]).row_columns
    assert plain[-2:] == ("threshold", "auc_roc")
    assert "detector" not in ask(by=["series", "detector"]).row_columns


@pytest.mark.parametrize(
    ("given", "kind", "value"),
    [
        (0.5, "number", 0.5),
        (np.float32(0.5), "number", 0.5),
        (3, "number", 3),
        (np.int64(3), "number", 3),
        (float("inf"), "number", float("inf")),
        ({"quantile": 0.99}, "quantile", 0.99),
        ("quantile:0.99", "quantile", 0.99),
        ({"quantile": 1}, "quantile", 1.0),
    ],
)
def test_thresholds_with_a_value(given, kind, value):
    rule = ask(threshold=given).threshold
    assert (rule.kind, rule.value) == (kind, value)
    assert isinstance(rule.value, type(value))
    assert not rule.looks_at_truth


@pytest.mark.parametrize("given", ["best_f1", "best_f1_global"])
def test_thresholds_chosen_with_the_truth_say_so(given):
    rule = ask(threshold=given).threshold
    assert rule.kind == given
    assert rule.looks_at_truth


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
        ({"threshold": True}, InputTypeError, "to be a number or a rule, got True"),
        ({"threshold": [1]}, InputTypeError, r"to be a number or a rule, got \[1\]"),
        ({"threshold": float("nan")}, InputError, "Expected `threshold` to be a number, or inf"),
        ({"threshold": "best"}, InputError, "a known rule, got 'best'"),
        ({"threshold": {"quantil": 0.9}}, InputError, "a known rule, got {'quantil': 0.9}"),
        ({"threshold": {"quantile": 1.5}}, InputError, "from 0 to 1, got 1.5"),
        ({"threshold": "quantile:high"}, InputError, "from 0 to 1, got 'high'"),
        ({"threshold": {"quantile": float("nan")}}, InputError, "from 0 to 1, got nan"),
    ],
)
def test_every_wrong_option_is_named(options, error, message):
    with pytest.raises(error, match=message):
        ask(**options)
