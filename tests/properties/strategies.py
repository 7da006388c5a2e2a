"""Random truths and predictions for the property tests.

Everything is drawn on a small integer grid, where ties (touching events, predictions that end on
a zone border, points on the edge of an event) are common, and only then put on an axis.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise

import hypothesis.strategies as st

import closecall as cc
from tests.oracle.affiliation import zones_of


@dataclass(frozen=True)
class Case:
    """Sorted, disjoint intervals on one axis, and the span that holds them."""

    truth: list[tuple]
    predicted: list[tuple]
    span: tuple

    def score(self):
        return cc.affiliation(cc.Events(self.truth), events(self.predicted), span=self.span)

    def moved(self, place):
        """Put every time of the case where `place` says; the order must not change."""
        return Case(
            [(place(start), place(stop)) for start, stop in self.truth],
            [(place(start), place(stop)) for start, stop in self.predicted],
            (place(self.span[0]), place(self.span[1])),
        )

    def mirrored(self):
        return Case(
            [(-stop, -start) for start, stop in reversed(self.truth)],
            [(-stop, -start) for start, stop in reversed(self.predicted)],
            (-self.span[1], -self.span[0]),
        )

    def having(self, predicted):
        return replace(self, predicted=predicted)

    @property
    def zones(self):
        """Zones of affiliation as exact fractions."""
        truth = [(Fraction(start), Fraction(stop)) for start, stop in self.truth]
        return zones_of(truth, (Fraction(self.span[0]), Fraction(self.span[1])))

    @property
    def borders(self):
        """The borders between zones, without the ends of the span."""
        return [stop for _, stop in self.zones[:-1]]

    @property
    def ends(self):
        """Every start and stop of a prediction."""
        return {end for interval in self.predicted for end in interval}

    def part(self, index):
        """What of the predictions lies in one zone."""
        zone_start, zone_stop = self.zones[index]
        is_last = index == len(self.truth) - 1
        return clipped(self.predicted, zone_start, zone_stop, closed=is_last)


def events(intervals):
    """Build events, which cannot tell what kind of time an empty list is in."""
    return cc.Events(intervals) if intervals else cc.Events.from_points([])


def clipped(intervals, left, right, *, closed=False):
    """Cut intervals to [left, right), or to [left, right] for points if closed."""
    points = [
        (start, stop)
        for start, stop in intervals
        if start == stop and (left <= start < right or (closed and start == right))
    ]
    ranges = [
        (max(start, left), min(stop, right))
        for start, stop in intervals
        if max(start, left) < min(stop, right)
    ]
    return sorted(points + ranges)


@st.composite
def intervals(draw, *, points, sizes, touching_points=True, longest=9):
    """Draw sorted, disjoint intervals on the integers, which may touch."""
    if points == "only":
        lengths = st.just(0)
    elif points == "some":
        lengths = st.integers(0, longest)
    else:
        lengths = st.integers(1, longest)
    found = []
    position = draw(st.integers(0, longest))
    for _ in range(draw(st.integers(*sizes))):
        length = draw(lengths)
        after_point = bool(found) and found[-1][0] == found[-1][1]
        touches = not after_point and (length > 0 or touching_points)
        start = position + draw(st.integers(0 if touches or not found else 1, longest))
        found.append((start, start + length))
        position = start + length
    return found


@st.composite
def cases(draw, *, truth="some", predicted="some", touching_points=True, at_least=0):
    """Draw a case on the integers; "no", "some" or "only" points on either side."""
    true_events = draw(intervals(points=truth, sizes=(1, 5), touching_points=touching_points))
    predictions = draw(
        intervals(points=predicted, sizes=(at_least, 8), touching_points=touching_points)
    )
    everything = true_events + predictions
    first = min(start for start, _ in everything) - draw(st.integers(0, 6))
    last = max(stop for _, stop in everything) + draw(st.integers(0, 6))
    # A span has a length, even around a single point.
    return Case(true_events, predictions, (first, max(last, first + 1)))


range_cases = cases(truth="no", predicted="no")
point_cases = cases(truth="some", predicted="only")
mixed_cases = cases()


@st.composite
def on_uneven_axis(draw, grid_cases, steps):
    """Stretch each step of the grid by its own factor, so that nothing is evenly spaced."""
    case = draw(grid_cases)
    first, last = case.span
    count = last - first
    widths = draw(st.lists(steps, min_size=count, max_size=count))
    times = list(accumulate(widths, initial=draw(steps)))
    return case.moved(lambda tick: times[tick - first])


dyadic_steps = st.integers(1, 200).map(lambda width: width / 64)
"""Sums and halves of these are exact, so ties stay ties."""

decimal_steps = st.floats(0.1, 3.0, allow_subnormal=False)
"""Sums of these are rounded; see `clear_of_borders`."""


def clear_of_borders(case, distance=1e-9):
    """Tell whether rounding a zone border cannot move a prediction across it."""
    gaps = [abs(Fraction(end) - border) for border in case.borders for end in case.ends]
    return all(gap > distance for gap in gaps)


@st.composite
def labelled(draw, steps):
    """Draw two label vectors on one axis: truth, predicted, times and end."""
    size = draw(st.integers(1, 40))
    vectors = st.lists(st.integers(0, 1), min_size=size, max_size=size)
    truth = draw(vectors.filter(any))
    predicted = draw(vectors)
    widths = draw(st.lists(steps, min_size=size, max_size=size))
    borders = list(accumulate(widths, initial=draw(steps)))
    return truth, predicted, borders[:-1], borders[-1]


def is_point(interval):
    return interval[0] == interval[1]


def touches_a_point(intervals):
    """Tell whether a point sits right behind an interval; mirrored, it would be on its start."""
    return any(left[1] == right[0] and is_point(right) for left, right in pairwise(intervals))
