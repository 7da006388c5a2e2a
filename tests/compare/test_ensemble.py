"""Ensembles against votes that are counted sample by sample."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import closecall as cc
from closecall.clock import SAMPLES
from closecall.compare import compare
from closecall.compare.ensemble import agreed
from closecall.events import Intervals
from tests.properties.strategies import small

NAMES = ("a", "b", "c", "d")


@st.composite
def detectors(draw):
    """Each bit of a number is what one of them says of a sample, and the fifth is the truth."""
    samples = np.array(draw(small(0, 31, draw(st.integers(2, 25)))))
    assume((samples >= 16).any())
    names = NAMES[: draw(st.integers(2, 4))]
    return samples >> 4, {name: samples >> bit & 1 for bit, name in enumerate(names)}


def axes(length, kind):
    """No times, uneven floats, or uneven stamps far from the epoch; with the end after them."""
    if kind == "samples":
        return {}
    steps = np.cumsum(1 + np.arange(length + 1) % 3)
    if kind == "numbers":
        times = steps * 0.1
    else:
        times = np.datetime64("2261-01-01T00:00:00.000000001") + steps.astype("timedelta64[ns]")
    return {"times": times[:-1], "end": times[-1]}


@given(data=detectors(), kind=st.sampled_from(["samples", "numbers", "datetimes"]))
@settings(max_examples=150)
def test_votes_are_those_of_every_sample(data, kind):
    truth, predicted = data
    axis, count = axes(truth.size, kind), len(predicted)
    compared = compare(truth, predicted, **axis)
    rules = {"union": 1, "intersection": count, "vote": count // 2 + 1}
    asked = [(votes, {"how": how}) for how, votes in rules.items()]
    asked += [(votes, {"how": "vote", "votes": votes}) for votes in range(1, count + 1)]
    for place, (votes, options) in enumerate(asked):
        labels = (sum(predicted.values()) >= votes).astype(int)
        ensemble = compared.ensemble(**options)
        assert (ensemble.votes, ensemble.names) == (votes, NAMES[:count])
        assert ensemble.predicted == cc.Events.from_labels(labels, **axis)
        if place == truth.size % len(asked):  # a result of each, in turn
            expected = cc.affiliation(truth, labels, **axis)
            assert ensemble.result.to_dict() == expected.to_dict()


@given(data=detectors())
def test_the_best_pair_is_the_best_of_all_pairs(data):
    truth, predicted = data
    compared = compare(truth, predicted)
    found = {}
    for first in predicted:
        for second in predicted:
            if first < second:
                either = predicted[first] | predicted[second]
                both = predicted[first] & predicted[second]
                found["union", first, second] = cc.affiliation(truth, either).f1
                found["intersection", first, second] = cc.affiliation(truth, both).f1
    assert len(compared.ensembles()) == len(found)
    for how in ("union", "intersection", None):
        best = compared.best_pair(how)
        among = [f1 for (rule, *_), f1 in found.items() if how in {rule, None}]
        highest = np.nan if np.isnan(among).all() else np.nanmax(among)
        np.testing.assert_equal(best.f1, highest)
        np.testing.assert_equal(found[best.how, *best.names], highest)


@st.composite
def ranges_and_points(draw):
    """Disjoint intervals on 0..8, some of them points, as one detector may give them."""
    intervals, time = [], draw(st.integers(0, 3))
    while time <= 8:
        length = draw(st.integers(0, 3))
        stop = min(time + length, 8)
        intervals.append((time, stop))
        time = stop + draw(st.integers(0 if length and stop > time else 1, 3))
    return intervals


def cells(intervals):
    """Cut each unit of time in four; a point covers only the first quarter after it."""
    return {
        cell
        for start, stop in intervals
        for cell in range(4 * start, 4 * stop if stop > start else 4 * start + 1)
    }


@given(sides=st.lists(ranges_and_points(), min_size=2, max_size=4), votes=st.integers(1, 4))
def test_points_are_limits_of_short_ranges(sides, votes):
    votes = min(votes, len(sides))
    ticks = [np.array(side, dtype=np.int64).reshape(-1, 2) for side in sides]
    together = agreed([Intervals(*side.T, SAMPLES) for side in ticks], votes)
    covered = [cells(side) for side in sides]
    expected = {cell for cell in range(40) if sum(cell in one for one in covered) >= votes}
    pairs = list(zip(together.starts.tolist(), together.stops.tolist(), strict=True))
    assert cells(pairs) == expected
    together.require_sorted("pred")
    together.require_disjoint("predicted")


def test_a_point_at_the_end_of_a_range_stays():
    # The border of the two zones is at 5: the point belongs to the second event.
    truth = cc.Events([(1, 2), (8, 9)])
    compared = compare(
        truth, {"range": cc.Events([(3, 5)]), "point": cc.Events.from_points([5])}, span=(0, 10)
    )
    union = compared.ensemble()
    assert list(union.predicted) == [(3, 5), (5, 5)]
    assert union.events.predicted_count.tolist() == [1, 1]
    assert len(compared.ensemble(how="intersection").predicted) == 0


def test_by_hand():
    truth = cc.Events([(10, 20)])
    compared = compare(
        truth,
        {
            "early": cc.Events([(5, 12), (30, 31)]),
            "late": cc.Events([(15, 25)]),
            "point": cc.Events.from_points([11, 15, 25]),
        },
        span=(0, 40),
    )
    assert list(compared.ensemble().predicted) == [(5, 12), (15, 25), (25, 25), (30, 31)]
    assert list(compared.ensemble(how="vote").predicted) == [(11, 11), (15, 15)]
    assert list(compared.ensemble(["early", "late"]).predicted) == [(5, 12), (15, 25), (30, 31)]
    assert list(compared.ensemble(["late", "point"], how="intersection").predicted) == [(15, 15)]
    assert len(compared.ensemble(how="intersection").predicted) == 0
    assert compared.ensemble(["late"]).predicted == cc.Events([(15, 25)])
    together = compared.ensemble(how="vote")
    assert repr(together) == (
        "Ensemble(at least 2 of 'early', 'late', 'point': precision=1.000, "
        f"recall={together.recall:.3f}, f1={together.f1:.3f})"
    )
    assert together.to_dict() == {
        "names": ["early", "late", "point"],
        "how": "vote",
        "votes": 2,
        "precision": 1.0,
        "recall": together.recall,
        "f1": together.f1,
        "alarms": 2,
        "caught": 1,
        "false_alarms": 0,
        "missed": 0,
    }
