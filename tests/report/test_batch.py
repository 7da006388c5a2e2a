"""A page of many series scores what a batch scores, to the digit, and says what it cannot."""

import re
from datetime import datetime, timedelta
from math import isnan, nan
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.report import report_batch
from tests.report.conftest import page_of
from tests.report.test_explorer import block

LABELS = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
ONE = [0.1, 0.6, 0.9, 0.4, 0.1, 0.2, 0.5, 0.3, 0.2, 0.7]
OTHER = [0.3, 0.2, 0.1, 0.8, 0.9, 0.1, 0.4, 0.6, 0.5, 0.2]
OFF = [1, 0, 0, 1, 0, 0, 0, 1, 0, 0]
START = np.datetime64("2024-03-01", "us")
DETECTORS = ("one", "other")
# Minutes of the samples: even, uneven, with a repeated one, and going back.
MINUTES = {
    "even": range(10),
    "uneven": [0, 1, 2, 3, 4, 6, 7, 9, 12, 14],
    "repeated": [0, 1, 2, 3, 4, 4, 5, 6, 7, 8],
    "back": [0, 1, 2, 4, 3, 5, 6, 7, 8, 9],
    "quiet": range(10),
    "gaps": range(10),
    "odd labels": range(10),
}


def columns():
    rows = {name: [] for name in ("series", "t", "label", *DETECTORS, "value", "off")}
    for name, minutes in MINUTES.items():
        rows["series"] += [name] * 10
        rows["t"] += [START + np.timedelta64(60 * minute, "s") for minute in minutes]
        labels = {"quiet": [0] * 10, "odd labels": [2, *LABELS[1:]]}.get(name, LABELS)
        rows["label"] += labels
        rows["one"] += [nan, *ONE[1:]] if name == "gaps" else ONE
        rows["other"] += OTHER
        rows["value"] += [None, *range(9)]
        rows["off"] += OFF
    return rows


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "table.parquet"
    pq.write_table(pa.table(columns()), file)
    return file


def scored(page):
    return {
        (one["name"], row["name"]): row
        for one in block(page, "report")["series"]
        for row in one.get("detectors", ())
    }


def after(minutes):
    return (START + np.timedelta64(int(60 * minutes), "s")).item()


EVALUATED = {
    "all": {},
    "a column": {"ignore": "off"},
    "from": {"since": after(1.5)},
    "everything": {"ignore": "off", "since": after(1), "until": after(9)},
    "nothing but the uneven one": {"since": after(12)},
}


@pytest.mark.parametrize("disorder", ["error", "sort", "index"])
@pytest.mark.parametrize("evaluated", EVALUATED.values(), ids=EVALUATED)
def test_the_same_series_are_scored_as_in_a_batch(path, disorder, evaluated):
    options = {"truth": "label", "time": "t", "by": "series", "disorder": disorder, **evaluated}
    page = page_of(path, scores=DETECTORS, value="value", script="cdn", **options)
    result = cc.evaluate_frame(path, score=DETECTORS, **options)
    every = {(row["series"], row["detector"]): row for row in result.rows.to_pylist()}
    rows = {key: row for key, row in every.items() if not isnan(row["affiliation_f1"])}
    found = scored(page)
    assert found.keys() == rows.keys()
    assert ("uneven", "one") in found
    if not evaluated:
        assert {name for name, _ in found} >= {"even", "gaps"}
        assert (("back", "one") in found) == (disorder != "error")
        assert (("repeated", "one") in found) == (disorder == "index")
        assert (("gaps", "one") in found, ("gaps", "other") in found) == (False, True)
    for key, row in rows.items():
        for score in ("precision", "recall", "f1"):
            assert found[key][score] == row[f"affiliation_{score}"], key
            assert found[key]["chance"][score] == row[f"chance_{score}"], key
        assert found[key]["threshold"] == row["threshold"]
    board = {
        row["detector"]: row["mean_affiliation_f1"] for row in result.leaderboard().to_pylist()
    }
    for detector in DETECTORS:
        scores = [row["f1"] for (_, name), row in found.items() if name == detector]
        assert np.mean(scores) == pytest.approx(board[detector], abs=1e-15)
    spread = {
        (one.series, detector): one.status
        for one in page.troubles
        for detector in (DETECTORS if one.detector is None else (one.detector,))
    }
    assert spread == {key: row["status"] for key, row in every.items() if key not in rows}


