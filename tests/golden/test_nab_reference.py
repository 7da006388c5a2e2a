"""The published scores of NAB's detectors, on its 58 series with 116 windows."""

import json
from functools import cache

import numpy as np
import pytest

from closecall.metrics.nab_corpus import nab_corpus

DETECTORS = ("numenta", "windowedGaussian", "random", "relativeEntropy", "skyline")
PROFILES = ("standard", "reward_low_FP_rate", "reward_low_FN_rate")

# The published thresholds were found by a search that stops at a local optimum. The sweep that NAB
# has now finds these instead, and better scores.
BETTER = {
    ("numenta", "reward_low_FP_rate"): (0.543099145074, 63.20918500249929),
    ("random", "standard"): (0.998405097835, 17.655439698217585),
    ("random", "reward_low_FP_rate"): (0.999595043934, 7.48003493833804),
    ("random", "reward_low_FN_rate"): (0.998405097835, 27.57489083329448),
}


@cache
def corpus(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(folder / "scores.parquet")
    name = np.array(table["series"].to_pylist())
    first = np.flatnonzero(np.append(True, name[1:] != name[:-1]))
    columns = {
        column: np.split(table[column].to_numpy(), first[1:])
        for column in ("timestamp", *DETECTORS)
    }
    return {
        column: dict(zip(name[first].tolist(), parts, strict=True))
        for column, parts in columns.items()
    }


@pytest.fixture(scope="module")
def nab_data(data_folder):
    folder = data_folder / "nab"
    windows = json.loads((folder / "combined_windows.json").read_text())
    truth = {
        name: np.array(pairs, dtype="datetime64[us]").reshape(-1, 2)
        for name, pairs in windows.items()
    }
    return truth, corpus(folder), json.loads((folder / "reference_results.json").read_text())


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("detector", DETECTORS)
def test_published_score_at_the_published_threshold(nab_data, detector, profile):
    truth, columns, published = nab_data
    threshold = published["thresholds"][detector][profile]["threshold"]
    result = nab_corpus(
        truth,
        columns[detector],
        times=columns["timestamp"],
        profile=profile,
        threshold=threshold,
    )
    assert result.value == pytest.approx(published["final"][detector][profile], abs=1e-6)
    assert len(result.series) == 58
    assert sum(series.windows for series in result.series.values()) == 116


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("detector", DETECTORS)
def test_the_best_threshold(nab_data, detector, profile):
    truth, columns, published = nab_data
    result = nab_corpus(truth, columns[detector], times=columns["timestamp"], profile=profile)
    if (detector, profile) in BETTER:
        threshold, value = BETTER[detector, profile]
        assert result.threshold == threshold
        assert result.value == pytest.approx(value, abs=1e-6)
        assert result.value > published["final"][detector][profile] + 0.05
    else:
        assert result.value == pytest.approx(published["final"][detector][profile], abs=1e-6)


@pytest.mark.parametrize("profile", PROFILES)
def test_no_detection_at_all(nab_data, profile):
    truth, columns, published = nab_data
    nothing = {name: np.zeros(scores.size) for name, scores in columns["random"].items()}
    result = nab_corpus(truth, nothing, times=columns["timestamp"], profile=profile, threshold=0.5)
    assert result.value == published["final"]["null"][profile] == 0
    assert result.raw == published["thresholds"]["null"][profile]["score"]
