"""What a stream keeps: rows in few arrays, open zones, and the scores of closed ones."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import closecall as cc
from closecall.affiliation import _kernels
from closecall.affiliation.stream_state import Blocks, Segment, _sum_in_order, reaching, score_rows
from closecall.clock import SAMPLES


def rows(*numbers):
    return np.array([[number, number + 1] for number in numbers])


def test_rows_stay_in_order_in_few_arrays():
    blocks = Blocks.of(rows(0)[:0])
    for number in range(1_000):
        blocks = blocks.followed_by(Blocks.of(rows(number)))
        sizes = [len(array) for array in blocks.arrays]
        assert sizes == sorted(set(sizes), reverse=True)
    assert len(blocks) == 1_000
    assert len(blocks.arrays) <= 10
    assert blocks.whole().tolist() == rows(*range(1_000)).tolist()


def test_nothing_that_was_built_on_changes():
    start = Blocks.of(rows(1, 2, 3))
    one, other = start.followed_by(Blocks.of(rows(4))), start.followed_by(Blocks.of(rows(5)))
    assert one.whole()[:, 0].tolist() == [1, 2, 3, 4]
    assert other.whole()[:, 0].tolist() == [1, 2, 3, 5]
    assert start.whole()[:, 0].tolist() == [1, 2, 3]
    assert start.followed_by(Blocks.of(rows(4)[:0])) is start


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_some_rows_from_either_end(count):
    blocks = Blocks.of(rows(0, 1, 2, 3), rows(4, 5), rows(6))
    assert len(blocks.arrays) == 3
    assert blocks.first(count)[:, 0].tolist() == list(range(7))[:count]
    assert blocks.last(count)[:, 0].tolist() == list(range(7))[-count:]


def segment(truth, predicted, start, stop, *, joins=True):
    sides = (np.array(side, dtype=np.int64).reshape(-1, 2) for side in (truth, predicted))
    return Segment.of(*sides, (start, stop), SAMPLES, joins=joins)


def kept(own):
    return {
        "truth": own.truth.whole().tolist(),
        "head": own.head.whole()[:, 0].tolist(),
        "tail": own.tail.whole()[:, 0].tolist(),
        "inner": len(own.inner),
        "alarms": own.alarms,
    }


def test_predictions_of_complete_zones_are_let_go():
    own = segment([(2, 4), (10, 12), (20, 22)], [(0, 1), (6, 9), (11, 12), (15, 17)], 0, 30)
    # Borders at 7 and 16: the second prediction and the last one reach into two zones.
    assert kept(own) == {
        "truth": [[2, 4], [10, 12], [20, 22]],
        "head": [0, 6],
        "tail": [15],
        "inner": 1,
        "alarms": 4,
    }


def test_two_with_one_event_each_keep_what_reaches_into_either():
    left = segment([(2, 4)], [(1, 2), (5, 6)], 0, 8)
    right = segment([(12, 14)], [(9, 10), (20, 21)], 8, 25)
    assert kept(left)["head"] == [1, 5]
    assert kept(left.followed_by(right)) == {  # the border is at 8
        "truth": [[2, 4], [12, 14]],
        "head": [1, 5],
        "tail": [9, 20],
        "inner": 0,
        "alarms": 4,
    }


@pytest.mark.parametrize(("joins", "events", "alarms"), [(True, 1, 1), (False, 2, 2)])
def test_what_meets_is_one_or_stays_two(joins, events, alarms):
    left = segment([(5, 8)], [(2, 8)], 0, 8, joins=joins)
    right = segment([(8, 9)], [(8, 14)], 8, 20, joins=joins)
    both = left.followed_by(right)
    assert (len(both.truth), both.alarms) == (events, alarms)


def test_what_does_not_meet_stays_two():
    left = segment([(5, 7)], [(2, 8)], 0, 8)
    right = segment([(8, 9)], [(9, 14)], 8, 20)
    both = left.followed_by(right)
    assert (len(both.truth), both.alarms) == (2, 2)


def test_moved_by_some_ticks():
    own = segment([(2, 4), (10, 12)], [(0, 1), (6, 9)], 0, 30)
    moved = own.moved(100)
    assert (moved.start, moved.stop) == (100, 130)
    assert moved.truth.whole().tolist() == [[102, 104], [110, 112]]
    assert_array_equal(moved.scores().whole(), own.scores().whole())
    assert kept(moved)["tail"] == [106]


TRUTH = np.array([[2, 4], [9, 11], [20, 21]])
PREDICTED = np.array([[0, 1], [3, 7], [13, 13], [14, 18], [18, 30]])


@pytest.mark.parametrize(
    ("after", "before", "starts"),
    [
        (None, None, [0, 3, 13, 14, 18]),
        (13, None, [3, 13, 14, 18]),  # 3 to 7 reaches beyond 6.5
        (14, None, [13, 14, 18]),  # and ends at 7
        (26, None, [13, 14, 18]),  # a point on the border comes after it
        (27, None, [14, 18]),
        (None, 26, [0, 3]),
        (None, 27, [0, 3, 13]),
        (31, 36, [14]),
    ],
)
def test_predictions_between_borders(after, before, starts):
    assert reaching(PREDICTED, 0, after=after, before=before)[:, 0].tolist() == starts


def test_a_zone_by_itself_has_the_scores_it_has_among_others():
    whole = cc.affiliation(cc.Events(TRUTH), cc.Events(PREDICTED), span=(0, 30)).events
    scores = [*range(_kernels.OUTCOME), _kernels.HITS]
    for zone in range(3):
        borders, before = whole.borders[zone : zone + 2], min(zone, 1)
        near = TRUTH[zone - before : zone + 1]
        found = score_rows(near, borders, PREDICTED, 0, before=before, last=zone == 2).whole()
        assert_array_equal(found[:, scores], whole.table[zone : zone + 1, scores])
        assert found[:, -1].tolist() == [whole.predicted_count[zone]]


def test_alarms_beside_an_event_or_a_border_are_kept():
    truth = [(100, 110), (200, 210), (300, 310)]
    alarms = [(20, 30), (140, 160), (170, 175), (180, 182), (190, 195), (202, 203), (205, 206)]
    alarms += [(220, 221), (230, 231), (290, 305)]
    own = segment(truth, alarms, 0, 400)
    # Borders at 155 and 255. Between: the first, those on either side of 200, the last.
    assert own.beside.whole().tolist() == [[140, 160], [190, 195], [202, 203], [230, 231]]
    assert own.beside.whole().base is None


def test_an_alarm_over_many_segments_is_kept_once():
    truth = [(index, index + 1) for index in range(10, 100, 10)]
    parts = [
        segment([event], [(event[0] - 5, event[0] + 5)], event[0] - 5, event[0] + 5)
        for event in truth
    ]
    both = parts[0]
    for part in parts[1:]:
        both = both.followed_by(part)
    assert both.beside.whole().tolist() == [[5, 95]]
    result = both.result()
    assert result.events.delay.tolist() == [-5.0 - 10 * index for index in range(9)]
    assert (result.caught, result.alarms, result.false_alarms) == (9, 1, 0)


def test_sums_are_those_of_a_loop():
    values = np.random.default_rng(0).random(1_000)
    total = 0.0
    for value in values.tolist():
        total += value
    assert _sum_in_order(values) == total
    assert values.sum() != total  # else the test would not tell
    assert _sum_in_order(values[:0]) == 0
