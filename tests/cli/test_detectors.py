"""Several detectors, columns of scores and other metrics in one command."""

import csv
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo
from closecall.signature import parse

DEMO = "demo.csv --truth label --time time"
LABELS = "--predicted threshold --predicted forecast"
SCORES = "--score threshold_score --score forecast_score"


@pytest.fixture(autouse=True)
def files(demo_file):
    return demo_file


def printed(run, text, kind="json"):
    result = run(*text.split(), "--format", kind)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout) if kind == "json" else result.stdout


def rows(run, text):
    return list(csv.DictReader(io.StringIO(printed(run, text, "csv"))))


def test_several_detectors_are_scored_as_each_by_itself(run):
    both = printed(run, f"score {DEMO} {LABELS}")
    assert [record["detector"] for record in both["detectors"]] == ["threshold", "forecast"]
    for record in both["detectors"]:
        name = record.pop("detector")
        alone = printed(run, f"score {DEMO} --predicted {name}")
        assert alone.pop("notes") == both["notes"] == []
        assert alone.pop("schema") == both["schema"]
        assert record == alone
    assert both["signature"] not in (record["signature"] for record in both["detectors"])
    events = rows(run, f"score {DEMO} {LABELS}")
    assert {row.pop("signature") for row in events} == {both["signature"]}
    assert [row["detector"] for row in events] == ["threshold"] * 7 + ["forecast"] * 7
    alone = rows(run, f"score {DEMO} --predicted forecast")
    assert len({row.pop("signature") for row in alone}) == 1
    assert [{"detector": "forecast", **row} for row in alone] == events[7:]


def test_curves_of_several_detectors(run):
    both = printed(run, f"curve {DEMO} {SCORES} --points 5 --fit-until 2024-03-10")
    for record in both["detectors"]:
        name = record.pop("detector")
        alone = printed(run, f"curve {DEMO} --score {name} --points 5 --fit-until 2024-03-10")
        alone.pop("notes")
        assert alone.pop("schema") == both["schema"]
        ways = parse(record.pop("signature")).options, parse(alone.pop("signature")).options
        assert ways[0] == {"threshold": "all"}
        assert ways[1] == parse(both["signature"]).options
        assert record == alone
    points = rows(run, f"curve {DEMO} {SCORES} --points 5")
    alone = rows(run, f"curve {DEMO} --score forecast_score --points 5")
    assert (
        len({row.pop("signature") for row in points} | {row.pop("signature") for row in alone}) == 2
    )
    found = [row for row in points if row.pop("detector") == "forecast_score"]
    assert found == alone


@pytest.mark.parametrize("command", ["score", "curve", "compare"])
def test_patterns_name_detectors(run, command):
    assert printed(run, f"{command} {DEMO} --score *_score") == printed(
        run, f"{command} {DEMO} {SCORES}"
    )


def test_scores_are_cut_by_a_rule(run):
    data = demo()
    cut = cc.choose_threshold(None, data.scores["forecast"], "quantile:0.97").threshold
    expected = cc.affiliation(data.truth, data.scores["forecast"] >= cut, times=data.times)
    report = printed(run, f"score {DEMO} --score forecast_score --threshold quantile:0.97")
    assert report["threshold"] == cut
    assert report["notes"] == []
    assert report["f1"] == expected.f1
    text = printed(run, f"score {DEMO} --score forecast_score --threshold 30", "table")
    assert text.splitlines()[1].startswith("threshold 30   precision 0.99   recall ")
    best = printed(run, f"score {DEMO} --score forecast_score")
    assert best["threshold"] == cc.affiliation_curve(
        data.truth, data.scores["forecast"], times=data.times
    ).best().threshold  # fmt: skip
    assert "chosen on the labels" in best["notes"][-1]
    mixed = printed(run, f"score {DEMO} --predicted forecast --score forecast_score --threshold 30")
    assert ["threshold" in record for record in mixed["detectors"]] == [False, True]


@pytest.mark.parametrize("command", ["score", "compare"])
def test_every_command_reads_the_same_rules(run, command):
    data = demo()
    cut, budget = (
        cc.choose_threshold(None, data.scores["forecast"], rule, times=data.times).threshold
        for rule in ("quantile:0.97", "alarms:2/7d")
    )
    given = "--threshold quantile:0.9 --threshold forecast_score=quantile:0.97"
    found = printed(run, f"{command} {DEMO} {SCORES} {given}")["detectors"]
    assert [record["threshold"] for record in found if record["detector"] == "forecast_score"] == [
        cut
    ]
    found = printed(run, f"{command} {DEMO} {SCORES} --threshold forecast_score=alarms:2/7d")
    cuts = {record["detector"]: record["threshold"] for record in found["detectors"]}
    assert cuts == {"threshold_score": 165.4, "forecast_score": budget}
    options = parse(found["signature"]).options
    assert options["threshold"] == "best_f1"
    assert options["thresholds"] == {"forecast_score": "alarms:2/7d"}
    noted = printed(run, f"{command} {DEMO} {SCORES} --threshold forecast_score=sigma:-1")["notes"]
    assert any(note.startswith("forecast_score: `sigma:-1` puts ") for note in noted)


