"""Results on every kind of time axis, for the tests of what a result shows."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np

import closecall as cc
from closecall import Events
from closecall.affiliation.event_scores import COLUMNS

PARIS = ZoneInfo("Europe/Paris")
OFFSET = timezone(timedelta(hours=2))
TIMES, LENGTHS = COLUMNS[:4], ("precision_distance", "recall_distance", "early", "late", "delay")


def day(number, zone=None):
    return datetime(2024, 1, number, tzinfo=zone)


def scored(zone=None):
    """Score two events by days, one of them missed."""
    truth = Events([(day(3, zone), day(5, zone)), (day(10, zone), day(11, zone))])
    predicted = Events([(day(4, zone), day(6, zone))])
    return cc.affiliation(truth, predicted, span=(day(1, zone), day(15, zone)))


NUMBERS = cc.affiliation(Events([(2, 4), (9, 10)]), Events([(3, 5)]), span=(0, 14))
FLOATS = cc.affiliation(Events([(2.0, 4.0), (9.0, 10.0)]), Events([(3, 5)]), span=(0, 14))
NOTHING = cc.affiliation([0, 1, 0], [0, 0, 0])
ALL = {
    "integers": NUMBERS,
    "floats": FLOATS,
    "nothing": NOTHING,
    "naive": scored(),
    "Paris": scored(PARIS),
    "UTC": scored(UTC),
    "offset": scored(OFFSET),
    "seconds": cc.affiliation([0, 1, 0], [1, 0, 0], times=np.arange(3).astype("datetime64[s]")),
    "nanoseconds": cc.affiliation(
        [0, 1, 0], [1, 0, 0], times=np.arange(3).astype("datetime64[ns]")
    ),
}
