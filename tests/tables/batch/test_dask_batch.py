"""A batch on a real cluster: the rows of a local one, to the last digit, whoever dies."""

import os
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import EngineError
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.journal import Journal

from .clusters import REPOSITORY, cluster_processes, local_cluster
from .large_file import UNITS, write_large_file

QUESTION = {"by": "series", "truth": "label", "score": ["good", "noise"], "per_event": True}


@pytest.fixture(scope="module")
def client():
    with local_cluster() as client:
        yield client


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return write_large_file(tmp_path_factory.mktemp("large") / "large.parquet")


@pytest.fixture(scope="module")
def local(large):
    return evaluate_frame(large, **QUESTION)


def require_same(one, other):
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
            if any(self.folder.glob("*.unit")):
                self.action()
                return
            time.sleep(0.01)


def test_the_same_rows_as_here(client, large, local):
    require_same(evaluate_frame(large, **QUESTION, engine=client), local)


def test_the_same_rows_in_processes(large, local):
    require_same(evaluate_frame(large, **QUESTION, workers=2), local)


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
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()
    require_same(result, local)
    assert pq.read_table(out).num_rows == local.table.num_rows


def test_a_scheduler_that_goes_leaves_a_batch_that_can_be_resumed(large, local, tmp_path):
    out = tmp_path / "results.parquet"
    with cluster_processes(tmp_path, REPOSITORY) as (scheduler, address):
        watch = Watch(out, scheduler.kill)
        with pytest.raises(EngineError, match="to stay reachable, got a lost connection"):
            evaluate_frame(large, **QUESTION, engine=address, out=out)
        watch.join()
    assert not out.exists()
    assert 1 <= len(list(Journal(out).finished())) < UNITS
    require_same(evaluate_frame(large, **QUESTION, out=out, resume=True), local)
    assert pq.read_table(out).num_rows == local.table.num_rows


def test_one_giant_series(client, tmp_path):
    """Cut in time into parts that end inside events, and between any two samples."""
    length = 2_500_000
    generator = np.random.default_rng(3)
    label = np.zeros(length, dtype=np.int8)
    for start in generator.integers(0, length, 300):
        label[start : start + generator.integers(1, 3000)] = 1
    score = generator.random(length, dtype=np.float32) + label / 3
    path = tmp_path / "giant.parquet"
    table = pa.table({"label": label, "score": score.astype(np.float32)})
    pq.write_table(table, path, row_group_size=100_003)
    question = {"truth": "label", "score": "score", "threshold": 1.2, "per_event": True}
    question["metrics"] = ["affiliation"]
    here = evaluate_frame(table, **question)
    there = evaluate_frame(path, **question, engine=client)
    assert here.event_table.num_rows > 100
    require_both(here, there)


def require_both(one, other):
    assert one.table.num_rows == other.table.num_rows == 1
    assert one.table.to_pylist() == other.table.to_pylist()
    assert repr(one.event_table.to_pylist()) == repr(other.event_table.to_pylist())
