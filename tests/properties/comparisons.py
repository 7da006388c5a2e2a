"""Comparing results, column by column."""

from math import isnan

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

SCORES = ("precision", "recall", "f1")
LENGTHS = ("precision_distance", "recall_distance", "early", "late", "predicted_duration")
OUTCOMES = ("outcome", "delay", "nearest")
TIMES = ("start", "stop", "zone_start", "zone_stop")
DEFINED = ("zone_start", "zone_stop", "precision", "recall", *LENGTHS, "predicted_count")


def assert_matches_oracle(result, oracle, *, tolerance=1e-8, unit=None):
    """Compare every column the oracle defines; `unit` turns durations into numbers."""
    for name in DEFINED:
        expected = np.array([float(getattr(row, name)) for row in oracle.rows])
        found = getattr(result.events, name)
        if found.dtype.kind == "M":
            continue
        if found.dtype.kind == "m":
            found = found / unit
            expected[np.isinf(expected)] = np.nan
        assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=name)
    found = [result.precision, result.recall]
    assert_allclose(found, [oracle.precision, oracle.recall], rtol=tolerance, atol=tolerance)


def assert_same_digits(left, right, columns=(*SCORES, *LENGTHS, *OUTCOMES, "predicted_count")):
    """Compare two results bit for bit."""
    for name in columns:
        one, other = getattr(left.events, name), getattr(right.events, name)
        # What numpy.testing says of a difference takes longer than to find it.
        if not np.array_equal(one, other, equal_nan=one.dtype.kind in "fmM"):
            assert_array_equal(one, other, err_msg=name)
    pairs = ((left.precision, right.precision), (left.recall, right.recall), (left.f1, right.f1))
    assert all(one == other or (isnan(one) and isnan(other)) for one, other in pairs), pairs


def assert_close(left, right, *, factor=1, columns=(*SCORES, *LENGTHS), tolerance=1e-12):
    """Compare two results up to rounding; lengths on the right are `factor` times as long.

    Outcomes are not compared: rounding can put an alarm on the other side of an edge.
    """
    for name in columns:
        one, other = getattr(left.events, name), getattr(right.events, name)
        scale = factor if name in LENGTHS else 1
        atol = tolerance * scale
        assert_allclose(one * scale, other, rtol=tolerance, atol=atol, err_msg=name)
    found = [left.precision, left.recall, left.f1]
    expected = [right.precision, right.recall, right.f1]
    assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
