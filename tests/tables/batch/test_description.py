"""What a batch was begun with, in a caller's own words."""

import json

import pytest

from closecall.tables.batch.description import describe
from closecall.tables.batch.question import Question


def test_the_description_tells_questions_apart():
    def about(fingerprint="one", **options):
        return describe(Question.ask(truth="label", score="a", **options), fingerprint)

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
    about = describe(Question.ask(truth="label", score="a", threshold=threshold), "one")
    assert (about["threshold"], about["score"]) == (text, "('a',)")
    assert "scores" not in about
