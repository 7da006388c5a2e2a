"""Samples cut where a zone border falls inside one, in half ticks."""

import numpy as np
import pytest

from closecall import Events
from closecall.affiliation.pieces import cut_samples
from closecall.series import read_scored


def pieces_of(truth, scores, **axis):
    return cut_samples(read_scored(truth, np.array(scores), **axis))


def test_borders_between_samples_cut_nothing():
    # The events end and begin at 2 and 4: the border, at 3, is a sample's.
    scores = np.array([5, 6, 7, 8, 9])
    pieces = cut_samples(read_scored([0, 1, 0, 0, 1], scores))
    assert pieces.cuts.tolist() == [0, 2, 4, 6, 8, 10]
    assert pieces.borders.tolist() == [0, 6, 10]
    assert pieces.offsets.tolist() == [0, 3, 5]
    assert np.shares_memory(pieces.scores, scores)


def test_a_border_inside_a_sample_cuts_it_in_two():
    # Halfway between 1 and 4 is 2.5, inside sample 2.
    pieces = pieces_of([1, 0, 0, 0, 1], [5, 6, 7, 8, 9])
    assert pieces.cuts.tolist() == [0, 2, 4, 5, 6, 8, 10]
    assert pieces.scores.tolist() == [5, 6, 7, 7, 8, 9]
    assert pieces.offsets.tolist() == [0, 3, 6]


def test_several_borders_inside_one_sample():
    truth = Events([(1, 2), (4, 5), (6, 7)])
    pieces = pieces_of(truth, [5, 6], times=[0, 8], end=10)
    assert pieces.borders.tolist() == [0, 6, 11, 20]
    assert pieces.cuts.tolist() == [0, 6, 11, 16, 20]
    assert pieces.scores.tolist() == [5, 5, 5, 6]
    assert pieces.offsets.tolist() == [0, 1, 2, 4]


def test_zones_beyond_the_samples_are_empty():
    truth = Events([(0, 1), (11, 12), (30, 31)])
    pieces = pieces_of(truth, [5, 6], times=[10, 11], end=12, span=(0, 40))
    assert pieces.offsets.tolist() == [0, 0, 2, 2]
    pieces = pieces_of(Events([(0, 1), (2, 3)]), [5, 6], times=[10, 11], end=12, span=(0, 40))
    assert pieces.offsets.tolist() == [0, 0, 2]
    pieces = pieces_of(Events([(30, 31), (33, 34)]), [5, 6], times=[10, 11], span=(0, 40))
    assert pieces.offsets.tolist() == [0, 2, 2]


def test_the_outer_zones_hold_every_sample():
    pieces = pieces_of(Events([(2, 3)]), [5, 6], times=[1, 2], span=(-7, 9))
    assert pieces.borders.tolist() == [0, 32]
    assert pieces.cuts.tolist() == [16, 18, 20]
    assert pieces.offsets.tolist() == [0, 2]


@pytest.mark.parametrize("origin", [-(2**60), 2**60 + 1])
def test_integers_are_counted_from_the_span(origin):
    times = origin + np.array([0, 3, 4])
    pieces = pieces_of([1, 0, 1], [5, 6, 7], times=times, end=origin + 9)
    assert pieces.cuts.dtype == np.int64
    assert pieces.cuts.tolist() == [0, 6, 7, 8, 18]
    assert pieces.offsets.tolist() == [0, 2, 4]


def test_floats_are_not_shifted():
    pieces = pieces_of([1, 0, 1], [5, 6, 7], times=[1.5, 2.5, 4.0], end=5.0)
    assert pieces.cuts.tolist() == [3.0, 5.0, 6.5, 8.0, 10.0]
    assert pieces.scores.tolist() == [5, 6, 6, 7]
