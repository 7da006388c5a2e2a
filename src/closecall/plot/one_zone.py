"""One true event in its zone of affiliation: what lies where, and how far apart."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import Affiliation, affiliation
from closecall.affiliation.zones import origin_of
from closecall.errors import InputError, InputTypeError, expected
from closecall.plot.length_text import length_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Clock


@dataclass(frozen=True, slots=True)
class Spans:
    """Disjoint intervals, in ticks from the zone's start."""

    starts: NDArray[np.float64]
    stops: NDArray[np.float64]

    def __len__(self) -> int:
        return self.starts.size

    @property
    def length(self) -> float:
        """How long they last together."""
        return float((self.stops - self.starts).sum())

    def nearest(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the nearest time of the intervals to each place; nan where there are none."""
        if not len(self):
            return np.full(places.size, np.nan)
        after = np.searchsorted(self.starts, places, side="right")
        before = np.maximum(after - 1, 0)
        left = np.clip(places, self.starts[before], self.stops[before])
        right = self.starts[np.minimum(after, len(self) - 1)]
        return np.where(np.abs(right - places) < np.abs(left - places), right, left)


@dataclass(frozen=True, slots=True)
class OneZone:
    """A zone with its event and its predictions, in ticks from the zone's start."""

    number: int
    count: int
    event: Spans
    predicted: Spans
    length: float
    offset: float
    clock: Clock
    scores: NDArray[np.float64]

    @property
    def name(self) -> str:
        """What the event is called."""
        return f"event {self.number + 1}" if self.count > 1 else "event"

    def words(self, ticks: float) -> str:
        """Write a length of time as people read it."""
        return length_text(ticks, self.clock)

    def precision_at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the precision that each place would have (appendix A.1 of the paper)."""
        start, stop = self.event.starts[0], self.event.stops[0]
        distance = np.maximum(np.maximum(start - places, places - stop), 0)
        return self._survival(start, self.length - stop, distance)

    def recall_at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the recall that each place would have if it were true."""
        distance = np.abs(self.predicted.nearest(places) - places)
        return self._survival(places, self.length - places, distance)

    def _survival(self, before: Any, after: Any, distance: Any) -> NDArray[np.float64]:
        left = np.maximum(before - distance, 0) + np.maximum(after - distance, 0)
        # Without any prediction the distance is infinite, and nan here.
        shares = np.nan_to_num(np.where(distance == 0, 1.0, left / self.length))
        return np.asarray(shares, dtype=np.float64)


def read_result(truth: Any, predicted: Any, axis: dict[str, Any]) -> Affiliation:
    """Take a result as it is, or score the truth and what was predicted."""
    if not isinstance(truth, Affiliation):
        return affiliation(truth, predicted, **axis)
    given = {"predicted": predicted, **axis}
    for name, value in given.items():
        if value is not None:
            raise InputTypeError(
                expected(
                    f"no `{name}` beside a result, which has its own",
                    f"`{name}`",
                    f"Pass the truth instead of the result, or leave `{name}` out.",
                )
            )
    return truth


def read_zone(result: Affiliation, event: Any) -> OneZone:
    """Cut one zone out of a result."""
    events, row = result.events, _read_event(event, len(result.events))
    pair, origin = events.pair, origin_of(events.pair)
    low, high = events.borders[row], events.borders[row + 1]
    starts, stops = 2 * (pair.predicted.starts - origin), 2 * (pair.predicted.stops - origin)
    # A point on a border belongs to the zone that starts there, or that the series ends in.
    last = high if row == len(events) - 1 else None
    points = (starts == stops) & (starts >= low) & ((starts < high) | (starts == last))
    inside = points | ((stops > low) & (starts < high) & (starts < stops))
    predicted = Spans(
        (np.maximum(starts[inside], low) - low) / 2, (np.minimum(stops[inside], high) - low) / 2
    )
    truth = Spans(
        (2 * (pair.truth.starts[row : row + 1] - origin) - low) / 2,
        (2 * (pair.truth.stops[row : row + 1] - origin) - low) / 2,
    )
    offset = low / 2 - (pair.start - origin)
    length = float(high - low) / 2
    scores = events.table[row]
    return OneZone(row, len(events), truth, predicted, length, offset, pair.clock, scores)


def _read_event(event: Any, count: int) -> int:
    try:
        row = index(event)
    except TypeError:
        raise InputTypeError(
            expected("`event` to be the number of a row", f"{event!r:.80}")
        ) from None
    if not -count <= row < count:
        raise InputError(
            expected(
                f"`event` to be one of the {count} rows of the result, 0 to {count - 1}",
                f"{row}",
                "The first event is 0.",
            )
        )
    return row % count
