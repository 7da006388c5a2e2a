"""A result as a notebook shows it."""

from datetime import timedelta, timezone

import closecall as cc
from closecall import Events
from tests.affiliation.examples import NOTHING, NUMBERS, scored


def test_html():
    html = NUMBERS._repr_html_()
    assert f"precision {NUMBERS.precision:.3f}, recall {NUMBERS.recall:.3f}" in html
    assert html.count("<tr>") == 3
    assert "more events" not in html
    assert "nan" not in html


def test_html_shows_the_level_of_chance():
    level = NUMBERS.chance
    expected = f"precision {level.precision:.3f}, recall {level.recall:.3f}, F1 {level.f1:.3f}"
    assert f"<p>by chance: {expected}</p>" in NUMBERS._repr_html_()


def test_html_says_where_alarms_cover_much():
    html = cc.affiliation([0, 1, 1, 0], [1, 1, 0, 0])._repr_html_()
    assert ". Alarms cover 50% of the series; random ones are points." in html
    assert "Alarms cover" not in cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0])._repr_html_()


def test_html_of_a_stream_is_that_of_the_whole_series():
    truth, predicted = [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]
    stream = cc.AffiliationStream()
    stream.update(truth, predicted)
    html = stream.result()._repr_html_()
    assert "Alarms cover 50% of the series" in html
    assert html == cc.affiliation(truth, predicted)._repr_html_()


def test_html_without_any_alarm():
    html = NOTHING._repr_html_()
    assert "<b>precision -, recall 0.000, F1 -</b>" in html
    assert "<p>by chance: precision -, recall 0.000, F1 -</p>" in html


def test_html_shows_the_first_rows_only():
    many = cc.affiliation([0, 1] * 25, [0, 1] * 25)._repr_html_()
    assert many.count("<tr>") == 21
    assert "<p>and 5 more events</p>" in many
    exactly = cc.affiliation([0, 1] * 20, [0, 1] * 20)._repr_html_()
    assert exactly.count("<tr>") == 21
    assert "more events" not in exactly


def test_html_is_escaped():
    name = "<script>alert(1)</script>"
    html = scored(timezone(timedelta(hours=2), name))._repr_html_()
    assert "<script>" not in html
    assert "2024-01-03T00:00:00+02:00" in html


def test_html_tells_times_apart_on_a_float_axis():
    start = 1_700_000_000.5
    truth = Events([(start, start + 60), (start + 900, start + 960)])
    html = cc.affiliation(truth, truth, span=(start, start + 1000))._repr_html_()
    assert "1700000000.5" in html
    assert "1700000900.5" in html
