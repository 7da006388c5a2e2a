"""Several detectors by name, on one series."""

from zoneinfo import ZoneInfo

import numpy as np
import pytest

from closecall import Events
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError
from closecall.evaluated_time import ignored_notes, unscored_notes
from closecall.events import runs
from closecall.series import read_pair, read_scored
from tests.messages import message
from tests.test_series import bounds

PARIS = ZoneInfo("Europe/Paris")
TRUTH, PREDICTED = Events([(4, 6)]), Events([(5, 7)])

LABELS, MINE, THEIRS = [0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]
BOTH = {"mine": MINE, "theirs": THEIRS}
INCIDENT = Events([(1, 3)])
ALARMS = {"mine": Events([(1, 2)]), "theirs": Events([(2, 4)])}


def test_labels_events_and_scores_are_on_one_clock():
    times = np.datetime64("2024-01-01", "s") + np.timedelta64(60, "s") * np.arange(4)
    finer = Events(
        [(times[0].astype("M8[ms]") + np.timedelta64(1, "ms"), times[2].astype("M8[ms]"))]
    )
    found = read_detectors(LABELS, {"a": MINE, "b": finer}, {"c": [1, 5, 2, 2]}, times=times)
    sides = [found.truth, *found.predicted.values(), *found.scored.values()]
    assert {side.clock.unit for side in sides} == {"ms"}
    assert {(side.start, side.stop) for side in sides} == {(found.truth.start, found.truth.stop)}
    assert found.truth.stop - found.truth.start == 240_000
    for name, labels in (("a", MINE), ("c", [0, 1, 1, 1])):
        pair = found.predicted[name] if name == "a" else found.scored[name].at(2)
        alone = read_pair(LABELS, labels, times=times.astype("M8[ms]"))
        assert bounds(pair) == bounds(alone)
    assert found.predicted["b"].predicted.starts.tolist() == [found.truth.start + 1]


def test_a_single_detector_gets_the_name_for_it():
    found = read_detectors(LABELS, MINE, {7: [1, 2, 3, 4]}, alone=("predicted", "detector"))
    assert (list(found.predicted), list(found.scored)) == (["predicted"], ["7"])
    found = read_detectors(INCIDENT, ALARMS["mine"], times=range(4), alone=("predicted", None))
    assert bounds(found.predicted["predicted"]) == ([(1, 3)], [(1, 2)], (0, 4))


DAY = Events.from_points([np.datetime64("2024-01-01")])
MANY = "to have as many values as `truth` (4), got"
MAP = "\n\nHint: Pass a mapping, such as {'mine': predicted}."
JOIN = "\n\nHint: Join them with `predicted['o'].merged()`."

REFUSED = {
    InputTypeError: [
        ((LABELS, MINE), f"`predicted` to be a mapping from names of detectors, got list.{MAP}"),
        ((LABELS, {1: MINE}), "the names of detectors in `predicted` to be text, got 1."),
        ((LABELS, {" ": MINE}), "the names of detectors in `predicted` to be text, got ' '."),
        ((LABELS, BOTH, {"odd": list("abcd")}), "`scores['odd']` to be numbers, got"),
        ((INCIDENT, {"a": DAY}), "`truth` and `predicted['a']` to be on one kind of time axis"),
    ],
    InputError: [
        (
            (LABELS, BOTH, {"mine": MINE}),
            "each detector in `predicted` or in `scores`, got 'mine' in both.",
        ),
        ((LABELS, BOTH | {"short": [0, 1]}), f"`predicted['short']` {MANY} 2."),
        ((LABELS, BOTH, {"long": range(5)}), f"`scores['long']` {MANY} 5."),
        (
            (LABELS, BOTH | {"odd": [0, 1, 2, 0]}),
            "`predicted['odd']` labels to be 0 or 1, got 2 at index 2.",
        ),
        (
            (LABELS, BOTH, {"odd": [0, np.nan, 2, 0]}),
            "`scores['odd']` to be numbers, or inf, got nan at index 1.",
        ),
        (
            (INCIDENT, {"o": Events([(0, 2), (1, 3)])}),
            f"`predicted['o']` events to be disjoint, got (0, 2) and (1, 3) at index 1.{JOIN}",
        ),
        (
            (INCIDENT, ALARMS | {"far": Events([(7, 8)])}),
            "`predicted['far']` to lie within the span (0, 4), got (7, 8) at index 0.",
        ),
    ],
}


@pytest.mark.parametrize(
    ("kind", "arguments", "text"), [(kind, *row) for kind in REFUSED for row in REFUSED[kind]]
)
def test_refused_detectors(kind, arguments, text):
    span = {"span": (0, 4)} if isinstance(arguments[0], Events) else {}
    found = message(kind, read_detectors, *arguments, **span)
    assert found.startswith(f"Expected {text}")


