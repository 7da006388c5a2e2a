"""`pr_from_events` against the values of the paper's implementation."""

import gzip
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

import closecall as cc
from closecall.compat import official, pr_from_events
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

KEYS = [
    "precision",
    "recall",
    "individual_precision_probabilities",
    "individual_recall_probabilities",
    "individual_precision_distances",
    "individual_recall_distances",
]


def test_keys_and_the_order_of_the_arguments():
    truth, predicted = [(1, 10)], [(2, 4), (14, 16)]
    scores = pr_from_events(predicted, truth, (0, 20))
    assert list(scores) == KEYS
    result = cc.affiliation(cc.Events(truth), cc.Events(predicted), span=(0, 20))
    assert (scores["precision"], scores["recall"]) == (result.precision, result.recall)
    # By hand: half of the predicted time is 0 away, the other half 5 on average.
    assert scores["individual_precision_distances"] == [2.5]
    swapped = pr_from_events(truth, predicted, (0, 20))
    assert swapped["precision"] != scores["precision"]


def test_undefined_is_nan_and_infinitely_far():
    scores = pr_from_events([(1, 2)], [(1, 2), (50, 60)], (0, 100))
    assert scores["individual_recall_distances"] == [0.0, np.inf]
    np.testing.assert_array_equal(scores["individual_precision_probabilities"], [1.0, np.nan])
    assert np.isnan(pr_from_events([], [(1, 2)], (0, 9))["precision"])


def test_distances_of_datetimes_are_seconds():
    at = [datetime(2024, 1, 1, 0, minute, tzinfo=UTC) for minute in (0, 10, 20, 30, 40)]
    truth = [(at[1], at[2])]
    scores = pr_from_events([(at[2], at[3])], truth, (at[0], at[4]))
    assert scores["individual_precision_distances"] == [300.0]
    assert pr_from_events([], truth, (at[0], at[4]))["individual_recall_distances"] == [np.inf]


def random_case(seed, start, length, number):
    """Give predictions, truth and span, from `start` on, of 4 events each."""
    random = np.random.default_rng(seed)
    sides = random.uniform(0, length, (2, 8))
    if number is int:
        sides = np.stack([random.choice(length, 8, replace=False) for _ in range(2)])
    borders = (np.sort(sides, axis=1) + number(start)).tolist()
    predicted, truth = ([tuple(side[i : i + 2]) for i in range(0, 8, 2)] for side in borders)
    return predicted, truth, (number(start), number(start + length))


def recalls(function, predicted, truth, span):
    return np.array(
        function(predicted, truth, span)["individual_recall_probabilities"], dtype=float
    )


@pytest.mark.parametrize(
    ("start", "length", "number", "lost"),
    [
        (0, 1000, int, 0),
        (10**6, 1000, int, 0),
        (1000, 10, float, 1e-10),
        (1_700_000_000, 1000, int, 1e-3),
    ],
)
def test_where_the_official_recall_loses_digits(start, length, number, lost):
    reason = "telemeval, which carries the official algorithm, is not installed"
    official = pytest.importorskip("telemeval.metrics.affiliation", reason=reason).pr_from_events
    worst = 0.0
    for seed in range(20):
        *sides, span = random_case(seed, start, length, number)
        exact_sides = [[tuple(map(Fraction, event)) for event in side] for side in sides]
        exact = recalls(official, *exact_sides, tuple(map(Fraction, span)))
        assert recalls(pr_from_events, *sides, span) == pytest.approx(exact, abs=1e-12)
        worst = max(worst, np.abs(recalls(official, *sides, span) - exact).max())
    assert worst > lost if lost else worst < 1e-12


@pytest.mark.parametrize(
    ("predicted", "truth"),
    [
        ([(1, 2), (2, 3)], [(5, 6)]),
        ([(5, 6)], [(1, 2), (2, 3)]),
        (np.array([(1, 2)]), [(5, 6)]),
        ([(1, 1)], [(5, 6)]),
    ],
    ids=["predictions that touch", "truth that touches", "an array", "a point"],
)
def test_what_is_an_error_there(predicted, truth):
    assert 0 < pr_from_events(predicted, truth, (0, 9))["recall"] < 1
    official = pytest.importorskip("telemeval.metrics.affiliation").pr_from_events
    with pytest.raises((TypeError, ValueError)):
        official(predicted, truth, (0, 9))


ONE, SPAN = [(1, 3)], (0, 9)
BACK, TWO = [(5, 6), (1, 3)], [(1, 3), (2, 4)]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((TWO, ONE, SPAN), InputError, r"`events_pred` .*\n\n.*Events\(events_pred"),
        ((ONE, TWO, SPAN), InputError, r"`events_gt` .*\n\n.*Events\(events_gt"),
        ((ONE, ONE, (9, 0)), InputError, "Expected `Trange` to start before it stops"),
        ((ONE, ONE, None), InputTypeError, r"Expected `Trange=\(start, stop\)`"),
        *(
            (arguments, InputError, rf"`{name}` to be sorted .* index 1\.\n\n.*Sort them by start")
            for name, arguments in (
                ("events_pred", (BACK, ONE, SPAN)),
                ("events_gt", (ONE, BACK, SPAN)),
            )
        ),
        (
            ([(3, 1)], ONE, SPAN),
            InputError,
            "`events_pred` to have events that start before",
        ),
        (
            (ONE, [(2, 1)], SPAN),
            InputError,
            "`events_gt` to have events that start before",
        ),
        ((ONE, [], SPAN), UndefinedMetricError, "got none in `events_gt`"),
        ((ONE, 7, SPAN), InputTypeError, "Expected `events_gt` to be pairs"),
        (([("a", "b")], ONE, SPAN), InputTypeError, "Expected `events_pred` to be numbers"),
    ],
)
def test_messages_name_their_arguments(arguments, kind, message):
    with pytest.raises(kind, match=message):
        pr_from_events(*arguments)


def test_the_other_names_of_that_package(tmp_path, monkeypatch):
    """On two files as it lays them out; each hand-worked."""
    (tmp_path / "data").mkdir()
    for name, labels in {"groundtruth": "0110001", "mine": "0011000"}.items():
        with gzip.open(tmp_path / "data" / f"demo_{name}.gz", "wt") as file:
            file.write("\n".join(labels))
    monkeypatch.chdir(tmp_path)
    truth, mine = [(1, 3), (6, 7)], [(2, 4)]
    assert official.read_all_as_events() == (
        {"demo": {"groundtruth": truth, "mine": mine}},
        {"demo": (0, 7)},
    )
    scores = official.produce_all_results()["demo"]["mine"]
    assert repr(scores) == repr(pr_from_events(mine, truth, (0, 7)))  # nan is not itself
    assert official.infer_Trange(mine, truth) == (1, 7)
    assert official.infer_Trange([], truth) == (1, 7)
    assert official.infer_Trange([(0, 1), (8, 9)], truth) == (0, 9)
    assert not official.has_point_anomalies(truth)
    assert official.f1_func(0.5, 1) == pytest.approx(2 / 3)
    official.test_events(truth)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: official.test_events([(5, 6), (1, 3)]), "`events` to be sorted"),
        (lambda: official.infer_Trange([(1, 2)], []), "`events_gt` to hold an event, got none"),
        (lambda: official.convert_vector_to_events([0, 2]), "Expected `vector`"),
    ],
)
def test_what_the_other_names_refuse(call, message):
    with pytest.raises(InputError, match=message):
        call()
