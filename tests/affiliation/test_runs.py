"""Runs of a stream: what they are, where they end, how they meet, and those that do not."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
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


def rows(stream):
    return [tuple(run) for run in stream._runs.from_run(0).tolist()]


def test_a_run_for_each_change():
    stream = stream_of([0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1], start=10, step=5)
    assert rows(stream) == [(10, 0), (20, 1), (25, 3), (35, 2)]
    assert stream._runs.numbers().tolist() == [0, 2, 3, 5]
    assert stream._runs.arrays[0].dtype.itemsize == 9
    stream = timed([0, 0, 1], [0, 0, 0], [10.0, 15.0, 20.0])
    assert rows(stream) == [(10.0, 0, 0), (20.0, 1, 2)]
    assert stream._runs.arrays[0].dtype.itemsize == 17


def test_the_rest_of_a_long_step_is_an_ignored_run():
    stream = AffiliationStream(max_step=2)
    stream.update([0, 1, 1], [0, 0, 0], times=[0, 1, 9])
    stream.update([1], [0], times=[20], ignore=[1])
    assert rows(stream) == [(0, 0, 0), (1, 1, 1), (3, 5, 2), (9, 1, 2), (11, 5, 3)]
    assert stream.result(end=25).events.stop.tolist() == [11]


def test_runs_of_events_tell_points_and_events_that_touch():
    stream = AffiliationStream(start=0)
    truth, predicted = cc.Events([(1, 3), (3, 4)]), cc.Events([(3, 3)])
    stream.update_events(truth, predicted, until=5, ignore=[(0, 1)])
    touching, point = 1 | 8, 1 | 8 | 2 | 16
    assert rows(stream) == [(0, 4), (1, touching), (3, point), (3, 1), (4, 0)]
    assert (len(stream), stream.alarms) == (2, 1)


def test_the_end_of_times():
    uneven = timed([0, 1, 0], [1, 0, 0], [0, 1, 3])
    with pytest.raises(InputError, match="`end` for unevenly spaced times"):
        uneven.result()
    with pytest.raises(InputError, match="`end` to lie after the last time 3, got 3"):
        uneven.result(end=3)
    assert uneven.result(end=9).events.zone_stop.tolist() == [9.0]
    with pytest.raises(InputError, match="`end` for a series of one sample"):
        timed([1], [1], [5]).result()
    with pytest.raises(InputTypeError, match="no `end` for a stream that knows where it stops"):
        stream_of().result(end=30)


@pytest.mark.parametrize("times", [[0, 1, 3, 5, 7], [0, 2, 4, 5, 7], [0, 2, 4, 6, 9]])
@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_times_that_are_uneven_anywhere_need_an_end(times, cut):
    stream = timed([1] * cut, [1] * cut, times[:cut])
    stream.update([0] * (5 - cut), [0] * (5 - cut), times=times[cut:])
    with pytest.raises(InputError, match="`end` for unevenly spaced times"):
        stream.result()


def test_short_floats_are_even_up_to_their_own_rounding():
    times = 1_000 + np.arange(10, dtype=np.float32) / np.float32(10)
    parts = [timed(TRUTH[part], PREDICTED[part], times[part]) for part in (slice(4), slice(4, 10))]
    expected = cc.affiliation(TRUTH, PREDICTED, times=times)
    assert (parts[0] + parts[1]).result().to_dict() == expected.to_dict()
    longer = timed(TRUTH[4:], PREDICTED[4:], times[4:].astype(np.float64))
    with pytest.raises(InputError, match="`end` for unevenly spaced times"):
        (parts[0] + longer).result()


def test_times_that_32_bits_do_not_hold_are_uneven_by_their_own_rounding():
    times = 1_000 + np.arange(10.0)
    times[7] += 1e-4
    parts = [timed(TRUTH[part], PREDICTED[part], times[part]) for part in (slice(4), slice(4, 10))]
    expected = cc.affiliation(TRUTH, PREDICTED, times=times, end=1_010.0)
    for stream in (parts[0] + parts[1], timed(TRUTH, PREDICTED, times)):
        assert stream.result(end=1_010.0).to_dict() == expected.to_dict()
    assert expected.chance.step < 1


def test_streams_without_a_place_move_next_to_others():
    parts = [(TRUTH[start : start + 4], PREDICTED[start : start + 4]) for start in (0, 4, 8)]
    for places in ([None, None, None], [50, None, None], [None, 54, None], [None, None, 58]):
        a, b, c = (stream_of(*part, start=at) for part, at in zip(parts, places, strict=True))
        shift = 0 if set(places) == {None} else 50
        times = np.arange(10) + shift
        expected = cc.affiliation(TRUTH, PREDICTED, times=times).to_dict()
        assert ((a + b) + c).result().to_dict() == expected
        assert (a + (b + c)).result().to_dict() == expected


def test_an_empty_stream_is_neutral_if_it_is_there():
    stream, nothing = stream_of(start=3), AffiliationStream()
    for total in (stream + nothing, nothing + stream, AffiliationStream(start=3) + stream):
        assert state(total) == state(stream)
    assert state(AffiliationStream(start=3) + stream_of()) == state(stream)
    assert repr(nothing + nothing) == "AffiliationStream(nothing seen)"
    with pytest.raises(InputError, match="stops, 13, got 14"):
        _ = stream + AffiliationStream(start=14)
    total = nothing + AffiliationStream(start=MORNING, step=MINUTE)
    total.update([1], [1])
    assert repr(total).endswith("to 2024-01-01 08:01:00)")


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ({"start": 0}, {"start": 11}, "to start where the one it is added to stops, 10, got 11"),
        ({"start": 0}, {"start": 9}, "to stops, 10, got 9"),
        ({"step": 2}, {"step": 3}, "two streams with one `step`, got 2 and 3 ticks"),
        (
            {"start": MORNING, "step": MINUTE},
            {"start": MORNING.replace(tzinfo=UTC), "step": MINUTE},
            "of one kind and unit, got datetimes in us without a zone and .* with a zone",
        ),
    ],
)
def test_streams_that_do_not_meet(left, right, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        _ = stream_of(**left) + stream_of(**right)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ({"start": 0}, {"start": 5}, "added to stops, 0, got 5"),
        ({"start": 0.5}, {"start": 1.5}, "added to stops"),
        ({"start": 0, "step": 2}, {"step": 3}, "one `step`, got 2 and 3"),
        ({"start": 0}, {"start": MORNING}, "of one kind and unit"),
    ],
)
def test_empty_streams_that_contradict_each_other(left, right, message):
    empty = AffiliationStream(**left)
    with pytest.raises((InputError, InputTypeError), match=message):
        _ = empty + AffiliationStream(**right)
    seen = stream_of(step=3)
    if left != {"start": 0.5}:
        for sides in ((seen, empty), (empty, seen)):
            with pytest.raises(InputError, match="one `step`"):
                _ = sides[0] + sides[1]


def test_parts_with_times_that_do_not_meet():
    left, right = timed([0, 1], [0, 1], [0, 4]), timed([0, 1], [0, 1], [4, 5])
    with pytest.raises(InputError, match="after the last time 4 of the one it is added to, got 4"):
        _ = left + right
    with pytest.raises(InputTypeError, match="got integers and floats"):
        _ = left + timed([0, 1], [0, 1], [4.5, 5])
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = left + 3


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


@pytest.mark.parametrize("options", [{"step": 2}, {"start": 4}, {"start": MORNING, "step": MINUTE}])
def test_an_empty_stream_without_options_changes_nothing(options):
    told, nothing = AffiliationStream(**options), AffiliationStream()
    for both in (told + nothing, nothing + told, told + told, nothing + told + nothing):
        assert not both
        both.update(TRUTH, PREDICTED)
        assert repr(both) == repr(stream_of(**options))


@pytest.mark.parametrize(
    ("truth", "predicted", "options", "message"),
    [
        ([0, 1], [0], {}, r"as many labels as `truth` \(2\), got 1"),
        ([0, 1], [], {}, r"as many labels as `truth` \(2\), got 0"),
        ([0, 2], [0, 1], {}, "`truth` labels to be 0 or 1, got 2 at index 1"),
        ([0, 1], [0, np.nan], {}, "`predicted` labels to be 0 or 1, got nan at index 1"),
        ([0, 1], [0, 1], {"ignore": [0]}, "`ignore` to have one label for each of the 2 samples"),
        ([0, 1], [0, 1], {"ignore": [0, 3]}, "`ignore` labels to be 0 or 1, got 3 at index 1"),
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
        stream.update([0], [0], times=later + np.timedelta64(500, "ms"))
    stream.update([0], [0], times=later.astype("datetime64[m]"))
    stream.update([0], [0], times=later.astype("datetime64[ms]") + np.timedelta64(60_000, "ms"))
    end = later[0] + np.timedelta64(100, "s")
    for same in (end, end.astype("datetime64[ns]"), end.astype(datetime)):
        result = stream.result(end=same)
        assert result.events.stop[0] == later[0]
        assert result.alarmed == 120 / 700


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


def test_one_way_to_cut_gaps():
    left, right = AffiliationStream(max_step=2), AffiliationStream()
    with pytest.raises(InputError, match="two streams with one `max_step`, got 2 and None"):
        _ = left + right
    with pytest.raises(InputTypeError, match="no `max_step` for a stream of events"):
        AffiliationStream(start=0, max_step=2).update_events(NONE, NONE, until=4)


def test_a_point_before_ignored_time_comes_with_it():
    stream = AffiliationStream(start=0)
    stream.update_events(cc.Events([(1, 2)]), cc.Events([(4, 4)]), until=4)
    with pytest.raises(InputError, match=r"no point of `predicted` at `until` .*, got 4"):
        stream.update_events(NONE, NONE, until=9, ignore=[(4, 5)])
    stream.update_events(NONE, NONE, until=9, ignore=[(5, 6)])
    expected = cc.affiliation(
        cc.Events([(1, 2)]), cc.Events([(4, 4)]), span=(0, 9), ignore=[(5, 6)]
    )
    assert stream.result().to_dict() == expected.to_dict()


def test_an_ignored_sample_is_no_alarm_before_its_end_is_known():
    stream = AffiliationStream()
    stream.update([1, 0], [0, 1], times=[0.0, 1.0], ignore=[0, 1])
    assert (stream.alarms, len(stream)) == (0, 1)
    result = stream.result(end=3.0)
    assert (result.left_out, result.ignored_time) == ((0, 1), 2.0)


def test_gaps_on_floats():
    truth, predicted = [0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0]
    times = [0.1, 0.2, 0.3, 7.4, 7.5, 7.6]
    stream = AffiliationStream(max_step=0.15)
    for start in range(0, 6, 2):
        part = slice(start, start + 2)
        stream.update(truth[part], predicted[part], times=times[part])
    expected = cc.affiliation(truth, predicted, times=times, max_step=0.15)
    assert stream.result().f1 == pytest.approx(expected.f1, rel=1e-12)
    assert stream.result().events.stop == pytest.approx(expected.events.stop, rel=1e-12)
    assert stream.result().ignored_time == pytest.approx(6.95)
