"""Parts of a giant series: sums, trouble, and what travels."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from closecall.tables.batch.question import Question
from closecall.tables.batch.series_part import SeriesPart, evaluate_part

from .test_endless import Slice

QUESTION = Question.ask(truth="label", score="score", threshold=0.5, metrics=["affiliation"])


def part(labels, scores, key="part"):
    table = pa.table({"label": labels, "score": pa.array(scores, type=pa.float64())})
    return evaluate_part(Slice(key, table), QUESTION)


def test_sums_and_extremes():
    both = part([0, 1, 1], [0.1, 0.7, 0.2]).followed_by(part([1, 0], [0.5, 0.9]))
    (detector,) = both.detectors
    assert (both.samples, both.true_samples, len(both.numbers)) == (5, 3, 1)
    assert (detector.predicted_samples, detector.hit_samples) == (3, 2)
    assert (detector.lowest, detector.highest) == (0.1, 0.9)
    assert repr(detector.stream) == "AffiliationStream(1 true event, 2 alarms, from 0 to 5)"


def test_a_part_without_rows_is_neutral():
    own, nothing = part([0, 1], [0.1, 0.7]), part([], [])
    assert nothing == SeriesPart(numbers=nothing.numbers)
    for both in (own.followed_by(nothing), nothing.followed_by(own)):
        assert (both.samples, both.detectors, both.trouble) == (2, own.detectors, None)


@pytest.mark.parametrize("first", [True, False])
def test_trouble_stays_and_says_where_in_the_series(first):
    bad, good = part([0, 3], [0.1, 0.2], key="bad"), part([0, 1], [0.1, 0.7])
    both = bad.followed_by(good) if first else good.followed_by(bad)
    status, reason = both.trouble
    assert (both.samples, status) == (4, "bad_labels")
    index = 1 if first else 3
    assert reason == f"Expected `label` labels to be 0 or 1, got 3 at index {index}."
    holes = part([0, 1], [0.1, None])
    (detector,) = good.followed_by(good).followed_by(holes).followed_by(holes).detectors
    assert detector.trouble[0] == "nan_score"
    assert detector.trouble[1].endswith(" a null at index 5.")


def test_times_are_looked_at_even_where_no_prediction_can_be_read():
    question = Question.ask(truth="label", predicted="a", time="t", metrics=["affiliation"])
    table = pa.table({"label": [0, 1], "a": [0, 5], "t": [3, 3]})
    status, reason = evaluate_part(Slice("part", table), question).trouble
    assert status == "bad_times"
    assert reason == "Expected `t` to be strictly increasing, got 3 after 3 at index 1."


def test_only_little_travels():
    random = np.random.default_rng(0)
    labels = np.arange(1_000_000) % 10_000 == 5_000
    own = part(labels, random.random(labels.size))
    assert len(own.numbers) == 100
    assert len(pickle.dumps(own)) < 500_000  # two zones of 10,000 samples with 2,500 alarms each
