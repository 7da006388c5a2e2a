"""Where a stream starts, and how long its samples last."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import closecall as cc
from affiliation.streams import MINUTE, MORNING, PREDICTED, TRUTH, stream_of
from closecall.affiliation.stream import AffiliationStream
from closecall.errors import InputError, InputTypeError


@pytest.mark.parametrize(
    ("start", "step", "times"),
    [
        (7, None, np.arange(7, 17)),
        (-3, 4, np.arange(-3, 37, 4)),
        (MORNING, MINUTE, [MORNING + index * MINUTE for index in range(10)]),
        (
            np.datetime64("2024-01-01", "s"),
            np.timedelta64(500, "ms"),
            np.datetime64("2024-01-01", "ms") + 500 * np.arange(10),
        ),
        (
            pd.Timestamp("2024-01-01", tz="UTC"),
            pd.Timedelta(nanoseconds=7),
            pd.date_range("2024-01-01", periods=10, freq="7ns", tz="UTC"),
        ),
    ],
)
def test_starts_and_steps(start, step, times):
    found = stream_of(start=start, step=step).result()
    assert found.to_dict() == cc.affiliation(TRUTH, PREDICTED, times=times).to_dict()


def test_a_step_is_a_length_of_time_across_a_change_of_the_clock():
    paris = ZoneInfo("Europe/Paris")
    night = datetime(2024, 3, 31, 1, 30, tzinfo=paris)
    stream = stream_of(start=night, step=timedelta(hours=1))
    start = stream.result().to_dict()["events"][0]["start"]
    assert start == "2024-03-31T04:30:00+02:00"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 0.5, "step": 1}, "`start` to be an integer"),
        ({"step": 0.5}, "`step` to be an integer"),
        ({"step": True}, "`step` to be an integer"),
        ({"step": 0}, "`step` to be longer than zero, got 0"),
        ({"start": MORNING, "step": -MINUTE}, "`step` to be longer than zero"),
        ({"start": MORNING, "step": 60}, "a timedelta beside a datetime"),
        ({"start": 3, "step": MINUTE}, "a datetime `start`"),
        ({"start": MORNING, "step": np.timedelta64(1, "M")}, "`step` of a fixed length"),
        ({"start": "now"}, "`start` to be numbers or datetimes"),
    ],
)
def test_bad_starts_and_steps(options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        AffiliationStream(**options)


@pytest.mark.parametrize("start", [0.5, MORNING])
def test_labels_need_a_step(start):
    with pytest.raises(InputTypeError, match="`step` beside a `start`"):
        stream_of(start=start)
