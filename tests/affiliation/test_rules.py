"""Rules that turn scores into a threshold."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.rules import BEST_F1, ThresholdRule, read_rules, signed_rules
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

SCORES = [1.0, 2.0, 3.0, 4.0, 10.0]
TRUTH = [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("rule", "threshold"),
    [
        (7, 7),
        ("quantile:0.5", 4.0),
        ("quantile:0.8", 10.0),  # exactly 1 - 0.8 of the time, which floats round down
        ("quantile:0.81", np.inf),
        ("quantile:0", 1.0),
        ({"quantile": 0.6}, 4.0),
        ("sigma:1", 4 + np.sqrt(10)),
        ("mad:2", 3 + 2 * 1.4826),
        ("best_f1", 10.0),
        (None, 10.0),
        ("alarms:1/5", 4.0),  # 3 would alarm for more than half of the time
        ({"alarms": (0.2, 1)}, 4.0),
        ({"alarms": 0.2}, 4.0),
        ({"alarms": "1/5"}, 4.0),
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
        chosen = cc.choose_threshold(None, scores, "quantile:0.7", fit=fit)
        assert (chosen.threshold, chosen.fitted, chosen.rule) == (5, True, "quantile:0.7")
    # What is ignored belongs to neither part.
    chosen = cc.choose_threshold(None, scores, "quantile:0.6", fit=[(0, 4)], ignore=[(0, 1)])
    assert chosen.threshold == 3


def lowest_threshold(scores, lengths, level):
    """Return the lowest score with at most 1 - level of the time at or above it, in fractions."""
    most = (1 - Fraction(str(level))) * sum(lengths)
    alarmed = {h: sum(x for s, x in zip(scores, lengths, strict=True) if s >= h) for h in scores}
    return min((h for h, time in alarmed.items() if time <= most), default=np.inf)


def test_a_quantile_is_the_lowest_threshold_by_brute_force():
    draws = np.random.default_rng(3)
    for _ in range(400):
        count = int(draws.integers(1, 40))
        scores = draws.choice([0, 0, 0, 1, 2, 5, 7], count).tolist()
        lengths = draws.integers(1, 9, count).tolist()
        times, end = np.cumsum([0, *lengths[:-1]]), sum(lengths)
        level = draws.choice([0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1]).item()
        rule = f"quantile:{level}"
        found = cc.choose_threshold(None, scores, rule, times=times, end=end).threshold
        assert found == lowest_threshold(scores, lengths, level)
        floats = cc.choose_threshold(None, scores, rule, times=times / 7, end=end / 7).threshold
        assert floats == found
        off = draws.integers(0, 2, count)
        if off.all():
            continue
        kept = [
            [x for x, out in zip(part, off, strict=True) if not out] for part in (scores, lengths)
        ]
        axis = {"times": times, "end": end, "ignore": off}
        found = cc.choose_threshold(None, scores, rule, **axis).threshold
        assert found == lowest_threshold(*kept, level)


TIED = [0] * 95 + [1] * 5
MOSTLY = "so that events are caught by chance: choose a higher threshold, or another rule."


@pytest.mark.parametrize(
    ("rule", "note"),
    [
        ("quantile:0.95", None),
        ("sigma:3", None),
        (0, None),
        ("best_f1", None),
        (
            "quantile:0.99",
            "gives no alarm: every threshold puts more than 1 % of the time in alarm.",
        ),
        ("mad:3", f"puts 100 % of the time in alarm, {MOSTLY}"),
    ],
)
def test_a_rule_says_that_it_gives_no_alarm_or_too_many(rule, note):
    chosen = cc.choose_threshold(TIED, TIED, rule)
    assert chosen.notes == (() if note is None else (f"`{rule}` {note}",))


def test_no_quantile_of_scores_that_are_mostly_infinite():
    scores = np.where(TIED, np.inf, 0)
    assert cc.choose_threshold(None, scores, "quantile:0.95").threshold == np.inf
    with pytest.raises(UndefinedMetricError, match="none: 5 % of the time has the score inf"):
        cc.choose_threshold(None, scores, "quantile:0.99")


def test_rules_of_several_detectors():
    scored = {"a": (), "b": ()}
    assert read_rules(None, scored) == {}
    assert read_rules("mad:3", scored) == dict.fromkeys(scored, ThresholdRule("mad", 3.0))
    assert read_rules({"b": 2, "a": None}, scored) == {"b": ThresholdRule("number", 2)}
    assert signed_rules(dict.fromkeys(scored, BEST_F1)) == {
        "threshold": "best_f1",
        "thresholds": None,
    }
    assert signed_rules({"a": BEST_F1} | read_rules({"b": "mad:3"}, scored)) == {
        "threshold": "best_f1",
        "thresholds": {"b": "mad:3"},
    }


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        ({"c": 1}, InputError, "`thresholds` to name detectors in `scores`, got 'c'"),
        ({"score2": 1}, InputError, "Did you mean 'score'?"),
        ({"score": "high"}, InputError, r"`thresholds\['score'\]` to be a number or a known rule"),
        (float("nan"), InputError, r"`thresholds\['score'\]` to be a number, or inf, got nan"),
        (True, InputTypeError, r"`thresholds\['score'\]` to be a number or a rule, got True"),
    ],
)
def test_messages_about_rules_of_detectors(rules, error, message):
    with pytest.raises(error, match=message):
        read_rules(rules, {"score": ()})
    with pytest.raises(InputTypeError, match="`scores` beside `thresholds`, got none"):
        read_rules(3, {})


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
    ("alarms:often", InputError, "`alarms` to be COUNT/DURATION such as 2/week, 1/day, 5/8h"),
    ("alarms:1/month", InputError, "`alarms` to have a period of fixed length, got '1/month'"),
    ({"alarms": (1, 2, 3)}, InputError, "to be a number or a known rule"),
    ({"a": 1, "b": 2}, InputError, "to be a number or a known rule"),
    ([1], InputTypeError, r"Expected `threshold` to be a number or a rule, got \[1\]"),
    (float("nan"), InputError, "Expected `threshold` to be a number, or inf, got nan"),
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
        (-(10**400), -float("inf")),  # no score is beyond
        ({"quantile": 1}, 1.0),
        ("quantile:0.25", 0.25),
    ],
)
def test_values_are_exact(given, value):
    rule = ThresholdRule.read(given)
    assert (type(rule.value), rule.value) == (type(value), value)
    assert rule.kind == ("number" if isinstance(given, (float, int, np.number)) else "quantile")
