"""Affiliation scores: closecall, the official algorithm, and reading both vectors once."""

from __future__ import annotations

import compileall
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import closecall as cc
from benchmarks import series
from benchmarks.peers import MissingPeerError, OfficialAffiliation
from benchmarks.timing import (
    Row,
    Target,
    beside,
    best_time,
    best_times,
    growth,
    new_process,
    once,
    options,
    peak_memory,
    print_tables,
    run_command,
)

_TOLERANCE = 1e-12
_LONG, _LONG_TRUE, _LONG_PREDICTED = 10_000_000, 1_000, 20_000
_FIRST_CALL = "import closecall; closecall.affiliation([0, 1, 1, 0, 0], [0, 0, 1, 1, 0])"
_IMPORT = """
from time import perf_counter
start = perf_counter()
import {}
print(perf_counter() - start)
"""
_SCORE = ("score", "demo.csv", "--truth", "label", "--predicted", "forecast", "--time", "time")


class DisagreementError(Exception):
    """closecall and the official code give different numbers, so times mean nothing."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many events the official algorithm is given, and whether the target applies there."""

    true: int
    predicted: int
    judged: bool


_FULL = Size(1_000, 20_000, judged=True)
_QUICK = Size(200, 4_000, judged=False)


def long_vectors(length: int = _LONG) -> tuple[Any, Any]:
    """Return the two vectors of ten million samples."""
    truth = series.labels(_LONG_TRUE, length, mean=500, seed=1)
    return truth, series.labels(_LONG_PREDICTED, length, mean=25, seed=2)


def from_vectors() -> list[Row]:
    """Measure 10,000,000 samples against summing the two vectors."""
    truth, predicted = long_vectors()
    times = best_times(
        {
            "read": lambda: truth.sum() + predicted.sum(),
            "edges": lambda: [np.flatnonzero(v[1:] != v[:-1]) for v in (truth, predicted)],
            "closecall": lambda: cc.affiliation(truth, predicted),
        }
    )
    events = f"{_LONG_TRUE:,} true, {_LONG_PREDICTED:,} predicted"
    name, ratio = f"closecall, {_LONG:,} samples ({events})", "times truth.sum() + predicted.sum()"
    return [
        Row("truth.sum() + predicted.sum()", times["read"]),
        beside("numpy: where labels change", times["edges"], times["read"], ratio),
        beside(name, times["closecall"], times["read"], ratio, Target("<=", 4)),
    ]


