"""Files that cannot be read: refused, unless it is known which series they hold."""

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import closecall as cc
from closecall.errors import InputError
from closecall.tables.batch.question import Question
from closecall.tables.sources.opening import open_source

ROWS = pa.table({"label": [0, 1, 0, 0], "a": [0.1, 0.9, 0.2, 0.3]})
CSV = "label,a\n0,0.1\n1,0.9\n0,0.2\n0,0.3\n"
NAMES = ("x", "y", "z")


def write_hive(folder, suffix):
    """Write two files for each of three series, which folders name."""
    for name in NAMES:
        own = folder / f"machine={name}"
        own.mkdir(parents=True)
        for number in range(2):
            path = own / f"part{number}.{suffix}"
            if suffix == "parquet":
                pq.write_table(ROWS, path)
            else:
                path.write_text(CSV)
    return folder / "machine=y" / f"part1.{suffix}"


DAMAGE = {
    "cut": ("parquet", lambda path: path.write_bytes(path.read_bytes()[:-20]), "whole Parquet"),
    "empty": ("parquet", lambda path: path.write_bytes(b""), "whole Parquet file, got `Parquet"),
    "other bytes": ("parquet", lambda path: path.write_bytes(b"not that"), "whole Parquet"),
    "ragged": ("csv", lambda path: path.write_text(CSV + "0,1,2\n"), "to be a CSV file"),
    "text": ("csv", lambda path: path.write_text(CSV + "no,0.5\n"), "'label' of .* hold numbers"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_only_the_series_of_a_damaged_file_is_lost(tmp_path, kind):
    suffix, damage, reason = DAMAGE[kind]
    path = write_hive(tmp_path / "lake", suffix)
    given = {"by": "machine", "truth": "label", "score": "a"}
    whole = cc.evaluate_frame(tmp_path / "lake", **given)
    damage(path)
    found = cc.evaluate_frame(tmp_path / "lake", **given)
    # The other half of the series is no series.
    kept = [row for row in whole.table.to_pylist() if row["machine"] != "y"]
    assert found.table.to_pylist() == kept
    [(key, error)] = found.failures
    assert key == f"all of machine=y/part1.{suffix}"
    assert error.startswith("Expected")
    with pytest.raises(InputError, match=reason):
        cc.evaluate_frame(tmp_path / "lake", **given, strict=True)


def test_a_first_file_with_text_is_the_odd_one(tmp_path):
    write_hive(tmp_path, "csv")
    (tmp_path / "machine=x" / "part0.csv").write_text(CSV + "no,0.5\n")
    found = cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")
    assert found.table["machine"].to_pylist() == ["y", "z"]
    assert [key for key, _ in found.failures] == ["all of machine=x/part0.csv"]


def test_a_series_without_rows_is_not_told_of_beside_damage(tmp_path):
    damaged = write_hive(tmp_path, "parquet")
    damaged.write_bytes(b"")
    pq.write_table(ROWS.slice(0, 0), damaged.with_name("part0.parquet"))
    found = cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")
    assert found.table["machine"].to_pylist() == ["x", "z"]


def test_a_damaged_unit_travels(tmp_path):
    write_hive(tmp_path, "parquet").write_bytes(b"")
    *_, last = open_source(tmp_path, Question.ask(by="machine", truth="label", score="a")).units()
    again = pickle.loads(pickle.dumps(last))  # noqa: S301 - our own bytes
    assert again == last
    with pytest.raises(InputError, match=r"part1.parquet to be a whole Parquet file"):
        again.groups()


@pytest.mark.parametrize("kind", DAMAGE)
def test_without_folders_that_name_series_nothing_is_known(tmp_path, kind):
    """Other files may hold the rest of the same series, which nobody would miss."""
    suffix, damage, reason = DAMAGE[kind]
    path = write_hive(tmp_path, suffix)
    damage(path)
    with pytest.raises(InputError, match=reason) as caught:
        cc.evaluate_frame(tmp_path, truth="label", score="a")
    assert "Hint: " in str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind in DAMAGE if kind != "text"])
def test_nothing_but_damage_is_refused(tmp_path, kind):
    suffix, damage, reason = DAMAGE[kind]
    write_hive(tmp_path, suffix)
    for other in tmp_path.rglob(f"*.{suffix}"):
        damage(other)
    with pytest.raises(InputError, match=reason):
        cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")


def test_text_in_every_file_is_no_damage(tmp_path):
    write_hive(tmp_path, "csv")
    for path in tmp_path.rglob("*.csv"):
        path.write_text(CSV + "no,0.5\n")
    found = cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")
    assert found.table["status"].to_pylist() == ["bad_labels"] * 3


def test_a_file_that_changed_is_read_anew(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(ROWS, path)
    assert cc.evaluate_frame(path, truth="label", score="a").table["samples"].to_pylist() == [4]
    pq.write_table(pa.concat_tables([ROWS, ROWS]), path)
    assert cc.evaluate_frame(path, truth="label", score="a").table["samples"].to_pylist() == [8]