def test_what_is_wrong_is_on_the_page_with_a_hint(path):
    page = page_of(path, truth="label", time="t", by="series", scores=DETECTORS, script="cdn")
    listed = {one["name"]: one.get("status") for one in block(page, "report")["series"]}
    assert listed["back"] == (
        "bad_times: Expected `t` to be strictly increasing, got 2024-03-01 00:03:00 after "
        "2024-03-01 00:04:00 at index 4. Hint: --disorder sort puts samples in the order of "
        "their times, and first, last or mean also keeps one of each; index counts samples instead."
    )
    assert listed["quiet"].startswith("no_event: Expected at least one true event")
    assert listed["odd labels"].startswith("bad_labels: Expected `label`")
    assert listed["odd labels"].endswith(
        "Hint: Write 1 where a value marks an anomaly, and 0 elsewhere."
    )
    assert listed["even"] is listed["gaps"] is None
    (gap,) = [trouble for trouble in page.troubles if trouble.series == "gaps"]
    assert (gap.detector, gap.status) == ("one", "nan_score")
    assert gap.reason == "Expected `one` to be numbers, or inf, got nan at index 0."
    assert gap.hint == "--nan ignore leaves out samples without a score."


def test_series_without_a_key_are_series(tmp_path):
    table = pa.table(
        {"by": ["a"] * 10 + [None] * 10 + [""] * 10, "label": LABELS * 3, "s": ONE + OTHER + ONE}
    )
    pq.write_table(table, tmp_path / "keys.parquet")
    page = page_of(tmp_path / "keys.parquet", truth="label", scores=["s"], by="by", script="cdn")
    assert page.series == ("a", "(no name)", "(no name) 2")
    f1 = [cc.affiliation_curve(LABELS, scores).best().fbeta for scores in (ONE, OTHER, ONE)]
    assert [row["f1"] for row in scored(page).values()] == f1


def test_several_columns_tell_series_apart(tmp_path):
    table = pa.table(
        {"a": ["x", "y"] * 10, "b": [1] * 20, "label": sorted(LABELS * 2), "s": ONE * 2}
    )
    pq.write_table(table, tmp_path / "keys.parquet")
    options = {"truth": "label", "by": ["a", "b"]}
    page = page_of(tmp_path / "keys.parquet", scores=["s"], script="cdn", **options)
    assert page.series == ("x, 1", "y, 1")
    rows = cc.evaluate_frame(table, score="s", **options).rows.to_pylist()
    assert [row["f1"] for row in scored(page).values()] == [row["affiliation_f1"] for row in rows]


def test_times_in_a_zone_are_sorted_and_stay_in_it():
    zone = ZoneInfo("Europe/Paris")
    start = datetime(2024, 1, 1, tzinfo=zone)
    times = [start + timedelta(minutes=minute) for minute in MINUTES["uneven"]]
    order = [3, 1, 2, 0, 4, 5, 6, 7, 9, 8]
    series = {"truth": LABELS, "scores": {"a": ONE}, "predicted": {"b": LABELS}, "values": ONE}
    labels, values = ([column[place] for place in order] for column in (LABELS, ONE))
    mixed = {"truth": labels, "scores": {"a": values}, "predicted": {"b": labels}, "values": values}
    pages = [
        report_batch({"s": {**one, "times": stamps}}, disorder="sort", script="cdn")
        for one, stamps in ((series, times), (mixed, [times[place] for place in order]))
    ]
    first, second = (block(page, "series-0") for page in pages)
    note, *rest = second.pop("advice")
    assert note == "Samples are put in the order of their times: 3 went back."
    assert rest == first.pop("advice")
    assert first == second
    # The median step is one minute.
    explicit = {**series, "times": times, "end": times[-1] + timedelta(minutes=1)}
    page = block(report_batch({"s": explicit}, script="cdn"), "series-0")
    assert page.pop("advice") == []
    assert "|disorder:sort|" in first["signature"]
    assert page | {"signature": first["signature"]} == first


