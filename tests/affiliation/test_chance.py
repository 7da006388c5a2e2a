"""The level of chance of a detector, and scores above it."""

import json
import pickle
import sys
from datetime import datetime, timedelta
from math import isnan, nan, pi, sqrt

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation import Chance, chance
from closecall.affiliation.chance import random_average_precision, scatter, sizes_of_ties
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from tests.oracle.chance import averages, random_average_precisions, random_detectors

TRUTH, SPAN = cc.Events([(10, 20), (50, 52), (80, 80)]), (0, 100)
PREDICTED = cc.Events([(12, 14), (33, 70), (90, 91)])
NOTHING = cc.Events.from_points([])


def scored(truth, predicted, span=SPAN, **options):
    return cc.affiliation(truth, predicted, span=span, **options)


def test_levels():
    level = chance(TRUTH, PREDICTED, span=SPAN)
    assert level.alarms == 3  # the second alarm crosses two borders, and is one alarm
    zones = np.array([35, 31, 34]) / 100
    filled = np.array([10 / 35, 2 / 31, 0])
    np.testing.assert_allclose(level.events.precision, 0.5 + filled**2 / 2, rtol=1e-14)
    loss = (1 - (1 - zones) ** 4) / (4 * zones)
    np.testing.assert_allclose(level.events.recall, 1 - loss, rtol=1e-13)
    weights = 1 - (1 - zones) ** 3
    about = weights @ level.events.precision / weights.sum()
    assert level.precision == pytest.approx(about, abs=0.003)
    assert level.recall == pytest.approx(level.events.recall.mean())
    assert len(level.events) == 3


def test_levels_and_deviations_are_those_of_independent_draws():
    truth, alarms, draws = [tuple(map(float, event)) for event in TRUTH], 3, 20_000
    generator = np.random.default_rng(alarms)
    by_zone = random_detectors(truth, (0.0, 100.0), alarms, draws=draws, generator=generator)
    precision, recall, f1 = averages(*by_zone)
    predicted = cc.Events.from_points(np.linspace(1, 99, alarms))
    level = chance(TRUTH, predicted, span=SPAN, n=4000)
    allowed = 4 * sqrt(precision.var() / draws + level.precision_error**2)
    assert level.precision == pytest.approx(precision.mean(), abs=allowed)
    assert level.recall == pytest.approx(recall.mean(), abs=4 * recall.std() / sqrt(draws))
    assert level.f1 == pytest.approx(f1.mean(), abs=4 * f1.std() / sqrt(draws) + 1e-3)
    assert level.precision_std == pytest.approx(precision.std(), rel=0.03)
    assert level.recall_std == pytest.approx(recall.std(), rel=0.03)
    assert level.f1_std == pytest.approx(f1.std(), rel=0.05)
    deviations = np.nanstd(by_zone[0], axis=0)
    np.testing.assert_allclose(level.events.precision_std, deviations, rtol=0.03)
    means = np.nanmean(by_zone[0], axis=0)
    np.testing.assert_allclose(level.events.precision, means, atol=0.015)
    np.testing.assert_allclose(level.events.recall, by_zone[1].mean(axis=0), atol=0.015)
    np.testing.assert_allclose(level.events.recall_std, by_zone[1].std(axis=0), rtol=0.04)


UNLIKE, UNLIKE_SPAN = cc.Events([(10, 80), (90, 95), (300, 300)]), (0, 400)


def test_the_level_does_not_depend_on_where_the_alarms_are():
    levels = [
        chance(UNLIKE, cc.Events.from_points(places), span=UNLIKE_SPAN).to_dict()
        for places in ([5, 70], [200, 350], [91, 340])
    ]
    assert levels[0] == levels[1] == levels[2]
    generator = np.random.default_rng(3)
    truth = [tuple(map(float, event)) for event in UNLIKE]
    by_zone = random_detectors(truth, (0.0, 400.0), 2, draws=40_000, generator=generator, grid=4)
    precision = averages(*by_zone)[0]
    error = sqrt(precision.var() / 40_000 + levels[0]["precision_error"] ** 2)
    assert levels[0]["precision"] == pytest.approx(precision.mean(), abs=3 * error)
    assert 0 < levels[0]["precision_error"] < 0.002


