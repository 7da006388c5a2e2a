"""Series and scores in one table."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from closecall.datasets.layouts.joined import OneSeries, joined
from closecall.errors import InputError


def one(name, *labels, times=None):
    column = None if times is None else pa.chunked_array([times])
    return OneSeries(name, Path(f"{name}.csv"), np.array(labels, dtype=np.uint8), column)


def test_each_series_gets_the_scores_of_its_own_file():
    read = {Path("p"): np.array([1.0, 2.0]), Path("q"): np.array([3.0])}.__getitem__
    table = joined([one("a", 0, 1), one("b", 1)], {"x": {"b": Path("q"), "a": Path("p")}}, read)
    assert table.to_pydict() == {
        "series": ["a", "a", "b"],
        "label": [0, 1, 1],
        "x": [1.0, 2.0, 3.0],
    }


def test_a_series_without_a_file_is_nan():
    table = joined([one("a", 0, 1)], {"x": {}}, lambda _: np.zeros(2))
    assert np.isnan(table["x"].to_numpy()).tolist() == [True, True]


def test_a_series_without_rows_is_not_lost_in_silence():
    with pytest.raises(InputError) as caught:
        joined([one("a", 1), one("b")], {}, lambda _: np.zeros(0))
    assert str(caught.value) == "Expected a row without empty fields in b.csv, got none."


def test_times_are_joined_in_order():
    table = joined([one("a", 1, times=[4]), one("b", 0, 1, times=[1, 9])], {}, lambda _: None)
    assert table["timestamp"].to_pylist() == [4, 1, 9]
