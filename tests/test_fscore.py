"""The F-measure against its definition in exact fractions."""

from fractions import Fraction
from math import inf, isnan, nan, nextafter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from closecall.errors import InputError
from closecall.fscore import f_measure

scores = st.floats(0, 1, allow_subnormal=False).filter(lambda score: score == 0 or score > 1e-100)
betas = st.floats(0, 1e6, allow_subnormal=False)


def definition(precision, recall, beta):
    precision, recall, square = Fraction(precision), Fraction(recall), Fraction(beta) ** 2
    below = square * precision + recall
    return float((1 + square) * precision * recall / below) if below else 0.0


@given(scores, scores, betas)
@example(1.0, 0.0, 0.0)
@example(0.0, 1.0, 2.0)
@example(0.0, 0.0, 1.0)
@example(0.25, 0.75, 0.5)
def test_definition(precision, recall, beta):
    found = f_measure(precision, recall, beta)
    assert found == pytest.approx(definition(precision, recall, beta), rel=1e-12, abs=1e-300)


def test_whole_numbers_are_numbers():
    assert f_measure(1, 0.5) == pytest.approx(2 / 3)
    assert f_measure(0, 0) == 0
    assert f_measure(1, np.array([0.5, 0.0])).tolist() == pytest.approx([2 / 3, 0.0])


near_one = st.integers(0, 6).map(lambda steps: 1 - steps * 2.0**-53)


@given(near_one, near_one, st.floats(0, 1e3))
@example(nextafter(1, 0), 1.0, 1.6308749743962685)
def test_never_above_one(precision, recall, beta):
    assert f_measure(precision, recall, beta) <= 1
    assert f_measure(np.array([precision]), np.array([recall]), beta)[0] <= 1


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_beta_zero_is_precision_and_beta_inf_is_recall(precision, recall):
    assert f_measure(precision, recall, 0) == pytest.approx(precision, rel=1e-15)
    assert f_measure(precision, recall, inf) == pytest.approx(recall, rel=1e-15)


def test_huge_beta_is_recall():
    assert f_measure(0.25, 0.75, 1e200) == pytest.approx(0.75, rel=1e-15)


@pytest.mark.parametrize("beta", [0, 0.5, 1, 2, inf])
def test_undefined_precision_stays_undefined(beta):
    assert isnan(f_measure(nan, 0.0, beta))
    assert isnan(f_measure(nan, 0.5, beta))


@pytest.mark.parametrize("beta", [0, 0.3, 1, 2, 17, inf])
def test_arrays_agree_with_scalars(beta):
    precision = np.array([0.0, 0.0, 0.3, 1.0, nan])
    recall = np.array([0.0, 0.5, 0.9, 0.0, 0.0])
    one_by_one = [f_measure(*pair, beta) for pair in zip(precision, recall, strict=True)]
    np.testing.assert_array_equal(f_measure(precision, recall, beta), one_by_one)


@pytest.mark.parametrize(("beta", "shown"), [(-1, "-1"), (-0.5, "-0.5"), (nan, "nan")])
def test_negative_beta(beta, shown):
    with pytest.raises(InputError) as caught:
        f_measure(0.5, 0.5, beta)
    assert str(caught.value) == f"Expected `beta` to be 0 or more, got {shown}."
