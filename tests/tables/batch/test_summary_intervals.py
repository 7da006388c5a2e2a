"""Intervals of the numbers of a summary and of their differences, with series as the units."""

from __future__ import annotations

from math import isnan

import numpy as np
import pyarrow as pa
import pytest

from closecall.errors import InputError
from closecall.statistics import Resamples, hierarchical, mean_difference, mean_interval
from closecall.tables.batch.question import Question
from closecall.tables.batch.summary_intervals import interval_rows
from closecall.tables.batch.unit import evaluate_unit

from .groups import HandMade, group, random_series

GENERATOR = np.random.default_rng(51)
UNIT = HandMade([group(f"s{k}", **random_series(GENERATOR, 40)) for k in range(8)])
ASKED = {"by": "series", "truth": "label", "score": ["a", "b"], "threshold": 0.9}
QUESTION = Question.ask(**ASKED, per_event=True)
OPTIONS = {"level": 0.9, "n": 300, "seed": 2}
COLUMNS = ["detector", "against", "number", "value", "low", "high", "probability", "caution"]


@pytest.fixture(scope="module")
def evaluated():
    return evaluate_unit(UNIT, QUESTION)


def by_key(table):
    assert table.column_names == COLUMNS
    return {(row["detector"], row["against"], row["number"]): row for row in table.to_pylist()}


def parts(row):
    return row["value"], row["low"], row["high"]


def limits(interval):
    return pytest.approx((interval.value, interval.low, interval.high), abs=1e-12)


def rows_of(values, metrics=("affiliation",)):
    """Rows in which all metrics of a detector have its number for the series, and the question."""
    question = Question.ask(by="series", truth="label", predicted=list(values), metrics=metrics)
    count = len(next(iter(values.values())))
    columns = {
        "series": pa.array([k for k in range(count) for _ in values]),
        "detector": pa.array([name for _ in range(count) for name in values]),
    }
    numbers = np.array(list(values.values()), dtype=float).T.ravel()
    return pa.table(columns | dict.fromkeys(question.metric_columns, numbers)), question


def test_means_come_from_series_and_pooled_numbers_from_their_events(evaluated):
    got = by_key(interval_rows(evaluated.rows, evaluated.events, QUESTION, **OPTIONS))
    rows, events = evaluated.rows.to_pandas(), evaluated.events.to_pandas()
    for detector in ("a", "b"):
        own, of_events = rows[rows.detector == detector], events[events.detector == detector]
        plain = mean_interval(own["affiliation_f1"], low=0, high=1, **OPTIONS)
        assert parts(got[detector, "", "mean_affiliation_f1"]) == limits(plain)
        columns = (of_events[name] for name in ("precision", "recall", "series"))
        pooled = hierarchical(*columns, **OPTIONS)
        line = got[detector, "", "pooled_affiliation_recall"]
        assert parts(line) == limits(pooled.recall)
        assert line["caution"] == pooled.caution
        assert isnan(line["probability"])


def test_differences_are_paired_over_series(evaluated):
    got = by_key(interval_rows(evaluated.rows, evaluated.events, QUESTION, **OPTIONS))
    rows, events = evaluated.rows.to_pandas(), evaluated.events.to_pandas()
    f1 = [rows[rows.detector == name]["affiliation_f1"].to_numpy() for name in "ab"]
    gap, count = mean_difference(*f1, low=0, high=1, **OPTIONS)
    line = got["a", "b", "mean_affiliation_f1"]
    assert parts(line) == limits(gap)
    assert line["probability"] == gap.probability > 0.5
    assert line["caution"].startswith(f"There are only {count} series")
    sides = [events[events.detector == name] for name in "ab"]
    drawn = Resamples.draw(
        [side["precision"] for side in sides],
        [side["recall"] for side in sides],
        sides[0]["series"].to_numpy(),
        n=300,
        seed=2,
    )
    for score, pooled in zip(
        ("precision", "recall", "f1"), drawn.differences(0, 1, 0.9), strict=True
    ):
        line = got["a", "b", f"pooled_affiliation_{score}"]
        assert parts(line) == limits(pooled)
        assert line["probability"] == pytest.approx(pooled.probability)
        assert not isnan(line["low"])
    assert ("b", "a", "mean_affiliation_f1") not in got


def test_the_order_is_each_detector_and_then_each_pair(evaluated):
    table = interval_rows(evaluated.rows, evaluated.events, QUESTION, **OPTIONS)
    pairs = list(zip(table["detector"].to_pylist(), table["against"].to_pylist(), strict=True))
    assert list(dict.fromkeys(pairs)) == [("a", ""), ("b", ""), ("a", "b")]
    numbers = table["number"].to_pylist()[:7]
    assert [name.partition("_")[0] for name in numbers] == ["mean"] * 4 + ["pooled"] * 3