def test_metrics_of_detectors(run):
    data = demo()
    asked = "--metric classical --metric margin:margin=10min --metric hausdorff"
    found = printed(run, f"score {DEMO} {LABELS} {asked}")["detectors"]
    for record in found:
        expected = cc.evaluate(
            data.truth, data.predicted[record["detector"]], times=data.times,
            metrics={"classical": {}, "margin": {"margin": data.times[2] - data.times[0]},
                     "hausdorff": {}},
        )  # fmt: skip
        expected["hausdorff"] = expected["hausdorff"] / np.timedelta64(1, "s")
        assert record["metrics"] == expected
    table = rows(run, f"score {DEMO} {LABELS} {asked}")
    assert [row["detector"] for row in table] == ["threshold", "forecast"]
    assert float(table[1]["classical_f1"]) == found[1]["metrics"]["classical_f1"]
    told = printed(run, f"score {DEMO} {LABELS} {asked}", "table")
    assert "margin_recall" in told
    assert re.search(r"^hausdorff +2 d 20 h +1 d 4 h *$", told, re.MULTILINE)


def test_undefined_numbers_are_blank(run, tmp_path):
    (tmp_path / "quiet.csv").write_text("truth,a,s\n" + "1,0,5\n0,0,1\n0,0,1\n")
    asked = "score quiet.csv --metric classical"
    assert printed(run, f"{asked} --predicted a")["metrics"]["classical_precision"] is None
    table = rows(run, f"{asked} --predicted a --score s")
    assert [row["classical_precision"] for row in table] == ["", "1.0"]
    assert [row["threshold"] for row in table] == ["", "5"]


def test_all_metrics_of_scores(run):
    rows = zip(demo().truth[1::8].tolist(), demo().scores["forecast"][1::8].tolist(), strict=True)
    Path("few.csv").write_text("truth,s\n" + "".join(f"{label},{score}\n" for label, score in rows))
    found = printed(run, "score few.csv --score s --threshold 30 --metric all")
    expected = cc.evaluate(demo().truth[1::8], scores=demo().scores["forecast"][1::8], threshold=30)
    assert found["metrics"].keys() == expected.keys() - {"threshold"}
    assert found["metrics"]["vus_roc"] == expected["vus_roc"]
    assert found["metrics"]["event_wise_f1"] == expected["event_wise_f1"]


def test_metrics_beside_a_list_of_events(run, tmp_path):
    run(*f"score {DEMO} --predicted forecast --format csv --output list.csv".split())
    command = "score list.csv demo.csv --time time --metric classical --metric auc_roc"
    found = printed(run, f"{command} --score forecast_score --threshold 30")["metrics"]
    data = demo()
    options = {"times": data.times, "metrics": ["classical", "auc_roc"]}
    expected = cc.evaluate(data.truth, scores=data.scores["forecast"], threshold=30, **options)
    expected.pop("threshold")
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert math.isclose(found[name], value, rel_tol=1e-12), name
    labels = printed(run, command.rpartition(" --metric")[0] + " --predicted forecast")["metrics"]
    assert set(labels) == {"classical_precision", "classical_recall", "classical_f1"}


REFUSED = {
    "score {} --predicted forecast --threshold 3": "--threshold is of --score, which is not given.",
    "score {} --score forecast_score --significance 20": "--significance goes with a --threshold",
    "curve {} --score *_score --plot x.png": "--plot draws the curve of one --score.",
    "score {} --truth label --predicted forecast": "--truth is given 2 times, and takes one value.",
    "score {} --predicted forecast --metric vus --metric vus": "--metric vus is given twice",
}
BAD = {
    "score {} --score det*": "`--score` to match a column of demo.csv, got 'det*'.",
    "score {} --score forecast_score --score f*": "named once, got 'forecast_score' 2 times.",
    "score {} --predicted forecast --metric auc_roc": "`--score` for the metric 'auc_roc', got",
}


@pytest.mark.parametrize("command", REFUSED | BAD)
def test_messages(refuse, command):
    code = 2 if command in REFUSED else 1
    assert (REFUSED | BAD)[command] in refuse(*command.format(DEMO).split(), code=code)[0]


def test_the_test_of_alarms_of_scores(run):
    found = printed(run, f"score {DEMO} {SCORES} --threshold quantile:0.97 --significance 20")
    assert all(record["significance"]["f1"]["pvalue"] < 0.2 for record in found["detectors"])
    text = printed(run, f"score {DEMO} {SCORES} --threshold 90 --significance 20", "table")
    assert text.count("at least as good") == 2
