"""A threshold in few digits predicts the same samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.tables.scoring import threshold_text

scores = st.lists(st.floats(allow_nan=False), min_size=2, max_size=12)


@given(scores, st.sampled_from([np.float32, np.float64]))
def test_the_text_predicts_what_the_threshold_does(values, kind):
    with np.errstate(over="ignore"):
        column = np.array(values).astype(kind)
    curve = cc.affiliation_curve([1] + [0] * (len(values) - 1), column)
    wide = column.astype(np.float64)
    for threshold in curve.thresholds.tolist():
        text = threshold_text(curve, threshold)
        assert ((wide >= float(text)) == (wide >= threshold)).all()


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.5, 24.0, 165.4], ["165.4", "24", "0.5"]),
        ([1 / 3, 2 / 3], ["0.6666", "0.3333"]),
        ([0.97543, 0.975434567], ["0.975434", "0.97543"]),
        ([0.0, 123456.789012], ["123456", "0"]),
        ([-1 / 3, -2 / 3], ["-0.3334", "-0.6667"]),
        ([1e-9 / 3, 1.0], ["1", "3.333e-10"]),
        ([1.0, np.nextafter(1, 2)], ["1.0000000000000002", "1"]),
        ([-np.inf, np.inf], ["inf", "-inf"]),
        ([2**60, 2**60 + 1], [str(2**60 + 1), str(2**60)]),
    ],
)
def test_texts(values, texts):
    curve = cc.affiliation_curve([1, *[0] * (len(values) - 1)], np.array(values))
    assert [threshold_text(curve, value) for value in curve.thresholds.tolist()] == texts
