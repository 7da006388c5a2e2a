"""`closecall metrics` prints the registry."""

import csv
import io
import json

from closecall import metrics


def test_table_has_a_line_for_each_metric(run):
    result = run("metrics", env={"COLUMNS": "160"})
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    for row in metrics.table():
        (line,) = [line for line in lines if line.split(" ")[0] == row["name"]]
        assert row["family"] in line
        for name in row["parameters"]:
            assert name in result.stdout
    (classical,) = [line for line in lines if line.startswith("classical ")]
    assert classical.split() == [
        *("classical", "pointwise", "labels", "P/R", "0", "to", "1", "point", "no", "no"),
        "1",
        "by=samples",
    ]
    (hausdorff,) = [line for line in lines if line.startswith("hausdorff ")]
    assert "0 to inf -" in hausdorff


def test_json(run):
    rows = json.loads(run("metrics", "--format", "json").stdout)["metrics"]
    assert [row["name"] for row in rows] == [row["name"] for row in metrics.table()]
    by_name = {row["name"]: row for row in rows}
    assert by_name["time_aware"]["parameters"] == {"theta": 0.5, "delta": 0, "alpha": 0.5}
    assert by_name["hausdorff"]["range"] == [0.0, None]
    assert all(row["paper"] for row in rows)


def test_csv(run):
    rows = list(csv.DictReader(io.StringIO(run("metrics", "--format", "csv").stdout)))
    assert [row["name"] for row in rows] == [row["name"] for row in metrics.table()]
    assert rows[0]["gives"] == "precision recall f1"
