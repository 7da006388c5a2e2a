"""The facts: what the paper prints agrees with itself and with the tests' own transcription."""

import numpy as np
import pytest
from evidence.paper import published

from tests.golden import test_comparison_table as table
from tests.golden import test_swat_events as events


def test_two_transcriptions_agree():
    cells = {
        (metric, dataset, algorithm): cell
        for metric, datasets in published.COMPARISON.items()
        for dataset, algorithms in datasets.items()
        for algorithm, cell in algorithms.items()
    }
    transcribed = {
        (metric, *key): cell for metric, c in table.COMPARISON.items() for key, cell in c.items()
    }
    assert cells == transcribed
    assert len(cells) == 80
    assert set(published.COMPARISON) == set(published.METRICS)
    for algorithm, (mean, *six) in published.PER_EVENT.items():
        assert mean == events.MEANS[algorithm]
        assert [cell.replace("/0/", "/0.00/") for cell in six] == events.FIRST_SIX[algorithm]


@pytest.mark.parametrize("metric", published.METRICS)
def test_each_f1_can_be_that_of_its_pair(metric):
    """A slip in a digit would show: F1 must be possible for a pair that rounds to the printed."""
    for cells in published.COMPARISON[metric].values():
        for cell in cells.values():
            precision, recall, f1 = (float(part) for part in cell.split("/"))
            half = np.array([-0.005, 0.005])
            low, high = 2 / (1 / (precision + half) + 1 / (recall + half))
            assert low - 0.005 <= f1 <= high + 0.005, cell
