"""The same digits as the algorithm the paper's authors published, where a peer carries it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import closecall as cc
from tests.properties.strategies import (
    clear_of_borders,
    decimal_steps,
    dyadic_steps,
    events,
    on_uneven_axis,
    range_cases,
)

official = pytest.importorskip(
    "telemeval.metrics.affiliation",
    reason="telemeval, which carries the algorithm, is not installed",
).pr_from_events

TOLERANCE = 1e-12
COLUMNS = {
    "precision": "individual_precision_probabilities",
    "recall": "individual_recall_probabilities",
    "precision_distance": "individual_precision_distances",
    "recall_distance": "individual_recall_distances",
}


def check(case):
    # The official algorithm takes no events that touch.
    truth, predicted = cc.Events(case.truth).merged(), events(case.predicted).merged()
    found = cc.affiliation(truth, predicted, span=case.span)
    expected = official(list(predicted), list(truth), case.span)
    assert found.precision == pytest.approx(expected["precision"], abs=TOLERANCE, nan_ok=True)
    assert found.recall == pytest.approx(expected["recall"], abs=TOLERANCE)
    for name, key in COLUMNS.items():
        column = np.array(expected[key], dtype=float)
        assert getattr(found.events, name) == pytest.approx(column, abs=TOLERANCE, nan_ok=True), (
            name
        )


@given(range_cases)
@settings(max_examples=300)
def test_integers(case):
    check(case)


@given(on_uneven_axis(range_cases, dyadic_steps))
@settings(max_examples=200)
def test_floats_with_ties(case):
    check(case)


@given(on_uneven_axis(range_cases, decimal_steps))
@settings(max_examples=200)
def test_floats(case):
    assume(clear_of_borders(case))
    check(case)
