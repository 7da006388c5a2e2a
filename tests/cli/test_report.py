"""`closecall report` on real files."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import closecall as cc
from closecall.tables.batch.summary import STATUSES

FILE = "t,label,score,alarm,value,group\n" + "".join(
    f"2024-01-0{1 + step // 4} {6 * (step % 4):02}:00:00,{label},{score},{alarm},{step},{group}\n"
    for step, (label, score, alarm, group) in enumerate(
        [
            (0, 0.1, 0, "x"),
            (0, 0.3, 0, "x"),
            (1, 0.2, 1, "x"),
            (1, 0.9, 1, "x"),
            (0, 0.8, 0, "x"),
            (0, 0.1, 0, "y"),
            (0, 0.0, 0, "y"),
            (0, 0.7, 1, "y"),
            (1, 0.4, 0, "y"),
            (0, 0.1, 0, "y"),
        ]
    )
)
COLUMNS = ("--truth", "label", "--time", "t", "--score", "score", "--script", "cdn")


@pytest.fixture(autouse=True)
def data(tmp_path):
    (tmp_path / "data.csv").write_text(FILE)


def block(path, name):
    text = Path(path).read_text("utf-8")
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text)
    return json.loads(found[1])


def test_one_series(run):
    options = ("--predicted", "alarm", "--value", "value", "--title", "My page")
    result = run("report", "data.csv", "-o", "out.html", *COLUMNS, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines()[-1].startswith("Wrote out.html (0.2 MB).")
    about = block("out.html", "report")
    assert (about["title"], about["batch"]) == ("My page", False)
    series = block("out.html", "series-0")
    assert [row["name"] for row in series["detectors"]] == ["score", "alarm"]
    assert series["clock"]["kind"] == "datetime"
    truth, scores, alarms = (
        [float(line.split(",")[column]) for line in FILE.splitlines()[1:]] for column in (1, 2, 3)
    )
    assert series["detectors"][0]["f1"] == cc.affiliation_curve(truth, scores).best().fbeta
    assert series["detectors"][1]["recall"] == pytest.approx(cc.affiliation(truth, alarms).recall)
    assert series["values"]["type"] == "f4"


def test_the_command_of_a_page_has_its_options_and_flags(run):
    options = ("--from", "2024-01-01T06:00", "--disorder", "first", "--merge", "--clip")
    options += ("--severity-order", "low,high")
    run("report", "data.csv", "-o", "out.html", *COLUMNS, *options)
    (detector,) = block("out.html", "series-0")["detectors"]
    _, *command = shlex.split(f"{detector['call']['before']}{detector['threshold']}")
    assert {option for option in options if option.startswith("--")} <= {*command}
    result = run(*command, "--format", "json")
    assert json.loads(result.stdout)["f1"] == detector["f1"], result.stderr


def test_what_is_not_scored_is_told(run, tmp_path):
    lines = FILE.splitlines()
    quiet = [line.replace(",1,", ",0,", 1)[:-1] + "z" for line in lines[1:3]]
    back = [line[:-1] + "w" for line in (lines[4], lines[3])]
    twice = [line[:-1] + "v" for line in (lines[4], lines[3])]
    (tmp_path / "data.csv").write_text("\n".join([*lines, *quiet, *back, *twice]) + "\n")
    options = ("-o", "out.html", *COLUMNS, "--by", "group")
    result = run("report", "data.csv", *options)
    assert result.exit_code == 0
    first, *others = result.stderr.splitlines()[-6:]
    assert first == (
        f"Wrote out.html (0.2 MB): 2 of 5 series scored; 3 not: 2 {STATUSES['bad_times']}; "
        "1 without a true event. Open it in a browser."
    )
    assert others[0].startswith("  z: no_event: Expected at least one true event")
    assert others[1].startswith("  w and 1 more: bad_times: Expected `t` to be strictly incr")
    assert others[2].startswith("Hint: Leave the series out")
    assert others[3].startswith("Hint: --disorder sort puts samples in the order of their times")
    result = run("report", "data.csv", *options, "--disorder", "sort")
    assert "4 of 5 series scored; 1 not: 1 without a true event." in result.stderr
    result = run("report", "data.csv", "-o", "out.html", *COLUMNS, "--by", "group", "--by", "t")
    assert result.exit_code == 1


def test_standard_input_and_plain_samples(run):
    arguments = ("-o", "out.html", "--score", "s", "--script", "cdn")
    result = run("report", "-", *arguments, input="truth,s\n0,1\n1,5\n0,2\n")
    assert result.exit_code == 0
    assert block("out.html", "series-0")["clock"]["kind"] == "samples"


def test_true_events_from_a_list_of_their_own(run, tmp_path):
    incidents = "start,stop\n2024-01-01 12:00:00,2024-01-02 00:00:00\n2024-01-03 00:00:00,"
    (tmp_path / "incidents.csv").write_text(incidents + "2024-01-03 06:00:00\n")
    options = ("--time", "t", "--score", "score", "--predicted", "alarm", "--script", "cdn")
    listed = run("report", "incidents.csv", "data.csv", "-o", "listed.html", *options)
    assert listed.exit_code == 0
    run("report", "data.csv", "-o", "column.html", "--truth", "label", *options)
    pages = [block(f"{name}.html", "series-0") for name in ("listed", "column")]
    calls = [[detector.pop("call")["before"] for detector in page["detectors"]] for page in pages]
    assert pages[0] == pages[1]
    assert [line.split()[2] for line, _ in calls] == ["incidents.csv", "data.csv"]


def test_the_signature_of_a_page_is_that_of_the_score(run, tmp_path):
    head, *lines = FILE.splitlines()
    (tmp_path / "data.csv").write_text("\n".join([head, *lines[::-1]]) + "\n")
    common = ("data.csv", "--truth", "label", "--time", "t", "--predicted", "alarm")
    options = ("--disorder", "sort", "--from", "2024-01-01T06:00")
    score = json.loads(run("score", *common, *options, "--format", "json").stdout)
    run("report", *common, *options, "-o", "out.html", "--script", "cdn")
    assert block("out.html", "series-0")["signature"] == score["signature"]
    assert "|disorder:sort|" in score["signature"]
    by = ("-o", "by.html", "--script", "cdn", "--by", "group")
    run("report", *common, *options, *by)
    assert "|disorder:sort|" in block("by.html", "series-0")["signature"]


def test_incidents_that_were_dropped_are_counted_on_the_page(run, tmp_path):
    incidents = ["2023-12-24,2023-12-25", "2024-01-01 12:00,2024-01-02", "2024-01-03,2024-02-01"]
    (tmp_path / "incidents.csv").write_text("\n".join(["start,stop", *incidents]) + "\n")
    options = ("--time", "t", "--score", "score", "--clip")
    result = run("report", "incidents.csv", "data.csv", *options, "-o", "out.html")
    told = "Clipped to the series: 1 true event cut, 1 dropped."
    assert told in block("out.html", "series-0")["advice"]
    assert told in result.stderr
    assert told in run("score", "incidents.csv", "data.csv", *options).stdout


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("cross_fit", "at the thresholds of the batch, which were chosen on other series"),
        (
            "best_f1",
            "at the thresholds of the batch, chosen on the same labels: scores are optimistic",
        ),
        ("quantile:0.9", "at the thresholds of the batch (quantile:0.9)"),
        ("0.5", "at the thresholds of the batch (0.5)"),
    ],
)
def test_only_thresholds_that_were_chosen_on_the_same_labels_are_optimistic(run, rule, told):
    common = ("data.csv", "--truth", "label", "--time", "t", "--score", "score", "--by", "group")
    run("batch", *common, "--threshold", rule, "--output", "rows.csv")
    run("report", *common, "--batch", "rows.csv", "-o", "out.html", "--script", "cdn")
    run("report", "rows.csv", "-o", "rows.html", "--script", "cdn")
    for name in ("out.html", "rows.html"):
        assert block(name, "report")["thresholds"] == told
        text = Path(name).read_text("utf-8")
        assert ("optimistic" in text) == (rule == "best_f1")
    run("batch", *common[:5], "--predicted", "alarm", *common[-2:], "--output", "alarms.csv")
    run("report", "alarms.csv", "-o", "alarms.html", "--script", "cdn")
    assert block("alarms.html", "report")["thresholds"] == "with its alarms of the batch"


def test_ignored_time_comes_from_files(run, tmp_path):
    rows = "".join(f"x,{k},{int(3 <= k < 5)},{'' if k == 8 else k % 5}\n" for k in range(12))
    (tmp_path / "all.csv").write_text("site,t,label,a\n" + rows)
    (tmp_path / "off.csv").write_text("start,stop\n6,8\n")
    result = run(
        "report", "all.csv", "-o", "out.html", "--truth", "label", "--time", "t", "--score", "a",
        "--ignore", "off.csv", "--until", "11", "--nan", "ignore", "--script", "cdn",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    page = (tmp_path / "out.html").read_text()
    assert '"samples":8' in page
    by = run(
        "report", "all.csv", "-o", "by.html", "--truth", "label", "--time", "t", "--score", "a",
        "--ignore", "off.csv", "--until", "11", "--nan", "ignore", "--script", "cdn",
        "--by", "site",
    )  # fmt: skip
    assert by.exit_code == 0, by.stderr
    assert (tmp_path / "by.html").read_text().count('"samples":8') == 2  # its own, and in the list
    refused = run(
        "report", "all.csv", "-o", "x.html", "--truth", "label", "--score", "a", "--by", "site",
        "--ignore", "sote",
    )  # fmt: skip
    assert "Expected `--ignore` to name a column of all.csv, got 'sote'." in refused.stderr


def test_thresholds_of_all_and_of_each(run, refuse, demo_file, tmp_path):
    command = f"report {demo_file} --truth label --time time --score *_score -o x.html --script cdn"
    for options, cuts in (
        ([], [165.4, 23.25]),
        (["--threshold", "40"], [40, 40]),
        (["--threshold", "forecast_score=30", "--threshold", "100"], [100, 30]),
        (["--threshold", "forecast_score=30"], [165.4, 30]),
        (["--threshold", "quantile:0.97"], [157.5, 30.54]),
        (["--threshold", "forecast_score=alarms:2/7d"], [165.4, 33.75]),
    ):
        result = run(*command.split(), *options)
        assert result.exit_code == 0, result.stderr
        page = (tmp_path / "x.html").read_text()
        block = page.partition('id="report">')[2].partition("</script>")[0]
        rows = json.loads(block)["series"][0]["detectors"]
        assert [row["threshold"] for row in rows] == cuts
    unknown = refuse(*command.split(), "--threshold", "other=3")[0]
    assert "`--threshold` to name detectors in `--score`, got 'other'" in unknown
    alone = command.replace("--score *_score", "--predicted forecast").split()
    assert "--threshold is of --score" in refuse(*alone, "--threshold", "3", code=2)[0]


@pytest.fixture
def folder(tmp_path):
    """The same two series, a file for each; whole numbers in one are fractions in the other."""
    (tmp_path / "runs" / "north").mkdir(parents=True)
    header, *rows = FILE.splitlines()
    for name in "xy":
        part = [row.replace(",0.1,", ",0,") for row in rows if row.endswith(name)]
        (tmp_path / "runs" / "north" / f"{name}.csv").write_text("\n".join([header, *part]) + "\n")
    return "runs"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--series", "filename"), ["x", "y"]),
        (("--series", "{site}/{series}.csv"), ["north, x", "north, y"]),
        (("--by", "group"), ["x", "y"]),
    ],
)
def test_a_folder_of_one_file_per_series(run, folder, options, names):
    result = run("report", folder, "-o", "out.html", *COLUMNS, *options)
    assert result.exit_code == 0, result.stderr
    about = block("out.html", "report")
    assert (about["title"], [one["name"] for one in about["series"]]) == ("runs", names)
    run("report", "data.csv", "-o", "one.html", *COLUMNS, "--by", "group")
    found = [block(page, "series-1")["detectors"][0]["f1"] for page in ("out.html", "one.html")]
    assert found[0] == found[1]


def test_a_folder_as_one_series(run, folder):
    result = run("report", folder, "-o", "out.html", *COLUMNS, "--series", "one")
    assert (result.exit_code, block("out.html", "report")["batch"]) == (0, False)


def test_each_series_opens_where_a_batch_cut_it(run, folder):
    columns = ("--truth", "label", "--time", "t", "--score", "score", "--series", "filename")
    rows = ("--threshold", "quantile:0.7", "--output", "rows.csv")
    assert run("batch", folder, *columns, *rows).exit_code == 0
    options = ("--script", "cdn", "--batch", "rows.csv", "-o", "out.html")
    assert run("report", folder, *columns, *options).exit_code == 0
    thresholds = [
        float(line.split(",")[place])
        for header, *lines in [Path("rows.csv").read_text().splitlines()]
        for place in [header.replace('"', "").split(",").index("threshold")]
        for line in lines
    ]
    found = [block("out.html", f"series-{n}")["detectors"][0]["threshold"] for n in (0, 1)]
    assert found == thresholds
    run("report", folder, *columns, "--script", "cdn", "-o", "best.html")
    best = [block("best.html", f"series-{n}")["detectors"][0]["threshold"] for n in (0, 1)]
    assert best != found


@pytest.mark.parametrize("rows", ["rows.csv", "rows.parquet"])
def test_a_page_of_the_rows_of_a_batch(run, folder, rows):
    columns = ("--truth", "label", "--time", "t", "--score", "score", "--series", "filename")
    assert run("batch", folder, *columns, "--output", rows).exit_code == 0
    result = run("report", rows, "-o", "out.html", "--script", "cdn")
    assert result.exit_code == 0, result.stderr
    assert run("report", folder, *columns, "--script", "cdn", "-o", "whole.html").exit_code == 0
    shown, whole = (block(page, "report")["series"] for page in ("out.html", "whole.html"))
    assert [one["name"] for one in shown] == [one["name"] for one in whole]
    names = ("name", "precision", "recall", "f1", "chance", "caught", "false_alarms")
    for mine, theirs in zip(shown, whole, strict=True):
        assert (mine["closed"], mine["events"]) == (True, theirs["events"])
        for row, other in zip(mine["detectors"], theirs["detectors"], strict=True):
            assert {name: row[name] for name in names} == {name: other[name] for name in names}
    assert 'id="series-0"' not in Path("out.html").read_text("utf-8")


def test_a_series_in_trouble_is_listed_from_its_row(run):
    lines = [f"{s},{t},{int(s == 'a' and t == 5)},{t % 7}" for s in "ab" for t in range(20)]
    Path("two.csv").write_text("\n".join(["s,t,label,score", *lines, ""]))
    run("batch", "two.csv", "--by", "s", "--truth", "label", "--score", "score", "-o", "rows.csv")
    result = run("report", "rows.csv", "-o", "out.html", "--script", "cdn")
    assert "1 of 2 series scored; 1 not: 1 without a true event" in result.stderr
    assert block("out.html", "report")["series"][1]["status"].startswith("no_event: Expected at")


def test_a_layout(run, tmp_path):
    (tmp_path / "tsb").mkdir()
    (tmp_path / "scores" / "knn").mkdir(parents=True)
    labels = [int(line.split(",")[1]) for line in FILE.splitlines()[1:]]
    text = "Data,Label\n" + "".join(f"{place},{label}\n" for place, label in enumerate(labels))
    (tmp_path / "tsb" / "one.csv").write_text(text)
    np.save(tmp_path / "scores" / "knn" / "one.npy", np.arange(10.0))
    options = ("--layout", "tsb-ad", "--scores", "scores", "--script", "cdn")
    result = run("report", "tsb", "-o", "out.html", *options)
    assert result.exit_code == 0, result.stderr
    assert [one["name"] for one in block("out.html", "report")["series"]] == ["one"]
    detectors = block("out.html", "series-0")["detectors"]
    assert [detector["name"] for detector in detectors] == ["knn"]


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("runs",), 1, "Expected `--series` or `--by` beside several files, got neither"),
        (("runs", "data.csv", "--series", "filename"), 1, "one folder with everything"),
        (("data.csv", "data.csv", "--by", "group"), 1, "one file with everything beside `--by`"),
        (("data.csv", "--batch", "data.csv"), 1, "`--batch` for several series, without"),
        (
            ("data.csv", "--by", "group", "--batch", "data.csv"),
            1,
            "`--batch` to name a column of data.csv, got 'detector'",
        ),
        (("data.csv", "--scores", "x"), 2, "--scores goes with --layout"),
        (
            ("runs", "--layout", "nab"),
            2,
            "does not go with --layout, whose series, labels and scores are known",
        ),
    ],
)
def test_what_does_not_go_with_a_folder(refuse, folder, options, code, told):
    found = refuse("report", *options, "-o", "out.html", *COLUMNS, code=code)
    assert told in found[0]
