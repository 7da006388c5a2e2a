"""Random scored series for the property tests of the curve.

Samples, true events and span are drawn apart from each other on a small integer grid, so that
zone borders fall inside samples (several in one, too), events begin between samples, and whole
zones may lie beyond them.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

import hypothesis.strategies as st
import numpy as np

import closecall as cc
from tests.oracle.affiliation import events_of_labels
from tests.properties.strategies import events, made_of_bytes, make_intervals, small


@dataclass(frozen=True)
class ScoredCase:
    """True events, one score for each sample, where the samples start, and the last one's end."""

    truth: list[tuple]
    scores: np.ndarray
    times: list
    end: object
    span: tuple

    def curve(self):
        return cc.affiliation_curve(
            cc.Events(self.truth), self.scores, times=self.times, end=self.end, span=self.span
        )

    def predicted_at(self, threshold):
        """Find the predicted events from the definition: runs of scores at or above it."""
        labels = [int(score >= threshold) for score in self.scores.tolist()]
        return events_of_labels(labels, self.times, self.end)

    def affiliation(self, predicted):
        return cc.affiliation(cc.Events(self.truth), events(predicted), span=self.span)

    def affiliation_at(self, threshold):
        return self.affiliation(self.predicted_at(threshold))

    @property
    def thresholds(self):
        """The distinct scores as Python numbers, descending."""
        return sorted(set(self.scores.tolist()), reverse=True)

    def having(self, scores):
        return replace(self, scores=scores)

    def moved(self, place):
        """Put every time of the case where `place` says; the order must not change."""
        return ScoredCase(
            [(place(start), place(stop)) for start, stop in self.truth],
            self.scores,
            [place(time) for time in self.times],
            place(self.end),
            (place(self.span[0]), place(self.span[1])),
        )

    def mirrored(self):
        borders = [-time for time in (*self.times, self.end)][::-1]
        return ScoredCase(
            [(-stop, -start) for start, stop in reversed(self.truth)],
            self.scores[::-1],
            borders[:-1],
            borders[-1],
            (-self.span[1], -self.span[0]),
        )


def each(values):
    """Draw a value for each of so many samples."""
    return cache(lambda size: st.lists(values, min_size=size, max_size=size))


def tied_scores(size):
    return small(0, 3, size)


@cache
def any_integers(size):
    raw = st.binary(min_size=8 * size, max_size=8 * size)
    return raw.map(lambda drawn: np.frombuffer(drawn, np.int64))


floats = each(st.floats(allow_nan=False))
score_kinds = st.sampled_from(
    [
        (np.float64, tied_scores),
        (np.float64, floats),
        (np.float64, each(st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf]))),
        (
            np.float64,
            each(st.sampled_from([-np.inf, *(1 + step / 2**52 for step in range(-3, 4))])),
        ),
        (np.float32, each(st.floats(allow_nan=False, width=32))),
        (np.float32, tied_scores),
        (np.int64, any_integers),
        (np.int64, tied_scores),
        (np.uint8, lambda size: small(0, 255, size)),
        (np.bool_, lambda size: small(0, 1, size)),
    ]
)


@st.composite
def scored_cases(draw, kinds=score_kinds, *, points="some", most=14, widest=6, wider=6):
    """Draw a case on the integers; samples are up to `widest` long, the span up to `wider` more."""
    dtype, values = draw(kinds)

    def make(number):
        *times, end = accumulate(
            (number(1, widest) for _ in range(number(1, most))), initial=number(-5, 25)
        )
        truth = make_intervals(number, points=points, sizes=(1, 5), longest=6)
        start = min(times[0], truth[0][0]) - number(0, wider)
        return truth, times, end, (start, max(end, truth[-1][1]) + number(0, wider))

    truth, times, end, span = draw(made_of_bytes(most + 16, make))
    scores = np.array(draw(values(len(times))), dtype=dtype)
    return ScoredCase(truth, scores, times, end, span)


float_kinds = st.sampled_from([(np.float64, tied_scores), (np.float64, floats)])
"""One type of scores, for the tests that are about something else."""
