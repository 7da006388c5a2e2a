"""Chunks that break a rule, and leave the stream as it was."""

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.stream import AffiliationStream
from closecall.errors import InputError, InputTypeError
from tests.affiliation.streams import (
    MINUTE,
    MORNING,
    NONE,
    PREDICTED,
    TRUTH,
    state,
    stream_of,
    timed,
)


@pytest.mark.parametrize(
    ("truth", "predicted", "options", "message"),
    [
        ([0, 1], [0], {}, r"as many labels as `truth` \(2\), got 1"),
        ([0, 1], [], {}, r"as many labels as `truth` \(2\), got 0"),
        ([0, 2], [0, 1], {}, "`truth` labels to be 0 or 1, got 2 at index 1"),
        ([0, 1], [0, np.nan], {}, "`predicted` labels to be 0 or 1, got nan at index 1"),
        ([0, 1], [0, 1], {"times": [10, 11]}, r"without times, as before, got `update\(.*times="),
    ],
)
def test_a_bad_chunk_changes_nothing(truth, predicted, options, message):
    stream = stream_of()
    before = state(stream)
    with pytest.raises((InputError, InputTypeError), match=message):
        stream.update(truth, predicted, **options)
    assert state(stream) == before
    stream.update([0, 1], [0, 1])
    assert stream.result().to_dict() == cc.affiliation([*TRUTH, 0, 1], [*PREDICTED, 0, 1]).to_dict()


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([4.0, 5.0], "got 4.0 at index 0, after 4.5 in the chunk before"),
        ([4.5, 5.0], "got 4.5 at index 0, after 4.5 in the chunk before"),
        ([5.0, 5.0], "got 5.0 after 5.0 at index 1"),
        ([5.0], "one time for each of the 2 labels, got 1"),
        ([5.0, np.nan], "`times` to be finite"),
        ([MORNING, MORNING + MINUTE], "one kind of time axis"),
        (None, r"times=...\)`, as before, got `update\(truth, predicted\)` without times"),
    ],
)
def test_bad_times_change_nothing(times, message):
    stream = timed([0, 1, 0], [1, 1, 0], [0.0, 3.0, 4.5])
    with pytest.raises((InputError, InputTypeError), match=message):
        stream.update([0, 1], [0, 1], times=times)
    expected = cc.affiliation([0, 1, 0], [1, 1, 0], times=[0.0, 3.0, 4.5], end=5.0)
    assert stream.result(end=5.0).to_dict() == expected.to_dict()


def test_times_keep_the_type_of_the_first_chunk():
    stream = timed([0, 1], [1, 0], [0, 3])
    with pytest.raises(InputTypeError, match="`times` to be integers, as before in this stream"):
        stream.update([0], [0], times=[4.5])
    stamps = np.array(["2024-01-01T00:00", "2024-01-01T00:02"], dtype="datetime64[s]")
    stream = timed([0, 1], [1, 0], stamps)
    later = stamps[:1] + np.timedelta64(600, "s")
    with pytest.raises(InputTypeError, match=r"datetimes in s without a zone.*datetimes in ms"):
        stream.update([0], [0], times=later.astype("datetime64[ms]"))
    stream.update([0], [0], times=later.astype("datetime64[m]"))
    end = later[0] + np.timedelta64(100, "s")
    assert stream.result(end=end).events.stop[0] == later[0]


def test_a_start_is_not_for_chunks_with_times():
    with pytest.raises(InputTypeError, match="no `start` for a stream whose chunks have times"):
        AffiliationStream(start=3).update([0, 1], [0, 1], times=[3, 4])


@pytest.mark.parametrize(
    ("truth", "predicted", "until", "message"),
    [
        ([0, 1], [0, 1], 30, "`truth` and `predicted` to be Events, got list"),
        (cc.Events([(11, 14), (13, 15)]), NONE, 30, "`truth` events to be disjoint"),
        (cc.Events([(9, 12)]), NONE, 30, r"`truth` to lie within the stretch \(10, 30\)"),
        (NONE, cc.Events([(29, 31)]), 30, r"`predicted` to lie .* got \(29, 31\) at index 0"),
        (NONE, NONE, 9, "`until` to lie after what has been seen, 10, got 9"),
        (NONE, NONE, 10.5, "`until` to be integers, as before in this stream, got floats"),
        (
            NONE,
            cc.Events([(10, 12)]),
            30,
            r"`predicted` .* disjoint, got \(10, 10\) and \(10, 12\)",
        ),
    ],
)
def test_bad_events_change_nothing(truth, predicted, until, message):
    stream = AffiliationStream(start=0)
    stream.update_events(cc.Events([(2, 4)]), cc.Events([(3, 5), (10, 10)]), until=10)
    before = state(stream)
    with pytest.raises((InputError, InputTypeError), match=message):
        stream.update_events(truth, predicted, until=until)
    assert state(stream) == before


def test_events_need_a_start_and_do_not_mix_with_labels():
    with pytest.raises(InputTypeError, match="a `start` for a stream of events"):
        AffiliationStream().update_events(NONE, NONE, until=3)
    stream = stream_of(start=0)
    with pytest.raises(InputTypeError, match=r"without times, as before, got `update_events"):
        stream.update_events(NONE, NONE, until=30)
    events = AffiliationStream(start=0)
    events.update_events(NONE, NONE, until=10)
    with pytest.raises(InputTypeError, match=r"`update_events.*`, as before, got `update"):
        events.update([0], [1])
    with pytest.raises(InputTypeError, match="as before"):
        _ = events + stream_of(start=10)


def test_the_first_stretch_settles_the_unit():
    stream = AffiliationStream(start=MORNING)
    at = np.datetime64("2024-01-01T08:00", "ns") + np.arange(0, 900, 100, "timedelta64[ns]")
    stream.update_events(cc.Events([(at[2], at[4])]), cc.Events([(at[3], at[5])]), until=at[8])
    assert stream.result().events.delay.tolist() == [100]


def test_too_long_a_span_is_refused():
    stream = stream_of(start=0, step=2**58)
    with pytest.raises(InputError, match=r"fewer than 2\*\*62 ticks"):
        stream.update([1] * 7, [0] * 7)
    assert repr(stream).endswith(f"from 0 to {10 * 2**58})")
    with pytest.raises(InputError, match="fit in 64 bits"):
        stream.update([1] * 40, [0] * 40)


def test_empty_chunks():
    stream = AffiliationStream()
    stream.update([], [])
    stream.update([], [], times=[])
    assert not stream
    stream.update(TRUTH, PREDICTED)
    before = state(stream)
    stream.update([], [])
    stream.update(np.array([], dtype=bool), np.array([], dtype=np.uint8))
    assert state(stream) == before
