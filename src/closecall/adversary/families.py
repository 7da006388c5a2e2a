"""Which predictions are tried against a metric: families, their parameters, and the rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.adversary.predictions import (
    EventsInSpan,
    Prediction,
    added_predictions,
    alternating,
    beside_trivial,
    default_step,
    draw_points,
    draw_ranges,
    whole_span,
)
from closecall.errors import InputError, shown
from closecall.parameters import is_listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from closecall.clock import Tick
    from closecall.events import Intervals


_SHARE = 0.1  # of the trivial event's length, as in the paper's footnote
_MOST_POINTS = 10_000  # moments drawn in a span without samples
_COVERED = (0.5, 0.02, 0.2, 0.1, 0.05, 0.01)  # shares of the series that random ranges cover
# Random predictions meet in rounds: how often each is drawn (its median draw stands for it), and
# how many of each family come this far. The best of many medians is lucky as well, so each round
# draws afresh, and the draws of the last one had no say in what was chosen.
MOST_TRIED = 1_000_000
DRAWS = (5, 25, 25)
_KEPT = (None, 3, 1)


@dataclass(frozen=True)
class Family:
    """One way to build predictions, and the parameters worth trying, the best bets first."""

    name: str
    propose: Callable[[EventsInSpan, int], list[dict[str, Any]]]
    build: Callable[..., Intervals]
    """Called with the series, and with the parameters by name."""
    random: bool = False
    knows: int = 0
    """How many true events the prediction is built from."""


@dataclass(frozen=True)
class Attempt:
    """One prediction to try: several draws of it if it is random."""

    family: Family
    parameters: dict[str, Any]
    seeds: tuple[tuple[int, ...], ...] = ()
    """Of its draws in each round of the contest; none if it is not random."""

    def draws(self, series: EventsInSpan, number: int) -> list[tuple[dict[str, Any], Intervals]]:
        """Build its draws in a round, each with the parameters that would build it again."""
        if not self.family.random:
            return [(self.parameters, self.family.build(series, **self.parameters))]
        seeded = [{**self.parameters, "seed": seed} for seed in self.seeds[number]]
        return [(how, self.family.build(series, **how)) for how in seeded]


@dataclass
class Contest:
    """The attempts and their draws, round by round, under one metric or several."""

    attempts: list[Attempt]
    series: EventsInSpan
    metrics: Iterable[str]
    score: Callable[[Prediction], Any]
    worth: Callable[[str, Any], float]
    """How good what was scored is under a metric: higher is better."""
    draws: dict[tuple[int, int], list[tuple[dict[str, Any], Any]]] = field(default_factory=dict)
    """By attempt and round: how each of its draws was built, and what it scored."""

    def hold(self, planned: Callable[[int], None] = lambda _: None) -> None:
        """Draw in every round what is left under any of the metrics, each draw told of before."""
        for number in range(len(DRAWS)):
            left: Iterable[int] = range(len(self.attempts))
            if number:
                by_metric = [self.remaining(metric, number) for metric in self.metrics]
                left = dict.fromkeys(index for indices in by_metric for index in indices)
            plans = {index: self.attempts[index].draws(self.series, number) for index in left}
            planned(sum(map(len, plans.values())))
            for index, draws in plans.items():
                self.draws[index, number] = [
                    (how, self.score(self.series.as_given(drawn))) for how, drawn in draws
                ]

    def median(self, metric: str, index: int, number: int) -> tuple[dict[str, Any], Any]:
        """Return the draw of an attempt that is the middle one in a round, under a metric."""
        draws = self.draws[index, number]
        return sorted(draws, key=lambda draw: self.worth(metric, draw[1]))[len(draws) // 2]

    def remaining(self, metric: str, number: int) -> list[int]:
        """List the random attempts that come as far as a round: the best of their families."""
        left = [index for index, attempt in enumerate(self.attempts) if attempt.family.random]
        for earlier, kept in enumerate(_KEPT[1 : number + 1]):
            worths = {i: self.worth(metric, self.median(metric, i, earlier)[1]) for i in left}
            families: dict[str, list[int]] = {}
            for index in sorted(left, key=lambda index: -worths[index]):
                families.setdefault(self.attempts[index].family.name, []).append(index)
            left = [index for indices in families.values() for index in indices[:kept]]
        return left

    def judged(self, metric: str) -> dict[int, tuple[dict[str, Any], Any]]:
        """Return the draw of each attempt to compare: of a random family, of its last one."""
        last = len(DRAWS) - 1
        left = self.remaining(metric, last)
        return {
            index: self.median(metric, index, last if index in left else 0)
            for index, attempt in enumerate(self.attempts)
            if index in left or not attempt.family.random
        }


def read_families(families: Iterable[str] | None) -> list[Family]:
    """Look families up by name; all of them by default."""
    if families is None:
        return list(FAMILIES.values())
    given: Any = families
    found = []
    for name in given if is_listed(given) else [given]:
        if not isinstance(name, str) or name not in FAMILIES:
            known = ", ".join(FAMILIES)
            raise InputError(f"to be among {known}", shown(name), argument="families")
        found.append(FAMILIES[name])
    if not found:
        raise InputError("at least one family in `families`", "none")
    return found


def plan(
    series: EventsInSpan, families: list[Family], *, seed: int, budget: int
) -> tuple[list[Attempt], dict[str, str]]:
    """Return what to try within the budget, and why a family is left out."""
    reasons = {family.name: _unusable(family, series) for family in families}
    left_out = {name: reason for name, reason in reasons.items() if reason}
    usable = [family for family in families if family.name not in left_out]
    varied = [family for family in usable if family.name != "everything"]
    each = max(1, (budget - len(usable) + len(varied)) // max(1, len(varied)))
    attempts = []
    for family in usable:
        most = max(1, each // DRAWS[0]) if family.random else each
        for number, parameters in enumerate(family.propose(series, most)):
            # Children of one seed sequence: neither attempts nor neighbouring seeds share a draw.
            key = (list(FAMILIES).index(family.name), number)
            drawn = np.random.SeedSequence(seed, spawn_key=key).generate_state(sum(DRAWS))
            rounds = np.split(drawn, np.cumsum(DRAWS)[:-1])
            seeds = tuple(tuple(part.tolist()) for part in rounds) if family.random else ()
            attempts.append(Attempt(family, parameters, seeds))
    return attempts, left_out


def _unusable(family: Family, series: EventsInSpan) -> str:
    if family.knows and len(series.events) <= family.knows:
        return "it is built from one true event, so the series must have more than one"
    if family.propose(series, 1):
        return ""
    short = "no true event is long enough to build it from"
    return short if family.knows else "the series is too short for it"


def _by_length(series: EventsInSpan, least: Tick, most: int) -> list[int | None]:
    """Choose events to start from: the longest, and others spread over all lengths."""
    if series.trivial is not None:
        return [None]
    lengths = series.durations
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] >= least]
    if order.size > most:
        order = order[np.linspace(0, order.size - 1, most).round().astype(int)]
    return [int(index) for index in order]


def _propose_alternating(series: EventsInSpan, most: int) -> list[dict[str, Any]]:
    least = 2 if series.unit else np.finfo(float).tiny
    return [{"event": index} for index in _by_length(series, least, most)]


def _propose_composite(series: EventsInSpan, most: int) -> list[dict[str, Any]]:
    proposals = []
    least = 1 / _SHARE if series.whole else np.finfo(float).tiny
    for index in _by_length(series, least, most):
        try:
            largest, _ = added_predictions(series.only(index), None, _SHARE)
        except InputError:
            continue
        counts = dict.fromkeys(max(1, largest // divisor) for divisor in (1, 4, 16))
        proposals.append([{"event": index, "count": count} for count in counts])
    # Every event at its largest count comes before any event at a smaller one.
    ranked = [row[rank] for rank in range(3) for row in proposals if rank < len(row)]
    return ranked[:most]


def _propose_points(series: EventsInSpan, most: int) -> list[dict[str, Any]]:
    largest = series.length // 2 if series.samples else _MOST_POINTS
    if series.whole:
        largest = min(largest, series.length // 2)
    counts = np.geomspace(1, max(1, largest), most + 2)[1:-1].astype(int)
    return [{"count": int(count)} for count in np.unique(counts)]


def _propose_ranges(series: EventsInSpan, most: int) -> list[dict[str, Any]]:
    lasting = series.durations
    lasting = lasting[lasting > 0]
    usual = float(np.median(lasting)) if lasting.size else series.length / 1000
    proposals = []
    for factor in (1.0, 0.1, 2.0):
        length: Tick = max(1, round(factor * usual)) if series.whole else factor * usual
        for share in _COVERED:
            count = int(share * series.length / length)
            if 0 < count <= _MOST_POINTS:
                proposals.append({"count": count, "length": length})
    return proposals[:most]


def _build_alternating(series: EventsInSpan, event: int | None) -> Intervals:
    trivial = series.only(event)
    return alternating(trivial, default_step(trivial))


def _build_composite(series: EventsInSpan, event: int | None, count: int) -> Intervals:
    trivial = series.only(event)
    return beside_trivial(trivial, *added_predictions(trivial, count, _SHARE))


FAMILIES = {
    family.name: family
    for family in (
        Family("alternating", _propose_alternating, _build_alternating, knows=1),
        Family("composite", _propose_composite, _build_composite, knows=1),
        Family("everything", lambda *_: [{}], whole_span),
        Family("random_points", _propose_points, draw_points, random=True),
        Family("random_ranges", _propose_ranges, draw_ranges, random=True),
    )
}
"""Every family by name."""