def test_one_alarm_is_exact():
    level = chance(cc.Events([(4, 6)]), cc.Events([(1, 2)]), span=(0, 10), n=2)
    assert (level.draws, level.f1_error, level.precision_error) == (0, 0, 0)
    assert level.precision_std == pytest.approx(sqrt(0.2 + 0.8**3 / 3 - 0.52**2), rel=1e-14)
    assert level.recall_std == pytest.approx(sqrt(1 / 12 - 0.04 / 3 + 13 * 0.008 / 40), rel=1e-13)
    assert level.events.recall_std.tolist() == pytest.approx([level.recall_std])
    assert level.f1 == pytest.approx(0.5081694848, abs=1e-10)


def test_a_result_knows_its_level():
    result = scored(TRUTH, PREDICTED)
    assert result.chance is result.chance
    assert result.chance.to_dict() == chance(TRUTH, PREDICTED, span=SPAN).to_dict()
    assert result.to_dict()["chance"] == result.chance.to_dict()


def test_labels_and_times():
    truth, predicted = np.zeros(100, int), np.zeros(100, int)
    truth[10:20] = truth[50:52] = 1
    predicted[12:14] = predicted[33:70] = 1
    expected = chance(cc.Events([(10, 20), (50, 52)]), cc.Events([(12, 14), (33, 70)]), span=SPAN)
    assert chance(truth, predicted).to_dict() == expected.to_dict()
    times = [datetime(2024, 1, 1) + timedelta(minutes=i) for i in range(100)]  # noqa: DTZ001
    dated = chance(truth, predicted, times=times).to_dict()
    assert dated["f1"] == pytest.approx(expected.f1, abs=1e-12)


def test_seeds():
    first, same, other = (chance(TRUTH, PREDICTED, span=SPAN, seed=seed) for seed in (1, 1, 2))
    assert first.to_dict() == same.to_dict()
    assert first.f1 != other.f1
    assert abs(first.f1 - other.f1) < 5 * first.f1_error
    assert first.recall == other.recall


def test_above_chance_by_hand():
    result = scored(TRUTH, PREDICTED)
    level = result.chance
    for name in ("precision", "recall", "f1"):
        own, by_chance = getattr(result.events, name), getattr(level.events, name)
        above = getattr(result.events, f"{name}_above_chance")
        np.testing.assert_allclose(above, (own - by_chance) / (1 - by_chance), atol=1e-14)
        if name != "f1":
            assert getattr(result, f"{name}_above_chance") == pytest.approx(above.mean())
    # F1 overall is that of the averages, and so is its level.
    assert result.f1_above_chance == pytest.approx((result.f1 - level.f1) / (1 - level.f1))


def test_a_missed_event_is_below_chance():
    result = scored(TRUTH, cc.Events([(12, 14)]))
    above, level = result.events.recall_above_chance, result.chance.events.recall
    np.testing.assert_allclose(above[1:], -level[1:] / (1 - level[1:]), rtol=1e-13)
    assert (above[1:] < -0.1).all()
    assert np.isnan(result.events.precision_above_chance).tolist() == [False, True, True]
    assert np.isnan(result.events.f1_above_chance).tolist() == [False, True, True]
    assert result.precision_above_chance == 1  # over the one event where it is defined
    assert np.isnan(level).sum() == 0
    # With one alarm, a zone is reached as often as it is long.
    shares, own = np.array([35, 31, 34]) / 100, result.chance.events.precision
    assert own[0] == 0.5 + (10 / 35) ** 2 / 2
    assert result.chance.precision == pytest.approx(shares @ own, rel=1e-14)


