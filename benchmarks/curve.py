"""Every threshold at once: closecall, scikit-learn's pointwise curve, and sorting the scores."""

from __future__ import annotations

import argparse
import os
import sys
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import closecall as cc
from benchmarks import series
from benchmarks.affiliation import DisagreementError
from benchmarks.peers import MissingPeerError, OfficialAffiliation, PointwiseCurve
from benchmarks.timing import (
    Row,
    Target,
    best_time,
    best_times,
    hold_memory,
    new_process,
    once,
    print_table,
    python_path,
    verdict,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SWAT, _LONG = 450_000, 10_000_000
_SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_CHECKED, _QUICK_THRESHOLDS, _THRESHOLDS = 12, 4, 100
_SMALLEST = 1e-15  # differences are shown in this unit
_AGREEMENT = 1e-9
_MORE = 1.33  # times the cost of a curve, with what happened to events
_PEAK = """
import json
from pathlib import Path
import closecall as cc
from benchmarks.curve import noisy
def peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])
truth, scores = noisy(10_000_000)
cc.affiliation_curve(truth[:1_000_000].copy(), scores[:1_000_000].copy())
Path("/proc/self/clear_refs").write_text("5")
before = peak()
cc.affiliation_curve(truth, scores)
print(json.dumps([peak() - before, truth.nbytes + scores.nbytes]))
"""


def noisy(length: int) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Draw true labels, and scores that are all distinct and say nothing: the hardest to sort."""
    truth = series.labels(max(1, length // 10_000), length, mean=500, seed=1)
    return truth, np.random.default_rng(2).random(length)


def smooth(length: int, window: int = 1_000) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Draw true labels, and scores that move slowly and rise at the events, as a detector's do."""
    truth = series.labels(35, length, mean=1_500, seed=3)
    total = np.cumsum(np.random.default_rng(4).normal(size=length + window) / window**0.5)
    return truth, total[window:] - total[:-window] + 2 * truth


def beside_peers(pointwise: PointwiseCurve, length: int, rounds: int) -> list[Row]:
    """Measure the whole curve against scikit-learn's, and against sorting its scores."""
    truth, scores = noisy(length)
    times = best_times(
        {
            "argsort": lambda: np.argsort(scores),
            "pointwise": lambda: pointwise.score(truth, scores),
            "closecall": lambda: cc.affiliation_curve(truth, scores),
        },
        rounds=rounds,
    )
    own, ratio = times["closecall"], "times the bare argsort"
    points = len(cc.affiliation_curve(truth, scores))
    name = f"closecall, {length:,} samples ({points:,} thresholds)"
    faster = times["pointwise"] / own
    return [
        Row("numpy.argsort(scores)", times["argsort"]),
        Row(
            "scikit-learn precision_recall_curve",
            times["pointwise"],
            times["pointwise"] / times["argsort"],
            ratio,
        ),
        Row(name, own, own / times["argsort"], ratio, Target("<=", 4)),
        Row(
            f"closecall beside scikit-learn, {length:,} samples",
            None,
            faster,
            "times faster than scikit-learn",
            Target(">", 1),
        ),
    ]


def growth() -> list[Row]:
    """Measure seconds per N log N from 10^5 to 10^7 samples, which N log N alone keeps constant.

    The constants of a piece stay in the cache for 10^5 samples and come from memory for 10^7, so
    some growth is the machine's: sorting shows how much. N^1.5 would give 7, N^2 would give 71.
    """
    rows, per_step, sorting = [], [], []
    for size in _SIZES:
        truth, scores = noisy(size)
        times = best_times(
            {
                "argsort": lambda: np.argsort(scores),  # noqa: B023 - called at once
                "closecall": lambda: cc.affiliation_curve(truth, scores),  # noqa: B023
            },
            rounds=5,
        )
        steps = size * log2(size)
        per_step.append(1e9 * times["closecall"] / steps)
        sorting.append(1e9 * times["argsort"] / steps)
        unit = "ns per N log2 N"
        rows.append(Row(f"closecall, {size:,} samples", times["closecall"], per_step[-1], unit))
    across = f"times as much per N log2 N at {_SIZES[-1]:,} as at {_SIZES[0]:,}"
    return [
        *rows,
        Row("numpy.argsort, growth beyond N log N", None, sorting[-1] / sorting[0], across),
        Row(
            "closecall, growth beyond N log N",
            None,
            per_step[-1] / per_step[0],
            across,
            Target("<=", 4),
        ),
    ]


def rounding(length: int) -> list[Row]:
    """Measure how far ten million running sums have drifted from evaluating one threshold."""
    truth, scores = noisy(length)
    curve = cc.affiliation_curve(truth, scores)
    chosen = np.random.default_rng(5).choice(len(curve), size=_CHECKED, replace=False)
    largest = 0.0
    for point in (*chosen, len(curve) - 1):
        result = cc.affiliation(truth, scores >= curve.thresholds[point])
        pair = (curve.precision[point] - result.precision, curve.recall[point] - result.recall)
        largest = max(largest, *(abs(float(difference)) for difference in pair))
    label = f"largest difference from affiliation, {_CHECKED + 1} thresholds, {length:,} samples"
    target = Target("<", _AGREEMENT / _SMALLEST)
    return [Row(label, None, largest / _SMALLEST, f"times {_SMALLEST}", target)]


def against_official(official: OfficialAffiliation, count: int) -> list[Row]:
    """Measure the exact curve against the official code in a loop over sampled thresholds."""
    truth, scores = smooth(_SWAT)
    curve = cc.affiliation_curve(truth, scores)
    sampled = np.linspace(0, len(curve) - 1, count + 2)[1:-1].astype(np.int64)
    seconds, largest = 0.0, 0.0
    for point in sampled:
        threshold = curve.thresholds[point]
        spent, reference = once(lambda: _official_at(official, truth, scores, threshold))  # noqa: B023
        seconds += spent
        largest = max(
            largest,
            abs(curve.precision[point] - reference["precision"]),
            abs(curve.recall[point] - reference["recall"]),
        )
    if not largest < _AGREEMENT:
        raise DisagreementError(f"closecall and the official code differ by {largest:.1e}.")
    print(f"closecall and the official code agree at {count} thresholds to {largest:.1e}.")
    loop = seconds * _THRESHOLDS / count
    if count < _THRESHOLDS:
        print(f"Quick run: {_THRESHOLDS} thresholds are extrapolated from {count}.")
    fast = best_time(lambda: cc.affiliation_curve(truth, scores))
    return [
        Row(f"official (telemeval), {_THRESHOLDS} thresholds, {_SWAT:,} samples", loop),
        Row(
            f"closecall, all {len(curve):,} thresholds",
            fast,
            loop / fast,
            f"times faster than the official code at {_THRESHOLDS}",
        ),
        Row(
            "the official code at all of them",
            None,
            loop / _THRESHOLDS * len(curve) / 3600,
            "hours, extrapolated",
        ),
    ]


def _official_at(
    official: OfficialAffiliation,
    truth: NDArray[np.uint8],
    scores: NDArray[np.float64],
    threshold: float,
) -> dict[str, Any]:
    return official.score_vectors(truth, (scores >= threshold).astype(np.uint8))


def outcomes(length: int, rounds: int) -> list[Row]:
    """Measure what counting events caught and false alarms at every threshold adds to a curve."""
    rows = []
    for kind, draw in (("noise", noisy), ("slow scores", smooth)):
        truth, scores = draw(length)

        def counted(truth: Any = truth, scores: Any = scores) -> None:
            curve = cc.affiliation_curve(truth, scores)
            _ = curve.caught, curve.false_alarms, curve.alarmed

        times = best_times(
            {
                "alone": lambda: cc.affiliation_curve(truth, scores),  # noqa: B023 - called at once
                "counted": counted,
            },
            rounds=rounds,
        )
        rows += [
            Row(f"closecall, {kind}, {length:,} samples", times["alone"]),
            Row(
                f"with caught, false_alarms and alarmed, {kind}",
                times["counted"],
                times["counted"] / times["alone"],
                "times the curve alone",
                Target("<=", _MORE),
            ),
        ]
    return rows


def memory() -> list[Row]:
    """Measure what 10,000,000 samples need beyond truth and scores, in a process of its own."""
    if not os.access("/proc/self/clear_refs", os.W_OK):
        print("Peak memory is not measured: this system has no /proc/self/clear_refs.")
        return []
    peak, inputs = new_process(_PEAK, {"PYTHONPATH": python_path(Path(__file__).parents[1])})[1]
    label = f"peak memory above the input, {_LONG:,} samples"
    given = f"GB (the input: {inputs / 1e9:.2f} GB)"
    return [Row(label, None, peak / 1e9, given, Target("<", 1.2))]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks curve", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few thresholds for the official code")
    parser.add_argument(
        "--cold", action="store_true", help="give memory back between calls, and pay for it anew"
    )
    options = parser.parse_args(arguments)
    if not options.cold and hold_memory():
        print("Freed memory is kept for the next call, of every contestant; --cold gives it back.")
    try:
        official, pointwise = OfficialAffiliation(), PointwiseCurve()
        loop = against_official(official, _QUICK_THRESHOLDS if options.quick else _THRESHOLDS)
    except (MissingPeerError, DisagreementError) as error:
        print(error, file=sys.stderr)
        return 2
    sections = {
        "Against a loop of the official algorithm": loop,
        "As long as SWaT": beside_peers(pointwise, _SWAT, rounds=15),
        "Ten million samples": beside_peers(pointwise, _LONG, rounds=5),
        "What happened to events": [*outcomes(_SWAT, rounds=15), *outcomes(_LONG, rounds=5)],
        "Growth": growth(),
        "Accumulated rounding": rounding(_LONG),
        "Memory": memory(),
    }
    for title, rows in sections.items():
        print_table(title, rows)
    return verdict([row for rows in sections.values() for row in rows])
