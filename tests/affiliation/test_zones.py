"""Borders of the zones, in exact half ticks."""

from datetime import datetime

import numpy as np
import pytest

import closecall as cc
from closecall import Events
from closecall.affiliation.zones import ZoneShares, in_ticks, origin_of, zone_borders
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


def test_columns_of_the_result():
    events = cc.affiliation(Events([(2, 4), (9, 10)]), Events([]), span=(1, 12)).events
    assert events.zone_start.tolist() == [1.0, 6.5]
    assert events.zone_stop.tolist() == [6.5, 12.0]


def test_the_widest_span_does_not_wrap_around():
    low, high = -(2**61), 2**61 - 1
    borders, _ = borders_of([(low, low + 2), (high - 3, high)], (low, high))
    assert borders.tolist() == [0, 2 + 2**62 - 4, 2**63 - 2]


def shares(truth, span):
    return cc.affiliation(cc.Events(truth), cc.Events.from_points([]), span=span).events.zone_shares


def test_two_events():
    zones = shares([(2, 4), (10, 15)], (0, 20))
    assert isinstance(zones, ZoneShares)
    assert zones.borders.tolist() == [0, 7 / 20, 1]
    np.testing.assert_allclose(zones.ends, [[0.1, 0.2], [0.5, 0.75]])
    np.testing.assert_allclose(zones.of_span, [7 / 20, 13 / 20])
    np.testing.assert_allclose(zones.before, [2 / 7, 3 / 13])
    np.testing.assert_allclose(zones.filled, [2 / 7, 5 / 13])
    np.testing.assert_allclose(zones.empty, [5 / 7, 8 / 13])


def test_datetimes_are_exact():
    far = datetime(2024, 1, 1, microsecond=1), datetime(2024, 1, 1, microsecond=2)  # noqa: DTZ001
    span = datetime(2024, 1, 1), datetime(2024, 1, 1, microsecond=4)  # noqa: DTZ001
    assert (shares([far], span).before, shares([far], span).filled) == (0.25, 0.25)


def test_touching_events_fill_their_zones():
    zones = shares([(0, 4), (4, 6), (6, 9)], (0, 9))
    assert zones.filled.tolist() == [1, 1, 1]
    assert zones.empty.tolist() == [0, 0, 0]


def test_points_and_a_zone_without_length():
    zones = shares([(1, 2), (3, 3), (5, 10), (10, 10)], (0, 10))
    assert zones.filled.tolist() == pytest.approx([1 / 2.5, 0, 5 / 6, 0])
    assert zones.empty.tolist() == pytest.approx([1.5 / 2.5, 1, 1 / 6, 1])
    assert zones.of_span[-1] == 0
    assert zones.of_span.sum() == pytest.approx(1)
