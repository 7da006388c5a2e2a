"""The design targets, measured: what metrics reward."""

from datetime import timedelta

import numpy as np
import pytest

import closecall as cc
from closecall.adversary import TARGETS
from closecall.adversary.audit import audit
from closecall.adversary.targets import measure_targets
from closecall.metrics.registry import METRICS as REGISTRY
from closecall.metrics.registry import REQUIRED
from tests.adversary.test_audit import EPISODES, row

METRICS = ("classical", "point_adjust", "range_based", "affiliation")


@pytest.fixture(scope="module")
def whole():
    return audit(EPISODES, {"late": np.roll(EPISODES, 60)}, metrics=METRICS, budget=5)


def target(audited, metric, name):
    (found,) = [row for row in audited.targets if (row["metric"], row["target"]) == (metric, name)]
    return found


def test_parameters_and_times_reach_the_metrics():
    times = np.datetime64("2024-01-01") + np.arange(len(EPISODES)) * np.timedelta64(60, "s")
    arguments = (EPISODES, {"after": np.roll(EPISODES, 260)})
    strict, lenient = (
        audit(*arguments, times=times, budget=5, metrics={"margin": {"margin": margin}})
        for margin in (timedelta(minutes=59), timedelta(minutes=61))
    )
    assert row(strict, "margin", "after")["score"] == 0
    assert row(lenient, "margin", "after")["score"] == 1
    # The canonical series has the same step of one minute, so misses by an hour are found.
    assert (strict.distances["margin"][40], strict.distances["margin"][60]) == (1, 0)
    assert lenient.distances["margin"][60] == 1


def test_numbers_are_audited_in_their_own_unit():
    truth = cc.Events([(100.0, 150.0), (500.0, 620.0)])
    late = cc.Events([(160.0, 180.0), (630.0, 650.0)])
    found = audit(truth, {"late": late}, span=(0.0, 2000.0), metrics={"margin": {"margin": 11.0}})
    assert row(found, "margin", "late")["score"] == 1
    # A canonical sample lasts a thousandth of the span, 2.0: five of them are within 11.0.
    assert (found.distances["margin"][5], found.distances["margin"][10]) == (1, 0)


def test_affiliation_meets_every_design_target(whole):
    values = {name: target(whole, "affiliation", name) for name in TARGETS}
    assert all(row["met"] for row in values.values())
    assert values["near_miss"]["value"] == pytest.approx(0.785, abs=0.001)
    assert values["long_event"]["value"] == 0
    assert values["largest_jump"]["value"] == pytest.approx(0.022, abs=0.001)
    assert values["idle_moves"]["value"] == 0
    assert values["locality"]["value"] == pytest.approx(1)


def test_classical_by_hand(whole):
    # The prediction of 20 samples moves 60 samples; it overlaps the event in the last 20.
    assert target(whole, "classical", "idle_moves")["value"] == 40 / 60
    assert target(whole, "classical", "largest_jump")["value"] == pytest.approx(1 / 20)
    # Of 220 true samples 210, 200 or 10 are found, and 20 more are predicted.
    both, long, short = (2 * found / (220 + found + 20) for found in (210, 200, 10))
    assert target(whole, "classical", "long_event")["value"] == pytest.approx(
        (long - short) / (both - short)
    )
    assert target(whole, "classical", "near_miss")["value"] == 0
    # A zone of 200 samples flooded: 80 of 60 + 200 predicted samples are right, of all four.
    assert target(whole, "classical", "locality")["value"] == pytest.approx(4 * (1 - 80 / 260))


def test_point_adjust_jumps(whole):
    assert target(whole, "point_adjust", "largest_jump")["value"] > 0.5
    assert target(whole, "point_adjust", "largest_jump")["met"] is False
    assert target(whole, "range_based", "near_miss")["met"] is False
    assert target(whole, "range_based", "locality")["value"] > 2


def test_scores_by_distance_fall_for_affiliation_only(whole):
    falling = list(whole.distances["affiliation"].values())
    assert falling == sorted(falling, reverse=True)
    assert len(set(falling)) == len(falling) == 8
    assert set(whole.distances["classical"].values()) == {0.0}


def measured(**parameters):
    """Measure every metric at its defaults, or at 10 samples; scores are the labels themselves."""
    chosen = {
        name: {own: 10 for own, default in entry.parameters.items() if default is REQUIRED}
        for name, entry in REGISTRY.items()
    }

    def measure(truth, predicted):
        row = cc.evaluate(
            truth, predicted, scores=predicted.astype(float), metrics=chosen | parameters
        )
        return {
            name: {
                number: float(row[name if number == "value" else f"{name}_{number}"])
                for number in entry.gives
            }
            for name, entry in REGISTRY.items()
        }

    return {(row["metric"], row["target"]): row for row in measure_targets(measure)[0]}


@pytest.fixture(scope="module")
def registry():
    return measured()


@pytest.mark.parametrize("flag", ["handles_adjacency", "handles_durations"])
@pytest.mark.parametrize("metric", REGISTRY)
def test_what_the_registry_says_is_what_is_measured_or_it_says_why(registry, metric, flag):
    (name,) = [target.name for target in TARGETS.values() if target.flag == flag]
    found = registry[metric, name]
    assert found["claimed"] is getattr(REGISTRY[metric], flag)
    differs = found["claimed"] != bool(found["met"])
    assert differs == (flag in REGISTRY[metric].measured_otherwise)
    assert found["note"] == REGISTRY[metric].measured_otherwise.get(flag, "")


def test_the_reasons_hold(registry):
    """A near miss counts with a delta; each event counts once however long, as the reasons say."""
    with_delta = measured(time_aware={"delta": 20})["time_aware", "near_miss"]
    assert (with_delta["met"], with_delta["note"]) == (True, "")
    for metric in ("window_once", "margin", "nab"):
        assert registry[metric, "long_event"]["value"] == 0


def test_durations_by_hand(registry):
    # Composite: 200 or 10 right samples beside 20 wrong ones; one of three events, or two.
    def f1(right, found):
        precision, recall = right / (right + 20), found / 3
        return 2 * precision * recall / (precision + recall)

    both, long, short = f1(210, 2), f1(200, 1), f1(10, 1)
    value = registry["composite", "long_event"]["value"]
    assert value == pytest.approx((long - short) / (both - short))
    # Missed events cost nothing, so finding both is no better than finding one.
    assert np.isnan(registry["segmentation", "long_event"]["value"])
    assert registry["segmentation", "long_event"]["met"] is None
