"""One audit while it runs: every prediction that it needs, scored under every metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from closecall.adversary.contest import ROUNDS, remaining
from closecall.adversary.judge import main_number, merit
from closecall.audit.hints import with_hint
from closecall.audit.targets import EXPERIMENTS
from closecall.events import Events
from closecall.metrics.registry import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from closecall.adversary.canvas import Canvas
    from closecall.adversary.families import Attempt
    from closecall.adversary.judge import Judge

Values = dict[str, dict[str, float]]  # by metric, and by the name of the number
Drawn = tuple[dict[str, Any], Values]  # how a prediction was built, and its scores


@dataclass
class Session:
    """What has been scored so far."""

    judge: Judge
    canvas: Canvas
    detectors: dict[str, Any]
    attempts: list[Attempt]
    progress: Callable[[int, int], None] | None
    done: int = 0
    todo: int = 0
    """How many predictions there are to score, as far as is known; each round adds its own."""
    plain: dict[str, Values] = field(default_factory=dict)
    """The detectors as they are."""
    hinted: dict[int | None, dict[str, Values]] = field(default_factory=dict)
    """The detectors after they were given a true event, or the trivial one (None)."""
    trivial: Values = field(default_factory=dict)
    draws: dict[tuple[int, int], list[Drawn]] = field(default_factory=dict)
    """By attempt and round: how each of its draws was built, and its scores."""

    @property
    def tried(self) -> int:
        """How many uninformative predictions were scored."""
        return sum(len(draws) for draws in self.draws.values())

    def run(self) -> None:
        """Score the detectors, without and with hints, and everything uninformative."""
        self.todo = len(self.detectors) * (1 + len(self._known_events())) + 1 + EXPERIMENTS
        for name, predicted in self.detectors.items():
            self.plain[name] = self._score(predicted)
        self.trivial = self._score(self._hint(0 if self.canvas.trivial is None else None))
        for number in range(len(ROUNDS)):
            self._hold(number)
        truth = self.judge.truth
        span = self.judge.axis["span"] if isinstance(truth, Events) else None
        for event in self._known_events():
            self.hinted[event] = {
                name: self._score(with_hint(truth, predicted, self._hint(event), span))
                for name, predicted in self.detectors.items()
            }

    def worth(self, metric: str, values: Values) -> float:
        """Turn the scores of a prediction into how good it is under a metric."""
        entry = find(metric)
        return merit(values[metric][main_number(entry)], higher_is_better=entry.higher_is_better)

    def median(self, metric: str, index: int, number: int) -> Drawn:
        """Give the draw of an attempt that is the middle one in a round, under a metric."""
        draws = self.draws[index, number]
        return sorted(draws, key=lambda draw: self.worth(metric, draw[1]))[len(draws) // 2]

    def remaining(self, metric: str, number: int) -> list[int]:
        """List the random attempts that come as far as a round, under a metric."""

        def worth(index: int, earlier: int) -> float:
            return self.worth(metric, self.median(metric, index, earlier)[1])

        return remaining(self.attempts, number, worth)

    def advance(self) -> None:
        """Count one more prediction, and tell."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.todo)

    def _hold(self, number: int) -> None:
        """Draw what is left in a round under any of the metrics."""
        left: Iterable[int] = range(len(self.attempts))
        if number:
            by_metric = [self.remaining(metric, number) for metric in self.judge.metrics]
            left = dict.fromkeys(index for own in by_metric for index in own)
        plans = {index: self.attempts[index].draws(self.canvas, number) for index in left}
        self.todo += sum(len(draws) for draws in plans.values())
        for index, draws in plans.items():
            self.draws[index, number] = [
                (how, self._score(self.canvas.show(drawn))) for how, drawn in draws
            ]

    def _score(self, predicted: Any) -> Values:
        values = self.judge.values(predicted)
        self.advance()
        return values

    def _hint(self, event: int | None) -> Any:
        return self.canvas.show(self.canvas.only(event).events)

    def _known_events(self) -> list[int | None]:
        informed = [attempt for attempt in self.attempts if attempt.family.knows]
        return list(dict.fromkeys(attempt.parameters["event"] for attempt in informed))
