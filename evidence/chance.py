"""Simulate how often alarms without information are found to be better than chance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click
import numpy as np

from closecall.chance import significance
from evidence.simulation import pivot, run_all, simulation_options, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Labels = NDArray[np.uint8]
    Detector = Callable[[np.random.Generator, Labels], Labels]

SAMPLES, SERIES, QUICK_SERIES = 1_500, 2_000, 200
EVENTS = (1, 2, 5, 10, 35)
LEVEL = 0.05
MOST, MOST_WITH_ONE_EVENT = 0.06, 0.08  # share of series found better than chance
HIGHEST, LOWEST, LOWEST_AT_AN_END = 0.05, -0.2, -0.35  # mean F1 above chance
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


def clustered_labels(random: np.random.Generator, count: int, samples: int = SAMPLES) -> Labels:
    """Draw the same events within a third of the series, which is anywhere."""
    labels = np.zeros(samples, dtype=np.uint8)
    first = int(random.integers(samples - samples // 3 + 1))
    labels[first : first + samples // 3] = true_labels(random, count, samples // 3)
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


def one_alarm(share: float, place: str = "anywhere") -> Detector:
    """Predict one alarm of this share of the time: anywhere, first, last or in the centre."""

    def predict(random: np.random.Generator, truth: Labels) -> Labels:
        length = round(share * truth.size)
        last = truth.size - length
        places = {"first": 0, "last": last, "centre": last // 2}
        start = places.get(place, int(random.integers(last + 1)))
        alarms = np.zeros_like(truth)
        alarms[start : start + length] = 1
        return alarms

    return predict


def at_both_ends(detector: Detector) -> Detector:
    """Predict the first and the last sample, too."""

    def predict(random: np.random.Generator, truth: Labels) -> Labels:
        alarms = detector(random, truth)
        alarms[[0, -1]] = 1
        return alarms

    return predict


def drifting(random: np.random.Generator, truth: Labels) -> Labels:
    """Predict short alarms that become more frequent with time."""
    places = np.arange(truth.size) / truth.size
    starts = random.random(truth.size) < places * random.uniform(0.005, 0.05)
    alarms: Labels = (np.convolve(starts, np.ones(5))[: truth.size] > 0).astype(np.uint8)
    return alarms


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


class Scenario(NamedTuple):
    """Alarms without information."""

    name: str
    predict: Detector
    lowest: float = LOWEST
    """The least mean F1 above chance: alarms at an end are farther from most events."""
    truth: Callable[..., Labels] = true_labels
    prefix: int = 0
    """Samples at the start without events or alarms, which are then ignored."""


SCENARIOS = (
    Scenario("everything", everything),
    Scenario("all but the first", all_but("first")),
    Scenario("all but the last", all_but("last")),
    Scenario("all but one sample", all_but("random")),
    Scenario("one alarm of 25 %", one_alarm(0.25)),
    Scenario("one alarm of 50 %", one_alarm(0.5)),
    Scenario("one alarm of 90 %", one_alarm(0.9)),
    Scenario("the first 25 %", one_alarm(0.25, "first"), LOWEST_AT_AN_END),
    Scenario("the first 50 %", one_alarm(0.5, "first"), LOWEST_AT_AN_END),
    Scenario("the first 90 %", one_alarm(0.9, "first"), LOWEST_AT_AN_END),
    Scenario("the last 25 %", one_alarm(0.25, "last"), LOWEST_AT_AN_END),
    Scenario("the last 50 %", one_alarm(0.5, "last"), LOWEST_AT_AN_END),
    Scenario("the last 90 %", one_alarm(0.9, "last"), LOWEST_AT_AN_END),
    Scenario("2 % in the centre", one_alarm(0.02, "centre")),
    Scenario("both ends, 2 % in the centre", at_both_ends(one_alarm(0.02, "centre"))),
    Scenario("both ends, one alarm of 5 %", at_both_ends(one_alarm(0.05))),
    Scenario("both ends, bursts", at_both_ends(bursts)),
    Scenario("periodic combs", comb),
    Scenario("bursts", bursts),
    Scenario("autocorrelated", autocorrelated),
    Scenario("heavy-tailed", heavy_tailed),
    Scenario("drifting", drifting),
    Scenario("bursts, clustered events", bursts, truth=clustered_labels),
    Scenario("after an ignored prefix", bursts, prefix=_PREFIX),
)


class Finding(NamedTuple):
    """The result of the test for one scenario and number of events."""

    better: float
    """Share of series whose alarms are found better than chance."""
    above: NDArray[np.float64]
    """Mean precision, recall and F1 above chance."""

    def breaks(self, scenario: Scenario, events: int) -> bool:
        """Whether the share, or the mean F1 above chance, exceeds a limit."""
        most = MOST_WITH_ONE_EVENT if events == 1 else MOST
        return self.better > most or not scenario.lowest <= self.above[2] <= HIGHEST


def simulate(scenario: Scenario, events: int, series: int) -> Finding:
    """Draw series, test each, and count."""
    better, above = 0, []
    for seed in range(series):
        random = np.random.default_rng([15, events, seed])
        truth = scenario.truth(random, events, SAMPLES - scenario.prefix)
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
    return Finding(better / len(above), np.nanmean(above, axis=0))


def compared(events: int, series: int) -> tuple[float, float]:
    """Return how often a moderate detector is found better than chance.

    The first share is that of the test as it is, the second that of shifted alarms alone.
    """
    better = np.zeros(2)
    for seed in range(series):
        random = np.random.default_rng([15, events, seed])
        truth = true_labels(random, events)
        test = significance(truth, moderate(random, truth)).f1
        alone = replace(test, event_null=None)
        better += [test.better_than_chance, alone.better_than_chance]
    both, alone_share = (better / series).tolist()
    return both, alone_share


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


def simulated(number: int, events: int, series: int) -> list[dict[str, Any]]:
    """Simulate a scenario by its number: functions in functions do not go to other processes."""
    scenario = SCENARIOS[number]
    found = simulate(scenario, events, series)
    record = {
        "alarms": scenario.name,
        "events": events,
        "better": found.better,
        "held": not found.breaks(scenario, events),
    }
    above = zip(_SCORES, found.above.tolist(), strict=True)
    return [record | {f"{score}_above_chance": mean for score, mean in above}]


def simulated_noise(events: int, series: int) -> list[dict[str, Any]]:
    """Simulate noise at its best threshold."""
    name = "noise at its best threshold, p at most 5 %"
    return [{"alarms": name, "events": events, "better": tuned_noise(events, series)}]


def simulated_power(events: int, series: int) -> list[dict[str, Any]]:
    """Simulate a detector, for the test as it is and for one by shifts of the alarms alone."""
    names = "moderate detector", "moderate detector, alarms shifted alone"
    shares = zip(names, compared(events, series), strict=True)
    return [{"alarms": name, "events": events, "better": share} for name, share in shares]


def _share(record: dict[str, Any]) -> str:
    return f"{record['better']:.1%}"


def _above(record: dict[str, Any]) -> str:
    """Write the mean F1 above chance, and mark a cell that breaks a limit."""
    return f"{record['f1_above_chance']:+.2f}{'' if record['held'] else ' !'}"


@click.command(help=__doc__)
@simulation_options(f"Draw {QUICK_SERIES} series instead of {SERIES:,}, and judge nothing.")
def study(*, quick: bool, output_format: str, output: TextIO) -> None:
    """Simulate every scenario; exit with 1 if a limit is broken."""
    series = QUICK_SERIES if quick else SERIES
    jobs: list[Callable[[], list[dict[str, Any]]]] = [
        partial(simulated, number, events, series)
        for number in range(len(SCENARIOS))
        for events in EVENTS
    ]
    jobs += [partial(simulated_noise, events, series) for events in (1, 2, 5)]
    jobs += [partial(simulated_power, events, series) for events in (1, 2, 5, 10)]
    records = [record for found in run_all(jobs) for record in found]
    judged = [record for record in records if "held" in record]
    others = [record for record in records if "held" not in record]
    by = "alarms", "events"
    above = "Mean F1 above chance; ! breaks a limit"
    tables = (
        pivot("Alarms without information: share found better than chance", judged, *by, _share),
        pivot(above, judged, *by, _above),
        pivot("Tuned noise, and power: share found better than chance", others, *by, _share),
    )
    deviation = (LEVEL * (1 - LEVEL) / series) ** 0.5
    note = f"{series:,} series in each cell; the standard error of 5 % is {deviation:.1%}."
    write(output, output_format, records, tables, [note])
    if not quick and not all(record["held"] for record in judged):
        raise SystemExit(1)
