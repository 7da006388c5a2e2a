"""Batches that are killed at any moment and resumed, beside one that was left alone."""

from __future__ import annotations

import shutil
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
from benchmarks.fuzz_files import mutated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_SERIES, _SAMPLES = 100, 20_000  # which are six units
_DAMAGED = 0.3  # of the journals that are resumed
_BATCH = (
    *("-c", "from closecall.cli import main; main()", "batch", "data.parquet"),
    *("--by", "series", "--truth", "truth"),
    *("--score", "score", "--threshold", "best_f1_global", "--per-event"),
    *("--output", "rows.parquet"),
)


def attempts(random: Random) -> Iterator[Attempt]:
    """Yield kills without end; the rows of a batch are looked at when it has been resumed.

    Some of what it has kept is damaged in between.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_data(folder / "data.parquet")
        _start(folder).wait()  # kernels are compiled
        began = monotonic()
        _start(folder, "--overwrite").wait()
        took, whole = monotonic() - began, _rows(folder)
        while True:
            _remove(folder)
            workers = ["--workers", "2"] if random.random() < 0.3 else []  # noqa: PLR2004 - some
            while True:
                begun = any(folder.glob("rows*"))
                process = _start(folder, *workers, *(["--resume"] if begun else []))
                sleep(random.uniform(0, 1.1 * took))
                process.send_signal(random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
                if process.wait() == 0:
                    break
                told = (folder / "told").read_text("utf-8")
                if "Error: " in told and "Error: Interrupted" not in told:
                    yield Attempt("a batch that was killed", "failed", told)
                    _remove(folder)
                    continue
                if random.random() < _DAMAGED:
                    _damage(folder, random)
                yield Attempt("a batch that is killed", "accepted")
            if _rows(folder) != whole:
                yield Attempt("a batch that was killed", "failed", "its rows are not the same")


def _write_data(path: Path) -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(_SERIES * _SAMPLES) % 5_000 < 50  # noqa: PLR2004 - one event in a hundred
    series = np.repeat([f"s{k}" for k in range(_SERIES)], _SAMPLES)
    score = generator.random(truth.size) + truth / 3
    table = pa.table({"series": series, "truth": truth, "score": score})
    pq.write_table(table, path, row_group_size=_SAMPLES)


def _damage(folder: Path, random: Random) -> None:
    """Change a unit that was kept, or put it in the place of another."""
    kept = sorted(folder.glob("rows.parquet.partial/[!.]*.unit"))
    if kept:
        changed, other = random.choice(kept), random.choice(kept)
        content = other.read_bytes()
        changed.write_bytes(mutated(content, random) if changed == other else content)


def _start(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, *_BATCH, *more]
    with (folder / "told").open("wb") as told:
        return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=told)


def _remove(folder: Path) -> None:
    for path in folder.glob("rows*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _rows(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("rows*"))]
