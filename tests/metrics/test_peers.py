"""Metrics of labels beside other people's implementations on the same input."""

import numba
import numpy as np
import pytest

import closecall as cc
from tests.metrics.peers import SEEDS, fragments, peer, series, tsadmetrics

AEON = "aeon.benchmarking.metrics.anomaly_detection"
EXACT = 1e-12
BOTH = [series, fragments]

pytestmark = pytest.mark.parametrize("seed", SEEDS)


def pair(result):
    return result.precision, result.recall


def dtaianomaly(name, **settings):
    return peer("dtaianomaly.evaluation", name)(**settings).compute


def equal(own, theirs):
    assert own == pytest.approx(theirs, abs=EXACT)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("package", ["TSB_AD.evaluation", "vus"])
def test_affiliation_is_that_of_the_copies_of_the_official_program(seed, make, package):
    truth, predicted = make(seed)[:2]
    convert = peer(f"{package}.affiliation.generics", "convert_vector_to_events")
    score = peer(f"{package}.affiliation.metrics", "pr_from_events")
    theirs = score(convert(predicted), convert(truth), (0, truth.size))
    own = cc.affiliation(truth, predicted)
    equal(pair(own), (theirs["Affiliation_Precision"], theirs["Affiliation_Recall"]))


@pytest.mark.parametrize("make", BOTH)
def test_affiliation_is_that_of_dtaianomaly(seed, make):
    truth, predicted = make(seed)[:2]
    names = ("AffiliationPrecision", "AffiliationRecall")
    own = cc.affiliation(truth, predicted)
    equal(pair(own), tuple(dtaianomaly(name)(truth, predicted) for name in names))


@pytest.mark.parametrize("make", BOTH)
def test_affiliation_is_that_of_tsadmetrics(seed, make):
    truth, predicted = make(seed)[:2]
    theirs = tsadmetrics("tstm", "AffiliationbasedFScore")(beta=0.5).compute(truth, predicted)
    equal(cc.affiliation(truth, predicted).fbeta(0.5), theirs)


def test_normalised_affiliation_is_that_of_tsadmetrics_but_for_a_sign(seed):
    truth, predicted, _ = series(seed)
    theirs = tsadmetrics("tstm", "NormalizedAffiliationbasedFScore")(alpha=0.5)
    own = cc.metrics.normalised_affiliation(truth, predicted)
    size = abs(own.precision)
    # Below chance it puts the signed precision in the denominator.
    factor = 1 if own.precision > 0 else (size + own.recall) / (own.recall - size)
    equal(own.f1 * factor, theirs.compute(truth, predicted))


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    ("metric", "prefix"), [("classical", ""), ("point_adjust", "PointAdjusted")]
)
def test_classical_and_adjusted_are_those_of_dtaianomaly(seed, make, metric, prefix):
    truth, predicted = make(seed)[:2]
    own = getattr(cc.metrics, metric)(truth, predicted)
    names = (f"{prefix}Precision", f"{prefix}Recall")
    equal(pair(own), tuple(dtaianomaly(name)(truth, predicted) for name in names))


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    ("name", "metric"),
    [("PointadjustedFScore", "point_adjust"), ("CompositeFScore", "composite")],
)
def test_adjusted_and_composite_are_those_of_tsadmetrics(seed, make, name, metric):
    truth, predicted = make(seed)[:2]
    theirs = tsadmetrics("tpdm", name)().compute(truth, predicted)
    equal(getattr(cc.metrics, metric)(truth, predicted).f1, theirs)


@pytest.mark.parametrize("make", BOTH)
def test_event_wise_is_that_of_tsadmetrics_once_predictions_count(seed, make):
    truth, predicted = make(seed)[:2]
    theirs = tsadmetrics("tpdm", "SegmentwiseFScore")(beta=2.0).compute(truth, predicted)
    equal(hundman(cc.metrics.event_wise(truth, predicted), truth, predicted).fbeta(2), theirs)


@pytest.mark.parametrize("make", BOTH)
def test_event_wise_is_that_of_dtaianomaly_but_for_false_samples(seed, make, monkeypatch):
    monkeypatch.setattr("numba.bool", numba.bool_, raising=False)  # there with numpy 2 only
    truth, predicted = make(seed)[:2]
    own = hundman(cc.metrics.event_wise(truth, predicted), truth, predicted)
    quiet = 1 - predicted[truth == 0].mean()
    theirs = [
        dtaianomaly(name)(truth, predicted) for name in ("EventWisePrecision", "EventWiseRecall")
    ]
    equal((own.precision * quiet, own.recall), tuple(theirs))