def test_perfect_is_one():
    result = scored(TRUTH, TRUTH)
    assert result.precision_above_chance == 1
    assert result.recall_above_chance == 1
    assert result.f1_above_chance == 1
    assert result.events.f1_above_chance.tolist() == [1, 1, 1]


def test_predicting_everything_is_chance_in_precision():
    result = scored(TRUTH, cc.Events([SPAN]))
    assert result.precision_above_chance == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(result.events.precision_above_chance, 0, atol=1e-12)
    assert result.recall_above_chance == 1


def test_no_alarm_at_all():
    result = scored(TRUTH, NOTHING)
    level = result.chance
    assert (level.alarms, level.recall, level.recall_std, level.draws) == (0, 0, 0, 0)
    undefined = ("precision", "f1", "precision_std", "f1_std", "precision_error", "f1_error")
    assert all(isnan(getattr(level, name)) for name in undefined)
    assert level.events.recall.tolist() == level.events.recall_std.tolist() == [0, 0, 0]
    assert np.isnan(level.events.precision).all()
    assert np.isnan(level.events.precision_std).all()
    assert np.isnan([level.events.f1, level.events.f1_std]).all()
    assert np.isnan(result.events.f1_above_chance).all()
    assert result.recall_above_chance == 0
    assert result.events.recall_above_chance.tolist() == [0, 0, 0]
    assert isnan(result.precision_above_chance)
    assert isnan(result.f1_above_chance)


def test_events_that_fill_their_zones():
    touching = cc.Events([(0, 4), (4, 6), (6, 9)])
    whole = scored(touching, cc.Events([(1, 2), (5, 6)]), span=(0, 9))
    assert (whole.chance.precision, whole.chance.precision_error) == (1, 0)  # all levels are equal
    assert np.isnan(whole.events.precision_above_chance).all()
    assert isnan(whole.precision_above_chance)
    assert whole.chance.precision_std == pytest.approx(0, abs=1e-12)
    assert 0 < whole.chance.f1 < 1
    assert -1 < whole.f1_above_chance < 1
    assert ((whole.chance.events.f1 > 0.6) & (whole.chance.events.f1 < 1)).all()
    mixed = scored(cc.Events([(0, 4), (4, 6)]), cc.Events([(1, 2), (5, 7)]), span=(0, 9))
    assert isnan(mixed.events.precision_above_chance[0])
    assert mixed.precision_above_chance == mixed.events.precision_above_chance[1]


def test_a_zone_without_length():
    truth = cc.Events([(5, 10), (10, 10)])
    hit = scored(truth, cc.Events([(6, 7), (10, 10)]), span=(0, 10))
    assert hit.chance.events.recall[1] == 0  # no random alarm ever falls there
    assert hit.chance.events.recall_std[1] == 0
    assert hit.chance.events.precision[1] == 0.5
    assert hit.chance.events.f1[1] == pytest.approx(0.5, abs=1e-5)  # as of one point in a zone
    assert hit.events.precision_above_chance[1] == hit.events.recall_above_chance[1] == 1
    assert hit.events.f1_above_chance[1] == 1
    missed = scored(truth, cc.Events([(6, 7)]), span=(0, 10))
    assert missed.events.recall_above_chance[1] == 0
    assert isnan(missed.events.precision_above_chance[1])


def test_zero_division_does_not_count():
    predicted = cc.Events([(12, 15), (52, 53)])
    plain, zero = (scored(TRUTH, predicted, zero_division=value) for value in (nan, 0))
    assert zero.precision < plain.precision
    assert zero.precision_above_chance == plain.precision_above_chance
    assert zero.f1_above_chance == plain.f1_above_chance


