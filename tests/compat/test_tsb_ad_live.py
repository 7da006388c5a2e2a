"""`get_metrics` beside TSB-AD itself on inputs at the edge, where it is installed.

What differs is what docs/coming-from.md and the docstring say, and nothing else.
"""

import numpy as np
import pytest

from closecall.compat import get_metrics
from tests.metrics.peers import peer

pytestmark = pytest.mark.filterwarnings("ignore:Precision is ill-defined")

SIZE = 40
LOWEST = ["PA-F1", "Event-based-F1", "Affiliation-F"]  # here also where all is predicted


def labels(*events):
    vector = np.zeros(SIZE, dtype=int)
    for start, stop in events:
        vector[start:stop] = 1
    return vector


TRUTHS = {
    "one event": labels((15, 20)),
    "one sample": labels((15, 16)),
    "two events": labels((5, 9), (25, 32)),
    "at the start": labels((0, 4), (20, 25)),
    "at the end": labels((10, 14), (35, 40)),
    "at both ends": labels((0, 4), (35, 40)),
}
SCORES = np.random.default_rng(5).permutation(SIZE).astype(float)


def differing(score, truth, pred=None):
    """Give each key where the two differ, with what TSB-AD says."""
    theirs = peer("TSB_AD.evaluation.metrics", "get_metrics")(
        score, truth, slidingWindow=4, pred=pred, thre=SIZE
    )
    own = get_metrics(score, truth, 4, pred)
    assert list(own) == list(theirs)
    return {
        key: float(value)
        for key, value in theirs.items()
        if own[key] != pytest.approx(value, abs=1e-5, nan_ok=True)
    }


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_without_an_alarm_nothing_differs(truth):
    assert differing(SCORES, truth, labels()) == {}


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_all_predicted_is_no_range_there(truth):
    assert differing(SCORES, truth, labels((0, SIZE))) == {"R-based-F1": 0.0}


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_one_score_for_all_samples_is_never_an_alarm_there(truth):
    found = differing(np.full(SIZE, 0.3), truth)
    assert list(found) == LOWEST
    np.testing.assert_equal(list(found.values()), [0.0, 0.0, np.nan])


@pytest.mark.parametrize("kind", ["few", "continuous", "float32"])
@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
@pytest.mark.parametrize("seed", range(3))
def test_only_the_keys_over_all_thresholds_differ_and_are_higher(seed, truth, kind):
    random = np.random.default_rng(seed)
    score = random.integers(0, 5, SIZE) / 4 if kind == "few" else random.random(SIZE) ** 3
    score = score.astype(np.float32 if kind == "float32" else float)
    own = get_metrics(score, truth, 4)
    found = differing(score, truth)
    assert set(found) <= set(LOWEST)
    assert all(own[key] > value for key, value in found.items())


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        ("at the start", (2, 3), ["PA-F1"]),
        ("at the end", (39, 40), ["Event-based-F1"]),
        ("two events", (7, 28), []),
        ("one sample", (15, 16), []),
    ],
)
def test_the_first_and_the_last_sample_are_forgotten_there(truth, predicted, expected):
    assert list(differing(SCORES, TRUTHS[truth], labels(predicted))) == expected


@pytest.mark.parametrize("kind", [bool, np.uint8])
def test_unsigned_types_change_a_result_there(kind):
    truth, predicted = TRUTHS["two events"], labels((7, 12), (30, 34))
    assert differing(SCORES, truth, predicted) == {}
    assert list(differing(SCORES, truth.astype(kind), predicted)) == ["R-based-F1"]
    assert list(differing(SCORES, truth, predicted.astype(kind))) == ["R-based-F1"]


@pytest.mark.parametrize(
    ("score", "truth", "error", "here"),
    [
        (SCORES, labels((0, SIZE)), (IndexError, ValueError), False),  # as scikit-learn is old
        (SCORES, labels(), (IndexError, ValueError), True),
        (np.append(SCORES[1:], np.inf), TRUTHS["one event"], ValueError, False),
        (np.append(SCORES[1:], np.nan), TRUTHS["one event"], ValueError, True),
    ],
)
@pytest.mark.filterwarnings("ignore:Only one class:UserWarning", "ignore:No positive class")
def test_what_stops_it(score, truth, error, here):
    with pytest.raises(error):
        differing(score, truth)
    if here:
        with pytest.raises(ValueError, match="Expected"):
            get_metrics(score, truth, 4)
    else:
        get_metrics(score, truth, 4)


@pytest.mark.parametrize("seed", range(40))
def test_its_own_digits(seed):
    """Events at both ends, few or many scores, own predictions or none, few sampled thresholds."""
    random = np.random.default_rng(seed)
    size = int(random.integers(12, 200))
    truth = np.zeros(size, dtype=int)
    for start in random.integers(0, size, 3):
        truth[start : start + random.integers(1, 12)] = 1
    truth[[0, -1]] |= random.random(2) < 0.4
    truth[size // 2] = 0  # with nothing normal it stops
    score = (random.random(size), random.integers(0, 4, size) / 3, np.ones(size))[seed % 3]
    score = score + truth * (0.3 if seed % 3 == 0 else 0)
    pred = None if seed % 4 else (random.random(size) < 0.2).astype(int)
    options = {"slidingWindow": int(random.integers(1, 20)), "thre": (10, 250)[seed % 2]}
    theirs = peer("TSB_AD.evaluation.metrics", "get_metrics")(score, truth, pred=pred, **options)
    own = get_metrics(score, truth, pred=pred, **options, protocol="tsb-ad")
    assert own == pytest.approx({k: float(v) for k, v in theirs.items()}, abs=1e-9, nan_ok=True)
