"""The null of alarms: every shift against scoring it alone, and the tally of blocks."""

from datetime import UTC, datetime, timedelta
from math import nan

import numpy as np
import pytest

import closecall as cc
from closecall.chance import alarms
from closecall.chance.alarms import EventTally, score_shifted, shift_alarms
from closecall.series import read_pair
from tests.oracle import affiliation as oracle
from tests.oracle.significance import shifted


def require_equal(found, each, k, result):
    """Compare one shift, overall and for each event."""
    expected = [result.precision, result.recall, result.f1]
    np.testing.assert_allclose(found[:, k], expected, rtol=0, atol=1e-12)
    rows = [result.events.precision, result.events.recall, result.events.f1]
    np.testing.assert_allclose(each[:, k], rows, rtol=0, atol=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("seed", range(6))
def test_labels_are_rolled(seed, share):
    random = np.random.default_rng([seed, int(100 * share)])
    length = int(random.integers(5, 60))
    truth, predicted = random.random((2, length)) < [[0.2], [share]]
    truth[random.integers(length)] = predicted[random.integers(length)] = True
    found, each = score_shifted(read_pair(truth, predicted), np.arange(length))
    for shift in range(length):
        require_equal(found, each, shift, cc.affiliation(truth, np.roll(predicted, shift)))


def test_the_definition_itself():
    truth, predicted, span = (
        [(2, 5), (11, 11), (15, 18)],
        [(0, 1), (4, 4), (7, 9), (14, 20)],
        (0, 22),
    )
    pair = read_pair(cc.Events(truth), cc.Events(predicted), span=span)
    shifts = np.array([0, 3, 8, 15])
    found, each = score_shifted(pair, shifts)
    for k, shift in enumerate(shifts.tolist()):
        result = oracle.evaluate(truth, shifted(predicted, shift, span), span)
        np.testing.assert_allclose(found[:2, k], [result.precision, result.recall], atol=1e-9)
        rows = [[row.precision for row in result.rows], [row.recall for row in result.rows]]
        np.testing.assert_allclose(each[:2, k], rows, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_points_and_ranges_at_stamps(seed):
    random = np.random.default_rng(seed)
    start = datetime(2024, 3, 1, 7, tzinfo=UTC)
    span = (0, 5000)

    def at(second):
        return start + timedelta(seconds=second)

    def events(pairs):
        return cc.Events([(at(first), at(last)) for first, last in pairs])

    bounds = np.sort(random.choice(5000, size=20, replace=False)).reshape(-1, 2).tolist()
    truth, ranges = bounds[::3], [tuple(pair) for pair in bounds]
    predicted = sorted([*ranges[1::2], *((first + 1, first + 1) for first, _ in ranges[::4])])
    pair = read_pair(events(truth), events(predicted), span=(at(0), at(5000)))
    per_second = pair.clock.ticks_per_second
    seconds = random.integers(5000, size=60)
    found, each = score_shifted(pair, seconds * per_second)
    for k, second in enumerate(seconds.tolist()):
        alone = events(shifted(predicted, second, span))
        require_equal(found, each, k, cc.affiliation(events(truth), alone, span=(at(0), at(5000))))


def test_numbers_that_are_no_integers():
    truth, predicted = [(0.5, 1.25), (3.0, 3.5)], [(0.25, 0.75), (2.0, 2.0), (3.25, 4.0)]
    span = (0.25, 4.25)
    pair = read_pair(cc.Events(truth), cc.Events(predicted), span=span)
    shifts = np.arange(0, 4, 0.125)  # of two, so that the sums are exact
    found, each = score_shifted(pair, shifts)
    for k, shift in enumerate(shifts.tolist()):
        alone = cc.Events(shifted(predicted, shift, span))
        require_equal(found, each, k, cc.affiliation(cc.Events(truth), alone, span=span))


def test_far_from_zero_nothing_is_lost():
    """Nanoseconds since 1970 use all digits of a 64-bit integer."""
    far = 1_700_000_000_000_000_000
    near = read_pair(cc.Events([(10, 20)]), cc.Events([(3, 7), (15, 31)]), span=(0, 101))
    away = read_pair(
        cc.Events([(far + 10, far + 20)]),
        cc.Events([(far + 3, far + 7), (far + 15, far + 31)]),
        span=(far, far + 101),
    )
    for ours, theirs in zip(
        score_shifted(near, np.arange(101)), score_shifted(away, np.arange(101)), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_blocks_give_what_all_at_once_gives(monkeypatch):
    random = np.random.default_rng(3)
    truth, predicted = random.random((2, 80)) < [[0.2], [0.1]]
    pair, shifts = read_pair(truth, predicted), random.integers(80, size=40)
    observed, null, events = shift_alarms(pair, shifts, "holm", None)
    told = []
    monkeypatch.setattr(alarms, "_BLOCK", 7 * (len(pair.truth) + len(pair.predicted)))
    again = shift_alarms(pair, shifts, "holm", lambda done, total: told.append((done, total)))
    assert told == [(done, 40) for done in (7, 14, 21, 28, 35, 40)]
    np.testing.assert_array_equal(again[0], observed)
    np.testing.assert_array_equal(again[1], null)
    for ours, theirs in zip(again[2], events, strict=True):
        np.testing.assert_array_equal(ours.null, theirs.null)
        np.testing.assert_array_equal(ours.at_least, theirs.at_least)
        np.testing.assert_array_equal(ours.draws, theirs.draws)
        np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-13)
        np.testing.assert_allclose(ours.std, theirs.std, rtol=1e-10)


def test_a_tally_is_numpy_without_what_is_undefined():
    random = np.random.default_rng(4)
    draws = random.random((50, 3))
    draws[random.random((50, 3)) < 0.4] = nan
    draws[:, 2] = nan
    tally = EventTally(np.array([0.5, 0.2, nan]), keep=False)
    for block in (draws[:9], draws[9:10], draws[10:]):
        tally.add(block)
    columns = tally.result("holm")
    assert columns.null is None
    np.testing.assert_allclose(columns.mean[:2], np.nanmean(draws[:, :2], axis=0))
    np.testing.assert_allclose(columns.std[:2], np.nanstd(draws[:, :2], axis=0))
    np.testing.assert_array_equal(columns.mean[2:], [nan])
    np.testing.assert_array_equal(columns.std[2:], [nan])
    np.testing.assert_array_equal(columns.draws, np.isfinite(draws).sum(axis=0))
    np.testing.assert_array_equal(
        columns.at_least, [(draws[:, 0] >= 0.5).sum(), (draws[:, 1] >= 0.2).sum(), 0]
    )


def test_the_draws_of_many_events_are_not_kept(monkeypatch):
    pair, shifts = read_pair([0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1]), np.arange(6)
    monkeypatch.setattr(alarms, "MOST_KEPT", 12)
    _, _, kept = shift_alarms(pair, shifts, "holm", None)
    monkeypatch.setattr(alarms, "MOST_KEPT", 11)
    _, _, dropped = shift_alarms(pair, shifts, "holm", None)
    assert [column.null.shape for column in kept] == [(6, 2)] * 3
    assert [column.null for column in dropped] == [None] * 3
    for ours, theirs in zip(kept, dropped, strict=True):
        np.testing.assert_array_equal(ours.pvalue, theirs.pvalue)
