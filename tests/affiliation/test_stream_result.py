"""Results of a stream: all of it, and rows that are final."""

import pytest

import closecall as cc
from closecall.affiliation.stream import AffiliationStream
from closecall.errors import InputError, UndefinedMetricError
from tests.affiliation.streams import PREDICTED, TRUTH, stream_of


def test_an_alarm_cut_by_chunks_and_by_zones_is_one():
    stream = AffiliationStream()
    for true in ([1, 0, 0], [0, 0, 1], [0, 0, 1]):
        stream.update(true, [1, 1, 1])
    assert stream.alarms == 1
    result = stream.result()
    assert result.events.predicted_count.tolist() == [1, 1, 1]
    assert result.events.alarms == 1
    whole = cc.affiliation([1, 0, 0, 0, 0, 1, 0, 0, 1], [1] * 9)
    assert result.chance.to_dict() == whole.chance.to_dict()
    assert sum([stream_of([1], [1])] * 2, AffiliationStream()).alarms == 1


def test_chance_is_that_of_the_whole_series():
    parts = [stream_of(TRUTH[:5], PREDICTED[:5]), stream_of(TRUTH[5:], PREDICTED[5:])]
    found, whole = sum(parts, AffiliationStream()).result(), cc.affiliation(TRUTH, PREDICTED)
    assert found.f1_above_chance == whole.f1_above_chance
    assert found.recall_above_chance == whole.recall_above_chance


def test_rows_come_when_the_next_event_starts():
    stream, rows = AffiliationStream(), []
    counts = []
    for true, alarm in zip(TRUTH, PREDICTED, strict=True):
        stream.update([true], [alarm])
        rows += stream.closed()
        counts.append(len(rows))
    assert counts == [0] * 8 + [1, 1]
    first = next(iter(cc.affiliation(TRUTH, PREDICTED).events.rows()))
    del first["recall_above_chance"], first["f1_above_chance"]
    assert rows == [first]


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


def test_a_result_cannot_be_drawn():
    result = stream_of().result()
    with pytest.raises(InputError, match="that of a stream, which does not keep them"):
        result.plot()
    with pytest.raises(InputError, match="which does not keep them"):
        len(result.events.pair.predicted)
    for name in ("starts", "stops"):
        with pytest.raises(InputError, match="which does not keep them"):
            getattr(result.events.pair.predicted, name)
    assert result.to_frame("polars")["recall"].to_list() == result.events.recall.tolist()


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
