"""`closecall curve` on real files, in every format."""

import csv
import io
import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib import pyplot as plt

import closecall as cc
from closecall.cli.curve import save_curve
from closecall.datasets import demo
from tests.cli.conftest import lines, unsigned

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.3, 0.2, 0.9, 0.8, 0.1, 0.0, 0.7, 0.4, 0.1]
STAMPS = [f"2024-01-0{1 + step // 4} {6 * (step % 4):02}:00:00" for step in range(10)]
FILE = "t,label,score\n" + "".join(
    f"{stamp},{label},{score}\n" for stamp, label, score in zip(STAMPS, TRUTH, SCORES, strict=True)
)
COLUMNS = ("--truth", "label", "--score", "score")
CURVE = cc.affiliation_curve(TRUTH, SCORES)


@pytest.fixture(autouse=True)
def scores(tmp_path):
    (tmp_path / "scores.csv").write_text(FILE)
    return "scores.csv"


@pytest.mark.parametrize(
    ("options", "best", "reason"),
    [
        (("--min-precision", "0.9"), {"min_precision": 0.9}, "F1 with precision >= 0.9"),
        (("--beta", "3"), {"beta": 3}, "F3 of 8 thresholds"),
        (
            ("--beta", "0.5", "--min-recall", "0.5"),
            {"beta": 0.5, "min_recall": 0.5},
            "F0.5 with recall >= 0.5",
        ),
        (
            ("--max-alarms-per", "1/10", "--min-precision", "0.6"),
            {"max_alarms_per": (1, 10), "min_precision": 0.6},
            (
                "F1 with precision >= 0.6 and at most 1 alarm per 10 and "
                "at most 50 % of the time in alarm"
            ),
        ),
    ],
)
def test_constraints(run, scores, options, best, reason):
    point = CURVE.best(**best)
    headline, *printed = lines(run("curve", scores, *COLUMNS, *options))
    assert headline == CURVE.at(point.threshold).headline
    assert printed[0].startswith(f"threshold {point.threshold:g}   precision {point.precision:.2f}")
    assert printed[0].endswith(f"F{point.beta:g} {point.fbeta:.2f}")
    assert printed[2] == f"The highest {reason}."
    (row,) = [line for line in printed if "<- chosen" in line]
    assert row.split()[0] == f"{point.threshold:g}"
    assert row.split()[1:4] == printed[0].split()[3::2]
    (heading,) = [line for line in printed if line.startswith("threshold  ")]
    assert heading.split()[3] == f"F{point.beta:g}"


def test_chance_is_that_of_the_alarms_at_the_threshold(run, scores, monkeypatch):
    level = CURVE.at(CURVE.best(min_precision=0.9).threshold).chance
    printed = lines(run("curve", scores, *COLUMNS, "--min-precision", "0.9"))
    texts = [f"{value:.2f}" for value in (level.precision, level.recall, level.f1)]
    assert printed[2].split() == ["by", "chance", *texts]
    shifts = f"({level.shifts} shifts)"
    assert f"by chance: mean scores with alarms or events shifted in time {shifts}" in printed
    other = lines(run("curve", scores, *COLUMNS, "--beta", "3"))
    assert len(other[2].split()) == 4  # there is no level of other than F1
    monkeypatch.setenv("COLUMNS", "40")
    narrow = lines(run("curve", scores, *COLUMNS, "--min-precision", "0.9"))[2:6]
    assert [line.split() for line in narrow] == [
        ["threshold", "0.9", "precision", "1.00"],
        ["by", "chance", texts[0]],
        ["recall", "0.46", "F1", "0.63"],
        texts[1:],
    ]


