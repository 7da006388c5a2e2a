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


@pytest.fixture
def holes(tmp_path):
    """Eight events, of which one detector has no scores for three."""
    rng = np.random.default_rng(1)
    truth = np.isin(np.arange(80) % 10, (5, 6, 7)).astype(int)
    columns = {name: rng.random(80) + truth / 2 for name in ("good", "weak")}
    columns["weak"][:30] = np.nan
    lines = ["t,truth,good,weak,early"]
    for k in range(80):
        scores = ["" if np.isnan(column[k]) else f"{column[k]:.6f}" for column in columns.values()]
        lines.append(",".join([str(k), str(truth[k]), *scores, str(int(k % 10 == 4))]))
    (tmp_path / "holes.csv").write_text("\n".join(lines))
    return "holes.csv --time t"


LOST = "3 of 8 true events are left out because `weak` has no scores there."


@pytest.mark.parametrize("command", ["score", "curve", "compare"])
def test_missing_scores_that_cost_events_of_others_are_told(run, holes, command):
    found = printed(run, f"{command} {holes} --score good --score weak --nan ignore")
    assert found["notes"][0] == LOST
    assert found["notes"][1].startswith("Ignored: 30 of 80; left out: 3 true events")
    assert "nan:ignore" in found["signature"]
    assert LOST in run(*command.split(), *holes.split(), *WEAK, "--nan", "ignore").stdout


WEAK = ("--score", "good", "--score", "weak")


@pytest.mark.parametrize("command", ["score", "curve"])
def test_each_detector_on_its_own_time_is_as_by_itself(run, holes, command):
    labels = "--predicted early" if command == "score" else ""
    asked = f"{command} {holes} {labels} --score good --score weak"
    found = printed(run, f"{asked} --nan each")
    records = {record.pop("detector"): record for record in found["detectors"]}
    for name in ("good", "weak"):
        alone = printed(run, f"{command} {holes} --score {name} --nan each")
        ignoring = printed(run, f"{command} {holes} --score {name} --nan ignore")
        assert str(alone).replace("nan:each", "nan:ignore") == str(ignoring)
        for part in ("notes", "schema"):
            alone.pop(part)
        for record in (alone, records[name]):  # whose signature names no rule
            assert "|nan:each|" in record.pop("signature")
        assert records[name] == alone
    assert (records["good"]["ignored_time"], records["weak"]["ignored_time"]) == (0, 30)
    assert found["notes"][0] == "weak: Ignored: 30 of 80; left out: 3 true events."
    assert "|ignore:none|step:none|nan:each|" in found["signature"]
    if command == "score":
        assert len(records["early"]["events"]) == 8
        metric = printed(run, f"{asked} --nan each --metric classical --metric auc_roc")
        for record in metric["detectors"]:
            kind = "predicted" if record["detector"] == "early" else "score"
            alone = printed(
                run, f"score {holes} --{kind} {record['detector']} --nan each --metric classical"
            )
            assert record["metrics"].items() >= alone["metrics"].items()
    shown = run(*asked.split(), "--nan", "each").stdout
    (heading,) = (line for line in shown.splitlines() if line.startswith("detector"))
    assert heading.split()[-1] == "ignored"
    (row,) = (
        line
        for line in shown.splitlines()
        if line.startswith("weak  ") and ":" not in line and line.endswith("80")
    )
    assert row.endswith("30 of 80")


def test_a_comparison_needs_the_same_events_and_a_page_one_time(run, holes):
    refused = run("compare", *holes.split(), *WEAK, "--nan", "each")
    assert "got 5 of 8 events with scores of 'weak'." in refused.stderr
    assert "Hint: Compare them where all have scores, with `--nan ignore`." in refused.stderr
    for by in ((), ("--by", "early")):
        page = run("report", *holes.split(), *WEAK, "--nan", "each", "-o", "x.html", *by)
        assert "Expected `--nan` 'raise' or 'ignore' on a page" in page.stderr
    assert "got 'each'" in page.stderr
    text = Path("holes.csv").read_text().splitlines()
    few = [line if k != 3 else "2,0,0.5,,0" for k, line in enumerate(text)]
    Path("few.csv").write_text("\n".join(line for k, line in enumerate(few) if not 1 <= k - 3 < 28))
    found = printed(run, f"compare few.csv --time t {' '.join(WEAK)} --nan each --max-step 1")
    assert [row["ignored_time"] for row in found["detectors"]][1] > found["ignored_time"]
    assert found["best_pair"] is None
    assert (
        "Taken together"
        not in run(
            "compare", "few.csv", "--time", "t", *WEAK, "--nan", "each", "--max-step", "1"
        ).stdout
    )
