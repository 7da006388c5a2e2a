"""Thresholds that series share: against trying every threshold on every series."""

from __future__ import annotations

from functools import cache
from math import nan

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.tables.batch.options import BatchOptions
from closecall.tables.batch.rows import evaluate_unit
from closecall.tables.batch.thresholds import (
    Changes,
    FoldedChanges,
    PooledChanges,
    series_changes,
    unit_changes,
)
from tests.tables.batch.groups import HandMade, group, random_series


def best(units):
    pool = PooledChanges(range(len(units)))
    for key, unit in enumerate(units):
        pool.add(key, unit)
    return pool.best()


QUESTION = BatchOptions.read(
    by="series", truth="label", score=["a", "b"], threshold="best_f1_global", time=None
)


def pooled(series, detector, threshold):
    """Average over the events of all series, one evaluation after the other."""
    precision, recall = [], []
    for columns in series:
        events = cc.affiliation(columns["label"], columns[detector] >= threshold).events
        precision.extend(events.precision[~np.isnan(events.precision)])
        recall.extend(events.recall)
    mean_precision, mean_recall = np.mean(precision), np.mean(recall)
    return 2 * mean_precision * mean_recall / (mean_precision + mean_recall)


def unit_of(series, start=0):
    named = enumerate(series, start)
    return HandMade([group(f"s{number:02}", **columns) for number, columns in named])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("decimals", [1, 2, 12])
def test_the_best_of_every_threshold_of_every_series(seed, decimals):
    generator = np.random.default_rng(seed)
    series = [
        random_series(generator, length, decimals=decimals)
        for length in generator.integers(12, 40, 5)
    ]
    parts = [
        unit_changes(unit_of(series[:2]), QUESTION),
        unit_changes(unit_of(series[2:]), QUESTION),
    ]
    chosen = best(parts)
    for detector in ("a", "b"):
        every = np.unique(np.concatenate([columns[detector] for columns in series]))
        values = {h: pooled(series, detector, h) for h in every.tolist()}
        assert chosen[detector] in values
        assert values[chosen[detector]] == pytest.approx(max(values.values()), abs=1e-12)


def test_the_pooled_curve_is_exact_at_every_threshold():
    generator = np.random.default_rng(11)
    series = [random_series(generator, 60) for _ in range(4)]
    curves = [cc.affiliation_curve(columns["label"], columns["a"]) for columns in series]
    changes = Changes.merged([Changes.of_curve(curve) for curve in curves])
    assert changes.thresholds.tolist() == sorted(
        {score for columns in series for score in columns["a"].tolist()}, reverse=True
    )
    by_hand = [pooled(series, "a", h) for h in changes.thresholds]
    np.testing.assert_allclose(np.concatenate(list(changes.f1())), by_hand, rtol=0, atol=1e-12)


def test_one_series_alone_is_its_own_curve():
    columns = random_series(np.random.default_rng(3), 80)
    curve = cc.affiliation_curve(columns["label"], columns["a"])
    changes = Changes.of_curve(curve)
    np.testing.assert_allclose(np.concatenate(list(changes.f1())), curve.f1, rtol=0, atol=1e-13)
    assert changes.best() == curve.best().threshold
    assert changes.sums[1].sum() == changes.events == len(cc.Events.from_labels(columns["label"]))


def test_of_equally_good_thresholds_the_highest_is_taken():
    series = [{"label": np.array([0, 1, 0]), "a": np.array([0.1, 0.9, 0.1])}] * 2
    question = BatchOptions.read(by="series", truth="label", score="a", threshold="best_f1_global")
    assert best([unit_changes(unit_of(series), question)]) == {"a": 0.9}


def test_integers_stay_exact():
    large = 2**60
    series = [{"label": np.array([0, 1, 0]), "a": np.array([large, large + 1, large])}] * 2
    question = BatchOptions.read(by="series", truth="label", score="a", threshold="best_f1_global")
    assert best([unit_changes(unit_of(series), question)]) == {"a": large + 1}