@pytest.mark.parametrize("alarms", [2, 25])
def test_a_random_detector_is_at_zero(alarms):
    generator = np.random.default_rng(alarms)
    scores, by_event = [], []
    for _ in range(120):
        ends = np.sort(generator.choice(200, 8, replace=False)) / 200
        truth = cc.Events(list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True)))
        for _ in range(2):
            points = cc.Events.from_points(np.sort(generator.random(alarms)))
            result = scored(truth, points, span=(0.0, 1.0))
            scores.append(
                [
                    result.precision_above_chance,
                    result.recall_above_chance,
                    # Fewer draws than the default; their error is part of the scatter.
                    (result.f1 - (level := chance(truth, points, span=(0.0, 1.0), n=50).f1))
                    / (1 - level),
                ]
            )
            by_event.append([result.events.recall_above_chance, result.events.f1_above_chance])
    values = np.array(scores)
    values = values[~np.isnan(values).any(axis=1)]
    assert len(values) > 220
    errors = values.std(axis=0, ddof=1) / sqrt(len(values))
    assert (np.abs(values.mean(axis=0)) < 3 * errors).all()
    assert (errors < 0.08).all()
    own = np.array(by_event)
    counts = np.count_nonzero(~np.isnan(own), axis=0)
    errors = np.nanstd(own, axis=0) / np.sqrt(counts)
    assert (np.abs(np.nanmean(own, axis=0)) < 3.5 * errors).all()
    assert counts.min() > 20


def test_text_and_plain_values():
    level = chance(TRUTH, cc.Events([(12, 14)]), span=SPAN)
    assert isinstance(level, Chance)
    assert repr(level) == (
        f"Chance(precision={level.precision:.3f}, recall={level.recall:.3f}, "
        f"f1={level.f1:.3f}, alarms=1)"
    )
    assert repr(level.events) == (
        "EventChance(3 events, columns precision, recall, f1, precision_std, recall_std, f1_std)"
    )
    assert level.values() == {"precision": level.precision, "recall": level.recall, "f1": level.f1}
    values = level.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert [row["precision"] for row in values["events"]] == level.events.precision.tolist()
    assert values["precision_error"] == 0
    for name in ("recall", "f1", "f1_std"):
        assert [row[name] for row in values["events"]] == getattr(level.events, name).tolist()
    nothing = chance(TRUTH, NOTHING, span=SPAN).to_dict()
    assert (nothing["f1"], nothing["precision_std"], nothing["recall"]) == (None, None, 0.0)
    assert pickle.loads(pickle.dumps(level)).to_dict() == values  # noqa: S301 - our own bytes
    with pytest.raises(AttributeError):
        level.recall = 1.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 1}, InputError, "Expected `n` to be 2 or more, got 1."),
        ({"n": 10.0}, InputTypeError, "Expected `n` to be a whole number, got 10.0."),
        ({"n": True}, InputTypeError, "Expected `n` to be a whole number, got True."),
        ({"n": 10**12}, InputError, "Expected `n` to be at most 1,000,000, got 1000000000000."),
        ({"zero_division": 2}, InputError, "Expected `zero_division` to be nan, 0 or 1, got 2."),
        ({"seed": -1}, InputError, "Expected `seed` to be 0 or more, got -1."),
        ({"seed": "a"}, InputTypeError, "Expected `seed` to be a whole number, got 'a'."),
    ],
)
def test_refusals(options, error, message):
    with pytest.raises(error) as caught:
        chance(TRUTH, PREDICTED, span=SPAN, **options)
    assert str(caught.value) == message


def test_no_true_event():
    with pytest.raises(UndefinedMetricError, match="chance is undefined"):
        chance([0, 0, 0], [0, 1, 0])


