"""The first screen tells the story: the sentence, the scores, the timeline and the table."""

import re
from datetime import timedelta
from functools import cache

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.result import headlines
from closecall.datasets import demo
from closecall.report import report_batch
from tests.report.conftest import opened, until

DATA = demo()
RANDOM = np.random.default_rng(8)
# What is laid out is the same with every eighth sample; it is computed and drawn sooner.
TRUTH, TIMES = DATA.truth[1::8], DATA.times[1::8]
FORECAST, LATENCY = DATA.scores["forecast"][1::8], DATA.scores["threshold"][1::8]
OWN = {"truth": TRUTH, "times": TIMES, "values": DATA.values[1::8]}
SILENT = {"silent": np.zeros_like(TRUTH)}


def noisy(levels):
    """Detectors that hear more and more noise."""
    return {f"noise {k}": FORECAST + 5 * k * RANDOM.normal(size=TRUTH.size) for k in levels}


def short_events():
    """Events of a sample each in 40,000 of them, but the second takes two pixels and is missed."""
    truth = np.zeros(40_000, dtype=int)
    truth[[5_000, 25_000, 35_000, 37_000, 37_010]] = 1
    truth[15_000:15_070] = 1
    scores = truth + 0.1 * RANDOM.random(truth.size)
    scores[15_000:15_070], scores[25_000], scores[37_010] = 0.0, 0.0, 0.0
    scores[25_300] = 1.0  # a close call of the third
    return {"truth": truth, "scores": {"sees": scores}, "thresholds": 0.5}


SERIES = {
    "two": {**OWN, "scores": {"latency": LATENCY, "forecast": FORECAST}},
    "one": {**OWN, "scores": {"forecast": FORECAST}},
    "four": {**OWN, "scores": noisy((0, 1, 2)), "predicted": SILENT},
    "eight": {**OWN, "scores": noisy((8, 6, 4, 2, 1, 3, 5)), "predicted": SILENT},
    "short": short_events(),
}


@cache
def curve_of(name, detector):
    series = SERIES[name]
    return cc.affiliation_curve(
        series["truth"], series["scores"][detector], times=series.get("times")
    )


@pytest.fixture(scope="module")
def gallery(show):
    return show(report_batch(SERIES))


BOTTOMS = """() => {
  const { stage, frame } = closecall.view.timeline;
  const { bottom } = stage.getBoundingClientRect();
  const below = (selector) => [...document.querySelectorAll(selector)].map((one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.right <= innerWidth ? box.bottom : Infinity;
  });
  return {
    title: below('#title'), headline: below('.headline'), scores: below('[data-score]'),
    chance: below('.chance'), slider: below('#threshold-slider'), best: below('.slider .best'),
    lanes: [stage.getBoundingClientRect().top + frame.lanesBottom], axis: [bottom],
    overview: below('.overview'), row: below('.events tbody tr:first-child .outcome'),
  };
}"""


@pytest.mark.parametrize("name", ["one", "two", "four", "eight"])
def test_the_story_is_on_the_first_screen(gallery, name):
    page = opened(gallery, name, 1280, 900)
    bottoms = page.evaluate(BOTTOMS)
    count = len(page.evaluate("closecall.view.series.detectors.map(({ name }) => name)"))
    assert len(bottoms["scores"]) == 3 * count
    outside = {part: lows for part, lows in bottoms.items() if not lows or max(lows) > 900}
    assert outside == {}
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 1280


def test_one_detector_is_a_line(gallery):
    page = opened(gallery, "one", 1280, 900)
    assert page.locator(".card").bounding_box()["height"] < 50
    assert page.locator(".card input").count() == 0


def test_chance_is_told_once_for_a_detector(gallery):
    page = opened(gallery, "two", 1280, 900)
    card = page.locator(".card").first
    # Of the events caught, of its scores, and of a threshold tuned so.
    assert card.inner_text().count("chance") == 3
    result = curve_of("two", "latency").at(curve_of("two", "latency").best().threshold)
    levels = [result.chance.f1, result.chance.precision, result.chance.recall]
    average = curve_of("two", "latency").chance.average_precision
    told = [f"{level:.2f}" for level in (*levels, average)]
    assert card.locator(".chance, .average").all_text_contents() == told
    tops = {round(card.locator("small").nth(k).bounding_box()["y"]) for k in range(1, 5)}
    assert len(tops) == 1


