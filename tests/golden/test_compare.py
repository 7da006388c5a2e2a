"""Section 4.3 of the paper: seq2seq against iForest on the 35 events of SWaT."""

import numpy as np
import pytest

import closecall as cc
from closecall.compare import compare
from tests.golden.published import labels

NAMES = ("iforest", "seq2seq")


@pytest.fixture(scope="module")
def predicted(data_folder):
    return {name: labels(data_folder, "swat", name) for name in NAMES}


@pytest.fixture(scope="module")
def truth(data_folder):
    return labels(data_folder, "swat", "groundtruth")


def test_the_counts_of_the_paper(truth, predicted):
    pair = compare(truth, predicted, decimals=2).pair("seq2seq", "iforest")
    assert (pair.better, pair.better_both, pair.better_precision) == (21, 13, 8)
    assert (pair.equivocal, pair.worse) == (4, 2)
    assert (pair.undetected_by_second, pair.undetected_by_first) == (2, 6)
    assert (pair.better_recall, pair.equal, pair.undetected_by_both) == (0, 0, 0)


def test_the_counts_without_rounding(truth, predicted):
    compared = compare(truth, predicted)
    pair = compared.pair("seq2seq", "iforest")
    assert (pair.better_both, pair.better_precision) == (16, 1)
    assert (pair.equivocal, pair.worse) == (8, 2)
    assert (pair.undetected_by_first, pair.undetected_by_second) == (6, 2)
    iforest, seq2seq = compared.detectors
    assert (iforest.found, iforest.found_alone, iforest.best) == (33, 6, 9)
    assert (seq2seq.found, seq2seq.found_alone, seq2seq.best) == (29, 2, 26)
    assert compared.missed_by_all == (8, 9, 27)


def test_ensembles_of_450_000_samples(truth, predicted):
    compared = compare(truth, predicted)
    for how, combine in (("union", np.maximum), ("intersection", np.minimum)):
        expected = cc.affiliation(truth, combine(*predicted.values()))
        assert compared.ensemble(how=how).result.to_dict() == expected.to_dict()
    assert compared.best_pair().how == "union"
