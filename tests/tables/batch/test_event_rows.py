"""The columns of true events, on every kind of axis."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from closecall.affiliation.result import COLUMNS
from closecall.tables.batch.question import Question
from closecall.tables.batch.unit import evaluate_unit

from .groups import HandMade, group

IN_UTC = pa.timestamp("ms", "UTC")
LABELS = [0, 1, 1, 0, 0, 1, 0, 0]
PREDICTED = [0, 0, 1, 1, 0, 0, 0, 0]


def events(time=None):
    columns = {"label": LABELS, "p": PREDICTED}
    if time is not None:
        columns["t"] = time
    question = Question.ask(
        by="series",
        truth="label",
        predicted="p",
        per_event=True,
        time=None if time is None else "t",
    )
    return evaluate_unit(HandMade([group("s", **columns)]), question).events


@pytest.mark.parametrize(
    ("time", "start", "delay"),
    [
        (None, pa.int64(), pa.float64()),
        (np.arange(8) * 10, pa.int64(), pa.float64()),
        (np.arange(8) * 0.5, pa.float64(), pa.float64()),
        (pa.array(range(8), pa.timestamp("s")), pa.timestamp("s"), pa.duration("ns")),
        (
            pa.array(range(8), pa.timestamp("ms", "UTC")),
            pa.timestamp("ms", "UTC"),
            pa.duration("ns"),
        ),
        (pa.array(range(8), pa.date32()), pa.timestamp("s"), pa.duration("ns")),
    ],
)
def test_times_and_lengths_are_of_the_axis(time, start, delay):
    table = events(time)
    assert table.column_names == [
        "series",
        "detector",
        "event",
        "first_sample",
        "last_sample",
        *(name for name in COLUMNS if name != "f1_above_chance"),
    ]
    assert table.schema.field("start").type == start
    assert table.schema.field("delay").type == delay
    assert table["first_sample"].to_pylist() == [1, 5]
    assert table["last_sample"].to_pylist() == [2, 5]


def test_what_has_no_prediction_is_missing():
    table = events(pa.array(range(8), pa.timestamp("s")))
    assert table["delay"].null_count == 1
    assert np.isnan(table["precision"].to_numpy()).tolist() == [False, True]
    assert table["recall"].to_pylist()[1] == 0
