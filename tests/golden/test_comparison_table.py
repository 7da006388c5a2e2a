"""The affiliation cells of the paper's comparison table, and what it says about the data."""

import numpy as np
import pytest

import closecall as cc
from tests.golden.published import cell, cells, labels

CELLS = cells("""
    machinetemp 1.00/0.50/0.66 0.49/1.00/0.66 0.71/0.99/0.83 0.50/1.00/0.67 0.54/0.99/0.70
    nyctaxi     1.00/0.30/0.46 0.54/1.00/0.70 0.51/0.99/0.67 0.51/1.00/0.67 0.38/0.79/0.51
    twitteraapl 1.00/0.49/0.66 0.50/1.00/0.67 0.78/0.98/0.87 0.66/0.99/0.79 0.73/0.98/0.83
    swat        1.00/0.03/0.06 0.53/1.00/0.69 0.52/0.84/0.64 0.65/0.70/0.68 0.86/0.79/0.83
""")


@pytest.mark.parametrize(("dataset", "algorithm"), CELLS)
def test_cell(data_folder, dataset, algorithm):
    truth = labels(data_folder, dataset, "groundtruth")
    result = cc.affiliation(truth, labels(data_folder, dataset, algorithm))
    assert cell(result.precision, result.recall, result.f1) == CELLS[dataset, algorithm]


@pytest.mark.parametrize(
    ("dataset", "samples", "percent", "events"),
    [
        ("machinetemp", 17_682, 6, 2),
        ("nyctaxi", 2_307, 27, 3),
        ("twitteraapl", 11_889, 7, 2),
        ("swat", 449_919, 12, 35),
    ],
)
def test_description_of_the_data(data_folder, dataset, samples, percent, events):
    truth = labels(data_folder, dataset, "groundtruth")
    assert len(truth) == samples
    assert round(100 * truth.mean()) == percent
    assert len(cc.Events.from_labels(truth)) == events


def test_the_adversary_on_swat_makes_472_events(data_folder):
    # The paper's "up to 472 predicted events" is the adversary's number; iForest makes 2601.
    assert len(cc.Events.from_labels(labels(data_folder, "swat", "adversary"))) == 472
    assert len(cc.Events.from_labels(labels(data_folder, "swat", "iforest"))) == 2601


def test_the_adversary_on_nyctaxi_makes_thirteen_events(data_folder):
    assert len(cc.Events.from_labels(labels(data_folder, "nyctaxi", "adversary"))) == 13


def test_the_trivial_event_recalls_one_of_thirty_five(data_folder):
    truth = labels(data_folder, "swat", "groundtruth")
    result = cc.affiliation(truth, labels(data_folder, "swat", "trivial"))
    assert result.recall == pytest.approx(1 / 35, abs=1e-12)
    assert np.flatnonzero(result.events.recall).tolist() == [0]