@pytest.mark.parametrize("zero_division", [0, 1])
@pytest.mark.parametrize("alarms", [1, 2, 9])
def test_zones_without_alarms_count_as_chosen(zero_division, alarms):
    points = cc.Events.from_points(np.linspace(1, 399, alarms))
    result = scored(UNLIKE, points, zero_division=zero_division, span=UNLIKE_SPAN)
    level = result.chance
    options = {"span": UNLIKE_SPAN, "zero_division": zero_division}
    assert level.to_dict() == chance(UNLIKE, points, **options).to_dict()
    zones = np.array([85, 112.5, 202.5]) / 400
    missed = (1 - zones) ** alarms
    exact = np.mean((1 - missed) * level.events.precision + missed * zero_division)
    assert level.precision == pytest.approx(exact, rel=1e-13)
    assert level.precision_error == 0
    generator = np.random.default_rng(alarms)
    truth = [tuple(map(float, event)) for event in UNLIKE]
    own, recalls = random_detectors(
        truth, (0.0, 400.0), alarms, draws=20_000, generator=generator, grid=20
    )
    precision, _, f1 = averages(np.where(np.isnan(own), zero_division, own), recalls)
    assert precision.mean() == pytest.approx(exact, abs=4 * precision.std() / sqrt(20_000))
    assert level.f1 == pytest.approx(f1.mean(), abs=4 * f1.std() / sqrt(20_000) + 2e-3)
    assert level.precision_std == pytest.approx(precision.std(), rel=0.05)
    assert level.f1_std == pytest.approx(f1.std(), rel=0.1)
    plain = scored(UNLIKE, points, span=UNLIKE_SPAN)
    assert result.f1_above_chance == plain.f1_above_chance
    assert level.events.precision.tolist() == plain.chance.events.precision.tolist()


def test_no_alarm_counts_as_chosen():
    for zero_division in (0, 1):
        result = scored(
            UNLIKE, cc.Events.from_points([]), zero_division=zero_division, span=UNLIKE_SPAN
        )
        level = result.chance
        assert level.values() == result.values()
        assert (level.precision, level.f1, level.precision_std, level.f1_std) == (
            zero_division, 0, 0, 0,
        )  # fmt: skip
        assert isnan(result.f1_above_chance)


TRUTHS = {
    "one": ([(4.0, 6.0)], (0.0, 10.0)),
    "three": ([(1.0, 3.0), (7.0, 7.5), (18.0, 18.0)], (0.0, 20.0)),
    "filled": ([(0.0, 2.0), (2.0, 3.0), (8.0, 9.0)], (0.0, 10.0)),
}


def zones_of(name):
    truth, span = TRUTHS[name]
    nothing = cc.Events.from_points([])
    return cc.affiliation(cc.Events(truth), nothing, span=span).events.zone_shares


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("alarms", [1, 2, 5, 30])
def test_moments_are_those_of_independent_draws(name, alarms):
    draws = 20_000
    generator = np.random.default_rng(alarms)
    scores = random_detectors(*TRUTHS[name], alarms, draws=draws, generator=generator)
    precision, recall, f1 = averages(*scores)
    found = scatter(zones_of(name), alarms, most_draws=20_000, seed=0)
    error = sqrt(f1.var() / draws + found.f1_error**2)
    assert found.f1 == pytest.approx(f1.mean(), abs=4 * error + 2e-4)
    error = sqrt(precision.var() / draws + found.precision_error**2)
    assert found.precision == pytest.approx(precision.mean(), abs=4 * error + 1e-12)
    assert found.precision_variance == pytest.approx(precision.var(), rel=0.06, abs=1e-12)
    # With many alarms recall is nearly always about 1, and the few exceptions make its variance.
    several = 0.06 if alarms < 30 else 0.15
    assert found.recall_variance == pytest.approx(recall.var(), rel=several)
    assert found.f1_variance == pytest.approx(f1.var(), rel=0.1)
    by_zone = scores[1].var(axis=0)
    np.testing.assert_allclose(found.zone_recall_variance, by_zone, rtol=1.5 * several)
    expected, variance, counts = f1_by_zone(*scores)
    assert (np.abs(found.zone_f1 - expected) < 2e-3 + 4 * np.sqrt(variance / counts)).all()
    np.testing.assert_allclose(found.zone_f1_variance, variance, rtol=0.15, atol=1e-4)


