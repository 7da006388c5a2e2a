"""How scores become predictions, read from what callers pass."""

from __future__ import annotations

import pytest

from closecall.errors import InputError
from closecall.frames.batch.threshold_rule import ThresholdRule


def test_nothing_means_the_best_f1_of_each_series():
    assert ThresholdRule.read(None) == ThresholdRule.read("best_f1")
    assert ThresholdRule.read("best_f1").looks_at_truth


def test_both_ways_to_ask_for_a_quantile_are_one():
    assert ThresholdRule.read("quantile:0.25") == ThresholdRule.read({"quantile": 0.25})
    assert ThresholdRule.read("quantile:0.25") == ThresholdRule("quantile", 0.25)


def test_the_hint_lists_every_rule():
    with pytest.raises(InputError, match=r'quantile": 0\.99.*best_f1.*best_f1_global') as caught:
        ThresholdRule.read("quantile")
    assert "got 'quantile'" in str(caught.value)
