"""What the metrics say of bad input, each message once.

That every parameter of every metric is refused by its name is in test_registry.py.
"""

import re
from datetime import timedelta
from math import inf, nan

import numpy as np
import pytest

import closecall as cc
from closecall import metrics
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

SIDES = [0, 1, 1, 1], [0, 1, 0, 1]
LOW, HIGH = "`simulations` to be 1 or more, got -1", "`simulations` to be at most 10,000,000, got "
COUNTS, LENGTH = "to be a whole number of samples,", "to be a finite number of 0 or more"
CARDINALITY = "`cardinality` to be 'one', 'reciprocal'"
FACTOR = "`cardinality` to return a factor from 0 to 1, such as 1 / x"
BIAS = "`recall_bias` to be one of 'flat', 'front', 'middle', 'back'"
WEIGHT = "`recall_bias` to return a finite weight of 0 or more"
SOME = "`recall_bias` to give some position a weight above 0"
K, P = "`k` to be a percentage, a number from 0 to 100", "`p` to be a finite number above 0"
WHOLE = "`windows` to start and stop at whole rows"
HOLD = "each of `windows` to hold at least one sample"
PROBATION = "`probation` to be a number of 0 or more and below 1"
THRESHOLD = "`threshold` to be a number, or inf, and not nan; or 'climb', or None"

OF_METRICS = [
    ("classical", {"by": 3}, "`by` to be 'samples' or 'duration', got 3"),
    ("point_adjust_k", {"k": 100.5}, f"{K}, got 100.5"),
    ("point_adjust_k", {"k": "20"}, f"{K}, got '20'"),
    ("semimetric", {"p": 0}, f"{P}, got 0"),
    ("semimetric", {"p": inf}, f"{P}, got inf.\n\nHint: For p = inf use `hausdorff`."),
    ("range_based", {"alpha": 1.5}, "`alpha` to be a number from 0 to 1, got 1.5"),
    (
        "range_based",
        {"cardinality": "two"},
        f"{CARDINALITY} or a function of the number of overlaps, got",
    ),
    ("range_based", {"recall_bias": "end"}, f"{BIAS}, or a function of a position"),
    ("range_based", {"cardinality": lambda count: count}, f"{FACTOR} for x overlaps, got 2 for"),
    ("range_based", {"recall_bias": lambda *_: -1}, f"{WEIGHT}, got -1 for recall_bias(1, 3)"),
    ("range_based", {"recall_bias": lambda *_: 0}, f"{SOME}, got 0 everywhere in an event of le"),
    ("time_aware", {"delta": 1.5}, f"`delta` {COUNTS} 0 or more, got 1.5"),
    ("time_aware", {"delta": timedelta(seconds=1)}, f"`delta` {LENGTH}, got"),
    ("margin", {"margin": -1}, f"`margin` {LENGTH}, got -1"),
    ("two_sided_null", {"tolerance": None}, f"`tolerance` {LENGTH}, got None"),
    ("two_sided_null", {"tolerance": 1, "simulations": -1}, LOW),
    ("two_sided_null", {"tolerance": 1, "simulations": 10**400}, HIGH),
    ("two_sided_null", {"tolerance": 1, "seed": 2.5}, "`seed` to be a whole number, got 2.5"),
    ("nab", {"profile": "strict"}, "`profile` to be 'standard', 'reward_low_FP_rate', 'rew"),
    ("nab", {"probation": 1}, f"{PROBATION}, got 1"),
    ("nab", {"probation": "half"}, f"{PROBATION}, got 'half'"),
    ("nab", {"windows": 5}, "`windows` to be Events, or pairs (start, stop), got 5"),
    ("nab", {"windows": {}}, "`windows` to be Events, or pairs (start, stop), got {}"),
    ("nab", {"windows": [1, 2]}, "`windows` to be pairs (start, stop)"),
    ("nab", {"windows": [(1, 3), (2, 4)]}, "`windows` events to be disjoint, got (1, 3) and"),
    ("nab", {"windows": [(2, 50)]}, "`windows` to lie within the span (0, 4), got (2, 50)"),
    ("nab", {"windows": [(2.5, 3.0)]}, f"{WHOLE}, got (2.5, 3.0) at index 0"),
    ("nab", {"windows": [(11, 19)], "times": [0, 10, 20, 30]}, f"{HOLD}, got (11, 19) at index 0"),
    ("vus", {"window": -1}, f"`window` {COUNTS} from 0 to 1,000,000, got -1"),
    ("vus", {"window": 2.5}, f"`window` {COUNTS} from 0 to 1,000,000, got 2.5.\n\nHint: It"),
    ("pate", {"early": -1}, f"`early` {COUNTS} 0 or more, got -1"),
    ("pate", {"delay": True}, f"`delay` {COUNTS} 0 or more, got True"),
    (
        "unbiased_affiliation",
        {"seed": -(10**400)},
        "`seed` to be 0 or more, got a number of more than",
    ),
]
OF_CORPORA = [
    ({}, {}, {}, "`truth` to have at least one series, got none"),
    ({"a": [0]}, {"b": [0.5]}, {}, "`scores` to have the same series as `truth`, got 'a' in one"),
    ([0], {"a": [0.5]}, {}, "`truth` and `scores` to be mappings by name of the series, got some"),
    ({"a": [0, 1]}, {"a": [0.5]}, {}, "`truth['a']` to have one value for each of 1 scores, got 2"),
    ({"a": [0, 1]}, {"a": [0.5, nan]}, {}, "`scores['a']` to be numbers, or inf, got nan at"),
    *(
        ({"a": [0]}, {"a": [0.5]}, {"threshold": bad}, f"{THRESHOLD}, got")
        for bad in (nan, "x", True, np.timedelta64(1, "s"), 10**400)
    ),
    (
        {"a": [0, 1]},
        {"a": [0.5, 1.5]},
        {"threshold": "climb"},
        "`scores['a']` to be from 0 to 1 for `threshold='climb'`, got 1.5 at index 1",
    ),
    ({"a": [0]}, {"a": [0.5]}, {"times": {}}, "`times` to have the same series as `truth`, got"),
    ({"a": []}, {"a": [1]}, {"times": {"a": [1, 2]}}, "`times['a']` to have one value for each of"),
    ({"a": [1]}, {"a": [1]}, {"times": {"a": [1]}}, "`truth['a']` to be pairs (start, stop)"),
    (
        {"a": [(8, 9)]},
        {"a": [1]},
        {"times": {"a": [1]}},
        "each window of `truth['a']` to hold at least one row, got (8, 9) at index 0",
    ),
    ({"a": cc.Events([(0.0, 1.0)])}, {"a": [1]}, {}, "`truth['a']` to be windows of rows, got"),
    ({"a": cc.Events([(0, 2)])}, {"a": [1]}, {}, "`truth['a']` to lie within the span (0, 1), got"),
]


