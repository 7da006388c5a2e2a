"""Results as plain values, nested and flat."""

import json
from datetime import date, timedelta
from functools import cache
from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.datasets import demo
from closecall.plain import flat_numbers, plain

DATA = demo()
AXIS = {"times": DATA.times}
FORECAST = DATA.predicted["forecast"]
TABLE = pa.table(
    {"label": DATA.truth, "a.b": DATA.scores["forecast"], "c": DATA.scores["threshold"]}
)
CALLS = {
    "affiliation": lambda: cc.affiliation(DATA.truth, FORECAST, **AXIS),
    "no alarm": lambda: cc.affiliation([0, 1, 0], [0, 0, 0]),
    "curve": lambda: cc.affiliation_curve([0, 1, 1, 0, 0], [0.1, 0.9, 0.3, 0.4, 0.2]),
    "infinite": lambda: cc.affiliation_curve([0, 1, 1, 0, 0], [0.1, inf, 0.3, 0.4, 0.2]),
    "comparison": lambda: cc.compare(DATA.truth, {"a.b": FORECAST, "none": 0 * FORECAST}, **AXIS),
    "significance": lambda: cc.significance(DATA.truth, FORECAST, n=20, **AXIS),
    "scores": lambda: cc.significance([0, 1, 1, 0, 0], scores=[0.1, 0.9, 0.3, 0.4, 0.2]),
    "evaluated": lambda: cc.evaluate(
        DATA.truth, FORECAST, metrics=["classical", "hausdorff"], **AXIS
    ),
    "undefined": lambda: cc.evaluate([0, 1, 0], [0, 0, 0], metrics=["classical", "hausdorff"]),
    "batch": lambda: cc.evaluate_frame(TABLE, truth="label", score=["a.b", "c"]),
}


@cache
def result(name):
    return CALLS[name]()


def by_name(values):
    """The values with rows of detectors by their names, which is how flat names find them."""
    for part in ("detectors", "summary"):
        if part in values:
            values |= {part: {row["detector"]: row for row in values[part]}}
    return values


def found(values, names):
    """The value that a flat name leads to: names may have dots of their own."""
    if not names:
        return values
    for length in range(1, len(names) + 1):
        key = ".".join(names[:length])
        if isinstance(values, dict) and key in values:
            return found(values[key], names[length:])
    raise KeyError(names)


@pytest.mark.parametrize("name", CALLS)
def test_flat_values_are_numbers_of_the_nested_ones(name):
    flat, nested = result(name).to_dict(flat=True), by_name(result(name).to_dict())
    assert flat
    assert {type(key) for key in flat} == {str}
    assert {type(value) for value in flat.values()} <= {int, float}
    assert np.isfinite([*flat.values()]).all()
    for key, value in flat.items():
        assert found(nested, key.split(".")) == value
    assert json.loads(json.dumps(flat, allow_nan=False)) == flat


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("affiliation", {"f1", "caught", "chance.f1", "left_out.events"}),
        ("curve", {"average_precision", "chance.f1", "best.threshold"}),
        ("comparison", {"detectors.a.b.f1", "detectors.none.missed", "best_pair.f1"}),
        ("significance", {"n", "f1.pvalue", "precision.mean", "recall.above_chance"}),
        ("evaluated", {"classical_f1", "hausdorff"}),
        ("scores", {"n", "f1.pvalue", "average_precision.pvalue"}),
        ("batch", {"summary.a.b.mean_affiliation_f1", "summary.c.series"}),
    ],
)
def test_names_that_trackers_see(name, some):
    assert some <= set(result(name).to_dict(flat=True))


def test_what_is_no_number_is_left_out():
    flat = result("no alarm").to_dict(flat=True)
    assert "precision" not in flat
    assert "chance.exact" not in flat
    assert flat["recall"] == 0
    assert "best.threshold" not in result("infinite").to_dict(flat=True)
    assert "detectors.none.f1" not in result("comparison").to_dict(flat=True)


def test_a_batch_as_plain_values():
    batch = cc.evaluate_frame(TABLE, truth="label", score="c", per_event=True)
    values = batch.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert list(values) == ["rows", "events", "summary", "failures", "notes", "signature"]
    assert values["rows"][0]["caught"] == batch.rows["caught"][0].as_py()
    assert len(values["events"]) == 7
    assert result("batch").to_dict()["events"] is None


TEXT = st.text(max_size=3)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.dates()
NESTED = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, NESTED, max_size=3))
def test_any_plain_value_fits_json(values):
    one = plain(values)
    assert json.loads(json.dumps(one, allow_nan=False)) == one
    assert plain(one) == one
    assert {type(value) for value in flat_numbers(one).values()} <= {int, float}


def test_what_plain_values_become():
    assert plain([nan, inf, 1, True, None, "x", timedelta(minutes=2), date(2024, 1, 2)]) == [
        *(None, None, 1, True, None, "x", 120.0, "2024-01-02")
    ]
    assert plain({"a": b"x"}) == {"a": "b'x'"}
    assert plain([np.timedelta64(90, "m"), np.timedelta64("NaT", "s")]) == [5400.0, None]


def test_a_row_of_many_metrics_is_a_dictionary():
    row = result("evaluated")
    assert isinstance(row, dict)
    assert row.to_dict()["hausdorff"] == row["hausdorff"] / np.timedelta64(1, "s")
    assert result("undefined").to_dict()["classical_precision"] is None
