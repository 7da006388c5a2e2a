"""Intervals of the numbers of a summary, from the bootstrap's own functions."""

from __future__ import annotations

import numpy as np
import pytest

from closecall.bootstrap import hierarchical, mean_interval
from closecall.frames.batch.question import Question
from closecall.frames.batch.summary_intervals import interval_rows
from closecall.frames.batch.unit import evaluate_unit

from .groups import HandMade, group, random_series

GENERATOR = np.random.default_rng(51)
UNIT = HandMade([group(f"s{k}", **random_series(GENERATOR, 40)) for k in range(6)])
QUESTION = Question.ask(by="series", truth="label", score=["a", "b"], threshold=0.9, per_event=True)


def test_means_come_from_series_and_pooled_numbers_from_their_events():
    result = evaluate_unit(UNIT, QUESTION)
    table = interval_rows(result.rows, result.events, QUESTION, level=0.9, n=300, seed=2)
    got = {(row["detector"], row["number"]): row for row in table.to_pylist()}
    rows, events = result.rows.to_pandas(), result.events.to_pandas()
    for detector in ("a", "b"):
        own, of_events = rows[rows.detector == detector], events[events.detector == detector]
        plain = mean_interval(own["affiliation_f1"], level=0.9, low=0, high=1)
        line = got[detector, "mean_affiliation_f1"]
        assert (line["value"], line["low"], line["high"]) == pytest.approx(
            (plain.value, plain.low, plain.high)
        )
        pooled = hierarchical(
            of_events["precision"],
            of_events["recall"],
            of_events["series"],
            level=0.9,
            n=300,
            seed=2,
        )
        line = got[detector, "pooled_affiliation_recall"]
        assert (line["value"], line["low"], line["high"]) == pytest.approx(
            (pooled.recall.value, pooled.recall.low, pooled.recall.high)
        )
        assert line["caution"] == pooled.caution


def test_without_events_only_means_over_series():
    result = evaluate_unit(UNIT, QUESTION)
    table = interval_rows(result.rows, None, QUESTION, level=0.9, n=300, seed=2)
    assert {name.partition("_")[0] for name in table["number"].to_pylist()} == {"mean"}
