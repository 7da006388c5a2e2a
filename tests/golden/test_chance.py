"""The paper's experiments above chance: who knows something, and who only predicts a lot."""

import pytest

import closecall as cc
from tests.golden.published import labels

# Precision and recall above chance are closed forms; F1 is simulated, to about 0.0002.
ABOVE = {
    ("machinetemp", "greenhouse"): (0.408, 0.612, 0.48),
    ("machinetemp", "lstmad"): (0.001, 1.000, 0.51),
    ("machinetemp", "luminol"): (0.080, -0.765, 0.10),
    ("machinetemp", "adversary"): (-0.021, 0.999, -0.02),
    ("nyctaxi", "greenhouse"): (-0.060, 0.729, -0.06),
    ("nyctaxi", "lstmad"): (-0.069, 0.779, -0.08),
    ("nyctaxi", "luminol"): (-0.353, -3.087, -0.56),
    ("nyctaxi", "adversary"): (-0.005, 1.000, 0.17),
    ("twitteraapl", "greenhouse"): (0.562, 0.840, 0.64),
    ("twitteraapl", "lstmad"): (0.309, 0.387, 0.37),
    ("twitteraapl", "luminol"): (0.450, 0.641, 0.51),
    ("twitteraapl", "adversary"): (-0.003, 1.000, 0.03),
    ("swat", "iforest"): (-0.029, -1.319, -0.12),
    ("swat", "ocsvm"): (0.258, 0.165, 0.30),
    ("swat", "seq2seq"): (0.689, 0.458, 0.67),
    ("swat", "adversary"): (-0.006, 1.000, 0.18),
}


def scored(data_folder, dataset, detector):
    truth = labels(data_folder, dataset, "groundtruth")
    return cc.affiliation(truth, labels(data_folder, dataset, detector))


@pytest.mark.parametrize(("dataset", "detector"), ABOVE)
def test_scores_above_chance(data_folder, dataset, detector):
    result = scored(data_folder, dataset, detector)
    precision, recall, f1 = ABOVE[dataset, detector]
    assert result.precision_above_chance == pytest.approx(precision, abs=6e-4)
    assert result.recall_above_chance == pytest.approx(recall, abs=6e-4)
    assert result.f1_above_chance == pytest.approx(f1, abs=6e-3)


@pytest.mark.parametrize("detector", ["greenhouse", "lstmad", "luminol"])
def test_nobody_is_informative_on_taxi(data_folder, detector):
    # Section 4.2 says so of Greenhouse.
    result = scored(data_folder, "nyctaxi", detector)
    assert result.precision_above_chance < 0
    assert result.f1 < result.chance.f1


@pytest.mark.parametrize("dataset", ["machinetemp", "nyctaxi", "twitteraapl", "swat"])
def test_the_adversary_has_the_precision_of_chance(data_folder, dataset):
    result = scored(data_folder, dataset, "adversary")
    level = result.chance
    assert abs(result.precision - level.precision) < level.precision_std
