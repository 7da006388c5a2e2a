"""Other people's implementations, run on the same input, where they are installed.

tsadmetrics and aeon are in the extra `peers`. Where a peer is known to differ, the input or its
settings are such that it should not; docs/metrics.md says where peers disagree.
"""

from importlib import import_module

import numpy as np
import pytest

import closecall as cc

SEEDS = range(6)


def series(seed, length=400, events=5):
    """True ranges, predicted ones near and far from them, and scores; not all zeros or ones."""
    random = np.random.default_rng(seed)
    sides = np.zeros((2, length), dtype=np.int64)
    for side in sides:
        for start in np.sort(random.choice(length // 40, events, replace=False)) * 40:
            first = start + random.integers(3, 15)
            side[first : first + random.integers(2, 20)] = 1
    scores = np.round(random.random(length) + 0.4 * sides[1], 2)
    return sides[0], sides[1], scores


def peer(module, name):
    pytest.importorskip(module.partition(".")[0])
    return getattr(import_module(module), name)


def tsadmetrics(family, name):
    return peer(f"tsadmetrics.metrics.tem.{family}.{name}", name)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cardinality", ["one", "reciprocal"])
@pytest.mark.parametrize("bias", ["flat", "front", "back"])
def test_range_based_is_that_of_aeon(seed, cardinality, bias):
    aeon = "aeon.benchmarking.metrics.anomaly_detection"
    truth, predicted, _ = series(seed)
    own = cc.metrics.range_based(
        truth, predicted, alpha=0.3, cardinality=cardinality, precision_bias=bias, recall_bias=bias
    )
    settings = {"cardinality": cardinality, "bias": bias}
    precision = peer(aeon, "range_precision")(truth, predicted, alpha=0, **settings)
    recall = peer(aeon, "range_recall")(truth, predicted, alpha=0.3, **settings)
    assert (own.precision, own.recall) == pytest.approx((precision, recall), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cardinality", ["one", "reciprocal"])
def test_range_based_is_that_of_tsadmetrics(seed, cardinality):
    truth, predicted, _ = series(seed)
    score = tsadmetrics("tpdm", "RangebasedFScore")
    theirs = score(p_alpha=0.0, r_alpha=0.5, cardinality_mode=cardinality)
    own = cc.metrics.range_based(truth, predicted, cardinality=cardinality)
    assert own.f1 == pytest.approx(theirs.compute(truth, predicted), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("delta", [2, 9])
def test_time_aware_is_that_of_tsadmetrics(seed, delta):
    truth, predicted, _ = series(seed)
    score = tsadmetrics("ptdm", "TimeseriesAwareFScore")
    # Its sections have one sample more, and exactly theta is a detection.
    theirs = score(theta=0.4567, delta=delta - 1, alpha=0.5)
    own = cc.metrics.time_aware(truth, predicted, theta=0.4567, delta=delta)
    assert own.f1 == pytest.approx(theirs.compute(truth, predicted), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("window", [6, 30])
def test_vus_is_that_of_tsadmetrics_at_every_threshold(seed, window):
    curve = peer("tsadmetrics.utils.functions_vus", "generate_curve")
    truth, _, scores = series(seed)
    scores = scores + np.arange(scores.size) * 1e-6  # all distinct
    roc, pr = curve(truth, scores, window, "opt_mem", scores.size)[-2:]
    own = cc.metrics.vus(truth, scores, window=window)
    assert (own.roc, own.pr) == pytest.approx((roc, pr), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("early", "delay"), [(10, 10), (5, 20)])
def test_pate_is_that_of_its_authors_as_tsadmetrics_has_it(seed, early, delay):
    compute = peer("tsadmetrics.utils.functions_pate", "PATE")
    truth, _, scores = series(seed)
    theirs = compute(truth, scores, early, delay, Big_Data=False, drop_intermediate=False)
    own = cc.metrics.pate(truth, scores, early=early, delay=delay)
    assert own.value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "metric"),
    [("PointadjustedFScore", "point_adjust"), ("CompositeFScore", "composite")],
)
def test_adjusted_and_composite_are_those_of_tsadmetrics(seed, name, metric):
    truth, predicted, _ = series(seed)
    theirs = tsadmetrics("tpdm", name)().compute(truth, predicted)
    assert getattr(cc.metrics, metric)(truth, predicted).f1 == pytest.approx(theirs, abs=1e-12)
