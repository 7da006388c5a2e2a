"""Units of tables in memory: their size, what travels with them, and temporary folders."""

import multiprocessing
import pickle

import numpy as np
import pyarrow as pa
import pytest

from closecall.errors import InputError
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.journal import Journal
from closecall.tables.data_files import TemporaryFolder, _remove
from tests.tables.series_tables import ask, expected_groups, read_groups, series_table
from tests.tables.unit_sizes import open_source, sizes


def test_units_end_where_series_do():
    table = series_table([(n,) for n in range(6)], (3, 3, 3, 9, 1, 1))
    units = open_source(table, ask("key0"), size=sizes(smallest=5 * 5)).units()
    assert [unit.rows for unit in units] == [6, 12, 2]
    assert [unit.key for unit in units] == ["rows 0-6", "rows 6-18", "rows 18-20"]


def test_only_its_own_rows_travel():
    table = series_table([(n,) for n in range(20)], (500,) * 20)
    keys = pa.array([f"{'a long name ' * 30}of series {n}" for n in table["key0"].to_pylist()])
    table = table.set_column(0, "key0", keys.dictionary_encode())
    units = open_source(table, ask("key0"), size=sizes(smallest=2500)).units()
    assert len(units) == 20
    # Four columns of eight bytes, codes of four, and one name instead of twenty.
    assert max(len(pickle.dumps(unit)) for unit in units) < 500 * (4 * 8 + 4) + 2500
    travelled = pickle.loads(pickle.dumps(units))  # noqa: S301 - pickled here
    assert read_groups(travelled) == expected_groups(table, ["key0"])


def test_content_is_hashed_only_when_it_is_asked_for(monkeypatch):
    hashed = []

    def count(tables):
        hashed.extend(table.column_names for table in tables)
        return "digest"

    monkeypatch.setattr("closecall.tables.units.content_digest", count)
    source = open_source(series_table([(1,), (2,)], (10, 10)), ask("key0"))
    read_groups(source.units())
    assert hashed == []
    assert source.fingerprint() == "arrow:digest"
    assert hashed == [["key0", "t", "label", "a", "b"]]


def test_a_batch_does_not_go_on_with_other_scores(tmp_path, monkeypatch):
    table = series_table([(1,), (2,)], (10, 10))
    other = table.set_column(4, "a", pa.array(np.arange(20) / 8))
    asked = {"by": "key0", "truth": "label", "score": "a", "out": tmp_path / "out.parquet"}

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "complete", stop)
        with pytest.raises(KeyboardInterrupt):
            evaluate_frame(table, **asked)
    with pytest.raises(InputError, match="got other data"):
        evaluate_frame(other, **asked, resume=True)
    halves = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    assert evaluate_frame(halves, **asked, resume=True).table.num_rows == 2


def test_groups_are_in_one_piece_whatever_the_chunks():
    table = pa.concat_tables([series_table([(n // 2,)], (1,)) for n in range(20)])
    [unit] = open_source(table, ask("key0")).units()
    assert {rows["a"].num_chunks for _, rows in unit.groups()} == {1}


def test_groups_share_the_memory_of_the_table():
    table = series_table([(1,), (2,)], (10, 10)).combine_chunks()
    before = pa.total_allocated_bytes()
    units = open_source(table, ask("key0")).units()
    held = [rows for unit in units for _, rows in unit.groups()]
    assert len(held) == 2
    assert np.shares_memory(held[1]["a"].to_numpy(), table["a"].to_numpy())
    assert pa.total_allocated_bytes() - before < table.nbytes


def test_the_folder_goes_with_the_object():
    folder = TemporaryFolder()
    path = folder.path
    (path / "rows.parquet").write_bytes(b"rows")
    assert path.is_dir()
    del folder
    assert not path.exists()


def test_another_process_leaves_it_alone():
    folder = TemporaryFolder()
    _remove(folder.path, multiprocessing.current_process().pid + 1)
    assert folder.path.is_dir()
