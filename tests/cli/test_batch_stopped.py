"""A batch that is killed, interrupted or cut off from its cluster, and then goes on."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from closecall.tables.batch.journal import Journal
from tests.tables.batch.large_file import SMALLER, UNITS, large_file

COLUMNS = ("--by", "series", "--truth", "label")
SCORES = (*COLUMNS, "--score", "good", "--score", "noise")
# A process that was started in the background may ignore signals, and so would its children. These
# share the kernels that it loads before it forks them. It pauses after each unit, so that it is in
# the middle of its work when it is stopped, however late that is.
START = f"""
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
import closecall.tables.batch.preload
from closecall.cli import main
from closecall.tables.batch.journal import Journal
from closecall.tables.sources.source import UnitSize
UnitSize.__init__.__defaults__ = {SMALLER}
keep = Journal.keep
Journal.keep = lambda *unit: (keep(*unit), time.sleep(2))
main()
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    with large_file(tmp_path_factory.mktemp("large")) as path:
        yield path


def start(*arguments, folder, **options):
    return subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", START, "batch", *map(str, arguments)],
        **options,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def finish(run, monkeypatch):
    """Run a batch to its end, in this process: only what is stopped needs one of its own."""

    def call(*arguments, folder):
        monkeypatch.chdir(folder)
        result = run("batch", *map(str, arguments))
        assert result.exit_code == 0, result.stderr

    return call


def wait_for_units(process, folder, count):
    """Wait until so many units are kept, and see that the batch is still at work."""
    partial = folder / "results.parquet.partial"
    for _ in range(6000):
        if len(list(partial.glob("[!.]*.unit"))) >= count:
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    assert process.poll() is None


def finished_keys(folder):
    return set(Journal(folder / "results.parquet").kept())


def test_a_batch_that_was_killed_is_resumed(large, tmp_path, refuse, finish, monkeypatch):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    whole.mkdir()
    stopped.mkdir()
    arguments = (large, *SCORES, "--per-event", "--out", "results.parquet")
    finish(*arguments, folder=whole)
    with start(*arguments, folder=stopped) as process:
        wait_for_units(process, stopped, 1)
        process.kill()
    assert not (stopped / "results.parquet").exists()
    keys = finished_keys(stopped)
    assert 1 <= len(keys) < UNITS
    marked_folder = shutil.copytree(stopped, tmp_path / "marked")
    marked = mark_finished(marked_folder)
    finish(*arguments, "--resume", folder=marked_folder)
    rows = pq.read_table("results.parquet")
    assert pc.sum(pc.equal(rows["reason"], "was not evaluated again")).as_py() == marked

    monkeypatch.chdir(stopped)
    texts = [*map(str, arguments)]
    assert "Go on with it with `--resume`" in "\n".join(refuse("batch", *texts))
    other = (str(large), *COLUMNS, "--score", "good", *texts[-2:], "--resume")
    assert (
        "Error: Expected to resume what results.parquet.partial was begun with, got `--score` "
        in refuse("batch", *other)[0]
    )
    finish(*arguments, "--resume", folder=stopped)
    for name in ("results.parquet", "results.events.parquet"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()
    assert sorted(path.name for path in stopped.iterdir()) == [
        "results.events.parquet",
        "results.parquet",
    ]


def mark_finished(folder):
    """Change what is kept of the finished units, and count their rows."""
    journal = Journal(folder / "results.parquet")
    marked = 0
    for key, (rows, *events) in journal.kept().items():
        place = rows.column_names.index("reason")
        marks = pa.array(["was not evaluated again"] * rows.num_rows)
        journal.keep(key, [rows.set_column(place, "reason", marks), *events])
        marked += rows.num_rows
    return marked


@pytest.mark.parametrize(
    ("sent", "status", "workers"),
    [
        (signal.SIGINT, 130, ("--workers", "2")),
        (signal.SIGTERM, 143, ()),
        (signal.SIGHUP, 129, ("--workers", "2")),
    ],
)
def test_an_interrupted_batch_says_what_is_kept(large, tmp_path, finish, *, sent, status, workers):
    arguments = (large, *SCORES, "--out", "results.parquet", *workers)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with start(*arguments, folder=tmp_path, env=environment, start_new_session=True) as process:
        wait_for_units(process, tmp_path, 1)
        process.send_signal(sent)
        output, complaint = process.communicate(timeout=60)
    assert process.returncode == status
    assert ended(process.pid)
    assert list(temporary.iterdir()) == []
    assert output == ""
    assert complaint.partition("\n")[2] == (  # after the number of series
        "Error: Interrupted; what was finished is in results.parquet.partial, and --resume goes "
        "on.\n"
    )
    assert 1 <= len(finished_keys(tmp_path)) < UNITS
    finish(large, *SCORES, "--resume", "results.parquet", *workers, folder=tmp_path)
    assert pq.read_metadata(tmp_path / "results.parquet").num_rows == 2 * 12


def ended(group):
    """Whether all processes of a group end within seconds."""
    for _ in range(1000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_scheduler_that_goes_is_told_in_one_line(large, tmp_path, finish):
    pytest.importorskip("distributed")
    from tests.tables.batch.clusters import REPOSITORY, cluster_processes

    arguments = (large, *SCORES, "--out", "results.parquet")
    with cluster_processes(tmp_path, REPOSITORY) as (scheduler, address):
        engine = ("--engine", address.replace("tcp://", "dask://"))
        with start(*arguments, *engine, folder=tmp_path) as process:
            wait_for_units(process, tmp_path, 1)
            scheduler.kill()
            output, complaint = process.communicate(timeout=60)
    assert (process.returncode, output) == (1, "")
    _, error, hint = complaint.splitlines()
    assert error.startswith("Error: Expected the Dask scheduler at tcp://127.0.0.1:")
    assert "to stay reachable, got a lost connection while these were on their way: " in error
    assert hint.endswith("`--resume` continues.")
    assert 1 <= len(finished_keys(tmp_path)) < UNITS
    finish(*arguments, "--resume", folder=tmp_path)
    finish(*arguments[:-1], "whole.parquet", folder=tmp_path)
    results, whole = (tmp_path / f"{name}.parquet" for name in ("results", "whole"))
    assert results.read_bytes() == whole.read_bytes()
