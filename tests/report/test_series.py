"""What a page is told about time."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from closecall.report.series import series_content

TRUTH = [0, 0, 1, 1, 0, 0, 1, 0]
SCORES = [0.1, 0.6, 0.9, 0.4, 0.1, 0.2, 0.5, 0.3]


def content(*arguments, **options):
    return series_content("one", *arguments, **options)


def test_nanoseconds_are_counted_in_their_longest_step():
    times = np.datetime64("2024-01-01", "ns") + np.timedelta64(300, "s") * np.arange(8)
    page = content(TRUTH, scores=SCORES, times=times)
    assert page["span"] == [0, 8]
    assert page["clock"] == {
        "kind": "datetime",
        "origin": "1704067200000",
        "rest": 0.0,
        "unit": 300_000.0,
        "ticks": [300 * 10**9, 10**9],
        "zone": "",
        "shifts": [],
    }


def milliseconds(moment):
    return int(moment.timestamp()) * 1000


class Unnamed(tzinfo):
    """A zone without a name, ahead of UTC by an hour, and by two from 2024-03-31 on."""

    def utcoffset(self, moment):
        return timedelta(hours=1 if moment < datetime(2024, 3, 31, tzinfo=self) else 2)

    def dst(self, moment):
        return self.utcoffset(moment) - timedelta(hours=1)


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (ZoneInfo("Europe/Paris"), "Europe/Paris"),
        (ZoneInfo("UTC"), "UTC"),
        (timezone(timedelta(hours=-5, minutes=-30)), "UTC-05:30"),
        (UTC, "UTC"),
        (Unnamed(), "local time"),
    ],
)
def test_the_zone_and_every_change_of_it_are_told(zone, name):
    first = datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC"))
    moments = [(first + timedelta(days=60 * step)).astimezone(zone) for step in range(8)]
    clock = content(TRUTH, scores=SCORES, times=moments)["clock"]
    assert clock["zone"] == name
    assert clock["origin"] == str(milliseconds(first))
    shifts = clock["shifts"]
    assert shifts[0] == [milliseconds(first), moments[0].utcoffset() / timedelta(milliseconds=1)]
    # An hour before and after each change, and where there is none.
    for hours in range(0, 24 * 480, 5):
        moment = first + timedelta(hours=hours)
        known = [shift for since, shift in shifts if since <= milliseconds(moment)][-1]
        assert timedelta(milliseconds=known) == moment.astimezone(zone).utcoffset()
    if name == "Europe/Paris":
        assert [since for since, _ in shifts[1:]] == [
            milliseconds(datetime(2024, 3, 31, 1, tzinfo=ZoneInfo("UTC"))),
            milliseconds(datetime(2024, 10, 27, 1, tzinfo=ZoneInfo("UTC"))),
            milliseconds(datetime(2025, 3, 30, 1, tzinfo=ZoneInfo("UTC"))),
        ]


def test_what_an_origin_has_below_a_millisecond_is_kept():
    times = (1_700_000_000_123_456_789 + np.arange(8)).view("datetime64[ns]")
    clock = content(TRUTH, scores=SCORES, times=times)["clock"]
    assert (clock["origin"], clock["rest"], clock["unit"]) == ("1700000000123", 0.456789, 1e-6)
