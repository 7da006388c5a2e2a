"""Units on a real cluster of processes: the same outcomes, whoever dies."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from closecall.errors import EngineError, InputTypeError
from closecall.tables.batch import dask_cluster
from closecall.tables.batch.engines import Outcome
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.journal import Journal
from tests.conftest import run_program
from tests.tables.batch.clusters import (
    REPOSITORY,
    cluster_processes,
    import_distributed,
    local_cluster,
)
from tests.tables.batch.groups import run_with
from tests.tables.batch.large_file import UNITS, large_file
from tests.tables.batch.test_engines import DOUBLED, by_key, double, numbers


@dataclass(frozen=True)
class Traced:
    """A unit that leaves a trace of each time it is begun."""

    value: int
    folder: str

    @property
    def key(self):
        return f"traced {self.value}"

    def begin(self):
        name = f"{self.value}-{os.getpid()}-{time.monotonic_ns()}"
        (Path(self.folder) / name).touch()


def traced(count, folder):
    return [Traced(value, str(folder)) for value in range(count)]


def begun(folder):
    return [int(path.name.partition("-")[0]) for path in Path(folder).iterdir()]


def die_the_first_time(unit):
    unit.begin()
    if unit.value == 3 and begun(unit.folder).count(3) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return unit.value


def die_every_time(unit):
    unit.begin()
    if unit.value == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return unit.value


def linger(unit):
    unit.begin()
    time.sleep(0 if unit.value < 2 else 30)
    return unit.value


@pytest.fixture(scope="module")
def client():
    with local_cluster() as client:
        yield client


@pytest.fixture
def few_deaths(client):
    """Let the scheduler give a unit up after one death instead of four."""
    client.run_on_scheduler(_allow, 0)
    yield
    client.run_on_scheduler(_allow, 3)


def _allow(deaths, dask_scheduler):
    dask_scheduler.allowed_failures = deaths


def test_the_same_outcomes_as_here(client):
    assert by_key(run_with(numbers(20), double, engine=client)) == DOUBLED
    assert client.status == "running"


def test_an_address(client):
    address = client.scheduler.address
    assert by_key(run_with(numbers(20), double, engine=address)) == DOUBLED
    address = address.replace("tcp://", "dask://")
    assert by_key(run_with(numbers(20), double, engine=address)) == DOUBLED


def test_an_executor_of_the_client(client):
    assert by_key(run_with(numbers(20), double, engine=client.get_executor())) == DOUBLED


def test_units_are_drawn_as_there_is_room(client):
    drawn = []

    def units():
        for unit in numbers(200):
            drawn.append(unit.value)
            yield unit

    outcomes = run_with(units(), double, engine=client)
    for _ in range(5):
        next(outcomes)
    assert len(drawn) <= 5 + 8
    outcomes.close()


def test_nothing_stays_on_the_cluster(client):
    list(run_with(numbers(20), double, engine=client))
    wait_until(lambda: not client.run_on_scheduler(_tasks))


def _tasks(dask_scheduler):
    return [key for key in dask_scheduler.tasks if str(key).startswith("attempt")]


def test_a_worker_that_dies_loses_and_repeats_no_outcome(client, tmp_path):
    units = traced(12, tmp_path)
    found = by_key(run_with(units, die_the_first_time, engine=client))
    assert found == {unit.key: Outcome(unit.key, unit.value) for unit in units}
    assert begun(tmp_path).count(3) == 2


def test_only_the_unit_that_kills_workers_fails(client, few_deaths, tmp_path):
    units = traced(6, tmp_path)
    found = by_key(run_with(units, die_every_time, engine=client))
    killer = found.pop("traced 3")
    assert killer.value is None
    assert killer.error.startswith("KilledWorker: ")
    assert found == {unit.key: Outcome(unit.key, unit.value) for unit in units if unit.value != 3}
    assert begun(tmp_path).count(3) == 1 + 1  # in company, and once more alone


def test_a_result_that_is_lost_with_its_worker_is_computed_again(client, tmp_path):
    units, collect = traced(1, tmp_path), threading.Event()
    client.wait_for_workers(2, timeout=60)  # tests before have killed some
    with dask_cluster.DaskCluster(client) as engine:
        held, collects = client.submit(int, pure=False), threading.Event()
        held.add_done_callback(lambda _: collects.set() or collect.wait(60))
        assert collects.wait(60)  # one thread collects all results, and none before the next
        future = engine.submit(die_the_first_time, *units)
        (sent,) = engine._sent.values()
        wait_until(sent.done)
        ((holder,),) = client.who_has([sent]).values()
        os.kill(client.run(os.getpid, workers=[holder])[holder], signal.SIGKILL)
        # It is lost for a moment only, which may pass unseen.
        wait_until(lambda: not sent.done() or begun(tmp_path) == [0, 0])
        collect.set()
        assert future.result(60) == 0
    assert begun(tmp_path) == [0, 0]


def wait_until(true):
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    pytest.fail("waited for nothing")


def test_large_units_travel_with_their_task(client):
    units = [Large(f"large {number}", bytes(11_000_000)) for number in range(2)]
    found = by_key(run_with(units, size, engine=client))
    assert found == {unit.key: Outcome(unit.key, 11_000_000) for unit in units}


@dataclass(frozen=True)
class Large:
    key: str
    content: bytes


def size(unit):
    return len(unit.content)


def pretended_version():
    """Say another version where the client is than where the workers are."""
    return "0.0.1" if multiprocessing.parent_process() is None else "0.0.2"


def test_workers_with_another_version(client, monkeypatch):
    monkeypatch.setattr(dask_cluster, "installed_version", pretended_version)
    with pytest.raises(
        EngineError, match=r"every Dask worker to have closecall 0\.0\.1, got 0\.0\.2 on tcp"
    ):
        list(run_with(numbers(2), double, engine=client))


def test_a_client_that_does_not_wait(client):
    class Hasty(import_distributed().Client):
        asynchronous = True

        def __init__(self):
            """Connect to nothing."""

        def __del__(self):
            """Close nothing."""

    with pytest.raises(InputTypeError, match="an asynchronous one"):
        list(run_with(numbers(2), double, engine=Hasty()))


def test_a_scheduler_that_goes_leaves_what_was_finished(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    found = []
    with cluster_processes(tmp_path, REPOSITORY) as (scheduler, address):
        outcomes = run_with(traced(6, folder), linger, engine=address)
        found += [next(outcomes), next(outcomes)]
        scheduler.kill()
        with pytest.raises(EngineError) as caught:
            next(outcomes)
    assert {outcome.value for outcome in found} == {0, 1}
    text = str(caught.value)
    assert text.startswith(f"Expected the Dask scheduler at {address} to stay reachable, got a ")
    assert "traced 2, traced 3, traced 4 and 1 more" in text
    assert "`resume=True` continues" in text


WITHOUT_CLOSECALL = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name == "closecall":
            raise ModuleNotFoundError("No module named 'closecall'", name=name)
sys.meta_path.insert(0, Nothing())
"""


