"""A stream that is stored after any chunk and read again goes on as if nothing had happened."""

import json
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError

RANDOM = np.random.default_rng(5)
TRUTH, PREDICTED = RANDOM.random((2, 400)) < 0.1
FIRST = datetime(2024, 3, 30, tzinfo=ZoneInfo("Europe/Berlin"))
TIMES = {
    "none": None,
    "integers": np.arange(400) * 3 + 7,
    "floats": np.cumsum(RANDOM.random(400) + 0.1),
    "zone": [FIRST.astimezone(UTC) + timedelta(minutes=5 * number) for number in range(400)],
    "stamps": np.datetime64("2024-01-01", "ns") + np.arange(400) * np.timedelta64(7, "ns"),
}


def stored(stream):
    return cc.AffiliationStream.from_json(stream.to_json())


@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("ignoring", [False, True])
def test_stored_after_each_chunk(kind, ignoring):
    times, ignore = TIMES[kind], TRUTH[::-1] if ignoring else None
    plain, saved = cc.AffiliationStream(), cc.AffiliationStream()
    rows = {"plain": [], "saved": []}
    for start in range(0, 400, 37):
        part = slice(start, start + 37)
        own = {
            "times": None if times is None else times[part],
            "ignore": None if ignore is None else ignore[part],
        }
        plain.update(TRUTH[part], PREDICTED[part], **own)
        saved = stored(saved)
        saved.update(TRUTH[part], PREDICTED[part], **own)
        rows["plain"] += plain.closed()
        rows["saved"] += stored(saved).closed()
        list(saved.closed())
    end = times[-1] + 1.0 if kind == "floats" else None
    assert rows["saved"] == rows["plain"]
    assert len(rows["plain"]) > 20
    assert stored(saved).result(end=end).to_dict() == plain.result(end=end).to_dict()


@pytest.mark.parametrize(
    "options",
    [
        {"start": 5, "step": 3},
        {"start": datetime(2024, 1, 1, tzinfo=UTC), "step": timedelta(seconds=30)},
        {"start": datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2))), "step": timedelta(1)},
        {"max_step": 2},
    ],
)
def test_options_and_empty_streams_are_kept(options):
    stream, whole = stored(cc.AffiliationStream(**options)), cc.AffiliationStream(**options)
    for each in (stream, whole):
        each.update(TRUTH, PREDICTED)
    assert stored(stream).result().to_dict() == whole.result().to_dict()
    assert repr(stream) == repr(whole)


def test_lengths_of_steps_and_events_are_kept():
    times = np.datetime64("2024-01-01") + np.arange(400) * np.timedelta64(1, "m")
    for longest in (timedelta(seconds=40), np.timedelta64(40, "s")):
        stream = stored(cc.AffiliationStream(max_step=longest))
        stream.update(TRUTH, PREDICTED, times=times)
        whole = cc.affiliation(TRUTH, PREDICTED, times=times, max_step=timedelta(seconds=40))
        assert stored(stream).result().f1 == whole.f1
    stream = stored(cc.AffiliationStream(start=0))
    stream.update_events(cc.Events([(2, 4)]), cc.Events([(3, 5)]), until=6)
    stream = stored(stream)
    stream.update_events(cc.Events([]), cc.Events([]), until=8)
    whole = cc.affiliation(cc.Events([(2, 4)]), cc.Events([(3, 5)]), span=(0, 8))
    assert stream.result().values() == whole.values()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"closecall_stream": 1}', "[" * 100_000])
def test_what_is_no_state(text):
    with pytest.raises(InputError, match="the saved state of a stream"):
        cc.AffiliationStream.from_json(text)


def test_what_was_changed_or_is_of_another_version():
    stream = cc.AffiliationStream()
    stream.update([0, 1, 0], [0, 1, 0])
    saved = json.loads(stream.to_json())
    with pytest.raises(InputError, match="a state of version 1, got 9"):
        cc.AffiliationStream.from_json(json.dumps(saved | {"closecall_stream": 9}))
    saved["state"][1]["known"]["alarms"] = 7
    with pytest.raises(InputError, match="one that was changed"):
        cc.AffiliationStream.from_json(json.dumps(saved))


def test_what_cannot_be_saved():
    stream = cc.AffiliationStream(max_step=Fraction(1, 2))
    with pytest.raises(InputTypeError, match="a Fraction in it"):
        stream.to_json()
