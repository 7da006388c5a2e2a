"""Parts of a stream: where they end, how they meet, and those that do not."""

from datetime import UTC
from functools import reduce
from operator import add

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.stream import AffiliationStream
from closecall.errors import InputError, InputTypeError
from tests.affiliation.streams import MINUTE, MORNING, PREDICTED, TRUTH, state, stream_of, timed


def test_the_end_of_times():
    uneven = timed([0, 1, 0], [1, 0, 0], [0, 1, 3])
    with pytest.raises(InputError, match="`end` for unevenly spaced times"):
        uneven.result()
    with pytest.raises(InputError, match="`end` to lie after the last time 3, got 3"):
        uneven.result(end=3)
    assert uneven.result(end=9).events.zone_stop.tolist() == [9.0]
    with pytest.raises(InputError, match="`end` for a single sample"):
        timed([1], [1], [5]).result()
    with pytest.raises(InputTypeError, match="no `end` for a stream that knows where it stops"):
        stream_of().result(end=30)


def test_short_floats_are_even_up_to_their_own_rounding():
    times = 1_000 + np.arange(10, dtype=np.float32) / np.float32(10)
    parts = [timed(TRUTH[part], PREDICTED[part], times[part]) for part in (slice(4), slice(4, 10))]
    expected = cc.affiliation(TRUTH, PREDICTED, times=times)
    assert (parts[0] + parts[1]).result().to_dict() == expected.to_dict()
    longer = timed(TRUTH[4:], PREDICTED[4:], times[4:].astype(np.float64))
    with pytest.raises(InputError, match="`end` for unevenly spaced times"):
        (parts[0] + longer).result()


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


def test_parts_with_times_that_do_not_meet():
    left, right = timed([0, 1], [0, 1], [0, 4]), timed([0, 1], [0, 1], [4, 5])
    with pytest.raises(InputError, match="after the last time 4 of the one it is added to, got 4"):
        _ = left + right
    with pytest.raises(InputTypeError, match="got integers and floats"):
        _ = left + timed([0, 1], [0, 1], [4.5, 5])
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = left + 3


def test_many_parts_merge_in_a_row():
    random = np.random.default_rng(2)
    truth, predicted = random.random((2, 3_000)) < 0.3
    parts = [
        stream_of(truth[at : at + 7], predicted[at : at + 7], start=at) for at in range(0, 3_000, 7)
    ]
    assert reduce(add, parts).result().to_dict() == cc.affiliation(truth, predicted).to_dict()
