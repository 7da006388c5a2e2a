"""The paper's design targets, each as an experiment with one number.

The experiments run on a small canonical series of 1000 samples, which have the step of the
audited series, so that lengths of time among the parameters of a metric keep their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.adversary.search import Values, audited, main_number, main_numbers, merit
from closecall.clock import read_times
from closecall.metrics.registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.adversary.predictions import EventsInSpan

    Measure = Callable[[NDArray[np.uint8], NDArray[np.uint8]], Values]

SAMPLES = 1000
EVENTS = ((230, 250), (430, 450), (630, 650), (830, 850))
"""Four events of 20 samples; they lie behind the first 15 %, which NAB does not score."""
DISTANCES = (0, 1, 2, 5, 10, 20, 40, 60)
LONG, SHORT = (300, 500), (700, 710)
OTHER, BESIDE = (850, 860), (870, 890)
"""A third event, and what is predicted around it: without mistakes, precision would say nothing."""
_ZONE = (340, 540)  # of the second event: halfway to its neighbours
_SLOPPY = 40
_FROM = 60
_ROUNDING = 1e-9
EXPERIMENTS = 1 + len(DISTANCES) + 3 + (_FROM + 1) + 2 * 4
"""How many predictions `measure_targets` scores."""


@dataclass(frozen=True)
class Target:
    """A design target: what its number means, and from where on it counts as met."""

    name: str
    question: str
    least: float
    most: float
    meaning: str
    flag: str = ""
    """Name of the field of `Metric` that says whether a metric meets it, if there is one."""


TARGETS = {
    target.name: target
    for target in (
        Target(
            "near_miss",
            "Does a near miss count for more than a far one?",
            0.05,
            inf,
            "what a miss by one sample keeps of the way from a miss by 60 samples to perfect",
            "handles_adjacency",
        ),
        Target(
            "long_event",
            "Do a long and a short event count alike?",
            -0.1,
            0.1,
            "score of finding an event of 200 samples minus that of finding one of 10, beside a "
            "third event that is missed, as a share of the way to finding both",
            "handles_durations",
        ),
        Target(
            "largest_jump",
            "Does a slight improvement give a slight gain?",
            -inf,
            0.1,
            "largest change for a move by one sample, as a share of the whole range passed through",
        ),
        Target(
            "idle_moves",
            "Does every slight improvement give a gain?",
            -inf,
            0.1,
            "share of the moves by one sample towards the event that change nothing",
        ),
        Target(
            "locality",
            "Does what happens around one event count only for its share?",
            -inf,
            1 + _ROUNDING,
            "largest change of precision or recall by predictions around one of four events, in "
            "units of a quarter of the range",
        ),
    )
}


def measure_targets(measure: Measure) -> tuple[list[dict[str, Any]], dict[str, dict[int, float]]]:
    """Run every experiment; return one row per metric and target, and scores by distance."""
    by_distance, perfect = _near_misses(measure)
    numbers = {
        "near_miss": {
            name: _share_of_way(name, scores[1], scores[DISTANCES[-1]], perfect[name])
            for name, scores in by_distance.items()
        },
        "long_event": _long_event(measure),
        **_improvements(measure),
        "locality": _locality(measure, by_distance, perfect),
    }
    rows = [
        _row(metric, TARGETS[name], values[metric])
        for metric in perfect
        for name, values in numbers.items()
    ]
    return rows, by_distance


def _row(metric: str, target: Target, value: float) -> dict[str, Any]:
    """Judge a number, and set it beside what the registry says of the metric."""
    met = target.least <= value <= target.most if isfinite(value) else None
    claimed, note = None, ""
    if target.flag and metric in METRICS:
        claimed = getattr(METRICS[metric], target.flag)
        if claimed != bool(met):
            reasons = METRICS[metric].measured_otherwise
            note = reasons.get(target.flag, "the registry has the metric with other parameters")
    row = {"metric": metric, "target": target.name, "value": value}
    return row | {"met": met, "claimed": claimed, "note": note}


def canonical_times(series: EventsInSpan, times: Any) -> Any:
    """Return times of the canonical samples with the step of the audited series."""
    if series.samples:
        if times is None:
            return None
        ticks, clock = read_times(times, "times")
        step = np.median(np.diff(ticks))
    else:
        ticks, clock = np.array([series.start]), series.clock
        step = series.length / SAMPLES
    if clock.kind == "number":
        return step * np.arange(SAMPLES)
    return clock.native(ticks[0] + max(1, round(float(step))) * np.arange(SAMPLES))


def _labels(*events: tuple[int, int]) -> NDArray[np.uint8]:
    labels = np.zeros(SAMPLES, dtype=np.uint8)
    for start, stop in events:
        labels[start:stop] = 1
    return labels


def _share_of_way(metric: str, score: float, low: float, high: float) -> float:
    """Return where a score lies between a bad and a perfect one: 0 to 1."""
    here, bad, good = (merit(audited(metric), value) for value in (score, low, high))
    return (here - bad) / (good - bad) if isfinite(here + good + bad) and good > bad else nan


def _near_misses(measure: Measure) -> tuple[dict[str, dict[int, float]], dict[str, float]]:
    """Score predictions that miss every event by some samples."""
    truth = _labels(*EVENTS)
    perfect = main_numbers(measure(truth, truth))
    by_distance: dict[str, dict[int, float]] = {name: {} for name in perfect}
    for distance in DISTANCES:
        late = _labels(*((stop + distance, 2 * stop - start + distance) for start, stop in EVENTS))
        for name, score in main_numbers(measure(truth, late)).items():
            by_distance[name][distance] = score
    return by_distance, perfect


def _long_event(measure: Measure) -> dict[str, float]:
    """Find only the long event, or only the short one; nan where finding both is no better."""
    truth = _labels(LONG, SHORT, OTHER)
    both, long, short = (
        main_numbers(measure(truth, _labels(*found, BESIDE)))
        for found in ((LONG, SHORT), (LONG,), (SHORT,))
    )
    differences = {}
    for name in both:
        best, *each = (merit(audited(name), values[name]) for values in (both, long, short))
        way = best - min(each)
        differences[name] = (each[0] - each[1]) / way if isfinite(way) and way > 0 else nan
    return differences


def _improvements(measure: Measure) -> dict[str, dict[str, float]]:
    """Move one prediction sample by sample towards its event; the others are perfect."""
    truth = _labels(*EVENTS)
    first, (start, stop), *others = EVENTS
    passed = [
        main_numbers(measure(truth, _labels(first, (start - away, stop - away), *others)))
        for away in range(_FROM, -1, -1)
    ]
    jumps, idle = {}, {}
    for name in passed[0]:
        scores = np.array([scores[name] for scores in passed])
        steps = np.abs(np.diff(scores))
        whole = scores.max() - scores.min()
        moved = np.isfinite(whole) and whole > 0
        jumps[name] = float(steps.max() / whole) if moved else nan
        idle[name] = float((steps <= _ROUNDING * whole).mean()) if moved else 1.0
    return {"largest_jump": jumps, "idle_moves": idle}


def _locality(
    measure: Measure, by_distance: dict[str, dict[int, float]], perfect: dict[str, float]
) -> dict[str, float]:
    """Change the predictions around one event; those around the others are exact, or sloppy."""
    truth = _labels(*EVENTS)
    event = EVENTS[1]
    shattered = tuple((sample, sample + 1) for sample in range(*event, 2))
    changes: dict[str, float] = dict.fromkeys(perfect, nan)
    for margin in (0, _SLOPPY):
        others = [(s - margin, e + margin) for s, e in EVENTS if (s, e) != event]
        seen = [
            measure(truth, _labels(*others, *around))
            for around in ((event,), (), shattered, (_ZONE,))
        ]
        for name, best in perfect.items():
            entry = audited(name)
            whole = entry.highest - entry.lowest
            if not isfinite(whole):
                whole = abs(best - by_distance[name][DISTANCES[-1]])
            parts = [number for number in entry.gives if number in ("precision", "recall")]
            for number in parts or [main_number(entry)]:
                values = np.array([row[name][number] for row in seen])
                values = values[np.isfinite(values)]
                if values.size and whole:
                    change = len(EVENTS) * float(np.ptp(values)) / whole
                    changes[name] = float(np.fmax(changes[name], change))
    return changes
