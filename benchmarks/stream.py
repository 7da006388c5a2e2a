"""A series that is never held: 1,000,000,000 samples in chunks, their memory, and a bare pass."""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import series
from benchmarks.timing import (
    Row,
    Target,
    beside,
    new_process,
    options,
    print_tables,
    with_benchmarks,
)
from closecall.affiliation.stream import AffiliationStream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SAMPLES, _QUICK = 1_000_000_000, 100_000_000
_CHUNK = 4_000_000
_TRUE, _PREDICTED = 400, 8_000  # in each chunk
_RUN = "from benchmarks.stream import measure; measure({samples})"
_MEGABYTE = 10**6


def chunks(samples: int) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Make the series chunk by chunk, each a turn of the same labels by another length."""
    truth = series.labels(_TRUE, _CHUNK, mean=500, seed=1)
    predicted = series.labels(_PREDICTED, _CHUNK, mean=25, seed=2)
    for number, start in enumerate(range(0, samples, _CHUNK)):
        length = min(_CHUNK, samples - start)
        places = 7919 * number % _CHUNK, 104_729 * number % _CHUNK
        yield np.roll(truth, places[0])[:length], np.roll(predicted, places[1])[:length]


def measure(samples: int) -> None:
    """Evaluate a series in this process, which does nothing else, and print the numbers."""
    stream = AffiliationStream()
    stream.update([0, 1, 0, 1], [1, 0, 1, 0])
    stream.result()  # all that is compiled is compiled now
    stream = AffiliationStream()
    times = dict.fromkeys(("bare", "stream", "closed"), 0.0)
    rows = 0
    for truth, predicted in chunks(samples):
        start = perf_counter()
        _ = truth.sum() + predicted.sum()
        summed = perf_counter()
        stream.update(truth, predicted)
        updated = perf_counter()
        rows += sum(1 for _ in stream.closed())
        times["closed"] += perf_counter() - updated
        times["stream"] += updated - summed
        times["bare"] += summed - start
        del truth, predicted
    start = perf_counter()
    result = stream.result()
    times["stream"] += perf_counter() - start
    numbers = {
        **times,
        "kept": stream.kept,
        "rows": rows,
        "events": len(result.events),
        "alarms": stream.alarms,
        "precision": result.precision,
        "recall": result.recall,
        "peak": _peak(),
    }
    print(json.dumps(numbers))


def _peak() -> int | None:
    """Return the largest memory this process has had, in bytes."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def rows_of(samples: int, numbers: dict[str, Any], seconds: float) -> list[Row]:
    """Judge the rate and the memory."""
    rate = samples / numbers["stream"] / 1e6
    counts = f"{numbers['events']:,} true, {numbers['alarms']:,} predicted"
    name = f"AffiliationStream, {samples:,} samples ({counts})"
    meaning = f"times the bare pass ({rate:,.0f} million samples a second)"
    rows = [
        Row("truth.sum() + predicted.sum() of every chunk", numbers["bare"]),
        beside(name, numbers["stream"], numbers["bare"], meaning, Target("<=", 4)),
        Row("changes of truth or prediction that are kept", None, numbers["kept"], "changes"),
        beside(
            f"closed(), {numbers['rows']:,} rows as plain values",
            numbers["closed"],
            max(1, numbers["rows"]) / 1e6,
            "microseconds per row",
        ),
        Row("the whole process, with making the chunks", seconds),
    ]
    if numbers["peak"] is not None:
        memory = numbers["peak"] / _MEGABYTE
        rows.append(Row("peak memory of the process", None, memory, "MB", Target("<", 300)))
    return rows


def main(arguments: list[str]) -> int:
    parser = options("stream", __doc__, f"only {_QUICK:,} samples")
    parser.add_argument("--samples", type=int, help=f"how many samples (default: {_SAMPLES:,})")
    chosen = parser.parse_args(arguments)
    samples = chosen.samples or (_QUICK if chosen.quick else _SAMPLES)
    print(f"{samples:,} samples take about {max(1, samples / 100e6):,.0f} seconds.")
    seconds, numbers = new_process(_RUN.format(samples=samples), with_benchmarks())
    scores = f"precision {numbers['precision']:.3f}, recall {numbers['recall']:.3f}"
    print(f"{numbers['rows']:,} rows came while it ran; in the end, {scores}.")
    rows = rows_of(samples, numbers, seconds)
    return print_tables({f"One series in chunks of {_CHUNK:,} samples": rows})
