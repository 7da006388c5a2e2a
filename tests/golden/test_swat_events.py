"""The paper's per-event table for SWaT, and its count of who detects which event better."""

import numpy as np
import pytest

import closecall as cc
from tests.golden.published import cell, labels

FIRST_SIX = {
    "iforest": [
        *("0.37/0.53/0.44", "1.00/0.91/0.95", "0.76/0.99/0.86"),
        *("NaN/0.00/NaN", "0.38/0.60/0.46", "0.09/0.21/0.12"),
    ],
    "seq2seq": [
        *("0.96/1.00/0.98", "0.86/1.00/0.93", "0.73/0.78/0.75"),
        *("0.39/0.71/0.50", "0.71/0.97/0.82", "0.88/1.00/0.94"),
    ],
}
MEANS = {"iforest": "0.52/0.84/0.64", "seq2seq": "0.86/0.79/0.83"}


@pytest.fixture(scope="module")
def results(data_folder):
    truth = labels(data_folder, "swat", "groundtruth")
    return {name: cc.affiliation(truth, labels(data_folder, "swat", name)) for name in FIRST_SIX}


@pytest.mark.parametrize("algorithm", FIRST_SIX)
def test_first_six_events(results, algorithm):
    result = results[algorithm]
    events = result.events
    rows = zip(events.precision[:6], events.recall[:6], events.f1[:6], strict=True)
    assert [cell(*row) for row in rows] == FIRST_SIX[algorithm]
    assert cell(result.precision, result.recall, result.f1) == MEANS[algorithm]


def test_the_event_that_iforest_misses_is_infinitely_far(results):
    events = results["iforest"].events
    assert np.isnan(events.precision_distance[3])
    assert np.isposinf(events.recall_distance[3])
    assert np.isnan(events.delay[3])
    assert (events.predicted_count[3], events.predicted_duration[3]) == (0, 0)
