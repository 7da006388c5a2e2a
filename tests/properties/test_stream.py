"""Chunks, cuts and merges never change a digit of a stream."""

import pickle
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import pairwise
from operator import add

import hypothesis.strategies as st
import numpy as np
from hypothesis import example, given, settings

import closecall as cc
from closecall.affiliation.stream import AffiliationStream
from closecall.affiliation.zones import origin_of
from tests.oracle.affiliation import evaluate, events_of_labels
from tests.properties.comparisons import (
    LENGTHS,
    OUTCOMES,
    SCORES,
    TIMES,
    assert_matches_oracle,
    assert_same_digits,
)
from tests.properties.strategies import (
    decimal_steps,
    dyadic_steps,
    events,
    labelled,
    made_of_bytes,
    mixed_cases,
    one,
    small,
)

COLUMNS = (*TIMES, *SCORES, *LENGTHS, *OUTCOMES, "predicted_count")
START = datetime(2024, 3, 31, 0, 30, tzinfo=UTC)


def assert_same(expected, *results):
    """Compare results bit for bit, with times, types and the level of chance."""
    values = expected.to_dict()
    for found in results:
        assert_same_digits(found, expected, columns=COLUMNS)
        for name in COLUMNS:
            assert getattr(found.events, name).dtype == getattr(expected.events, name).dtype, name
        assert found.events.alarms == expected.events.alarms
        assert found.to_dict() == values


def assert_same_rows(found, expected):
    complete = list(expected.events.rows())[: len(found)]
    for index, row in enumerate(complete):
        for name in ("precision", "recall", "f1"):
            del row[f"{name}_above_chance"]  # they depend on all alarms
        row["nearest"] = nearest_so_far(expected.events, index)
    assert found == complete


def nearest_so_far(events, index):
    """Return the signed evaluated time to the nearest range that starts before the zone stops."""
    if events.caught[index]:
        return None
    pair = events.pair
    a, b = pair.truth.starts[index].item(), pair.truth.stops[index].item()
    zone_stop = events.borders[index + 1].item() / 2 + origin_of(pair)
    alarms = zip(pair.predicted.starts.tolist(), pair.predicted.stops.tolist(), strict=True)
    away = [stop - a if start < a else start - b for start, stop in alarms if start < zone_stop]
    return min(away, key=lambda distance: (abs(distance), distance > 0), default=None)


def chunks(cuts, *columns):
    """Cut columns at sorted places; equal places give empty chunks."""
    size = len(columns[0])
    bounds = [0, *sorted(min(cut, size) for cut in cuts), size]
    for start, stop in pairwise(bounds):
        yield tuple(column[start:stop] for column in columns)


