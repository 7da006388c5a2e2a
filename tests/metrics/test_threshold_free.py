import sys
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import InputError, MissingExtraError
from closecall.metrics.pate import ENTRIES as PATE
from closecall.metrics.threshold_free import (
    ENTRIES,
    affiliation_average_precision,
    auc_roc,
    average_precision,
)
from closecall.metrics.vus import ENTRIES as VUS
from closecall.series import read_scored

TRUTH = [0, 1, 1, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.9, 0.3, 0.6, 0.3, 0.0, 0.7, 0.2]


@st.composite
def series(draw):
    length = draw(st.integers(1, 20))
    labels = draw(st.lists(st.booleans(), min_size=length, max_size=length))
    level = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, np.inf])
    return labels, draw(st.lists(level, min_size=length, max_size=length))


@given(series())
def test_auc_roc_is_the_share_of_pairs_in_order(data):
    labels, scores = data
    true = [score for label, score in zip(labels, scores, strict=True) if label]
    normal = [score for label, score in zip(labels, scores, strict=True) if not label]
    value = auc_roc(labels, scores).value
    if not true or not normal:
        assert isnan(value)
        return
    won = sum((a > b) + 0.5 * (a == b) for a in true for b in normal)
    assert value == pytest.approx(won / len(true) / len(normal), abs=1e-12)


@given(series())
def test_average_precision_is_the_sum_over_thresholds(data):
    labels, scores = data
    value = average_precision(labels, scores).value
    if not any(labels):
        assert isnan(value)
        return
    area, recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        hits = [label for label, score in zip(labels, scores, strict=True) if score >= threshold]
        new = sum(hits) / sum(labels)
        area, recall = area + (new - recall) * sum(hits) / len(hits), new
    assert value == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("function", [auc_roc, average_precision, affiliation_average_precision])
@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64, np.float32, np.float64])
def test_the_type_of_labels_does_not_matter(function, kind):
    assert function(np.array(TRUTH, dtype=kind), SCORES) == function(TRUTH, SCORES)


@pytest.mark.parametrize("function", [auc_roc, average_precision])
@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64, np.float32])
def test_the_type_of_scores_does_not_matter(function, kind):
    levels = np.array([1, 250, 3, 6, 3, 0, 7, 2])
    assert function(TRUTH, levels.astype(kind)).value == function(TRUTH, levels).value


def test_affiliation_average_precision_is_that_of_the_curve():
    curve = cc.affiliation_curve(TRUTH, SCORES)
    assert affiliation_average_precision(TRUTH, SCORES).value == curve.average_precision
    uneven = {"times": [0, 1, 4, 5, 9, 10, 11, 19], "end": 25}
    curve = cc.affiliation_curve(TRUTH, SCORES, **uneven)
    assert affiliation_average_precision(TRUTH, SCORES, **uneven).value == curve.average_precision


def test_affiliation_average_precision_is_undefined_without_an_event():
    assert isnan(affiliation_average_precision([0, 0], [1, 2]).value)


def test_times_do_not_change_what_counts_samples():
    uneven = {"times": [0, 1, 4, 5, 9, 10, 11, 19], "end": 25}
    assert auc_roc(TRUTH, SCORES, **uneven) == auc_roc(TRUTH, SCORES)
    assert average_precision(TRUTH, SCORES, **uneven) == average_precision(TRUTH, SCORES)
    events = cc.Events.from_labels(TRUTH, **uneven)
    assert auc_roc(events, SCORES, **uneven) == auc_roc(TRUTH, SCORES)


@pytest.mark.parametrize("function", [auc_roc, average_precision])
def test_without_scikit_learn_the_message_names_it(function, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(MissingExtraError, match="pip install scikit-learn"):
        function(TRUTH, SCORES)


@pytest.mark.parametrize("entry", [*ENTRIES, *VUS, *PATE], ids=lambda entry: entry.name)
def test_what_every_entry_promises(entry):
    result = entry.function(read_scored(TRUTH, SCORES), None)
    assert tuple(result.values()) == entry.gives
    public = entry.function(TRUTH, SCORES)
    assert result.values() == public.values()
    assert all(entry.lowest <= value <= entry.highest for value in result.values().values())
    perfect = entry.function(TRUTH, TRUTH).values()
    assert list(perfect.values()) == pytest.approx([1.0] * len(perfect), abs=1e-12)
    with pytest.raises(InputError, match="`scores` to be numbers, or inf, got nan at index 1"):
        entry.function([0, 1], [0.5, np.nan])
