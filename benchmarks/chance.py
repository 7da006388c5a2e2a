"""Shift tests of significance: 1,000 shifts at once, against scoring them one by one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import closecall as cc
from benchmarks import series
from benchmarks.affiliation import DisagreementError
from benchmarks.timing import Row, Target, best_time, best_times, once, options, print_tables
from closecall.affiliation.shifts import alarm_seams, shift_grid
from closecall.affiliation.sweep import score_rolls
from closecall.chance import significance
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The size of SWaT with the alarms of isolation forest, the most of the paper's detectors.
_SAMPLES, _TRUE, _PREDICTED = 449_919, 35, 2_601
_SHIFTS, _CHECKED = 1_000, 10
_CURVES, _QUICK_CURVES = 50, 10
_TOLERANCE = 1e-12


def swat_sized() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.float64]]:
    """Draw true and predicted labels, and scores that move slowly."""
    truth = series.labels(_TRUE, _SAMPLES, mean=1_500, seed=1)
    predicted = series.labels(_PREDICTED, _SAMPLES, mean=20, seed=2)
    total = np.cumsum(np.random.default_rng(3).normal(size=_SAMPLES + 100))
    return truth, predicted, total[100:] - total[:-100]


def require_agreement(found: NDArray[np.float64], one_by_one: list[float], what: str) -> None:
    """Stop if the null is not what scoring the shifted vectors gives."""
    largest = float(np.abs(found[: len(one_by_one)] - one_by_one).max())
    print(f"{what} of {len(one_by_one)} shifts agrees with scoring them alone to {largest:.1e}.")
    if not largest <= _TOLERANCE:
        raise DisagreementError(f"{what} differs by {largest:.1e}")


def of_labels(truth: Any, predicted: Any, rounds: int) -> list[Row]:
    """Measure 1,000 shifts of alarms."""
    seams = alarm_seams(shift_grid(read_pair(truth, predicted)), _SHIFTS)[0][:_CHECKED].tolist()
    moved = [np.roll(predicted, -seam) for seam in seams]
    results = [cc.affiliation(truth, labels) for labels in moved]
    test = significance(truth, predicted, n=_SHIFTS)
    require_agreement(test.precision.null, [one.precision for one in results], "The precision")
    require_agreement(test.recall.null, [one.recall for one in results], "The recall")
    span = (0, _SAMPLES)
    events = cc.Events.from_labels(truth), cc.Events.from_labels(predicted)
    times = best_times(
        {
            "test": lambda: significance(truth, predicted, n=_SHIFTS),
            "labels": lambda: cc.affiliation(truth, np.roll(predicted, 12_345)),
            "events": lambda: cc.affiliation(*events, span=span),
        },
        rounds=rounds,
    )
    rate = "scoring calls per second"
    return [
        Row("1,000 shifts of labels", times["test"], times["test"], "seconds", Target("<", 0.06)),
        Row("the same, per shift", times["test"] / _SHIFTS, _SHIFTS / times["test"], rate),
        Row("plain loop over cc.affiliation, labels", times["labels"], 1 / times["labels"], rate),
        Row("plain loop over cc.affiliation, Events", times["events"], 1 / times["events"], rate),
    ]


def of_scores(truth: Any, scores: Any, shifts: int) -> list[Row]:
    """Measure shifts of the score vector, each of which is a whole curve."""
    runs = [once(lambda: significance(truth, scores=scores, n=shifts)) for _ in range(3)]
    seconds, test = min(run[0] for run in runs), runs[0][1]
    rolls = score_rolls(_SAMPLES, shifts)[:3].tolist()
    curves = [cc.affiliation_curve(truth, np.roll(scores, roll)) for roll in rolls]
    singles = [curve.average_precision for curve in curves]
    require_agreement(test.average_precision.null, singles, "The average precision")
    alone = best_time(lambda: cc.affiliation_curve(truth, np.roll(scores, 12_345)), rounds=3)
    per_shift = seconds / (shifts + 1)  # the observed scores are one more
    rate = "curves per second"
    return [
        Row(f"{shifts} shifts of scores", seconds, _SHIFTS * per_shift, "seconds for 1,000"),
        Row("the same, per shift", per_shift, 1 / per_shift, rate),
        Row("plain loop over cc.affiliation_curve", alone, 1 / alone, rate),
    ]


def main(arguments: list[str]) -> int:
    parser = options("chance", __doc__, "shift the scores less often")
    quick = parser.parse_args(arguments).quick
    truth, predicted, scores = swat_sized()
    significance(truth[:10_000] | 1, scores=scores[:10_000], n=1)  # compiles what is compiled
    try:
        rows = of_labels(truth, predicted, rounds=3 if quick else 7)
        rows += of_scores(truth, scores, _QUICK_CURVES if quick else _CURVES)
    except DisagreementError as error:
        print(f"Stopped: {error}.", file=sys.stderr)
        return 1
    size = f"{_SAMPLES:,} samples, {_PREDICTED:,} predicted and {_TRUE} true events"
    return print_tables({f"{size}, on one core (nothing here runs in parallel)": rows})
