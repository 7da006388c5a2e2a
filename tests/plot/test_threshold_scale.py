"""Where thresholds are drawn, and what is written there."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from closecall.plot.curve import ThresholdScale

LOWEST = np.finfo(np.float64).min


def ticks(thresholds):
    """Return the written ticks from left to right, as an axes of this scale shows them."""
    figure, axes = plt.subplots()
    ThresholdScale.of(np.array(thresholds)).prepare(axes)
    low, high = axes.get_xlim()
    figure.draw_without_rendering()
    shown = [
        (place, label.get_text())
        for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        if low <= place <= high
    ]
    plt.close(figure)
    return [text.replace("\N{MINUS SIGN}", "-") for _, text in sorted(shown)]


@pytest.mark.parametrize(
    ("thresholds", "texts"),
    [
        ([5.0], ["5"]),
        ([np.inf, 5.0, -np.inf], ["-inf", "5", "inf"]),
        ([np.inf], ["inf"]),
        ([-np.inf], ["-inf"]),
        ([np.inf, -np.inf], ["-inf", "inf"]),
        ([3.0, 2.0, 1.0, 0.0, LOWEST], ["-1.8e+308", "0.5", "1", "1.5", "2", "2.5"]),
        ([1, 0], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ],
)
def test_ticks(thresholds, texts):
    assert ticks(thresholds) == texts


def test_a_crowded_axis_is_monotone_and_inverts():
    thresholds = np.concatenate(([1.0], 0.01 * np.linspace(1, 0, 200) ** 2))
    scale = ThresholdScale.of(thresholds)
    assert scale.crowded
    heights = scale._forward(thresholds)
    assert (np.diff(heights) < 0).all()
    assert heights[[0, -1]].tolist() == [1, 0]
    assert scale._backward(heights) == pytest.approx(thresholds, abs=1e-15)
    outside = np.array([-0.5, 1.5])
    assert scale._backward(scale._forward(outside)) == pytest.approx(outside)
    assert ticks(thresholds)[-1] == "1"
    assert len(set(ticks(thresholds))) == 6


def test_indices_are_spread_by_value_and_by_rank():
    thresholds = np.sort(np.random.RandomState(1).standard_normal(50_000))[::-1]
    scale = ThresholdScale.of(thresholds[[*range(0, 50_000, 250), -1]])
    rows = scale.spread(thresholds)
    assert rows.size < 2_001
    assert rows[0] == 0
    assert rows[-1] == thresholds.size - 1
    assert np.diff(rows).max() <= 51
    inner = thresholds[rows][(thresholds[rows] < 3) & (thresholds[rows] > -3)]
    assert np.abs(np.diff(inner)).max() < 0.05
