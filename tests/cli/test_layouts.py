"""`closecall batch --layout`: other benchmarks' folders, and options that do not go together."""

import json
from pathlib import Path

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo


@pytest.fixture
def folders(run):
    """Write the demo as TSB-AD, TimeEval and NAB lay files out, in the folder that `run` is in."""
    data = demo()
    for folder in ("TSB-AD-U", "datasets"):
        Path(folder).mkdir()
    rows = list(zip(data.times.astype(str), data.values, data.truth, strict=True))
    values = [f"{value},{label}\n" for _, value, label in rows]
    Path("TSB-AD-U/one.csv").write_text("Data,Label\n" + "".join(values))
    index = "collection_name,dataset_name,test_path\ntoys,one,one.csv\n"
    Path("datasets/datasets.csv").write_text(index)
    Path("datasets/one.csv").write_text(
        "timestamp,value,is_anomaly\n" + "".join(f"{t},{v},{label}\n" for t, v, label in rows)
    )
    for detector, scores in data.scores.items():
        tsb, run_folder = Path("score", detector), Path("run", detector, "0af3/toys/one/1")
        nab = Path("results", detector, "toys")
        for folder in (tsb, run_folder, nab):
            folder.mkdir(parents=True)
        np.save(tsb / "one.npy", scores)
        scores.tofile(run_folder / "anomaly_scores.ts", sep="\n")
        lines = [f"{t},{s},{label}\n" for (t, _, label), s in zip(rows, scores, strict=True)]
        content = "timestamp,anomaly_score,label\n" + "".join(lines)
        (nab / f"{detector}_one.csv").write_text(content)


@pytest.mark.parametrize(
    ("arguments", "series"),
    [
        (("TSB-AD-U", "--layout", "tsb-ad", "--scores", "score"), "one"),
        (("datasets", "--layout", "timeeval", "--scores", "run"), "toys/one"),
        (("results", "--layout", "nab"), "toys/one.csv"),
    ],
)
def test_every_layout_gives_the_same_scores(run, folders, arguments, series):
    result = run("batch", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    assert [(row["series"], row["detector"]) for row in rows] == [
        (series, "forecast"),
        (series, "threshold"),
    ]
    for row in rows:
        best = cc.affiliation_curve(demo().truth, demo().scores[row["detector"]]).best()
        assert row["affiliation_f1"] == best.fbeta


def test_one_detector_can_be_chosen(run, folders):
    arguments = ("batch", "results", "--layout", "nab", "--score", "threshold", "--format", "json")
    rows = json.loads(run(*arguments).stdout)["rows"]
    assert [row["detector"] for row in rows] == ["threshold"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.csv",), "Missing option '--truth'. It, or --layout, says where the labels are."),
        (
            ("x.csv", "--truth", "y", "--scores", "z"),
            "--scores goes with --layout; columns of scores are --score.",
        ),
        (
            ("TSB-AD-U", "--layout", "tsb-ad"),
            "With --layout tsb-ad, --scores names the folder of the detectors' scores.",
        ),
        (
            ("results", "--layout", "nab", "--scores", "score"),
            "With --layout nab there is no --scores: they are in DATA, in results/.",
        ),
        *(
            (
                ("results", "--layout", "nab", option, "x"),
                (
                    f"{option} does not go with --layout, whose series, labels and scores are "
                    "known; --score chooses among its detectors."
                ),
            )
            for option in ("--by", "--truth", "--predicted")
        ),
        (("a", "b", "--layout", "nab"), "With --layout, DATA is one folder; there are 2."),
    ],
)
def test_options_that_do_not_go_together(run, arguments, message):
    result = run("batch", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_times_are_read_only_if_asked_for(run, folders):
    Path("datasets/two.csv").write_text("timestamp,value,is_anomaly\n0,1.5,0\n1,8.1,1\n2,0.1,0\n")
    with Path("datasets/datasets.csv").open("a") as index:
        index.write("toys,two,two.csv\n")
    for detector in demo().scores:
        folder = Path("run", detector, "0af3/toys/two/1")
        folder.mkdir(parents=True)
        (folder / "anomaly_scores.ts").write_text("0.1\n0.9\n0.2\n")
    arguments = ("batch", "datasets", "--layout", "timeeval", "--scores", "run")
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    statuses = [row["status"] for row in json.loads(result.stdout)["rows"]]
    assert statuses == ["ok"] * 4
    refused = run(*arguments, "--time", "timestamp")
    assert refused.exit_code == 1
    assert refused.stderr.splitlines()[1] == (
        "Hint: Without them, samples are counted: `timestamps=False` (no `--time`)."
    )


@pytest.mark.parametrize("time", [(), ("--time", "timestamp")])
def test_a_file_with_a_header_only(run, folders, time):
    Path("datasets/one.csv").write_text("timestamp,value,is_anomaly\n")
    result = run("batch", "datasets", "--layout", "timeeval", "--scores", "run", *time)
    assert result.exit_code == 1
    assert (
        result.stderr == "Error: Expected a row below the header of datasets/one.csv, got none.\n"
    )
