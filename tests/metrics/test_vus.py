from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from closecall.metrics.threshold_free import auc_roc, average_precision
from closecall.metrics.vus import vus
from tests.oracle import vus as oracle

LEVELS = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 2.0, np.inf])


@st.composite
def series(draw, longest=30):
    length = draw(st.integers(1, longest))
    labels = draw(st.lists(st.booleans(), min_size=length, max_size=length))
    score = st.floats(-2, 2) if draw(st.booleans()) else LEVELS
    return labels, draw(st.lists(score, min_size=length, max_size=length))


def fixed_series():
    """Events at both ends, two almost touching ones, and a long one; no randomness."""
    truth = np.zeros(400, dtype=np.int64)
    for start, stop in ((0, 1), (50, 60), (61, 62), (130, 180), (399, 400)):
        truth[start:stop] = 1
    return truth, (np.arange(400) * 7919 % 1009) / 1009 + 0.5 * truth


@given(series(), st.integers(0, 70))
@example(([True, False, False, True], [0.0, 1.0, 1.0, 0.0]), 9)
@example(([False, True, False, True, False, True], [5.0, 1.0, 4.0, 2.0, 3.0, 0.0]), 4)
def test_equals_brute_force(data, window):
    labels, scores = data
    result = vus(labels, scores, window=window)
    roc, pr = oracle.volumes(labels, scores, window)
    assert result.roc == pytest.approx(roc, abs=1e-12, nan_ok=True)
    assert result.pr == pytest.approx(pr, abs=1e-12, nan_ok=True)
    assert all(isnan(value) or 0 <= value <= 1 for value in result.values().values())


@given(series(), st.integers(0, 20))
def test_each_window_equals_brute_force(data, window):
    labels, scores = data
    if not any(labels) or all(labels):
        labels = [True, *labels, False]
        scores = [0.5, *scores, 0.25]
    result = vus(labels, scores, window=window)
    both = [oracle.areas(labels, scores, w) for w in range(window + 1)]
    assert result.roc_areas == pytest.approx([roc for roc, _ in both], abs=1e-12)
    assert result.pr_areas == pytest.approx([pr for _, pr in both], abs=1e-12)


def test_by_hand():
    # Windows 0 and 1 have no buffer; window 2 gives samples 0 and 2 the label q.
    q = sqrt(1 / 2)
    rate, false = q / (1 + q / 2), (1 - q) / (3 - q / 2)
    result = vus([0, 1, 0, 0], [0.1, 0.5, 0.9, 0.3], window=2)
    assert result.pr_areas == pytest.approx([1 / 2, 1 / 2, rate * q + (1 - rate) * (1 + q) / 2])
    assert result.roc_areas == pytest.approx([2 / 3, 2 / 3, false * rate / 2 + 1 - false])
    assert result.pr == pytest.approx(result.pr_areas.sum() / 3)
    assert result.roc == pytest.approx(result.roc_areas.sum() / 3)


def test_equals_the_authors_packages_given_every_threshold():
    # vus 0.0.6 and TSB-AD 1.5: RangeAUC_volume_opt(truth, scores, 30, thre=400).
    result = vus(*fixed_series(), window=30)
    assert result.roc == pytest.approx(0.8887294653277875, abs=1e-12)
    assert result.pr == pytest.approx(0.6897970460496816, abs=1e-12)


def test_one_event_without_a_window_is_the_plain_area():
    truth = np.zeros(50, dtype=np.uint8)
    truth[20:27] = 1
    scores = np.arange(50) * 17 % 23
    result = vus(truth, scores, window=0)
    assert result.roc == pytest.approx(auc_roc(truth, scores).value, abs=1e-14)
    assert result.pr == pytest.approx(average_precision(truth, scores).value, abs=1e-14)


def test_inverted_scores_are_far_below_a_constant_one():
    truth, _ = fixed_series()
    inverted, constant = vus(truth, -truth, window=0), vus(truth, truth * 0, window=0)
    # Nothing true is found before everything is; then precision is the share of true samples.
    assert inverted.roc == 0
    assert inverted.pr == pytest.approx(63 / 400)
    assert constant.roc == pytest.approx(0.5)
    assert constant.pr == pytest.approx(63 / 400)


def test_one_sample_events_at_both_ends_count():
    truth = [1, 0, 0, 0, 0, 0, 0, 1]
    both = vus(truth, [9, 0, 1, 2, 3, 4, 5, 8], window=2)
    assert both.values() == {"roc": 1.0, "pr": 1.0}
    # Without the last one half of the events is missed until its score comes.
    late = vus(truth, [9, 1, 2, 3, 4, 5, 6, 0], window=0)
    assert late.pr == pytest.approx(1 / 4 + 3 / 4 * 2 / 8)


def test_nothing_normal_has_no_false_positive_rate():
    result = vus([1, 1, 1], [0.1, 0.2, 0.3], window=4)
    assert isnan(result.roc)
    assert result.pr == 1


def test_repr_is_one_line():
    assert repr(vus([0, 1, 0], [0, 1, 0], window=1)) == "VusResult(roc=1.000, pr=1.000)"
