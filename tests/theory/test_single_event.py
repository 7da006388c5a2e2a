"""The closed forms of `closecall.theory`, each against the metric or a direct measurement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import InputError, InputTypeError
from tests.messages import message

POSITIONS = ("border", "halfway", "start", "center")

# Times in [0, 1] with exact sums and halves, so that rounding never moves a point across a border.
ticks = st.integers(0, 2**20)
proportions = st.integers(1, 2**18).map(lambda count: count / 2**18)


@st.composite
def zones(draw):
    """An event inside a zone, as four sorted integers A <= a <= b <= B with A < B."""
    zone_start, start, stop, zone_stop = sorted(draw(st.tuples(ticks, ticks, ticks, ticks)))
    return zone_start, start, stop, zone_stop + 1


def single_prediction(proportion, position="start"):
    return cc.theory.single_prediction(proportion, position=position)


def centred(proportion: float) -> tuple[float, float]:
    return (1 - proportion) / 2, (1 + proportion) / 2


def score_point(time: float, event: tuple[float, float], span: tuple[float, float] = (0.0, 1.0)):
    return cc.affiliation(cc.Events([event]), cc.Events.from_points([time]), span=span)


def measured_survival(zone, event, distance) -> Fraction:
    """Share of the zone at `distance` or more from the event, by adding up exact intervals."""
    zone_start, zone_stop = map(Fraction, zone)
    start, stop = map(Fraction, event)
    inside = stop - start if distance == 0 else Fraction(0)
    before = min(start, start - distance) - zone_start
    after = zone_stop - max(stop, stop + distance)
    return (inside + max(before, Fraction(0)) + max(after, Fraction(0))) / (zone_stop - zone_start)


@given(zones(), ticks)
@example((0, 3, 5, 20), 3)
@example((0, 3, 5, 20), 15)
@example((0, 3, 5, 20), 16)
@example((0, 0, 7, 7), 1)
@example((0, 3, 5, 20), 0)
def test_survival_is_the_share_of_the_zone_at_least_that_far(edges, distance):
    zone_start, start, stop, zone_stop = edges
    zone = zone_start, zone_stop
    for event, survival in (
        ((start, stop), cc.theory.precision_survival((start, stop), zone)),
        ((start, start), cc.theory.recall_survival(start, zone)),
    ):
        share = measured_survival(zone, event, distance)
        assert survival(distance) == pytest.approx(float(share), abs=1e-15)


@given(zones(), st.floats(0, 1))
def test_survival_has_the_printed_form_up_to_the_farthest_border(edges, fraction):
    zone_start, start, stop, zone_stop = edges
    nearest, farthest = sorted((start - zone_start, zone_stop - stop))
    distance = max(fraction * farthest, 1e-9)
    printed = 1 - (stop - start + min(distance, nearest) + distance) / (zone_stop - zone_start)
    survival = cc.theory.precision_survival((start, stop), (zone_start, zone_stop))
    assert survival(distance) == pytest.approx(max(printed, 0), abs=1e-14)


@given(zones(), ticks)
def test_precision_survival_scores_a_point_prediction(edges, time):
    zone_start, start, stop, zone_stop = edges
    time = min(max(time, zone_start), zone_stop - 1)
    stop = max(stop, start + 1)
    result = score_point(time, (start, stop), (zone_start, zone_stop))
    # A point at the very stop of a half-open event is just outside it, at a distance above 0.
    distance = np.nextafter(0, 1) if time == stop else max(start - time, time - stop, 0)
    survival = cc.theory.precision_survival((start, stop), (zone_start, zone_stop))
    assert result.precision == pytest.approx(survival(distance), abs=1e-12)


@given(zones(), ticks)
def test_recall_survival_scores_a_point_event(edges, time):
    zone_start, position, _, zone_stop = edges
    time = min(max(time, zone_start), zone_stop - 1)
    result = score_point(time, (position, position), (zone_start, zone_stop))
    survival = cc.theory.recall_survival(position, (zone_start, zone_stop))
    assert result.recall == pytest.approx(survival(abs(time - position)), abs=1e-12)


def test_recall_is_the_mean_of_the_survival_over_the_event():
    event, zone, time = (0.4, 0.7), (0.0, 1.0), 0.1
    count = 2_000
    grid = event[0] + (np.arange(count) + 0.5) / count * (event[1] - event[0])
    values = [cc.theory.recall_survival(y, zone)(y - time) for y in grid.tolist()]
    assert score_point(time, event).recall == pytest.approx(np.mean(values), abs=1e-6)


def test_survival_edges():
    survival = cc.theory.precision_survival((2, 3), (0, 10))
    distances = [0, 1, 2, 5, 7, 7.5, np.inf, np.nan]
    expected = [1, 0.7, 0.5, 0.2, 0, 0, 0, np.nan]
    np.testing.assert_allclose(survival(distances), expected, atol=1e-15)
    # The limit at 0 is the share outside the event, and only 0 itself is certain.
    assert survival(1e-300) == 0.9
    assert survival(7) == 0
    assert survival(np.zeros((2, 3))).tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("zone_info", [None, UTC])
def test_survival_on_a_time_axis_gives_the_published_values(zone_info):
    def at(hour: int, minute: int) -> datetime:
        return datetime(2022, 8, 14, hour, minute, tzinfo=zone_info)

    zone = (at(3, 30), at(5, 0))
    precision = cc.theory.precision_survival((at(3, 50), at(4, 10)), zone)
    recall = cc.theory.recall_survival(at(4, 10), zone)
    ten = timedelta(minutes=10)
    assert round(precision(ten), 3) == 0.556
    assert round(recall(ten), 3) == 0.778
    assert precision(np.timedelta64(10, "m")) == precision(pd.Timedelta("10min")) == precision(ten)
    assert precision([timedelta(0), ten]).tolist() == [1, precision(ten)]
    nanoseconds = np.array([0, 50 * 60 * 10**9, "NaT"], dtype="timedelta64[ns]")
    np.testing.assert_array_equal(precision(nanoseconds), [1, 0, np.nan])


def test_survival_is_exact_on_epoch_nanoseconds():
    far = cc.theory.precision_survival(
        tuple(np.array([1_700_000_000_000_000_003, 1_700_000_000_000_000_004]).tolist()),
        (1_700_000_000_000_000_000, 1_700_000_000_000_000_010),
    )
    near = cc.theory.precision_survival((3, 4), (0, 10))
    assert far == near
    assert near(1) == 0.7


@given(zones())
def test_whole_interval(edges):
    zone_start, start, stop, zone_stop = edges
    stop = max(stop, start + 1)
    span = (zone_start, zone_stop)
    result = cc.affiliation(cc.Events([(start, stop)]), cc.Events([span]), span=span)
    theory = cc.theory.whole_interval((stop - start) / (zone_stop - zone_start))
    assert result.precision == pytest.approx(theory.precision, abs=1e-12)
    assert result.recall == theory.recall == 1


@given(proportions)
def test_single_random_prediction(proportion):
    """The moments of random points are checked on grids and against exact fractions."""
    theory = cc.theory.single_random_prediction(proportion)
    assert theory.precision == cc.theory.precision_of_points(proportion).mean
    assert theory.recall == cc.theory.mean_recall_of_points(1)


@given(proportions, st.sampled_from(POSITIONS))
@example(1.0, "border")
@example(1.0, "halfway")
@example(1.0, "start")
@example(1.0, "center")
@example(0.5, "start")
@example(2**-18, "center")
def test_single_prediction(proportion, position):
    start, stop = centred(proportion)
    time = {"border": 0.0, "halfway": start / 2, "start": start, "center": 0.5}[position]
    result = score_point(time, (start, stop))
    theory = cc.theory.single_prediction(proportion, position=position)
    assert result.precision == pytest.approx(theory.precision, abs=1e-12)
    assert result.recall == pytest.approx(theory.recall, abs=1e-12)


def test_the_printed_factor_at_the_start_of_the_event_is_not_that_of_the_metric():
    proportion = 0.75
    printed = 1 - proportion + 16 / (9 * proportion) * (proportion - 1 / 3) ** 2
    measured = score_point(centred(proportion)[0], centred(proportion)).recall
    assert measured == pytest.approx(0.25 + 9 / (16 * 0.75) * (5 / 12) ** 2, abs=1e-12)
    assert printed - measured > 0.28


def test_functions_of_an_array_are_those_of_its_elements():
    shares = np.array([[0.1, 0.25], [0.6, 1.0]])
    for function in (
        cc.theory.whole_interval,
        cc.theory.single_random_prediction,
        *(lambda p, at=at: cc.theory.single_prediction(p, position=at) for at in POSITIONS),
    ):
        together = function(shares)
        apart = [function(share) for share in shares.ravel().tolist()]
        assert together.precision.ravel().tolist() == [one.precision for one in apart]
        assert together.recall.ravel().tolist() == [one.recall for one in apart]
        assert together.recall.shape == together.precision.shape == (2, 2)


DAY = np.datetime64("2024-01-01"), np.datetime64("2024-01-02")
SURVIVAL = cc.theory.precision_survival((2, 3), (0, 10))
SHARES = [0, -0.5, 1.001, float("nan"), float("inf")]
INSIDE, ORDER = "to be inside the zone (5, 9), got", "to start before it stops, got"


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        *(
            (function, [share], f"`proportion` to be in (0, 1], got {float(share)}.\n\nHint: It is")
            for function in (cc.theory.whole_interval, cc.theory.single_random_prediction)
            for share in SHARES
        ),
        *(
            (
                single_prediction,
                [[0.5, share]],
                f"`proportion` to be in (0, 1], got {share} at inde",
            )
            for share in map(float, SHARES)
        ),
        *((cc.theory.whole_interval, [x], "`proportion` to be n") for x in ("0.5", None, True, 1j)),
        (
            single_prediction,
            [0.5, "middle"],
            "`position` to be 'border', 'halfway', 'start' or 'center', got 'middle'.",
        ),
        (cc.theory.precision_survival, [(4, 6), (5, 9)], f"`event` {INSIDE} (4, 6)."),
        (cc.theory.precision_survival, [(6, 10), (5, 9)], f"`event` {INSIDE} (6, 10)."),
        (cc.theory.precision_survival, [(7, 6), (5, 9)], f"`event` {ORDER} (7, 6)."),
        (cc.theory.precision_survival, [(6, 7), (9, 5)], f"`zone` {ORDER} (9, 5)."),
        (cc.theory.precision_survival, [(6, 7), (5, 5)], f"`zone` {ORDER} (5, 5)."),
        (cc.theory.precision_survival, [(6, 7), (0.0, np.inf)], "`zone` to be finite, got inf at"),
        (cc.theory.precision_survival, [(6, np.nan), (5, 9)], "`event` to be finite, got nan at"),
        (cc.theory.recall_survival, [10, (5, 9)], f"`position` {INSIDE} 10."),
        *(
            (
                cc.theory.precision_survival,
                [event, (0, 9)],
                f"`event` to be a pair (start, stop), got {len(event)} times.",
            )
            for event in ((1, 2, 3), (1,))
        ),
        (cc.theory.precision_survival, [(1, 2), DAY], "`event` and `zone` to be on one kind of"),
        (cc.theory.precision_survival(DAY, DAY), [[1.0]], "`distance` to be timedeltas, since the"),
        (SURVIVAL, [timedelta(hours=1)], "`distance` to be numbers"),
        (SURVIVAL, [-1], "`distance` to be 0 or more, got -1.\n\nHint: "),
        (SURVIVAL, [[1.0, -2.5]], "`distance` to be 0 or more, got -2.5 at index 1."),
    ],
)
def test_refusals(function, arguments, text):
    found = message((InputError, InputTypeError), function, *arguments)
    assert found.startswith(f"Expected {text}")
