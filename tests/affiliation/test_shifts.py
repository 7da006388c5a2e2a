"""Both sides, moved: which shifts there are, what they score, and how far above them a score is."""

import json
from math import isnan, nan

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.shifts import (
    Chance,
    above_chance,
    alarm_seams,
    event_seams,
    score_moved,
    score_shifts,
    shift_grid,
    spread,
)
from closecall.series import read_pair
from tests.oracle.shifts import alarms_moved, events_moved, permitted
from tests.oracle.significance import shifted

SCORES = ("precision", "recall", "f1")


def shifts_of(predicted, **axis):
    truth = np.zeros(len(predicted), dtype=int)
    truth[len(predicted) // 2] = 1
    return shifts_in(read_pair(truth, predicted, **axis))


def shifts_in(pair):
    """Return by how much alarms go forward: as much as the seam goes back."""
    grid = shift_grid(pair)
    seams, exact = alarm_seams(grid)
    length = grid.pair.stop - grid.pair.start
    assert (np.diff(seams) > 0).all()
    return (length - seams) % length, exact


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ([0, 1, 1, 0, 0], [0, 1, 2, 3, 4]),  # 3 cuts the alarm
        ([1, 0, 0, 0, 1], [0, 1, 2, 3, 4]),  # and all but 0 join these two
        ([1, 0, 1, 0], [0, 1, 2, 3]),  # half of the time
        ([1, 1, 0, 1, 1], [0, 1, 4]),  # across the seam already
        ([0, 1, 1, 1, 1], [0, 4]),  # all but the first: the gap can be at either end
        ([1, 1, 1, 1, 0], [0, 1]),
        ([1, 1, 1, 1, 1], [0, 1, 2, 3, 4]),
        ([0, 1, 1, 0, 1], [0, 1, 2, 4]),
    ],
)
def test_alarms_in_over_half_of_the_time_are_neither_cut_nor_joined(predicted, expected):
    shifts, exact = shifts_of(predicted)
    assert sorted(shifts.tolist()) == expected
    assert shifts[0] == 0
    assert exact
    assert expected == permitted(predicted)


def test_touching_alarms_are_one_and_points_are_never_cut():
    truth, span = cc.Events([(3, 4)]), (0, 10)
    touching = read_pair(truth, cc.Events([(2, 4), (4, 8)]), span=span)
    assert sorted(shifts_in(touching)[0].tolist()) == [0, 1, 2, 8, 9]
    points = read_pair(truth, cc.Events([(0, 0), (5, 5), (10, 10)]), span=span)
    assert sorted(shifts_in(points)[0].tolist()) == list(range(10))
    at_the_end = read_pair(truth, cc.Events([(0, 0), (4, 10)]), span=span)
    assert sorted(shifts_in(at_the_end)[0].tolist()) == [0, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        ([(2, 5)], [0, 1, 2, 5, 6, 7, 8, 9]),
        ([(2, 5), (5, 7)], [0, 1, 2, 5, 7, 8, 9]),
        ([(0, 3), (8, 10)], [0, 3, 4, 5, 6, 7, 8]),
        ([(0, 10)], [0]),
        ([(4, 4), (10, 10)], [*range(10)]),
    ],
)
def test_events_are_never_cut(truth, expected):
    for kind in (int, float):
        events = cc.Events([(kind(start), kind(stop)) for start, stop in truth])
        pair = read_pair(events, cc.Events([(kind(1), kind(3))]), span=(kind(0), kind(10)))
        seams, exact = event_seams(shift_grid(pair))
        assert (seams.tolist(), exact) == (expected, True)


@pytest.mark.parametrize("ends", [(100, 200), (0, 2600)])
def test_more_shifts_than_are_scored_are_spread_by_the_golden_ratio(ends):
    labels = np.zeros(5000, dtype=int)
    labels[slice(*ends)] = 1
    shifts, exact = shifts_of(labels)
    assert not exact
    assert np.unique(shifts).size == shifts.size == 1000
    # They are at the fractions k * golden of all places, or of those in the gap.
    first = 0 if ends[0] else 2599
    fractions = np.sort(np.arange(1, 1001) * 0.6180339887498949 % 1)
    places = first + np.floor(fractions * (5000 - first))
    np.testing.assert_array_equal((5000 - shifts) % 5000, np.where(places == 2599, 0, places))


def test_multiples_of_the_golden_ratio_are_even():
    values = np.sort(spread(1000))
    assert np.diff(values, prepend=0, append=1).max() < 2 / 1000