def test_a_budget_in_time(run):
    run("demo", "--save", "demo.csv")
    arguments = ("--truth", "label", "--score", "threshold_score", "--time", "time")
    printed = lines(run("curve", "demo.csv", *arguments, "--max-alarms-per", "5/1w"))
    data = demo()
    curve = cc.affiliation_curve(data.truth, data.scores["threshold"], times=data.times)
    point = curve.best(max_alarms_per=(5, np.timedelta64(7, "D")))
    assert point.alarms <= 10
    assert curve.best().alarms > 10
    assert printed[1].startswith(f"threshold {point.threshold:g} ")
    limits = "at most 5 alarms per 7 d and at most 50 % of the time in alarm"
    assert printed[3] == f"The highest F1 with {limits}."
    assert printed[4] == (
        f"{point.alarms / 2:.2g} alarms per 7 d (at most 5 asked); "
        f"{100 * point.alarmed:.2g} % of the time is in alarm."
    )
    assert sorted(line.split("<- ")[1] for line in printed if "<-" in line) == ["best F1", "chosen"]


def test_json_is_the_curve_and_the_events_at_the_chosen_threshold(run, scores):
    arguments = ("curve", scores, *COLUMNS, "--min-precision", "0.9", "--format", "json")
    report = json.loads(run(*arguments).stdout)
    chosen = report.pop("chosen")
    point = CURVE.best(min_precision=0.9)
    assert report.pop("schema") == "closecall/curve/1"
    assert report.pop("notes")[0].startswith("The first 10% of the time has neither events")
    chosen_by = CURVE.signature.adding(threshold="best_f1", min_precision=0.9)
    assert report == CURVE.to_dict() | {"signature": str(chosen_by)}
    assert (chosen["threshold"], chosen["alarms"]) == (point.threshold, point.alarms)
    assert chosen["events"] == CURVE.at(point.threshold).to_dict()["events"]


@pytest.mark.parametrize("points", ["all", "0"])
def test_csv_of_every_threshold(run, scores, points):
    result = run("curve", scores, *COLUMNS, "--format", "csv", "--points", points)
    header, *rows = list(csv.reader(io.StringIO(result.stdout)))
    names = ("precision", "recall", "f1", "caught", "alarms", "false_alarms", "alarmed")
    assert header == ["threshold", *names, "signature"]
    assert {row.pop() for row in rows} == {str(CURVE.signature.adding(threshold="best_f1"))}
    names = ("thresholds", *names)
    expected = zip(*(getattr(CURVE, name).tolist() for name in names), strict=True)
    assert [tuple(map(float, row)) for row in rows] == list(expected)


def test_uneven_times_and_a_span(run):
    Path("uneven.csv").write_text("t,truth,score\n0,0,0.1\n1,1,0.9\n5,0,0.2\n")
    arguments = ("uneven.csv", "--time", "t", "--end", "6.5", "--span", "-10", "10")
    printed = unsigned(run("curve", *arguments))
    assert printed[:2] == [
        "1 of 1 caught (0.4 by chance), median delay 0, no false alarms",
        "threshold 0.9   precision 1.00   recall 1.00   F1 1.00",
    ]
    assert printed[4] == "5 alarms per 100; 20 % of the time is in alarm."
    assert printed[-1].startswith("Times and distances are in the units of the input")


@pytest.mark.parametrize(
    ("command", "column"),
    [("score", "--predicted"), ("curve", "--score"), ("compare", "--score"), ("audit", "")],
)
def test_uneven_times_without_an_end(run, command, column):
    text = "t,truth,score,other\n0,0,0,1\n1,1,1,0\n5,0,0,0\n6,0,0,0\n"
    other = ("--predicted", "other")
    columns = {"compare": other, "audit": (*other, "--metric", "affiliation")}
    arguments = ("-", "--time", "t", *((column, "score") if column else ()))
    result = run(command, *arguments, *columns.get(command, ()), input=text)
    assert result.exit_code == 0
    said = " ".join((result.stderr if command == "audit" else result.stdout).split())
    assert "no --end says where the last sample stops" in said
    assert "it is taken to last the median step, until 7." in said


@pytest.mark.parametrize(("name", "magic"), [("curve.png", b"\x89PNG"), ("curve.SVG", b"<?xml")])
def test_plot(run, scores, name, magic):
    plain, open_before = run("curve", scores, *COLUMNS), plt.get_fignums()
    drawn = run("curve", scores, *COLUMNS, "--plot", name)
    assert drawn.stdout == plain.stdout
    assert Path(name).read_bytes().startswith(magic)
    assert plt.get_fignums() == open_before


