"""The intervals of one result are those of its own events."""

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.interval import event_interval
from closecall.datasets import demo
from closecall.statistics import SCORES
from tests.oracle import bootstrap as oracle

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0]
FOUND = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]


def test_three_events_one_of_them_missed():
    result = cc.affiliation(TRUTH, FOUND)
    events = result.events
    assert np.isnan(events.precision).tolist() == [False, True, False]
    intervals = event_interval(result, n=40_000)
    expected = oracle.limits_by_quadrature(events.precision, events.recall)
    for score, (low, high) in zip(SCORES, expected, strict=True):
        interval = getattr(intervals, score)
        assert interval.value == pytest.approx(getattr(result, score), abs=1e-12)
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.012)
    assert (intervals.level, intervals.n, intervals.events) == (0.95, 40_000, 3)
    assert intervals.series is None
    assert intervals.caution.startswith("There are only three events.")


def test_options_and_what_is_written():
    data = demo()
    result = cc.affiliation(data.truth, data.predicted["forecast"], times=data.times)
    narrow, wide = event_interval(result, level=0.5), event_interval(result, level=0.99)
    assert wide.recall.low < narrow.recall.low < narrow.recall.high < wide.recall.high
    assert event_interval(result, seed=1).recall != event_interval(result, seed=2).recall
    plain = narrow.to_dict()
    assert plain["recall"] == {
        "value": narrow.recall.value,
        "low": narrow.recall.low,
        "high": narrow.recall.high,
    }
    assert (plain["level"], plain["events"], plain["caution"]) == (0.5, 7, narrow.caution)
    assert repr(narrow).startswith("ScoreIntervals(precision=0.992 [0.")
    assert repr(narrow).endswith("level=0.5, 7 events)")