def test_series_in_trouble_have_no_say():
    generator = np.random.default_rng(4)
    good = [random_series(generator, 30) for _ in range(2)]
    bad = random_series(generator, 30)
    troubled = [
        {**bad, "label": np.zeros(30, dtype=np.int8)},
        {**bad, "label": np.full(30, 7)},
        {**bad, "a": np.full(30, nan)},
    ]
    alone = best([unit_changes(unit_of(good), QUESTION)])
    together = best([unit_changes(unit_of([*troubled, *good]), QUESTION)])
    assert together["a"] == alone["a"]
    only = best([unit_changes(unit_of(troubled[:2]), QUESTION)])
    assert only == {}


def test_every_series_is_evaluated_at_the_shared_threshold():
    generator = np.random.default_rng(5)
    series = [random_series(generator, 30) for _ in range(3)]
    unit = unit_of(series)
    shared = best([unit_changes(unit, QUESTION)])
    rows = evaluate_unit(unit, QUESTION.with_thresholds(shared)).rows.to_pylist()
    assert len(rows) == 6
    for row in rows:
        columns = series[int(row["series"][1:])]
        plain = cc.affiliation(columns["label"], columns[row["detector"]] >= row["threshold"])
        assert row["threshold"] == shared[row["detector"]]
        assert row["affiliation_recall"] == plain.recall


def test_a_column_of_detectors_has_a_threshold_for_each():
    generator = np.random.default_rng(6)
    series = [random_series(generator, 40) for _ in range(3)]
    long = []
    for number, columns in enumerate(series):
        for detector in ("a", "b"):
            table = pa.table({"label": columns["label"], "score": columns[detector]})
            long.append(((f"s{number}", detector), table))
    question = BatchOptions.read(
        by=["series", "detector"], truth="label", score="score", threshold="best_f1_global"
    )
    wide = best([unit_changes(unit_of(series), QUESTION)])
    assert best([unit_changes(HandMade(long), question)]) == wide
    rows = evaluate_unit(HandMade(long), question.with_thresholds(wide)).rows.to_pylist()
    assert [row["detector"] for row in rows] == ["a", "b"] * 3
    assert all(row["threshold"] == wide[row["detector"]] for row in rows)


