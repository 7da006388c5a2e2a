"""Predictions built to fool metrics."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall import adversary
from closecall.errors import InputError, InputTypeError

EPISODES = ([0] * 400 + [1] * 200) * 5 + [0] * 500
START = datetime(2024, 1, 1, tzinfo=UTC)


def by_hand(trivial):
    """Alternate in each run of ones, keep one zero beside it, and set the rest."""
    events = list(cc.Events.from_labels(trivial))
    built = [1] * len(trivial)
    for start, stop in events:
        for sample in range(max(0, start - 1), min(len(trivial), stop + 1)):
            built[sample] = 0
    for start, stop in events:
        for sample in range(start, stop, 2):
            built[sample] = 1
    return built


def test_alternation_starts_positive_and_keeps_a_gap_on_either_side():
    built = adversary.from_trivial([0, 0, 0, 1, 1, 1, 1, 0, 0, 0]).tolist()
    assert built == [*(1, 1, 0), *(1, 0, 1, 0), *(0, 1, 1)]


def test_an_event_at_the_border_has_no_gap_outside_the_series():
    assert adversary.from_trivial([1, 1, 1, 0, 0, 0]).tolist() == [1, 0, 1, 0, 1, 1]
    assert adversary.from_trivial([0, 0, 1, 1]).tolist() == [1, 0, 1, 0]
    assert adversary.from_trivial([1, 1, 1]).tolist() == [1, 0, 1]


@given(st.lists(st.integers(0, 1), min_size=1, max_size=60).filter(any))
def test_vectors_and_events_agree_with_the_construction_by_hand(trivial):
    built = adversary.from_trivial(trivial)
    assert built.tolist() == by_hand(trivial)
    events = cc.Events.from_labels(trivial)
    span = (0, len(trivial))
    assert adversary.from_trivial(events, span=span) == cc.Events.from_labels(built)


def test_alternation_in_lengths_of_time():
    trivial = cc.Events([(START, START + timedelta(minutes=5))])
    span = (START - timedelta(hours=1), START + timedelta(hours=1))
    built = adversary.from_trivial(trivial, span=span, step=timedelta(minutes=1))
    assert [int((start - START) / timedelta(minutes=1)) for start, _ in built] == [-60, 0, 2, 4, 6]
    assert [int((stop - START) / timedelta(minutes=1)) for _, stop in built] == [-1, 1, 3, 5, 60]
    assert built.tz is UTC


def test_without_samples_a_step_is_a_hundredth_of_the_event():
    built = adversary.from_trivial(cc.Events([(2.0, 12.0)]), span=(0.0, 20.0))
    assert len(built) == 52
    assert built.durations[1:-1] == pytest.approx(np.full(50, 0.1))


def test_the_composite_adversary_keeps_the_event_and_a_tenth_of_it_around():
    trivial = np.zeros(1000, dtype=int)
    trivial[300:400] = 1
    built = adversary.against_composite(trivial)
    assert built[300:400].all()
    others = cc.Events.from_labels(np.where(trivial, 0, built))
    assert others.durations.tolist() == [1] * 10
    assert len(set(np.diff(others.starts[others.starts < 300]))) == 1
    assert cc.metrics.classical(trivial, built).precision == 100 / 110


@pytest.mark.parametrize(("length", "added"), [(9_990, 999), (10_000, 1000), (10_010, 1000)])
def test_at_most_a_thousand_predictions_are_added(length, added):
    built = adversary.against_composite(cc.Events([(0, length)]), span=(0, 30_000))
    assert len(built) == 1 + added


@pytest.mark.parametrize(("count", "length"), [(1, 10), (2, 5), (3, 3), (5, 2), (10, 1)])
def test_the_added_predictions_share_the_tenth(count, length):
    built = adversary.against_composite(cc.Events([(300, 400)]), count=count, span=(0, 1000))
    assert sorted(built.durations.tolist()) == [*[length] * count, 100]


@given(st.integers(1, 30), st.integers(0, 900))
def test_the_added_predictions_never_take_more_than_their_share(count, start):
    trivial = cc.Events([(float(start), start + 100.0)])
    built = adversary.against_composite(trivial, count=count, span=(0.0, 1000.0))
    assert built.durations.sum() == pytest.approx(110)
    assert built.starts[0] >= 0
    assert built.stops[-1] <= 1000
    assert cc.metrics.classical(trivial, built, span=(0.0, 1000.0)).recall == pytest.approx(1)


def test_a_prediction_beside_the_event_joins_it():
    built = adversary.against_composite(cc.Events([(40, 60)]), count=1, span=(0, 100))
    assert list(built) == [(39, 61)]


def test_everything():
    assert adversary.everything(np.array([True, False])).tolist() == [1, 1]
    span = (START, START + timedelta(days=1))
    assert list(adversary.everything(cc.Events([]), span=span)) == [span]


def test_random_points_are_distinct_and_seeded():
    drawn = adversary.random_points(EPISODES, count=100, seed=3)
    assert (drawn.size, int(drawn.sum())) == (len(EPISODES), 100)
    assert drawn.tolist() == adversary.random_points(EPISODES, count=100, seed=3).tolist()
    assert drawn.tolist() != adversary.random_points(EPISODES, count=100, seed=4).tolist()
    assert adversary.random_points([0, 0, 1], count=3).tolist() == [1, 1, 1]


def test_random_points_in_a_span_are_moments():
    drawn = adversary.random_points(
        cc.Events([]), count=50, span=(START, START + timedelta(days=1))
    )
    assert len(drawn) == 50
    assert not drawn.durations.any()
    assert drawn.tz is UTC


@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**40))
def test_random_ranges_keep_their_number_and_length(count, length, seed):
    size = count * length + count - 1
    tight = adversary.random_ranges([0] * size, count=count, length=length, seed=seed)
    assert cc.Events.from_labels(tight).durations.tolist() == [length] * count
    drawn = {"count": count, "seed": seed}
    loose = adversary.random_ranges(cc.Events([]), length=length, span=(0, 99), **drawn)
    assert loose.durations.tolist() == [length] * count
    floats = adversary.random_ranges(cc.Events([]), length=length / 8, span=(-4.0, 4.0), **drawn)
    assert floats.durations == pytest.approx(np.full(count, length / 8))
    assert (floats.starts[1:] >= floats.stops[:-1]).all()


def test_every_place_of_a_random_range_is_as_likely():
    starts = [
        adversary.random_ranges([0] * 7, count=2, length=2, seed=seed).tolist()
        for seed in range(3000)
    ]
    # Six placements of two ranges of two samples in seven, one sample apart.
    seen, times = np.unique(np.array(starts), axis=0, return_counts=True)
    assert len(seen) == 6
    assert times.min() > 420
    assert times.max() < 580


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: adversary.from_trivial([0, 0]), "`trivial` to hold an event that lasts, got none"),
        (lambda: adversary.from_trivial([0, 2]), "`trivial` labels to be 0 or 1, got 2 at index 1"),
        (lambda: adversary.from_trivial(cc.Events([(1, 2)])), "`span=(start, stop)` beside Events"),
        (lambda: adversary.from_trivial([0, 1], span=(0, 2)), "no `span` beside a vector"),
        (lambda: adversary.from_trivial([0, 1], step=0), "`step` to be a whole number of ticks"),
        (lambda: adversary.from_trivial([0, 1], step=0.5), "`step` to be a whole number of ticks"),
        (
            lambda: adversary.from_trivial(cc.Events([(1.0, 2.0)]), span=(0.0, 3.0), step=0.0),
            "`step` to be more than 0, got 0.0",
        ),
        (
            lambda: adversary.from_trivial(cc.Events([(1, 9)]), span=(0, 5)),
            "`trivial` to lie within the span (0, 5), got (1, 9) at index 0",
        ),
        (
            lambda: adversary.against_composite([0] * 50 + [1] * 9),
            "one tick to each added prediction (0.1 of it is 0), got `count` 1",
        ),
        (
            lambda: adversary.against_composite([0] * 50 + [1] * 30, count=4),
            "one tick to each added prediction (0.1 of it is 3), got `count` 4",
        ),
        (lambda: adversary.against_composite([1] * 30), "leaves room for the added predictions"),
        (lambda: adversary.against_composite([0, 1], share=0), "`share` to be a number above 0"),
        (lambda: adversary.against_composite([0, 1], count=0), "`count` to be 1 or more, got 0"),
        (lambda: adversary.random_points([0, 1], count=3), "`count` to be at most 2, got 3"),
        (lambda: adversary.random_points([0, 1], count=1, seed=-1), "`seed` to be 0 or more"),
        (
            lambda: adversary.random_ranges([0] * 5, count=2, length=3),
            "`count` ranges of this `length` to fit in the series, got 7 ticks of 5",
        ),
        (
            lambda: adversary.random_ranges([0] * 5, count=1, length=-1),
            "`length` to be a finite number of 0 or more",
        ),
        (lambda: adversary.trivial_event([0, 0]), "`flagged` to flag at least one sample"),
        (lambda: adversary.trivial_event([0, 1], widen=-1), "`widen` to be 0 or more, got -1"),
    ],
)
def test_bad_values_are_named(build, message):
    with pytest.raises((InputError, InputTypeError)) as caught:
        build()
    assert message in str(caught.value)


@pytest.mark.parametrize("count", [1.5, True, "3", None])
def test_counts_are_whole_numbers(count):
    with pytest.raises(InputTypeError, match="`count` to be a whole number"):
        adversary.random_points([0, 1], count=count)


def test_a_trivial_event_is_widened_within_the_series():
    assert adversary.trivial_event([0, 1, 0, 1, 0, 0, 0], widen=2).tolist() == [1] * 6 + [0]
