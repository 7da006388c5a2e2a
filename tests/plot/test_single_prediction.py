"""The theory of one predicted point, as curves and as an illustration."""

import pytest

import closecall as cc
from closecall.plot import plot_single_prediction

PLACES = ("border", "halfway", "start", "center")


def test_curves_are_those_of_the_theory():
    _, *panels = plot_single_prediction()
    for panel, score in zip(panels, ("precision", "recall"), strict=True):
        for line, place in zip(panel.lines[:4], PLACES, strict=True):
            p, values = line.get_data()
            expected = getattr(cc.theory.single_prediction(p, position=place), score)
            assert values == pytest.approx(expected)
            assert p.size > 100
        assert len({str(line.get_linestyle()) for line in panel.lines[:4]}) > 1


def test_the_illustration_agrees_with_the_metric():
    axes = plot_single_prediction()[0]
    points = [float(line.get_xdata()[0]) for line in axes.lines]
    written = [text.get_text() for text in axes.texts if "/" in text.get_text()]
    event = axes.patches[0]
    truth = cc.Events([(event.get_x(), event.get_x() + event.get_width())])
    assert event.get_width() == pytest.approx(1 / 5)
    for point, text in zip(points, written, strict=True):
        result = cc.affiliation(truth, cc.Events.from_points([point]), span=(0.0, 1.0))
        assert [float(part) for part in text.split("/")] == pytest.approx(
            [result.precision, result.recall], abs=0.005
        )
