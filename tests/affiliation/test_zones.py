"""Borders of the zones, in exact half ticks."""

import numpy as np
import pytest

from closecall import Events
from closecall.affiliation.zones import in_ticks, origin_of, zone_borders
from closecall.series import read_pair


def borders_of(intervals, span):
    pair = read_pair(Events(intervals), Events([]), span=span)
    return zone_borders(pair), pair


@pytest.mark.parametrize("origin", [0, -50, 2**60 + 1])
def test_halfway_between_events(origin):
    # Halfway between 4 and 8 is 6, between 10 and 13 it is 11.5: 12 and 23 half ticks.
    events = [(origin + start, origin + stop) for start, stop in [(2, 4), (8, 10), (13, 13)]]
    borders, pair = borders_of(events, (origin, origin + 20))
    assert origin_of(pair) == origin
    assert borders.dtype == np.int64
    assert borders.tolist() == [0, 12, 23, 40]


def test_touching_events_share_their_border():
    assert borders_of([(2, 4), (4, 6)], (0, 8))[0].tolist() == [0, 8, 16]


def test_numbers_are_not_shifted():
    borders, pair = borders_of([(1.5, 2.0), (3.5, 4.0)], (0.5, 5.0))
    assert origin_of(pair) == 0
    assert borders.tolist() == [1.0, 5.5, 10.0]
    assert in_ticks(borders, pair).tolist() == [0.5, 2.75, 5.0]


def test_half_integers_come_back_as_floats():
    borders, pair = borders_of([(11, 12), (15, 16)], (10, 20))
    assert in_ticks(borders, pair).tolist() == [10.0, 13.5, 20.0]


def test_half_ticks_of_datetimes_are_floored():
    stamps = np.array([[-9, -8], [-5, -4]], dtype="datetime64[s]")
    borders, pair = borders_of(stamps, tuple(np.array([-10, 0], dtype="datetime64[s]")))
    assert in_ticks(borders, pair).tolist() == [-10, -7, 0]


def test_the_widest_span_does_not_wrap_around():
    low, high = -(2**61), 2**61 - 1
    borders, _ = borders_of([(low, low + 2), (high - 3, high)], (low, high))
    assert borders.tolist() == [0, 2 + 2**62 - 4, 2**63 - 2]