def from_events() -> list[Row]:
    """Measure up to 1,000,000 predicted events against sorting as many numbers, and the growth."""
    sizes, seconds, rows = (10_000, 100_000, 1_000_000), [], []
    for size in sizes:
        span = 20 * size
        bounds = series.intervals(size, span, mean=5, seed=3)
        truth = series.events(size // 20, span, mean=60, seed=4)
        predicted = cc.Events.from_arrays(*bounds)
        seconds.append(best_time(lambda: cc.affiliation(truth, predicted, span=(0, span))))  # noqa: B023 - called at once
        rows.append(Row(f"closecall, {size:,} predicted, {size // 20:,} true", seconds[-1]))
    numbers = np.random.default_rng(5).random(sizes[-1])
    times = best_times(
        {
            "sort": lambda: np.sort(numbers),
            "score": lambda: cc.affiliation(truth, predicted, span=(0, span)),
            "build": lambda: cc.affiliation(truth, cc.Events.from_arrays(*bounds), span=(0, span)),
        }
    )
    name, ratio = f"closecall, {sizes[-1]:,} predicted", f"times sorting {sizes[-1]:,} floats"
    return [
        *rows,
        Row("growth", None, growth(sizes, seconds), "exponent (1: linear)", Target("<=", 1.1)),
        Row(f"numpy.sort of {sizes[-1]:,} floats", times["sort"]),
        beside(name, times["score"], times["sort"], ratio, Target("<", 10)),
        beside("the same, with building Events", times["build"], times["sort"], ratio),
    ]


def short_series(official: OfficialAffiliation) -> list[Row]:
    """Measure one call on 1,000 samples, where the fixed costs are all there is."""
    truth = series.labels(5, 1_000, mean=10, seed=6)
    predicted = series.labels(10, 1_000, mean=8, seed=7)
    times = best_times(
        {
            "closecall": lambda: cc.affiliation(truth, predicted),
            "official": lambda: official.score_vectors(truth, predicted),
        },
        rounds=15,
    )
    name, unit = "closecall, 1,000 samples (5 true, 10 predicted)", "microseconds per call"
    return [
        beside(name, times["closecall"], 1e-6, unit, Target("<", 60)),
        beside("telemeval", times["official"], 1e-6, unit),
    ]


def against_official(official: OfficialAffiliation, size: Size) -> list[Row]:
    """Measure closecall and the official algorithm on the same events, once they agree."""
    length = 500 * size.predicted
    truth = series.events(size.true, length, mean=500, seed=8)
    predicted = series.events(size.predicted, length, mean=25, seed=9)
    slow, reference = once(lambda: official.score_events(list(truth), list(predicted), (0, length)))
    largest = _difference(cc.affiliation(truth, predicted, span=(0, length)), reference)
    fast = best_time(lambda: cc.affiliation(truth, predicted, span=(0, length)))
    events = f"{size.true:,} true, {size.predicted:,} predicted"
    print(f"closecall and the official code agree on {events} to {largest:.1e}.")
    if not size.judged:
        print("Quick run: fewer events for the official code, so its target is not judged.")
    target = Target(">=", 10_000) if size.judged else None
    faster = "times faster than the official code"
    return [
        Row(f"official (telemeval), {events}", slow),
        Row(f"closecall, {events}", fast, slow / fast, faster, target),
    ]


def _difference(result: cc.Affiliation, reference: dict[str, Any]) -> float:
    """Return the largest difference of any number from the official one, if within tolerance."""
    ours: dict[str, Any] = {
        "precision": result.precision,
        "recall": result.recall,
        "individual_precision_probabilities": result.events.precision,
        "individual_recall_probabilities": result.events.recall,
        "individual_precision_distances": result.events.precision_distance,
        "individual_recall_distances": result.events.recall_distance,
    }
    largest = 0.0
    for name, values in ours.items():
        own, theirs = np.atleast_1d(values), np.atleast_1d(np.array(reference[name], dtype=float))
        if not np.allclose(own, theirs, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True):
            raise DisagreementError(f"closecall and the official code differ in {name}.")
        finite = np.isfinite(theirs)
        scale = np.maximum(np.abs(theirs[finite]), 1)
        largest = max(largest, float((np.abs(own[finite] - theirs[finite]) / scale).max()))
    return largest


def new_processes() -> list[Row]:
    """Measure what a new process pays: imports, the first call, and commands."""
    bare = min(new_process("")[0] for _ in range(5))
    first = min(new_process(_FIRST_CALL)[0] for _ in range(5))
    both = [
        [new_process(_IMPORT.format(name))[1] for name in ("numpy", "closecall")] for _ in range(9)
    ]
    numpy, closecall = (min(times) for times in zip(*both, strict=True))
    return [
        Row("python that does nothing", bare),
        Row("import numpy", numpy),
        Row("import closecall", closecall, closecall / numpy, "times numpy", Target("<=", 1.4)),
        Row("new process, imports and first score", first, first, "seconds", Target("<", 0.5)),
        *_commands(),
    ]


def _commands() -> list[Row]:
    """Measure commands beside importing what they cannot do without."""
    closecall = str(Path(sysconfig.get_path("scripts")) / "closecall")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        run_command([closecall, "demo", "--save", "demo.csv"], folder)
        for arguments, packages, bound in (
            (_SCORE, "numpy, pyarrow, click, rich.table", 2.5),
            (("--help",), "click, rich.table", 1.2),
        ):
            imports = [sys.executable, "-c", f"import {packages}"]
            both = [
                [run_command(line, folder) for line in (imports, [closecall, *arguments])]
                for _ in range(11)
            ]
            least, own = (median(times) for times in zip(*both, strict=True))
            label = f"closecall {' '.join(arguments[:2])}"
            meaning = f"times import {packages}"
            rows.append(Row(f"import {packages}", least))
            rows.append(Row(label, own, own / least, meaning, Target("<=", bound)))
    return rows


def main(arguments: list[str]) -> int:
    parser = options("affiliation", __doc__, "fewer events for the official code")
    size = _QUICK if parser.parse_args(arguments).quick else _FULL
    try:
        official = OfficialAffiliation()
        sections = {"Against the official algorithm": against_official(official, size)}
    except (MissingPeerError, DisagreementError) as error:
        print(error, file=sys.stderr)
        return 2
    sections["From 0/1 vectors"] = from_vectors()
    sections["From events"] = from_events()
    sections["A short series"] = short_series(official)
    # As pip does when it installs, also where Python is told to write no bytecode.
    compileall.compile_dir(Path(cc.__file__).parent, quiet=1)
    sections["A new process"] = new_processes()
    sections["Memory"] = peak_memory("affiliation", "long_vectors", "affiliation")
    return print_tables(sections)
