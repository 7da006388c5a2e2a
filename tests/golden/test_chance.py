"""The paper's experiments above chance: who knows something, and who only predicts a lot."""

import numpy as np
import pytest

import closecall as cc
from tests.golden.published import labels

# Precision, recall and F1 above chance.
ABOVE = {
    ("machinetemp", "greenhouse"): (0.386, 0.818, 0.466),
    ("machinetemp", "lstmad"): (-0.002, 0.000, -0.002),
    ("machinetemp", "luminol"): (0.050, -0.593, 0.061),
    ("machinetemp", "adversary"): (-0.023, -25.871, -0.030),
    ("nyctaxi", "greenhouse"): (-0.095, -0.288, -0.123),
    ("nyctaxi", "lstmad"): (-0.115, -0.341, -0.151),
    ("nyctaxi", "luminol"): (-0.345, -1.047, -0.484),
    ("nyctaxi", "adversary"): (-0.044, -2.249, -0.057),
    ("twitteraapl", "greenhouse"): (0.548, 0.911, 0.665),
    ("twitteraapl", "lstmad"): (0.312, 0.510, 0.383),
    ("twitteraapl", "luminol"): (0.450, 0.730, 0.531),
    ("twitteraapl", "adversary"): (-0.003, -11.776, -0.004),
    ("swat", "iforest"): (-0.002, -0.124, -0.015),
    ("swat", "ocsvm"): (0.266, -0.124, 0.175),
    ("swat", "seq2seq"): (0.725, 0.703, 0.722),
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
    # One alarm covers all but nine samples, so it has ten places; the events have many.
    result = scored(data_folder, "machinetemp", "lstmad")
    assert (result.chance.shifts, result.chance.exact) == (10, False)


@pytest.mark.parametrize("detector", ["greenhouse", "lstmad", "luminol"])
def test_nobody_is_informative_on_taxi(data_folder, detector):
    # Section 4.2 says so of Greenhouse.
    result = scored(data_folder, "nyctaxi", detector)
    assert result.precision_above_chance < 0
    assert result.f1 < result.chance.f1


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_adversary_is_no_better_than_its_alarms_elsewhere(data_folder, dataset):
    assert -0.06 < scored(data_folder, dataset, "adversary").f1_above_chance < 0
