"""The closed forms of chance beside a result, as `closecall.chance` gives them."""

from __future__ import annotations

import numpy as np
import pytest

import closecall as cc
from closecall.frames.batch.chance_levels import ChanceLevels


@pytest.mark.parametrize("seed", range(5))
def test_precision_and_recall_are_those_of_chance(seed):
    generator = np.random.default_rng(seed)
    truth = np.zeros(400, dtype=np.int8)
    for first in generator.integers(0, 380, 4):
        truth[first : first + 15] = 1
    result = cc.affiliation(truth, generator.random(400) > 0.97)
    precision, recall, f1 = ChanceLevels.of(result.events.pair).beside(result.events)
    assert precision == pytest.approx(result.chance.precision, abs=1e-15)
    assert recall == pytest.approx(result.chance.recall, abs=1e-15)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-15)
    assert f1 == pytest.approx(result.chance.f1, abs=0.02)


def test_no_alarm_has_no_precision():
    result = cc.affiliation([0, 1, 0], [0, 0, 0])
    precision, recall, f1 = ChanceLevels.of(result.events.pair).beside(result.events)
    assert (np.isnan(precision), recall, np.isnan(f1)) == (True, 0.0, True)
