"""Scores of a few zones, from predictions that may reach beyond them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import closecall as cc
from closecall.affiliation.zone_scores import (
    borders_between,
    reaching,
    score_zones_of,
    sum_in_order,
)

TRUTH = np.array([[2, 4], [9, 11], [20, 21]])
PREDICTED = np.array([[0, 1], [3, 7], [13, 13], [14, 18], [18, 30]])


def test_borders_are_in_half_ticks():
    assert borders_between(TRUTH, 0).tolist() == [13, 31]
    assert borders_between(TRUTH, 2).tolist() == [9, 27]
    assert borders_between(TRUTH[:1], 0).tolist() == []


@pytest.mark.parametrize(
    ("after", "before", "starts"),
    [
        (None, None, [0, 3, 13, 14, 18]),
        (13, None, [3, 13, 14, 18]),  # 3 to 7 reaches beyond 6.5
        (14, None, [13, 14, 18]),  # and ends at 7
        (26, None, [13, 14, 18]),  # a point on the border comes after it
        (27, None, [14, 18]),
        (None, 26, [0, 3]),
        (None, 27, [0, 3, 13]),
        (31, 36, [14]),
    ],
)
def test_predictions_between_borders(after, before, starts):
    assert reaching(PREDICTED, 0, after=after, before=before)[:, 0].tolist() == starts


def test_a_zone_by_itself_has_the_scores_it_has_among_others():
    whole = cc.affiliation(cc.Events(TRUTH), cc.Events(PREDICTED), span=(0, 30)).events
    borders = np.array([0, *borders_between(TRUTH, 0), 60])
    for zone in range(3):
        last = zone == 2
        found = score_zones_of(
            TRUTH[zone : zone + 1], borders[zone : zone + 2], PREDICTED, 0, last=last
        )
        assert_array_equal(found.table.whole(), whole.table[zone : zone + 1])
        assert found.counts.whole().tolist() == [whole.predicted_count[zone]]


def test_sums_are_those_of_a_loop():
    values = np.random.default_rng(0).random(1_000)
    total = 0.0
    for value in values.tolist():
        total += value
    assert sum_in_order(values) == total
    assert values.sum() != total  # else the test would not tell
    assert sum_in_order(values[:0]) == 0
