"""What a batch gives back: tables in kind, summaries, a leaderboard, files and pictures."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from polars.testing import assert_frame_equal

from closecall.errors import InputError, MissingExtraError
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.result import in_kind
from closecall.tables.reading import read_table
from tests.tables.batch.groups import random_series

GENERATOR = np.random.default_rng(31)
SERIES = {f"s{k}": random_series(GENERATOR, 30) for k in range(4)}
SERIES["quiet"] = {**SERIES["s0"], "label": np.zeros(30, dtype=np.int8)}
SERIES["odd"] = {**SERIES["s1"], "label": np.full(30, 2, dtype=np.int8)}
TABLE = pa.concat_tables(
    [pa.table({"series": [name] * 30, **columns}) for name, columns in SERIES.items()]
)
ASKED = {"by": "series", "truth": "label", "score": ["b", "a"]}


@pytest.fixture(scope="module")
def result():
    return evaluate_frame(TABLE, **ASKED, per_event=True)


def test_the_representation_counts_every_row(result):
    assert repr(result) == (
        "BatchResult(12 rows: 8 evaluated; 2 with labels that are not 0 or 1; "
        "2 without a true event)"
    )
    assert len(result) == 12


def test_a_table_for_a_paper_says_over_how_many_series_its_means_are(result):
    assert "Mean affiliation scores over 4 of 6 series." in result.to_latex()
    label = TABLE["label"].to_numpy()
    silent = np.where(TABLE["series"].to_numpy() == "s0", 0, label == 1)  # its F1 counts as 0
    table = TABLE.append_column("all", [label == 1]).append_column("some", [silent])
    fewer = evaluate_frame(table, by="series", truth="label", predicted=["all", "some"])
    assert "Mean affiliation scores over 4 of 6 series." in fewer.to_latex()


@pytest.mark.parametrize(
    ("time", "unit"), [(None, "in samples"), ("t", "in seconds where times are dates, else in")]
)
def test_a_table_for_a_paper_says_in_which_unit_lengths_of_time_are(time, unit):
    table = TABLE.append_column("t", [list(range(30)) * 6])
    found = evaluate_frame(
        table, **ASKED, time=time, threshold=0.5, metrics=["hausdorff", "modified_hausdorff"]
    )
    assert f"hausdorff, modified hausdorff: {unit}" in found.to_latex()
    assert not evaluate_frame(table, **ASKED).length_units


def test_pandas_counts_stay_whole_numbers_where_some_are_missing():
    frame = evaluate_frame(TABLE.to_pandas(), **ASKED).rows
    odd = frame[frame["series"] == "odd"]
    assert odd["true_events"].isna().all()
    assert frame["true_events"].dtype == pd.Int64Dtype()
    assert frame["samples"].dtype == np.int64
    assert frame.loc[frame["series"] == "s0", "reason"].isna().all()


def test_every_table_comes_in_the_kind_of_the_input():
    for data, kind in ((TABLE.to_pandas(), pd.DataFrame), (pl.from_arrow(TABLE), pl.DataFrame)):
        result = evaluate_frame(data, **ASKED, per_event=True)
        tables = (
            result.rows,
            result.events,
            result.summary(),
            result.leaderboard(),
            result.intervals(n=100),
        )
        assert {type(table) for table in tables} == {kind}


def test_events_must_have_been_asked_for(result):
    assert result.events.num_rows == sum(
        row["true_events"] for row in result.table.to_pylist() if row["status"] == "ok"
    )
    with pytest.raises(InputError, match="per_event=True"):
        _ = evaluate_frame(TABLE, **ASKED).events


def test_events_of_series_without_any_are_an_empty_table():
    quiet = TABLE.filter(pa.compute.field("series") == "quiet")
    events = evaluate_frame(quiet, **ASKED, per_event=True).events
    assert (events.num_rows, events.column_names) == (0, ["series", "detector"])


def test_equal_detectors_share_the_mean_rank():
    table = TABLE.append_column("c", TABLE["a"])
    board = evaluate_frame(table, **{**ASKED, "score": ["a", "b", "c"]}).leaderboard().to_pylist()
    assert [line["rank"] for line in board] == [1.5, 1.5, 3.0]
    assert board[0]["mean_rank"] == board[1]["mean_rank"]
    assert board[0]["best_on"] == board[1]["best_on"]


def test_any_number_of_the_rows_can_be_ranked_and_no_other(result):
    board = result.leaderboard("affiliation_average_precision")
    assert board.column_names[2] == "mean_affiliation_average_precision"
    with pytest.raises(InputError, match=r"^Expected `metric` to be a number of the rows"):
        result.leaderboard("f1")
    with pytest.raises(InputError, match=r"^Expected `detector` to be a column"):
        result.leaderboard(detector="label")


def test_a_by_column_can_name_the_detectors():
    long = pa.concat_tables(
        [
            TABLE.select(["series", "label", name])
            .rename_columns(["series", "label", "score"])
            .append_column("algorithm", pa.array([name] * TABLE.num_rows))
            for name in ("a", "b")
        ]
    )
    asked = {"by": ["series", "algorithm"], "truth": "label", "score": "score"}
    board = evaluate_frame(long, **asked).leaderboard(detector="algorithm")
    wide = evaluate_frame(TABLE, **ASKED).leaderboard()
    assert board.to_pylist() == wide.to_pylist()


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_rows_are_written_as_the_path_says(result, tmp_path, name):
    result.write(tmp_path / name)
    back = pl.from_arrow(read_table(tmp_path / name))
    rows = pl.from_arrow(result.table)
    assert back.columns == [*rows.columns, "signature"]
    assert back["signature"].unique().to_list() == [str(result.signature)]
    assert [one or None for one in back["data_hash"]] == rows["data_hash"].to_list()
    assert_frame_equal(back.select("series", "status"), rows.select("series", "status"))
    assert back["samples"].to_list() == rows["samples"].to_list()


def test_the_picture_has_every_detector_and_series(result):
    heat, _ = result.plot()
    plt.close()
    assert {label.get_text() for label in heat.get_yticklabels()} == {"a", "b"}
    assert {label.get_text() for label in heat.get_xticklabels()} == set(SERIES)


def test_a_result_is_frozen(result):
    with pytest.raises(AttributeError):
        result.kind = "pandas"


def test_one_row_is_one_row():
    table = pa.table({"label": [0, 1, 0], "a": [0.1, 0.9, 0.2]})
    one = evaluate_frame(table, truth="label", score="a")
    assert repr(one) == "BatchResult(1 row: 1 evaluated)"
    assert (one.units, one.failures, one.unread) == (1, (), "")


def test_units_that_were_not_read_are_counted_where_people_look(result):
    failures = (("u1", "gone"), ("u2", "gone"))
    some = replace(result, failures=failures, units=5)
    assert repr(some).endswith("; 2 without a true event; 2 units not read)")
    assert "2 units not read" in some._repr_html_()
    plain = result.summary()["trouble"].to_pylist()
    assert some.summary()["trouble"].to_pylist() == [f"{text}; 2 units not read" for text in plain]
    # Whose series they hold is not known, so that every row of a summary says it.
    texts = some.summary(by="series")["trouble"].to_pylist()
    assert {text.rpartition("; ")[2] for text in texts} == {"2 units not read"}


def test_rows_are_written_as_their_name_says(result, tmp_path):
    with pytest.raises(InputError, match=r"to end in .parquet or .csv, got .*rows\.xlsx"):
        result.write(tmp_path / "rows.xlsx")


COUNTED = pa.table({"series": ["a", "b"], "true_events": [3, None], "f1": [0.5, float("nan")]})


def test_each_kind_keeps_its_values():
    assert in_kind(COUNTED, "arrow") is COUNTED
    frame = in_kind(COUNTED, "pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame["true_events"].tolist() == [3, pd.NA]
    assert in_kind(COUNTED, "polars").equals(pl.from_arrow(COUNTED))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_missing_package_is_named(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(MissingExtraError, match=kind):
        in_kind(COUNTED, kind)