LABELS = np.zeros(60, dtype=int)
LABELS[[3, 4, 20, 21, 22, 59]] = 1
EVEN = {
    "integers": {"times": np.arange(60) * 60 - 7},
    "floats": {"times": np.arange(60) * 0.1 + 1e6},
    "short floats": {"times": (np.arange(60) * 0.1).astype(np.float32)},
    "stamps": {"times": np.datetime64("2024-01-01T00:00", "s") + np.arange(60) * 300},
    "floats with an end": {"times": np.arange(60) / 8, "end": 60 / 8},
    "integers with an end": {"times": np.arange(60) * 3, "end": 180},
}


@pytest.mark.parametrize("axis", EVEN.values(), ids=EVEN)
def test_evenly_sampled_labels_move_by_whole_samples(axis):
    truth = np.roll(LABELS, 7)
    plain, timed = cc.affiliation(truth, LABELS), cc.affiliation(truth, LABELS, **axis)
    assert timed.chance.shifts == plain.chance.shifts == len(permitted(LABELS))
    for name in SCORES:
        assert getattr(timed.chance, name) == pytest.approx(getattr(plain.chance, name), abs=1e-12)


@pytest.mark.parametrize(
    "axis",
    [{"times": np.arange(60) * 10, "end": 601}, {"times": np.arange(60) * 10, "span": (0, 601)}],
    ids=["a longer last sample", "a wider span"],
)
def test_other_labels_move_by_ticks(axis):
    shifts, exact = shifts_of(LABELS, **axis)
    assert exact
    assert np.unique(np.diff(np.sort(shifts))).tolist() == [1, 20, 30] or (shifts % 10).any()


def test_numbers_that_no_step_divides_move_by_any_number():
    truth, alarms = cc.Events([(2**0.5, 3.0)]), cc.Events([(2.0, 8.0)])
    pair = read_pair(truth, alarms, span=(0.0, 10.0))
    shifts, exact = shifts_in(pair)
    assert not exact
    assert np.unique(shifts).size == 1000
    seams = 10 - shifts
    assert not ((seams > 2) & (seams < 8)).any()
    seams, exact = event_seams(shift_grid(pair))
    assert not exact
    assert not ((seams > 2**0.5) & (seams < 3)).any()
    assert cc.affiliation(truth, alarms, span=(0.0, 10.0)).chance.step == 0


@pytest.mark.parametrize(
    ("pairs", "length", "step"),
    [
        ([(2, 4), (6, 8)], 10, 1),  # as samples are counted
        ([(2, 4), (6, 8)], 1002, 2),
        ([(2.0, 4.0), (6.0, 8.0)], 10.0, 1),
        ([(2.0, 4.0), (6.0, 8.0)], 1002.0, 2),
        ([(0.1, 0.3), (0.7, 0.9)], 1.0, 0.1),
        ([(0.2, 0.4), (0.6, 0.8)], 1.2, 0.2),
        ([(100.25, 101.0), (350.5, 350.75)], 500.0, 0.25),
        ([(1 / 3, 2 / 3), (4 / 3, 5 / 3)], 3.0, 1 / 3),
    ],
)
@pytest.mark.parametrize("origin", [0, -7, 1_700_000_000])
def test_lists_of_events_move_by_what_divides_all_their_times(pairs, length, step, origin):
    truth, alarms = (cc.Events([(origin + a, origin + b)]) for a, b in pairs)
    found = cc.affiliation(truth, alarms, span=(origin, origin + length)).chance
    assert found.step == pytest.approx(step)
    samples = np.arange(round(length / step)) + 0.5
    labels = [[a < step * own < b for own in samples] for a, b in pairs]
    expected = cc.affiliation(*labels).chance
    assert (found.shifts, found.exact) == (expected.shifts, expected.exact)
    assert list(found.values().values()) == pytest.approx(list(expected.values().values()))


def test_dated_lists_move_as_labels_at_these_times_whatever_their_unit():
    truth, alarms = np.roll(LABELS, 7), LABELS
    expected = cc.affiliation(truth, alarms)
    for unit in ("s", "ms", "ns"):
        times = (np.datetime64("2024-01-01") + 5 * np.arange(61).astype("m8[m]")).astype(
            f"M8[{unit}]"
        )
        labels = cc.affiliation(truth, alarms, times=times[:-1])
        sides = (cc.Events.from_labels(own, times[:-1]) for own in (truth, alarms))
        for found in (labels, cc.affiliation(*sides, span=(times[0], times[-1]))):
            assert found.chance.step == np.timedelta64(5, "m")
            assert found.chance.to_dict() | {"step": 1} == expected.chance.to_dict()
            assert found.chance.to_dict()["step"] == 300