def f1_by_zone(precision, recall):
    """Give mean and variance of F1 in each zone, and in how many draws there is one."""
    total = precision + recall
    f1 = np.where(total > 0, 2 * precision * recall / np.where(total > 0, total, 1), total)
    counts = np.count_nonzero(~np.isnan(f1), axis=0)
    return np.nanmean(f1, axis=0), np.nanvar(f1, axis=0), counts


@pytest.mark.parametrize("width", [0.001, 0.02, 0.3])
def test_f1_of_a_zone_that_is_seldom_reached(width):
    """However few draws reach a zone, its level is as good as that of the others."""
    truth = [(0.4 * width, 0.5 * width), (2 * width, 1.0)]
    zones = cc.affiliation(cc.Events(truth), cc.Events([]), span=(0.0, 1.0)).events.zone_shares
    generator = np.random.default_rng(0)
    # Only points in the first zone count, so there have to be many of them for a good mean.
    share, alarms = 1.25 * width, 5
    counts = generator.binomial(alarms, share, 4_000_000)
    counts = counts[counts > 0][:20_000]
    means = []
    for count in np.unique(counts):
        draws = int((counts == count).sum())
        inside = random_detectors([truth[0]], (0, share), count, draws=draws, generator=generator)
        means.append(f1_by_zone(*inside)[0][0] * draws)
    found = [scatter(zones, alarms, most_draws=1000, seed=seed).zone_f1[0] for seed in range(20)]
    assert np.mean(found) == pytest.approx(sum(means) / counts.size, abs=0.006)
    assert np.std(found) < 0.01


def test_one_alarm_needs_no_draws():
    found = scatter(zones_of("three"), 1, most_draws=2, seed=0)
    assert (found.draws, found.f1_error, found.precision_error) == (0, 0, 0)
    other = scatter(zones_of("three"), 1, most_draws=9, seed=5)
    assert (other.f1, other.recall_variance) == (found.f1, found.recall_variance)


@pytest.mark.parametrize(("name", "spared"), [("f1", 8), ("precision", 6)])
def test_errors_are_honest(name, spared):
    estimates = [scatter(zones_of("three"), 4, most_draws=100, seed=seed) for seed in range(200)]
    spread = np.std([getattr(estimate, name) for estimate in estimates])
    errors = [getattr(estimate, f"{name}_error") for estimate in estimates]
    assert spread == pytest.approx(np.mean(errors), rel=0.15)
    # What is known spares most of the draws: plain averages would stray this much more.
    plain = np.mean([sqrt(getattr(estimate, f"{name}_variance") / 100) for estimate in estimates])
    assert plain > spared * spread
    # Nor do the estimates lean to either side of what many more draws give.
    best = scatter(zones_of("three"), 4, most_draws=100_000, seed=1000)
    mean = np.mean([getattr(estimate, name) for estimate in estimates])
    assert mean == pytest.approx(getattr(best, name), abs=4 * spread / sqrt(200))


def test_zones_of_one_level_need_no_draws_for_precision():
    found = scatter(zones_of("one"), 5, most_draws=20, seed=0)
    assert (found.precision, found.precision_error) == (0.52, 0)
    assert found.f1_error > 0


def test_work_is_bounded():
    zones = zones_of("one")
    assert scatter(zones, 199_999, most_draws=1000, seed=0).draws == 100
    assert scatter(zones, 2_600_000, most_draws=1000, seed=0).draws == 8
    assert scatter(zones, 2_600_000, most_draws=2, seed=0).draws == 2
    assert scatter(zones, 5, most_draws=1000, seed=0).draws == 1000