def test_workers_without_closecall(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_CLOSECALL)
    with (
        cluster_processes(tmp_path, tmp_path) as (_, address),
        import_distributed().Client(address, set_as_default=False) as client,
    ):
        client.wait_for_workers(1)
        with pytest.raises(EngineError) as caught:
            list(run_with(numbers(2), double, engine=client))
    assert str(caught.value).startswith(
        'Expected every Dask worker to have closecall installed, got `ModuleNotFoundError("No '
        "module named 'closecall'\")`.\n\nHint: Install closecall"
    )


def test_no_scheduler_at_all(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 0.2)
    with pytest.raises(EngineError) as caught:
        list(run_with(numbers(2), double, engine="dask://127.0.0.1:9"))
    assert str(caught.value).startswith(
        "Expected a Dask scheduler at tcp://127.0.0.1:9, got no answer in 0.2 seconds."
    )


def test_a_transport_that_does_not_work_here_leaves_no_client():
    """A client that failed halfway complained when it was collected, 20 seconds later."""
    program = (
        "import closecall as cc\ncc.evaluate_frame('x.csv', truth='a', score='b', engine={!r})"
    )
    done = run_program([sys.executable, "-c", program.format("ucx://127.0.0.1:1")])
    assert "EngineError: Expected a Dask scheduler at ucx://127.0.0.1:1, got `" in done.stderr
    assert "Client.__del__" not in done.stderr


