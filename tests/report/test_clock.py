"""Moments on the page: in the zone of the series, to the nanosecond, and at exact places."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from closecall.report import batch, report_batch
from tests.report.conftest import opened, until

COUNT = 2_000
TRUTH = np.zeros(COUNT, dtype=int)
TRUTH[290:310] = TRUTH[311:315] = TRUTH[900:930] = 1
SCORES = np.random.default_rng(2).random(COUNT) + TRUTH
PARIS = ZoneInfo("Europe/Paris")
START = datetime(2024, 10, 26, tzinfo=PARIS).astimezone(UTC)
MOMENTS = [(START + timedelta(minutes=5 * step)).astimezone(PARIS) for step in range(COUNT)]
NANOSECONDS = (1_700_000_000_000_000_123 + np.arange(COUNT)).view("datetime64[ns]")
SERIES = {
    "paris": {"times": MOMENTS},
    "nanoseconds": {"times": NANOSECONDS},
    "far integers": {"times": 2**62 + np.arange(COUNT)},
    "far steps": {"times": 10**17 + 7 * np.arange(COUNT)},
    "numbers": {"times": 0.25 * np.arange(COUNT)},
    "samples": {},
    "no zone": {"times": np.datetime64("2024-01-01", "s") + 60 * np.arange(COUNT)},
    "years": {"times": np.datetime64("1990-01-15", "s") + 10**6 * np.arange(COUNT)},
}
TICKS = """() => {
  const { tickvals, ticktext, range } = closecall.view.timeline.plot.layout.xaxis;
  const kept = tickvals.map((value, k) => [value, ticktext[k]]);
  return kept.filter(([value]) => value >= range[0] && value < range[1]);
}"""


@pytest.fixture(scope="module")
def many(show):
    series = {name: {"truth": TRUTH, "scores": SCORES, **times} for name, times in SERIES.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "_MOST_MOVED", 0)  # chance takes seconds, and is not asked for here
        return show(report_batch(series))


def all_of(page, name):
    """Open a series and show all of it."""
    opened(page, name).evaluate("closecall.view.timeline.show(...closecall.view.series.span)")
    return page


def ticks(page, *window):
    if window:
        page.evaluate("([from, to]) => closecall.view.timeline.show(from, to)", list(window))
    return page.evaluate(TICKS)


def test_moments_and_marks_are_those_of_the_zone(many):
    page = all_of(many, "paris")
    span = "2024-10-26 00:00 to 2024-11-01 21:40 (Europe/Paris)"
    assert page.locator("#evaluated").text_content().endswith(span)
    assert page.locator(".where").text_content() == span
    starts = page.locator("tbody td.time:nth-child(2)").all_text_contents()
    assert starts == ["10-27 00:10", "10-27 01:55", "10-29 02:00"]
    shown = page.evaluate(
        "count => Array.from({ length: count }, (_, k) => closecall.view.series.clock.moment(k))",
        COUNT,
    )
    twice = range(324 - 12, 324 + 12)  # the hour that comes twice
    for k, (text, moment) in enumerate(zip(shown, MOMENTS, strict=True)):
        zone = moment.isoformat()[-6:]
        assert text == f"{moment:%Y-%m-%d %H:%M}" + (f" {zone}" if k in twice else "")
    assert shown[323:325] == ["2024-10-27 02:55 +02:00", "2024-10-27 02:00 +01:00"]
    for window in ((0, 2_000), (250, 400), (315, 335), (0, 100), (322, 326)):
        require_round(ticks(page, *window))


def require_round(marks):
    """Check that marks are round in the zone, and in order."""
    places = [place for place, _ in marks]
    assert 3 <= len(marks) <= 14
    assert places == sorted(set(places))
    for place, text in marks:
        moment = (START + timedelta(minutes=5 * place)).astimezone(PARIS)
        first, _, second = text.partition("<br>")
        days = f"{moment:%b} {moment.day}"
        if ":" in first:
            assert first in (f"{moment:%H:%M}", f"{moment:%H:%M:%S}")
            assert second in ("", f"{days}, {moment.year}")
        else:
            assert (first, f"{moment:%H:%M}") == (days, "00:00")
            assert second in ("", "2024")
    assert "<br>" in marks[0][1]


def test_a_line_in_nanoseconds_is_not_a_wall(many):
    page = all_of(many, "nanoseconds")
    x = page.evaluate("[...closecall.view.timeline.plot.data[0].x]")
    assert len(set(x)) == COUNT + 1  # each start, and where the last one stops
    marks = ticks(page)
    for place, text in marks:
        stamp = str(NANOSECONDS[0] + np.timedelta64(round(place), "ns"))
        assert stamp.partition("T")[2].startswith(text.partition("<br>")[0])
    assert len(marks) > 3
    moment = page.evaluate("closecall.view.series.clock.moment(290)")
    assert moment == str(NANOSECONDS[290]).replace("T", " ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("far integers", lambda place: 2**62 + place),
        ("far steps", lambda place: 10**17 + 7 * place),
        ("samples", lambda place: place),
        ("numbers", lambda place: place),
    ],
)
def test_marks_of_numbers_are_exact(many, name, value):
    page = all_of(many, name)
    assert len(set(page.evaluate("[...closecall.view.timeline.plot.data[0].x]"))) >= COUNT
    exact = int if name != "numbers" else float
    marks = ticks(page)
    assert len(marks) >= 3
    for place, text in marks:
        number = exact(text.replace(",", ""))
        whole = round(place * 7) if name == "far steps" else round(place)
        assert number == (value(whole) if name != "far steps" else 10**17 + whole)
        assert number % 10 == 0
    widths = np.diff([place for place, _ in marks])
    assert np.ptp(widths) < 1e-6 * widths[0]


def test_years_and_months_are_marks_too(many):
    page = all_of(many, "years")
    assert [text for _, text in ticks(page)][:2] == ["2000", "2010"]
    inside = [text for _, text in ticks(page, 100, 120)]
    assert inside[0].partition("<br>")[2] in ("1993", "1992")
    page.evaluate(
        "Plotly.relayout(closecall.view.timeline.plot, "
        "{ 'xaxis.range[0]': 280, 'xaxis.range[1]': 320 })"
    )
    until(page, "closecall.view.timeline.window[1] === 320")
    assert page.evaluate("closecall.view.timeline.window") == [280, 320]


def test_a_series_without_a_zone_names_none(many):
    page = opened(many, "no zone")
    assert page.locator(".where").text_content() == "2024-01-01 00:00 to 2024-01-02 09:20"
