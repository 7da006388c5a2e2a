"""Intervals in exact ticks: what `Events` wraps and every kernel works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.labels import runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.axis import Axis
    from closecall.clock import Clock, Tick, Ticks


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Half-open intervals, sorted by start, on one clock; a point has length zero."""

    starts: Ticks
    stops: Ticks
    clock: Clock

    @classmethod
    def from_labels(cls, labels: NDArray[Any], axis: Axis) -> Intervals:
        """Turn the runs of ones of a vector into intervals of its axis."""
        first, after = runs(labels)
        return cls(axis.borders(first), axis.borders(after), axis.clock)

    def __len__(self) -> int:
        return self.starts.size

    def text(self, index: int) -> str:
        """Write one interval as the caller would."""
        return interval_text(self.clock, self.starts[index].item(), self.stops[index].item())

    def merged(self) -> Intervals:
        """Join what overlaps or touches."""
        if len(self) == 0:
            return self
        reach = np.maximum.accumulate(self.stops)
        first = np.concatenate(([True], self.starts[1:] > reach[:-1]))
        last = np.concatenate((first[1:], [True]))
        return Intervals(self.starts[first], reach[last], self.clock)

    def require_sorted(self) -> None:
        """Refuse intervals that run backward or are out of order."""
        backward = self.starts > self.stops
        if backward.any():
            index = int(backward.argmax())
            raise InputError(
                expected(
                    "each event to start before it stops", f"{self.text(index)} at index {index}"
                )
            )
        unsorted = self.starts[1:] < self.starts[:-1]
        if unsorted.any():
            index = int(unsorted.argmax()) + 1
            raise InputError(
                expected(
                    "events to be sorted by start",
                    f"{self.text(index)} after {self.text(index - 1)} at index {index}",
                    "Sort them first, e.g. `Events(sorted(intervals))`.",
                )
            )

    def require_disjoint(self, name: str) -> None:
        """Refuse overlap; a point overlaps what starts at it and touches what stops at it."""
        overlap = (self.stops[:-1] > self.starts[1:]) | (self.starts[:-1] == self.starts[1:])
        if overlap.any():
            index = int(overlap.argmax()) + 1
            raise InputError(
                expected(
                    f"`{name}` events to be disjoint",
                    f"{self.text(index - 1)} and {self.text(index)} at index {index}",
                    f"Join them with `{name}.merged()`.",
                )
            )

    def require_inside(self, start: Tick, stop: Tick, name: str) -> None:
        """Refuse intervals that leave the span."""
        outside = (self.starts < start) | (self.stops > stop)
        if outside.any():
            index = int(outside.argmax())
            raise InputError(
                expected(
                    f"`{name}` to lie within the span {interval_text(self.clock, start, stop)}",
                    f"{self.text(index)} at index {index}",
                    "Widen the span, or cut the event.",
                )
            )


def interval_text(clock: Clock, start: Tick, stop: Tick) -> str:
    """Write an interval as the caller would, ``(3, 4)``."""
    return f"({clock.text(start)}, {clock.text(stop)})"
