"""What a comparison refuses, in the words of every other function, and naming the detector."""

import numpy as np
import pytest

import closecall as cc
from closecall.compare import compare
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

TRUTH, MINE, THEIRS = [0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]
BOTH = {"mine": MINE, "theirs": THEIRS}
EVENTS = {"mine": cc.Events([(1, 2)]), "theirs": cc.Events([(2, 4)])}
TRUE_EVENTS = cc.Events([(1, 3)])

REFUSED = {
    "nothing": (lambda: compare(TRUTH), InputError, "two detectors to compare, got none."),
    "empty": (lambda: compare(TRUTH, {}), InputError, "two detectors to compare, got none."),
    "one detector": (
        lambda: compare(TRUTH, {"mine": MINE}),
        InputError,
        (
            "Expected at least two detectors to compare, got only 'mine'.\n\n"
            "Hint: Score a single detector with `closecall.affiliation`."
        ),
    ),
    "no mapping": (
        lambda: compare(TRUTH, MINE),
        InputTypeError,
        (
            "Expected `predicted` to be a mapping from names of detectors, got list.\n\n"
            "Hint: Pass a mapping, such as {'mine': predicted}."
        ),
    ),
    "a name that is no text": (
        lambda: compare(TRUTH, {1: MINE, "theirs": THEIRS}),
        InputTypeError,
        "Expected the names of detectors in `predicted` to be text, got 1.",
    ),
    "a blank name": (
        lambda: compare(TRUTH, {" ": MINE, "theirs": THEIRS}),
        InputTypeError,
        "got ' '.",
    ),
    "a detector twice": (
        lambda: compare(TRUTH, BOTH, scores={"mine": MINE}),
        InputError,
        "Expected each detector in `predicted` or in `scores`, got 'mine' in both.",
    ),
    "labels of another length": (
        lambda: compare(TRUTH, BOTH | {"short": [0, 1]}),
        InputError,
        "Expected `predicted['short']` to have as many values as `truth` (4), got 2.",
    ),
    "scores of another length": (
        lambda: compare(TRUTH, BOTH, scores={"long": range(5)}),
        InputError,
        "Expected `scores['long']` to have as many values as `truth` (4), got 5.",
    ),
    "labels that are none": (
        lambda: compare(TRUTH, BOTH | {"odd": [0, 1, 2, 0]}),
        InputError,
        "Expected `predicted['odd']` labels to be 0 or 1, got 2 at index 2.",
    ),
    "scores that are nan": (
        lambda: compare(TRUTH, BOTH, scores={"odd": [0, np.nan, 2, 0]}),
        InputError,
        "Expected `scores['odd']` to be numbers, or inf, got nan at index 1.",
    ),
    "scores that are text": (
        lambda: compare(TRUTH, BOTH, scores={"odd": list("abcd")}),
        InputTypeError,
        "Expected `scores['odd']` to be numbers, got",
    ),
    "a threshold for labels": (
        lambda: compare(TRUTH, BOTH, scores={"score": range(4)}, thresholds={"mine": 1}),
        InputError,
        (
            "Expected `thresholds` to name detectors in `scores`, got 'mine'.\n\n"
            "Hint: There are: 'score'."
        ),
    ),
    "a misspelt threshold": (
        lambda: compare(TRUTH, BOTH, scores={"score": range(4)}, thresholds={"scores": 1}),
        InputError,
        "Hint: Did you mean 'score'? There are: 'score'.",
    ),
    "a threshold that is none": (
        lambda: compare(TRUTH, BOTH, scores={"score": range(4)}, thresholds={"score": "high"}),
        InputError,
        "Expected `thresholds['score']` to be a number, or inf, got 'high'.",
    ),
    "decimals below 0": (
        lambda: compare(TRUTH, BOTH, decimals=-1),
        InputError,
        "Expected `decimals` to be a whole number from 0 up, or None, got -1.",
    ),
    "decimals that are not whole": (
        lambda: compare(TRUTH, BOTH, decimals=2.0),
        InputError,
        "got 2.0.",
    ),
    "nothing true": (
        lambda: compare([0] * 4, BOTH),
        UndefinedMetricError,
        "Expected at least one true event (affiliation is undefined",
    ),
    "events without a span": (
        lambda: compare(TRUE_EVENTS, EVENTS),
        InputTypeError,
        "Expected `span=(start, stop)` beside Events, got none.",
    ),
    "events with times": (
        lambda: compare(TRUE_EVENTS, EVENTS, times=range(4), span=(0, 4)),
        InputTypeError,
        "Expected no `times` beside Events, which carry their own times, got `times`.",
    ),
    "events and vectors without times": (
        lambda: compare(TRUTH, {"mine": MINE, "theirs": EVENTS["theirs"]}),
        InputTypeError,
        (
            "Expected `times` where Events and vectors are compared, got none "
            "(`predicted['theirs']` is Events and `truth` a vector).\n\n"
            "Hint: Pass `times=`, one for each sample of the vectors."
        ),
    ),
    "overlapping events": (
        lambda: compare(TRUE_EVENTS, EVENTS | {"o": cc.Events([(0, 2), (1, 3)])}, span=(0, 4)),
        InputError,
        (
            "Expected `predicted['o']` events to be disjoint, got (0, 2) and (1, 3) at index 1.\n\n"
            "Hint: Join them with `predicted['o'].merged()`."
        ),
    ),
    "events outside the span": (
        lambda: compare(TRUE_EVENTS, EVENTS | {"far": cc.Events([(7, 8)])}, span=(0, 4)),
        InputError,
        "Expected `predicted['far']` to lie within the span (0, 4), got (7, 8) at index 0.",
    ),
    "two kinds of time": (
        lambda: compare(
            TRUE_EVENTS,
            EVENTS | {"dated": cc.Events.from_points([np.datetime64("2024-01-01")])},
            span=(0, 4),
        ),
        InputTypeError,
        "Expected `truth` and `predicted['dated']` to be on one kind of time axis",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert message in str(caught.value)


COMPARED = compare(TRUTH, BOTH)
ASKED = {
    "an unknown name": (
        lambda: COMPARED.pair("mine", "their"),
        InputError,
        (
            "Expected a detector, got 'their'.\n\nHint: Did you mean 'theirs'? There are: 'mine', "
            "'theirs'."
        ),
    ),
    "a pair of one": (lambda: COMPARED.pair("mine", "mine"), InputError, "each of `names` once"),
    "an ensemble of strangers": (
        lambda: COMPARED.ensemble(["mine", "zebra"]),
        InputError,
        "Expected a detector, got 'zebra'.",
    ),
    "an ensemble of letters": (
        lambda: COMPARED.ensemble("mine"),
        InputTypeError,
        "Expected `names` to be names in a list, got 'mine'.\n\nHint: Pass ['mine'].",
    ),
    "an ensemble of none": (
        lambda: COMPARED.ensemble([]),
        InputError,
        "Expected at least one detector in `names`, got none.",
    ),
    "an unknown rule": (
        lambda: COMPARED.ensemble(how="mean"),
        InputError,
        "Expected `how` to be 'union', 'intersection' or 'vote', got 'mean'.",
    ),
    "votes for a union": (
        lambda: COMPARED.ensemble(how="union", votes=1),
        InputTypeError,
        "Expected no `votes` for the union, got 1.",
    ),
    "too many votes": (
        lambda: COMPARED.ensemble(how="vote", votes=3),
        InputError,
        "Expected `votes` to be a whole number from 1 to 2, got 3.",
    ),
    "no votes": (lambda: COMPARED.ensemble(how="vote", votes=0), InputError, "got 0."),
    "half a vote": (lambda: COMPARED.ensemble(how="vote", votes=1.5), InputError, "got 1.5."),
    "an unknown part": (
        lambda: COMPARED.to_frame(part="long"),
        InputError,
        "Expected `part` to be one of 'events', 'wide', 'detectors', 'pairs', 'ensembles', got",
    ),
    "an unknown backend": (
        lambda: COMPARED.to_frame("dask"),
        InputError,
        "Expected `backend` to be 'pandas' or 'polars', got 'dask'.",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), ASKED.values(), ids=ASKED)
def test_refused_questions(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


def test_one_number_is_the_threshold_of_all_scores():
    truth = [0, 0, 1, 1, 0, 0, 1, 0]
    scores = {
        "a": [0.1, 0.6, 0.9, 0.4, 0.1, 0.2, 0.5, 0.3],
        "b": [0.9, 0.1, 0.2, 0.4, 0.3, 0, 0, 1],
    }
    one = cc.compare(truth, scores=scores, thresholds=0.4)
    assert one.thresholds == {"a": 0.4, "b": 0.4}
    each = cc.compare(truth, scores=scores, thresholds={"a": 0.4, "b": 0.4})
    assert one.to_dict() == each.to_dict()
    assert one.to_dict() != cc.compare(truth, scores=scores, thresholds=0.5).to_dict()
    with pytest.raises(InputTypeError, match="`scores` beside `thresholds`, got none"):
        cc.compare(truth, {"a": truth, "b": truth}, thresholds=0.4)
    with pytest.raises(InputError, match=r"`thresholds\['a'\]` to be a number, or inf, got nan"):
        cc.compare(truth, scores=scores, thresholds=float("nan"))
    with pytest.raises(InputTypeError, match="`thresholds` to be a mapping"):
        cc.compare(truth, scores=scores, thresholds=True)
