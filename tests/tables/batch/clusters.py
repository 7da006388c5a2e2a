"""Real Dask clusters of processes, for tests."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
SETTINGS = {
    # After it a cluster drops a worker that is away, also when it has died a second time.
    "distributed.deploy.lost-worker-timeout": "1h",
}


def import_distributed():
    """Import Dask where it is needed: it takes long, and tests are collected by many processes."""
    return pytest.importorskip("distributed")


@contextmanager
def local_cluster(workers=2, *, processes=True):
    """Start workers, which come back whenever they die as processes, and a client of theirs."""
    distributed = import_distributed()
    with (
        pytest.importorskip("dask").config.set(SETTINGS),
        distributed.LocalCluster(
            n_workers=workers, processes=processes, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def cluster_processes(folder, python_path):
    """Start a scheduler and a worker as anybody would, and end them by their ids."""
    import_distributed()
    file = folder / "scheduler.json"
    common = ("--scheduler-file", str(file), "--no-dashboard")
    environment = {**os.environ, "PYTHONPATH": str(python_path)}
    commands = (
        ("distributed.cli.dask_scheduler", *common, "--host", "127.0.0.1", "--port", "0"),
        ("distributed.cli.dask_worker", *common, "--nthreads", "1", "--no-nanny"),
    )
    processes = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.log").open("wb") as log:
                processes.append(
                    subprocess.Popen(  # noqa: S603 - ours
                        [sys.executable, "-m", *command], stderr=log, env=environment
                    )
                )
        for _ in range(400):
            if file.exists() and file.read_text().strip().endswith("}"):
                break
            time.sleep(0.05)
        yield processes[0], json.loads(file.read_text())["address"]
    finally:
        for process in processes:
            process.kill()
            process.wait()
