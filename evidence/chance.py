"""Simulate how often alarms without information are found to be better than chance."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click
import numpy as np

from closecall.affiliation.shifts import score_moved
from closecall.chance import ShiftTest, significance
from closecall.series import read_pair
from evidence.simulation import pivot, run_all, simulation_options, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Labels = NDArray[np.uint8]
    Detector = Callable[[np.random.Generator, Labels], Labels]

SAMPLES, SERIES, QUICK_SERIES = 1_500, 2_000, 200
EVENTS = (1, 2, 5, 10, 35)
LEVEL = 0.05
MOST, MOST_AT_BORDERS, MOST_AWAY = 0.06, 0.10, 0.03
LARGEST_ERROR = 0.006  # of a mean that is compared with MOST_AWAY
_MOST_TIMES = 50  # the number of series grows at most by this factor for that
_PREFIX = 300  # samples that are ignored


def true_labels(random: np.random.Generator, count: int, samples: int = SAMPLES) -> Labels:
    """Draw events of any length up to a third of their share, anywhere, never touching."""
    return placed(random, random.integers(1, max(2, samples // (3 * count)), size=count), samples)


def placed(random: np.random.Generator, lengths: NDArray[np.int64], samples: int) -> Labels:
    """Put runs of these lengths anywhere, never touching."""
    labels = np.zeros(samples, dtype=np.uint8)
    free = samples - int(lengths.sum()) - (lengths.size - 1)
    places = np.sort(random.integers(0, free + 1, size=lengths.size))
    starts = places + np.concatenate(([0], np.cumsum(lengths[:-1] + 1)))
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        labels[start : start + length] = 1
    return labels


def everything(random: np.random.Generator, truth: Labels) -> Labels:  # noqa: ARG001
    """Predict all samples."""
    return np.ones_like(truth)


def all_but(place: str) -> Detector:
    """Predict all samples but one, at the first, the last or a random place."""

    def predict(random: np.random.Generator, truth: Labels) -> Labels:
        alarms = np.ones_like(truth)
        alarms[{"first": 0, "last": -1}.get(place, int(random.integers(truth.size)))] = 0
        return alarms

    return predict


def one_alarm(share: float, *, to_the_end: bool = False) -> Detector:
    """Predict one alarm of this share of the time, anywhere or up to the end."""

    def predict(random: np.random.Generator, truth: Labels) -> Labels:
        length = round(share * truth.size)
        last = truth.size - length
        start = last if to_the_end else int(random.integers(last + 1))
        alarms = np.zeros_like(truth)
        alarms[start : start + length] = 1
        return alarms

    return predict


def comb(random: np.random.Generator, truth: Labels) -> Labels:
    """Predict periodic alarms."""
    period = int(random.integers(5, 200))
    width = int(random.integers(1, max(2, period // 2)))
    phase = int(random.integers(period))
    alarms: Labels = ((np.arange(truth.size) + phase) % period < width).astype(np.uint8)
    return alarms


def bursts(random: np.random.Generator, truth: Labels) -> Labels:
    """Predict a few clusters of short alarms."""
    alarms = np.zeros_like(truth)
    for middle in random.integers(truth.size, size=random.integers(1, 6)).tolist():
        near = middle + random.normal(0, 15, size=20)
        alarms[np.unique(near[(near >= 0) & (near < truth.size)].astype(int))] = 1
    return alarms


def autocorrelated(random: np.random.Generator, truth: Labels) -> Labels:
    """Predict where a slow AR(1) process is high."""
    slow, share = random.uniform(0.9, 0.995), random.uniform(0.01, 0.3)
    first, *steps = random.normal(size=1 + truth.size).tolist()
    current, level = first / (1 - slow**2) ** 0.5, []
    for step in steps:
        current = slow * current + step
        level.append(current)
    values = np.array(level)
    labels: Labels = (values >= np.quantile(values, 1 - share)).astype(np.uint8)
    return labels


def heavy_tailed(random: np.random.Generator, truth: Labels) -> Labels:
    """Predict alarms of Pareto lengths, anywhere, never touching."""
    lengths = 1 + (5 * random.pareto(1.2, size=random.integers(1, 20))).astype(np.int64)
    lengths = np.minimum(lengths, truth.size // 3)
    return placed(random, lengths[np.cumsum(lengths + 1) <= 0.8 * truth.size], truth.size)


def moderate(random: np.random.Generator, truth: Labels) -> Labels:
    """Find nine events in ten, up to 20 samples late, with as many false alarms as events."""
    starts = np.flatnonzero(np.diff(truth, prepend=0) == 1)
    alarms = np.zeros_like(truth)
    for start in starts.tolist():
        if random.random() < _FOUND:
            at = start + int(random.integers(20))
            alarms[at : at + 10] = 1
    for at in random.integers(truth.size, size=starts.size).tolist():
        alarms[at : at + 10] = 1
    return alarms


_FOUND = 0.9
_LONG = 0.9


class Scenario(NamedTuple):
    """Alarms without information, and how often they may be found better than chance."""

    name: str
    predict: Detector
    most: float = MOST
    placed_at_random: bool = True
    """Whether the scores above chance are to be 0 on average."""
    prefix: int = 0
    """Samples at the start without events or alarms, which are then ignored."""


_AT_BORDERS: dict[str, Any] = {"most": MOST_AT_BORDERS, "placed_at_random": False}
SCENARIOS = (
    Scenario("everything", everything),
    Scenario("all but the first", all_but("first"), **_AT_BORDERS),
    Scenario("all but the last", all_but("last"), **_AT_BORDERS),
    Scenario("all but one sample", all_but("random"), **_AT_BORDERS),
    Scenario("one alarm of 25 %", one_alarm(0.25)),
    Scenario("one alarm of 50 %", one_alarm(0.5)),
    Scenario("one alarm of 90 %", one_alarm(_LONG)),
    Scenario("25 % up to the end", one_alarm(0.25, to_the_end=True), **_AT_BORDERS),
    Scenario("periodic combs", comb),
    Scenario("bursts", bursts),
    Scenario("autocorrelated", autocorrelated),
    Scenario("heavy-tailed", heavy_tailed),
    Scenario("after an ignored prefix", bursts, prefix=_PREFIX),
)


class Finding(NamedTuple):
    """The result of the test for one scenario and number of events."""

    better: float
    """Share of series whose alarms are found better than chance: p of F1 at most 5 %."""
    above: NDArray[np.float64]
    """Mean precision, recall and F1 above chance."""
    error: NDArray[np.float64]
    """Standard errors of these means: recall above a level near 1 varies a lot."""

    def breaks(self, scenario: Scenario) -> bool:
        """Whether the share exceeds its limit, or the scores are away from 0."""
        away = np.abs(self.above) > MOST_AWAY
        return self.better > scenario.most or bool(scenario.placed_at_random and away.any())


def simulate(scenario: Scenario, events: int, series: int, error: float = np.inf) -> Finding:
    """Draw series, and more until the standard errors of means are small; test each, and count."""
    better, size = 0, series
    above: list[list[float]] = []
    for seed in range(_MOST_TIMES * series):
        if seed == size:
            if np.std(above, axis=0).max() / len(above) ** 0.5 < error:
                break
            size += series
        random = np.random.default_rng([15, events, seed])
        truth = true_labels(random, events, SAMPLES - scenario.prefix)
        predicted, ignored = scenario.predict(random, truth), None
        if not predicted.any():
            continue
        if scenario.prefix:
            nothing = np.zeros(scenario.prefix, dtype=np.uint8)
            truth, predicted = (np.concatenate((nothing, one)) for one in (truth, predicted))
            ignored = np.arange(truth.size) < scenario.prefix
        test = significance(truth, predicted, ignore=ignored)
        better += test.f1.better_than_chance
        above.append([one.above_chance for one in (test.precision, test.recall, test.f1)])
    scores = np.array(above)
    return Finding(better / len(above), scores.mean(axis=0), scores.std(axis=0) / len(above) ** 0.5)


def compared(events: int, series: int, *, long: bool = False) -> tuple[float, float]:
    """Return how often a moderate detector, or one long alarm, is found better than chance.

    The first share is that of the test as it is, the second that of a test by all shifts,
    including those that cut an alarm in two.
    """
    better, predict = np.zeros(2), one_alarm(_LONG) if long else moderate
    for seed in range(series):
        random = np.random.default_rng([15, events, seed])
        truth = true_labels(random, events)
        pair = read_pair(truth, predict(random, truth))
        places = np.arange(truth.size)
        f1 = score_moved(pair, places, places[:0])[0][2]
        tests = significance(pair, None).f1, ShiftTest("F1", f1[0], f1[1:], "alarms", exact=True)
        better += [test.better_than_chance for test in tests]
    ours, every = (better / series).tolist()
    return ours, every


def tuned_noise(events: int, series: int) -> float:
    """Return how often pure noise at its own best threshold has a p-value of at most 5 %."""
    better = 0
    for seed in range(series):
        random = np.random.default_rng([16, events, seed])
        truth = true_labels(random, events, 400)
        scores = np.convolve(random.normal(size=430), np.ones(31), "valid")
        better += significance(truth, scores=scores, threshold="best_f1", n=100).f1.pvalue <= LEVEL
    return better / series


_SCORES = ("precision", "recall", "f1")


def simulated(number: int, events: int, series: int, error: float) -> list[dict[str, Any]]:
    """Simulate a scenario by its number: functions in functions do not go to other processes."""
    scenario = SCENARIOS[number]
    found = simulate(scenario, events, series, error if scenario.placed_at_random else np.inf)
    record = {
        "alarms": scenario.name,
        "events": events,
        "better": found.better,
        "limit": scenario.most,
        "held": not found.breaks(scenario),
    }
    for score, above, deviation in zip(_SCORES, found.above, found.error, strict=True):
        record |= {f"{score}_above_chance": float(above), f"{score}_error": float(deviation)}
    return [record]


def simulated_noise(events: int, series: int) -> list[dict[str, Any]]:
    """Simulate noise at its best threshold."""
    name = "noise at its best threshold, p at most 5 %"
    return [{"alarms": name, "events": events, "better": tuned_noise(events, series)}]


def simulated_power(events: int, series: int, *, long: bool) -> list[dict[str, Any]]:
    """Simulate a detector, or one long alarm, for the test as it is and for one by all shifts."""
    name = "one alarm of 90 %" if long else "moderate detector"
    names = name, f"{name}, by all shifts"
    shares = zip(names, compared(events, series, long=long), strict=True)
    return [{"alarms": name, "events": events, "better": share} for name, share in shares]


def _share(record: dict[str, Any]) -> str:
    return f"{record['better']:.1%}"


def _farthest(record: dict[str, Any]) -> str:
    """Write the mean above chance that is farthest from 0, and mark a cell that breaks a limit."""
    value = max((record[f"{score}_above_chance"] for score in _SCORES), key=abs)
    return f"{value:+.2f}{'' if record['held'] else ' !'}"


@click.command(help=__doc__)
@simulation_options(f"Draw {QUICK_SERIES} series instead of {SERIES:,}, and judge nothing.")
def study(*, quick: bool, output_format: str, output: TextIO) -> None:
    """Simulate every scenario; exit with 1 if a limit is broken."""
    series, error = (QUICK_SERIES, 2 * LARGEST_ERROR) if quick else (SERIES, LARGEST_ERROR)
    jobs: list[Callable[[], list[dict[str, Any]]]] = [
        partial(simulated, number, events, series, error)
        for number in range(len(SCENARIOS))
        for events in EVENTS
    ]
    jobs += [partial(simulated_noise, events, series) for events in (1, 2, 5)]
    jobs += [partial(simulated_power, events, series, long=False) for events in (2, 5)]
    jobs += [partial(simulated_power, 1, series, long=True)]
    records = [record for found in run_all(jobs) for record in found]
    judged = [record for record in records if "held" in record]
    others = [record for record in records if "held" not in record]
    by = "alarms", "events"
    farthest = "Mean score above chance, the farthest from 0; ! breaks a limit"
    tables = (
        pivot("Alarms without information: share found better than chance", judged, *by, _share),
        pivot(farthest, judged, *by, _farthest),
        pivot("Tuned noise, and power: share found better than chance", others, *by, _share),
    )
    deviation = (LEVEL * (1 - LEVEL) / series) ** 0.5
    note = f"{series:,} series or more in each cell; the standard error of 5 % is {deviation:.1%}."
    write(output, output_format, records, tables, [note])
    if not quick and not all(record["held"] for record in judged):
        raise SystemExit(1)
