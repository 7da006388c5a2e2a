"""Random truths and predictions for the property tests.

Everything is drawn on a small integer grid, where ties (touching events, predictions that end on
a zone border, points on the edge of an event) are common, and only then put on an axis. The
small numbers are made of bytes that are drawn at once: a draw for each takes ten times as long.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
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

    def score(self, **options):
        sides = cc.Events(self.truth), events(self.predicted)
        return cc.affiliation(*sides, span=self.span, **options)

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


@cache
def small(low, high, size, most=None):
    """Draw a list of integers from low to high, which are less than 256 apart."""
    return st.binary(min_size=size, max_size=most or size).map(
        lambda drawn: [low + byte % (high - low + 1) for byte in drawn]
    )


def made_of_bytes(most, make):
    """Draw what a function makes of numbers: it calls its argument with the bounds of each."""

    def made(drawn):
        following = iter(drawn).__next__
        return make(lambda low, high: low + following() % (high - low + 1))

    return st.binary(min_size=most, max_size=most).map(made)


def make_intervals(number, *, points, sizes, touching_points=True, longest=9):
    """Make sorted, disjoint intervals on the integers, which may touch."""
    lengths = {"only": (0, 0), "some": (0, longest), "no": (1, longest)}[points]
    found, position = [], number(0, longest)
    for _ in range(number(*sizes)):
        length = number(*lengths)
        after_point = bool(found) and is_point(found[-1])
        touches = not after_point and (length > 0 or touching_points)
        start = position + number(0 if touches or not found else 1, longest)
        position = start + length
        found.append((start, position))
    return found


def intervals(**options):
    return made_of_bytes(
        2 + 2 * options["sizes"][1], lambda number: make_intervals(number, **options)
    )


def cases(*, truth="some", predicted="some", touching_points=True, at_least=0):
    """Draw a case on the integers; "no", "some" or "only" points on either side."""
    touching = {"touching_points": touching_points}

    def make(number):
        true_events = make_intervals(number, points=truth, sizes=(1, 5), **touching)
        predictions = make_intervals(number, points=predicted, sizes=(at_least, 8), **touching)
        everything = true_events + predictions
        first = min(start for start, _ in everything) - number(0, 6)
        last = max(stop for _, stop in everything) + number(0, 6)
        # A span has a length, even around a single point.
        return Case(true_events, predictions, (first, max(last, first + 1)))

    return made_of_bytes(32, make)


range_cases = cases(truth="no", predicted="no")
point_cases = cases(truth="some", predicted="only")
mixed_cases = cases()


def on_uneven_axis(grid_cases, step):
    """Stretch each step of the grid by its own factor, so that nothing is evenly spaced."""

    def moved(case, widths):
        times, first = list(accumulate(map(step, widths))), case.span[0]
        return case.moved(lambda tick: times[tick - first])

    return st.builds(moved, grid_cases, small(0, 255, 200))


# A step is made of a byte.
def dyadic_steps(byte):
    """Return a step whose sums and halves are exact, so ties stay ties."""
    return (1 + byte) / 64


def decimal_steps(byte):
    """Return a step whose sums are rounded; see `clear_of_borders`."""
    return 0.1 + byte / 87


def one(byte):
    return 1


def whole_steps(byte):
    return 1 + byte % 9


def clear_of_borders(case, distance=1e-9):
    """Tell whether rounding a zone border cannot move a prediction across it."""
    gaps = [abs(Fraction(end) - border) for border in case.borders for end in case.ends]
    return all(gap > distance for gap in gaps)


def labelled(step, most=40):
    """Draw two label vectors on one axis: truth, predicted, times and end."""

    def make(number):
        labels = [number(0, 3) for _ in range(number(1, most))]
        truth, predicted = [label & 1 for label in labels], [label >> 1 for label in labels]
        truth[-1] |= not any(truth)
        *times, end = accumulate(step(number(0, 255)) for _ in [*labels, "end"])
        return truth, predicted, times, end

    return made_of_bytes(2 + 2 * most, make)


def is_point(interval):
    return interval[0] == interval[1]


def touches_a_point(intervals):
    """Tell whether a point sits right behind an interval; mirrored, it would be on its start."""
    return any(left[1] == right[0] and is_point(right) for left, right in pairwise(intervals))
