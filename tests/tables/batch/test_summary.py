"""What a batch comes to, against sums done by hand."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.statistics import Sample, hierarchical, mean_difference, mean_interval
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.options import BatchOptions
from closecall.tables.batch.rows import evaluate_unit
from closecall.tables.batch.summary import (
    interval_rows,
    rank_detectors,
    summarise,
    trouble_text,
    values_by_series,
)
from tests.tables.batch.groups import HandMade, group, random_series

# Two events far apart, and one: by hand, series x weighs twice as much in pooled numbers.
X = {"label": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "p": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]}
Y = {"label": [0, 0, 1, 1, 0, 0, 0, 0, 0, 0], "p": [0, 0, 1, 1, 1, 1, 0, 0, 0, 0]}
QUIET = {"label": [0] * 10, "p": [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]}
BROKEN = {"label": [0] * 9 + [3], "p": [0] * 10}
QUESTION = BatchOptions.read(by="series", truth="label", predicted="p", metrics=["affiliation"])


def rows_of(options=QUESTION, **series):
    unit = HandMade([group(name, **columns) for name, columns in series.items()])
    return evaluate_unit(unit, options).rows


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


def test_a_series_without_predictions_has_no_samples_in_the_micro_scores():
    """Its true samples are known, but its scores are not, so that nothing could be predicted."""
    options = BatchOptions.read(by="series", truth="label", score="p", threshold=0.5)
    unscored = {"label": X["label"], "p": [float("nan"), *X["p"][1:]]}
    (row,) = summarise(rows_of(options, y=Y, unscored=unscored), options).to_pylist()
    assert row["trouble"] == "1 with missing scores"
    assert (row["micro_precision"], row["micro_recall"]) == (2 / 4, 2 / 2)


def test_pooled_numbers_are_means_over_the_rows_of_events():
    generator = np.random.default_rng(12)
    series = {f"s{k}": random_series(generator, 40) for k in range(6)}
    question = BatchOptions.read(
        by="series", truth="label", score=["a", "b"], threshold=0.97, per_event=True
    )
    unit = HandMade([group(name, **columns) for name, columns in series.items()])
    result = evaluate_unit(unit, question)
    events = result.events.to_pandas()
    assert events["precision"].isna().any()
    for row in summarise(result.rows, question).to_pylist():
        part = events[events["detector"] == row["detector"]]
        assert row["pooled_events"] == len(part)
        assert row["pooled_affiliation_precision"] == pytest.approx(part["precision"].mean())
        assert row["pooled_affiliation_recall"] == pytest.approx(part["recall"].mean())


def test_micro_is_the_classical_metric_of_all_series_end_to_end():
    generator = np.random.default_rng(13)
    series = {f"s{k}": random_series(generator, 30) for k in range(4)}
    question = BatchOptions.read(by="series", truth="label", score="a", threshold=0.9)
    (row,) = summarise(rows_of(question, **series), question).to_pylist()
    truth = np.concatenate([columns["label"] for columns in series.values()])
    scores = np.concatenate([columns["a"] for columns in series.values()])
    plain = cc.metrics.classical(truth, scores >= 0.9)
    assert row["micro_precision"] == pytest.approx(plain.precision)
    assert row["micro_recall"] == pytest.approx(plain.recall)
    assert row["micro_f1"] == pytest.approx(plain.f1)


def test_by_columns_and_detectors():
    question = BatchOptions.read(by=["site", "series"], truth="label", predicted=["p", "q"])
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
    again = summarise(rows, question, ["site", "detector"]).to_pylist()
    assert str(again) == str(table.to_pylist())  # nan is not itself
    assert summarise(rows, question).column_names[0] == "detector"


def test_what_happened_comes_first():
    hours = np.datetime64("2024-01-01", "s") + np.arange(10) * np.timedelta64(6, "h")
    options = BatchOptions.read(by="series", truth="label", predicted="p", time="t")
    tables = [group(name, t=hours, **columns) for name, columns in (("x", X), ("q", QUIET))]
    (row,) = summarise(evaluate_unit(HandMade(tables), options).rows, options).to_pylist()
    results = cc.affiliation(X["label"], X["p"])
    quiet = len(cc.Events.from_labels(QUIET["p"]))
    names = ("caught", "close_calls", "missed", "pooled_events", "chance_caught")
    names += ("caught_above_chance", "mean_alarmed", "false_alarms", "false_alarms_per_day")
    assert tuple(row)[5:14] == names
    assert (row["caught"], row["pooled_events"]) == (results.caught, len(results.events))
    # Two and a half days each; every alarm on the series without an event is false.
    assert row["false_alarms"] == results.false_alarms + quiet > 0
    assert row["false_alarms_per_day"] == row["false_alarms"] / 5


def test_nothing_defined_is_nan_and_counted():
    (row,) = summarise(rows_of(quiet=QUIET), QUESTION).to_pylist()
    assert (row["series_undefined"], row["pooled_events"], row["micro_precision"]) == (1, 0, 0.0)
    for name in ("mean_affiliation_f1", "pooled_affiliation_recall", "micro_recall", "micro_f1"):
        assert row[name] == pytest.approx(nan, nan_ok=True)


def test_only_affiliation_is_pooled():
    question = BatchOptions.read(by="series", truth="label", predicted="p", metrics=["classical"])
    (row,) = summarise(rows_of(question, x=X, y=Y), question).to_pylist()
    assert not [name for name in row if name.startswith(("pooled", "mean_chance"))]
    assert row["mean_classical_recall"] == pytest.approx((0.5 + 1.0) / 2)


def test_the_level_of_chance_is_averaged_beside():
    (row,) = summarise(rows_of(x=X, y=Y), QUESTION).to_pylist()
    levels = [cc.affiliation(one["label"], one["p"]).chance.recall for one in (X, Y)]
    assert row["mean_chance_recall"] == pytest.approx(np.mean(levels))


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


RANKED = BatchOptions.read(by="series", truth="label", predicted=["x", "y", "z"])
VALUES = {
    "s1": (0.9, 0.9, 0.1),
    "s2": (0.8, nan, 0.4),
    "s3": (nan, nan, nan),
    "s4": (0.2, 0.6, 0.7),
}


def rows(values=VALUES, columns=("affiliation_f1",)):
    table = [
        {"series": name, "detector": detector, **dict.fromkeys(columns, value)}
        for name, numbers in values.items()
        for detector, value in zip("xyz", numbers, strict=True)
    ]
    return pa.Table.from_pylist(table)


def test_ranks_by_hand():
    board = rank_detectors(rows(), RANKED, "affiliation_f1").to_pylist()
    assert [line["detector"] for line in board] == ["y", "x", "z"]
    by_name = {line["detector"]: line for line in board}
    assert by_name["y"]["mean_affiliation_f1"] == pytest.approx((0.9 + 0.6) / 2)
    assert by_name["x"]["mean_affiliation_f1"] == pytest.approx((0.9 + 0.8 + 0.2) / 3)
    # Ranks on s1: 1.5, 1.5, 3; on s2: 1, 3 (undefined), 2; on s4: 3, 2, 1; s3 has none.
    assert by_name["x"]["mean_rank"] == pytest.approx((1.5 + 1 + 3) / 3)
    assert by_name["y"]["mean_rank"] == pytest.approx((1.5 + 3 + 2) / 3)
    assert by_name["z"]["mean_rank"] == pytest.approx((3 + 2 + 1) / 3)
    assert {name: line["best_on"] for name, line in by_name.items()} == {"x": 2, "y": 1, "z": 1}
    assert {name: line["undefined"] for name, line in by_name.items()} == {"x": 1, "y": 2, "z": 1}
    assert {line["series"] for line in board} == {4}


def test_nobody_has_a_value():
    board = rank_detectors(rows({"s": (nan, nan, nan)}), RANKED, "affiliation_f1").to_pylist()
    assert all(np.isnan(line["rank"]) for line in board)
    assert all(np.isnan(line["mean_rank"]) and line["best_on"] == 0 for line in board)


def test_distances_are_better_when_they_are_short():
    question = BatchOptions.read(
        by="series", truth="label", predicted=["x", "y", "z"], metrics=["hausdorff", "affiliation"]
    )
    assert not question.metric_of("hausdorff").higher_is_better
    assert question.metric_of("affiliation_f1").higher_is_better
    assert question.metric_of("chance_f1").higher_is_better
    board = rank_detectors(rows({"s": (3.0, 1.0, 2.0)}, ("hausdorff",)), question, "hausdorff")
    assert board["detector"].to_pylist() == ["y", "z", "x"]


def test_values_are_laid_out_by_detector_and_series():
    series, detectors, values = values_by_series(rows(), RANKED, "affiliation_f1")
    assert (series, detectors) == (["s1", "s2", "s3", "s4"], ["x", "y", "z"])
    np.testing.assert_array_equal(values.T, list(VALUES.values()))


def test_a_detector_without_a_value_has_no_rank_and_comes_last():
    board = rank_detectors(rows({"s": (nan, 0.5, 0.75)}), RANKED, "affiliation_f1").to_pylist()
    assert [line["detector"] for line in board] == ["z", "y", "x"]
    assert [line["rank"] for line in board[:2]] == [1.0, 2.0]
    assert np.isnan(board[2]["rank"])


GENERATOR = np.random.default_rng(51)
UNIT = HandMade([group(f"s{k}", **random_series(GENERATOR, 40)) for k in range(8)])
ASKED = {"by": "series", "truth": "label", "score": ["a", "b"], "threshold": 0.9}
SAMPLED = BatchOptions.read(**ASKED, per_event=True)
OPTIONS = {"level": 0.9, "n": 300, "seed": 2}
COLUMNS = ["detector", "against", "number", "value", "low", "high", "pvalue", "caution"]


@pytest.fixture(scope="module")
def evaluated():
    return evaluate_unit(UNIT, SAMPLED)


def by_key(table):
    assert table.column_names == COLUMNS
    return {(row["detector"], row["against"], row["number"]): row for row in table.to_pylist()}


def parts(row):
    return row["value"], row["low"], row["high"]


def limits(interval):
    return pytest.approx((interval.value, interval.low, interval.high), abs=1e-12)


def rows_with(values, metrics=("affiliation",)):
    """Rows in which all metrics of a detector have its number for the series, and the question."""
    question = BatchOptions.read(
        by="series", truth="label", predicted=list(values), metrics=metrics
    )
    count = len(next(iter(values.values())))
    columns = {
        "series": pa.array([k for k in range(count) for _ in values]),
        "detector": pa.array([name for _ in range(count) for name in values]),
    }
    numbers = np.array(list(values.values()), dtype=float).T.ravel()
    return pa.table(columns | dict.fromkeys(question.metric_columns, numbers)), question


def test_means_come_from_series_and_pooled_numbers_from_their_events(evaluated):
    got = by_key(interval_rows(evaluated.rows, evaluated.events, SAMPLED, **OPTIONS))
    rows, events = evaluated.rows.to_pandas(), evaluated.events.to_pandas()
    for detector in ("a", "b"):
        part, of_events = rows[rows.detector == detector], events[events.detector == detector]
        plain = mean_interval(part["affiliation_f1"], low=0, high=1, **OPTIONS)
        assert parts(got[detector, "", "mean_affiliation_f1"]) == limits(plain)
        columns = (of_events[name] for name in ("precision", "recall", "series"))
        pooled = hierarchical(*columns, **OPTIONS)
        line = got[detector, "", "pooled_affiliation_recall"]
        assert parts(line) == limits(pooled.recall)
        assert line["caution"] == pooled.caution
        assert isnan(line["pvalue"])


def test_differences_are_paired_over_series(evaluated):
    got = by_key(interval_rows(evaluated.rows, evaluated.events, SAMPLED, **OPTIONS))
    rows, events = evaluated.rows.to_pandas(), evaluated.events.to_pandas()
    f1 = [rows[rows.detector == name]["affiliation_f1"].to_numpy() for name in "ab"]
    gap, count = mean_difference(*f1, low=0, high=1, level=OPTIONS["level"])
    line = got["a", "b", "mean_affiliation_f1"]
    assert parts(line) == limits(gap)
    assert line["pvalue"] == gap.pvalue
    assert line["caution"].startswith(f"There are only {count} series")
    sides = [events[events.detector == name] for name in "ab"]
    sample = Sample.read(
        [side["precision"] for side in sides],
        [side["recall"] for side in sides],
        sides[0]["series"].to_numpy(),
    )
    for score, pooled in zip(
        ("precision", "recall", "f1"), sample.differences(0, 1, 0.9), strict=True
    ):
        line = got["a", "b", f"pooled_affiliation_{score}"]
        assert parts(line) == limits(pooled)
        assert line["pvalue"] == pytest.approx(pooled.pvalue)
        assert not isnan(line["low"])
    assert ("b", "a", "mean_affiliation_f1") not in got


def test_the_order_is_each_detector_and_then_each_pair(evaluated):
    table = interval_rows(evaluated.rows, evaluated.events, SAMPLED, **OPTIONS)
    pairs = list(zip(table["detector"].to_pylist(), table["against"].to_pylist(), strict=True))
    assert list(dict.fromkeys(pairs)) == [("a", ""), ("b", ""), ("a", "b")]
    numbers = table["number"].to_pylist()[:7]
    assert [name.partition("_")[0] for name in numbers] == ["mean"] * 4 + ["pooled"] * 3


def test_without_events_only_means_over_series(evaluated):
    table = interval_rows(evaluated.rows, None, SAMPLED, **OPTIONS)
    assert {name.partition("_")[0] for name in table["number"].to_pylist()} == {"mean"}


def test_two_equal_series_are_not_certain_and_every_row_says_so():
    table, question = rows_with({"a": [1.0, 1.0], "b": [0.0, 0.0]})
    for (_, against, _), row in by_key(interval_rows(table, None, question, **OPTIONS)).items():
        assert row["caution"].startswith("There are only two series.")
        if against:
            assert row["value"] == 1
            assert all(isnan(row[name]) for name in ("low", "high", "pvalue"))
        else:
            assert row["high"] - row["low"] > 0.4
            assert row["low"] <= row["value"] <= row["high"]


def test_only_series_where_both_have_the_number_count():
    first = [0.9, 0.8, np.nan, 0.7, 1.0, 0.6, 0.9, 0.2]
    second = [0.5, np.nan, 0.4, 0.1, 0.7, 0.5, 0.3, 0.1]
    table, question = rows_with({"a": first, "b": second})
    got = by_key(interval_rows(table, None, question, **OPTIONS))
    gap, count = mean_difference(first, second, low=0, high=1, level=OPTIONS["level"])
    line = got["a", "b", "mean_affiliation_recall"]
    assert (parts(line), count) == (limits(gap), 6)
    assert line["caution"].startswith("There are only 6 series where both have this number:")
    alone = got["a", "", "mean_affiliation_recall"]["caution"]
    assert alone == ("There are only 7 series with this number: the intervals are wide, and rough.")


def test_a_metric_where_lower_is_better_and_without_bounds():
    near, far = [3.0, 5.0, 2.0, 4.0, 6.0, 3.0, 1.0], [30.0, 20.0, 25.0, 44.0, 31.0, 27.0, 30.0]
    table, question = rows_with({"near": near, "far": far}, metrics=["hausdorff"])
    got = by_key(interval_rows(table, None, question, **OPTIONS))
    line = got["near", "far", "mean_hausdorff"]
    assert line["value"] == pytest.approx(np.mean(near) - np.mean(far))
    assert line["high"] < 0
    assert line["pvalue"] == 2 / 2**7  # to be nearer on all seven
    plain = mean_interval(near, level=0.9, low=0)
    assert parts(got["near", "", "mean_hausdorff"]) == limits(plain)


def test_pooled_differences_are_over_the_series_that_both_have(evaluated):
    """The second detector lacks one series: the pair leaves it out, the first alone does not."""
    events = evaluated.events.to_pandas()
    kept = events[(events.detector == "a") | (events.series != "s3")]
    table = pa.Table.from_pandas(kept, preserve_index=False)
    got = by_key(interval_rows(evaluated.rows, table, SAMPLED, **OPTIONS))
    whole = by_key(interval_rows(evaluated.rows, evaluated.events, SAMPLED, **OPTIONS))
    number = "pooled_affiliation_recall"
    assert parts(got["a", "", number]) == pytest.approx(parts(whole["a", "", number]))
    common = events[events.series != "s3"].groupby("detector")["recall"].mean()
    assert got["a", "b", number]["value"] == pytest.approx(common["a"] - common["b"])
    assert got["b", "", number]["value"] == pytest.approx(common["b"])
    assert got["a", "b", number]["value"] != pytest.approx(whole["a", "b", number]["value"])


def test_one_series_has_no_means_over_series_and_says_so(evaluated):
    first = evaluated.rows.slice(0, 2)
    events = evaluated.events.filter(pa.compute.equal(evaluated.events["series"], "s0"))
    got = by_key(interval_rows(first, events, SAMPLED, **OPTIONS))
    assert isnan(got["a", "", "mean_affiliation_f1"]["low"])
    assert got["a", "", "mean_affiliation_f1"]["caution"].startswith("There is only one series.")
    assert got["a", "b", "pooled_affiliation_f1"]["caution"].startswith("All events are of one se")


def test_detectors_need_not_be_named_by_text_and_may_be_none():
    question = BatchOptions.read(by=["series", "detector"], truth="label", predicted="alarm")
    count = 6
    table = pa.table(
        {
            "series": np.repeat(np.arange(count), 2),
            "detector": pa.array([1, 2] * count).dictionary_encode(),
            **{name: np.linspace(0, 1, 2 * count) for name in question.metric_columns},
        }
    )
    got = by_key(interval_rows(table, None, question, **OPTIONS))
    assert {key[:2] for key in got} == {(1, ""), (2, ""), (1, "2")}
    assert interval_rows(table.slice(0, 0), None, question, **OPTIONS).num_rows == 0


@pytest.mark.parametrize("options", [{"n": 99}, {"n": 2_000_000}, {"seed": -1}, {"level": 2}])
def test_options_are_checked_even_if_nothing_is_pooled(options):
    table, question = rows_with({"a": [1.0, 1.0]})
    with pytest.raises(InputError, match=next(iter(options))):
        interval_rows(table, None, question, **OPTIONS | options)


def test_pooled_differences_need_the_same_events():
    labels, scores = np.zeros(60, dtype=int), np.random.default_rng(2).random((2, 60))
    labels[[10, 30, 50]] = 1
    # Each has two events, of which they share one.
    scores[0, 8:15], scores[1, 48:55] = nan, nan
    tables = [
        pa.table({"series": [name] * 60, "label": labels, "a": scores[0], "b": scores[1]})
        for name in "xyz"
    ]
    asked = {"by": "series", "truth": "label", "score": ["a", "b"], "per_event": True}
    pooled = {}
    for way in ("each", "ignore"):
        result = cc.evaluate_frame(pa.concat_tables(tables), nan=way, **asked)
        rows = result.intervals().to_pylist()
        pooled[way] = [row["against"] for row in rows if row["number"] == "pooled_affiliation_f1"]
    assert pooled == {"each": ["", ""], "ignore": ["", "", "b"]}


def test_silence_wins_no_leaderboard():
    """Ten series of two events: one detector is perfect on one series and silent on the others."""
    label = np.tile([0, 0, 1, 0, 0, 0, 0, 1, 0, 0], 10)
    series = np.repeat(np.arange(10), 10)
    columns = {
        "series": series,
        "label": label,
        "mute": np.where(series == 0, label, 0),
        "late": np.tile([0, 0, 1, 1, 0, 0, 0, 1, 0, 0], 10),
    }
    result = evaluate_frame(
        pa.table(columns), by="series", truth="label", predicted=["mute", "late"]
    )
    board = result.leaderboard("affiliation_f1").to_pylist()
    assert [(row["detector"], row["undefined"]) for row in board] == [("late", 0), ("mute", 0)]
    assert board[1]["mean_affiliation_f1"] == pytest.approx(0.1)
    mute, late = result.summary().sort_by([("detector", "descending")]).to_pylist()
    assert (mute["mean_affiliation_f1"], mute["mean_affiliation_recall"]) == (0.1, 0.1)
    assert (mute["caught"], mute["missed"], late["caught"], late["missed"]) == (2, 18, 20, 0)
    ranks = result.ranks("affiliation_f1")
    assert ranks.detectors[0] == "late"
    assert ranks.series == 10
    means = result.intervals().to_pylist()
    found = [row for row in means if row["number"] == "mean_affiliation_f1" and not row["against"]]
    assert {row["detector"]: row["value"] for row in found}["mute"] == pytest.approx(0.1)
    # One series says so itself: nothing was predicted.
    rows = result.table.to_pylist()
    assert np.isnan([row["affiliation_f1"] for row in rows if row["detector"] == "mute"][1:]).all()
