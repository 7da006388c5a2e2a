"""Several detectors by name, on one series."""

from zoneinfo import ZoneInfo

import numpy as np
import pytest

import closecall as cc
from closecall import Events
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError
from closecall.series import read_pair
from tests.test_series import bounds

PARIS = ZoneInfo("Europe/Paris")
TRUTH, PREDICTED = Events([(4, 6)]), Events([(5, 7)])

LABELS, MINE, THEIRS = [0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]
BOTH = {"mine": MINE, "theirs": THEIRS}
INCIDENT = Events([(1, 3)])
ALARMS = {"mine": Events([(1, 2)]), "theirs": Events([(2, 4)])}


def test_labels_events_and_scores_are_on_one_clock():
    times = np.datetime64("2024-01-01", "s") + 60 * np.arange(4)
    finer = Events([(times[0].astype("M8[ms]") + 1, times[2].astype("M8[ms]"))])
    found = read_detectors(
        LABELS, {"a": MINE, "b": finer}, {"c": [1, 5, 2, 2]}, {"c": 2}, times=times
    )
    sides = [found.truth, *found.predicted.values(), *found.scored.values()]
    assert {side.clock.unit for side in sides} == {"ms"}
    assert {(side.start, side.stop) for side in sides} == {(found.truth.start, found.truth.stop)}
    assert found.truth.stop - found.truth.start == 240_000
    for name, labels in (("a", MINE), ("c", [0, 1, 1, 1])):
        pair = found.predicted[name] if name == "a" else found.scored[name].at(2)
        alone = read_pair(LABELS, labels, times=times.astype("M8[ms]"))
        assert bounds(pair) == bounds(alone)
    assert found.predicted["b"].predicted.starts.tolist() == [found.truth.start + 1]
    assert found.thresholds == {"c": 2}


def test_a_single_detector_gets_the_name_for_it():
    found = read_detectors(LABELS, MINE, {7: [1, 2, 3, 4]}, alone=("predicted", "detector"))
    assert (list(found.predicted), list(found.scored)) == (["predicted"], ["7"])
    found = read_detectors(INCIDENT, ALARMS["mine"], times=range(4), alone=("predicted", None))
    assert bounds(found.predicted["predicted"]) == ([(1, 3)], [(1, 2)], (0, 4))


REFUSED = {
    "no mapping": (
        lambda: read_detectors(LABELS, MINE),
        InputTypeError,
        (
            "Expected `predicted` to be a mapping from names of detectors, got list.\n\n"
            "Hint: Pass a mapping, such as {'mine': predicted}."
        ),
    ),
    "a name that is no text": (
        lambda: read_detectors(LABELS, {1: MINE, "theirs": THEIRS}),
        InputTypeError,
        "Expected the names of detectors in `predicted` to be text, got 1.",
    ),
    "a blank name": (
        lambda: read_detectors(LABELS, {" ": MINE, "theirs": THEIRS}),
        InputTypeError,
        "got ' '.",
    ),
    "a detector twice": (
        lambda: read_detectors(LABELS, BOTH, {"mine": MINE}),
        InputError,
        "Expected each detector in `predicted` or in `scores`, got 'mine' in both.",
    ),
    "labels of another length": (
        lambda: read_detectors(LABELS, BOTH | {"short": [0, 1]}),
        InputError,
        "Expected `predicted['short']` to have as many values as `truth` (4), got 2.",
    ),
    "scores of another length": (
        lambda: read_detectors(LABELS, BOTH, {"long": range(5)}),
        InputError,
        "Expected `scores['long']` to have as many values as `truth` (4), got 5.",
    ),
    "labels that are none": (
        lambda: read_detectors(LABELS, BOTH | {"odd": [0, 1, 2, 0]}),
        InputError,
        "Expected `predicted['odd']` labels to be 0 or 1, got 2 at index 2.",
    ),
    "scores that are nan": (
        lambda: read_detectors(LABELS, BOTH, {"odd": [0, np.nan, 2, 0]}),
        InputError,
        "Expected `scores['odd']` to be numbers, or inf, got nan at index 1.",
    ),
    "scores that are text": (
        lambda: read_detectors(LABELS, BOTH, {"odd": list("abcd")}),
        InputTypeError,
        "Expected `scores['odd']` to be numbers, got",
    ),
    "a threshold for labels": (
        lambda: read_detectors(LABELS, BOTH, {"score": range(4)}, {"mine": 1}),
        InputError,
        (
            "Expected `thresholds` to name detectors in `scores`, got 'mine'.\n\n"
            "Hint: There are: 'score'."
        ),
    ),
    "a misspelt threshold": (
        lambda: read_detectors(LABELS, BOTH, {"score": range(4)}, {"scores": 1}),
        InputError,
        "Hint: Did you mean 'score'? There are: 'score'.",
    ),
    "a threshold that is none": (
        lambda: read_detectors(LABELS, BOTH, {"score": range(4)}, {"score": "high"}),
        InputError,
        "Expected `thresholds['score']` to be a number, or inf, got 'high'.",
    ),
    "overlapping events": (
        lambda: read_detectors(INCIDENT, ALARMS | {"o": cc.Events([(0, 2), (1, 3)])}, span=(0, 4)),
        InputError,
        (
            "Expected `predicted['o']` events to be disjoint, got (0, 2) and (1, 3) at index 1.\n\n"
            "Hint: Join them with `predicted['o'].merged()`."
        ),
    ),
    "events outside the span": (
        lambda: read_detectors(INCIDENT, ALARMS | {"far": cc.Events([(7, 8)])}, span=(0, 4)),
        InputError,
        "Expected `predicted['far']` to lie within the span (0, 4), got (7, 8) at index 0.",
    ),
    "two kinds of time": (
        lambda: read_detectors(
            INCIDENT,
            ALARMS | {"dated": cc.Events.from_points([np.datetime64("2024-01-01")])},
            span=(0, 4),
        ),
        InputTypeError,
        "Expected `truth` and `predicted['dated']` to be on one kind of time axis",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_detectors(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert message in str(caught.value)
