"""How the scores of a random detector scatter, against a simulation that shares no code."""

import sys
from math import sqrt

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.random_detector import scatter
from tests.oracle.chance import averages, random_detectors

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
