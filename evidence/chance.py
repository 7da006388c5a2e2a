"""Evidence for the shift test: how often chance is told to be better than chance."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tqdm import tqdm

from benchmarks.timing import options
from closecall.affiliation.shifts import score_moved
from closecall.chance import ShiftTest, significance
from closecall.series import read_pair

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
_MOST_TIMES = 50  # so many series are drawn at most for that
_PREFIX = 300  # samples that are ignored


def true_labels(random: np.random.Generator, count: int, samples: int = SAMPLES) -> Labels:
    """Draw so many events of any length up to a third of their share, anywhere, never touching."""
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
    """Predict every so many samples."""
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
    """Alarms without information, and how often they may be told to have some."""

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
    """What the test says of one scenario with so many events."""

    told: float
    """Share of series told to be better than chance: p of F1 at most 5 %."""
    above: NDArray[np.float64]
    """Mean precision, recall and F1 above chance."""
    error: NDArray[np.float64]
    """Standard errors of these means: recall above a level near 1 varies a lot."""

    def breaks(self, scenario: Scenario) -> bool:
        """Whether more is told than may be, or the scores are away from 0."""
        away = np.abs(self.above) > MOST_AWAY
        return self.told > scenario.most or bool(scenario.placed_at_random and away.any())


def simulate(scenario: Scenario, events: int, series: int, error: float = np.inf) -> Finding:
    """Draw series, and more until the standard errors of means are small; test each, and count."""
    told, size = 0, series
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
        told += test.f1.better_than_chance
        above.append([one.above_chance for one in (test.precision, test.recall, test.f1)])
    scores = np.array(above)
    return Finding(told / len(above), scores.mean(axis=0), scores.std(axis=0) / len(above) ** 0.5)


def compared(events: int, series: int, *, long: bool = False) -> tuple[float, float]:
    """Return how often a moderate detector, or one long alarm, is told to be better than chance.

    By the test as it is, and by all shifts, also those that cut an alarm in two.
    """
    told, predict = np.zeros(2), one_alarm(_LONG) if long else moderate
    for seed in range(series):
        random = np.random.default_rng([15, events, seed])
        truth = true_labels(random, events)
        pair = read_pair(truth, predict(random, truth))
        f1 = score_moved(pair, np.arange(truth.size))[0][2]
        tests = significance(pair, None).f1, ShiftTest("F1", f1[0], f1[1:], "alarms", exact=True)
        told += [test.better_than_chance for test in tests]
    ours, every = (told / series).tolist()
    return ours, every


def tuned_noise(events: int, series: int) -> float:
    """Return how often pure noise at its own best threshold is told to be better than chance."""
    told = 0
    for seed in range(series):
        random = np.random.default_rng([16, events, seed])
        truth = true_labels(random, events, 400)
        scores = np.convolve(random.normal(size=430), np.ones(31), "valid")
        told += significance(truth, scores=scores, threshold="best_f1", n=100).f1.pvalue <= LEVEL
    return told / series


def _cell(cell: tuple[int, int, int, float]) -> Finding:
    """Simulate a scenario by its number: other processes do not take functions in functions."""
    number, events, series, error = cell
    scenario = SCENARIOS[number]
    return simulate(scenario, events, series, error if scenario.placed_at_random else np.inf)


def main(arguments: list[str]) -> int:
    parser = options("evidence", __doc__, f"{QUICK_SERIES} series instead of {SERIES:,}")
    quick = parser.parse_args(arguments).quick
    series, error = (QUICK_SERIES, 2 * LARGEST_ERROR) if quick else (SERIES, LARGEST_ERROR)
    failed = 0
    cells = [
        (number, events, series, error) for number in range(len(SCENARIOS)) for events in EVENTS
    ]
    heading = "".join(f"{count:>27}" for count in EVENTS)
    print("Told better than chance, and mean precision, recall and F1 above chance,")
    print(f"by the number of events\n{'':24}{heading}")
    with (
        ProcessPoolExecutor() as executor,
        tqdm(total=len(cells) + 6, unit="cell", disable=None) as bar,
    ):
        noise = [executor.submit(tuned_noise, events, series) for events in (1, 2, 5)]
        found = executor.map(_cell, cells)
        powers = [executor.submit(compared, events, series) for events in (2, 5)]
        long = executor.submit(compared, 1, series, long=True)
        for scenario in SCENARIOS:
            line = f"{scenario.name:<24}"
            for finding in islice(found, len(EVENTS)):
                wrong = finding.breaks(scenario)
                failed += wrong
                above = " ".join(f"{value:>+5.2f}" for value in finding.above)
                line += f"{finding.told:>7.1%} {above}{' !' if wrong else '  '}"
                bar.update()
            tqdm.write(line)
        shares = [one.result() for one in noise]
        ours, every = zip(*(one.result() for one in powers), strict=True)
        fooled = long.result()
        bar.update(6)
    told = (LEVEL * (1 - LEVEL) / series) ** 0.5
    print(
        f"\nNoise at its best threshold, told by p alone at 5 % (give or take {told:.1%}): ", end=""
    )
    print("{:.1%} (1 event), {:.1%} (2), {:.1%} (5)".format(*shares))
    print("Power for a moderate detector: {:.2f} (2 events), {:.2f} (5);".format(*ours), end=" ")
    print("by all shifts, also those that cut an alarm: {:.2f}, {:.2f}".format(*every))
    print("One alarm of 90 % and one event: {:.1%}; by all shifts: {:.1%}".format(*fooled))
    if quick:
        print("With so few series nothing is judged.")
        return 0
    return 1 if failed else 0
