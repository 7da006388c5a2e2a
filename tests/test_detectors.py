"""Several detectors by name, on one series."""

from zoneinfo import ZoneInfo

import numpy as np
import pytest

from closecall import Events
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError
from closecall.series import read_pair
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
