"""Many series at once: evaluate_frame, a plain loop over evaluate, and reading the file."""

from __future__ import annotations

import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import closecall as cc
from benchmarks import series
from benchmarks.affiliation import DisagreementError
from benchmarks.timing import Row, Target, beside, hold_memory, once, options, print_tables
from closecall.tables.batch.evaluate import evaluate_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation

_SERIES, _QUICK_SERIES, _SAMPLES = 2_000, 400, 5_000
_DETECTORS = ("forest", "forecast", "noise")
_GROUP = 200  # series in a row group
_WORKERS = 2
_METRICS = ("affiliation", "affiliation_average_precision")
_ASKED: dict[str, Any] = {
    "by": "series",
    "truth": "label",
    "score": list(_DETECTORS),
    "progress": False,
}


def write_series(path: Path, count: int) -> None:
    """Write series of five events each, two detectors that see them and one that does not."""
    random = np.random.default_rng(0)
    writer = None
    for first in range(0, count, _GROUP):
        numbers = range(first, min(first + _GROUP, count))
        labels = [series.labels(5, _SAMPLES, mean=40, seed=number) for number in numbers]
        truth = np.concatenate(labels)
        columns = {
            "series": pa.array([f"series-{n:05}" for n in numbers for _ in range(_SAMPLES)]),
            "label": truth,
            **{
                name: random.random(truth.size) + strength * truth
                for name, strength in zip(_DETECTORS, (0.8, 0.4, 0.0), strict=True)
            },
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=table.num_rows)
    if writer is not None:
        writer.close()


def read(path: Path) -> pa.Table:
    """Read the whole file, which everybody has to do."""
    return pq.read_table(path)


def slices(path: Path) -> Iterator[tuple[NDArray[Any], dict[str, NDArray[Any]]]]:
    """Read the file and cut it into its series: labels, and scores by detector."""
    table = read(path).combine_chunks()
    names = table.column("series").chunk(0)
    starts = np.flatnonzero(pa.compute.not_equal(names[1:], names[:-1]).to_numpy(False)) + 1
    bounds = [0, *starts.tolist(), table.num_rows]
    columns = {name: table.column(name).to_numpy() for name in ("label", *_DETECTORS)}
    for start, stop in pairwise(bounds):
        labels, *scores = (column[start:stop] for column in columns.values())
        yield labels, dict(zip(_DETECTORS, scores, strict=True))


def plain_loop(path: Path) -> list[dict[str, Any]]:
    """Do what a user would: the best threshold of the curve, `evaluate` at it, and chance."""
    rows = []
    for truth, scores in slices(path):
        for own in scores.values():
            predicted = own >= cc.affiliation_curve(truth, own).best().threshold
            row = cc.evaluate(truth, predicted, scores=own, metrics=_METRICS)
            rows.append(row | _told(cc.affiliation(truth, predicted)))
    return rows


def lean_loop(path: Path) -> list[dict[str, Any]]:
    """Do what a careful user would: everything that a row has, and each of it computed once.

    Overhead is measured against this, so it also moves the alarms, which tells chance.
    """
    rows = []
    for truth, scores in slices(path):
        for own in scores.values():
            curve = cc.affiliation_curve(truth, own)
            result = cc.affiliation(truth, own >= curve.best().threshold)
            row = {f"affiliation_{name}": value for name, value in result.values().items()}
            rows.append({**row, _METRICS[1]: curve.average_precision, **_told(result)})
    return rows


def _told(result: Affiliation) -> dict[str, Any]:
    """Return what a row tells beside the metrics: what happened, and what chance reaches."""
    levels = {f"chance_{name}": value for name, value in result.chance.values().items()}
    return {"caught": result.caught, "false_alarms": result.false_alarms, **levels}


def check(path: Path) -> None:
    """Raise rather than time what does not agree, to the last digit."""
    rows = evaluate_frame(path, **_ASKED).table.to_pylist()
    for row, plain, lean in zip(rows, plain_loop(path), lean_loop(path), strict=True):
        if any(row[name] != value or lean[name] != value for name, value in plain.items()):
            raise DisagreementError(f"The loop gives {plain} and evaluate_frame {row}.")
    print(f"evaluate_frame and the loop agree on {len(rows):,} rows, to the last digit.")


def in_turns(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Time functions in turns, so that a slow moment of the machine hits them alike."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(once(function)[0])
    return times


def measure(path: Path, count: int, rounds: int) -> list[Row]:
    """Measure one process, two, the loops and the reading, in turns."""
    # Starts the server that workers come from.
    first, _ = once(lambda: evaluate_frame(path, **_ASKED, workers=_WORKERS))
    times = in_turns(
        {
            "read": lambda: read(path),
            "plain": lambda: plain_loop(path),
            "lean": lambda: lean_loop(path),
            "one": lambda: evaluate_frame(path, **_ASKED),
            "two": lambda: evaluate_frame(path, **_ASKED, workers=_WORKERS),
        },
        rounds,
    )
    return _rows({**times, "first": [first]}, count)


def _rows(rounds: Mapping[str, list[float]], count: int) -> list[Row]:
    times = {name: min(own) for name, own in rounds.items()}
    one, per_series = times["one"], 1e6 / count

    def beyond(loop: str) -> float:
        # A small difference of two large times: taken within each round, where the machine is one.
        pairs = zip(rounds["one"], rounds[loop], strict=True)
        return median(ours - theirs for ours, theirs in pairs) * per_series

    loop, faster = "times the plain loop", "times faster than one worker"
    # A few series are two units, and over before two workers can gain much.
    full = count == _SERIES
    gain, first = (Target(">=", bound) if full else None for bound in (1.7, 1.3))
    lean = "overhead beside the loop that computes each"
    early = f"{_WORKERS} workers, the first time in a program"
    return [
        beside("reading the Parquet file", times["read"], one, "times one worker"),
        beside("plain loop over evaluate", times["plain"], 1 / per_series, "us a series"),
        beside("loop that computes each number once", times["lean"], one, "times ours"),
        beside("evaluate_frame, one worker", one, times["plain"], loop, Target("<=", 1.3)),
        Row("overhead beside the plain loop", None, beyond("plain"), "us a series"),
        Row(f"{lean} once", None, beyond("lean"), "us a series", Target("<", 100)),
        Row(f"{_WORKERS} workers", times["two"], one / times["two"], faster, gain),
        Row(early, times["first"], one / times["first"], faster, first),
    ]


def main(arguments: list[str]) -> int:
    parser = options("batch", __doc__, f"only {_QUICK_SERIES} series")
    count = _QUICK_SERIES if parser.parse_args(arguments).quick else _SERIES
    hold_memory()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series.parquet"
        write_series(path, count)
        size = path.stat().st_size / 1e6
        print(f"{count:,} series x {_SAMPLES:,} samples x {len(_DETECTORS)} ({size:,.0f} MB)")
        try:
            check(path)
        except DisagreementError as error:
            print(error, file=sys.stderr)
            return 2
        rows = measure(path, count, rounds=5)
    return print_tables({"Many series": rows})