def test_true_events_go_with_uneven_times():
    truth = cc.Events([(2, 4), (12, 14)])
    series = {"truth": truth, "scores": ONE, "times": MINUTES["uneven"]}
    page = report_batch({"s": series}, script="cdn")
    curve = cc.affiliation_curve(truth, ONE, times=MINUTES["uneven"], end=15)
    assert scored(page)["s", "detector"]["f1"] == curve.best().fbeta
    back = {**series, "times": MINUTES["back"]}
    page = report_batch({"s": series, "back": back}, disorder="index", script="cdn")
    assert [(one.series, one.status) for one in page.troubles] == [("back", "bad_times")]


def test_a_column_is_never_cut_to_the_order_of_time():
    series = {"truth": LABELS, "scores": [*ONE, 1.0], "times": MINUTES["back"]}
    with pytest.raises(InputError, match=r"`scores` to have as many values as samples \(10\), got"):
        report_batch({"s": series}, disorder="sort")


def test_thresholds_of_a_detector_in_trouble_do_no_harm():
    series = {"truth": LABELS, "scores": {"a": [nan, *ONE[1:]], "b": ONE}}
    page = report_batch({"s": {**series, "thresholds": {"a": 0.5, "b": 0.4}}}, script="cdn")
    assert scored(page)["s", "b"]["threshold"] == 0.4
    with pytest.raises(InputError, match=r"`scores\['a'\]` to be numbers, or inf, got nan at in"):
        report_batch({"s": {"truth": LABELS, "scores": {"a": [nan, *ONE[1:]]}}})


def test_a_batch_lists_what_cannot_be_scored():
    series = {
        "good": {"truth": LABELS, "scores": ONE},
        "quiet": {"truth": [0, 0], "scores": [1, 2]},
        "odd": {"truth": LABELS, "scores": ONE, "value": ONE},
        "bare": {"scores": ONE},
    }
    page = report_batch(series, script="cdn")
    assert page.series == tuple(series)
    about = block(page, "report")
    assert [one.get("status", "scored").partition(",")[0] for one in about["series"]] == [
        "scored",
        (
            "no_event: Expected at least one true event "
            "(affiliation is undefined for a series without any)"
        ),
        "failed: Expected the arguments of 'odd' to be those of `report`",
        "failed: Expected the arguments of 'bare' to be those of `report`",
    ]
    assert (
        about["series"][0]["detectors"][0]["recall"]
        == cc.affiliation_curve(LABELS, ONE).best().recall
    )
    assert repr(page).startswith("Report('closecall report', 4 series, detectors: detector;")


GOOD = {"a": {"truth": LABELS, "scores": ONE}}
QUIET = {"quiet": {"truth": [0, 0], "scores": [1, 2]}}
REFUSED = {
    "`series` to map at least one name to arguments, got {}": ({}, {}, InputTypeError),
    "arguments of 'a' to be those of `report`, by name, got int": ({"a": 3}, {}, InputTypeError),
    "at least one true event": (QUIET, {}, UndefinedMetricError),
    "`title` to be text, got 3": (GOOD, {"title": 3}, InputTypeError),
    "`disorder` to be 'error', 'sort' or 'index', got": (GOOD, {"disorder": "drop"}, InputError),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    series, options, kind = REFUSED[message]
    with pytest.raises(kind, match=re.escape(message)):
        report_batch(series, **options)


def test_rows_of_a_batch_are_shown_and_nothing_opens(show, tmp_path):
    labels = [0, 1, 1, 0, 0, 0, 1, 0]
    table = pa.table({"s": ["x"] * 8 + ["y"] * 8, "label": labels * 2, "a": labels + [0, 1] * 4})
    result = cc.evaluate_frame(table, by="s", truth="label", predicted="a")
    result.write(tmp_path / "rows.parquet")
    page = show(page_of(tmp_path / "rows.parquet", title="rows"))
    cells = page.locator(".heat-map td.heat").all_text_contents()
    f1 = result.table.column("affiliation_f1").to_pylist()
    assert cells == [f"{value:.2f}" for value in f1]
    assert page.locator("#signature").text_content() == str(result.signature)
    assert page.locator(".heat-map a").count() == 0
    assert page.locator(".leaderboard tbody tr").count() == 1
    page.evaluate("location.hash = '#series=0'")
    assert page.locator(".leaderboard").count() == 1
