"""The demo data: the same digits for ever, and worth showing."""

import hashlib

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo


def test_shape_and_axis():
    data = demo()
    assert len(data.times) == 14 * 288
    assert set(np.diff(data.times).tolist()) == {np.timedelta64(5, "m").item()}
    arrays = [data.values, data.truth, *data.scores.values(), *data.predicted.values()]
    assert [len(array) for array in arrays] == [len(data.times)] * 6


def test_the_digits_never_change():
    data = demo()
    text = "\n".join(",".join(map(str, column.tolist())) for column in data.columns().values())
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == "d2023903430780dac46d92f3323454e55616f4981899e461e456af99e75fc63a"


def test_alarms_are_scores_at_or_above_the_threshold():
    data = demo()
    for name, alarms in data.predicted.items():
        assert np.array_equal(alarms, data.scores[name] >= data.thresholds[name])
        assert alarms.any()


def test_arrays_are_read_only():
    data = demo()
    for column in data.columns().values():
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[1]


def test_each_detector_misses_another_incident():
    data = demo()
    missed = {
        name: np.flatnonzero(
            cc.affiliation(data.truth, alarms, times=data.times).events.predicted_count == 0
        ).tolist()
        for name, alarms in data.predicted.items()
    }
    assert missed == {"threshold": [1], "forecast": [3]}


def test_early_late_and_on_time_all_happen():
    data = demo()
    minute = np.timedelta64(1, "m")
    delays = {
        name: cc.affiliation(data.truth, alarms, times=data.times).events.delay / minute
        for name, alarms in data.predicted.items()
    }
    np.testing.assert_array_equal(delays["threshold"], [0, np.nan, 35, 0, 0, -20, 0])
    np.testing.assert_array_equal(delays["forecast"], [0, 40, 80, np.nan, 35, 0, 25])


def test_headline_scores():
    data = demo()
    scores = {
        name: [round(score, 2) for score in (result.precision, result.recall, result.f1)]
        for name, alarms in data.predicted.items()
        for result in [cc.affiliation(data.truth, alarms, times=data.times)]
    }
    assert scores == {"threshold": [0.87, 0.84, 0.85], "forecast": [0.99, 0.85, 0.92]}
