"""The order of scores, from the highest down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import closecall as cc
from closecall.affiliation.sweep import descending_order

FLOATS = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, np.inf, -np.inf, 1.0, 5e-324])


def assert_descending(scores):
    order = descending_order(scores)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(scores.size))
    ranked = scores[order]
    assert (ranked[:-1] >= ranked[1:]).all()


@given(arrays.arrays(np.float64, st.integers(1, 60), elements=FLOATS))
def test_any_floats(scores):
    assert_descending(scores)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.integers(0, 60))
def test_floats_that_hardly_differ(count, seed, ulps):
    steps = np.random.default_rng(seed).integers(0, ulps + 1, count)
    assert_descending((np.float64(1.0).view(np.int64) + steps).view(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.uint64])
def test_other_types(dtype):
    scores = np.random.default_rng(0).integers(0, 200, 1000).astype(dtype)
    assert_descending(scores)


def test_many_of_one_cluster_beside_an_outlier():
    # The outlier takes the leading bits, so that nothing tells the others apart.
    random = np.random.default_rng(1)
    scores = 1.0 + random.permutation(5000) * np.finfo(float).eps
    scores[17] = 1e300
    assert_descending(scores)
    assert_descending(-scores)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_many_samples_of_one_score_enter_together(levels):
    """Also those that the kernel gathers in several blocks."""
    truth, scores = np.arange(1000) % 100 < 10, np.arange(1000) % levels
    curve = cc.affiliation_curve(truth, scores)
    assert sorted(curve.thresholds) == list(range(levels))
    for threshold, precision, recall in zip(
        curve.thresholds, curve.precision, curve.recall, strict=True
    ):
        exact = cc.affiliation(truth, scores >= threshold)
        assert (precision, recall) == pytest.approx((exact.precision, exact.recall), abs=1e-12)