def test_the_plot_marks_the_chosen_point(tmp_path):
    point = CURVE.best(beta=0)
    save_curve(CURVE, point, str(tmp_path / "curve.svg"))
    assert "<!-- 1 alarm at threshold 0.9 -->" in (tmp_path / "curve.svg").read_text()


def test_a_real_series(run, data_folder):
    source = pq.read_table(data_folder / "nab" / "scores.parquet")
    series = source.filter(pa.compute.field("series") == "realKnownCause/nyc_taxi.csv")
    pq.write_table(series, "series.parquet")
    arguments = ("series.parquet", "--truth", "label", "--time", "timestamp")
    printed = lines(run("curve", *arguments, "--score", "windowedGaussian"))
    assert printed[1] == "threshold 0.97543   precision 0.81   recall 0.93   F1 0.87"
    (row,) = [line.split() for line in printed if line.startswith("average precision  ")]
    assert row[2] == "0.69"
    predicted = (series["windowedGaussian"].to_numpy() >= 0.97543).astype(int)
    truth, times = series["label"].to_numpy(), series["timestamp"].to_numpy()
    result = cc.affiliation(truth, predicted, times=times)
    assert round(result.f1, 2) == 0.87


DEMO = ("demo.csv", "--truth", "label", "--score", "forecast_score", "--time", "time")


@pytest.fixture
def demo_curve(demo_file):
    data = demo()
    return cc.affiliation_curve(data.truth, data.scores["forecast"], times=data.times)


def test_chance_is_re_tuned(run, demo_curve):
    printed = lines(run("curve", *DEMO))
    rows = {line[:17].strip(): line.split()[-2:] for line in printed}
    level = demo_curve.chance
    assert rows["best F1"] == [f"{demo_curve.best().fbeta:.2f}", f"{level.f1:.2f}"]
    assert rows["average precision"][1] == f"{level.average_precision:.2f}"


def test_budgets_of_false_alarms_and_a_cooldown(run, demo_curve):
    options = ("--max-false-alarms-per", "0.1/1d", "--cooldown", "2h", "--max-alarmed", "0.2")
    printed = lines(run("curve", *DEMO, *options))
    point = demo_curve.best(
        max_false_alarms_per=(0.1, timedelta(days=1)), cooldown=timedelta(hours=2), max_alarmed=0.2
    )
    assert printed[1].startswith(f"threshold {point.threshold:g} ")
    assert printed[3].startswith(
        "The highest F1 with at most 0.1 false alarms per 1 d and at most 20 %"
    )
    assert "alarms less than 2 h apart counted once." in " ".join(printed[3:5])


def test_the_most_events_caught_within_a_budget(run, refuse, demo_curve):
    options = ("--maximize", "caught", "--max-false-alarms-per", "2/week")
    point = demo_curve.best(objective="caught", max_false_alarms_per="2/week")
    printed = lines(run("curve", *DEMO, *options))
    assert printed[1].startswith(f"threshold {point.threshold:g} ")
    told = " ".join(printed[3:6])
    assert (
        "The most events caught, then the fewest false alarms, with at most 2 false alarms" in told
    )
    values = json.loads(run("curve", *DEMO, *options, "--format", "json").stdout)
    assert values["chosen"]["caught"] == point.caught
    assert "|thr:most_caught|" in values["signature"]
    always = lines(run("curve", *DEMO, "--threshold", "-99"))
    assert "; 100 % of the time is in alarm." in " ".join(always)
    for more in (("--threshold", "sigma:3"), ("--significance",)):
        refuse("curve", *DEMO, "--maximize", "caught", *more, code=2)


