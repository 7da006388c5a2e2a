"""How much of the span alarms cover, on any axis."""

from datetime import datetime, timedelta

import pytest

import closecall as cc
from closecall.affiliation.coverage import covered_share, covers_much

DAY = datetime(2024, 1, 1)  # noqa: DTZ001


def events_of(predicted, span):
    truth = cc.Events([predicted[0]])
    return cc.affiliation(truth, cc.Events(predicted), span=span).events


@pytest.mark.parametrize(
    ("predicted", "span", "share"),
    [
        ([(0, 10), (20, 25)], (0, 100), 0.15),
        ([(0.0, 1.5), (2.0, 3.0)], (0.0, 10.0), 0.25),
        ([(3, 3), (5, 5)], (0, 10), 0.0),
        ([(0, 10)], (0, 10), 1.0),
        ([(DAY, DAY + timedelta(hours=9))], (DAY, DAY + timedelta(hours=12)), 0.75),
    ],
)
def test_share(predicted, span, share):
    events = events_of(predicted, span)
    assert covered_share(events) == pytest.approx(share, rel=1e-14)
    assert covers_much(events) == (share > 0.25)


def test_no_alarm_covers_nothing():
    assert covered_share(cc.affiliation([0, 1], [0, 0]).events) == 0


def test_alarms_over_several_zones_count_once():
    assert covered_share(cc.affiliation([0, 1, 0, 1, 0, 1], [1, 1, 1, 1, 1, 0]).events) == 5 / 6


def test_a_stream_knows_it_too():
    stream = cc.AffiliationStream()
    stream.update([0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1])
    assert covered_share(stream.result().events) == 0.5
