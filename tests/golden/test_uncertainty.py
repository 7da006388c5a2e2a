"""How sure the paper's own comparisons are: 35 events on SWaT, two or three on the others."""

import pytest

from closecall.compare import compare
from tests.golden.published import labels


def compared(data_folder, dataset, names):
    truth = labels(data_folder, dataset, "groundtruth")
    return compare(truth, {name: labels(data_folder, dataset, name) for name in names})


def test_seq2seq_leads_iforest_on_swat_in_precision_and_not_in_recall(data_folder):
    intervals = compared(data_folder, "swat", ("iforest", "seq2seq")).intervals()
    pair = intervals.pair("seq2seq", "iforest")
    assert pair.precision.value == pytest.approx(0.348, abs=5e-4)
    assert (pair.precision.low, pair.precision.high) == pytest.approx((0.253, 0.442), abs=0.001)
    assert (pair.recall.low, pair.recall.high) == pytest.approx((-0.227, 0.132), abs=0.001)
    assert (pair.f1.low, pair.f1.high) == pytest.approx((0.071, 0.304), abs=0.001)
    assert pair.precision.pvalue < 0.001
    assert pair.recall.pvalue == pytest.approx(0.6, abs=0.01)
    assert intervals.caution == ""


@pytest.mark.parametrize(("dataset", "events"), [("machinetemp", 2), ("nyctaxi", 3)])
def test_two_or_three_events_settle_nothing(data_folder, dataset, events):
    intervals = compared(data_folder, dataset, ("greenhouse", "lstmad", "luminol")).intervals()
    assert intervals.events == events
    assert f"by luck one time in {2 ** (events - 1)}: " in intervals.caution
    for pair in intervals.pairs:
        assert pair.to_dict()["f1"]["low"] is pair.to_dict()["f1"]["pvalue"] is None
    for scores in intervals.detectors.values():
        assert scores.f1.width > 0.6
