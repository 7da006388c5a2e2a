"""What a batch comes to, against sums done by hand."""

from __future__ import annotations

from math import nan

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.tables.batch.question import Question
from closecall.tables.batch.summary import summarise, trouble_text
from closecall.tables.batch.unit import evaluate_unit

from .groups import HandMade, group, random_series

# Two events far apart, and one: by hand, series x weighs twice as much in pooled numbers.
X = {"label": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "p": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]}
Y = {"label": [0, 0, 1, 1, 0, 0, 0, 0, 0, 0], "p": [0, 0, 1, 1, 1, 1, 0, 0, 0, 0]}
QUIET = {"label": [0] * 10, "p": [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]}
BROKEN = {"label": [0] * 9 + [3], "p": [0] * 10}
QUESTION = Question.ask(by="series", truth="label", predicted="p", metrics=["affiliation"])


def rows_of(question=QUESTION, **series):
    unit = HandMade([group(name, **columns) for name, columns in series.items()])
    return evaluate_unit(unit, question).rows


def test_means_pooled_and_micro_by_hand():
    (row,) = summarise(rows_of(x=X, y=Y, quiet=QUIET, broken=BROKEN), QUESTION).to_pylist()
    first, second = (cc.affiliation(one["label"], one["p"]) for one in (X, Y))
    # x: one event is hit exactly, the other has nothing: precision (1), recall (1 + 0) / 2.
    assert (first.precision, first.recall) == (1.0, 0.5)
    assert row["series"] == 4
    assert row["series_ok"] == 2
    assert row["series_undefined"] == 2
    assert row["trouble"] == "1 without a true event; 1 with labels that are not 0 or 1"
    assert row["mean_affiliation_precision"] == pytest.approx((1.0 + second.precision) / 2)
    assert row["mean_affiliation_recall"] == pytest.approx((0.5 + 1.0) / 2)
    assert row["mean_affiliation_f1"] == pytest.approx((first.f1 + second.f1) / 2)
    assert row["pooled_events"] == 3
    precision, recall = (1.0 + second.precision) / 2, (1.0 + 0.0 + 1.0) / 3
    assert row["pooled_affiliation_precision"] == pytest.approx(precision)
    assert row["pooled_affiliation_recall"] == pytest.approx(recall)
    assert row["pooled_affiliation_f1"] == pytest.approx(
        2 * precision * recall / (precision + recall)
    )
    # Samples: 1 + 2 of the 1 + 4 + 3 predicted ones are true, of 2 + 2 true ones in all.
    assert row["micro_precision"] == pytest.approx(3 / 8)
    assert row["micro_recall"] == pytest.approx(3 / 4)
    assert row["micro_f1"] == pytest.approx(1 / 2)


def test_pooled_numbers_are_means_over_the_rows_of_events():
    generator = np.random.default_rng(12)
    series = {f"s{k}": random_series(generator, 40) for k in range(6)}
    question = Question.ask(
        by="series", truth="label", score=["a", "b"], threshold=0.97, per_event=True
    )
    unit = HandMade([group(name, **columns) for name, columns in series.items()])
    result = evaluate_unit(unit, question)
    events = result.events.to_pandas()
    assert events["precision"].isna().any()
    for row in summarise(result.rows, question).to_pylist():
        own = events[events["detector"] == row["detector"]]
        assert row["pooled_events"] == len(own)
        assert row["pooled_affiliation_precision"] == pytest.approx(own["precision"].mean())
        assert row["pooled_affiliation_recall"] == pytest.approx(own["recall"].mean())


def test_micro_is_the_classical_metric_of_all_series_end_to_end():
    generator = np.random.default_rng(13)
    series = {f"s{k}": random_series(generator, 30) for k in range(4)}
    question = Question.ask(by="series", truth="label", score="a", threshold=0.9)
    (row,) = summarise(rows_of(question, **series), question).to_pylist()
    truth = np.concatenate([columns["label"] for columns in series.values()])
    scores = np.concatenate([columns["a"] for columns in series.values()])
    plain = cc.metrics.classical(truth, scores >= 0.9)
    assert row["micro_precision"] == pytest.approx(plain.precision)
    assert row["micro_recall"] == pytest.approx(plain.recall)
    assert row["micro_f1"] == pytest.approx(plain.f1)


