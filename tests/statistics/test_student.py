"""Student's t, against scipy."""

import pytest
from scipy import stats

from closecall.statistics.student import student_probability, student_quantile

FREEDOMS = [1, 2, 3, 4, 5, 34, 99, 100, 999, 1000, 1001, 50_000]


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.9995])
def test_quantiles(freedom, probability):
    expected = stats.t(freedom).ppf(probability)
    assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("t", [-40.0, -2.0, -0.3, 0.0, 0.7, 3.0])
def test_probabilities(freedom, t):
    assert student_probability(t, freedom) == pytest.approx(stats.t(freedom).cdf(t), abs=2e-7)
