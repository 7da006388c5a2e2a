"""0/1 vectors of every type and make, what is refused, and where the runs of ones are."""

from itertools import groupby

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.labels import read_labels, runs

TRUTH = [0, 1, 1, 0, 0, 1, 0, 1]
PREDICTED = [0, 0, 1, 1, 0, 0, 0, 1]
WIDTHS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64", ">f4", ">f8"]

makers = {
    "list": list,
    "tuple": tuple,
    "bools": lambda labels: [bool(label) for label in labels],
    "floats": lambda labels: [float(label) for label in labels],
    "numpy bools": lambda labels: np.array(labels, dtype=bool),
    "strided bools": lambda labels: np.repeat(np.array(labels, dtype=bool), 3)[1::3],
    "strided": lambda labels: np.repeat(np.array(labels, dtype=np.int8), 2)[::2],
    "backward": lambda labels: np.array(labels[::-1], dtype=np.uint8)[::-1],
    "column of a matrix": lambda labels: np.array([labels, labels]).T[:, 1],
    "read-only": lambda labels: np.frombuffer(bytes(labels), dtype=np.uint8),
    "pandas": pd.Series,
    "pandas Int64": lambda labels: pd.Series(labels, dtype="Int64"),
    "pandas UInt8": lambda labels: pd.Series(labels, dtype="UInt8"),
    "pandas Float64": lambda labels: pd.Series(labels, dtype="Float64"),
    "pandas boolean": lambda labels: pd.Series(labels).astype("boolean"),
    "pandas bool": lambda labels: pd.Series(labels, index=list("hgfedcba")).astype(bool),
    "pandas arrow": lambda labels: pd.Series(labels, dtype="int8[pyarrow]"),
    "pandas index": pd.Index,
    "polars": pl.Series,
    "polars bool": lambda labels: pl.Series(labels).cast(pl.Boolean),
    "polars small": lambda labels: pl.Series(labels, dtype=pl.UInt8),
    "arrow": pa.array,
    "arrow bool": lambda labels: pa.array([bool(label) for label in labels]),
    "arrow chunks": lambda labels: pa.chunked_array([labels[:3], labels[3:]]),
    "arrow bool chunks": lambda labels: pa.chunked_array([pa.array(map(bool, labels))]),
    **{
        dtype: lambda labels, dtype=dtype: np.array(labels, dtype=dtype)
        for dtype in (*WIDTHS, *FLOATS, ">i4", ">u2")
    },
}


@pytest.mark.parametrize("make", makers.values(), ids=makers)
def test_every_type_gives_the_same_score(make):
    expected = cc.affiliation(TRUTH, PREDICTED)
    found = cc.affiliation(make(TRUTH), make(PREDICTED))
    assert found.to_dict() == expected.to_dict()
    assert cc.Events.from_labels(make(TRUTH)) == cc.Events([(1, 3), (5, 6), (7, 8)])


def test_types_may_differ_between_the_sides():
    mixed = cc.affiliation(np.array(TRUTH, dtype=bool), pl.Series(PREDICTED, dtype=pl.Float32))
    assert mixed.to_dict() == cc.affiliation(TRUTH, PREDICTED).to_dict()


def message(error, labels):
    with pytest.raises(error) as caught:
        read_labels(labels, "truth")
    return str(caught.value)


MAP = "scikit-learn's detectors return -1 for anomalies: pass `labels == -1`."
SCORES = "These look like scores: pass `scores >= threshold`."
OTHER = "Pass `labels != 0` if every other value marks an anomaly."
UNKNOWN = "Drop the samples without a label, or decide what they are."


@pytest.mark.parametrize(
    ("labels", "got", "hint"),
    [
        ([0, 1, 2], "2 at index 2", OTHER),
        ([0, -1, 1], "-1 at index 1", MAP),
        ([-1.0, 1.0], "-1.0 at index 0", MAP),
        ([-2, 0], "-2 at index 0", OTHER),
        ([0, 0.5], "0.5 at index 1", SCORES),
        ([1.0, float("nan")], "nan at index 1", UNKNOWN),
        ([0.0, float("inf")], "inf at index 1", SCORES),
        (np.array([0, 255], dtype=np.uint8), "255 at index 1", OTHER),
        (np.array([0, 2**64 - 1], dtype=np.uint64), f"{2**64 - 1} at index 1", OTHER),
        (np.array([1, np.nan], dtype=np.float32), "nan at index 1", UNKNOWN),
        (pl.Series([0.0, float("nan")]), "nan at index 1", UNKNOWN),
    ],
)
def test_not_binary(labels, got, hint):
    assert message(InputError, labels) == (
        f"Expected `truth` labels to be 0 or 1, got {got}.\n\nHint: {hint}"
    )


def test_the_first_bad_label_is_shown():
    labels = np.zeros(1000, dtype=np.int64)
    labels[[400, 700]] = 3
    assert "got 3 at index 400." in message(InputError, labels)


@pytest.mark.parametrize("labels", [[], np.zeros(0), pd.Series([], dtype=bool), pl.Series([])])
def test_empty(labels):
    assert message(InputError, labels) == (
        "Expected `truth` to have at least one sample, got an empty vector."
    )


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["0", "1"], "str_"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), "datetime64"),
        (np.array([1], dtype="timedelta64[s]"), "timedelta64"),
        ([1j], "complex128"),
    ],
)
def test_not_labels(labels, kind):
    assert message(InputTypeError, labels) == (
        "Expected `truth` to be a vector of 0 and 1, or closecall.Events, "
        f"got values of type {kind}.\n\nHint: Convert the labels to integers or booleans first."
    )


@pytest.mark.parametrize("labels", [[0, 1, None], [True, False, None], [0, 1, pd.NA]])
def test_none_among_labels_is_shown_where_it_is(labels):
    with pytest.raises((InputError, InputTypeError)) as caught:
        read_labels(labels, "truth")
    assert "`truth`" in str(caught.value)
    assert "index 2" in str(caught.value)


@pytest.mark.parametrize("labels", [[True, False], [1, 0]])
def test_objects_are_read_or_called_objects(labels):
    column = pd.Series(labels, dtype=object)
    try:
        found = read_labels(column, "truth")
    except InputTypeError as error:
        # "got values of type bool; convert the labels to booleans" would send nobody anywhere.
        assert "object" in str(error)  # noqa: PT017 - either answer is right
    else:
        assert found.tolist() == [1, 0]


def test_intervals_where_a_vector_is_expected():
    assert message(InputTypeError, [(2, 4), (6, 7)]) == (
        "Expected `truth` to be one-dimensional, got an array of shape (2, 2).\n\n"
        "Hint: Pass one column. Intervals go in `closecall.Events([(start, stop), ...])`."
    )


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30))
@example([1])
@example([0])
@example([1, 1])
@example([0, 1])
@example([1, 0])
def test_runs(labels):
    expected, position = [], 0
    for label, group in groupby(labels):
        length = len(list(group))
        if label:
            expected.append((position, position + length))
        position += length
    first, after = runs(np.array(labels))
    assert list(zip(first.tolist(), after.tolist(), strict=True)) == expected


def test_labels_are_not_changed():
    labels = np.array(TRUTH, dtype=bool)
    cc.affiliation(labels, labels)
    assert labels.tolist() == [bool(label) for label in TRUTH]
