"""NAB's score of a whole corpus, and its best threshold."""

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.metrics.nab_corpus import nab_corpus
from tests.metrics.test_nab import BEST, PROBATIONS, PROFILES, SIDES
from tests.oracle import nab as oracle


def corpora(scores, most):
    """Some series: labels, and as many scores."""
    series = SIDES.flatmap(
        lambda sides: st.tuples(
            st.just(sides[0]), st.lists(scores, min_size=len(sides[0]), max_size=len(sides[0]))
        )
    )
    return st.lists(series, min_size=1, max_size=most)


@given(corpora(st.integers(0, 6), 4), PROFILES, PROBATIONS)
def test_the_best_threshold_of_a_corpus_is_the_best(corpus, profile, probation):
    truth = {str(i): labels for i, (labels, _) in enumerate(corpus)}
    scores = {str(i): values for i, (_, values) in enumerate(corpus)}
    result = nab_corpus(truth, scores, profile=profile, probation=probation)
    series = [(oracle.windows_of(labels), values) for labels, values in corpus]
    assert result.raw == pytest.approx(oracle.best(series, profile, probation), abs=1e-9)
    assert result.raw == pytest.approx(sum(each.raw for each in result.series.values()))
    for above in {value for _, values in corpus for value in values if value > result.threshold}:
        higher = nab_corpus(truth, scores, profile=profile, probation=probation, threshold=above)
        assert higher.raw < result.raw + 1e-9


def test_of_equally_good_thresholds_it_is_the_highest():
    # The row of score 5 lies in the window, and so does that of 4, later: it adds nothing.
    result = nab_corpus({"a": [0, 1, 1, 0]}, {"a": [0, 5, 4, 0]}, probation=0)
    assert result.threshold == 5
    lower = nab_corpus({"a": [0, 1, 1, 0]}, {"a": [0, 5, 4, 0]}, probation=0, threshold=4)
    assert lower.raw == result.raw


def test_silence_beside_infinite_scores():
    truth, scores = {"a": [0] * 20 + [1]}, {"a": [np.inf] + [0.1] * 20}
    result = nab_corpus(truth, scores, probation=0)
    assert result.value == 0
    assert np.isnan(result.threshold)


@given(corpora(st.floats(0, 1), 3), PROFILES, PROBATIONS)
def test_the_climb_takes_the_steps_of_the_oracle(corpus, profile, probation):
    truth = {str(i): labels for i, (labels, _) in enumerate(corpus)}
    scores = {str(i): values for i, (_, values) in enumerate(corpus)}
    options = {"profile": profile, "probation": probation}
    climbed = nab_corpus(truth, scores, threshold="climb", **options)
    series = [(oracle.windows_of(labels), values) for labels, values in corpus]
    threshold, raw = oracle.climb(series, profile, probation)
    assert climbed.threshold == threshold
    assert climbed.raw == pytest.approx(raw, abs=1e-9)
    assert climbed.raw <= nab_corpus(truth, scores, **options).raw + 1e-9


# One window, found from 0.9 on downwards. False alarms at 0.7 hide that from a climb that starts at
# 0.5: from 0.4 to 0.6 nothing changes.
HIDDEN = {"a": [0, 0, 0, 1, 1]}, {"a": [0.7, 0.7, 0.7, 0.9, 0.2]}


def test_a_climb_stops_at_a_local_maximum():
    truth, scores = HIDDEN
    best = nab_corpus(truth, scores, probation=0)
    climbed = nab_corpus(truth, scores, probation=0, threshold="climb")
    assert (best.threshold, best.raw) == (0.9, 1.0)
    assert (climbed.threshold, climbed.raw) == (0.5, pytest.approx(1 - 3 * 0.11))


def test_a_climb_goes_on_while_it_gains():
    """With the false alarms at 0.55 instead, the second look is at 0.6, above them."""
    truth, scores = HIDDEN[0], {"a": [0.55, 0.55, 0.55, 0.9, 0.2]}
    climbed = nab_corpus(truth, scores, probation=0, threshold="climb")
    assert (climbed.threshold, climbed.raw) == (0.6, 1.0)


@pytest.mark.parametrize(
    ("hit", "alarms", "threshold"),
    [
        (1.0, 0.9999999999, 1.0),  # nearer to 1 than the climb's last step
        (0.0, 0.5, 0.0),  # all of it is predicted, and only that finds the window
    ],
)
def test_a_climb_reaches_the_ends(hit, alarms, threshold):
    truth, scores = {"a": [0, 0, 0, 1]}, {"a": [alarms, alarms, alarms, hit]}
    assert nab_corpus(truth, scores, probation=0, threshold="climb").threshold == threshold


def test_windows_by_time_include_both_ends():
    """Times that repeat and go back are rows in the order of the file."""
    times = {"a": np.array([0, 1, 2, 3, 2, 3, 4, 4, 5])}
    scores = {"a": [0, 0, 0, 9, 0, 0, 0, 9, 0]}
    result = nab_corpus({"a": [(1, 4)]}, scores, times=times, probation=0, threshold=9)
    # Rows 1 to 6: from the first 1 to the first 4. Row 7 is one row after them.
    raw = oracle.sigma(-4 / 6) / BEST + 0.11 * oracle.sigma(1 / 5)
    assert result.raw == pytest.approx(raw, abs=1e-12)


def test_windows_need_not_fall_on_times():
    times, scores = {"a": [0, 10, 20, 30, 40]}, {"a": [0, 1, 1, 1, 0]}
    result = nab_corpus({"a": [(5, 25)]}, scores, times=times, probation=0, threshold=1)
    by_rows = nab_corpus({"a": cc.Events([(1, 3)])}, scores, probation=0, threshold=1)
    assert result.values() == by_rows.values()


def test_it_can_be_best_to_detect_nothing():
    result = nab_corpus({"a": [0, 0, 0, 0]}, {"a": [0.1, 0.5, 0.2, 0.1]})
    assert (result.threshold, result.raw) == (inf, 0.0)
    assert isnan(result.value)


def test_scores_of_any_type_give_one_result():
    labels, values = [0, 0, 1, 1, 0, 0], np.array([0, 1, 3, 2, 1, 0])
    results = {
        nab_corpus({"a": labels}, {"a": values.astype(dtype)}, probation=0).values()["raw"]
        for dtype in ("uint8", "int64", "float32", "float64")
    }
    assert results == {1.0}