def test_cross_fitting(run, demo_curve, scores):
    fitted = demo_curve.cross_fitted(folds=3)
    printed = lines(run("curve", *DEMO, "--cross-fit", "3"))
    (row,) = [line.split() for line in printed if line.startswith("cross-fitted F1  ")]
    assert row[2] == f"{fitted.f1:.2f}"
    lost = demo_curve.best().fbeta - fitted.f1
    assert f"About {lost:.2f} of the F1 of 0.99 comes from choosing" in " ".join(printed)
    values = json.loads(run("curve", *DEMO, "--cross-fit", "3", "--format", "json").stdout)
    assert values["cross_fitted"] == fitted.to_dict()
    few = " ".join(lines(run("curve", scores, *COLUMNS, "--cross-fit")))
    assert "There is no cross-fitted score. Expected at least 5 true events" in few
    assert "on another part of the time (--fit-until), or on other series" in few
    values = json.loads(run("curve", scores, *COLUMNS, "--cross-fit", "--format", "json").stdout)
    assert list(values["cross_fitted"]) == ["undefined"]
    refused = run("curve", *DEMO, "--cross-fit", "8")
    assert "Expected `--cross-fit` to be at most the 7 true events, got 8." in refused.stderr


RULES = {
    "20": "The threshold that was asked for",
    "quantile:0.99": "The lowest threshold with at most 1 % of the time in alarm (quantile:0.99)",
    "sigma:3": "The mean of the scores plus 3 standard deviations (sigma:3)",
    "mad:8": "The median of the scores plus 8 scaled median absolute deviations (mad:8)",
    "spot:0.01": "What a score exceeds with probability 0.01, by peaks over threshold (spot:0.01)",
    "alarms:3/7d": "The lowest threshold within the budget of alarms and half of the time in alarm",
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(run, demo_file, rule):
    data = demo()
    until = np.datetime64("2024-03-10T00:00", "s")
    arguments = (data.truth, data.scores["forecast"])
    whole = {"times": data.times, "fit": [(data.times[0], until)]}
    given = float(rule) if rule.isdecimal() else rule
    chosen = cc.choose_threshold(*arguments, given, **whole).threshold
    ignore = [(data.times[0], until)]
    expected = cc.affiliation_curve(*arguments, times=data.times, ignore=ignore).at(chosen)
    options = ("--threshold", rule, "--fit-until", "2024-03-10")
    printed = lines(run("curve", *DEMO, *options))
    assert printed[0] == expected.headline
    said = " ".join(printed[3:6])
    assert said.startswith(RULES[rule])
    told = ", judged after 2024-" if rule == "20" else ", chosen before 2024-03-10 00:00:00, judged"
    assert told in said
    assert "Ignored: 6 d of 14 d; left out: 2 true events" in " ".join(printed)
    values = json.loads(run("curve", *DEMO, *options, "--format", "json").stdout)["chosen"]
    assert values["threshold"] == chosen
    assert values["f1"] == expected.f1


def test_the_best_f1_of_one_part_judged_on_the_rest(run, demo_curve):
    data = demo()
    until = np.datetime64("2024-03-11T00:00", "s")
    sides, times = (data.truth, data.scores["forecast"]), data.times
    last = times[-1] + (times[1] - times[0])
    fit = cc.affiliation_curve(*sides, times=times, ignore=[(until, last)])
    rest = cc.affiliation_curve(*sides, times=times, ignore=[(times[0], until)])
    point = fit.best(min_precision=0.5)
    options = ("--fit-until", "2024-03-11", "--min-precision", "0.5", "--format", "json")
    values = json.loads(run("curve", *DEMO, *options).stdout)["chosen"]
    assert values["threshold"] == point.threshold
    assert values["events"] == rest.at(point.threshold).to_dict()["events"]


def test_a_cooldown_counts_where_a_threshold_is_judged_too(run, demo_file):
    """On these eight days all alarms are less than a day apart, so they are one."""
    options = ("--fit-until", "2024-03-10", "--score", "threshold_score", "--cooldown")
    columns = ("curve", *DEMO[:3], *DEMO[5:])
    for pause, rate in (("1d", "0.12"), ("1s", "2.9")):
        told = " ".join(lines(run(*columns, *options, pause)))
        assert f"Counted so: {rate} alarms a day" in told


def test_a_rule_without_any_alarm(run, demo_file):
    printed = lines(run("curve", *DEMO, "--threshold", "1000"))
    assert printed[0] == "0 of 7 caught, no alarms"
    assert not any("chosen" in line for line in printed)
    values = json.loads(run("curve", *DEMO, "--threshold", "1000", "--format", "json").stdout)
    assert values["chosen"]["fbeta"] is None
