"""The paper's experiments above chance: who knows something, and who only predicts a lot."""

import numpy as np
import pytest

import closecall as cc
from tests.golden.published import labels

# Precision, recall and F1 above those of the same alarms, moved.
ABOVE = {
    ("machinetemp", "greenhouse"): (0.407, 0.821, 0.488),
    ("machinetemp", "lstmad"): (0.000, 0.000, 0.000),
    ("machinetemp", "luminol"): (0.080, -0.591, 0.099),
    ("machinetemp", "adversary"): (-0.021, -21.417, -0.028),
    ("nyctaxi", "greenhouse"): (-0.061, -0.290, -0.081),
    ("nyctaxi", "lstmad"): (-0.070, -0.341, -0.092),
    ("nyctaxi", "luminol"): (-0.344, -1.042, -0.483),
    ("nyctaxi", "adversary"): (-0.005, -2.249, -0.006),
    ("twitteraapl", "greenhouse"): (0.563, 0.928, 0.692),
    ("twitteraapl", "lstmad"): (0.312, 0.562, 0.383),
    ("twitteraapl", "luminol"): (0.451, 0.768, 0.539),
    ("twitteraapl", "adversary"): (-0.003, -6.867, -0.004),
    ("swat", "iforest"): (-0.006, -0.099, -0.017),
    ("swat", "ocsvm"): (0.274, 0.212, 0.255),
    ("swat", "seq2seq"): (0.723, 0.703, 0.722),
    ("swat", "adversary"): (-0.005, -12.078, -0.007),
}


DATASETS = list(dict.fromkeys(dataset for dataset, _ in ABOVE))


def scored(data_folder, dataset, detector):
    truth = labels(data_folder, dataset, "groundtruth")
    return cc.affiliation(truth, labels(data_folder, dataset, detector))


@pytest.mark.parametrize(("dataset", "detector"), ABOVE)
def test_scores_above_chance(data_folder, dataset, detector):
    result = scored(data_folder, dataset, detector)
    above = result.precision_above_chance, result.recall_above_chance, result.f1_above_chance
    assert above == pytest.approx(ABOVE[dataset, detector], abs=6e-4)


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_prediction_of_everything_is_exactly_at_chance(data_folder, dataset):
    truth = labels(data_folder, dataset, "groundtruth")
    result = cc.affiliation(truth, np.ones_like(truth))
    assert result.precision_above_chance == result.recall_above_chance == 0
    assert result.f1_above_chance == 0


def test_nearly_everything_can_hardly_be_moved(data_folder):
    # One alarm covers all but nine samples, so it has ten places.
    result = scored(data_folder, "machinetemp", "lstmad")
    assert (result.chance.shifts, result.chance.exact) == (10, True)


@pytest.mark.parametrize("detector", ["greenhouse", "lstmad", "luminol"])
def test_nobody_is_informative_on_taxi(data_folder, detector):
    # Section 4.2 says so of Greenhouse.
    result = scored(data_folder, "nyctaxi", detector)
    assert result.precision_above_chance < 0
    assert result.f1 < result.chance.f1


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_adversary_is_no_better_than_its_alarms_elsewhere(data_folder, dataset):
    assert -0.03 < scored(data_folder, dataset, "adversary").f1_above_chance < 0
