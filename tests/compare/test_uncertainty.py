"""How sure a comparison is: the same events for all, both ways round, and in words."""

import json
import math

import numpy as np
import pytest

from closecall.compare import PairIntervals, compare
from closecall.datasets import demo
from closecall.errors import InputError
from closecall.statistics import (
    SCORES,
    caution_about,
    caution_about_pairs,
    events_needed,
)
from tests.oracle import bootstrap as oracle

NAMES = ("threshold", "forecast")


@pytest.fixture(scope="module")
def compared():
    data = demo()
    return compare(data.truth, data.predicted, times=data.times)


@pytest.fixture(scope="module")
def intervals(compared):
    return compared.intervals()


def repeated(events):
    """A detector that is right and one that is late, on so many events."""
    truth = np.tile([0, 1, 1, 0, 0], events)
    return compare(truth, {"right": truth, "late": np.roll(truth, 1)})


def test_detectors_have_the_intervals_of_their_own_results(compared, intervals):
    for name in NAMES:
        alone = compared.results[name].interval()
        for score in SCORES:
            one, other = getattr(intervals.detectors[name], score), getattr(alone, score)
            assert one.value == pytest.approx(getattr(compared.results[name], score), abs=1e-12)
            assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


def test_pairs_are_the_differences(compared, intervals):
    (pair,) = intervals.pairs
    assert (pair.first, pair.second) == NAMES
    counted = compared.pair(*NAMES)
    for score in SCORES:
        expected = getattr(counted, f"{score}_difference")
        assert getattr(pair, score).value == pytest.approx(expected, abs=1e-12)
    recalls = [compared.results[name].events.recall for name in NAMES]
    low, high, pvalue = oracle.paired_t(*recalls)
    assert pair.recall.low == pytest.approx(low, abs=0.03)
    assert pair.recall.high == pytest.approx(high, abs=0.03)
    assert pvalue <= pair.recall.pvalue <= 1  # no surer than the paired t-test


def test_a_pair_the_other_way_round(intervals):
    one, other = intervals.pair(*NAMES), intervals.pair(*reversed(NAMES))
    assert (other.first, other.second) == tuple(reversed(NAMES))
    for score in SCORES:
        mine, theirs = getattr(one, score), getattr(other, score)
        assert (theirs.value, theirs.low, theirs.high) == (-mine.value, -mine.high, -mine.low)
        assert theirs.pvalue == mine.pvalue
    assert other.reversed().precision.high == one.precision.high


def test_answers_are_kept(compared, intervals):
    assert compared.intervals() is intervals
    assert compared.intervals(seed=1) is not intervals
    assert compared.intervals(level=0.5).pairs[0].f1.width < intervals.pairs[0].f1.width / 2
    assert compared.intervals(n=100).n == 100


def test_a_detector_that_finds_few_of_many_is_named():
    truth = np.tile([0, 1, 1, 0, 0], 12)
    once = truth * (np.arange(truth.size) < 5)
    caution = compare(truth, {"all": truth, "once": once}).intervals().caution
    assert caution == (
        "once: Precision is defined on only 1 of the 12 events. With fewer than 6 events on which "
        "a detector has a precision, its differences in precision and F1 have no interval and no "
        "p-value."
    )


def test_events_that_fail_in_a_row_are_taken_in_blocks():
    truth = np.tile([0, 1, 1, 0, 0], 36)
    failing = truth * np.repeat([1, 0, 1, 0, 1], [40, 30, 45, 25, 40])
    compared = compare(truth, {"all": truth, "some": failing, "late": np.roll(truth, 1)})
    sure = compared.intervals()
    assert "Consecutive events are alike" in sure.pair("all", "some").caution
    assert sure.pair("all", "late").caution == ""
    assert sure.caution.startswith("some: Consecutive events are alike: their lag-1 correlation")
    assert sure.caution.endswith(
        "take them in blocks of 6 (`block`). So for 2 more detectors or pairs."
    )
    blocked = compared.intervals(block=6)
    assert blocked.block == blocked.to_dict()["block"] == 6
    assert blocked.caution.startswith("There are only 6 blocks of events: the intervals are wide")
    assert blocked.pair("all", "some").recall.width > sure.pair("all", "some").recall.width
    alone = compared.results["some"].interval(block=6).recall
    assert (alone.low, alone.high) == pytest.approx(
        (blocked.detectors["some"].recall.low, blocked.detectors["some"].recall.high)
    )


