"""Tables of every kind in, the same rows out; nothing and nobody is lost on the way."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import random
import shutil
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from math import inf, nan
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.evaluated_time import advice
from closecall.series import read_scored
from closecall.tables.batch import evaluate
from closecall.tables.batch.engines import Engine, Outcome, run
from closecall.tables.batch.evaluate import Batch, evaluate_frame
from closecall.tables.batch.journal import Journal
from closecall.tables.batch.long_series import LongSeries
from closecall.tables.batch.options import BatchOptions
from tests.tables.batch.groups import HandMade, group, random_series

DATA = Path(os.environ.get("CLOSECALL_DATA", "../shared/data"))
NAB = DATA / "nab" / "scores.parquet"
NAB_DETECTORS = ["numenta", "relativeEntropy"]


def dirty_series():
    """Series in every trouble among sound ones, by name."""
    generator = np.random.default_rng(21)
    sound = {name: random_series(generator, length) for name, length in (("b", 40), ("a", 30))}
    base = random_series(generator, 20)
    return {
        **sound,
        "no event": {**base, "label": np.zeros(20, dtype=np.int8)},
        "nan": {**base, "a": np.where(np.arange(20) == 3, nan, base["a"])},
        "constant": {**base, "b": np.full(20, 0.25)},
        "labels": {**base, "label": np.arange(20, dtype=np.int8)},
        "repeated": base,
        "backward": base,
        "single": {name: column[:1] for name, column in base.items()},
    }


def times_of(name, length):
    stamps = np.datetime64("2024-01-01", "ns") + np.arange(length) * np.timedelta64(60, "s")
    if name == "repeated":
        stamps[7] = stamps[6]
    if name == "backward":
        stamps[[7, 8]] = stamps[[8, 7]]
    return stamps


def table_of(series):
    tables = [
        pa.table(
            {
                "series": pa.array([name] * len(columns["label"])),
                "t": times_of(name, len(columns["label"])),
                **columns,
            }
        )
        for name, columns in series.items()
    ]
    return pa.concat_tables(tables).combine_chunks()


SERIES = dirty_series()
TABLE = table_of(SERIES)
ASKED = {"by": "series", "truth": "label", "score": ["b", "a"], "time": "t"}


def as_polars(result):
    return pl.from_arrow(result.table)


def same(first, second):
    assert_frame_equal(as_polars(first), as_polars(second), check_exact=True)
    assert first.signature == second.signature


@pytest.fixture(scope="module")
def result():
    return evaluate_frame(TABLE, **ASKED)


def test_one_row_for_each_series_and_detector_in_the_one_order(result):
    keys = list(zip(*(result.table[x].to_pylist() for x in ("series", "detector")), strict=True))
    assert keys == [(name, detector) for name in sorted(SERIES) for detector in ("b", "a")]


def test_every_trouble_is_told_and_the_others_go_on(result):
    statuses = {(r["series"], r["detector"]): r["status"] for r in result.table.to_pylist()}
    assert statuses == {
        **{(name, detector): "ok" for name in ("a", "b") for detector in ("a", "b")},
        **{("no event", detector): "no_event" for detector in ("a", "b")},
        ("nan", "a"): "nan_score",
        ("nan", "b"): "ok",
        ("constant", "a"): "ok",
        ("constant", "b"): "constant_score",
        **{("labels", detector): "bad_labels" for detector in ("a", "b")},
        **{("repeated", detector): "bad_times" for detector in ("a", "b")},
        **{("backward", detector): "bad_times" for detector in ("a", "b")},
        **{("single", detector): "bad_times" for detector in ("a", "b")},
    }
    reasons = result.table["reason"].to_pylist()
    assert [reason is None for reason in reasons] == [
        status == "ok" for status in result.table["status"].to_pylist()
    ]
    assert all("\n" not in reason for reason in reasons if reason)


def test_each_row_is_what_evaluate_gives(result):
    checked = 0
    for row in result.table.to_pylist():
        if row["status"] != "ok":
            continue
        columns = SERIES[row["series"]]
        scores, times = columns[row["detector"]], times_of("", len(columns["label"]))
        threshold = cc.affiliation_curve(columns["label"], scores, times=times).best().threshold
        plain = cc.evaluate(
            columns["label"],
            scores >= threshold,
            scores=scores,
            times=times,
            metrics=["affiliation", "affiliation_average_precision"],
        )
        assert row["threshold"] == threshold
        assert {name: row[name] for name in plain} == plain
        checked += 1
    assert checked == 6


def test_a_table_for_engines_of_ones_own(result):
    options = BatchOptions.read(**ASKED)
    rows = evaluate.evaluate_table(TABLE, options)
    assert rows.schema == evaluate.rows_schema(options, TABLE.schema)
    assert_frame_equal(pl.from_arrow(rows), as_polars(result), check_exact=True)
    assert evaluate.evaluate_table(TABLE.slice(0, 0), options).schema == rows.schema
    polars = (
        pl.from_arrow(TABLE)
        .group_by("series")
        .map_groups(lambda group: pl.from_arrow(evaluate.evaluate_table(group.to_arrow(), options)))
    )
    order = {"by": ["series"], "maintain_order": True}
    assert_frame_equal(polars.sort(**order), as_polars(result).sort(**order), check_exact=True)


def test_a_table_of_ones_own_is_refused_with_the_remedy():
    with pytest.raises(InputError, match="a `threshold` that each series decides by itself"):
        evaluate.rows_schema(BatchOptions.read(**ASKED, threshold="cross_fit"))
    with pytest.raises(InputTypeError, match="`options` to be BatchOptions"):
        evaluate.evaluate_table(TABLE, ASKED)
    with pytest.raises(InputTypeError, match="`schema` to be a pyarrow Schema"):
        evaluate.rows_schema(BatchOptions.read(**ASKED), {"a": None})
    with pytest.raises(InputError, match="`by` to name a column of `schema`"):
        evaluate.rows_schema(BatchOptions.read(**ASKED), TABLE.schema.remove(0))
    with pytest.raises(InputTypeError, match="`table` to be a pyarrow Table"):
        evaluate.evaluate_table(ASKED, BatchOptions.read(**ASKED))
    with pytest.raises(InputError, match="every series to be evaluated, with `strict=True`"):
        evaluate.evaluate_table(TABLE, BatchOptions.read(**ASKED, strict=True))


def duckdb_relation(_folder):
    return pytest.importorskip("duckdb").connect().from_arrow(TABLE)


def dask_frame(_folder):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(TABLE.to_pandas(), npartitions=3, sort=False)


def parquet_file(folder):
    pq.write_table(TABLE, folder / "series.parquet", row_group_size=50)
    return folder / "series.parquet"


def csv_file(folder):
    pl.from_arrow(TABLE).write_csv(folder / "series.csv")
    return folder / "series.csv"


def parquet_folder(folder):
    half = TABLE.num_rows // 2
    pq.write_table(TABLE.slice(0, half), folder / "0.parquet")
    pq.write_table(TABLE.slice(half), folder / "1.parquet")
    return folder


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda _: TABLE, pa.Table),
        (lambda _: TABLE.to_pandas(), pd.DataFrame),
        (lambda _: pl.from_arrow(TABLE), pl.DataFrame),
        (lambda _: pl.from_arrow(TABLE).lazy(), pl.DataFrame),
        (duckdb_relation, pa.Table),
        (dask_frame, pd.DataFrame),
        (parquet_file, pa.Table),
        (csv_file, pa.Table),
        (parquet_folder, pa.Table),
        (lambda folder: str(parquet_folder(folder) / "*.parquet"), pa.Table),
    ],
    ids=["arrow", "pandas", "polars", "lazy", "duckdb", "dask", "parquet", "csv", "folder", "glob"],
)
def test_every_kind_of_table_gives_the_same_rows_back_in_kind(result, make, kind, tmp_path):
    found = evaluate_frame(make(tmp_path), **ASKED)
    assert type(found.rows) is kind
    columns = [name for name in result.table.column_names if name != "reason"]
    assert_frame_equal(as_polars(found)[columns], as_polars(result)[columns], check_exact=True)
    assert len(found.rows) == 2 * len(SERIES)


def test_the_parts_of_a_giant_series_really_are_parts(tmp_path, monkeypatch):
    columns = random_series(np.random.default_rng(5), 5000)
    path = tmp_path / "giant.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=500)
    read_in_small_units(monkeypatch, 1000)
    asked = {"truth": "label", "score": ["a", "b"]}
    for options in (
        {"threshold": 0.8, "metrics": ["affiliation"]},
        {},
        {"threshold": "best_f1_global"},
        {"threshold": 0.8, "metrics": ["affiliation"], "since": 700},
    ):
        same(
            evaluate_frame(path, **asked, **options),
            evaluate_frame(pa.table(columns), **asked, **options),
        )


def test_the_bar_moves_with_each_part_of_a_giant_series(tmp_path, monkeypatch):
    columns = random_series(np.random.default_rng(5), 1000)
    pq.write_table(pa.table(columns), tmp_path / "giant.parquet", row_group_size=100)
    read_in_small_units(monkeypatch)
    moved = []

    @contextmanager
    def bar(what, total, counted, *, show):
        moved.append(-total)
        yield (lambda *, advance: moved.append(advance)), print

    monkeypatch.setattr(evaluate, "progress_bar", bar)
    asked = {"truth": "label", "score": "a", "threshold": 0.8, "metrics": ["affiliation"]}
    evaluate_frame(tmp_path / "giant.parquet", **asked)
    assert moved == [-1000, *[100] * 10, 0]
    moved.clear()
    evaluate_frame(tmp_path / "giant.parquet", **asked, workers=2)
    assert moved == [-1000, 1000]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, True),
        ({"threshold": 0.8}, True),  # average precision is asked for, too
        ({"threshold": 0.8, "metrics": ["affiliation"]}, False),
        ({"threshold": 0.8, "metrics": ["affiliation"], "time": "t", "disorder": "sort"}, True),
        ({"threshold": 0.8, "metrics": ["affiliation"], "until": 4000}, True),
    ],
)
def test_people_are_told_when_a_giant_series_is_held_in_memory(
    tmp_path, monkeypatch, capsys, options, said
):
    columns = {**random_series(np.random.default_rng(5), 5000), "t": np.arange(5000)}
    pq.write_table(pa.table(columns), tmp_path / "giant.parquet", row_group_size=500)
    read_in_small_units(monkeypatch, 1000)
    monkeypatch.setattr("closecall.tables.batch.evaluate._LARGE", 5000)
    path = tmp_path / "giant.parquet"
    evaluate_frame(path, truth="label", score="a", progress=True, **options)
    text = " ".join(capsys.readouterr().err.split())
    assert ("One series of 5,000 samples is read into memory" in text) == said
    evaluate_frame(path, truth="label", score="a", progress=False, **options)
    assert capsys.readouterr().err == ""


RULES = ["best_f1", "best_f1_global", "cross_fit", "quantile:0.9", 0.8]


@pytest.mark.parametrize("threshold", RULES)
def test_every_engine_gives_the_same(threshold):
    asked = {**ASKED, "threshold": threshold, "per_event": True}
    here = evaluate_frame(TABLE, **asked)
    with ThreadPoolExecutor(2) as pool:
        there = evaluate_frame(TABLE, **asked, engine=pool)
    same(here, there)
    assert_frame_equal(
        pl.from_arrow(here.event_table), pl.from_arrow(there.event_table), check_exact=True
    )


@pytest.mark.parametrize("threshold", ["best_f1_global", "cross_fit"])
def test_worker_processes_give_the_same(tmp_path, threshold):
    path = parquet_file(tmp_path)
    asked = {**ASKED, "threshold": threshold, "nan": "ignore"}
    same(evaluate_frame(path, **asked, workers=2), evaluate_frame(TABLE, **asked))


@pytest.mark.parametrize(
    ("disorder", "kept"),
    [
        ("first", {"label": [0, 1, 0, 0, 0, 0], "a": [1, 9, 2, 0, 3, 1]}),
        ("last", {"label": [0, 1, 1, 0, 0, 0], "a": [1, 9, 8, 0, 3, 1]}),
        ("mean", {"label": [0, 1, 1, 0, 0, 0], "a": [1, 9, 5, 0, 3, 1]}),
    ],
)
@pytest.mark.parametrize("threshold", ["best_f1", "best_f1_global"])
def test_one_sample_of_each_time_is_kept(disorder, kept, threshold):
    """The samples at 2 are two, with one at 1 between them."""
    given = {"t": [0, 2, 1, 2, 3, 4, 5], "label": [0, 0, 1, 1, 0, 0, 0], "a": [1, 2, 9, 8, 0, 3, 1]}
    asked = {"by": "s", "truth": "label", "score": "a", "time": "t", "threshold": threshold}
    found, expected = (
        evaluate_frame(pa.table({"s": ["x"] * len(own["t"]), **own}), **asked, **options)
        for own, options in ((given, {"disorder": disorder}), ({"t": range(6), **kept}, {}))
    )
    (row,), (alone,) = found.table.to_pylist(), expected.table.to_pylist()
    assert row == pytest.approx(alone, nan_ok=True)
    assert (row["status"], row["samples"]) == ("ok", 6)


def test_disorder_mends_no_other_trouble():
    table = pa.table(
        {"t": [0, 0, 1, 2], "label": [0, 1, 0, 0], "a": ["x", "y", "z", "w"], "b": [1, 2, 3, 4]}
    )
    asked = {"truth": "label", "score": ["a", "b"], "time": "t", "disorder": "mean"}
    rows = evaluate_frame(table, **asked).table.to_pylist()
    assert [row["status"] for row in rows] == ["bad_scores", "ok"]
    late = pa.table({"t": [0, None, 1], "label": [0, 1, 0], "b": [1, 2, 3]})
    rows = evaluate_frame(late, **{**asked, "score": "b"}).table.to_pylist()
    assert rows[0]["status"] == "bad_times"


def test_disorder_options():
    def statuses(**options):
        rows = evaluate_frame(TABLE, **ASKED, **options).table.to_pylist()
        return {r["series"]: r["status"] for r in rows if r["series"] in ("repeated", "backward")}

    assert statuses() == {"repeated": "bad_times", "backward": "bad_times"}
    assert statuses(disorder="sort") == {"repeated": "bad_times", "backward": "ok"}
    for disorder in ("first", "last", "mean", "index"):
        assert statuses(disorder=disorder) == {"repeated": "ok", "backward": "ok"}


def test_strict_raises_for_the_first_series_in_trouble_with_its_key():
    with pytest.raises(InputError) as caught:
        evaluate_frame(TABLE, **ASKED, strict=True)
    assert str(caught.value) == (
        "Expected every series to be evaluated, with `strict=True`, got 'no_event' for "
        "series='no event', detector='b': Expected at least one true event "
        "(affiliation is undefined for a series without any), got none in `label`."
        "\n\nHint: Without `strict=True` it is reported in its row, and the others go "
        "on."
    )
    clean = TABLE.filter(pc.is_in(TABLE["series"], pa.array(["a", "b"])))
    assert len(evaluate_frame(clean, **ASKED, strict=True)) == 4


def test_what_a_kill_at_the_very_end_left_is_removed(tmp_path):
    out = tmp_path / "rows.parquet"
    whole = evaluate_frame(TABLE, **ASKED, out=out)
    folder = Journal(out).folder
    folder.mkdir()
    (folder / "manifest.json").write_text('{"format": "closecall journal 4"}')
    (tmp_path / "rows.parquet.lock").touch()
    assert len(evaluate_frame(TABLE, **ASKED, out=out, resume=True)) == len(whole)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_a_unit_that_strict_options_stopped_is_not_kept(tmp_path):
    out = tmp_path / "rows.parquet"
    with pytest.raises(InputError, match="with `strict=True`"):
        evaluate_frame(TABLE, **ASKED, strict=True, out=out)
    assert Journal(out).kept() == {}


def test_an_empty_table_says_so():
    for asked in (ASKED, {"truth": "label", "score": "a"}):
        with pytest.raises(InputError, match="to hold at least one series, got none"):
            evaluate_frame(TABLE.slice(0, 0), **asked)


def test_resuming_needs_an_output():
    with pytest.raises(InputTypeError, match="Expected `out` beside `resume`, got none"):
        evaluate_frame(TABLE, **ASKED, resume=True)


def read_in_small_units(monkeypatch, smallest=100):
    monkeypatch.setattr("closecall.tables.units.SMALLEST", smallest)
    monkeypatch.setattr("closecall.tables.units.LARGEST", 2 * smallest)


@pytest.mark.parametrize("threshold", ["best_f1_global", "cross_fit"])
def test_ctrl_c_keeps_what_is_finished_and_resume_does_only_the_rest(
    tmp_path, monkeypatch, threshold
):
    path, out = parquet_file(tmp_path), tmp_path / "rows.parquet"
    read_in_small_units(monkeypatch)

    evaluated = []

    def interrupted(unit, options):
        if len(evaluated) == 2:
            raise KeyboardInterrupt
        evaluated.append(unit.key)
        return real(unit, options)

    real = evaluate.evaluate_unit
    monkeypatch.setattr(evaluate, "evaluate_unit", interrupted)
    asked = {**ASKED, "threshold": threshold, "out": out}
    with pytest.raises(KeyboardInterrupt):
        evaluate_frame(path, **asked)
    assert not out.exists()
    first = list(evaluated)

    def counted(unit, options):
        evaluated.append(unit.key)
        return real(unit, options)

    monkeypatch.setattr(evaluate, "evaluate_unit", counted)
    for name in ("unit_changes", "series_changes"):  # the thresholds were kept as well
        monkeypatch.setattr(evaluate, name, None)
    result = evaluate_frame(path, **asked, resume=True)
    assert len(first) == 2
    assert Counter(evaluated).most_common(1)[0][1] == 1
    assert len(evaluated) > 3
    assert_frame_equal(pl.read_parquet(out), pl.from_arrow(result.signed_table), check_exact=True)
    monkeypatch.undo()
    same(result, evaluate_frame(TABLE, **{**ASKED, "threshold": threshold}))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("per_event", [False, True])
def test_a_finished_batch_has_nothing_to_resume(tmp_path, monkeypatch, suffix, per_event):
    asked = {**ASKED, "per_event": per_event, "out": tmp_path / f"rows.{suffix}"}
    first = evaluate_frame(TABLE, **asked)
    content = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.setattr(evaluate, "open_source", lambda *_: pytest.fail("the data were read"))
    again = evaluate_frame(TABLE, **asked, resume=True)
    assert str(again.table.to_pylist()) == str(first.table.to_pylist())
    assert repr(again) == repr(first)
    assert again.leaderboard().equals(first.leaderboard())
    if per_event:
        assert again.event_table.column_names == first.event_table.column_names
        assert again.event_table["precision"].equals(first.event_table["precision"])
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == content


@pytest.mark.parametrize(
    "other", [{"score": "a"}, {"metrics": ["classical"]}, {"per_event": True}, {"by": ()}]
)
def test_a_finished_batch_of_another_question_is_in_the_way(tmp_path, other):
    out = tmp_path / "rows.parquet"
    evaluate_frame(TABLE, **ASKED, out=out)
    with pytest.raises(InputError, match=r"rows.parquet to be unfinished, got a finished output"):
        evaluate_frame(TABLE, **{**ASKED, **other}, out=out, resume=True)


def advised_series():
    """Three series of 20 samples: one with a gap, one with a quiet start of half of the time."""
    even = np.arange(20.0)
    label = np.isin(np.arange(20), (12, 13)).astype(np.int8)
    noise = np.random.default_rng(2).random((3, 20))
    times = {"gap": even + 30 * (even > 9), "quiet": even, "plain": even}
    return {
        name: {"t": own, "label": label, "a": noise[0], "b": np.where(even < 10, 0, 1 + noise[1])}
        if name == "quiet"
        else {"t": own, "label": label, "a": noise[0], "b": noise[2]}
        for name, own in times.items()
    }


def test_series_with_gaps_or_a_quiet_start_are_counted(tmp_path, monkeypatch):
    series = advised_series()
    tables = {name: pa.table(own) for name, own in series.items()}
    alone = {
        name: advice(read_scored(own["label"], own["b"], times=own["t"], end=own["t"][-1] + 1))
        for name, own in series.items()
    }
    assert {name: [text.split()[1] for text in told] for name, told in alone.items()} == {
        "gap": ["longest"],
        "quiet": ["first"],
        "plain": [],
    }
    wide = pa.concat_tables(
        own.append_column("series", pa.array([name] * 20)) for name, own in tables.items()
    )
    asked = {"by": "series", "truth": "label", "score": ["a", "b"], "time": "t"}
    result = evaluate_frame(wide, **asked)
    gaps, quiet = result.advice
    assert gaps.startswith("1 of 3 series have gaps, steps beyond ten times the median, ")
    assert quiet.startswith("1 of 3 series begin with a tenth of the time or more without ")
    assert result.table.column_names == ["series", *result.options.row_columns]
    assert evaluate_frame(wide, **asked, max_step=2).advice == (quiet,)
    assert evaluate_frame(wide, **{**asked, "time": None}).advice == (quiet,)
    assert evaluate_frame(wide, **{**asked, "score": "a"}).advice == (gaps,)
    # A series counts once, whatever the number of its detectors.
    long = pa.concat_tables(
        wide.select(["series", "t", "label"])
        .append_column("score", wide[name])
        .append_column("detector", pa.array([name] * 60))
        for name in ("a", "b")
    )
    by_row = {**asked, "by": ["series", "detector"], "score": "score"}
    assert evaluate_frame(long, **by_row).advice == (gaps, quiet)
    # What is kept of a batch that was stopped counts as well.
    out = tmp_path / "rows.csv"
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "complete", stop)
        with pytest.raises(Stopped):
            evaluate_frame(wide, **asked, out=out)
    assert evaluate_frame(wide, **asked, out=out, resume=True).advice == (gaps, quiet)
    assert "__gap__" not in out.read_text()


def stop(*_):
    raise Stopped


class Stopped(BaseException):
    """As Ctrl-C, but it does not stop the tests as well."""


def test_a_giant_series_that_was_stopped_is_started_again(tmp_path, monkeypatch):
    path, out = tmp_path / "giant.parquet", tmp_path / "rows.parquet"
    label = np.arange(1000) // 30 % 7 == 3
    table = pa.table({"label": label, "alarm": np.arange(1000) % 9 < 2})
    pq.write_table(table, path, row_group_size=100)
    read_in_small_units(monkeypatch)
    asked = {"truth": "label", "predicted": "alarm", "metrics": ["affiliation"], "per_event": True}
    samples = []

    def stopping(whole, part):
        samples.append(part.num_rows)
        if len(samples) == 4:
            raise Stopped
        return real(whole, part)

    real = LongSeries.add
    monkeypatch.setattr(LongSeries, "add", stopping)
    with pytest.raises(Stopped):
        evaluate_frame(path, **asked, out=out)
    assert not out.exists()
    result = evaluate_frame(path, **asked, out=out, resume=True)
    assert len(samples) > 10
    assert sum(samples[4:]) == 1000
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "giant.parquet",
        "rows.events.parquet",
        "rows.parquet",
    ]
    monkeypatch.undo()
    same(result, evaluate_frame(path, **asked))
    same(result, evaluate_frame(table, **asked))


def flip(path, chance):
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def swap(path, chance):
    others = {*path.parent.iterdir()} - {path, path.with_name("manifest.json")}
    other = chance.choice(sorted(others))
    content = other.read_bytes()
    other.write_bytes(path.read_bytes())
    path.write_bytes(content)


def bomb(path, chance):
    path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n" + pickle.dumps(Bomb()))


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a file was unpickled",)


def special(make):
    def replace(path, chance):
        path.unlink()
        make(path)

    return replace


ATTACKS = {
    "a bit": flip,
    "the end": lambda path, chance: os.truncate(path, chance.randrange(path.stat().st_size)),
    "more": lambda path, _: path.write_bytes(path.read_bytes() + b"\0"),
    "nothing": lambda path, _: path.write_bytes(b""),
    "gone": lambda path, _: path.unlink(),
    "swapped": swap,
    "twice": lambda path, chance: shutil.copy(
        path, path.with_name(f"{chance.getrandbits(256):064x}{path.suffix}")
    ),
    "a pickle": bomb,
    "a deep header": lambda path, _: path.write_bytes(b"[" * 100_000),
    "a folder": special(Path.mkdir),
    "a pipe": special(os.mkfifo),
    "a link": special(lambda path: path.symlink_to(path.parents[1] / "precious")),
    "a link to nothing": special(lambda path: path.symlink_to("nowhere")),
}


def test_whatever_is_done_to_what_is_kept_no_row_is_lost_doubled_or_changed(tmp_path, monkeypatch):
    """It is evaluated again, or refused; and nothing outside of the folder is touched."""
    path, out, kept = parquet_file(tmp_path), tmp_path / "rows.parquet", tmp_path / "kept"
    asked = {**ASKED, "threshold": "best_f1_global", "per_event": True}
    read_in_small_units(monkeypatch)
    folder = tmp_path / "rows.parquet.partial"
    other = {**asked, "metrics": ["affiliation", "classical"]}  # another run
    for options, place in [(asked, kept), (other, tmp_path / "other")]:
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "complete", stop)
            with pytest.raises(Stopped):
                evaluate_frame(path, **options, out=out)
        folder.rename(place)
    evaluate_frame(path, **asked, out=out)
    whole = out.read_bytes()
    (tmp_path / "precious").write_text("years of work")
    units = {b'"thresholds"' in file.read_bytes(): file.name for file in kept.glob("*.unit")}
    names = [units[False], units[True], "manifest.json"]
    chance, refused = random.Random(7), Counter()  # noqa: S311 - no secret
    copy = "of another run"
    others = sorted((tmp_path / "other").glob("*.unit"))
    attacks = {**ATTACKS, copy: lambda file, _: shutil.copy(others[0], file)}
    for attack, name in itertools.product(attacks, names):
        out.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(kept, folder)
        attacks[attack](folder / name, chance)
        try:
            evaluate_frame(path, **asked, out=out, resume=True)
        except InputError:
            refused[attack] += 1
            assert name == "manifest.json" or "other files" in str(sys.exception())
            assert not out.exists() or out.read_bytes() == whole
        else:
            assert out.read_bytes() == whole, (attack, name)
            assert not folder.exists()
        assert (tmp_path / "precious").read_text() == "years of work"
    # Only what may be somebody's own, and what says nothing of the question, is not mended.
    own = {"a folder", "a pipe", "a link", "a link to nothing"}
    assert all(refused[attack] <= 1 for attack in attacks.keys() - own), refused


def test_a_unit_that_fails_is_named_and_the_others_finish(tmp_path, monkeypatch):
    path = parquet_folder(tmp_path)

    real = evaluate.evaluate_unit
    keys = []

    def failing(unit, options):
        keys.append(unit.key)
        if len(keys) == 1:
            raise OSError("the disk is gone")
        return real(unit, options)

    monkeypatch.setattr(evaluate, "evaluate_unit", failing)
    read_in_small_units(monkeypatch)
    result = evaluate_frame(path, **ASKED, out=tmp_path.parent / "rows.parquet")
    assert result.failures == ((keys[0], "OSError: the disk is gone"),)
    assert 0 < len(result) < 2 * len(SERIES)
    assert repr(result).endswith("; 1 unit not read)")
    assert result.units == len(keys)
    trouble = result.summary()["trouble"].to_pylist()
    assert all(text.endswith("; 1 unit not read") for text in trouble)
    assert not (tmp_path.parent / "rows.parquet").exists()
    keys.clear()
    with pytest.raises(InputError, match="the disk is gone"):
        evaluate_frame(path, **ASKED, strict=True)


@pytest.fixture(scope="module")
def nab():
    if not NAB.exists():
        pytest.skip(f"the NAB scores are not in {DATA} (CLOSECALL_DATA)")
    asked = {"by": "series", "truth": "label", "score": NAB_DETECTORS, "time": "timestamp"}
    return {
        disorder: evaluate_frame(NAB, **asked, disorder=disorder, per_event=disorder == "index")
        for disorder in ("error", "sort", "index")
    }


def test_all_of_nab_comes_through_with_every_series_accounted_for(nab):
    for result in nab.values():
        names = pq.read_table(NAB, columns=["series"])["series"].unique().to_pylist()
        keys = zip(*(result.table[x].to_pylist() for x in ("series", "detector")), strict=True)
        assert list(keys) == [(name, one) for name in sorted(names) for one in NAB_DETECTORS]
        assert len(result) == 58 * 2
        assert sum(result.table["samples"].to_pylist()) == 2 * 365_558
    counts = {
        disorder: dict(Counter(result.table["status"].to_pylist()))
        for disorder, result in nab.items()
    }
    assert counts["error"] == {"ok": 87, "bad_times": 16, "no_event": 12, "constant_score": 1}
    assert counts["sort"] == counts["error"]
    assert counts["index"] == {"ok": 103, "no_event": 12, "constant_score": 1}


def test_no_quantile_alarms_for_long_on_nab():
    if not NAB.exists():
        pytest.skip(f"the NAB scores are not in {DATA} (CLOSECALL_DATA)")
    asked = {"by": "series", "truth": "label", "score": NAB_DETECTORS, "metrics": ["affiliation"]}
    result = evaluate_frame(NAB, **asked, threshold="quantile:0.99")
    alarmed = result.table["alarmed"].to_numpy()
    assert len(alarmed) == 58 * 2
    assert (alarmed <= 0.01 + 1e-12).all()
    assert inf in result.table["threshold"].to_pylist()
    assert any("`quantile:0.99` gives no alarm" in note for note in result.notes)


def test_rows_of_nab_are_what_evaluate_gives(nab):
    table = pq.read_table(NAB)
    rows = [row for row in nab["error"].table.to_pylist() if row["status"] == "ok"]
    for row in rows[::17]:
        own = table.filter(pc.equal(table["series"].cast(pa.string()), row["series"]))
        times = own["timestamp"].to_numpy()
        steps = np.sort(np.diff(times))
        end = times[-1] + steps[steps.size // 2]
        labels, scores = own["label"].to_numpy(), own[row["detector"]].to_numpy()
        curve = cc.affiliation_curve(labels, scores, times=times, end=end)
        plain = cc.evaluate(
            labels,
            scores >= curve.best().threshold,
            metrics=["affiliation"],
            times=times,
            end=end,
        )
        assert {name: row[name] for name in plain} == plain
        assert row["affiliation_average_precision"] == curve.average_precision


GENERATOR = np.random.default_rng(41)
SIX_SERIES = [random_series(GENERATOR, 25) for _ in range(6)]
UNITS = [
    HandMade([group(f"s{k}", **SIX_SERIES[k])], key=f"unit {k}") for k in range(len(SIX_SERIES))
]
TWO_SCORES = {"by": "series", "truth": "label", "score": ["a", "b"]}


def backwards(units, function, *_, **__):
    yield from reversed(list(run(units, function)))


@pytest.fixture
def batch(monkeypatch):
    """Make batches that call their units in another way."""

    def make(units, execute=run, **options):
        monkeypatch.setattr(evaluate, "run", execute)
        return Batch(units, Engine(), progress=False, **options)

    return make


@pytest.mark.parametrize("threshold", ["best_f1", "best_f1_global"])
def test_the_order_in_which_units_finish_does_not_show(batch, threshold):
    options = BatchOptions.read(**TWO_SCORES, threshold=threshold)
    forward, reverse = (batch(UNITS, how).evaluate(options).table for how in (run, backwards))
    assert str(forward.to_pylist()) == str(reverse.to_pylist())  # nan is not itself
    assert forward["series"].to_pylist()[::2] == [f"s{k}" for k in range(6)]


def test_closing_gives_up_the_units_that_have_not_begun(batch):
    begun = []

    def execute(units, function, *_, **__):
        for unit in units:
            begun.append(unit.key)
            yield Outcome(unit.key, value=function(unit))

    bad = HandMade([group("bad", **{**SIX_SERIES[0], "label": np.full(25, 3)})], key="bad unit")
    with pytest.raises(InputError, match="series='bad', detector='a'"):
        batch([UNITS[0], bad, *UNITS[1:]], execute).evaluate(
            BatchOptions.read(**TWO_SCORES, strict=True)
        )
    assert begun == ["unit 0", "bad unit"]


def test_units_that_fail_are_listed_and_all_of_them_are_an_error(batch):
    def failing(units, function, *_, **__):
        for place, unit in enumerate(units):
            if place < 2:
                yield Outcome(unit.key, error="OSError: gone")
            else:
                yield Outcome(unit.key, value=function(unit))

    options = BatchOptions.read(**TWO_SCORES)
    result = batch(UNITS, failing).evaluate(options)
    assert result.rows["series"].to_pylist()[::2] == [f"s{k}" for k in range(2, 6)]
    assert result.failures == (("unit 0", "OSError: gone"), ("unit 1", "OSError: gone"))
    with pytest.raises(InputError, match=r"got unit 0 \(and 1 more\): OSError: gone"):
        batch(UNITS[:2], failing).evaluate(options)


GLOBAL = BatchOptions.read(**TWO_SCORES, threshold="best_f1_global")


def without_unit_3(units, function, *_, **__):
    for unit in units:
        found = {"error": "OSError: gone"} if unit.key == "unit 3" else {"value": function(unit)}
        yield Outcome(unit.key, **found)


def unit_3_once(units, function, *_, **__):
    """Fail to read a unit when thresholds are chosen, and have it back afterwards."""
    first = function.func is evaluate.unit_changes
    yield from (without_unit_3 if first else run)(units, function)


def test_a_threshold_of_some_units_is_not_kept_and_neither_is_what_it_gave(batch, tmp_path):
    journal = Journal.open(tmp_path / "rows.parquet", {"data": "as it is"})
    kept = [unit for unit in UNITS if unit.key != "unit 3"]
    whole, some = (batch(units).evaluate(GLOBAL) for units in (UNITS, kept))
    result = batch(UNITS, unit_3_once, journal=journal).evaluate(GLOBAL)
    assert result.failures == (("unit 3", "OSError: gone"),)
    assert result.thresholds == some.thresholds != whole.thresholds
    assert str(result.table.to_pylist()) == str(some.table.to_pylist())
    assert [*journal.kept()] == ["unread"]
    # There is something to go on with, also where a finished output is to be replaced.
    journal.out.touch()
    again = Journal.open(journal.out, {"data": "as it is"}, resume=True)
    rows = batch(UNITS, journal=again).evaluate(GLOBAL).table.to_pylist()
    assert str(rows) == str(whole.table.to_pylist())
    (shared, _) = journal.kept()["thresholds"]
    assert json.loads(shared["shared"][0].as_py()) == whole.thresholds


def test_no_threshold_of_nothing_and_none_of_some_units_if_strict(batch):
    strict = BatchOptions.read(**TWO_SCORES, threshold="best_f1_global", strict=True)
    for units, options in ((UNITS, strict), (UNITS[3:4], GLOBAL)):
        with pytest.raises(InputError, match="got unit 3: OSError: gone"):
            batch(units, without_unit_3).evaluate(options)


@pytest.mark.parametrize(
    "keys",
    [
        [1, 10, 9],
        ["b", "a"],
        [datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC)],
        [1.5, None],
        [b"x"],
    ],
)
def test_keys_of_folds_are_kept_with_their_types(keys):
    given = [(key, "lathe") for key in keys]
    shared = {"a": [2**63 + 1, nan, 0.1]}
    found, found_keys = evaluate._read_thresholds(evaluate._written_thresholds(shared, given))
    assert (repr(found), found_keys) == (repr(shared), given)  # nan is not equal to itself
    assert evaluate._read_thresholds(evaluate._written_thresholds({"a": 1}, [])) == ({"a": 1}, [])
