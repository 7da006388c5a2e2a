"""Intervals of differences: how often they hold in simulations, how wide they are, who is apart."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.timing import options
from closecall.statistics import FEWEST_TO_COMPARE, SCORES, Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Side = tuple[NDArray[np.float64], NDArray[np.float64]]  # precision and recall: sets, events
    Pair = Callable[[np.random.Generator, tuple[int, int]], tuple[Side, Side]]

LEVEL, LEAST = 0.95, 0.93
_EVENTS = (6, 10, 20, 50, 100)
_SETS, _QUICK_SETS = 2_000, 200
_FEWEST_SETS = 0.05  # with an interval, for its coverage to be told
_QUICK_SLACK = 3.5 * (LEAST * (1 - LEAST) / _QUICK_SETS) ** 0.5


def simulated(
    random: np.random.Generator,
    shape: tuple[int, ...],
    *,
    missed: float,
    precision: tuple[float, float],
    recall: tuple[float, float],
) -> Side:
    """Draw a detector that misses a share of the events, and has beta scores on the others."""
    miss = one_in(random, shape, missed)
    return failing(miss, random.beta(*precision, shape), random.beta(*recall, shape))


def one_in(random: np.random.Generator, shape: tuple[int, ...], share: float) -> Any:
    """Draw on which events something happens that happens on a share of them."""
    return random.random(shape) < share


def failing(miss: Any, precision: Any, recall: Any) -> Side:
    """Leave out what is missed."""
    return np.where(miss, np.nan, precision), np.where(miss, 0.0, recall)


def unit(value: Any) -> Any:
    return 1 / (1 + np.exp(-value))


DETECTORS: dict[str, dict[str, Any]] = {
    "good": {"missed": 0.1, "precision": (9, 1), "recall": (8, 1)},
    "middling": {"missed": 0.2, "precision": (2, 1.5), "recall": (1.5, 1.2)},
    "nearly perfect": {"missed": 0.03, "precision": (20, 1), "recall": (30, 1)},
    "all or nothing": {"missed": 0.4, "precision": (9, 1), "recall": (1e6, 1e-6)},
    "never missing": {"missed": 0.0, "precision": (20, 1), "recall": (30, 1)},
    "skewed": {"missed": 0.05, "precision": (1, 0.15), "recall": (0.6, 0.08)},
    "every second": {"missed": 0.5, "precision": (3, 2), "recall": (3, 2)},
    "uniform": {"missed": 0.0, "precision": (1, 1), "recall": (1, 1)},
}


def independent(first: str, second: str) -> Pair:
    """Two detectors that have nothing in common."""
    return lambda random, shape: (
        simulated(random, shape, **DETECTORS[first]),
        simulated(random, shape, **DETECTORS[second]),
    )


def hard_for_both(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Side, Side]:
    """Two detectors that find the same events hard."""
    hard = random.normal(size=shape)

    def side(shift: float) -> Side:
        p, r = (unit(hard + shift + random.normal(size=shape)) for _ in range(2))
        return failing(hard + random.normal(2, size=shape) < 0, p, r)

    return side(1.2), side(0.9)


def steady_until_it_fails(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Side, Side]:
    """Let the first be ahead on every event, by a little, but miss one in twenty."""
    p, r = (unit(random.normal(size=shape) + 1) for _ in range(2))
    return failing(one_in(random, shape, 0.05), p, r), (0.97 * p, 0.97 * r)


def steady(lead: float, *, first: float = 0.0, second: float = 0.0) -> Pair:
    """Let the first be ahead by the same on every event; they fail on such shares of them."""

    def drawn(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Side, Side]:
        p, r = random.uniform(0.2, 0.9, (2, *shape))
        return (
            failing(one_in(random, shape, first), p + lead, r + lead),
            failing(one_in(random, shape, second), p, r),
        )

    return drawn


def rarely_finding(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Side, Side]:
    """Both are always far off, but the second is near one time in 25."""
    (one, other), near = (
        [simulated(random, shape, missed=0.0, precision=(3, 3), recall=(1, 30)) for _ in range(2)],
        one_in(random, shape, 0.04),
    )
    return one, (np.where(near, 0.95, other[0]), np.where(near, 0.95, other[1]))


def both_miss_besides(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Side, Side]:
    """One that never misses and one that rarely does, but for one event in 20 that both miss."""
    sides = independent("never missing", "nearly perfect")(random, shape)
    miss = one_in(random, shape, 0.05)
    return failing(miss, *sides[0]), failing(miss, *sides[1])


def alike(differing: float, noise: float) -> Pair:
    """Middling scores, the same for both but for noise; on a few events it is all or nothing."""

    def drawn(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Side, Side]:
        common = random.uniform(0.1, 0.9, (2, *shape))  # precision and recall
        apart = one_in(random, shape, differing)

        def side(score: float) -> Side:
            noisy = np.clip(common + random.normal(0, noise, common.shape), 0, 1)
            precision, recall = np.where(apart, score, noisy)
            return precision, recall

        return side(1.0), side(0.0)

    return drawn


def clustered(share: float, run: float, *, both: bool) -> Pair:
    """Good detectors, the first or both of which fail on runs of events of such a mean length."""

    def failed(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.bool_]:
        state = one_in(random, shape[:1], share)
        states = []
        for luck in random.random(shape[::-1]):
            states.append(state)
            state = luck < np.where(state, 1 - 1 / run, share / (1 - share) / run)
        return np.stack(states, axis=1)

    def drawn(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Side, Side]:
        p, q, r, s = *random.beta(9, 1, (2, *shape)), *random.beta(8, 1, (2, *shape))
        return (
            failing(failed(random, shape), p, r),
            failing(failed(random, shape) & both, q, s),
        )

    return drawn


PAIRS: dict[str, Pair] = {
    "good": independent("good", "good"),
    "good and middling": independent("good", "middling"),
    "hard for both": hard_for_both,
    "rare misses": independent("nearly perfect", "good"),
    "all or nothing": independent("all or nothing", "all or nothing"),
    "one never misses": independent("never missing", "nearly perfect"),
    "steady until it fails": steady_until_it_fails,
    "rarely finding": rarely_finding,
    "skewed": independent("skewed", "good"),
    "both miss besides": both_miss_besides,
    "every second missed": independent("every second", "every second"),
    "uniform": independent("uniform", "uniform"),
    "0.02 ahead": steady(0.02),
    "0.02 ahead, fails 1/20": steady(0.02, first=0.05),
    "0.02 ahead, fails 1/10": steady(0.02, first=0.1),
    "0.05 ahead, fails 1/33": steady(0.05, first=0.03),
    "0.05 ahead, fails 1/20": steady(0.05, first=0.05),
    "0.05 ahead, other fails 1/20": steady(0.05, second=0.05),
    **{
        f"alike but for 1/{every}, noise {noise:g}": alike(1 / every, noise)
        for every in (7, 12, 20, 33)
        for noise in (0.0, 0.01, 0.05)
    },
}
# What telling a lead of 0.05 on all of 20 events from none costs, and too coarse a grid of shares.
BEYOND: dict[str, Pair] = {
    "0.05 ahead, fails 1/10": steady(0.05, first=0.1),
    "alike but for 1/3, noise 0": alike(1 / 3, 0.0),
}
# With the length of a block that the mean length of a run asks for.
CLUSTERED: dict[str, tuple[Pair, int]] = {
    "independent failures, 15 %": (clustered(0.15, 1 / 0.85, both=False), 1),
    "one fails 10 %, in runs of 3": (clustered(0.1, 3, both=False), 9),
    "one fails 15 %, in runs of 4": (clustered(0.15, 4, both=False), 12),
    "both fail 20 %, in runs of 2": (clustered(0.2, 2, both=True), 6),
    "both fail 20 %, in runs of 4": (clustered(0.2, 4, both=True), 12),
}


def scores(side: Side) -> NDArray[np.float64]:
    """Return precision, recall and F1 over all events."""
    p, r = np.nanmean(side[0]), side[1].mean()
    return np.array([p, r, 2 * p * r / (p + r)])


@cache
def true_difference(pair: Pair) -> NDArray[np.float64]:
    """Return it over very many events."""
    first, second = pair(np.random.default_rng(0), (4_000, 100))
    return scores(first) - scores(second)


class Measured(NamedTuple):
    """What the intervals of one pair were on so many events: by score, but the last."""

    made: NDArray[np.float64]
    """In how many of the sets there is one."""
    coverage: NDArray[np.float64]
    """How often those hold the true difference; nan where there are fewer than one in 20."""
    width: NDArray[np.float64]
    apart: NDArray[np.float64]
    """How often those leave out 0."""
    cautioned: float
    """How often events are said to depend on each other."""


def measured(pair: Pair, events: int, sets: int, *, block: int = 1) -> Measured:
    """Draw sets of events, each with its own seed, and compare their intervals with the truth."""
    (p1, r1), (p2, r2) = pair(np.random.default_rng(events), (sets, events))
    made = [
        Sample.read([p1[place], p2[place]], [r1[place], r2[place]], block=block)
        for place in range(sets)
    ]
    gaps = [sample.differences(0, 1, LEVEL) for sample in made]
    low, high = (np.array([[getattr(gap, end) for gap in row] for row in gaps]) for end in ENDS)
    truth, count = true_difference(pair), (~np.isnan(low)).sum(axis=0)
    told = np.where(count >= _FEWEST_SETS * sets, count, np.nan)
    return Measured(
        count.astype(np.float64),
        ((low <= truth) & (truth <= high)).sum(axis=0) / told,
        np.nansum(high - low, axis=0) / told,
        ((low > 0) | (high < 0)).sum(axis=0) / told,
        float(np.mean([bool(sample.pair_cautions(0, 1).dependent) for sample in made])),
    )


ENDS = ("low", "high")


def least_steady_lead(events: int) -> float:
    """Return the least lead, in thousandths, that is told from none if it is on every event."""

    def told(lead: int) -> bool:
        second = np.full((1, events), 0.5 - lead / 2_000)
        both = np.vstack([second + lead / 1_000, second])
        return bool(Sample.read(both, both).differences(0, 1, LEVEL)[1].low > 0)

    return (1 + bisect_left(range(1, 1_000), x=True, key=told)) / 1_000


def print_pairs(pairs: dict[str, Pair], sets: int, *, least: float) -> bool:
    """Print a line for each pair; return whether every coverage is as high as it must be."""
    head = "".join(f"{f'{events} events':>22}" for events in _EVENTS)
    print(f"{'':<32}{head}\n{'':<32}" + f"{'held  width  apart':>22}" * len(_EVENTS))
    worst = 1.0
    for name, pair in pairs.items():
        cells = []
        for events in _EVENTS:
            found = measured(pair, events, sets)
            held = float(np.nanmin(found.coverage))
            worst = min(worst, held)
            cells.append(f"{held:>9.1%}{found.width[1]:>7.3f}{found.apart[1]:>6.0%}")
        print(f"{name:<32}{''.join(cells)}", flush=True)
    print(f"The least is {worst:.1%}.\n")
    return worst >= least


def print_blocks(sets: int) -> None:
    """Print how often intervals hold where failures come in runs, without blocks and with them."""
    sizes = (50, 100, 200)
    print(f"{'':<32}" + "".join(f"{f'{events} events':>28}" for events in sizes))
    print(f"{'':<32}" + f"{'alone  block  held  caution':>28}" * len(sizes))
    for name, (pair, wanted) in CLUSTERED.items():
        cells = []
        for events in sizes:
            block = min(wanted, events // FEWEST_TO_COMPARE)
            alone, blocked = measured(pair, events, sets), measured(pair, events, sets, block=block)
            held = [float(np.nanmin(found.coverage)) for found in (alone, blocked)]
            cells.append(f"{held[0]:>9.1%}{block:>4}{held[1]:>8.1%}{alone.cautioned:>7.0%}")
        print(f"{name:<32}{''.join(cells)}", flush=True)


def main(arguments: list[str]) -> int:
    parser = options("intervals", __doc__, "fewer sets of events")
    sets = _QUICK_SETS if parser.parse_args(arguments).quick else _SETS
    print(
        f"{LEVEL:.0%} intervals of differences over {sets} sets of events each. held: how often "
        f"they hold the true difference, the least of {', '.join(SCORES)}; width, and apart, how "
        "often they leave out 0: of recall.\n"
    )
    fine = print_pairs(PAIRS, sets, least=LEAST if sets == _SETS else LEAST - _QUICK_SLACK)
    print("Where they are known to hold less often:")
    print_pairs(BEYOND, sets, least=0.0)
    leads = ", ".join(f"{least_steady_lead(events):.3f} of {events}" for events in _EVENTS)
    print(f"The least lead that is told from none if it is the same on all events: {leads}.\n")
    print("Failures in runs: held without blocks; the block, held with it; cautioned without.")
    print_blocks(sets)
    return 0 if fine else 1
