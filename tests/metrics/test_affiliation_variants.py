"""Affiliation in the registry, and its rescaled variants."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from math import comb, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.affiliation.score import score_pair
from closecall.events import Intervals
from closecall.metrics import _kernels as kernels
from closecall.metrics import affiliation_variants as variants
from closecall.metrics.affiliation_variants import (
    RescaledResult,
    normalised_affiliation,
    unbiased_affiliation,
)
from closecall.series import read_pair
from tests.oracle.affiliation import evaluate
from tests.properties.strategies import (
    cases,
    decimal_steps,
    dyadic_steps,
    mixed_cases,
    on_uneven_axis,
    small,
)

TRUTH = [0] * 300 + [1] * 100 + [0] * 500 + [1] * 40 + [0] * 60


def chance(truth):
    """Give the mean precision of one random point: 1/2 + p²/2 in each zone (section 4.4)."""
    events = cc.affiliation(truth, truth).events
    share = (events.stop - events.start) / (events.zone_stop - events.zone_start)
    return float((0.5 + share**2 / 2).mean())


def random_events(pair, generator):
    """Draw a random prediction, as the events it consists of."""
    starts, stops = variants._random(pair, generator)
    starts, stops = np.sort(starts), np.sort(starts if stops is None else stops)
    return Intervals(starts, stops, pair.clock)


def drawn(truth, seeds):
    pair = read_pair(truth, truth)
    generators = [np.random.default_rng(seed) for seed in range(seeds)]
    return [
        score_pair(replace(pair, predicted=random_events(pair, generator))).precision
        for generator in generators
    ]


@given(case=mixed_cases)
def test_normalised_precision_is_zero_at_one_half_and_its_sign_that_of_f1(case):
    if not case.predicted:
        return
    plain, result = (
        case.score(),
        normalised_affiliation(cc.Events(case.truth), cc.Events(case.predicted), span=case.span),
    )
    assert result.precision == 2 * plain.precision - 1
    assert result.recall == plain.recall
    size = abs(result.precision)
    expected = 2 * size * plain.recall / (size + plain.recall) if size + plain.recall else 0.0
    assert abs(result.f1) == pytest.approx(expected)
    assert result.f1 == 0 or np.sign(result.f1) == np.sign(result.precision)
    for beta in (0.1, 1, 3):
        assert -1 <= result.fbeta(beta) <= 1


def test_worse_than_random_is_below_zero_and_never_above_one():
    truth = [0] * 40 + [1] * 5 + [0] * 55
    far = [1] * 15 + [0] * 24 + [1] + [0] * 40 + [1] * 20
    result = normalised_affiliation(truth, far)
    assert result.precision == pytest.approx(2 * cc.affiliation(truth, far).precision - 1)
    # The signed precision in the denominator, where its size belongs, would give 2 and more.
    signed = 2 * abs(result.precision) * result.recall / (result.precision + result.recall)
    assert signed > 2
    assert -1 < result.f1 < -0.5


def test_the_random_level_is_the_one_of_theory():
    draws = drawn(TRUTH, 400)
    error = np.std(draws) / 20
    assert np.mean(draws) == pytest.approx(chance(TRUTH), abs=4 * error)
    assert error < 0.006


def test_the_seed_decides():
    predicted = [*TRUTH[1:], 0]
    first, again, other = (unbiased_affiliation(TRUTH, predicted, seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first.precision != other.precision
    assert first.recall == other.recall == cc.affiliation(TRUTH, predicted).recall
    assert unbiased_affiliation(TRUTH, predicted) == unbiased_affiliation(TRUTH, predicted, seed=0)


def test_the_rescaling_is_the_published_one():
    predicted = TRUTH[5:] + [0] * 5
    generator = np.random.default_rng(11)
    pair = read_pair(TRUTH, predicted)
    level = np.mean(
        [
            score_pair(replace(pair, predicted=random_events(pair, generator))).precision
            for _ in range(3)
        ]
    )
    plain = cc.affiliation(TRUTH, predicted).precision
    found = unbiased_affiliation(TRUTH, predicted, seed=11).precision
    assert found == pytest.approx((plain - level) / (1 - level), rel=1e-14)


def test_two_percent_of_the_samples_are_drawn():
    pair = read_pair(TRUTH, TRUTH)
    random = random_events(pair, np.random.default_rng(0))
    assert len(random) == 20
    random.require_disjoint("random")
    random.require_inside(pair.start, pair.stop, "random")
    short = read_pair([0, 1, 0], [0, 1, 0])
    starts, _ = variants._random(short, np.random.default_rng(0))
    assert len(starts) == 1


def test_axes_without_samples_draw_points():
    at = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=i) for i in range(len(TRUTH) + 1)]
    for times in (at, (np.arange(len(TRUTH) + 1) / 8).tolist()):
        events = cc.Events.from_labels(TRUTH, times[:-1])
        pair = read_pair(events, events, span=(times[0], times[-1]))
        pair = pair if pair.clock.kind == "number" else variants._in_steps(pair)
        random = random_events(pair, np.random.default_rng(0))
        assert len(random) == 10_000
        random.require_disjoint("random")
        level = score_pair(replace(pair, predicted=random)).precision
        assert level == pytest.approx(chance(TRUTH), abs=0.02)


def test_the_unit_of_the_times_does_not_matter():
    predicted = TRUTH[5:] + [0] * 5
    usual = unbiased_affiliation(TRUTH, predicted, seed=3)
    seconds = np.datetime64("2024-01-01", "s") + 60 * np.arange(len(TRUTH))
    for times in (
        seconds,
        seconds.astype("datetime64[ns]"),
        60 * np.arange(len(TRUTH)),
        0.1 * np.arange(len(TRUTH)),
    ):
        timed = unbiased_affiliation(TRUTH, predicted, seed=3, times=times)
        assert timed.values() == pytest.approx(usual.values(), rel=1e-9)
        row = cc.evaluate(TRUTH, predicted, metrics=["unbiased_affiliation"], times=times)
        assert row["unbiased_affiliation_f1"] == pytest.approx(
            unbiased_affiliation(TRUTH, predicted).f1, rel=1e-9
        )


def test_samples_on_uneven_times_are_drawn_with_their_durations():
    times = np.cumsum(1 + np.arange(len(TRUTH)) % 5)
    pair = read_pair(TRUTH, TRUTH, times=times, end=times[-1] + 1)
    starts, stops = variants._random(pair, np.random.default_rng(0))
    order = np.argsort(starts)
    durations = np.diff(np.append(times, times[-1] + 1))
    rows = np.searchsorted(times, starts)
    np.testing.assert_array_equal(stops - starts, durations[rows])
    events = Intervals(starts[order], stops[order], pair.clock)
    expected = score_pair(replace(pair, predicted=events)).precision
    assert variants._precision_of(starts, stops, pair) == pytest.approx(expected, rel=1e-12)


def test_a_long_integer_axis_is_not_filled():
    truth, span = cc.Events([(10**17, 2 * 10**17)]), (0, 10**18)
    result = unbiased_affiliation(truth, truth, span=span)
    assert result.precision == 1.0


def test_where_everything_is_anomalous_nothing_beats_chance():
    result = unbiased_affiliation([1, 1, 1], [0, 1, 0])
    assert isnan(result.precision)
    assert isnan(result.f1)
    assert result.recall == cc.affiliation([1, 1, 1], [0, 1, 0]).recall


def test_the_level_of_swat_is_the_published_one(data_folder):
    # What the authors' code stores for SWaT is itself the mean of a few random draws.
    truth = np.loadtxt(data_folder / "kdd2022" / "swat_groundtruth.gz", dtype=np.uint8)
    draws = drawn(truth, 20)
    published = 0.529361619
    assert np.mean(draws) == pytest.approx(published, abs=3 * np.std(draws) / 3**0.5)
    assert np.mean(draws) == pytest.approx(chance(truth), abs=0.01)


def test_a_rescaled_result_keeps_its_sign():
    result = RescaledResult(-0.5, 0.5)
    assert result.values() == {"precision": -0.5, "recall": 0.5, "f1": -0.5}
    assert result.fbeta(2) == -0.5
    assert isnan(RescaledResult(nan, 0.0).f1)
    assert repr(RescaledResult(0.0, 0.0)) == (
        "RescaledResult(precision=0.000, recall=0.000, f1=0.000)"
    )


def precision_of(case, places, place=lambda time: time):
    """Score places, in the order given, as a random prediction of the case's series."""
    moved = case.moved(place)
    pair = read_pair(cc.Events(moved.truth), cc.Events(moved.truth), span=moved.span)
    starts = np.array(places) + (pair.start - case.span[0])
    stops = starts + 1 if pair.clock.kind == "integer" else None
    return variants._precision_of(starts, stops, pair)


