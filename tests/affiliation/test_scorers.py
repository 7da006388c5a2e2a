"""The scorers as scikit-learn uses them."""

from math import nan

import numpy as np
import pytest

import closecall as cc

SCORERS = {
    "precision": cc.affiliation_precision_score,
    "recall": cc.affiliation_recall_score,
    "f1": cc.affiliation_f1_score,
}
TRUTH, PREDICTED = [0, 1, 1, 0, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]


@pytest.fixture(scope="module")
def problem():
    """A noisy daily load with a bump every few days, and its values over the last hours."""
    rng = np.random.default_rng(7)
    hours = np.arange(24 * 60)
    labels = np.isin(hours % 151, range(60, 72)).astype(int)
    load = np.sin(hours * np.pi / 12) + 1.5 * labels + rng.normal(0, 0.5, hours.size)
    features = np.column_stack([np.roll(load, lag) for lag in range(4)])
    return features[4:], labels[4:]


@pytest.mark.parametrize("axis", [{}, {"times": [0, 1, 3, 4, 8, 9, 10, 13], "end": 20}])
@pytest.mark.parametrize("name", SCORERS)
def test_scorer_is_the_score(name, axis):
    expected = getattr(cc.affiliation(TRUTH, PREDICTED, **axis), name)
    assert SCORERS[name](TRUTH, PREDICTED, **axis) == expected
    assert 0 < expected < 1


@pytest.mark.parametrize(
    ("zero_division", "precision", "f1"), [(nan, nan, nan), (0, 0, 0), (1, 1, 0)]
)
def test_zero_division(zero_division, precision, f1):
    nothing = [0] * len(TRUTH)
    found = [
        score(TRUTH, nothing, zero_division=zero_division)
        for score in (cc.affiliation_precision_score, cc.affiliation_f1_score)
    ]
    assert found == pytest.approx([precision, f1], nan_ok=True)


@pytest.mark.parametrize("name", SCORERS)
def test_cross_val_score(problem, name):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import KFold, cross_val_score

    features, labels = problem
    estimator, folds = LogisticRegression(), KFold(4)
    found = cross_val_score(
        estimator, features, labels, cv=folds, scoring=make_scorer(SCORERS[name])
    )
    by_hand = []
    for train, test in folds.split(features):
        predicted = estimator.fit(features[train], labels[train]).predict(features[test])
        by_hand.append(getattr(cc.affiliation(labels[test], predicted), name))
    assert found.tolist() == by_hand
    assert np.isfinite(found).all()
    assert len(set(by_hand)) > 1


def test_options_pass_through_make_scorer(problem):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer

    features, labels = problem
    never = LogisticRegression().fit(features, labels)
    never.intercept_ -= 1000
    scorer = make_scorer(cc.affiliation_precision_score, zero_division=0)
    assert scorer(never, features, labels) == 0
    assert np.isnan(make_scorer(cc.affiliation_precision_score)(never, features, labels))
