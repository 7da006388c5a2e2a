"""The compiled draws of random predictions, and their precision, against the oracle."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.metrics import _random_precision, variants
from closecall.series import read_pair
from tests.oracle.affiliation import evaluate
from tests.properties.strategies import cases, decimal_steps, dyadic_steps, on_uneven_axis


def precision_of(case, places, place=lambda time: time):
    """Score places, in the order given, as a random prediction of the case's series."""
    moved = case.moved(place)
    pair = read_pair(cc.Events(moved.truth), cc.Events(moved.truth), span=moved.span)
    starts = np.array(places) + (pair.start - case.span[0])
    stops = starts + 1 if pair.clock.kind == "integer" else None
    return variants._precision_of(starts, stops, pair)


@given(case=cases(truth="some"), data=st.data())
def test_samples_in_any_order_score_as_the_events_they_make(case, data):
    first, last = case.span
    starts = data.draw(st.lists(st.integers(first, last - 1), min_size=1, unique=True))
    expected = evaluate(case.truth, [(x, x + 1) for x in sorted(starts)], case.span)
    assert precision_of(case, starts) == pytest.approx(expected.precision, rel=1e-8)


@given(case=cases(truth="some"), data=st.data())
def test_points_of_a_clock_score_as_the_events_they_are(case, data):
    first, last = case.span
    points = data.draw(st.lists(st.integers(first, last - 1), min_size=1, unique=True))
    expected = evaluate(case.truth, [(x, x) for x in sorted(points)], case.span)
    at = datetime(2024, 1, 1, tzinfo=UTC)
    found = precision_of(case, points, lambda tick: at + timedelta(microseconds=tick))
    assert found == pytest.approx(expected.precision, rel=1e-8)


@pytest.mark.parametrize("steps", [dyadic_steps, decimal_steps])
@given(data=st.data())
def test_points_of_a_float_axis_score_as_the_events_they_are(steps, data):
    case = data.draw(on_uneven_axis(cases(truth="some"), steps))
    points = data.draw(st.lists(st.floats(*case.span), min_size=1, unique=True))
    pair = read_pair(cc.Events(case.truth), cc.Events(case.truth), span=case.span)
    exact = cc.affiliation(
        cc.Events(case.truth), cc.Events([(x, x) for x in sorted(points)]), span=case.span
    )
    found = variants._precision_of(np.array(points), None, pair)
    assert found == pytest.approx(exact.precision, rel=1e-12)


@given(
    inner=st.lists(st.integers(1, 999), max_size=40).map(sorted),
    buckets=st.integers(1, 60),
    end=st.integers(0, 1000),
    scale=st.sampled_from([1, 0.1, 1e-130, 1e15]),
)
def test_the_guide_leads_to_the_zone(inner, buckets, end, scale):
    borders = np.array([0, *inner, 1000]) * scale
    guide = np.empty(buckets, dtype=np.int64)
    per_tick = _random_precision.fill_guide(borders, guide)
    # A zone that starts at the time itself is its zone; at the end it is the last one.
    for time in (*borders, end * scale):
        found = _random_precision.zone_of(time, borders, guide, per_tick)
        assert found == sum(border <= time for border in borders[1:-1])


@given(
    drawn=st.lists(st.integers(0, 200), max_size=60),
    size=st.integers(1, 60),
    cut=st.integers(0, 60),
)
def test_repeated_places_are_left_out(drawn, size, cut):
    places, marks = np.full(size, -1), np.zeros(4, dtype=np.uint64)
    count = 0
    for part in (drawn[:cut], drawn[cut:]):
        count = _random_precision.take_distinct(
            np.array(part, dtype=np.int64), marks, places, count
        )
    assert places[:count].tolist() == list(dict.fromkeys(drawn))[:size]


@pytest.mark.parametrize(("length", "cells"), [(9, 9), (5, 5), (2_100, 7)])
def test_every_pair_of_places_is_as_likely(length, cells):
    # The three ways: leaving out what repeats, and numpy's for crowded and for sparse places.
    generator, rounds, share = np.random.default_rng(5), 6_000, length // cells
    counts = Counter(
        tuple(sorted(variants._distinct(length, 2, generator) // share)) for _ in range(rounds)
    )
    expected = rounds * share**2 / comb(length, 2)
    for pair in combinations(range(cells), 2):
        assert counts[pair] == pytest.approx(expected, abs=4 * expected**0.5)


@pytest.mark.parametrize(
    ("length", "size"), [(1, 1), (50, 1), (40, 40), (10_001, 10_000), (4_001, 1_000), (10**15, 99)]
)
def test_places_differ_and_are_inside(length, size):
    for seed in range(20):
        places = variants._distinct(length, size, np.random.default_rng(seed))
        assert np.unique(places).size == places.size == size
        assert places.min() >= 0
        assert places.max() < length


def test_few_draws_that_repeat_are_drawn_again(monkeypatch):
    monkeypatch.setattr(variants, "_SPARE", -250)
    places = variants._distinct(4_001, 1_000, np.random.default_rng(0))
    assert np.unique(places).size == 1_000
