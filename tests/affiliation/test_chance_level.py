"""The level of chance of a detector, and scores above it."""

import json
import pickle
from datetime import datetime, timedelta
from math import isnan, nan, sqrt

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation import Chance, chance
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from tests.oracle.chance import averages, random_detectors

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


@pytest.mark.parametrize("alarms", [1, 3, 12])
def test_levels_and_deviations_are_those_of_independent_draws(alarms):
    truth, draws = [tuple(map(float, event)) for event in TRUTH], 20_000
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


UNLIKE = cc.Events([(10, 80), (90, 95), (300, 300)])


def test_the_level_does_not_depend_on_where_the_alarms_are():
    levels = [
        chance(UNLIKE, cc.Events.from_points(places), span=(0, 400)).to_dict()
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


@pytest.mark.parametrize("alarms", [1, 2, 6, 25])
def test_a_random_detector_is_at_zero(alarms):
    generator = np.random.default_rng(alarms)
    scores, by_event = [], []
    for _ in range(300):
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
    assert len(values) > 550
    errors = values.std(axis=0, ddof=1) / sqrt(len(values))
    assert (np.abs(values.mean(axis=0)) < 3 * errors).all()
    assert (errors < 0.05).all()
    own = np.array(by_event)
    counts = np.count_nonzero(~np.isnan(own), axis=0)
    errors = np.nanstd(own, axis=0) / np.sqrt(counts)
    assert (np.abs(np.nanmean(own, axis=0)) < 3.5 * errors).all()
    assert counts.min() > 50


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
