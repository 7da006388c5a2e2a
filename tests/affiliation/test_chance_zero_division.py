"""The level of chance where zones without alarms count as 0 or 1."""

from math import isnan, sqrt

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation import chance
from tests.oracle.chance import averages, random_detectors

UNLIKE, SPAN = cc.Events([(10, 80), (90, 95), (300, 300)]), (0, 400)


def scored(predicted, **options):
    return cc.affiliation(UNLIKE, predicted, span=SPAN, **options)


@pytest.mark.parametrize("zero_division", [0, 1])
@pytest.mark.parametrize("alarms", [1, 2, 9])
def test_zones_without_alarms_count_as_chosen(zero_division, alarms):
    points = cc.Events.from_points(np.linspace(1, 399, alarms))
    result = scored(points, zero_division=zero_division)
    level = result.chance
    options = {"span": SPAN, "zero_division": zero_division}
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
    plain = scored(points)
    assert result.f1_above_chance == plain.f1_above_chance
    assert level.events.precision.tolist() == plain.chance.events.precision.tolist()


def test_no_alarm_counts_as_chosen():
    for zero_division in (0, 1):
        result = scored(cc.Events.from_points([]), zero_division=zero_division)
        level = result.chance
        assert level.values() == result.values()
        assert (level.precision, level.f1, level.precision_std, level.f1_std) == (
            zero_division, 0, 0, 0,
        )  # fmt: skip
        assert isnan(result.f1_above_chance)
