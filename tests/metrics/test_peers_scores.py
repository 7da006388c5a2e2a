"""Metrics of scores beside other people's implementations on the same input."""

import numpy as np
import pytest

import closecall as cc
from closecall.compat import get_metrics
from tests.metrics.peers import SEEDS, peer, series, unopened

pytestmark = pytest.mark.parametrize("seed", SEEDS)


def short(seed):
    return series(seed, length=200, events=3)  # peers are slow


def distinct(seed):
    truth, _, scores = short(seed)
    return truth, scores + np.arange(scores.size) * 1e-6


VUS = {
    "vus": ("vus.utils.metrics", "metricor"),
    "TSB-AD": ("TSB_AD.evaluation.basic_metrics", "basic_metricor"),
}


@pytest.mark.parametrize("window", [7, 60])
@pytest.mark.parametrize("version", ["opt", "opt_mem"])
@pytest.mark.parametrize("package", VUS)
def test_vus_is_that_of_its_authors_at_every_threshold(seed, package, version, window):
    truth, scores = distinct(seed)
    volumes = getattr(peer(*VUS[package])(), f"RangeAUC_volume_{version}")
    theirs = volumes(truth, scores, window, scores.size)[-2:]
    own = cc.metrics.vus(truth, scores, window=window)
    assert (own.roc, own.pr) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("window", [13, 60])
def test_vus_is_that_of_tsadmetrics_at_every_threshold(seed, window):
    truth, scores = distinct(seed)
    curve = peer("tsadmetrics.utils.functions_vus", "generate_curve")
    theirs = curve(truth, scores, window, "opt_mem", scores.size)[-2:]
    own = cc.metrics.vus(truth, scores, window=window)
    assert (own.roc, own.pr) == pytest.approx(theirs, abs=1e-9)


def test_vus_without_a_buffer_has_the_roc_of_aeon(seed):
    truth, _, scores = short(seed)  # it looks at 250 thresholds
    aeon = peer("aeon.benchmarking.metrics.anomaly_detection", "range_roc_auc_score")
    own = cc.metrics.vus(truth, scores, window=0)
    assert own.roc == pytest.approx(aeon(truth, scores, buffer_size=0), abs=1e-12)


def test_vus_of_tsb_ad_depends_on_the_type_of_labels_and_ours_does_not(seed):
    truth, scores = distinct(seed)
    volumes = peer(*VUS["TSB-AD"])().RangeAUC_volume_opt
    small = truth.astype(np.uint8)
    theirs = volumes(small, scores, 20, scores.size)[-2:]
    own = cc.metrics.vus(truth, scores, window=20).values()
    assert cc.metrics.vus(small, scores, window=20).values() == own
    assert theirs[1] > own["pr"] + 0.1  # it takes all behind the first start for one event


@pytest.mark.parametrize(("early", "delay"), [(10, 10), (5, 20), (0, 33)])
@pytest.mark.parametrize("module", ["pate.PATE_metric", "tsadmetrics.utils.functions_pate"])
def test_pate_is_that_of_its_authors_at_every_threshold(seed, module, early, delay):
    truth, _, scores = short(seed)
    compute = peer(module, "PATE")
    theirs = compute(truth, scores, early, delay, Big_Data=False, drop_intermediate=False)
    own = cc.metrics.pate(truth, scores, early=early, delay=delay)
    assert own.value == pytest.approx(theirs, abs=1e-9)


def test_the_best_point_adjusted_f1_is_that_of_easytsad(seed):
    truth, scores = distinct(seed)
    protocol = peer("EasyTSAD.Evaluations.Protocols.PointF1PA", "PointF1PA")()
    theirs = protocol.calc(scores, truth, None)
    own = cc.metrics.point_adjust_curve(truth, scores).best()
    assert (own.precision, own.recall, own.f1) == pytest.approx(
        (theirs.p, theirs.r, theirs.f1), abs=1e-12
    )


def test_the_point_adjusted_curve_is_that_of_the_scores_deepod_adjusts(seed):
    unopened("deepod")
    truth, _, scores = short(seed)
    adjusted = peer("deepod.metrics", "point_adjustment")(truth, scores)
    curve = cc.metrics.point_adjust_curve(truth, scores)
    theirs = [cc.metrics.classical(truth, adjusted >= h) for h in curve.thresholds]
    assert curve.precision == pytest.approx([each.precision for each in theirs], abs=1e-12)
    assert curve.recall == pytest.approx([each.recall for each in theirs], abs=1e-12)


def rated(seed):
    """Scores that are the whole numbers from 0 to 99, so that TSB-AD looks at all thresholds."""
    truth, predicted, scores = short(seed)
    scores = np.argsort(np.argsort(scores + 0.3 * truth, kind="stable")) // 2
    return truth, predicted, scores.astype(float)


# Its highest threshold predicts nothing.
@pytest.mark.filterwarnings("ignore:Precision is ill-defined")
def test_get_metrics_is_that_of_tsb_ad(seed):
    truth, _, scores = rated(seed)
    theirs = peer("TSB_AD.evaluation.metrics", "get_metrics")(
        scores, truth, slidingWindow=10, thre=scores.size
    )
    own = get_metrics(scores, truth, slidingWindow=10)
    # Here it adds 0.00001 below the line.
    assert own.pop("Standard-F1") == pytest.approx(theirs.pop("Standard-F1"), abs=1e-5)
    assert own == pytest.approx(theirs, abs=1e-9)


def test_get_metrics_at_own_predictions_is_that_of_tsb_ad(seed):
    truth, predicted, scores = rated(seed)
    theirs = peer("TSB_AD.evaluation.metrics", "get_metrics")(
        scores, truth, slidingWindow=10, pred=predicted, thre=scores.size
    )
    own = get_metrics(scores, truth, slidingWindow=10, pred=predicted)
    assert own == pytest.approx(theirs, abs=1e-9)
