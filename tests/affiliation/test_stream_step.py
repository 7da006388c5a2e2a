"""Where a stream starts, and how long its samples last."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import closecall as cc
from closecall.affiliation.stream import AffiliationStream
from closecall.errors import InputError, InputTypeError
from tests.affiliation.streams import MINUTE, MORNING, PREDICTED, TRUTH, stream_of


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


def test_labels_need_a_step():
    with pytest.raises(InputTypeError, match="`step` beside a `start`") as got:
        stream_of(start=MORNING)
    assert "Pass `step=` when the stream is made. Or: make the stream without" in str(got.value)


def test_a_float_start_has_no_step_and_no_times():
    with pytest.raises(InputTypeError, match=r"`start` to be an integer, .*, got 0\.5") as got:
        stream_of(start=0.5)
    assert "`step" not in str(got.value)
    assert "Make the stream without `start`, and pass `times=`" in str(got.value)
    # What the hint says works.
    AffiliationStream().update([0, 1], [0, 1], times=[0.5, 1.0])


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ({"start": 0}, {"start": 5}, "where the one it is added to stops, 0, got 5"),
        ({"start": MORNING}, {"start": MORNING + MINUTE}, "where the one it is added to stops"),
        ({"start": 0.5}, {"start": 1.5}, "where the one it is added to stops"),
        ({"step": 2}, {"step": 3}, "one `step`, got 2 and 3"),
        ({"start": 0, "step": 2}, {"step": 3}, "one `step`, got 2 and 3"),
        ({"start": 0}, {"start": MORNING}, "of one kind and unit"),
    ],
)
def test_empty_streams_that_contradict_each_other(left, right, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        AffiliationStream(**left) + AffiliationStream(**right)


def test_an_empty_stream_has_the_step_of_the_other():
    seen = stream_of(step=3)
    for empty in (AffiliationStream(step=2), AffiliationStream(start=0)):
        with pytest.raises(InputError, match="one `step`"):
            seen + empty
        with pytest.raises(InputError, match="one `step`"):
            empty + seen


@pytest.mark.parametrize("options", [{"step": 2}, {"start": 4}, {"start": MORNING, "step": MINUTE}])
def test_an_empty_stream_without_options_changes_nothing(options):
    told, nothing = AffiliationStream(**options), AffiliationStream()
    for both in (told + nothing, nothing + told, told + told, nothing + told + nothing):
        assert not both
        both.update(TRUTH, PREDICTED)
        assert repr(both) == repr(stream_of(**options))