def test_very_many_zones_are_simulated(monkeypatch):
    exact = scatter(zones_of("three"), 1, most_draws=20_000, seed=0)
    monkeypatch.setattr(sys.modules[scatter.__module__], "_MOST_EXACT", 2)
    found = scatter(zones_of("three"), 1, most_draws=20_000, seed=0)
    assert found.draws == 20_000
    assert found.f1 == pytest.approx(exact.f1, abs=4 * found.f1_error)
    assert found.precision == pytest.approx(exact.precision, rel=1e-12)
    assert found.precision_error < 1e-15
    assert found.f1_variance == pytest.approx(exact.f1_variance, rel=0.05)
    assert found.precision_variance == pytest.approx(exact.precision_variance, rel=0.01)
    assert found.recall_variance == pytest.approx(exact.recall_variance, rel=0.01)
    np.testing.assert_allclose(found.zone_recall_variance, exact.zone_recall_variance, rtol=1e-12)


DENSE = [(10 + 20 * i, 28 + 20 * i) for i in range(10)]


def pair_of(truth, span):
    return cc.affiliation(cc.Events(truth), cc.Events.from_points([]), span=span).events.pair


def level(truth, span):
    return random_average_precision(pair_of(truth, span))


@pytest.mark.parametrize("place", [0.0, 1.0, 30.0, 50.0, 99.5])
def test_one_true_point_wherever_it_is(place):
    assert level([(place, place)], (0.0, 100.0)) == pytest.approx(pi**2 / 12 - 1 / 4, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 35])
def test_true_points_in_zones_of_one_length(count):
    """The k-th point of a zone adds a covariance, over the number of zones reached by then."""
    points = [(2 * i + 1, 2 * i + 1) for i in range(count)]
    total = 0.0
    for k in range(1, 60):
        covariance = (2 - k) / (2 * k**2 * (k + 1) * (k + 2))
        total += covariance * sum(m**-k for m in map(float, range(1, count + 1)))
    expected = 0.5 + total / count
    assert level(points, (0, 2 * count)) == pytest.approx(expected, abs=0.00075 / count)


@pytest.mark.parametrize(
    ("truth", "end"),
    [
        ([(45, 50)], 100),
        ([(0, 2)], 100),
        ([(25, 75)], 100),
        ([(0, 40)], 100),
        ([(5, 95)], 100),
        ([(10, 11), (60, 70)], 100),
        ([(0, 30), (32, 60), (99, 100)], 300),
        ([(75 + 300 * i, 225 + 300 * i) for i in range(10)], 3000),
        (DENSE, 3000),  # short zones full of events, which are reached late
    ],
)
def test_it_is_that_of_random_points(truth, end):
    generator = np.random.default_rng(end)
    draws = random_average_precisions(truth, (0, end), 300, draws=600, generator=generator)
    error = draws.std() / draws.size**0.5
    assert error < 0.012
    assert level(truth, (0, end)) == pytest.approx(draws.mean(), abs=0.013 + 2 * error)


def test_it_is_that_of_shuffled_scores():
    truth = np.zeros(400, dtype=int)
    for start in range(15, 400, 40):
        truth[start : start + 6] = 1
    generator = np.random.default_rng(5)
    curves = [cc.affiliation_curve(truth, generator.permutation(400)) for _ in range(300)]
    mean = np.mean([curve.average_precision for curve in curves])
    assert curves[0].chance_average_precision == pytest.approx(mean, abs=0.015)
    assert mean > 0.51


def labels_of(events, length):
    labels = np.zeros(length, dtype=int)
    for start, stop in events:
        labels[start:stop] = 1
    return labels


EVEN = [(190 + 400 * i, 194 + 400 * i) for i in range(5)]
UNEVEN = [(0, 30), (32, 60), (299, 300)]  # nearly all of the span is the last one's zone