def test_one_event_has_no_intervals():
    lone = repeated(1).intervals()
    plain = lone.to_dict()
    assert plain["detectors"]["right"]["recall"] == {"value": 1.0, "low": None, "high": None}
    assert plain["pairs"][0]["f1"]["pvalue"] is None
    assert plain["pairs"][0]["f1"]["value"] > 0
    assert math.isnan(lone.pairs[0].recall.low)


def test_plain_values_and_rows(intervals):
    plain = json.loads(json.dumps(intervals.to_dict(), allow_nan=False))
    assert plain["pairs"][0]["recall"]["low"] == intervals.pairs[0].recall.low
    assert plain["detectors"]["forecast"]["f1"]["high"] == intervals.detectors["forecast"].f1.high
    assert (plain["level"], plain["n"], plain["events"]) == (0.95, 2000, 7)
    assert plain["caution"] == intervals.caution
    rows = intervals.rows()
    assert [(row["detector"], row["against"], row["number"]) for row in rows] == [
        *(("threshold", "", score) for score in SCORES),
        *(("forecast", "", score) for score in SCORES),
        *(("threshold", "forecast", score) for score in SCORES),
    ]
    assert rows[-1]["pvalue"] == intervals.pairs[0].f1.pvalue
    assert math.isnan(rows[0]["pvalue"])


def test_rows_say_what_few_events_do_not_allow():
    few = repeated(2).intervals().rows()
    assert {row["caution"] for row in few[:6]} == {caution_about(2)}
    assert {row["caution"] for row in few[6:]} == {caution_about_pairs(2)}
    assert {row["caution"] for row in repeated(10).intervals().rows()} == {""}


def test_each_row_has_the_caution_that_holds_for_it():
    truth = np.tile([0, 1, 1, 0, 0], 12)
    once = truth * (np.arange(truth.size) < 5)
    sure = compare(truth, {"all": truth, "once": once}).intervals()
    one = "Precision is defined on only 1 of the 12 events."
    assert [row["caution"] for row in sure.rows()] == ["", "", "", one, "", one, one, "", one]
    assert sure.pair("once", "all").caution == sure.pair("all", "once").caution == one
    plain = sure.to_dict()
    assert plain["pairs"][0]["caution"] == plain["detectors"]["once"]["caution"] == one
    assert plain["detectors"]["all"]["caution"] == ""


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames(intervals, backend):
    frame = intervals.to_frame(backend)
    assert list(frame.columns) == list(intervals.rows()[0])
    assert list(frame["caution"]) == [row["caution"] for row in intervals.rows()]
    assert list(frame["low"]) == [row["low"] for row in intervals.rows()]


def test_refusals(compared, intervals):
    with pytest.raises(InputError, match="two of the detectors, got 'forecast' and 'typo'"):
        intervals.pair("forecast", "typo")
    with pytest.raises(InputError, match="`backend` to be 'pandas' or 'polars'"):
        intervals.to_frame("duck")
    with pytest.raises(InputError, match="`level` to be a number between 0 and 1, got 1"):
        compared.intervals(level=1)


def test_one_line_each(intervals):
    assert repr(intervals) == (
        "ComparisonIntervals(2 detectors on 7 events, 0 of 1 pairs apart in F1, level=0.95, "
        "n=2000, caution='There are only 7 events: the intervals are wide, and rough.')"
    )
    assert "1 of 1 pairs apart in F1, level=0.95, n=2000)" in repr(repeated(30).intervals())
    assert repr(repeated(3).intervals()).endswith(", caution='There are only three events.')")
    pair = intervals.pair("forecast", "threshold")
    assert isinstance(pair, PairIntervals)
    assert repr(pair).startswith(
        "PairIntervals('forecast' minus 'threshold': precision 0.121 [-0.2"
    )
    assert "7 events" in repr(intervals.detectors["forecast"])


def test_events_needed_are_those_of_the_differences(compared, intervals):
    """Seven events leave 0 within the limits; many that differ do not."""
    assert intervals.events_needed("forecast", "threshold", "recall") is None
    truth = [0, 0, 1, 1] * 40
    half = [0, 0, 1, 0] * 20 + truth[80:]
    many = compare(truth, {"all": truth, "half": half})
    ours, theirs = (many.results[name].events.recall for name in ("all", "half"))
    found = many.intervals().events_needed("all", "half", "recall")
    assert found == events_needed(ours - theirs)
    assert many.intervals().events_needed("half", "all", "recall") == found
    # Equal blocks of two are means of two events each; a number of blocks is twice that of events.
    blocks = many.intervals(block=2).events_needed("all", "half", "recall")
    assert [count % 2 for count in blocks] == [0, 0]
    with pytest.raises(InputError, match="`score` to be 'precision', 'recall' or 'f1'"):
        intervals.events_needed("forecast", "threshold", "f2")