@pytest.mark.parametrize(("metric", "options", "message"), OF_METRICS)
def test_of_metrics(metric, options, message):
    with pytest.raises((InputError, InputTypeError), match=re.escape(f"Expected {message}")):
        getattr(metrics, metric)(*SIDES, **options)


@pytest.mark.parametrize(("truth", "scores", "options", "message"), OF_CORPORA)
def test_of_corpora(truth, scores, options, message):
    with pytest.raises((InputError, InputTypeError), match=re.escape(f"Expected {message}")):
        metrics.nab_corpus(truth, scores, **options)


def test_of_curves():
    with pytest.raises(UndefinedMetricError, match="point-adjusted recall is undefined"):
        metrics.point_adjust_curve([0, 0], [0.1, 0.2])
    with pytest.raises(UndefinedMetricError, match="Expected a true event that lasts"):
        metrics.point_adjust_curve(cc.Events.from_points([1]), [0.1, 0.2], times=[0, 1])


@pytest.mark.parametrize("bad", ["1", None, True, np.timedelta64(1, "s"), 10**400, -1])
def test_of_numbers(bad):
    with pytest.raises((InputError, InputTypeError), match="`beta` to be 0 or more, got"):
        metrics.classical(*SIDES).fbeta(bad)
    with pytest.raises((InputError, InputTypeError), match="`false_positive` to be a finite"):
        metrics.NabProfile(false_positive=bad)


def test_of_endless_weights():
    with pytest.raises(InputError, match="`false_positive` to be a finite number of 0 or more"):
        metrics.NabProfile(false_positive=inf)
