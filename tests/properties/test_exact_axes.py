"""Large integers and epoch nanoseconds give the digits of an axis that starts at zero."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from tests.properties.comparisons import LENGTHS, assert_close, assert_same_digits
from tests.properties.strategies import labelled, mixed_cases, one, whole_steps

EPOCH = 1_700_000_000_000_000_000
SCORES = ("precision", "recall", "f1", "predicted_count")


def assert_same_durations(numbers, durations):
    """Compare columns of numbers with durations in nanoseconds, which are rounded to whole ones."""
    for name in LENGTHS:
        number, duration = getattr(numbers.events, name), getattr(durations.events, name)
        defined = np.isfinite(number)
        assert np.isnat(duration).tolist() == (~defined).tolist(), name
        rounded = np.rint(number[defined]).astype("timedelta64[ns]")
        assert duration[defined].tolist() == rounded.tolist(), name


@given(mixed_cases)
def test_epoch_nanoseconds_as_datetimes(case):
    from_zero = case.score()
    epoch = case.moved(lambda tick: np.datetime64(EPOCH + tick, "ns")).score()
    assert_same_digits(from_zero, epoch, columns=SCORES)
    assert_same_durations(from_zero, epoch)


@given(labelled(whole_steps), st.sampled_from([2**53 + 1, EPOCH, 2**62 - 3, -(2**62)]))
def test_labels_on_a_far_axis(drawn, origin):
    truth, predicted, times, end = drawn
    near = cc.affiliation(truth, predicted, times=times, end=end)
    far_times = np.array(times) + origin
    far = cc.affiliation(truth, predicted, times=far_times, end=end + origin)
    assert_same_digits(near, far)
    assert far.events.start.tolist() == [start + origin for start in near.events.start.tolist()]


@given(labelled(one))
def test_labels_on_epoch_nanoseconds(drawn):
    truth, predicted, _, _ = drawn
    stamps = np.arange(EPOCH, EPOCH + len(truth)).astype("datetime64[ns]")
    samples = cc.affiliation(truth, predicted)
    if len(truth) == 1:  # one time has no spacing to infer the end from
        end = stamps[0] + np.timedelta64(1, "ns")
        epoch = cc.affiliation(truth, predicted, times=stamps, end=end)
    else:
        epoch = cc.affiliation(truth, predicted, times=stamps)
    assert_same_digits(samples, epoch, columns=SCORES)
    assert_same_durations(samples, epoch)


@given(mixed_cases)
def test_the_widest_axis_of_integers(case):
    first, last = case.span
    factor = (2**62 - 1) // (last - first)
    wide = case.moved(lambda tick: (tick - first) * factor - 2**61).score()
    assert_close(case.score(), wide, factor=factor)


@pytest.mark.parametrize("years", [1, 10, 100, 140])
def test_a_span_of_many_years_in_nanoseconds(years):
    year = 365 * 86_400 * 10**9
    start = np.datetime64("1800-01-01", "ns")
    at = [start + np.timedelta64(tenth * years * year // 10, "ns") for tenth in range(11)]
    truth, predicted = cc.Events([(at[2], at[4])]), cc.Events([(at[3], at[6])])
    result = cc.affiliation(truth, predicted, span=(at[0], at[10]))
    small = cc.affiliation(cc.Events([(2, 4)]), cc.Events([(3, 6)]), span=(0, 10))
    assert result.precision == pytest.approx(small.precision, abs=1e-12)
    assert result.recall == pytest.approx(small.recall, abs=1e-12)
    tenth = years * year / 10
    for name in LENGTHS:
        found = getattr(result.events, name) / np.timedelta64(1, "ns")
        assert found == pytest.approx(getattr(small.events, name) * tenth, rel=1e-9), name


@pytest.mark.parametrize("power", [-1060, -600, -300, 300, 600, 1010])
def test_floats_far_from_one_are_scored_or_refused(power):
    """Squares of such times leave the range of floats; the score must not be lost with them."""
    factor = 2.0**power
    near = cc.affiliation(cc.Events([(1.0, 2.0)]), cc.Events([(2.0, 3.0)]), span=(0.0, 4.0))
    truth, predicted = cc.Events([(factor, 2 * factor)]), cc.Events([(2 * factor, 3 * factor)])
    try:
        far = cc.affiliation(truth, predicted, span=(0.0, 4 * factor))
    except cc.errors.InputError as refusal:
        assert "span" in str(refusal)  # noqa: PT017 - a refusal is as good as a score
    else:
        assert_same_digits(near, far, columns=SCORES)
        assert far.events.precision_distance.tolist() == [0.5 * factor]
        assert far.events.recall_distance.tolist() == [0.5 * factor]