def test_by_columns_and_detectors():
    question = Question.ask(by=["site", "series"], truth="label", predicted=["p", "q"])
    tables = []
    for site, name, columns in (("n", "x", X), ("n", "y", Y), ("s", "x", Y), ("s", "q", QUIET)):
        both = {**columns, "q": columns["label"]}
        tables.append(
            ((site, name), pa.table({"site": [site] * 10, "series": [name] * 10, **both}))
        )
    rows = evaluate_unit(HandMade(tables), question).rows
    table = summarise(rows, question, "site")
    assert table.column_names[:2] == ["site", "detector"]
    got = {(row["site"], row["detector"]): row for row in table.to_pylist()}
    assert list(got) == [("n", "p"), ("n", "q"), ("s", "p"), ("s", "q")]
    assert got["n", "q"]["mean_affiliation_f1"] == 1.0
    assert got["s", "p"]["mean_affiliation_f1"] == pytest.approx(
        cc.affiliation(Y["label"], Y["p"]).f1
    )
    assert (got["s", "p"]["series"], got["s", "p"]["series_ok"]) == (2, 1)
    assert summarise(rows, question, ["site", "detector"]).equals(table)
    assert summarise(rows, question).column_names[0] == "detector"


def test_nothing_defined_is_nan_and_counted():
    (row,) = summarise(rows_of(quiet=QUIET), QUESTION).to_pylist()
    assert (row["series_undefined"], row["pooled_events"], row["micro_precision"]) == (1, 0, 0.0)
    for name in ("mean_affiliation_f1", "pooled_affiliation_recall", "micro_recall", "micro_f1"):
        assert row[name] == pytest.approx(nan, nan_ok=True)


def test_only_affiliation_is_pooled():
    question = Question.ask(by="series", truth="label", predicted="p", metrics=["classical"])
    (row,) = summarise(rows_of(question, x=X, y=Y), question).to_pylist()
    assert not [name for name in row if name.startswith(("pooled", "mean_chance"))]
    assert row["mean_classical_recall"] == pytest.approx((0.5 + 1.0) / 2)


def test_the_level_of_chance_is_averaged_beside():
    (row,) = summarise(rows_of(x=X, y=Y), QUESTION).to_pylist()
    levels = [cc.affiliation(one["label"], one["p"]).chance.recall for one in (X, Y)]
    assert row["mean_chance_recall"] == pytest.approx(np.mean(levels))


def test_the_level_of_average_precision_is_averaged_beside():
    generator = np.random.default_rng(5)
    series = {name: random_series(generator, 30) for name in ("x", "y")}
    question = Question.ask(
        by="series", truth="label", score="a", metrics=["affiliation_average_precision"]
    )
    (row,) = summarise(rows_of(question, **series), question).to_pylist()
    curves = [cc.affiliation_curve(one["label"], one["a"]) for one in series.values()]
    expected = np.mean([curve.chance_average_precision for curve in curves])
    assert row["mean_chance_average_precision"] == pytest.approx(expected)


def test_unknown_columns_are_named():
    rows = rows_of(x=X)
    with pytest.raises(InputError, match=r"got 'label'\.\n\nHint: There is: series, detector"):
        summarise(rows, QUESTION, "label")
    with pytest.raises(InputTypeError, match="`by` to be a column"):
        summarise(rows, QUESTION, 3)


def test_trouble_is_said_in_words_the_most_frequent_first():
    assert trouble_text(["ok", "ok"]) == ""
    statuses = ["failed", "bad_times", "ok", "bad_times"]
    assert trouble_text(statuses) == (
        "2 with times that repeat, go back or cannot be used; 1 that failed"
    )