def copied(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own bytes


def merged(streams, choices):
    """Add neighbours in an order that the choices give, until one stream is left."""
    streams = list(streams)
    while len(streams) > 1:
        place = choices.pop() % (len(streams) - 1) if choices else 0
        streams[place : place + 2] = [streams[place] + streams[place + 1]]
    return streams[0]


some_cuts = small(0, 40, 0, 12)
some_choices = small(0, 100, 0, 13)
sample_labels = labelled(one)


@given(sample_labels, some_cuts)
@example(([0, 1, 1, 1, 0], [1, 1, 1, 1, 1], [], 0), [2])  # inside both events
@example(([1, 0, 0, 1, 0], [0, 1, 1, 1, 0], [], 0), [2])  # on the border of the two zones
@example(([1, 0, 0, 0, 1], [0, 1, 1, 1, 0], [], 0), [2, 2, 3])  # around a border in a sample
@example(([1, 1], [1, 1], [], 0), [0, 0, 1, 1, 2, 2])  # empty chunks, and single samples
def test_chunks_of_labels_also_if_pickled_between_them(drawn, cuts):
    truth, predicted, _, _ = drawn
    stream, stored, rows, one_by_one = AffiliationStream(), AffiliationStream(), [], []
    for chunk in chunks(cuts, truth, predicted):
        stream.update(*chunk)
        stored.update(*chunk)
        rows += stored.closed()
        one_by_one += [row for row in [next(stream.closed(), None)] if row is not None]
        stored = copied(stored)
    expected = cc.affiliation(truth, predicted)
    assert_same(expected, stream.result(), copied(stored.result()))
    assert_same_rows(rows, expected)
    assert [*one_by_one, *stream.closed()] == rows
    codes = np.array(truth) + 2 * np.array(predicted)
    assert stream.kept == 1 + np.count_nonzero(np.diff(codes))


@settings(max_examples=40)  # each compares as many results as it has samples
@given(labelled(one, 16))
def test_single_samples_and_every_moment(drawn):
    truth, predicted, _, _ = drawn
    stream = AffiliationStream()
    for seen, (true, alarm) in enumerate(zip(truth, predicted, strict=True), 1):
        stream.update([true], [alarm])
        if any(truth[:seen]):
            assert_same(cc.affiliation(truth[:seen], predicted[:seen]), stream.result())


PLACES = st.sampled_from([(None, None), (-7, 3), (START, timedelta(minutes=5))])


@given(sample_labels, some_cuts, some_choices, PLACES)
@example(([1, 1, 1, 0, 1, 1], [1, 1, 1, 1, 1, 1], [], 0), [1, 2, 4, 5], [1, 1, 0], (None, None))
def test_any_tree_of_merges(drawn, cuts, choices, place):
    """Of parts that may follow any others, and of parts that know where they are."""
    (truth, predicted, _, _), (origin, step) = drawn, place
    parts, start = [], origin
    for chunk in chunks(cuts, truth, predicted):
        parts.append(AffiliationStream(start=start, step=step))
        parts[-1].update(*chunk)
        start = start if step is None else start + step * len(chunk[0])
    axis = {}
    if step is not None:
        axis = {"times": [origin + step * index for index in range(len(truth))], "end": start}
    expected = cc.affiliation(truth, predicted, **axis)
    assert_same(expected, merged(parts, choices).result())


@given(labelled(dyadic_steps), some_cuts, some_choices)
def test_the_oracle(drawn, cuts, choices):
    truth, predicted, times, end = drawn
    sides = (events_of_labels(labels, times, end) for labels in (truth, predicted))
    oracle = evaluate(*sides, (times[0], end))
    parts = timed_parts(cuts, truth, predicted, times)
    assert_matches_oracle(merged(parts, choices).result(end=end), oracle)


def timed_parts(cuts, truth, predicted, times):
    for true, alarms, own in chunks(cuts, truth, predicted, times):
        part = AffiliationStream()
        part.update(true, alarms, times=own)
        yield part


@given(labelled(decimal_steps), some_cuts, some_choices)
def test_uneven_floats(drawn, cuts, choices):
    truth, predicted, times, end = drawn
    expected = cc.affiliation(truth, predicted, times=times, end=end)
    stream, rows, seen = AffiliationStream(), [], 0
    for true, alarms, own in chunks(cuts, truth, predicted, times):
        stream.update(true, alarms, times=own)
        seen += len(true)
        rows += stream.closed()
        # Complete: as soon as the next true event has started, and not before.
        begun = sum(1 for start in expected.events.start if start < [*times, end][seen])
        assert len(rows) == max(begun - 1, 0)
    assert_same_rows(rows, expected)
    assert list(stream.closed()) == []
    assert len(stream) == len(expected.events)
    parts = list(timed_parts(cuts, truth, predicted, times))
    before = [(repr(part), part.kept) for part in parts]
    assert_same(expected, stream.result(end=end), merged(parts, choices).result(end=end))
    assert [(repr(part), part.kept) for part in parts] == before  # a sum leaves its parts alone


@given(labelled(lambda byte: 1 + byte * 3907), some_cuts, some_choices)
def test_uneven_datetimes(drawn, cuts, choices):
    truth, predicted, times, end = drawn
    stamps = np.array([*times, end]).astype("datetime64[ms]")
    parts = timed_parts(cuts, truth, predicted, stamps[:-1])
    expected = cc.affiliation(truth, predicted, times=stamps[:-1], end=stamps[-1])
    assert_same(expected, merged(parts, choices).result(end=stamps[-1]))


@given(sample_labels, some_cuts, st.sampled_from([0.1, 1 / 3, 7, 2.5e-3]))
def test_the_end_of_an_even_axis_is_inferred(drawn, cuts, step):
    truth, predicted, _, _ = drawn
    times = 5 + step * np.arange(len(truth))
    stream = reduce(add, timed_parts(cuts, truth, predicted, times))
    if len(truth) > 1:
        assert_same(cc.affiliation(truth, predicted, times=times), stream.result())


def cut_between(case, cuts):
    """Return a case and places on its axis that cut no event."""
    first, last = case.span
    places = sorted(first + cut % (last - first + 1) for cut in cuts)
    everything = case.truth + case.predicted
    inside = [
        place for place in places if not any(start < place < stop for start, stop in everything)
    ]
    return case, [*inside, last]


whole_events = st.builds(cut_between, mixed_cases, small(0, 255, 0, 6))


def event_parts(case, places):
    """Give each stretch with its events; a point on a border comes before it or after it."""
    left, before = [list(case.truth), list(case.predicted)], case.span[0]
    for index, until in enumerate(places):
        with_point = until == places[-1] or index % 2
        sides = [[], []]
        for waiting, own in zip(left, sides, strict=True):
            while waiting and (waiting[0][0] < until or (waiting[0][1] == until and with_point)):
                own.append(waiting.pop(0))
        yield before, [events(own) for own in sides], until
        before = until


@given(whole_events, some_choices, st.sampled_from([1, 0.1, 1 / 3]))
def test_events_with_points(drawn, choices, factor):
    case, places = drawn
    if factor != 1:
        case, places = case.moved(factor.__mul__), [factor * place for place in places]
    stream, parts = AffiliationStream(start=case.span[0]), []
    for start, sides, until in event_parts(case, places):
        stream.update_events(*sides, until=until)
        parts.append(AffiliationStream(start=start))
        parts[-1].update_events(*sides, until=until)
    assert_same(case.score(), stream.result(), merged(parts, choices).result())


def make_ignored(number):
    """Make labels with a mask, uneven steps, and how long a sample lasts at most."""
    samples = [number(0, 7) for _ in range(number(1, 30))]
    labels = [[sample >> bit & 1 for sample in samples] for bit in range(3)]
    return *labels, [number(1, 9) for _ in samples], number(0, 9) or None


ignored_labels = made_of_bytes(62, make_ignored)


def expected_or_none(*sides, **options):
    """Score the whole at once; None where that cannot be."""
    try:
        return cc.affiliation(*sides, **options)
    except ValueError:
        return None


@given(drawn=ignored_labels, cuts=some_cuts, choices=some_choices)
def test_samples_that_are_ignored(drawn, cuts, choices):
    truth, predicted, ignore, _, max_step = drawn
    expected = expected_or_none(truth, predicted, ignore=ignore, max_step=max_step)
    whole, soon = AffiliationStream(max_step=max_step), []
    parts = []
    for chunk in chunks(cuts, truth, predicted, ignore):
        whole.update(*chunk[:2], ignore=chunk[2])
        soon += whole.closed()
        parts.append(AffiliationStream(max_step=max_step))
        parts[-1].update(*chunk[:2], ignore=chunk[2])
    if expected is not None:
        sum_of_parts = merged(parts, choices)
        assert_same(expected, whole.result(), sum_of_parts.result())
        assert_same_rows(soon, expected)
        assert list(sum_of_parts.closed()) == soon
        assert len(soon) == len(expected.events) - 1


@given(drawn=ignored_labels, cuts=some_cuts, choices=some_choices)
def test_times_with_gaps(drawn, cuts, choices):
    truth, predicted, ignore, steps, max_step = drawn
    times = (np.cumsum([0, *steps]) + 1_700_000_000_000_000_000).tolist()
    given_axis = {"times": times[:-1], "end": times[-1]}
    expected = expected_or_none(truth, predicted, ignore=ignore, max_step=max_step, **given_axis)
    whole, soon = AffiliationStream(max_step=max_step), []
    parts = []
    for *sides, mask, stamps in chunks(cuts, truth, predicted, ignore, times[:-1]):
        whole.update(*sides, ignore=mask, times=stamps)
        soon += whole.closed()
        if stamps:
            parts.append(AffiliationStream(max_step=max_step))
            parts[-1].update(*sides, ignore=mask, times=stamps)
    at_once = AffiliationStream(max_step=max_step)
    at_once.update(truth, predicted, ignore=ignore, times=times[:-1])
    assert at_once.kept == whole.kept
    if expected is not None:
        streams = whole, merged(parts, choices)
        assert_same(expected, *(stream.result(end=times[-1]) for stream in streams))
        assert len(soon) == len(expected.events) - 1
        found = [(row["recall"], row["delay"], row["outcome"]) for row in soon]
        rows = [(row["recall"], row["delay"], row["outcome"]) for row in expected.events.rows()]
        assert found == rows[:-1]
        inferred = expected_or_none(
            truth, predicted, ignore=ignore, max_step=max_step, times=times[:-1]
        )
        if inferred is not None:
            assert_same(inferred, whole.result())


@given(whole_events, small(0, 255, 0, 6), some_choices)
def test_events_with_ignored_time(drawn, ignored, choices):
    (case, places), (first, last) = drawn, drawn[0].span
    ends = [first + place % (last - first + 1) for place in ignored]
    pairs = [tuple(sorted(pair)) for pair in zip(ends[::2], ends[1::2], strict=False)]
    expected = expected_or_none(
        cc.Events(case.truth), events(case.predicted), span=case.span, ignore=pairs
    )
    borders = sorted({first, *places})  # points are given with what comes after them
    whole, parts, soon = AffiliationStream(start=case.span[0]), [], []
    for left, right in pairwise(borders):
        sides = [
            events([own for own in side if left <= own[0] and (own[0] < right or right == last)])
            for side in (case.truth, case.predicted)
        ]
        cut = [(max(a, left), min(b, right)) for a, b in pairs if max(a, left) < min(b, right)]
        whole.update_events(*sides, until=right, ignore=cut)
        soon += whole.closed()
        parts.append(AffiliationStream(start=left))
        parts[-1].update_events(*sides, until=right, ignore=cut)
    if expected is not None:
        assert_same(expected, whole.result(), merged(parts, choices).result())
        assert_same_rows(soon, expected)
