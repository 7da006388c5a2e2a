"""Ignored time and gaps on the page: nothing is drawn or counted there, and the page says so."""

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError
from closecall.report import report_batch
from tests.report.conftest import opened, until

MINUTES = np.datetime64("2024-03-04", "s") + 60 * np.arange(600)
TRUTH = np.zeros(600, dtype=int)
TRUTH[[*range(150, 170), *range(300, 320), *range(420, 440)]] = 1
RANDOM = np.random.default_rng(2)
SCORES = RANDOM.random(600) + TRUTH
MAINTENANCE = [(MINUTES[310], MINUTES[350]), (MINUTES[415], MINUTES[445])]
GAP = np.delete(np.arange(600), np.arange(200, 260))
MISSING = np.where(np.arange(600) < 90, np.nan, SCORES)
SERIES = {
    "maintenance": {"truth": TRUTH, "times": MINUTES, "ignore": MAINTENANCE, "scores": SCORES},
    "gap": {
        "truth": TRUTH[GAP],
        "times": MINUTES[GAP],
        "end": MINUTES[-1] + np.timedelta64(60, "s"),
        "scores": SCORES[GAP],
    },
    "warm-up": {"truth": TRUTH, "times": MINUTES, "scores": np.nan_to_num(MISSING, nan=0.0)},
    "no score": {"truth": TRUTH, "times": MINUTES, "scores": MISSING, "nan": "ignore"},
}
SERIES["limited gap"] = SERIES["gap"] | {"max_step": np.timedelta64(60, "s")}
for one in SERIES.values():
    one["values"] = np.arange(len(one["truth"]), dtype=float)


@pytest.fixture(scope="module")
def page(show):
    return show(report_batch(SERIES))


def heading(page):
    return page.locator("#evaluated").text_content()


def test_a_note_says_how_much_is_ignored(page):
    note = page.locator("#advice p").first
    opened(page, "maintenance")
    assert heading(page) == (
        "530 samples, 2 true events, 1 detector · 2024-03-04 00:00 to 2024-03-04 10:00"
    )
    assert note.text_content() == "Ignored: 1 h 10 min of 10 h; left out: 1 true event."
    opened(page, "no score")
    assert note.text_content().startswith("Ignored: 1 h 30 min of ")
    opened(page, "gap")
    assert "Ignored" not in note.text_content()


def test_advice_is_on_the_page(page):
    advice = page.locator("#advice p")
    opened(page, "gap")
    assert "The longest step is 61 times the median one" in advice.first.text_content()
    assert advice.first.text_content().endswith("limit how long samples last with --max-step.")
    opened(page, "limited gap")
    assert advice.count() == 1
    assert advice.first.text_content().startswith("Ignored: 1 h of ")
    opened(page, "warm-up")
    assert "The first 15% of the time has neither events" in advice.first.text_content()


def test_times_are_told_as_they_are(page):
    opened(page, "maintenance")
    result = cc.affiliation_curve(TRUTH, SCORES, times=MINUTES, ignore=MAINTENANCE).best()
    events = cc.affiliation(
        TRUTH, result.threshold <= SCORES, times=MINUTES, ignore=MAINTENANCE
    ).events
    starts = [str(start)[5:16].replace("T", " ") for start in events.start]
    assert page.locator("tbody td:nth-child(2)").all_text_contents() == starts
    zones = page.evaluate("[...closecall.view.series.drawn.zones]")
    stops = (events.zone_stop - MINUTES[0]) / np.timedelta64(1, "s")
    unit = page.evaluate("closecall.view.series.clock.unit") / 1000
    assert np.array(zones[1:]) * unit == pytest.approx(stops)


@pytest.mark.parametrize("case", ["maintenance", "limited gap", "no score"])
def test_nothing_is_drawn_in_ignored_time(page, case):
    opened(page, case)
    until(page, "closecall.view.timeline.plot.data")
    inside = page.evaluate(
        """() => {
          const { series, timeline } = closecall.view;
          const { ignored } = series;
          const within = (x) => ignored.starts.some((from, k) => from < x && x < ignored.stops[k]);
          const lines = timeline.plot.data.filter(({ x }) => x.length > 5);
          const cut = ({ x, y }) => x.every((_, k) => k === 0 || y[k] === null || y[k - 1] === null
            || ignored.starts.every((from, j) => !(x[k - 1] <= from && ignored.stops[j] <= x[k])));
          return [lines.length, lines.flatMap(({ x }) => [...x]).filter(within).length,
            lines.every(cut)];
        }"""
    )
    assert inside == [2, 0, True]


def test_ignored_time_is_shaded_and_named(page):
    opened(page, "maintenance")
    box = page.locator(".timeline .stage").bounding_box()
    x = page.evaluate(
        "closecall.view.timeline.frame.x(closecall.view.series.ignored.starts[0] + 20)"
    )
    colours = page.evaluate(
        """(x) => {
          const { canvas } = closecall.view.timeline;
          const ratio = canvas.width / parseFloat(canvas.style.width);
          const context = canvas.getContext('2d');
          const line = context.getImageData(0, 30, canvas.width, 1).data;
          return [x, x - 60].map((at) => line[4 * Math.round(at * ratio) + 3]);
        }""",
        x,
    )
    assert colours == [255, 0]
    page.mouse.move(box["x"] + x, box["y"] + 30)
    assert "ignored: nothing counts here" in page.locator("#tooltip").inner_text()


def test_values_of_ignored_samples_are_left_out():
    content = {"truth": TRUTH, "scores": SCORES, "times": MINUTES, "ignore": MAINTENANCE}
    with pytest.raises(InputError, match="one time for each of the 530"):
        cc.report(**content, values=np.zeros(530))
