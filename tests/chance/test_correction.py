"""Adjusted p-values: the procedures themselves, run at every level."""

from fractions import Fraction
from math import isnan, nan

import numpy as np
import pytest

from closecall.chance import adjust_pvalues
from closecall.errors import InputError, InputTypeError
from tests.oracle.significance import adjusted

CORRECTIONS = ("holm", "bonferroni", "benjamini-hochberg")


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_the_procedure_rejects_from_the_adjusted_value_on(correction, seed):
    random = np.random.default_rng(seed)
    pvalues = [Fraction(int(k), 200) for k in random.integers(1, 60, size=random.integers(1, 9))]
    found = adjust_pvalues([float(p) for p in pvalues], correction)
    expected = [float(level) for level in adjusted(pvalues, correction)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_known_values():
    # Worked by hand: 4 x 0.005, 3 x 0.011, 2 x 0.02, 1 x 0.04 and their running maximum.
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005]), [0.033, 0.04, 0.04, 0.02]
    )
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005], "bonferroni"), [0.044, 0.08, 0.16, 0.02]
    )
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005], "benjamini-hochberg"),
        [0.022, 0.02 * 4 / 3, 0.04, 0.02],
    )


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_what_could_not_be_tested_still_counts(correction):
    with_gap = adjust_pvalues([0.01, nan, 0.03], correction)
    assert isnan(with_gap[1])
    np.testing.assert_array_equal(
        with_gap[[0, 2]], adjust_pvalues([0.01, 1.0, 0.03], correction)[[0, 2]]
    )


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_one_test_needs_no_correction_and_none_gives_none(correction):
    assert adjust_pvalues([0.3], correction).tolist() == [0.3]
    assert adjust_pvalues([], correction).size == 0


@pytest.mark.parametrize(
    ("pvalues", "kind", "message"),
    [
        ([-1, 0.1], InputError, "Expected `pvalues` to be in [0, 1], or nan, got -1 at index 0."),
        ([0.1, 1.5], InputError, "Expected `pvalues` to be in [0, 1], or nan, got 1.5 at index 1."),
        (
            0.1,
            InputTypeError,
            "Expected `pvalues` to be a list or another sequence of numbers, got 0 dimensions.",
        ),
    ],
)
def test_what_is_no_list_of_pvalues_is_refused(pvalues, kind, message):
    with pytest.raises(kind) as caught:
        adjust_pvalues(pvalues)
    assert str(caught.value) == message


def test_an_unknown_correction_is_refused():
    with pytest.raises(InputError) as caught:
        adjust_pvalues([0.1], "sidak")
    assert str(caught.value) == (
        "Expected `correction` to be one of 'holm', 'bonferroni', 'benjamini-hochberg', "
        "got 'sidak'."
    )