def test_a_client_that_was_closed(client):
    other = import_distributed().Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(EngineError, match="an open Dask client, got a closed one") as caught:
        list(run_with(numbers(2), double, engine=other))
    assert "Make another." in str(caught.value)


def test_a_cluster_without_workers_is_waited_for_and_given_up(monkeypatch):
    monkeypatch.setattr("closecall.tables.batch.engines._PATIENCE", 0.05)
    monkeypatch.setattr(dask_cluster, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(dask_cluster, "_TELL_SECONDS", 0.1)
    monkeypatch.setattr(dask_cluster, "_GIVE_UP_SECONDS", 0.5)
    told = []
    with local_cluster(0) as client:
        address = client.scheduler.address
        with pytest.raises(EngineError) as caught:
            list(run_with(numbers(20), double, engine=client, say=told.append))
    assert told == [f"Waiting for workers: the Dask scheduler {address} has none."]
    assert str(caught.value).startswith(
        f"Expected workers at the Dask scheduler {address}, got none for 0.5 seconds.\n\n"
        f"Hint: Start some: `dask worker {address}`. What was finished is kept"
    )


def test_workers_that_come_late_are_asked_for_their_version_and_used(monkeypatch):
    asked = []
    real = dask_cluster._check_workers

    def check(client):
        asked.append(len(client.nthreads()))
        return real(client)

    monkeypatch.setattr(dask_cluster, "_check_workers", check)
    monkeypatch.setattr(dask_cluster, "_TELL_SECONDS", 0)
    with local_cluster(0, processes=False) as client:
        grow = lambda _: client.cluster.scale(1)  # noqa: E731
        outcomes = run_with(numbers(20), double, engine=client, say=grow)
        assert by_key(outcomes) == DOUBLED
    assert asked == [0, 1]


QUESTION = {"by": "series", "truth": "label", "score": ["good", "noise"], "per_event": True}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    with large_file(tmp_path_factory.mktemp("large")) as path:
        yield path


@pytest.fixture(scope="module")
def local(large):
    return evaluate_frame(large, **QUESTION)


def require_same(one, other):
    assert one.signature == other.signature
    for left, right in ((one.table, other.table), (one.event_table, other.event_table)):
        assert left.schema == right.schema
        assert left.num_rows == right.num_rows > 1
        for name in left.column_names:
            pairs = zip(left[name].to_pylist(), right[name].to_pylist(), strict=True)
            assert all(a == b or (a != a and b != b) for a, b in pairs), name  # noqa: PLR0124 - nan


class Watch(threading.Thread):
    """Do something as soon as the first unit of a batch is kept."""

    def __init__(self, out, action):
        super().__init__()
        self.folder, self.action = Journal(out).folder, action
        self.start()

    def run(self):
        for _ in range(6000):
            if any(self.folder.glob("[!.]*.unit")):
                self.action()
                return
            time.sleep(0.01)


def test_the_same_rows_from_memory(client, large, local):
    table = pq.read_table(large)
    require_same(evaluate_frame(table, **QUESTION, engine=client), local)


def test_the_same_rows_with_one_threshold_for_all(client, large):
    question = {**QUESTION, "threshold": "best_f1_global"}
    here, there = (evaluate_frame(large, **question, engine=engine) for engine in (None, client))
    require_same(there, here)
    assert here.thresholds == there.thresholds
    assert set(here.thresholds) == {"good", "noise"}


def test_a_worker_that_is_killed_loses_and_repeats_no_row(client, large, local, tmp_path):
    out = tmp_path / "results.parquet"
    workers = client.run(os.getpid)
    victim = next(iter(workers.values()))
    watch = Watch(out, lambda: os.kill(victim, signal.SIGKILL))
    result = evaluate_frame(large, **QUESTION, engine=client, out=out)
    watch.join()
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()
    require_same(result, local)
    assert result.units == UNITS
    assert pq.read_table(out).num_rows == local.table.num_rows
