"""What a result shows: F-measures, scores above chance, text."""

import pickle
from math import inf, nan

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.event_scores import COLUMNS
from closecall.errors import InputError
from tests.affiliation.examples import NOTHING, NUMBERS, PARIS, scored


@pytest.mark.parametrize("beta", [0, 0.1, 0.5, 1, 2, 3, 10, 1e6, inf])
def test_fbeta(beta):
    precision, recall, square = NUMBERS.precision, NUMBERS.recall, beta * beta
    if beta == inf:
        expected = recall
    else:
        expected = (1 + square) * precision * recall / (square * precision + recall)
    assert NUMBERS.fbeta(beta) == pytest.approx(expected, rel=1e-14)
    assert min(precision, recall) <= NUMBERS.fbeta(beta) <= max(precision, recall)


@pytest.mark.parametrize("beta", [0, 0.3, 1, 2, 7, inf])
def test_fbeta_of_a_perfect_result(beta):
    assert cc.affiliation([0, 1], [0, 1]).fbeta(beta) == 1


def test_f1():
    assert NUMBERS.f1 == NUMBERS.fbeta(1)
    np.testing.assert_array_equal(np.isnan(NUMBERS.events.f1), [False, True])
    precision, recall = NUMBERS.events.precision[0], NUMBERS.events.recall[0]
    assert NUMBERS.events.f1[0] == pytest.approx(2 * precision * recall / (precision + recall))
    assert np.isnan(NOTHING.f1)


@pytest.mark.parametrize(("beta", "shown"), [(-1, "-1"), (nan, "nan")])
def test_wrong_beta(beta, shown):
    with pytest.raises(InputError) as caught:
        NUMBERS.fbeta(beta)
    assert str(caught.value) == f"Expected `beta` to be 0 or more, got {shown}."


def test_repr():
    assert repr(NOTHING) == "Affiliation(precision=nan, recall=0.000, f1=nan, events=1)"
    assert repr(cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0])) == (
        "Affiliation(precision=1.000, recall=0.875, f1=0.933, events=1)"
    )
    assert repr(NUMBERS.events) == f"EventScores(2 events, columns {', '.join(COLUMNS)})"
    assert len(NUMBERS.events) == 2


def test_frozen():
    with pytest.raises(AttributeError):
        NUMBERS.precision = 1.0
    with pytest.raises(AttributeError):
        NUMBERS.events.predicted_count = None


def test_pickle():
    twin = pickle.loads(pickle.dumps(scored(PARIS)))  # noqa: S301 - our own bytes
    assert twin.to_dict() == scored(PARIS).to_dict()


def test_scores_above_chance_are_in_the_plain_values():
    values = NUMBERS.to_dict()
    for name in ("precision_above_chance", "recall_above_chance", "f1_above_chance"):
        assert values[name] == getattr(NUMBERS, name)
    assert values["chance"]["alarms"] == NUMBERS.events.alarms == 1
    assert [row["recall_above_chance"] for row in values["events"]] == (
        NUMBERS.events.recall_above_chance.tolist()
    )
    assert NOTHING.to_dict()["f1_above_chance"] is None
