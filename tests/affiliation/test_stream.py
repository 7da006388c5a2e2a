"""The manners of a stream: chunks of any kind, copies, what it keeps, and what it says."""

import copy
import pickle

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation import runs
from closecall.affiliation.stream import AffiliationStream
from closecall.errors import UndefinedMetricError
from tests.affiliation.streams import (
    MINUTE,
    MORNING,
    NONE,
    PREDICTED,
    TRUTH,
    state,
    stream_of,
)


def test_what_it_says():
    stream = AffiliationStream()
    assert repr(stream) == "AffiliationStream(nothing seen)"
    assert (len(stream), stream.alarms, stream.kept, bool(stream)) == (0, 0, 0, False)
    stream.update([0, 0], [1, 0])
    assert repr(stream) == "AffiliationStream(0 true events, 1 alarm, from 0 to 2)"
    assert (len(stream), bool(stream)) == (0, True)
    assert repr(stream_of(start=5, step=2)) == (
        "AffiliationStream(2 true events, 2 alarms, from 5 to 25)"
    )
    assert repr(stream_of(start=MORNING, step=MINUTE)) == (
        "AffiliationStream(2 true events, 2 alarms, from 2024-01-01 08:00:00 to "
        "2024-01-01 08:10:00)"
    )


def test_events_in_stretches():
    stream = AffiliationStream(start=0.0)
    stream.update_events(cc.Events([(2.0, 4.0)]), cc.Events([(3.0, 4.0)]), until=4.0)
    stream.update_events(cc.Events([(4, 6)]), cc.Events([(4, 5)]), until=8)
    stream.update_events(NONE, NONE, until=8)
    truth, predicted = cc.Events([(2.0, 4.0), (4.0, 6.0)]), cc.Events([(3.0, 4.0), (4.0, 5.0)])
    expected = cc.affiliation(truth, predicted, span=(0.0, 8.0))
    assert stream.result().to_dict() == expected.to_dict()
    assert (len(stream), stream.alarms) == (2, 2)


def test_copies_go_their_own_ways():
    stream = stream_of()
    twin, clone = copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))  # noqa: S301 - ours
    before = state(stream)
    for other in (twin, clone):
        assert state(other) == before
        other.update([1, 1], [0, 1])
        assert len(other) == 3
    assert state(stream) == before


def test_memory_is_some_bytes_for_each_change():
    random = np.random.default_rng(1)
    stream, changes = AffiliationStream(), 1
    truth = (np.arange(10_000) % 500 == 250).astype(np.uint8)
    for _ in range(50):
        predicted = random.random(10_000) < 0.1
        stream.update(truth, predicted)
        changes += np.count_nonzero(np.diff(truth + 2 * predicted))
    assert len(stream) == 1_000
    assert changes <= stream.kept <= changes + 49
    assert len(pickle.dumps(stream)) < 9 * stream.kept + 2_000


def test_runs_are_kept_in_few_arrays():
    stream, empty = AffiliationStream(), AffiliationStream()
    for _ in range(1_000):
        stream.update([0, 0, 0, 0], [1, 0, 1, 1])
        sizes = [len(array) for array in stream._runs.arrays]
        assert sizes == sorted(set(sizes), reverse=True)
    assert (stream.kept, stream.alarms) == (2_001, 1_001)
    assert len(stream._runs.arrays) <= 11
    stream.update([1, 0], [0, 0])
    expected = cc.affiliation([0, 0, 0, 0] * 1_000 + [1, 0], [1, 0, 1, 1] * 1_000 + [0, 0])
    assert (empty + stream).result().to_dict() == expected.to_dict()


def test_an_alarm_cut_by_chunks_and_by_zones_is_one():
    stream = AffiliationStream()
    for true in ([1, 0, 0], [0, 0, 1], [0, 0, 1]):
        stream.update(true, [1, 1, 1])
    assert stream.alarms == 1
    result = stream.result()
    assert result.events.predicted_count.tolist() == [1, 1, 1]
    assert result.events.alarms == 1
    assert sum([stream_of([1], [1])] * 2, AffiliationStream()).alarms == 1


