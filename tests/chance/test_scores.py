"""The null of scores: every roll against a curve of its own."""

import numpy as np
import pytest

import closecall as cc
from closecall.chance.scores import roll_scores
from closecall.series import read_scored


def require_curves(truth, scores, **axis):
    found = roll_scores(read_scored(truth, scores, **axis), np.arange(len(scores)), None)
    for shift, value in enumerate(found):
        curve = cc.affiliation_curve(truth, np.roll(scores, shift), **axis)
        assert value == pytest.approx(curve.average_precision, rel=0, abs=1e-12)
    assert np.ptp(found) > 0.1  # else a roll that does nothing would pass


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_labels_with_ties_and_cut_samples(seed, kind):
    random = np.random.default_rng(seed)
    length = 40
    truth = np.zeros(length, dtype=np.uint8)
    truth[[5, 6, 20, 33]] = 1  # the borders 13.5 and 27 are in a sample and between two
    require_curves(truth, random.integers(0, 12, size=length).astype(kind))


def test_all_scores_different():
    scores = np.random.default_rng(9).normal(size=50)
    require_curves((np.arange(50) % 17 > 14).astype(np.uint8), scores)


def test_uneven_times_within_a_wider_span():
    random = np.random.default_rng(2)
    times = np.cumsum(random.integers(1, 9, size=30))
    axis = {"times": times, "end": int(times[-1]) + 4, "span": (-20, 400)}
    require_curves(cc.Events([(30, 41), (60, 60), (77, 80)]), random.random(30), **axis)


def test_progress_is_told_for_each_roll():
    told = []
    scored = read_scored([0, 1, 0], [0.1, 0.2, 0.3])
    roll_scores(scored, np.array([0, 1]), lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
