"""Simulate how often intervals of differences hold, and how often `events_needed` is enough."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click
import numpy as np

from closecall.statistics import FEWEST_TO_COMPARE, SCORES, Difference, Sample
from closecall.statistics.leads import found_in_draws, needed_within
from evidence.simulation import pivot, run_all, simulation_options, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Side = tuple[NDArray[np.float64], NDArray[np.float64]]  # precision and recall: sets, events
    Pair = Callable[[np.random.Generator, tuple[int, int]], tuple[Side, Side]]

LEVEL, LEAST = 0.95, 0.93
_EVENTS, _EVENTS_IN_RUNS = (6, 10, 20, 50, 100), (50, 100, 200)
_SETS, _QUICK_SETS = 2_000, 200
_PLANNED_FROM, _PLANNED_SETS, _QUICK_PLANNED_SETS = (10, 20, 50), 500, 40
POWER, LEAST_ENOUGH, _QUICK_LEAST_ENOUGH = 0.8, 0.75, 0.5
_OFTEN = 0.2  # of the sets find the difference: then the number of events needed must be enough
_FEWEST_SETS = 0.05  # with an interval, for its coverage to be reported
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
    """Map any number into (0, 1)."""
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
# Pairs with lower coverage: a lead of 0.05 on all of 20 events counts as significant, and shares
# of events are on too coarse a grid.
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


# Equal detectors, and differences of recall of 0.36, 0.05, 0.14 and 0.14.
PLANNED = (
    "good",
    "good and middling",
    "hard for both",
    "rare misses",
    "alike but for 1/7, noise 0.05",
)


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
    """The intervals of one pair and number of events: by score, but the last."""

    made: NDArray[np.float64]
    """The number of sets that have one."""
    coverage: NDArray[np.float64]
    """How often those hold the true difference; nan where there are fewer than one in 20."""
    width: NDArray[np.float64]
    apart: NDArray[np.float64]
    """How often those leave out 0."""
    cautioned: float
    """How often there is a caution that events depend on each other."""


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
    reported = np.where(count >= _FEWEST_SETS * sets, count, np.nan)
    return Measured(
        count.astype(np.float64),
        ((low <= truth) & (truth <= high)).sum(axis=0) / reported,
        np.nansum(high - low, axis=0) / reported,
        ((low > 0) | (high < 0)).sum(axis=0) / reported,
        float(np.mean([bool(sample.pair_cautions(0, 1).dependent) for sample in made])),
    )


ENDS = ("low", "high")


def least_steady_lead(events: int) -> float:
    """Return the least lead that is significant if it is the same on all events."""

    def significant(lead: int) -> bool:
        second = np.full((1, events), 0.5 - lead / 2_000)
        both = np.vstack([second + lead / 1_000, second])
        return bool(Sample.read(both, both).differences(0, 1, LEVEL)[1].low > 0)

    return (1 + bisect_left(range(1, 1_000), x=True, key=significant)) / 1_000


def measure(kind: str, name: str, events: int, sets: int, block: int = 1) -> dict[str, Any]:
    """Measure a pair by its name: functions in functions do not go to other processes."""
    pair = CLUSTERED[name][0] if name in CLUSTERED else (PAIRS | BEYOND)[name]
    found = measured(pair, events, sets, block=block)
    fields = {"held": found.coverage, "width": found.width, "apart": found.apart}
    return {
        "kind": kind,
        "pair": name,
        "events": events,
        "block": block,
        **{
            f"{score}_{field}": float(value)
            for field, values in fields.items()
            for score, value in zip(SCORES, values, strict=True)
        },
        "cautioned": found.cautioned,
        "held": float(np.nanmin(found.coverage)),
    }


def recall_gaps(pair: Pair, random: np.random.Generator, shape: tuple[int, int]) -> Any:
    """Draw differences of recall."""
    (_, first), (_, second) = pair(random, shape)
    return first - second


def plan(name: str, events: int, sets: int) -> dict[str, Any]:
    """Measure the power that the numbers of events have that sets of events say are needed."""
    pair = PAIRS[name]
    every = np.sort(recall_gaps(pair, np.random.default_rng(0), (4_000, 100)).ravel())
    every = every.reshape(1_000, -1).mean(axis=1)

    @cache
    def power(count: int) -> float:
        found = found_in_draws(every, count, level=LEVEL, widest=1.0, n=1_000, seed=1)
        return float(found.mean())

    powers = []
    (p1, r1), (p2, r2) = pair(np.random.default_rng(events), (sets, events))
    for place in range(sets):
        sample = Sample.read([p1[place], p2[place]], [r1[place], r2[place]])
        needed = sample.events_needed(0, 1, 1, LEVEL)
        if needed is not None:
            gaps = r1[place] - r2[place]
            gap = float(gaps.mean())
            observed = Difference(gap, gap, gap, 0.0)
            single = needed_within(gaps, observed, level=LEVEL) or needed
            powers.append([power(count) for count in (*needed, single[0])])
    least, most, as_observed = np.mean(powers, axis=0) if powers else np.full(3, np.nan)
    return {
        "kind": "events needed",
        "pair": name,
        "events": events,
        "said": len(powers) / sets,
        "enough": float(np.mean([row[1] >= POWER for row in powers])) if powers else np.nan,
        "power_least": float(least),
        "power_most": float(most),
        "power_as_observed": float(as_observed),
    }


def jobs(sets: int, planned_sets: int) -> list[Any]:
    """Return the measurements to make, each a function."""
    made = [
        partial(measure, kind, name, events, sets)
        for kind, pairs in (("pair", PAIRS), ("known to hold less often", BEYOND))
        for name in pairs
        for events in _EVENTS
    ]
    for name, (_, wanted) in CLUSTERED.items():
        for events in _EVENTS_IN_RUNS:
            block = min(wanted, events // FEWEST_TO_COMPARE)
            made.append(partial(measure, "runs, without blocks", name, events, sets))
            made.append(partial(measure, "runs, with blocks", name, events, sets, block))
    made += [
        partial(plan, name, events, planned_sets) for name in PLANNED for events in _PLANNED_FROM
    ]
    return made


@click.command(help=__doc__)
@simulation_options(f"Draw {_QUICK_SETS} sets of events instead of {_SETS:,}.")
def study(*, quick: bool, output_format: str, output: TextIO) -> None:
    """Simulate every pair; exit with 1 if intervals hold less often than they must."""
    sets, least = (_QUICK_SETS, LEAST - _QUICK_SLACK) if quick else (_SETS, LEAST)
    records = run_all(jobs(sets, _QUICK_PLANNED_SETS if quick else _PLANNED_SETS))
    kinds: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        kinds.setdefault(record["kind"], []).append(record)
    pairs, beyond, alone, blocked, planned = kinds.values()
    by, recall = ("pair", "events"), SCORES[1]

    def share(field: str) -> Callable[[dict[str, Any]], str]:
        return lambda record: f"{record[field]:.1%}"

    tables = (
        pivot(f"Held, the least of {', '.join(SCORES)}", pairs, *by, share("held")),
        pivot("Held, where intervals are known to hold less often", beyond, *by, share("held")),
        pivot("Mean width, recall", pairs, *by, lambda record: f"{record[f'{recall}_width']:.3f}"),
        pivot("Intervals without 0, recall", pairs, *by, share(f"{recall}_apart")),
        pivot("Failures in runs: held without blocks", alone, *by, share("held")),
        pivot(
            "Failures in runs: held with blocks (their length)",
            blocked,
            *by,
            lambda record: f"{record['held']:.1%} ({record['block']})",
        ),
        pivot("Failures in runs: cautioned without blocks", alone, *by, share("cautioned")),
        pivot("Events needed (recall): sets of which a range is said", planned, *by, share("said")),
        pivot(
            f"Events needed: of these, with a power of {POWER:.0%} or more at its upper end",
            planned,
            *by,
            share("enough"),
        ),
        pivot(
            "Events needed: mean power at the lower end, as observed, and at the upper end",
            planned,
            *by,
            lambda record: ", ".join(
                f"{record[f'power_{end}']:.0%}" for end in ("least", "as_observed", "most")
            ),
        ),
    )
    worst = min(record["held"] for record in pairs)
    enough = min(record["enough"] for record in planned if record["said"] >= _OFTEN)
    leads = ", ".join(f"{least_steady_lead(events):.3f} of {events}" for events in _EVENTS)
    planned_note = (
        f"The upper end of `events_needed` was enough in {enough:.0%} of the sets or more, where "
        f"{_OFTEN:.0%} or more of the sets find the difference."
    )
    notes = (
        f"{LEVEL:.0%} intervals over {sets:,} sets of events each; the least share is {worst:.1%}.",
        f"The least lead that is significant if it is the same on all events: {leads}.",
        planned_note,
    )
    write(output, output_format, records, tables, notes)
    if worst < least or enough < (_QUICK_LEAST_ENOUGH if quick else LEAST_ENOUGH):
        raise SystemExit(1)
