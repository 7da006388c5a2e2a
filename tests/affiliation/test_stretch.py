"""What a stretch keeps, and what becomes known where two of them meet."""

import numpy as np
import pytest

from closecall.affiliation.stretch import Stretch
from closecall.clock import SAMPLES


def stretch(truth, predicted, start, stop, *, joins=True):
    sides = (np.array(side, dtype=np.int64).reshape(-1, 2) for side in (truth, predicted))
    return Stretch.of(*sides, (start, stop), SAMPLES, joins=joins)


def kept(own):
    return {
        "truth": own.truth.whole().tolist() if len(own.truth) else [],
        "head": own.head.whole()[:, 0].tolist() if len(own.head) else [],
        "tail": own.tail.whole()[:, 0].tolist() if len(own.tail) else [],
        "inner": len(own.inner),
        "alarms": own.alarms,
    }


def test_predictions_of_complete_zones_are_let_go():
    own = stretch([(2, 4), (10, 12), (20, 22)], [(0, 1), (6, 9), (11, 12), (15, 17)], 0, 30)
    # Borders at 7 and 16: the second prediction and the last one reach into two zones.
    assert kept(own) == {
        "truth": [[2, 4], [10, 12], [20, 22]],
        "head": [0, 6],
        "tail": [15],
        "inner": 1,
        "alarms": 4,
    }


def test_two_with_one_event_each_keep_what_reaches_into_either():
    left = stretch([(2, 4)], [(1, 2), (5, 6)], 0, 8)
    right = stretch([(12, 14)], [(9, 10), (20, 21)], 8, 25)
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
    left = stretch([(5, 8)], [(2, 8)], 0, 8, joins=joins)
    right = stretch([(8, 9)], [(8, 14)], 8, 20, joins=joins)
    both = left.followed_by(right)
    assert (len(both.truth), both.alarms) == (events, alarms)


def test_what_does_not_meet_stays_two():
    left = stretch([(5, 7)], [(2, 8)], 0, 8)
    right = stretch([(8, 9)], [(9, 14)], 8, 20)
    both = left.followed_by(right)
    assert (len(both.truth), both.alarms) == (2, 2)


def test_moved_by_some_ticks():
    own = stretch([(2, 4), (10, 12)], [(0, 1), (6, 9)], 0, 30)
    moved = own.moved(100)
    assert (moved.start, moved.stop) == (100, 130)
    assert moved.truth.whole().tolist() == [[102, 104], [110, 112]]
    assert moved.scores.table.whole().tolist() == own.scores.table.whole().tolist()
    assert kept(moved)["tail"] == [106]
