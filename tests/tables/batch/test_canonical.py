"""One order of rows, whatever order they come in."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa

from closecall.tables.batch.canonical import in_order
from closecall.tables.batch.question import Question

QUESTION = Question.ask(by=["site", "series"], truth="label", score=["z", "a"])


def part(site, series, detector, event=None):
    row = {"site": [site], "series": [series], "detector": [detector]}
    return pa.table({**row, **({} if event is None else {"event": [event]})})


def test_keys_then_detectors_as_given_then_events():
    wanted = [
        part("n", 2, "z", 0),
        part("n", 2, "z", 1),
        part("n", 2, "a", 0),
        part("n", 10, "z", 0),
        part("s", 1, "a", 0),
    ]
    for tables in permutations(wanted):
        assert in_order(tables, QUESTION).equals(pa.concat_tables(wanted).combine_chunks())


def test_detectors_in_a_column_are_keys():
    question = Question.ask(by=["detector"], truth="label", score="score")
    table = in_order([pa.table({"detector": ["b"]}), pa.table({"detector": ["a"]})], question)
    assert table["detector"].to_pylist() == ["a", "b"]


def test_missing_keys_come_last_and_units_without_rows_do_no_harm():
    empty = pa.table(
        {"site": pa.nulls(0), "series": pa.nulls(0), "detector": pa.array([], "string")}
    )
    table = in_order([empty, part(None, 1, "z"), part("n", 1, "z")], QUESTION)
    assert table["site"].to_pylist() == ["n", None]


def test_keys_of_half_precision_are_sorted_too():
    question = Question.ask(by="series", truth="label", score="a")
    keys = pa.array(np.array([2.5, -1, 0.5], dtype=np.float16))
    rows = in_order([pa.table({"series": keys, "detector": ["a"] * 3})], question)
    assert rows["series"].type == pa.float16()
    assert rows["series"].to_pylist() == [-1, 0.5, 2.5]