@pytest.mark.parametrize(
    ("first", "unit"),
    [(0, 1), (0.5, 1), (np.datetime64("2024-01-01", "s"), np.timedelta64(1, "s"))],
)
def test_alarms_off_the_samples_move_by_whole_samples_too(first, unit):
    times = first + np.arange(30) * 10 * unit
    alarms = {"a": cc.Events([(first + 71 * unit, first + 85 * unit)]), "b": np.arange(30) == 8}
    found = cc.compare(np.arange(30) == 7, alarms, times=times)
    assert found.results["a"].chance.shifts == found.results["b"].chance.shifts == 30
    truth, span = cc.Events([(70, 80)]), (0, 300)
    each = [
        cc.affiliation(truth, cc.Events(shifted([(71, 85)], 10 * by, span)), span=span).f1
        for by in range(30)
    ]
    level = found.results["a"].chance.moved["alarms"]["f1"]
    assert level == pytest.approx(np.mean(each), abs=1e-12)


def test_lists_of_events_move_as_the_labels_that_they_are_made_of():
    times = np.datetime64("2024-01-01", "s") + 60 * np.arange(3000)
    truth, predicted = np.zeros((2, 3000), dtype=int)
    truth[[5, 6, 1000, 2000]] = predicted[[7, 500, 501, 2001]] = 1
    labels = cc.affiliation(truth, predicted, times=times)
    assert (labels.chance.shifts, labels.chance.exact) == (1000, False)
    for unit in ("s", "ns"):
        events = [
            cc.Events.from_arrays(own.starts.astype(f"M8[{unit}]"), own.stops.astype(f"M8[{unit}]"))
            for own in (cc.Events.from_labels(side, times) for side in (truth, predicted))
        ]
        listed = cc.affiliation(*events, span=(times[0], times[-1] + np.timedelta64(60, "s")))
        assert listed.chance.to_dict() == labels.chance.to_dict()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_every_move_scores_what_moved_labels_score(seed, share):
    random = np.random.default_rng([seed, int(10 * share)])
    length = int(random.integers(5, 24))
    truth, predicted = (random.random((2, length)) < [[0.2], [share]]).astype(int)
    truth[random.integers(length)] = predicted[random.integers(length)] = 1
    pair = read_pair(truth, predicted)
    found, result = score_shifts(pair), cc.affiliation(truth, predicted)
    shifts, *alarms = alarms_moved(truth, predicted)
    seams, *events = events_moved(truth, predicted)
    order = np.argsort(shifts_of(predicted)[0])
    np.testing.assert_allclose(found.alarms.scores[:, order].T, alarms[0], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(event_seams(shift_grid(pair))[0], seams)
    np.testing.assert_allclose(found.events.scores.T, events[0], rtol=0, atol=1e-12)
    levels = []
    for moves, (overall, each) in ((found.alarms, alarms), (found.events, events)):
        assert moves.exact
        drawn = np.sum(~np.isnan(each), axis=0)
        means = np.nansum(each, axis=0) / np.where(drawn, drawn, nan)
        np.testing.assert_array_equal(moves.events[0], drawn.T)
        np.testing.assert_array_equal(
            moves.events[1], np.sum(each >= alarms[1][0] - 1e-12, axis=0).T
        )
        np.testing.assert_allclose(moves.events[2], means.T, atol=1e-12)
        levels.append((overall.mean(axis=0), overall.std(axis=0), means))
    constant = np.ptp(alarms[0], axis=0) < 1e-12  # no move of the alarms changes anything
    higher = (levels[1][0] > levels[0][0]) & ~constant
    expected = np.where(higher, levels[1][:2], levels[0][:2])
    assert list(result.chance.values().values()) == pytest.approx(expected[0], abs=1e-12)
    for index, name in enumerate(SCORES):
        deviation = getattr(result.chance, f"{name}_std")
        assert deviation == pytest.approx(expected[1, index], abs=1e-9)
        level = getattr(result.chance.events, name)
        for row, column in enumerate(zip(*(each[:, index] for *_, each in levels), strict=True)):
            draws = alarms[1][:, row, index]
            kept = np.ptp(draws) < 1e-12  # False where one is nan
            wanted = column[0] if kept else np.fmax(*column)
            assert level[row] == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    assert (result.chance.shifts, result.chance.exact) == (len(shifts), True)
    level, count = result.chance.caught, len(result.events)
    above = (alarms[0][0, 3] - level) / (count - level) if level < count else nan
    assert result.caught_above_chance == pytest.approx(above, abs=1e-12, nan_ok=True)


def test_where_two_levels_differ_there_is_a_caution():
    truth, predicted = np.zeros((2, 200), dtype=int)
    truth[20:24] = predicted[95:105] = 1  # an alarm in the middle is near to most events
    chance = cc.affiliation(truth, predicted).chance
    assert chance.moved["events"]["f1"] > chance.moved["alarms"]["f1"] + 0.05
    assert chance.f1 == chance.moved["events"]["f1"]
    (caution,) = chance.cautions
    assert caution == (
        "Alarms or events may be tied to a part of the series: "
        "the two levels of chance differ by over 0.05."
    )
    assert cc.affiliation(LABELS, np.ones(60, dtype=int)).chance.cautions == []
    assert cc.affiliation(truth, 0 * predicted).chance.cautions == []


def moved(events, seam):
    return shifted(list(events), -seam % 3000, (0, 3000))


@pytest.mark.parametrize("seed", range(20))
def test_many_alarms_score_alike_in_sums_and_one_by_one(seed):
    random = np.random.default_rng(seed)
    truth, predicted = (
        cc.Events(np.sort(random.choice(3000, 2 * count, replace=False)).reshape(-1, 2))
        for count in random.integers((1, 1), (9, 200))
    )
    whole = read_pair(truth, predicted, span=(0, 3000))
    seams = np.unique(random.integers(0, 3000, size=50))
    others = event_seams(shift_grid(whole), 50)[0]
    # Sums are only made of whole numbers; eighths are exact, and looked at one by one.
    parts = [cc.Events.from_arrays(own.starts / 8, own.stops / 8) for own in (truth, predicted)]
    for one, other in zip(
        score_moved(whole, seams, others),
        score_moved(read_pair(*parts, span=(0.0, 375.0)), seams / 8, others / 8),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    moves = [(truth, cc.Events(moved(predicted, seam))) for seam in seams.tolist()]
    moves += [(cc.Events(moved(truth, seam)), predicted) for seam in others.tolist()]
    for pair, scores in zip(moves, score_moved(whole, seams, others)[0][:2, 1:].T, strict=True):
        alone = cc.affiliation(*pair, span=(0, 3000))
        np.testing.assert_allclose(scores, [alone.precision, alone.recall], rtol=0, atol=1e-12)


def test_levels_by_hand():
    # One event in the middle of eleven samples, one alarm: each can be in any of the eleven.
    truth, predicted = np.eye(11, dtype=int)[[5, 0]]
    result = cc.affiliation(truth, predicted)
    every = np.eye(11, dtype=int)
    alarms = np.mean([cc.affiliation(truth, row).precision for row in every])
    events = np.mean([cc.affiliation(row, predicted).precision for row in every])
    assert result.chance.moved["alarms"]["precision"] == pytest.approx(alarms, abs=1e-15)
    assert result.chance.moved["events"]["precision"] == pytest.approx(events, abs=1e-15)
    # The mean over a zone is 1/2 + p**2 / 2, as for a prediction of all of it. An alarm at the
    # start is farther from most events than an alarm anywhere.
    assert alarms == pytest.approx(0.5 + (1 / 11) ** 2 / 2, abs=1e-15)
    assert events < alarms == pytest.approx(result.chance.precision, abs=1e-15)
    level = result.chance.precision
    assert result.precision_above_chance == pytest.approx((result.precision - level) / (1 - level))
    assert result.events.precision_above_chance[0] == result.precision_above_chance
    # An alarm in the middle is nearer to most events, and the higher level counts.
    middle = cc.affiliation(truth, np.eye(11, dtype=int)[4]).chance
    assert middle.precision == middle.moved["events"]["precision"] > alarms


@pytest.mark.parametrize("axis", [{}, *EVEN.values()], ids=["samples", *EVEN])
def test_predicting_everything_is_exactly_at_chance(axis):
    result = cc.affiliation(LABELS, np.ones(60, dtype=int), **axis)
    above = [getattr(result, f"{name}_above_chance") for name in SCORES]
    assert above == [0.0, 0.0, 0.0]
    for name in SCORES:
        column = getattr(result.events, f"{name}_above_chance")
        np.testing.assert_array_equal(column, np.zeros(3))


def test_everything_but_one_sample_is_no_better_than_chance():
    truth = np.zeros(1000, dtype=int)
    truth[400:420] = 1
    for place in (0, 999, 17, 405):
        predicted = np.ones(1000, dtype=int)
        predicted[place] = 0
        test = cc.significance(truth, predicted).f1
        assert not test.better_than_chance
        if place in (0, 999):
            assert (test.null.size, test.exact) == (2, True)
            assert test.pvalue >= 0.5


def test_no_alarm_at_all():
    result = cc.affiliation(LABELS, 0 * LABELS)
    chance = result.chance
    assert isnan(chance.precision)
    assert isnan(chance.f1)
    assert (chance.recall, chance.shifts, chance.exact) == (0.0, 0, True)
    assert isnan(result.precision_above_chance)
    assert isnan(result.f1_above_chance)
    assert result.recall_above_chance == 0
    np.testing.assert_array_equal(result.events.recall_above_chance, np.zeros(3))
    assert np.isnan(result.events.f1_above_chance).all()


@pytest.mark.parametrize("zero_division", [0, 1])
def test_zones_without_alarms_count_as_chosen(zero_division):
    truth, predicted = np.roll(LABELS, 3), np.eye(60, dtype=int)[22]
    result = cc.affiliation(truth, predicted, zero_division=zero_division)
    each = [
        cc.affiliation(truth, np.roll(predicted, shift), zero_division=zero_division)
        for shift in range(60)
    ]
    for name in SCORES:
        expected = np.mean([getattr(one, name) for one in each])
        assert result.chance.moved["alarms"][name] == pytest.approx(expected, abs=1e-12)
    assert result.f1_above_chance == pytest.approx(above_chance(result.f1, result.chance.f1))
    # The level of an event does not depend on it.
    plain = cc.affiliation(truth, predicted).chance.events
    np.testing.assert_array_equal(result.chance.events.f1, plain.f1)


@pytest.mark.parametrize("zero_division", [0, 1])
def test_no_alarm_counts_as_chosen(zero_division):
    chance = cc.affiliation(LABELS, 0 * LABELS, zero_division=zero_division).chance
    assert (chance.precision, chance.recall, chance.f1) == (zero_division, 0, 0)


def test_above_chance():
    scores = np.array([0.25, 1.0, 0.625, 0.0, nan, 1.0, 0.3])
    levels = np.array([0.25, 0.25, 0.25, 0.25, 0.25, 1 - 1e-14, nan])
    expected = [0, 1, 0.5, -1 / 3, nan, 0, nan]
    np.testing.assert_allclose(above_chance(scores, levels), expected, rtol=1e-15)
    assert isnan(above_chance(0.5, 1.0))


def test_a_missed_event_is_below_chance_and_a_perfect_detector_at_one():
    truth, predicted = np.zeros((2, 100), dtype=int)
    truth[[20, 80]] = predicted[[20, 21]] = 1
    events = cc.affiliation(truth, predicted).events
    assert events.recall_above_chance[1] < 0
    assert isnan(events.precision_above_chance[1])
    assert events.recall_above_chance[0] > 0.9
    perfect = cc.affiliation(LABELS, LABELS)
    assert [getattr(perfect, f"{name}_above_chance") for name in SCORES] == [1, 1, 1]


def test_text_and_plain_values():
    result = cc.affiliation(LABELS, np.roll(LABELS, 2))
    chance = result.chance
    assert repr(chance) == (
        f"Chance(precision={chance.precision:.3f}, recall={chance.recall:.3f}, "
        f"f1={chance.f1:.3f}, caught={chance.caught:.3g}, shifts={chance.shifts})"
    )
    assert repr(chance.events) == "EventChance(3 events, columns precision, recall, f1)"
    values = chance.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert list(values) == [
        "precision",
        "recall",
        "f1",
        "caught",
        "precision_std",
        "recall_std",
        "f1_std",
        "shifts",
        "exact",
        "step",
        "moved",
        "events",
    ]
    assert values["events"][1]["f1"] == chance.events.f1[1]
    assert chance.values() == {name: values[name] for name in (*SCORES, "caught")}


@pytest.mark.parametrize("alarms", [[0, 0, 1, 1, 0, 0, 0, 1], [0] * 8])
def test_levels_are_the_same_without_those_of_events(alarms):
    pair = read_pair([0, 1, 1, 0, 0, 1, 0, 0], alarms)
    whole, bare = Chance.of(pair), Chance.of(pair, per_event=False)
    np.testing.assert_equal(bare.values(), whole.values())
