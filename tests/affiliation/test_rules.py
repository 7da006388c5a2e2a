"""Rules that turn scores into a threshold."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.rules import ThresholdRule
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

SCORES = [1.0, 2.0, 3.0, 4.0, 10.0]
TRUTH = [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("rule", "threshold"),
    [
        (7, 7),
        ("quantile:0.5", 3.0),
        ({"quantile": 0.6}, 4.0),
        ("sigma:1", 4 + np.sqrt(10)),
        ("mad:2", 3 + 2 * 1.4826),
        ("best_f1", 10.0),
        (None, 10.0),
        ("alarms:1/5", 4.0),  # 3 would alarm for more than half of the time
        ({"alarms": (0.2, 1)}, 4.0),
    ],
)
def test_thresholds_worked_by_hand(rule, threshold):
    chosen = cc.choose_threshold(TRUTH, SCORES, rule)
    assert chosen.threshold == pytest.approx(threshold, abs=1e-12)
    assert not chosen.fitted


def test_peaks_over_threshold_finds_the_quantile_of_a_known_tail():
    # The excesses of an exponential are exponential: shape 0, and the level is -log(q).
    draws = np.random.default_rng(0).exponential(size=100_000)
    found = cc.choose_threshold(None, draws, "spot:0.0001").threshold
    assert found == pytest.approx(-np.log(1e-4), rel=0.06)
    assert cc.choose_threshold(None, draws, "spot:0.1").threshold == np.quantile(draws, 0.9)


def test_a_rule_sees_the_fitted_part_only():
    scores = [5, 1, 2, 3, 9, 9, 9, 9]
    for fit in ([1, 1, 1, 1, 0, 0, 0, 0], [(0, 4)], cc.Events([(0, 4)])):
        chosen = cc.choose_threshold(None, scores, "quantile:1", fit=fit)
        assert (chosen.threshold, chosen.fitted, chosen.rule) == (5, True, "quantile:1")
    # What is ignored belongs to neither part.
    chosen = cc.choose_threshold(None, scores, "quantile:1", fit=[(0, 4)], ignore=[(0, 1)])
    assert chosen.threshold == 3


def test_the_best_f1_of_a_part_on_dated_times():
    start = datetime(2024, 1, 1, tzinfo=UTC)
    times = [start + timedelta(hours=hour) for hour in range(8)]
    truth, scores = [0, 1, 0, 0, 0, 0, 1, 0], [0, 4, 1, 1, 9, 0, 2, 0]
    fit = [(start, times[4])]
    assert cc.choose_threshold(truth, scores, fit=fit, times=times).threshold == 4
    assert cc.choose_threshold(truth, scores, times=times).threshold == 2
    rare = cc.choose_threshold(truth, scores, "alarms:2/8h", times=times)
    assert (rare.threshold, rare.rule) == (4, "alarms:2/8h")


MESSAGES = [
    ("nonsense", InputError, "Expected `threshold` to be a number or a known rule, got 'nonsense'"),
    ("quantile:2", InputError, "the rule 'quantile' to be a quantile from 0 to 1, got '2'"),
    ("quantile:high", InputError, "from 0 to 1, got 'high'"),
    ({"quantile": float("nan")}, InputError, "from 0 to 1, got nan"),
    (True, InputTypeError, "to be a number or a rule, got True"),
    ("spot:0", InputError, "the rule 'spot' to be a probability between 0 and 1, got '0'"),
    ("alarms:often", InputError, "to be a number or a known rule, got 'alarms:often'"),
    ({"a": 1, "b": 2}, InputError, "to be a number or a known rule"),
    ([1], InputTypeError, r"Expected `threshold` to be a number or a rule, got \[1\]"),
    (float("nan"), InputError, "Expected `threshold` to be a number, or inf, got nan"),
    (10**400, InputError, "a number that a float can hold"),
    ("best_f1_global", InputError, "a rule for a single series, got 'best_f1_global'"),
    ("spot:0.001", UndefinedMetricError, "at least 10 scores above their 0.98 quantile"),
    ("alarms:0/5", UndefinedMetricError, "the nearest is .* with alarms 1 per 5"),
]


@pytest.mark.parametrize(("rule", "error", "message"), MESSAGES)
def test_messages(rule, error, message):
    with pytest.raises(error, match=message):
        cc.choose_threshold(TRUTH, SCORES, rule)


def test_messages_about_the_rest():
    with pytest.raises(UndefinedMetricError, match=r"is 2 with alarmed 0\.6 \(at most 0\.5"):
        cc.choose_threshold(None, [2, 2, 1, 2, 1], "alarms:9/5")
    with pytest.raises(InputTypeError, match="Expected `truth` for the rule 'best_f1', got none"):
        cc.choose_threshold(None, SCORES)
    with pytest.raises(InputError, match="finite scores for the rule 'sigma', got inf"):
        cc.choose_threshold(None, [1.0, np.inf], "sigma:3")
    with pytest.raises(InputError, match="some time that is not ignored"):
        cc.choose_threshold(None, SCORES, "quantile:1", fit=[(0, 5)])


def test_rules_are_written_as_they_are_passed():
    rules = [
        *("best_f1", "best_f1_global", "cross_fit", "quantile:0.99", "sigma:3", "mad:2.5"),
        *("spot:0.001", "alarms:2/7d", "alarms:3/100"),
    ]
    assert [str(ThresholdRule.read(rule)) for rule in rules] == rules
    assert [ThresholdRule.read(rule).looks_at_truth for rule in rules] == [True] * 3 + [False] * 6
    assert [str(ThresholdRule.read(number)) for number in (3, 0.5)] == ["3", "0.5"]
    assert str(ThresholdRule("number")) == "none"
    assert ThresholdRule.read("sigma") == ThresholdRule("sigma", 3.0)
    assert ThresholdRule.read(None) == ThresholdRule("best_f1")


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (0.5, 0.5),
        (np.float32(0.5), 0.5),
        (3, 3),
        (np.int64(3), 3),
        (float("inf"), float("inf")),
        (2**64 - 1, 2**64 - 1),
        (2**70, 2.0**70),  # which no integer of numpy holds
        ({"quantile": 1}, 1.0),
        ("quantile:0.25", 0.25),
    ],
)
def test_values_are_exact(given, value):
    rule = ThresholdRule.read(given)
    assert (type(rule.value), rule.value) == (type(value), value)
    assert rule.kind == ("number" if isinstance(given, (float, int, np.number)) else "quantile")
