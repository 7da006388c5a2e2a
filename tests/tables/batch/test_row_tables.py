"""Rows under their columns, each under its series' own key."""

from __future__ import annotations

from datetime import date

import pyarrow as pa

from closecall.tables.batch.question import Question
from closecall.tables.batch.row_tables import Keys, rows_table


def test_keys_are_repeated_in_the_types_of_the_table():
    keys = Keys(["day", "site"])
    table = pa.table(
        {
            "day": pa.array([date(2024, 1, 1)], pa.date32()),
            "site": pa.array(["n"], pa.large_string()),
        }
    )
    keys.add((date(2024, 1, 1), "n"), table, 2)
    keys.add((date(2024, 1, 2), None), table, 1)
    days, sites = keys.arrays()
    assert days.type == pa.date32()
    assert days.to_pylist() == [date(2024, 1, 1), date(2024, 1, 1), date(2024, 1, 2)]
    assert sites.type == pa.large_string()
    assert sites.to_pylist() == ["n", "n", None]


def test_keys_that_the_table_does_not_hold_take_the_type_of_their_values():
    keys = Keys(["site"])
    keys.add(("n",), pa.table({"label": [0]}), 1)
    assert keys.arrays()[0].type == pa.string()


def test_columns_have_types_of_their_own_even_without_rows():
    question = Question.ask(truth="label", score="a")
    schema = rows_table(Keys([]), [], question).schema
    assert schema.names == list(question.row_columns)
    assert schema.field("reason").type == pa.string()
    assert schema.field("alarmed_events").type == pa.int64()
    assert schema.field("chance_f1").type == pa.float64()