def hundman(own, truth, predicted):
    """Count true events in the numerator of precision, as docs/metrics/ says that peers do."""
    found = own.recall * len(cc.Events.from_labels(truth))
    false = (1 - own.precision) * len(cc.Events.from_labels(predicted))
    return cc.metrics.PrecisionRecallResult(found / (found + false), own.recall)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("k", [0, 20, 50, 90, 100])
def test_point_adjust_k_is_that_of_its_authors(seed, make, k):
    truth, predicted = make(seed)[:2]
    adjusted = peer("tadpak.pak", "pak")(predicted, truth, 0.5, k)
    own = cc.metrics.point_adjust_k(truth, predicted, k=k)
    equal(pair(own), pair(cc.metrics.classical(truth, adjusted)))


def test_point_adjust_k_is_that_of_tsadmetrics_where_no_event_has_just_k(seed):
    truth, predicted = fragments(seed)
    score = tsadmetrics("ptdm", "PointadjustedAtKFScore")(k=0.4567, beta=2.0)
    own = cc.metrics.point_adjust_k(truth, predicted, k=45.67)
    equal(own.fbeta(2), score.compute(truth, predicted))


def test_point_adjust_k_area_is_that_of_the_authors_steps(seed):
    truth, predicted = fragments(seed)
    shares = [predicted[start:stop].mean() for start, stop in cc.Events.from_labels(truth)]
    steps = np.unique([0.0, 1.0, *shares]) * 100
    adjust = peer("tadpak.pak", "pak")
    between = [
        cc.metrics.classical(truth, adjust(predicted, truth, 0.5, k)).f1
        for k in (steps[1:] + steps[:-1]) / 2
    ]
    own = cc.metrics.point_adjust_k_area(truth, predicted)
    equal(own.value, np.diff(steps) @ between / 100)


@pytest.mark.parametrize("cardinality", ["one", "reciprocal"])
@pytest.mark.parametrize("bias", ["flat", "front", "middle", "back"])
@pytest.mark.parametrize("package", ["prts", "aeon", "dtaianomaly"])
def test_range_based(seed, cardinality, bias, package):
    truth, predicted = fragments(seed)
    own = cc.metrics.range_based(
        truth, predicted, alpha=0.3, cardinality=cardinality, precision_bias=bias, recall_bias=bias
    )
    equal(pair(own), RANGE_BASED[package](truth, predicted, cardinality, bias))


def range_based_prts(truth, predicted, cardinality, bias):
    settings = {"cardinality": cardinality, "bias": bias}
    return (
        peer("prts", "ts_precision")(truth, predicted, alpha=0.0, **settings),
        peer("prts", "ts_recall")(truth, predicted, alpha=0.3, **settings),
    )


def range_based_aeon(truth, predicted, cardinality, bias):
    settings = {"cardinality": cardinality, "bias": bias}
    return (
        peer(AEON, "range_precision")(truth, predicted, alpha=0, **settings),
        peer(AEON, "range_recall")(truth, predicted, alpha=0.3, **settings),
    )


def range_based_dtaianomaly(truth, predicted, cardinality, bias):
    settings = {"gamma": cardinality, "delta": bias}
    return (
        dtaianomaly("RangeBasedPrecision", **settings)(truth, predicted),
        dtaianomaly("RangeBasedRecall", alpha=0.3, **settings)(truth, predicted),
    )


RANGE_BASED = {
    "prts": range_based_prts,
    "aeon": range_based_aeon,
    "dtaianomaly": range_based_dtaianomaly,
}


def test_range_based_f_is_that_of_prts_with_two_biases(seed):
    truth, predicted = fragments(seed)
    theirs = peer("prts", "ts_fscore")(
        truth, predicted, 2.0, 0.0, 0.7, "reciprocal", p_bias="front", r_bias="back"
    )
    own = cc.metrics.range_based(
        truth, predicted, alpha=0.7, precision_bias="front", recall_bias="back"
    )
    equal(own.fbeta(2), theirs)


