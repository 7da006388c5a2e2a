"""A simulated draw is scored as a detector with the same points would be."""

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation import _chance_kernels
from closecall.affiliation.random_points import one_point_recall_variance, precision_of_points

TRUTH, SPAN = [(0.1, 0.2), (0.4, 0.4), (0.6, 0.9)], (0.0, 1.0)


@pytest.mark.parametrize(("sizes", "error"), [([], 5e-4), ([20, 3, 500], 0.003), ([9000], 0.003)])
def test_the_mean_level_of_rises_is_the_integral(sizes, error):
    share = np.array([0.001, 0.009, 0.09, 0.3, 0.6])
    level = np.array([1.0, 0.5, 0.9, 0.7, 0.55])
    points = np.geomspace(1e-4, 1e8, 20_001)
    x = share * points[:, None]
    recall, ends = 1 + np.expm1(-x) / x, np.append(np.cumsum(sizes), np.inf)
    after = ends[np.searchsorted(ends, points)]  # when those that come together are in
    reach = -np.expm1(-share * np.where(np.isinf(after), points, after)[:, None])
    others = (reach @ level)[:, None] - reach * level + level
    seen = others / (reach.sum(axis=1)[:, None] - reach + 1)
    expected = (np.diff(recall, axis=0) * (seen[1:] + seen[:-1]) / 2).sum() / share.size
    together = np.array(sizes, dtype=np.int64)
    found = _chance_kernels.mean_level_of_rises(share, level, together)
    assert found == pytest.approx(expected, abs=error)
    same = _chance_kernels.mean_level_of_rises(share, np.full(5, 0.625), together)
    assert same == pytest.approx(0.625, abs=1e-14)


def test_points_are_sorted_and_uniform():
    lengths = np.random.default_rng(0).standard_exponential((4000, 6))
    points = np.empty((5, 2))
    drawn = []
    for row in lengths:
        _chance_kernels.place_points(row, points)
        assert (points[:, 0] == points[:, 1]).all()
        assert (np.diff(points[:, 0]) > 0).all()
        drawn.append(points[:, 0].copy())
    every = np.sort(np.concatenate(drawn))
    # Kolmogorov's distance for 20,000 points is below this in 999 cases of 1,000.
    assert np.abs(every - (np.arange(every.size) + 0.5) / every.size).max() < 1.95 / every.size**0.5
    means = np.mean(drawn, axis=0)  # the i-th of five has mean i / 6
    np.testing.assert_allclose(means, np.arange(1, 6) / 6, atol=0.01)


def tangent(mean_precision, mean_recall, precision, recall):
    """Give the change of F1 from the means to the scores, by slopes from small steps."""
    step, mid = 1e-6, np.maximum(mean_recall, 0.1)

    def f1(p, r):
        return 2 * p * r / (p + r)

    by_precision = f1(mean_precision + step, mid) - f1(mean_precision - step, mid)
    by_recall = f1(mean_precision, mid + step) - f1(mean_precision, mid - step)
    slopes = by_precision / (2 * step), by_recall / (2 * step)
    return slopes[0] * (precision - mean_precision) + slopes[1] * (recall - mean_recall)


@pytest.mark.parametrize("alarms", [1, 2, 9])
def test_a_draw_has_the_scores_of_its_points(alarms):
    truth = cc.Events(TRUTH)
    zones = cc.affiliation(truth, truth, span=SPAN).events.zone_shares
    own = precision_of_points(zones.filled)
    single = one_point_recall_variance(zones.before, zones.filled)
    columns = np.stack([own.mean, own.variance, single], axis=1)
    lengths = np.random.default_rng(alarms).standard_exponential((20, alarms + 1))
    rows = np.empty((20, _chance_kernels.COLUMNS))
    sums = np.zeros((3, _chance_kernels.ZONE_COLUMNS))
    _chance_kernels.score_draws(lengths, zones.borders, zones.ends, columns, sums, rows)
    summed = np.zeros_like(sums)
    for row, draw in zip(rows, lengths, strict=True):
        points = cc.Events.from_points(draw.cumsum()[:-1] / draw.sum())
        result = cc.affiliation(truth, points, span=SPAN)
        counts = result.events.predicted_count
        hit, means = counts > 0, counts / (counts + 1)
        several = counts > 1
        square = np.where(several, (result.events.recall - means) ** 2, 0.0)
        linear = tangent(own.mean, means, result.events.precision, result.events.recall)
        f1 = result.events.f1
        sides = np.stack([several, square, f1, f1 * f1, f1 - linear], axis=1)
        summed += np.where(several[:, None], sides, 0.0)
        spread = np.where(counts == 1, single, square)
        expected = [
            result.precision,
            result.recall,
            own.mean[hit].mean(),
            means.mean(),
            (own.variance[hit] / counts[hit]).sum() / hit.sum() ** 2,
            spread.sum() / 9,
            hit.sum(),
        ]
        np.testing.assert_allclose(row, expected, rtol=1e-12)
    np.testing.assert_allclose(sums[:, [0, 1, 3, 4]], summed[:, :4], rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(sums[:, 2], summed[:, 4], atol=1e-8)
