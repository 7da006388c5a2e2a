"""Every threshold at once: closecall, scikit-learn's pointwise curve, and sorting the scores."""

from __future__ import annotations

import sys
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

import closecall as cc
from benchmarks import series
from benchmarks.affiliation import DisagreementError
from benchmarks.peers import MissingPeerError, OfficialAffiliation, PointwiseCurve
from benchmarks.timing import (
    Row,
    Target,
    beside,
    best_time,
    best_times,
    hold_memory,
    once,
    options,
    peak_memory,
    print_tables,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SWAT, _LONG = 450_000, 10_000_000
_SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_CHECKED, _QUICK_THRESHOLDS, _THRESHOLDS = 12, 4, 100
_SMALLEST = 1e-15  # differences are shown in this unit
_AGREEMENT = 1e-9
_MORE = 1.33  # times the cost of a curve, with what happened to events


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
    own, bare, ratio = times["closecall"], times["argsort"], "times the bare argsort"
    points = len(cc.affiliation_curve(truth, scores))
    name = f"closecall, {length:,} samples ({points:,} thresholds)"
    peer = f"closecall beside scikit-learn, {length:,} samples", "times faster than scikit-learn"
    return [
        Row("numpy.argsort(scores)", bare),
        beside("scikit-learn precision_recall_curve", times["pointwise"], bare, ratio),
        beside(name, own, bare, ratio, Target("<=", 4)),
        Row(peer[0], None, times["pointwise"] / own, peer[1], Target(">", 1)),
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
    more, name = per_step[-1] / per_step[0], "growth beyond N log N"
    return [
        *rows,
        Row(f"numpy.argsort, {name}", None, sorting[-1] / sorting[0], across),
        Row(f"closecall, {name}", None, more, across, Target("<=", 4)),
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
        predicted = (scores >= threshold).astype(np.uint8)
        spent, reference = once(lambda: official.score_vectors(truth, predicted))  # noqa: B023
        seconds += spent
        for name in ("precision", "recall"):
            largest = max(largest, abs(getattr(curve, name)[point] - reference[name]))
    if not largest < _AGREEMENT:
        raise DisagreementError(f"closecall and the official code differ by {largest:.1e}.")
    print(f"closecall and the official code agree at {count} thresholds to {largest:.1e}.")
    loop = seconds * _THRESHOLDS / count
    if count < _THRESHOLDS:
        print(f"Quick run: {_THRESHOLDS} thresholds are extrapolated from {count}.")
    fast = best_time(lambda: cc.affiliation_curve(truth, scores))
    faster = f"times faster than the official code at {_THRESHOLDS}"
    hours = loop / _THRESHOLDS * len(curve) / 3600
    return [
        Row(f"official (telemeval), {_THRESHOLDS} thresholds, {_SWAT:,} samples", loop),
        Row(f"closecall, all {len(curve):,} thresholds", fast, loop / fast, faster),
        Row("the official code at all of them", None, hours, "hours, extrapolated"),
    ]


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
        name, ratio = f"with caught, false_alarms and alarmed, {kind}", "times the curve alone"
        rows += [
            Row(f"closecall, {kind}, {length:,} samples", times["alone"]),
            beside(name, times["counted"], times["alone"], ratio, Target("<=", _MORE)),
        ]
    return rows


def main(arguments: list[str]) -> int:
    parser = options("curve", __doc__, "few thresholds for the official code")
    cold = "give memory back between calls, and pay for it anew"
    parser.add_argument("--cold", action="store_true", help=cold)
    chosen = parser.parse_args(arguments)
    if not chosen.cold and hold_memory():
        print("Freed memory is kept for the next call, of every contestant; --cold gives it back.")
    try:
        official, pointwise = OfficialAffiliation(), PointwiseCurve()
        loop = against_official(official, _QUICK_THRESHOLDS if chosen.quick else _THRESHOLDS)
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
        "Memory": peak_memory("curve", "noisy", "affiliation_curve", Target("<", 1.2)),
    }
    return print_tables(sections)
