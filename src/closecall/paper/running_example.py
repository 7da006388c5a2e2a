"""The example that section 3 of the paper works through, in minutes after 3:00.

The paper draws its intervals and prints only the first zone's; the others are those with which
the printed numbers come out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.affiliation import affiliation
from closecall.events import Events
from closecall.paper.published import DISTANCES, PRACTICAL_SETTINGS, SECOND_ZONE, ZONE_BORDERS
from closecall.paper.result import Cell, Row, Table
from closecall.paper.writing import clock, length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.affiliation import Affiliation

TRUTH = ((0, 10), (50, 70), (170, 175))
PREDICTED = ((5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170))
SPAN = (0, 180)
_SECOND = 1
_ZONE = (30, 120)

# Table 3: the first zone as label vectors on uneven times.
_TIMES = (0, 2, 5, 6, 7, 10, 11, 12)
_LABELS = {"pred": (0, 0, 1, 0, 1, 0, 1, 0), "gt": (1, 1, 1, 1, 1, 0, 0, 0)}
_END = 30


def running_example() -> Table:
    """Compare the numbers of the running example."""
    result = affiliation(Events(TRUTH), Events(PREDICTED), span=SPAN)
    return Table(
        name="running_example",
        title="The running example",
        source="section 3 and table 3",
        headings=("number",),
        columns=("value",),
        rows=(*_borders(result), *_distances(result), *_second_zone(result), *_settings()),
    )


def _borders(result: Affiliation) -> Iterator[Row]:
    for index, published in enumerate(ZONE_BORDERS):
        border = clock(float(result.events.zone_stop[index]))
        yield _row(f"border of zones {index + 1} and {index + 2}", Cell(border, published))


def _distances(result: Affiliation) -> Iterator[Row]:
    sides = ("precision", "recall")
    for zone, both in enumerate(DISTANCES):
        for side, published in zip(sides, both, strict=True):
            seconds = 60 * float(getattr(result.events, f"{side}_distance")[zone])
            cell = Cell(length(seconds, published), published, values={"seconds": seconds})
            yield _row(f"zone {zone + 1}: {side} distance", cell)


def _second_zone(result: Affiliation) -> Iterator[Row]:
    events = result.events
    point = affiliation(Events(TRUTH), Events.from_points([40]), span=SPAN)
    # One moment of the event, in the zone of the whole event: a true point with that span.
    near = Events([(40, 60), (115, 120)])
    moment = affiliation(Events.from_points([70]), near, span=_ZONE)
    values = (
        point.events.precision[_SECOND],
        events.precision[_SECOND],
        moment.recall,
        events.recall[_SECOND],
    )
    for value, (name, published) in zip(values, SECOND_ZONE.items(), strict=True):
        cell = Cell(f"{value:.3f}", published, values={"value": float(value)})
        yield _row(f"zone 2: {name}", cell)


def _settings() -> Iterator[Row]:
    for side, printed in PRACTICAL_SETTINGS.items():
        events = Events.from_labels(_LABELS[side], times=_TIMES, end=_END)
        bounds = zip(events.starts.tolist(), events.stops.tolist(), strict=True)
        written = [f"[{clock(start)}, {clock(stop)})" for start, stop in bounds]
        for number, (computed, published) in enumerate(zip(written, printed, strict=True), start=1):
            yield _row(f"event {side} {number}", Cell(computed, published))


def _row(name: str, cell: Cell) -> Row:
    return Row((name,), (cell,))
