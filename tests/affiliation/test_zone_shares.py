"""Zones as shares of the span, and events as shares of their zones."""

from datetime import datetime

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.zone_shares import ZoneShares


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