def test_the_best_of_many_is_never_hidden(gallery):
    page = opened(gallery, "eight", 1280, 900)
    f1 = {
        detector: curve_of("eight", detector).best().fbeta for detector in SERIES["eight"]["scores"]
    }
    ranked = [*sorted(f1, key=lambda name: -f1[name]), "silent"]
    names = page.locator(".card .name")
    assert names.all_text_contents() == ranked
    assert page.locator(".card.active .name").text_content() == ranked[0]
    drawn = [page.get_by_label(f"show {name}").is_checked() for name in ranked]
    assert drawn == 4 * [True] + 4 * [False]
    hint = "8 detectors, of which 4 are not drawn: tick a box to draw one."
    assert page.locator(".notes .hint").text_content() == hint
    results = {
        detector: curve_of("eight", detector).at(curve_of("eight", detector).best().threshold)
        for detector in f1
    }
    results["silent"] = cc.affiliation(TRUTH, SILENT["silent"], times=TIMES)
    told = headlines(results)[ranked[0]]
    assert page.locator(".headline").text_content() == f"{ranked[0]}: {told}"
    page.get_by_role("button", name="detector", exact=True).click()
    assert names.all_text_contents() == sorted(ranked)
    page.get_by_role("button", name="false alarms", exact=True).click()
    wrong = [results[name].false_alarms for name in names.all_text_contents()]
    assert wrong == sorted(wrong)
    assert wrong[0] < wrong[-1]
    spark = page.locator(".card", has_text=ranked[0]).locator("svg")
    assert spark.get_attribute("aria-label") == f"{results[ranked[0]].caught} of 7 events caught"
    for name in ranked[4:]:
        page.get_by_label(f"show {name}").check()
    assert page.locator(".notes .hint").text_content() == "8 detectors, all drawn."
    page.locator(".card .name", has_text="silent").click()
    assert page.locator(".card.active .name").text_content() == "silent"


# Reads a copy, since the browser complains of a canvas that is read often.
COPIED = """const copied = (canvas) => {
    const copy = Object.assign(document.createElement('canvas'), { width: canvas.width });
    copy.height = canvas.height;
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    return context;
  };"""
PIXELS = f"""([canvas, x, y, reach]) => {{
  {COPIED}
  const {{ timeline }} = closecall.view;
  const source = canvas === 'lanes' ? timeline.canvas : timeline.overview.element;
  const ratio = source.width / parseFloat(source.style.width);
  const place = [x - reach, y - reach, 2 * reach, 2 * reach].map((one) => one * ratio);
  const {{ data }} = copied(source).getImageData(...place);
  const found = new Set();
  for (let k = 0; k < data.length; k += 4) {{
    if (data[k + 3] === 255) found.add(data.slice(k, k + 3).join());
  }}
  return [...found];
}}"""
COLOURS = {"caught": "27,31,36", "close call": "138,90,0", "missed": "179,38,30"}


def test_events_too_narrow_to_see_have_a_mark(gallery):
    page = opened(gallery, "short", 1280, 900)
    result = curve_of("short", "sees").at(0.5)
    outcomes = result.events.outcome.tolist()
    assert outcomes == ["caught", "missed", "close call", "caught", "caught", "missed"]
    strip = page.evaluate("closecall.view.timeline.frame.lanes[0].strip") + 5
    told = dict(zip(range(5_000, 40_000, 10_000), outcomes[:4], strict=True))
    told[37_005] = "missed"  # the worst of two lies over the other
    for place, outcome in told.items():
        for canvas, source, y in (("lanes", "frame", strip), ("overview", "overview", 7)):
            x = page.evaluate(f"closecall.view.timeline.{source}.x({place})")
            seen = page.evaluate(PIXELS, [canvas, x + 1, y, 1 if place == 37_005 else 5])
            assert COLOURS[outcome] in seen, (canvas, outcome)
            assert not {*COLOURS.values()} - {COLOURS[outcome]} & {*seen}, (canvas, outcome)


@pytest.mark.parametrize("part", [".timeline .stage", ".overview"])
def test_a_mark_leads_to_its_event(gallery, part):
    page = opened(gallery, "short", 1280, 900)
    box = page.locator(part).bounding_box()
    x = page.evaluate("closecall.view.timeline.frame.x(15_000)")
    y = 7 if part == ".overview" else page.evaluate("closecall.view.timeline.frame.lanes[0].top")
    page.mouse.click(box["x"] + x + 2, box["y"] + y)
    until(page, "closecall.view.selected === 1")
    from_, to = page.evaluate("closecall.view.timeline.window")
    assert from_ < 15_000 < to < 16_000
    assert page.locator("tbody tr[aria-current] td").first.text_content() == "2"


