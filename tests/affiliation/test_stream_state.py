"""A stream that is stored after any chunk and read again goes on as if nothing had happened."""

import json
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from hashlib import sha256
from zoneinfo import ZoneInfo

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import closecall as cc
from closecall.errors import ClosecallError, InputError, InputTypeError

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
PLAIN = st.none() | st.booleans() | st.integers() | st.integers(0, 9) | st.floats() | st.text()
VALUES = PLAIN | st.lists(PLAIN | st.lists(st.integers(0, 9), max_size=3), max_size=6)
VALUES |= st.lists(st.integers(0, 8), min_size=4, max_size=8)


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


def saved_states():
    samples, timed, stretches = (
        cc.AffiliationStream(max_step=2),
        cc.AffiliationStream(max_step=2),
        cc.AffiliationStream(start=0),
    )
    samples.update([0, 1, 0, 1], [0, 1, 0, 0], ignore=[0, 0, 1, 0])
    timed.update([0, 1, 0, 1], [0, 1, 0, 0], times=[0.0, 1.5, 6.0, 7.0])
    list(timed.closed())
    truth, predicted = cc.Events([(2, 4), (4, 5)]), cc.Events([(3, 3)])
    stretches.update_events(truth, predicted, until=8, ignore=[(6, 7)])
    dated = cc.AffiliationStream(start=FIRST, step=timedelta(minutes=1))
    states = {"samples": samples, "times": timed, "events": stretches, "empty": dated}
    return {name: json.loads(stream.to_json()) for name, stream in states.items()}


def signed(saved, **changes):
    """Return a state with other values, and the checksum that it then has."""
    state = saved["state"] | changes
    digest = sha256(json.dumps(state).encode()).hexdigest()
    return json.dumps(saved | {"state": state, "sha256": digest})


SAVED = saved_states()


def test_what_was_changed_or_is_of_another_version():
    saved = SAVED["samples"]
    with pytest.raises(InputError, match="a state of version 2, got 9"):
        cc.AffiliationStream.from_json(json.dumps(saved | {"closecall_stream": 9}))
    changed = saved | {"state": saved["state"] | {"yielded": 1}}
    with pytest.raises(InputError, match="one that was changed"):
        cc.AffiliationStream.from_json(json.dumps(changed))
    for same in SAVED.values():
        assert cc.AffiliationStream.from_json(signed(same)).to_json() == json.dumps(same) + "\n"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("samples", {"tick": [0, 1, 3, 2]}),
        ("samples", {"tick": [0, 1, 2]}),
        ("samples", {"tick": [0, 1, 2, 3.0]}),
        ("samples", {"tick": [0, 1, 2, None]}),
        ("samples", {"tick": [0, 1, 2, 10**30]}),
        ("samples", {"tick": "0123"}),
        ("times", {"sample": [0, 1, 2, 1, 3]}),
        ("times", {"sample": [1, 1, 2, 2, 3]}),
        ("times", {"sample": [0, 1, 2, 2, 9]}),
        ("samples", {"code": [0, 3, 4, 8]}),
        ("samples", {"code": [0, 3, 4, 256]}),
        ("samples", {"code": [0, 3, 4, -1]}),
        ("samples", {"samples": 5}),
        ("samples", {"samples": True}),
        ("samples", {"step": 2}),
        ("samples", {"step": 0}),
        ("samples", {"step": None}),
        ("samples", {"stop": 5}),
        ("samples", {"stop": 2**62}),
        ("samples", {"steps": [[1, 1], [1, 1], [2, 2]]}),
        ("samples", {"steps": [[1, 1], [1, 1]]}),
        ("samples", {"placed": 0}),
        ("samples", {"float32": True}),
        ("samples", {"yielded": 2}),
        ("samples", {"yielded": -1}),
        ("samples", {"way": "times"}),
        ("samples", {"way": "events"}),
        ("samples", {"way": ""}),
        ("samples", {"way": "words"}),
        ("samples", {"max_step": -1}),
        ("samples", {"max_step": [1, "M"]}),
        ("samples", {"clock": ["datetime", "h"]}),
        ("samples", {"clock": ["lunar", ""]}),
        ("samples", {"zone": "UTC"}),
        ("samples", {"more": 1}),
        ("times", {"tick": [0.0, 1.5, float("nan"), 6.0, 7.0]}),
        ("times", {"stop": float("inf")}),
        ("times", {"start": 0}),
        ("times", {"steps": [[1.0, 1.0], [1.0, 1.5], [1.0, 2.0]]}),
        ("times", {"max_step": None}),
        ("times", {"placed": True}),
        ("events", {"code": [0] * 7 + [1]}),
        ("events", {"code": [8] * 8}),
        ("events", {"samples": 1}),
        ("events", {"placed": False}),
        ("empty", {"zone": "Europe/Nowhere"}),
        ("empty", {"zone": 1e9}),
        ("empty", {"stop": 1}),
        ("empty", {"step": 1.5}),
    ],
)
def test_a_state_that_contradicts_itself(name, changes):
    with pytest.raises(InputError, match="that a stream has written, got one that contradicts"):
        cc.AffiliationStream.from_json(signed(SAVED[name], **changes))


@given(st.sampled_from(list(SAVED)), st.data())
@settings(max_examples=300)
def test_any_other_value_is_an_error_or_a_state(name, data):
    saved = SAVED[name]
    key = data.draw(st.sampled_from(list(saved["state"])))
    text = signed(saved, **{key: data.draw(VALUES)})
    try:
        stream = cc.AffiliationStream.from_json(text)
        stream.result(end=None if stream._runs.way != "times" else 99.0)
    except ClosecallError:
        return
    assert list(stream.closed()) is not None


def test_what_cannot_be_saved():
    stream = cc.AffiliationStream(max_step=Fraction(1, 2))
    with pytest.raises(InputTypeError, match="a Fraction in it"):
        stream.to_json()