def with_missing(rng, size=24, names="abc"):
    """Draw labels, what to ignore, and scores of which some are missing."""
    truth, ignore = (rng.random(size) < share for share in (0.4, 0.1))
    scores = {}
    for name in names:
        missing = np.repeat(rng.random(size // 4) < rng.choice([0, 0.3, 0.6]), 4)
        scores[name] = np.where(missing, np.nan, rng.integers(0, 5, size))
    return truth.astype(int), ignore.astype(int), scores


def lost_events(truth, ignore, scores):
    """Count the events that missing scores leave out, sample by sample."""
    events = [set(range(*ends)) for ends in zip(*runs(truth), strict=True)]
    out = set(np.flatnonzero(ignore).tolist())
    missing = {name: set(np.flatnonzero(np.isnan(one)).tolist()) for name, one in scores.items()}
    rest = [event for event in events if event - out]
    lost = {
        name: tuple(k for k, event in enumerate(rest) if not event - out - gone)
        for name, gone in missing.items()
    }
    counts = {}
    for events_of in dict.fromkeys(filter(None, lost.values())):
        counts[tuple(name for name in lost if lost[name] == events_of)] = len(events_of)
    every = out.union(*missing.values())
    known = {k for events_of in lost.values() for k in events_of}
    several = [k for k, event in enumerate(rest) if not event - every and k not in known]
    return (counts | ({(): len(several)} if several else {}), len(rest))


def test_whose_missing_scores_leave_out_events_against_brute_force():
    rng, seen = np.random.default_rng(3), set()
    for _ in range(2_000):
        truth, ignore, scores = with_missing(rng)
        missing = np.any([np.isnan(one) for one in scores.values()], axis=0)
        if (missing | (ignore == 1)).all():
            continue
        found = read_detectors(truth, None, scores, ignore=ignore, nan="ignore").truth
        lost, events = lost_events(truth, ignore, scores)
        assert found.unscored.left_out == lost
        assert not lost or found.unscored.events == events
        seen |= lost.keys()
    assert {(), ("a",), ("b",), ("a", "b"), ("a", "b", "c")} <= seen


def test_missing_scores_that_leave_out_events_are_reported():
    truth, hole = np.array([0, 1, 0, 1, 1, 0, 1, 0]), np.nan
    scores = {"weak": [0, hole, 0, hole, 1, 0, 1, 0], "other": [0, 1, 0, 1, hole, 0, 1, 0]}
    series = read_detectors(truth, None, scores, nan="ignore").truth
    assert unscored_notes(series) == [
        "1 of 3 true events is left out because `weak` has no scores there.",
        "1 of 3 true events is left out because no sample there has the scores of all detectors.",
    ]
    both = {"a": [0, hole, 0, hole, hole, 0, 1, 0], "b": [0, hole, 0, hole, hole, 0, 1, hole]}
    series = read_detectors(truth, {"c": truth}, both, nan="ignore").truth
    assert unscored_notes(series) == [
        "2 of 3 true events are left out because `a` and `b` have no scores there."
    ]
    # What a single detector has no scores for is what its own ignored time says.
    assert not unscored_notes(read_detectors(truth, None, {"a": both["a"]}, nan="ignore").truth)
    found = read_detectors(truth, {"c": truth}, both, nan="each")
    each = found.predicted | found.scored
    assert ignored_notes(each, dict.fromkeys(each, 0)) == [
        "a: Ignored: 3 of 8; left out: 2 true events.",
        "b: Ignored: 4 of 8; left out: 2 true events.",
    ]


def test_each_detector_is_read_as_by_itself():
    rng = np.random.default_rng(4)
    for _ in range(100):
        truth, ignore, scores = with_missing(rng)
        if any((np.isnan(one) | (ignore == 1)).all() for one in scores.values()):
            continue
        labels = rng.integers(0, 2, truth.size)
        found = read_detectors(truth, {"x": labels}, scores, ignore=ignore, nan="each")
        assert bounds(found.predicted["x"]) == bounds(read_pair(truth, labels, ignore=ignore))
        for name, one in scores.items():
            alone = read_scored(truth, one, ignore=ignore, nan="ignore")
            assert found.scored[name].truth.starts.tolist() == alone.truth.starts.tolist()
            assert found.scored[name].truth.stops.tolist() == alone.truth.stops.tolist()
            assert found.scored[name].scores.tolist() == alone.scores.tolist()
            assert found.scored[name].ignored_time == alone.ignored_time
            assert found.scored[name].left_out == alone.left_out
            assert bounds(found.scored[name].at(2)) == bounds(alone.at(2))
