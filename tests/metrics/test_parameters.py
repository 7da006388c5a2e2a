"""Whatever is passed as a parameter of a metric: it is read, or refused by its name."""

from datetime import timedelta

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.metrics.registry import METRICS
from tests.metrics.test_registry import NEAR, OTHER_PARAMETERS, REQUIRED_PARAMETERS, TRUTH

HOSTILE = {
    "text": "x",
    "empty": "",
    "none": None,
    "true": True,
    "numpy true": np.True_,
    "negative": -1,
    "nan": float("nan"),
    "inf": float("inf"),
    "half": 1.5,
    "2**70": 2**70,
    "10**400": 10**400,
    "10**5000": 10**5000,
    "timedelta": timedelta(seconds=1),
    "numpy timedelta": np.timedelta64(1, "s"),
    "NaT": np.timedelta64("NaT", "s"),
    "complex": 1j,
    "list": [1],
    "array": np.ones(2),
    "mapping": {},
    "type": dict,
    "function": lambda: 1,
}
# What is documented as legal, though it looks odd; the rest must be refused.
LEGAL = {
    ("nab", "windows"): {"none"},
    ("point_adjust_k", "k"): {"half"},
    ("semimetric", "p"): {"half", "2**70"},
    ("window_once", "margin"): {"half", "2**70"},
    ("margin", "margin"): {"half", "2**70"},
    ("two_sided", "tolerance"): {"half", "2**70"},
    ("time_aware", "delta"): {"2**70"},
    ("unbiased_affiliation", "seed"): {"2**70", "10**400", "10**5000"},
    ("pate", "early"): {"2**70", "10**400", "10**5000"},
    ("pate", "delay"): {"2**70", "10**400", "10**5000"},
}
CASES = [
    pytest.param(entry, name, label, id=f"{entry.name}-{name}-{label}")
    for entry in METRICS.values()
    for name in entry.parameters
    for label in HOSTILE
]


@pytest.mark.parametrize(("entry", "name", "label"), CASES)
def test_what_is_not_legal_is_refused_by_name(entry, name, label):
    # Every prediction meets two events or more, so that functions are called.
    wide = np.ones_like(TRUTH)
    parameters = REQUIRED_PARAMETERS.get(entry.name, {}) | {name: HOSTILE[label]}
    if label in LEGAL.get((entry.name, name), ()):
        assert tuple(entry.function(TRUTH, wide, **parameters).values()) == entry.gives
        return
    with pytest.raises((InputError, InputTypeError)) as caught:
        entry.function(TRUTH, wide, **parameters)
    assert f"`{name}`" in str(caught.value)


@pytest.mark.parametrize("entry", METRICS.values(), ids=lambda entry: entry.name)
def test_numbers_of_numpy_are_numbers(entry):
    own = OTHER_PARAMETERS.get(entry.name, {}) | REQUIRED_PARAMETERS.get(entry.name, {})
    numbers = {name: value for name, value in own.items() if isinstance(value, int | float)}
    usual = entry.function(TRUTH, NEAR, **own).values()
    for name, value in numbers.items():
        kinds = (np.int16, np.uint8) if isinstance(value, int) else (np.float64,)
        for kind in kinds:
            assert entry.function(TRUTH, NEAR, **(own | {name: kind(value)})).values() == usual


@pytest.mark.parametrize("bad", ["1", None, True, np.timedelta64(1, "s"), 10**400, -1])
def test_beta(bad):
    with pytest.raises((InputError, InputTypeError), match="`beta` to be 0 or more, got"):
        cc.metrics.classical(TRUTH, NEAR).fbeta(bad)


@pytest.mark.parametrize("bad", ["a", None, True, -1.0, float("inf"), 10**400])
def test_weights_of_a_profile(bad):
    with pytest.raises((InputError, InputTypeError), match="`false_positive` to be a finite"):
        cc.metrics.NabProfile(false_positive=bad)


@pytest.mark.parametrize("bad", ["x", True, np.timedelta64(1, "s"), 10**400, float("nan")])
def test_the_threshold_of_a_corpus(bad):
    with pytest.raises((InputError, InputTypeError), match="`threshold` to be a number, or inf"):
        cc.metrics.nab_corpus({"a": TRUTH}, {"a": NEAR}, threshold=bad)


@pytest.mark.parametrize("bad", ["x", 5, {}, [1, 2]])
def test_windows_are_named(bad):
    with pytest.raises(InputTypeError, match="`windows` to be"):
        cc.metrics.nab(TRUTH, NEAR, windows=bad)


def test_the_series_of_a_corpus_is_named():
    scores = NEAR.astype(float)
    scores[3] = np.nan
    with pytest.raises(InputError, match=r"`scores\['b'\]` to be numbers, or inf, got nan at"):
        cc.metrics.nab_corpus({"a": TRUTH, "b": TRUTH}, {"a": NEAR, "b": scores})
    times = {"a": np.arange(len(TRUTH))}
    with pytest.raises(InputTypeError, match=r"`truth\['a'\]` to be pairs \(start, stop\)"):
        cc.metrics.nab_corpus({"a": TRUTH}, {"a": NEAR}, times=times)