@pytest.mark.parametrize(
    "scores",
    [
        np.arange(2000) < 2,
        np.arange(2000) < 20,
        np.arange(2000) % 2,
        np.arange(2000) % 10,
        np.arange(2000) % 100,
        np.random.default_rng(1).poisson(3, 2000),
        np.random.default_rng(2).normal(size=2000).round(1).astype(np.float32),
    ],
    ids=["2 ones", "20 ones", "2 levels", "10 levels", "100 levels", "counts", "rounded"],
)
@pytest.mark.parametrize("events", [[(1000, 1003)], EVEN, UNEVEN], ids=["one", "even", "uneven"])
def test_it_is_that_of_shuffled_scores_with_ties(events, scores):
    truth, scores = labels_of(events, 2000), scores + 0 * scores  # booleans become numbers
    generator = np.random.default_rng(8)
    shuffled = [generator.permutation(scores) for _ in range(256)]
    draws = np.array([cc.affiliation_curve(truth, one).average_precision for one in shuffled])
    error = draws.std() / 16
    assert error < 0.014
    said = cc.affiliation_curve(truth, scores).chance_average_precision
    assert said == pytest.approx(draws.mean(), abs=0.013 + 2.5 * error)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_one_true_point_whose_first_points_come_together(size):
    """The covariance of each of them with recall counts for its share among them."""
    covariances = [(2 - k) / (2 * k**2 * (k + 1) * (k + 2)) for k in range(1, 3000)]
    weights = [k / size if k <= size else 1 for k in range(1, 3000)]
    expected = 0.5 + np.dot(covariances, weights)
    pair = pair_of([(30.0, 30.0)], (0.0, 100.0))
    assert random_average_precision(pair, np.array([size])) == pytest.approx(expected, abs=0.0002)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 35])
def test_points_that_come_one_by_one_are_no_ties(count):
    pair = pair_of([(2 * i + 1, 2 * i + 1) for i in range(count)], (0, 2 * count))
    one_by_one = random_average_precision(pair, np.ones(20 * count, dtype=np.int64))
    assert one_by_one == pytest.approx(random_average_precision(pair), abs=0.0003)


def test_only_the_highest_scores_are_counted():
    truth = labels_of(EVEN, 2000)
    scores = np.concatenate(
        (np.full(3, 9.0), np.full(2, 8.0), np.full(80, 7.0), np.arange(1915) % 5)
    )
    curve = cc.affiliation_curve(truth, scores)
    pair = curve.scored
    np.testing.assert_array_equal(sizes_of_ties(scores, curve.thresholds, pair), [3, 2, 80, 383])
    assert sizes_of_ties(np.arange(2000), np.arange(2000)[::-1], pair).size == 0


def test_events_that_fill_their_zones_leave_nothing_to_lose():
    assert level([(0, 4)], (0, 4)) == 1
    assert level([(0, 4), (4, 10)], (0, 10)) == pytest.approx(1)


def test_a_zone_without_length_is_never_reached():
    assert level([(0, 10), (10, 10)], (0, 10)) == pytest.approx(0.5)


def test_one_zone_more_than_a_million_times_as_long():
    """All recall of the long zone comes before the short one, which is all event, is reached."""
    alone = pi**2 / 12 - 1 / 4
    expected = (alone + (0.5 + 1) / 2) / 2
    assert level([(0.0, 1.0), (1.0, 2.0)], (0.0, 1e12)) == pytest.approx(expected, abs=0.01)


def test_units_and_origins_do_not_matter():
    truth, start = [(10, 12), (40, 70)], datetime(2024, 3, 1)  # noqa: DTZ001
    days = [tuple(start + timedelta(days=x) for x in event) for event in truth]
    span = (start, start + timedelta(days=100))
    expected = level(truth, (0, 100))
    assert level(days, span) == pytest.approx(expected, abs=1e-14)
    tiny = [(a * 1e-9, b * 1e-9) for a, b in truth]
    assert level(tiny, (0.0, 1e-7)) == pytest.approx(expected, abs=1e-12)
