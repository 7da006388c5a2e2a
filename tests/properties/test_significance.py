"""Calibration of the shift test: p-values are not too small without a link, and small with it.

Truth and predictions are drawn independently, and the predictions so that no place on the span is
preferred. The same simulation is then given a detector that knows the events, which must fail it.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy  # which loads its parts when they are used
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.affiliation.shifts import score_moved
from closecall.chance import significance
from tests.oracle.significance import shifted
from tests.properties.strategies import events, mixed_cases

SERIES, SHIFTS, SPAN = 300, 199, 2000
LEVEL = 0.01  # of each check; seeds are fixed, so a check that holds keeps holding


def labels(random, count, longest):
    """Draw ranges that may overlap, anywhere on a circle of samples."""
    twice = np.zeros(2 * SPAN, dtype=np.uint8)
    for start in random.integers(SPAN, size=count).tolist():
        twice[start : start + random.integers(1, longest + 1)] = 1
    return twice[:SPAN] | twice[SPAN:]


def points(random):
    return cc.Events.from_points(np.sort(random.uniform(0, SPAN, size=8)))


def simulate(kind, seed):
    random = np.random.default_rng([2022, seed])
    if kind == "points":
        middles = np.sort(random.uniform(0, SPAN, size=4))
        truth = cc.Events.from_points(middles)
        return significance(truth, points(random), span=(0, SPAN), n=SHIFTS)
    truth = labels(random, 4, 60)
    if kind == "ranges":
        predicted = labels(random, 12, 40)
    elif kind == "long ranges":
        predicted = labels(random, 5, 300)
    else:
        predicted = np.roll(truth, 15) | labels(random, 2, 40)
    return significance(truth, predicted, n=SHIFTS)


def uniform(pvalues, alternative="two-sided"):
    return scipy.stats.kstest(pvalues, "uniform", alternative=alternative).pvalue


@pytest.mark.parametrize("kind", ["points", "ranges", "long ranges"])
def test_without_a_link_pvalues_are_not_too_small_and_events_not_found_too_often(kind):
    """The larger p-value of two sides, and ties, are bounded on one side only."""
    results = [simulate(kind, seed) for seed in range(SERIES)]
    for name in ("precision", "recall", "f1"):
        tests = [getattr(result, name) for result in results]
        assert uniform([replace(test, event_null=None).pvalue for test in tests]) > LEVEL, name
        pvalues = np.array([test.pvalue for test in tests])
        assert uniform(pvalues, "greater") > LEVEL, name
        test = scipy.stats.binomtest(int((pvalues <= 0.05).sum()), SERIES, 0.05, "greater")
        assert test.pvalue > LEVEL, name
        columns = [getattr(result.events, name) for result in results]
        first = np.array([column.pvalue[0] for column in columns])
        assert uniform(first[~np.isnan(first)], "greater") > LEVEL, name
        any_found = sum(np.nanmin([1, *column.adjusted_pvalue]) <= 0.05 for column in columns)
        test = scipy.stats.binomtest(int(any_found), SERIES, 0.05, alternative="greater")
        assert test.pvalue > LEVEL, name


def test_with_a_link_they_are_not():
    results = [simulate("late copies", seed) for seed in range(60)]
    for name in ("precision", "recall", "f1"):
        pvalues = np.array([getattr(result, name).pvalue for result in results])
        assert uniform(pvalues) < 1e-12, name
        assert np.median(pvalues) <= 0.05, name


def test_scores_without_a_link_have_uniform_pvalues():
    pvalues = []
    for seed in range(200):
        random = np.random.default_rng([7, seed])
        noise = random.normal(size=SPAN // 4)
        smooth = np.real(np.fft.ifft(np.fft.fft(noise) * np.fft.fft(np.ones(15), noise.size)))
        truth = labels(random, 3, 60)[: noise.size]
        truth[random.integers(noise.size)] = 1
        test = significance(truth, scores=smooth, n=99).average_precision
        pvalues.append(test.pvalue)
    assert uniform(pvalues) > LEVEL


@given(mixed_cases, st.data())
def test_a_shift_is_scoring_the_shifted_events(case, data):
    first, last = case.span
    shift = data.draw(st.integers(0, last - first - 1))
    pair = case.score().events.pair
    seam = (last - first - shift) % (last - first)
    seams = np.array([seam])
    scores, _, ((_, _, (precision, recall, _), _), _) = score_moved(pair, seams, seams[:0])
    moved = shifted(case.predicted, shift, case.span)
    starts = [start for start, _ in moved]
    if len(set(starts)) < len(starts):  # a point at the span's end meets what starts there
        return
    alone = case.having(moved).score()
    np.testing.assert_allclose(scores[0, 1], alone.precision, rtol=0, atol=1e-12)
    np.testing.assert_allclose(scores[1, 1], alone.recall, rtol=0, atol=1e-12)
    np.testing.assert_allclose(precision, alone.events.precision, rtol=0, atol=1e-12)
    np.testing.assert_allclose(recall, alone.events.recall, rtol=0, atol=1e-12)


@given(mixed_cases)
def test_pvalues_are_within_their_bounds(case):
    result = significance(cc.Events(case.truth), events(case.predicted), span=case.span, n=7)
    for name in ("precision", "recall", "f1"):
        columns = getattr(result.events, name)
        for pvalues in (columns.pvalue, columns.adjusted_pvalue, getattr(result, name).pvalue):
            known = np.atleast_1d(pvalues)[~np.isnan(np.atleast_1d(pvalues))]
            assert ((known >= 1 / 8) & (known <= 1)).all()
        assert (np.isnan(columns.pvalue) == np.isnan(columns.observed)).all()