@pytest.mark.parametrize("cardinality", ["one", "reciprocal"])
def test_range_based_is_that_of_tsadmetrics(seed, cardinality):
    truth, predicted = fragments(seed)
    score = tsadmetrics("tpdm", "RangebasedFScore")
    theirs = score(p_alpha=0.0, r_alpha=0.3, cardinality_mode=cardinality)
    own = cc.metrics.range_based(truth, predicted, alpha=0.3, cardinality=cardinality)
    equal(own.f1, theirs.compute(truth, predicted))


@pytest.mark.parametrize("alpha", [0.2, 0.5])
@pytest.mark.parametrize("delta", [2, 9])
def test_time_aware_is_that_of_tsadmetrics(seed, alpha, delta):
    truth, predicted, _ = series(seed)
    score = tsadmetrics("ptdm", "TimeseriesAwareFScore")
    # Its sections have one sample more, and exactly theta is a detection.
    theirs = score(theta=0.4567, delta=delta - 1, alpha=alpha)
    own = cc.metrics.time_aware(truth, predicted, theta=0.4567, delta=delta, alpha=alpha)
    equal(own.f1, theirs.compute(truth, predicted))


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(("theta_p", "theta_r"), [(0.5, 0.1), (0.9, 0.6), (0.2, 0.95)])
def test_enhanced_time_aware_is_that_of_tsadmetrics(seed, make, theta_p, theta_r):
    truth, predicted = make(seed)[:2]
    score = tsadmetrics("tmem", "EnhancedTimeseriesAwareFScore")
    own = cc.metrics.enhanced_time_aware(truth, predicted, theta_p=theta_p, theta_r=theta_r)
    equal(own.f1, score(theta_p=theta_p, theta_r=theta_r).compute(truth, predicted))


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("tolerance", [1, 7])
def test_two_sided_is_the_time_tolerant_score_of_tsadmetrics(seed, make, tolerance):
    truth, predicted = make(seed)[:2]
    theirs = tsadmetrics("tstm", "TimeTolerantFScore")(t=tolerance, beta=2.0)
    own = cc.metrics.two_sided(truth, predicted, tolerance=tolerance)
    equal(own.fbeta(2), theirs.compute(truth, predicted))


@pytest.mark.parametrize("probation", [0, 0.3])
@pytest.mark.parametrize("weights", [(1.0, 0.11, 1.0), (1.0, 0.22, 1.0), (0.7, 0.05, 2.0)])
def test_nab_is_that_of_the_code_in_tsadmetrics(seed, weights, probation):
    truth, predicted, _ = series(seed)
    truth[:120] = 0  # a window in the probation counts there, and not here
    names = ("tpWeight", "fpWeight", "fnWeight")
    sweeper = peer("tsadmetrics.utils.functions_nabscore", "Sweeper")(
        probation, dict(zip(names, weights, strict=True))
    )
    calculate = peer("tsadmetrics.utils.functions_nabscore", "calculate_scores")
    rows = [np.flatnonzero(side) for side in (truth, predicted)]
    _, null, raw = calculate(sweeper, *rows, truth.size)
    _, _, perfect = calculate(sweeper, rows[0], rows[0], truth.size)
    own = cc.metrics.nab(
        truth, predicted, profile=cc.metrics.NabProfile(*weights), probation=probation
    )
    equal(own.value, 100 * (raw - null) / (perfect - null))


def test_hausdorff_is_that_of_ruptures(seed):
    points = [np.flatnonzero(side) for side in fragments(seed)]
    theirs = peer("ruptures.metrics", "hausdorff")(*([*side, 10_000] for side in points))
    own = cc.metrics.hausdorff(*map(cc.Events.from_points, points), span=(0, 400))
    assert own.value == theirs


def test_mean_distances_are_those_of_tsadmetrics(seed):
    truth, predicted, _ = series(seed)
    count = min(truth.sum(), predicted.sum())
    points = [np.flatnonzero(side)[:count] for side in (truth, predicted)]
    sides = [np.isin(np.arange(truth.size), side).astype(np.int64) for side in points]
    score = tsadmetrics("tmem", "TemporalDistance")
    total, squares = (score(distance=power).compute(*sides) for power in (0, 1))
    larger = (total + np.sqrt(2 * squares - total**2)) / 2
    events = [cc.Events.from_points(side) for side in points]
    equal(cc.metrics.semimetric(*events, span=(0, 400)).value, total / (2 * count))
    equal(cc.metrics.modified_hausdorff(*events, span=(0, 400)).value, larger / count)
