"""What is cut out of a result for one event, and how distances are grouped."""

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.plot.distances import grouped
from closecall.plot.zone import Spans, read_zone

TRUTH = [(0, 10), (50, 70), (170, 175)]
PREDICTED = [(5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170)]


def example(truth=TRUTH, predicted=PREDICTED, span=(0, 180)):
    return cc.affiliation(cc.Events(truth), cc.Events(predicted), span=span)


def pairs(spans):
    return list(zip(spans.starts.tolist(), spans.stops.tolist(), strict=True))


def test_predictions_are_cut_at_the_borders():
    zone = read_zone(example(), 1)
    assert (zone.offset, zone.length, zone.name) == (30, 90, "event 2")
    assert pairs(zone.event) == [(20, 40)]
    assert pairs(zone.predicted) == [(10, 30), (85, 90)]
    assert pairs(read_zone(example(), -1).predicted) == [(0, 10), (15, 20), (45, 50)]


@pytest.mark.parametrize("shift", [0, 0.5, 2**60, np.datetime64("2024-01-01", "ns")])
def test_every_axis_gives_the_same_zone(shift):
    unit = np.timedelta64(1, "ns") if isinstance(shift, np.datetime64) else 1
    moved = [[shift + unit * t for t in pair] for pair in (*TRUTH, *PREDICTED, (0, 180))]
    zone = read_zone(example(moved[:3], moved[3:-1], moved[-1]), 1)
    assert (zone.length, pairs(zone.event)) == (90, [(20, 40)])
    assert pairs(zone.predicted) == [(10, 30), (85, 90)]
    assert zone.offset == 30


def test_points_belong_to_one_zone():
    truth = [(10, 20), (40, 50)]
    result = example(truth, [(30, 30), (60, 60)], (0, 60))
    counts = [len(read_zone(result, row).predicted) for row in (0, 1)]
    assert counts == result.events.predicted_count.tolist() == [0, 2]
    assert pairs(read_zone(result, 1).predicted) == [(0, 0), (30, 30)]


@pytest.mark.parametrize("event", range(3))
def test_the_survival_functions_average_to_the_scores(event):
    result = example()
    zone = read_zone(result, event)
    places = (np.arange(200_000) + 0.5) / 200_000 * zone.length
    for spans, function, score in (
        (zone.predicted, zone.precision_at, result.events.precision[event]),
        (zone.event, zone.recall_at, result.events.recall[event]),
    ):
        inside = np.any([(places > a) & (places < b) for a, b in pairs(spans)], axis=0)
        assert function(places[inside]).mean() == pytest.approx(score, abs=1e-4)


def test_an_empty_zone_has_recall_zero():
    zone = read_zone(example(predicted=[(5, 6)]), 1)
    assert zone.recall_at(np.array([20.0, 30.0])).tolist() == [0, 0]
    assert np.isnan(zone.predicted.nearest(np.array([1.0]))).all()


def test_groups_have_the_shares_and_distances_of_the_paper():
    zone = read_zone(example(), 0)
    groups = grouped(zone.predicted, zone.event)
    assert [(g.share, g.distance, g.on_target) for g in groups] == [
        (0.8, 0, True),
        (0.2, 1.5, False),
    ]
    back = grouped(zone.event, zone.predicted)
    assert sum(g.share * g.distance for g in back) == pytest.approx(1.275)  # 76.5 s
    assert [g.target for g in back if not g.on_target] == [5, 6, 7]


def test_groups_part_where_the_nearest_side_changes():
    event, alarms = Spans(np.array([0.0]), np.array([30.0])), Spans(*np.array([[10.0]] * 2))
    groups = grouped(event, alarms)
    assert [(g.extent, g.target, g.distance) for g in groups] == [
        ((0, 10), 10, 5),
        ((10, 30), 10, 10),
    ]


def test_points_weigh_nothing_beside_ranges():
    zone = read_zone(example([(20, 30)], [(5, 5), (25, 25), (40, 45)], (0, 60)), 0)
    groups = grouped(zone.predicted, zone.event)
    assert [(g.share, g.distance, g.on_target) for g in groups] == [
        (0, 15, False),
        (0, 0, True),
        (1, 12.5, False),
    ]


def test_samples_are_spread_and_leave_no_stretch_out():
    spans = Spans(np.array([0.0, 50.0, 95.0]), np.array([40.0, 51.0, 96.0]))
    (group,) = grouped(spans, Spans(np.array([100.0]), np.array([100.0])))
    samples = group.samples()
    assert (np.diff(samples) > 0).all()
    inside = [((samples > a) & (samples < b)).sum() for a, b in pairs(spans)]
    assert inside[0] >= 8
    assert inside[1:] == [1, 1]
    many = Spans(np.arange(0, 500, 2.0), np.arange(1, 501, 2.0))
    (group,) = grouped(many, Spans(np.array([600.0]), np.array([600.0])))
    assert group.samples().size == 9
    points = Spans(np.arange(50.0), np.arange(50.0))
    (group,) = grouped(points, Spans(np.array([60.0]), np.array([60.0])))
    assert set(group.samples()) <= set(points.starts)
    assert group.samples().size == 9


def test_an_event_that_is_not_there():
    with pytest.raises(InputError, match="one of the 3 rows of the result, 0 to 2, got 3"):
        read_zone(example(), 3)
    with pytest.raises(InputTypeError, match="`event` to be the number of a row, got 'first'"):
        read_zone(example(), "first")
