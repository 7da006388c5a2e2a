"""How scores become predictions, read from what callers pass."""

from __future__ import annotations

import pytest

from closecall.errors import InputError
from closecall.tables.batch.threshold_rule import ThresholdRule


def test_nothing_means_the_best_f1_of_each_series():
    assert ThresholdRule.read(None).kind == ThresholdRule.read("best_f1").kind == "best_f1"
    assert ThresholdRule.read("best_f1").looks_at_truth


def test_both_ways_to_ask_for_a_quantile_are_one():
    assert ThresholdRule.read("quantile:0.25") == ThresholdRule.read({"quantile": 0.25})
    assert ThresholdRule.read("quantile:0.25") == ThresholdRule("quantile", 0.25)


def test_the_hint_lists_every_rule():
    with pytest.raises(InputError, match=r'quantile": 0\.99.*best_f1.*best_f1_global') as caught:
        ThresholdRule.read("quantile")
    assert "got 'quantile'" in str(caught.value)


def test_a_rule_reads_as_it_is_passed():
    for given in ("best_f1", "best_f1_global", "quantile:0.25"):
        assert str(ThresholdRule.read(given)) == given
    assert [str(ThresholdRule.read(number)) for number in (3, 0.5)] == ["3", "0.5"]
    assert str(ThresholdRule("number")) == "none"


def test_integers_that_do_not_fit():
    assert ThresholdRule.read(2**64 - 1).value == 2**64 - 1
    beyond = ThresholdRule.read(2**70).value
    assert (type(beyond), beyond) == (float, 2.0**70)
    with pytest.raises(InputError, match="a number that a float can hold"):
        ThresholdRule.read(10**400)
