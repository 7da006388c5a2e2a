"""`--significance` of `closecall score` and `closecall curve`: the library's numbers, in words."""

import csv
import io
import json

import numpy as np
import pytest

from closecall.chance import significance
from closecall.signature import parse

LENGTH = 600
TRUTH = np.zeros(LENGTH, dtype=int)
TRUTH[[*range(100, 120), *range(333, 340), *range(500, 504)]] = 1
ALARMS = np.roll(TRUTH, 3)
ALARMS[500:510] = 0
ALARMS[220:224] = 1
SCORES = np.convolve(TRUTH, np.arange(8), "same")


@pytest.fixture
def results(run, tmp_path):
    times = np.datetime64("2024-05-01T00:00:00") + 300 * np.arange(LENGTH)
    lines = [",".join(map(str, row)) for row in zip(times, TRUTH, ALARMS, SCORES, strict=True)]
    (tmp_path / "results.csv").write_text("\n".join(["time,label,alarm,score", *lines]))
    return ("results.csv", "--truth", "label", "--time", "time")


def test_json_holds_everything(run, results):
    plain = json.loads(run("score", *results, "--predicted", "alarm", "--format", "json").stdout)
    found = run("score", *results, "--predicted", "alarm", "--format", "json", "--significance")
    values = json.loads(found.stdout)
    test = values.pop("significance")
    assert values.pop("signature") == test["signature"]
    assert parse(plain.pop("signature")).adding(n=1000) == parse(test["signature"])
    assert values == plain
    expected = significance(TRUTH, ALARMS).to_dict()
    assert test["n"] == expected["n"]
    assert test["f1"] == expected["f1"]
    assert test["events"][2]["f1_pvalue"] is None
    assert test["events"][0]["start"] == "2024-05-01T08:20:00"


def test_csv_adds_columns(run, results):
    found = run("score", *results, "--predicted", "alarm", "--format", "csv", "--significance=200")
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    events = significance(TRUTH, ALARMS, n=200).events
    for name in ("precision", "recall", "f1"):
        for column in ("pvalue", "adjusted_pvalue"):
            values = [float(row[f"{name}_{column}"] or "nan") for row in rows]
            np.testing.assert_array_equal(values, getattr(getattr(events, name), column))
    assert rows[2]["f1_pvalue"] == ""
    assert "delay" in rows[0]


def test_without_alarms(run, tmp_path):
    (tmp_path / "none.csv").write_text("truth,predicted\n0,0\n1,0\n0,0\n")
    found = run("score", "none.csv", "--significance=20")
    assert found.exit_code == 0
    assert "There are no alarms to move, so F1 is undefined." in found.stdout
    rows = [line.split() for line in found.stdout.splitlines()]
    assert ["recall", "0.00", "0.00", "+/-", "0.00", "0.00", "1", "of", "1", "1"] in rows
    assert ["F1", "-", "-", "-", "-", "-"] in rows


def test_a_curve_tests_its_best_f1_first(run, results):
    found = run("curve", *results, "--score", "score", "--significance", "50")
    both = significance(TRUTH, scores=SCORES, n=50)
    assert both.sentence in " ".join(found.stdout.split())
    assert found.stdout.index("\nbest F1  ") < found.stdout.index("\naverage precision  ")
    test = both.average_precision
    row = f"{test.mean:.2f} +/- {test.std:.2f}"
    assert row in found.stdout
    values = json.loads(
        run("curve", *results, "--score", "score", "--format", "json", "--significance=50").stdout
    )
    assert values["significance"]["average_precision"] == pytest.approx(test.to_dict())
    assert "chosen" in values


def test_a_threshold_that_the_labels_did_not_choose_is_not_chosen_again(run, results):
    options = ("--score", "score", "--threshold", "9", "--significance", "50")
    found = run("curve", *results, *options)
    test = significance(TRUTH, scores=SCORES, threshold=9, n=50)
    assert test.sentence in " ".join(found.stdout.split())