def test_rows_come_when_the_next_event_starts():
    stream, rows = AffiliationStream(), []
    counts = []
    for true, alarm in zip(TRUTH, PREDICTED, strict=True):
        stream.update([true], [alarm])
        rows += stream.closed()
        counts.append(len(rows))
    assert counts == [0] * 8 + [1, 1]
    first = next(iter(cc.affiliation(TRUTH, PREDICTED).events.rows()))
    for name in ("precision", "recall", "f1"):
        del first[f"{name}_above_chance"]
    assert rows == [first]


def test_an_alarm_over_ignored_time_stays_one_for_later_rows():
    truth, predicted = cc.Events([(1, 2), (10, 12), (20, 22)]), cc.Events([(3, 25)])
    stream = AffiliationStream(start=0)
    stream.update_events(truth, predicted, until=30, ignore=[(5, 8)])
    assert [row["start"] for row in stream.closed()] == [1, 10]
    stream.update_events(cc.Events([(40, 41)]), NONE, until=50)
    assert [(row["start"], row["delay"]) for row in stream.closed()] == [(20, 0.0)]
    assert stream.result().events.delay.tolist()[1:3] == [0.0, 0.0]


def test_rows_that_were_not_taken_still_come():
    stream = stream_of([1, 0, 1, 0, 1, 0, 1], [0] * 7)
    taken = next(iter(stream.closed()))
    assert taken["start"] == 0
    one, other = stream.closed(), stream.closed()
    assert [next(one)["start"], next(other, {}).get("start"), *one] == [2, 4]
    assert list(stream.closed()) == []


def test_a_sum_goes_on_with_the_rows_of_its_left_part():
    left, right = stream_of([1, 0, 0, 1, 0], [0] * 5), stream_of([1, 0, 0, 1, 0, 1], [0] * 6)
    assert [row["start"] for row in left.closed()] == [0]
    assert [row["zone_start"] for row in right.closed()] == [0, 2]
    assert [(row["start"], row["zone_start"]) for row in (left + right).closed()] == [
        (3, 2.0),
        (5, 4.5),
        (8, 7.0),
    ]


def test_only_zones_that_closed_since_the_last_call_are_scored(monkeypatch):
    scored, score_pair = [], runs.score_pair
    monkeypatch.setattr(
        runs, "score_pair", lambda pair, **how: scored.append(pair) or score_pair(pair, **how)
    )
    stream, rows = AffiliationStream(), []
    for _ in range(100):
        stream.update(TRUTH, PREDICTED)
        rows += stream.closed()
        list(stream.closed())
        stream.update([0] * 10, PREDICTED)  # no event starts
        list(stream.closed())
    assert len(rows) == 199
    assert len(scored) == 100
    # Two new zones, the one before them and the open one.
    assert max(len(pair.truth) for pair in scored) == 4
    assert max(len(pair.predicted) for pair in scored) <= 10


def test_a_result_has_its_alarms_and_the_level_of_chance():
    result, expected = stream_of().result(), cc.affiliation(TRUTH, PREDICTED)
    assert result.chance.values() == expected.chance.values()
    assert result.events.pair.predicted.starts.tolist() == [3, 6]
    assert str(result.signature) == str(expected.signature)
    assert result.plot() is not None


def test_nothing_true_yet():
    stream = AffiliationStream()
    with pytest.raises(UndefinedMetricError, match="a stream that has seen nothing"):
        stream.result()
    assert list(stream.closed()) == []
    stream.update([0, 0], [0, 1])
    with pytest.raises(UndefinedMetricError, match="at least one true event"):
        stream.result()
    assert list(stream.closed()) == []
    stream.update([1, 0], [1, 0])
    assert stream.result().to_dict() == cc.affiliation([0, 0, 1, 0], [0, 1, 1, 0]).to_dict()


@pytest.mark.parametrize("truth", [[(2, 4)], [(2, 4), (6, 10)], [(2, 4), (10, 10)]])
def test_a_point_at_the_end_belongs_to_the_last_zone(truth):
    stream = AffiliationStream(start=0)
    stream.update_events(cc.Events(truth), cc.Events([(10, 10)]), until=10)
    expected = cc.affiliation(cc.Events(truth), cc.Events([(10, 10)]), span=(0, 10))
    assert stream.result().to_dict() == expected.to_dict()
    assert stream.result().events.predicted_count[-1] == 1