def test_without_events_only_means_over_series(evaluated):
    table = interval_rows(evaluated.rows, None, QUESTION, **OPTIONS)
    assert {name.partition("_")[0] for name in table["number"].to_pylist()} == {"mean"}


def test_two_equal_series_are_not_certain_and_every_row_says_so():
    table, question = rows_of({"a": [1.0, 1.0], "b": [0.0, 0.0]})
    for (_, against, _), row in by_key(interval_rows(table, None, question, **OPTIONS)).items():
        assert row["caution"].startswith("There are only two series.")
        if against:
            assert row["value"] == 1
            assert all(isnan(row[name]) for name in ("low", "high", "probability"))
        else:
            assert row["high"] - row["low"] > 0.4
            assert row["low"] <= row["value"] <= row["high"]


def test_only_series_where_both_have_the_number_count():
    first = [0.9, 0.8, np.nan, 0.7, 1.0, 0.6, 0.9, 0.2]
    second = [0.5, np.nan, 0.4, 0.1, 0.7, 0.5, 0.3, 0.1]
    table, question = rows_of({"a": first, "b": second})
    got = by_key(interval_rows(table, None, question, **OPTIONS))
    gap, count = mean_difference(first, second, low=0, high=1, **OPTIONS)
    line = got["a", "b", "mean_affiliation_recall"]
    assert (parts(line), count) == (limits(gap), 6)
    assert line["caution"].startswith("There are only 6 series where both have this number:")
    alone = got["a", "", "mean_affiliation_recall"]["caution"]
    assert alone == ("There are only 7 series with this number: the intervals are wide, and rough.")


def test_a_metric_where_lower_is_better_and_without_bounds():
    near, far = [3.0, 5.0, 2.0, 4.0, 6.0, 3.0, 1.0], [30.0, 20.0, 25.0, 44.0, 31.0, 27.0, 30.0]
    table, question = rows_of({"near": near, "far": far}, metrics=["hausdorff"])
    got = by_key(interval_rows(table, None, question, **OPTIONS))
    line = got["near", "far", "mean_hausdorff"]
    assert line["value"] == pytest.approx(np.mean(near) - np.mean(far))
    assert line["high"] < 0
    assert line["probability"] > 0.99  # the nearer one is better
    plain = mean_interval(near, level=0.9, low=0)
    assert parts(got["near", "", "mean_hausdorff"]) == limits(plain)


def test_pooled_differences_are_over_the_series_that_both_have(evaluated):
    """The second detector lacks one series: the pair leaves it out, the first alone does not."""
    events = evaluated.events.to_pandas()
    kept = events[(events.detector == "a") | (events.series != "s3")]
    table = pa.Table.from_pandas(kept, preserve_index=False)
    got = by_key(interval_rows(evaluated.rows, table, QUESTION, **OPTIONS))
    whole = by_key(interval_rows(evaluated.rows, evaluated.events, QUESTION, **OPTIONS))
    number = "pooled_affiliation_recall"
    assert parts(got["a", "", number]) == pytest.approx(parts(whole["a", "", number]))
    common = events[events.series != "s3"].groupby("detector")["recall"].mean()
    assert got["a", "b", number]["value"] == pytest.approx(common["a"] - common["b"])
    assert got["b", "", number]["value"] == pytest.approx(common["b"])
    assert got["a", "b", number]["value"] != pytest.approx(whole["a", "b", number]["value"])


def test_one_series_has_no_means_over_series_and_says_so(evaluated):
    first = evaluated.rows.slice(0, 2)
    events = evaluated.events.filter(pa.compute.equal(evaluated.events["series"], "s0"))
    got = by_key(interval_rows(first, events, QUESTION, **OPTIONS))
    assert isnan(got["a", "", "mean_affiliation_f1"]["low"])
    assert got["a", "", "mean_affiliation_f1"]["caution"].startswith("There is only one series.")
    assert got["a", "b", "pooled_affiliation_f1"]["caution"].startswith("All events are of one se")


def test_detectors_need_not_be_named_by_text_and_may_be_none():
    question = Question.ask(by=["series", "detector"], truth="label", predicted="alarm")
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
    table, question = rows_of({"a": [1.0, 1.0]})
    with pytest.raises(InputError, match=next(iter(options))):
        interval_rows(table, None, question, **OPTIONS | options)