def test_the_f1_is_the_same_wherever_it_is_cut(monkeypatch):
    columns = random_series(np.random.default_rng(3), 80, decimals=12)
    changes = Changes.of_curve(cc.affiliation_curve(columns["label"], columns["a"]))
    whole, best = np.concatenate(list(changes.f1())), changes.best()
    monkeypatch.setattr("closecall.tables.batch.thresholds._AT_A_TIME", 7)
    parts = list(changes.f1())
    assert len(parts) == -(-changes.thresholds.size // 7)
    assert np.concatenate(parts).tolist() == whole.tolist()
    assert changes.best() == best


def test_a_pool_keeps_equal_scores_once():
    generator = np.random.default_rng(5)
    series = [random_series(generator, 60, decimals=1) for _ in range(40)]
    units = [unit_changes(unit_of([columns]), QUESTION) for columns in series]
    pool = PooledChanges(range(len(units)))
    for key, unit in enumerate(units):
        pool.add(key, unit)
    scores = {score for columns in series for score in columns["a"].tolist()}
    held = sum(part.thresholds.size for part in pool._parts["a"])
    assert held <= 2 * len(scores)
    merged = Changes.merged([unit["a"] for unit in units])
    assert pool.best()["a"] == merged.best()


@pytest.mark.parametrize("seed", range(3))
def test_sums_have_the_same_digits_in_whatever_order_units_arrive(seed):
    generator = np.random.default_rng(seed)
    units = [
        unit_changes(unit_of([random_series(generator, 60, decimals=1)]), QUESTION)
        for _ in range(12)
    ]
    sums = []
    for order in (range(12), generator.permutation(12).tolist()):
        pool = PooledChanges(range(12))
        for key in order:
            pool.add(key, units[key])
        sums.append([part.sums.tolist() for part in pool._parts["a"]])
    assert sums[0] == sums[1]


CROSS_FIT = {"by": "series", "truth": "label", "score": ["a", "b"], "threshold": "cross_fit"}


def table_of(series):
    parts = [table for _, table in unit_of(series).groups()]
    return pa.concat_tables(parts)


def many_series(seed, count, decimals=2):
    generator = np.random.default_rng(seed)
    lengths = generator.integers(12, 40, count)
    return [random_series(generator, length, decimals=decimals) for length in lengths]


@pytest.mark.parametrize(
    ("count", "folds", "decimals"), [(7, 3, 12), (5, 5, 1), (3, 5, 12), (11, 2, 1)]
)
def test_each_series_has_the_best_threshold_of_the_other_folds(count, folds, decimals):
    series = many_series(count, count, decimals)
    result = cc.evaluate_frame(table_of(series), **CROSS_FIT, folds=folds)
    used = min(folds, count)
    fold_of = [place * used // count for place in range(count)]

    @cache
    def by_threshold(fold, detector):
        others = [one for k, one in enumerate(series) if fold_of[k] != fold]
        every = np.unique(np.concatenate([columns[detector] for columns in others]))
        return {h: pooled(others, detector, h) for h in every.tolist()}

    for row in result.table.to_pylist():
        place, detector = int(row["series"][1:]), row["detector"]
        values = by_threshold(fold_of[place], detector)
        assert row["threshold"] in values
        assert values[row["threshold"]] == pytest.approx(max(values.values()), abs=1e-12)
        columns = series[place]
        direct = cc.affiliation(columns["label"], columns[detector] >= row["threshold"])
        assert row["affiliation_f1"] == pytest.approx(direct.f1, abs=1e-15, nan_ok=True)
        curve = cc.affiliation_curve(columns["label"], columns[detector])
        assert row["best_f1"] == pytest.approx(np.nanmax(curve.f1), abs=0)


def test_folds_are_the_same_whatever_brings_the_series():
    series = many_series(5, 9)
    options = BatchOptions.read(**CROSS_FIT, folds=4)
    units = [unit_of(series[start : start + 2], start) for start in range(0, 9, 2)]
    whole, parts = FoldedChanges(), FoldedChanges()
    whole.add("", series_changes(unit_of(series), options))
    for number in (3, 0, 4, 1, 2):
        parts.add("", series_changes(units[number], options))
    assert whole.best(4) == parts.best(4)
    assert whole.best(4)[1] == [("s03",), ("s05",), ("s07",)]


def test_keys_are_in_the_order_of_rows():
    # As text 10 comes before 9; nothing comes last.
    changes = series_changes(unit_of(many_series(1, 1)), BatchOptions.read(**CROSS_FIT))[0][1]
    pool = FoldedChanges()
    pool.add("", [((key,), changes) for key in (10, None, 9)])
    assert pool.best(3)[1] == [(10,), (None,)]


def test_a_long_table_has_the_folds_of_a_wide_one():
    wide = table_of(many_series(3, 6))
    long = pa.concat_tables(
        wide.select(["series", "label", name])
        .rename_columns(["series", "label", "score"])
        .append_column("detector", pa.array([name] * wide.num_rows))
        for name in ("a", "b")
    )
    rows = cc.evaluate_frame(wide, **CROSS_FIT, folds=3).table
    options = {**CROSS_FIT, "by": ["series", "detector"], "score": "score"}
    other = cc.evaluate_frame(long, **options, folds=3).table
    names = ["series", "detector", "threshold", "affiliation_f1", "best_f1"]
    assert other.select(names).to_pylist() == rows.select(names).to_pylist()


def test_a_single_series_has_no_others():
    result = cc.evaluate_frame(table_of(many_series(1, 1)), **CROSS_FIT)
    row = result.table.to_pylist()[0]
    assert (row["status"], row["predicted_events"]) == ("undefined", None)
    assert row["reason"] == (
        "Expected two series or more, to choose a threshold for each on others, got one."
    )
    assert not np.isnan(row["affiliation_average_precision"])


def test_other_series_without_events_choose_nothing():
    series = many_series(2, 2)
    series[1]["label"] = np.zeros_like(series[1]["label"])
    first, second = cc.evaluate_frame(
        table_of(series), **{**CROSS_FIT, "score": "a"}
    ).table.to_pylist()
    assert first["status"] == "undefined"
    assert first["reason"] == (
        "Expected a true event in the other folds of series to choose a threshold by, got none."
    )
    # The one without events is judged by the threshold of the other.
    assert second["status"] == "no_event"
    assert second["false_alarms"] == second["predicted_events"] > 0


def test_thresholds_are_chosen_on_time_before_and_judged_after():
    series = many_series(4, 4)
    for columns in series:
        columns["label"][:2], columns["label"][2], columns["label"][-2:] = 0, 1, (1, 0)
    options = {"by": "series", "truth": "label", "score": "a", "fit_until": 10}
    for rule in ("best_f1", "quantile:0.8", "mad:1"):
        rows = cc.evaluate_frame(table_of(series), threshold=rule, **options).table.to_pylist()
        for row, columns in zip(rows, series, strict=True):
            known = cc.evaluate(
                columns["label"],
                scores=columns["a"],
                threshold=rule,
                fit=[(0, 10)],
                metrics=["affiliation"],
            )
            assert row["threshold"] == known["threshold"]
            assert row["affiliation_f1"] == pytest.approx(
                known["affiliation_f1"], abs=0, nan_ok=True
            )
    rows = cc.evaluate_frame(table_of(series), threshold="best_f1_global", **options).table
    fitted = [{name: values[:10] for name, values in columns.items()} for columns in series]
    threshold = rows["threshold"][0].as_py()
    best_of_all = max(pooled(fitted, "a", h) for h in {x for c in fitted for x in c["a"].tolist()})
    assert pooled(fitted, "a", threshold) == pytest.approx(best_of_all, abs=1e-12)


def test_a_part_without_events_chooses_nothing():
    series = many_series(4, 1)
    series[0]["label"][:5] = 0
    result = cc.evaluate_frame(table_of(series), by="series", truth="label", score="a", fit_until=5)
    row = result.table.to_pylist()[0]
    assert row["status"] == "undefined"
    assert row["reason"].startswith("Expected at least one true event")


@pytest.mark.parametrize(
    ("ends", "status", "reason"),
    [
        ({"fit_until": 0}, "undefined", "`fit_until` to lie between 0 and 32, got 0."),
        ({"fit_until": 900}, "empty", "`fit_until` to lie between 0 and 32, got 900."),
        ({"since": 900}, "empty", "`since` to lie between 0 and 32, got 900."),
        ({"until": 0}, "empty", "`until` to lie between 0 and 32, got 0."),
    ],
)
def test_an_end_that_leaves_no_time_is_named(ends, status, reason):
    series = table_of(many_series(4, 1))
    row = cc.evaluate_frame(
        series, by="series", truth="label", score="a", **ends
    ).table.to_pylist()[0]
    assert row["status"] == status
    assert row["reason"] == f"Expected {reason}"


def test_the_threshold_is_chosen_again_in_each_roll():
    series = many_series(6, 2)
    options = {"by": "series", "truth": "label", "score": "a", "retune": 50}
    rows = cc.evaluate_frame(table_of(series), **options).table.to_pylist()
    for row, columns in zip(rows, series, strict=True):
        curves = [
            cc.affiliation_curve(columns["label"], np.roll(columns["a"], k))
            for k in range(columns["a"].size)
        ]
        best_f1 = [np.nanmax(curve.f1) for curve in curves]
        average = [curve.average_precision for curve in curves]
        assert row["retuned_f1"] == pytest.approx(np.mean(best_f1), abs=1e-12)
        assert row["chance_average_precision"] == pytest.approx(np.mean(average), abs=1e-12)
