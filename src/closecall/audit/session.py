"""One audit while it runs: every prediction that it needs, scored under every metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from closecall.audit.hints import with_hint
from closecall.audit.targets import EXPERIMENTS
from closecall.events import Events

if TYPE_CHECKING:
    from collections.abc import Callable

    from closecall.adversary.canvas import Canvas
    from closecall.adversary.families import Attempt
    from closecall.adversary.judge import Judge

Values = dict[str, dict[str, float]]  # by metric, and by the name of the number


@dataclass
class Session:
    """What has been scored so far."""

    judge: Judge
    canvas: Canvas
    detectors: dict[str, Any]
    attempts: list[Attempt]
    progress: Callable[[int, int], None] | None
    done: int = 0
    plain: dict[str, Values] = field(default_factory=dict)
    """The detectors as they are."""
    hinted: dict[int | None, dict[str, Values]] = field(default_factory=dict)
    """The detectors after they were given a true event, or the trivial one (None)."""
    trivial: Values = field(default_factory=dict)
    draws: list[list[tuple[dict[str, Any], Values]]] = field(default_factory=list)
    """For each attempt, how each of its draws was built, and its scores."""

    def run(self) -> None:
        """Score the detectors, without and with hints, and everything uninformative."""
        for name, predicted in self.detectors.items():
            self.plain[name] = self._score(predicted)
        self.trivial = self._score(self._hint(0 if self.canvas.trivial is None else None))
        for attempt in self.attempts:
            built = attempt.draws(self.canvas)
            self.draws.append([(how, self._score(self.canvas.show(drawn))) for how, drawn in built])
        truth = self.judge.truth
        span = self.judge.axis["span"] if isinstance(truth, Events) else None
        for event in self._known_events():
            self.hinted[event] = {
                name: self._score(with_hint(truth, predicted, self._hint(event), span))
                for name, predicted in self.detectors.items()
            }

    def advance(self) -> None:
        """Count one more prediction, and tell."""
        self.done += 1
        if self.progress is not None:
            uninformative = sum(attempt.size for attempt in self.attempts)
            detectors = len(self.detectors) * (1 + len(self._known_events()))
            self.progress(self.done, detectors + 1 + uninformative + EXPERIMENTS)

    def _score(self, predicted: Any) -> Values:
        values = self.judge.values(predicted)
        self.advance()
        return values

    def _hint(self, event: int | None) -> Any:
        return self.canvas.show(self.canvas.only(event).events)

    def _known_events(self) -> list[int | None]:
        informed = [attempt for attempt in self.attempts if attempt.family.knows]
        return list(dict.fromkeys(attempt.parameters["event"] for attempt in informed))
