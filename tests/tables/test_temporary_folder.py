"""Temporary folders go with the object, but never with its copy in another process."""

import multiprocessing

from closecall.tables.units import TemporaryFolder, _remove


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
