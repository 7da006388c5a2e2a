"""Batches that are killed at any moment and resumed, beside one that was left alone."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzz_calls import Attempt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_SERIES, _SAMPLES = 24, 50_000
_BATCH = (
    *("-c", "from closecall.cli import main; main()", "batch", "data.parquet"),
    *("--by", "series", "--truth", "truth"),
    *("--score", "score", "--per-event", "--output", "rows.parquet"),
)


def attempts(random: Random) -> Iterator[Attempt]:
    """Yield kills without end; the rows of a batch are looked at when it has been resumed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_data(folder / "data.parquet")
        _start(folder).wait()  # kernels are compiled
        began = monotonic()
        _start(folder, "--overwrite").wait()
        took, whole = monotonic() - began, _rows(folder)
        while True:
            for path in folder.glob("rows*"):
                path.unlink()
            more = ["--workers", "2"] if random.random() < 0.3 else []  # noqa: PLR2004 - some
            while True:
                process = _start(folder, *more)
                sleep(random.uniform(0, 1.1 * took))
                process.send_signal(random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
                if process.wait() == 0:
                    break
                more = [*more[:2], "--resume"] if any(folder.glob("rows*")) else more[:2]
                yield Attempt("a batch that is killed", "accepted")
            if _rows(folder) != whole:
                yield Attempt("a batch that was killed", "failed", "its rows are not the same")


def _write_data(path: Path) -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(_SERIES * _SAMPLES) % 5_000 < 50  # noqa: PLR2004 - one event in a hundred
    series = np.repeat([f"s{k}" for k in range(_SERIES)], _SAMPLES)
    score = generator.random(truth.size) + truth / 3
    pq.write_table(pa.table({"series": series, "truth": truth, "score": score}), path)


def _start(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    command, nobody = [sys.executable, *_BATCH, *more], subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, stdout=nobody, stderr=nobody)


def _rows(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("rows*"))]