BLANK = f"""(index) => {{
  {COPIED}
  const {{ canvas, frame }} = closecall.view.timeline;
  const {{ top, height }} = frame.lanes.find(({{ detector }}) => detector === index);
  const ratio = canvas.width / parseFloat(canvas.style.width);
  const place = [frame.left, top, frame.right - frame.left, height].map((one) => one * ratio);
  const {{ data, width }} = copied(canvas).getImageData(...place);
  const columns = new Set();
  for (let k = 0; k < data.length / 4; k++) if (data[4 * k + 3]) columns.add(k % width);
  return [columns.size, frame.beside];
}}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_no_name_lies_on_a_lane(gallery, width):
    page = opened(gallery, "four", width)
    columns, beside = page.evaluate(BLANK, 3)
    assert beside == (width == 1280)
    assert columns <= 2 * 6  # the six borders of zones


def fill(page, label, text):
    page.get_by_label(label, exact=True).fill(text)
    page.get_by_label(label, exact=True).press("Enter")


def test_the_slider_shows_what_keeps_the_limits(gallery):
    page = opened(gallery, "two", 1280, 900)
    assert not page.locator(".allowed").is_visible()
    fill(page, "at most false alarms", "0.1")
    until(page, "closecall.view.bestOf(0)")
    curve = curve_of("two", "latency")
    kept = (curve.false_alarms <= 0.1 * 14) & (curve.alarmed <= 0.5)
    assert 0 < np.count_nonzero(kept) < len(curve)
    assert page.evaluate("[...closecall.view.bestOf(0).kept]") == kept.astype(int).tolist()
    stops = curve.outline(400)[::-1]
    painted = page.locator(".allowed").evaluate("one => one.style.background")
    runs = np.flatnonzero(np.diff(np.concatenate(([0], kept[stops], [0]))) == 1)
    assert painted.count("var(--allowed)") == runs.size
    best = curve.best(max_false_alarms_per=(0.1, timedelta(days=1)))
    page.locator(".slider .best").click()
    assert page.evaluate("closecall.view.thresholds[0]") == best.threshold
    assert page.locator(".slider.breaks").count() == 0
    page.locator("#threshold-slider").press("Home")
    assert page.locator(".slider.breaks").count() == 1
    told = page.locator("#threshold-slider").get_attribute("aria-valuetext")
    assert told.endswith(", which breaks the limits")


def test_the_free_response_curve_is_that_of_the_library(gallery):
    page = opened(gallery, "two", 1280, 900)
    curve = curve_of("two", "latency")
    free = page.evaluate("closecall.view.series.detectors[0].free")
    most = {}
    for caught, wrong, alarmed in zip(
        curve.caught.tolist(), curve.false_alarms.tolist(), curve.alarmed.tolist(), strict=True
    ):
        if alarmed <= 0.5:
            most[caught] = min(wrong, most.get(caught, wrong))
    front = {
        size: wrong
        for size, wrong in most.items()
        if all(wrong < more for other, more in most.items() if other > size)
    }
    assert dict(zip(free["caught"], free["falseAlarms"], strict=True)) == front
    at = np.searchsorted(-curve.thresholds, -np.array(free["thresholds"]))
    assert curve.caught[at].tolist() == free["caught"]
    page.locator(".curve-plot").nth(1).scroll_into_view_if_needed()
    place = page.evaluate(
        "(() => { const { stage, place } = closecall.view.curve.plots[1]; const { free } = "
        "closecall.view.series.detectors[0]; const box = stage.getBoundingClientRect(); return "
        "[box.left + place.x(free.falseAlarms[0]), box.top + place.y(free.caught[0])]; })()"
    )
    page.mouse.click(*place)
    assert page.evaluate("closecall.view.thresholds[0]") == free["thresholds"][0]


PLACES = """() => [...document.querySelectorAll('.filters, .events thead th')].map((one) => {
  const { left, top } = one.getBoundingClientRect();
  return [Math.round(left), Math.round(top)];
})"""


def test_a_filter_keeps_the_place_of_the_table(gallery):
    page = opened(gallery, "two", 800, 600)  # where nothing beside the table is as tall
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    before = page.evaluate(PLACES)
    assert 0 < before[0][1] < 500
    for name in ("missed", "close call", "all"):
        page.locator(f"[data-filter='{name}']").click()
        assert page.evaluate(PLACES) == before, name


def test_paper_takes_two_pages(gallery):
    page = opened(gallery, "two", 1280, 900)
    paper = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 2
