"""A vector of scores: the types that it may have, and what becomes of them."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import closecall as cc
from closecall.errors import ClosecallError, InputError
from closecall.scores import plain_threshold, predicted_at, read_scores


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("float64", "float64"),
        ("float32", "float64"),
        ("int64", "int64"),
        ("uint64", "uint64"),
        ("int8", "int64"),
        ("uint16", "int64"),
        ("bool", "int64"),
        ("float16", "float64"),
        ("longdouble", "float64"),
    ],
)
def test_types_of_scores(given, kept):
    scores = np.array([0, 1, 1], dtype=given)
    found = read_scores(scores)
    assert found.dtype == kept
    assert found.tolist() == [0, 1, 1]
    assert np.shares_memory(found, scores) == (given == kept)


def test_scores_in_the_byte_order_of_another_machine():
    scores = np.array([0.5, 2.0], dtype=np.dtype(float).newbyteorder())
    assert read_scores(scores).dtype.isnative
    assert read_scores(scores).tolist() == [0.5, 2.0]


def test_every_second_value():
    scores = np.arange(6.0)[::2]
    assert read_scores(scores).flags.c_contiguous
    assert read_scores(scores).tolist() == [0, 2, 4]


def test_infinite_scores_are_legal():
    assert read_scores([np.inf, -np.inf, 0]).tolist() == [np.inf, -np.inf, 0]


@pytest.mark.parametrize("threshold", [2**53 + 1, Fraction(2**54 + 1, 2)])
def test_a_threshold_between_two_floats_is_not_rounded_down(threshold):
    scores = np.array([2.0**53, 2.0**53 + 2])
    assert predicted_at(scores, threshold).tolist() == [0, 1]


def test_a_threshold_that_is_no_float_is_told_as_the_next_one():
    assert plain_threshold(Fraction(1, 10)) == 0.1
    assert plain_threshold(Fraction(1, 3)) == np.nextafter(1 / 3, 1)


MISSING = [0.1, None, 0.9, 0.3]


@pytest.mark.parametrize(
    "scores",
    [
        MISSING,
        tuple(MISSING),
        np.array(MISSING, dtype=object),
        np.array(MISSING, dtype=float),
        pd.Series(MISSING, dtype="Float64"),
        pd.Series(MISSING, dtype=object),
        pl.Series(MISSING),
        pa.array(MISSING),
        pa.chunked_array([MISSING[:2], MISSING[2:]]),
    ],
    ids=["list", "tuple", "objects", "floats", "Float64", "pandas", "polars", "Arrow", "chunks"],
)
def test_a_missing_score_of_any_make_is_nan(scores):
    curve = cc.affiliation_curve([0, 0, 1, 0], scores, nan="ignore")
    assert curve.scored.scores.tolist() == [0.1, 0.9, 0.3]
    with pytest.raises(InputError, match="to be numbers, or inf, got nan at index 1"):
        cc.affiliation_curve([0, 0, 1, 0], scores)


def test_missing_integers_are_nan_and_missing_text_is_refused():
    assert read_scores(pa.array([1, None]), nan="ignore")[0] == 1.0
    with pytest.raises(ClosecallError):
        read_scores(pa.array(["a", None]), nan="ignore")
