"""Whether the paper's detectors, and its adversaries, are better than the same alarms elsewhere."""

import re
from pathlib import Path

import numpy as np
import pytest
from evidence.paper.published import DATASETS
from numba import config

from closecall.chance import significance
from closecall.datasets import load_kdd2022
from tests.golden.published import labels

REPOSITORY = Path(__file__).resolve().parents[2]
SHIFTS = 199
LEVEL = 0.05


def shift_test(data_folder, dataset, algorithm):
    truth = labels(data_folder, dataset, "groundtruth")
    return significance(truth, labels(data_folder, dataset, algorithm), n=SHIFTS)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_adversary_is_not_better_than_chance(data_folder, dataset):
    found = shift_test(data_folder, dataset, "adversary")
    assert found.precision.pvalue > 0.5
    assert found.f1.pvalue > 0.5


@pytest.mark.parametrize("dataset", DATASETS)
def test_predicting_everything_is_not_better_than_chance(data_folder, dataset):
    truth = labels(data_folder, dataset, "groundtruth")
    found = significance(truth, np.ones_like(truth), n=SHIFTS)
    assert (found.precision.pvalue, found.recall.pvalue, found.f1.pvalue) == (1, 1, 1)


def test_greenhouse_is_not_informative_on_nyctaxi(data_folder):
    """Section 4.2 of the paper: its predictions there are not informative."""
    found = shift_test(data_folder, "nyctaxi", "greenhouse")
    for score in (found.precision, found.recall, found.f1):
        assert score.observed < score.mean
        assert score.pvalue > 0.5
    assert (found.events.f1.adjusted_pvalue > LEVEL).all()


def test_greenhouse_is_informative_elsewhere(data_folder):
    for dataset in ("machinetemp", "twitteraapl"):
        found = shift_test(data_folder, dataset, "greenhouse")
        assert max(found.precision.pvalue, found.recall.pvalue, found.f1.pvalue) < 0.1


def test_on_swat_only_one_detector_is_better_in_both(data_folder):
    tests = {
        name: shift_test(data_folder, "swat", name) for name in ("iforest", "ocsvm", "seq2seq")
    }
    smallest = 1 / (SHIFTS + 1)
    assert tests["seq2seq"].precision.pvalue == smallest
    assert tests["seq2seq"].recall.pvalue <= 2 * smallest
    assert tests["ocsvm"].precision.pvalue == smallest
    assert tests["ocsvm"].recall.pvalue > 0.05
    assert tests["iforest"].precision.pvalue > 0.2
    assert tests["iforest"].recall.pvalue > 0.2


@pytest.mark.skipif(config.DISABLE_JIT, reason="a thousand shifts on SWaT need compiled code")
def test_the_table_in_the_documents(data_folder):
    page = (REPOSITORY / "docs" / "paper.md").read_text("utf-8")
    rows = re.findall(r"^\| (\S+) \| (\w+) \|((?: [\d.]+ \|){5})$", page, flags=re.MULTILINE)
    shown = {(name, detector): cells.strip(" |").split(" | ") for name, detector, cells in rows}
    computed = {}
    for name, series in load_kdd2022(data_folder).items():
        for detector in series.predicted.keys() - {"trivial"}:
            found = significance(series.truth, series.predicted[detector])
            scores = [f"{found.f1.observed:.2f}", f"{found.f1.mean:.2f}"]
            tests = (found.precision, found.recall, found.f1)
            computed[DATASETS[name], detector] = [*scores, *(f"{x.pvalue:.3f}" for x in tests)]
    assert shown == computed
