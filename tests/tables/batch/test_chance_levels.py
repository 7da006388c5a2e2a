"""The closed forms of chance beside a result: what they are, and how near `closecall.chance`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import closecall as cc
from closecall.tables.batch.chance_levels import chance_levels

DAY = datetime(2024, 1, 1, tzinfo=UTC)


def random_labels(seed):
    generator = np.random.default_rng(seed)
    truth = np.zeros(400, dtype=np.int8)
    for first in generator.integers(0, 380, 4):
        truth[first : first + 15] = 1
    return cc.affiliation(truth, generator.random(400) > 0.97)


def events(truth, predicted, span):
    return cc.affiliation(cc.Events(truth), cc.Events(predicted), span=span)


RESULTS = {
    **{f"labels {seed}": random_labels(seed) for seed in range(5)},
    "one zone": events([(40, 60)], [(10, 12), (45, 48)], (0, 100)),
    "an event that fills its zone": events([(0, 100)], [(10, 12)], (0, 100)),
    "true points": events([(0.1, 0.2), (0.4, 0.4), (0.6, 0.9)], [(0.35, 0.35)], (0.0, 1.0)),
    "a zone without length": events([(5, 10), (10, 10)], [(2, 6), (10, 10)], (0, 10)),
    "datetimes": events(
        [(DAY + timedelta(hours=2), DAY + timedelta(hours=5))],
        [(DAY, DAY + timedelta(hours=3))],
        (DAY, DAY + timedelta(hours=9)),
    ),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_levels_are_those_of_the_zones(result):
    precision, recall, f1 = chance_levels(result.events)
    zones, own = result.events.zone_shares, result.chance.events.precision
    reached = 1 - (1 - zones.of_span) ** result.events.alarms
    assert precision == pytest.approx(reached @ own / reached.sum(), abs=1e-13)
    assert recall == pytest.approx(result.chance.recall, abs=1e-14)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_f1_is_near_the_mean_of_the_random_detector(seed):
    result = random_labels(seed)
    assert chance_levels(result.events)[2] == pytest.approx(result.chance.f1, abs=0.02)


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_precision_is_near_the_mean_of_the_random_detector(result):
    precision = chance_levels(result.events)[0]
    assert precision == pytest.approx(result.chance.precision, abs=0.02)
    if result.events.alarms == 1 or len(result.events) == 1:
        assert precision == pytest.approx(result.chance.precision, abs=1e-14)


def test_a_series_built_to_be_far_off_is_not_far():
    # Many zones that are all event, seldom reached, beside a long one that always is.
    touching = [(float(i), float(i + 1)) for i in range(90)]
    alarms = [(200.0 + i, 200.0 + i) for i in range(10)]
    result = events([*touching, (91.0, 91.0)], alarms, (0.0, 1000.0))
    assert 0.05 < chance_levels(result.events)[0] - result.chance.precision < 0.07


def test_levels_do_not_depend_on_where_the_alarms_are():
    truth = [(10, 80), (90, 95), (300, 300)]
    first, other = (events(truth, alarms, (0, 400)) for alarms in ([(5, 6)], [(340, 380)]))
    assert chance_levels(first.events) == chance_levels(other.events)


def test_no_alarm_has_no_precision():
    precision, recall, f1 = chance_levels(cc.affiliation([0, 1, 0], [0, 0, 0]).events)
    assert (np.isnan(precision), recall, np.isnan(f1)) == (True, 0.0, True)
