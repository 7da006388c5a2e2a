"""A batch that is killed, interrupted or cut off from its cluster, and then goes on."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.journal import Journal
from tests.tables.unit_sizes import patched, sizes

COLUMNS = ("--by", "series", "--truth", "label")
SCORES = (*COLUMNS, "--score", "good", "--score", "noise", "--per-event")
SERIES, SAMPLES, UNITS = 12, 40, 4
SMALLER = sizes(400, 1_600, 6_400, 25_600)  # so many values that this is how many units there are
# A process that was started in the background may ignore signals, and so would its children. None
# of them loads compiled code, which takes longer than these series. It pauses after each unit, so
# that it is in the middle of its work when it is stopped, however late that is.
START = f"""
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from closecall.cli import main
from closecall.tables.batch import engines
engines._PRELOADED = "json"
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.journal import Journal
from closecall.tables import units
vars(units).update({SMALLER})
keep = Journal.keep
Journal.keep = lambda *unit: (keep(*unit), time.sleep(2))
main()
"""


@pytest.fixture(scope="module", autouse=True)
def small_units():
    with patched(SMALLER), pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        yield


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write series one after the other, of which one has no true event."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    noise = np.random.default_rng(6).random((2, SERIES * SAMPLES))
    series, place = np.divmod(np.arange(SERIES * SAMPLES), SAMPLES)
    label = (place // 5 % 4 == series % 4) & (series != 3)
    columns = {"series": series, "label": label, "good": noise[0] + label / 3, "noise": noise[1]}
    pq.write_table(pa.table(columns), path, row_group_size=SAMPLES)
    return path


@pytest.fixture(scope="module")
def whole(large, tmp_path_factory):
    """What a batch writes that nobody stops."""
    folder = tmp_path_factory.mktemp("whole")
    options = {"per_event": True, "out": folder / "results.parquet", "progress": False}
    evaluate_frame(large, by="series", truth="label", score=["good", "noise"], **options)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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
    """Resume a batch to its end, in this process: only what is stopped needs one of its own."""

    def call(*arguments, folder):
        monkeypatch.chdir(folder)
        result = run("batch", *map(str, arguments), "--resume", "results.parquet")
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


def test_a_batch_that_was_killed_is_resumed(  # noqa: PLR0917 - they are fixtures
    large, whole, tmp_path, refuse, finish, monkeypatch
):
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    arguments = (large, *SCORES, "--out", "results.parquet")
    with start(*arguments, folder=stopped) as process:
        wait_for_units(process, stopped, 1)
        process.kill()
    assert not (stopped / "results.parquet").exists()
    keys = finished_keys(stopped)
    assert 1 <= len(keys) < UNITS
    marked_folder = shutil.copytree(stopped, tmp_path / "marked")
    marked = mark_finished(marked_folder)
    finish(*arguments, folder=marked_folder)
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
    finish(*arguments, folder=stopped)
    assert {path.name: path.read_bytes() for path in stopped.iterdir()} == whole
    assert len(whole) == 2  # rows and events


def mark_finished(folder):
    """Change what is kept of the finished units, and count their rows."""
    journal = Journal(folder / "results.parquet")
    marked, kept = 0, journal.kept()
    for path in journal.folder.glob("*.unit"):
        path.unlink()
    for key, (rows, *events) in kept.items():
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
def test_an_interrupted_batch_says_what_is_kept(
    large, whole, tmp_path, finish, *, sent, status, workers
):
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
    finish(large, *SCORES, folder=tmp_path)
    assert (tmp_path / "results.parquet").read_bytes() == whole["results.parquet"]


def ended(group):
    """Whether all processes of a group end within seconds."""
    for _ in range(1000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_scheduler_that_goes_is_told_in_one_line(  # noqa: PLR0917 - they are fixtures
    large, whole, tmp_path, refuse, finish, monkeypatch, caplog
):
    pytest.importorskip("distributed")
    from tests.tables.batch.clusters import REPOSITORY, cluster_processes

    arguments = ("batch", str(large), *SCORES, "--out", "results.parquet")
    keep = Journal.keep
    with cluster_processes(tmp_path, REPOSITORY) as (scheduler, address):

        def keep_and_kill(*unit):
            keep(*unit)
            scheduler.kill()

        with monkeypatch.context() as patch:
            patch.setattr(Journal, "keep", keep_and_kill)
            error, hint = refuse(*arguments, "--engine", address.replace("tcp://", "dask://"))
    assert error.startswith(f"Error: Expected the Dask scheduler at {address} to stay reachable, ")
    assert "got a lost connection while these were on their way: " in error
    assert hint.endswith("`--resume` continues.")
    assert caplog.text == ""  # what Dask would say of it
    assert 1 <= len(finished_keys(tmp_path)) < UNITS
    finish(large, *SCORES, folder=tmp_path)
    assert (tmp_path / "results.parquet").read_bytes() == whole["results.parquet"]