@given(case=cases(truth="some"), drawn=small(0, 255, 1, 20))
def test_samples_and_points_in_any_order_score_as_the_events_they_make(case, drawn):
    first, last = case.span
    points = list(dict.fromkeys(first + place % (last - first) for place in drawn))
    expected = evaluate(case.truth, [(x, x + 1) for x in sorted(points)], case.span)
    assert precision_of(case, points) == pytest.approx(expected.precision, rel=1e-8)
    expected = evaluate(case.truth, [(x, x) for x in sorted(points)], case.span)
    at = datetime(2024, 1, 1, tzinfo=UTC)
    found = precision_of(case, points, lambda tick: at + timedelta(microseconds=tick))
    assert found == pytest.approx(expected.precision, rel=1e-8)


@given(data=st.data(), steps=st.sampled_from([dyadic_steps, decimal_steps]))
def test_points_of_a_float_axis_score_as_the_events_they_are(data, steps):
    case = data.draw(on_uneven_axis(cases(truth="some"), steps))
    points = data.draw(st.lists(st.floats(*case.span), min_size=1, max_size=8, unique=True))
    pair = read_pair(cc.Events(case.truth), cc.Events(case.truth), span=case.span)
    exact = cc.affiliation(
        cc.Events(case.truth), cc.Events([(x, x) for x in sorted(points)]), span=case.span
    )
    found = variants._precision_of(np.array(points), None, pair)
    assert found == pytest.approx(exact.precision, rel=1e-12)


@given(
    inner=small(1, 250, 0, 40).map(lambda drawn: sorted(4 * place - 1 for place in drawn)),
    buckets=st.integers(1, 60),
    end=st.integers(0, 1000),
    scale=st.sampled_from([1, 0.1, 1e-130, 1e15]),
)
def test_the_guide_leads_to_the_zone(inner, buckets, end, scale):
    borders = np.array([0, *inner, 1000]) * scale
    guide = np.empty(buckets, dtype=np.int64)
    per_tick = kernels.fill_guide(borders, guide)
    # A zone that starts at the time itself is its zone; at the end it is the last one.
    for time in (*borders, end * scale):
        found = kernels.zone_of(time, borders, guide, per_tick)
        assert found == sum(border <= time for border in borders[1:-1])


@given(
    drawn=small(0, 200, 0, 60),
    size=st.integers(1, 60),
    cut=st.integers(0, 60),
)
def test_repeated_places_are_left_out(drawn, size, cut):
    places, marks = np.full(size, -1), np.zeros(4, dtype=np.uint64)
    count = 0
    for part in (drawn[:cut], drawn[cut:]):
        count = kernels.take_distinct(np.array(part, dtype=np.int64), marks, places, count)
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
