"""Exploring one series in a real browser: every control does what it says."""

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.result import headlines
from closecall.datasets import demo
from closecall.errors import UndefinedMetricError
from closecall.report import report
from closecall.signature import parse
from closecall.wording import in_words, outcome_text, score_text
from tests.report.conftest import point_at, until

DATA = demo()
CURVES = {
    name: cc.affiliation_curve(DATA.truth, scores, times=DATA.times)
    for name, scores in DATA.scores.items()
}
OPTIONS = {"times": DATA.times, "values": DATA.values}


LOGGED = {"as logged": DATA.predicted["forecast"]}


@pytest.fixture(scope="module")
def loaded(show):
    return show(report(DATA.truth, LOGGED, scores=DATA.scores, title="Latency", **OPTIONS))


@pytest.fixture
def page(loaded):
    """The page as it opens."""
    loaded.bring_to_front()
    loaded.evaluate("closecall.reopen()")
    loaded.mouse.move(5, 5)
    return loaded


def threshold(page, index=0):
    return page.evaluate(f"closecall.view.thresholds[{index}]")


def window(page):
    """What the timeline shows, in samples."""
    return page.evaluate("closecall.view.timeline.window")


def scores_shown(page):
    return page.locator(".card.active [data-score]").all_text_contents()


def scores_at(name, value):
    result = cc.affiliation(DATA.truth, DATA.scores[name] >= value, times=DATA.times)
    return [f"{number:.3f}" for number in (result.f1, result.precision, result.recall)]


def test_the_level_of_chance_follows_when_the_slider_rests(page):
    low = np.quantile(DATA.scores["threshold"], 0.9)
    at_once = page.evaluate(  # a moment later, levels may be there already
        """(threshold) => {
          closecall.view.setThreshold(closecall.view.active, threshold);
          const levels = document.querySelectorAll('.card.active .chance');
          return [...levels].map((level) => level.textContent);
        }""",
        low,
    )
    assert at_once == 3 * ["\u2026"]
    until(page, "closecall.view.levels[0] !== null")
    chance = CURVES["threshold"].at(low).chance
    shown = page.evaluate("closecall.view.levels[0]")
    assert shown == pytest.approx(chance.values(), abs=1e-9)
    texts = [f"{level:.2f}" for level in (chance.f1, chance.precision, chance.recall)]
    assert page.locator(".card.active .chance").all_text_contents() == texts


@pytest.mark.parametrize(
    ("rate", "per", "budget"),
    [
        ("2/week", "day", "2/week"),
        ("1 / 2 d", "day", "1/2d"),
        ("2", "week", "2/week"),
        ("0.1", "2 hours", "0.1/2h"),
        ("0.01", "30 minutes", "0.01/30min"),
    ],
)
def test_rates_are_read_as_the_library_reads_them(page, rate, per, budget):
    fill(page, "per", per)
    fill(page, "at most alarms", rate)
    best = CURVES["threshold"].best(max_alarms_per=budget)
    until(page, f"Math.abs(closecall.view.bestOf(0)?.threshold - {best.threshold}) < 1e-9")
    assert page.locator(".limits input:invalid").count() == 0


def test_a_period_that_cannot_be_read_is_an_error(page):
    problem = page.locator(".limits .problem")
    for name, text in (("per", "month"), ("at most alarms", "2/month"), ("per", "fortnight")):
        fill(page, name, text)
        assert f"“{text}” is not understood: write a" in problem.text_content()
        assert problem.is_visible()
        assert page.evaluate("closecall.view.limits") is None
        fill(page, name, "day" if name == "per" else "")
    assert problem.text_content() == ""


def test_the_limits_move_the_best_threshold(page):
    page.get_by_label("at most alarms", exact=True).fill("1")
    page.get_by_label("per", exact=True).fill("2 d")
    page.get_by_label("closer than count once").fill("30 min")
    page.get_by_label("recall at least").fill("0.5")
    page.get_by_label("recall at least").press("Enter")
    two_days, half_hour = np.timedelta64(2, "D"), np.timedelta64(30, "m")
    best = CURVES["threshold"].best(
        max_alarms_per=(1, two_days), cooldown=half_hour, min_recall=0.5
    )
    assert best.threshold != CURVES["threshold"].best().threshold
    jump = page.get_by_role("button", name="best F1 within the limits")
    jump.wait_for()
    assert (
        jump.text_content() == f"best F1 within the limits {best.fbeta:.3f} at {best.threshold:g}"
    )
    jump.click()
    assert threshold(page) == best.threshold
    assert jump.is_disabled()
    assert (
        page.locator(".card.active .note").text_content().endswith("its best F1 within the limits.")
    )
    problem = page.locator(".limits .problem")
    assert problem.text_content() == ""
    fill(page, "precision at least", "high")
    assert page.locator(".limits input:invalid").count() == 1
    assert problem.text_content() == "“high” is not understood: write a number from 0 to 1."
    fill(page, "precision at least", "")
    assert problem.text_content() == ""
    assert page.get_by_label("in alarm at most of the time").get_attribute("placeholder") == "0.5"
    for label in ("at most alarms", "recall at least"):
        fill(page, label, "")
    fill(page, "in alarm at most of the time", "0.015")
    until(page, "closecall.view.bestOf(0)?.alarmed <= 0.015")
    best = CURVES["threshold"].best(max_alarmed=0.015, cooldown=half_hour)
    assert (
        jump.text_content() == f"best F1 within the limits {best.fbeta:.3f} at {best.threshold:g}"
    )


def fill(page, label, text):
    page.get_by_label(label, exact=True).fill(text)
    page.get_by_label(label, exact=True).press("Enter")


def test_limits_that_nothing_keeps_name_the_nearest_threshold(page):
    fill(page, "precision at least", "1")
    fill(page, "recall at least", "1")
    nearest = page.locator(".slider .best", has_text="No threshold keeps the limits")
    nearest.wait_for()
    with pytest.raises(UndefinedMetricError) as error:
        CURVES["threshold"].best(min_precision=1, min_recall=1)
    told = nearest.text_content().removeprefix("No threshold keeps the limits; ")
    assert told in str(error.value)
    nearest.click()
    assert f"the nearest is {threshold(page):g} with" in told
    assert nearest.is_disabled()


def test_the_header_says_what_was_evaluated(page):
    assert page.title() == "Latency"
    assert page.locator("#title").text_content() == "Latency"
    assert page.locator("#evaluated").text_content() == (
        "4,032 samples, 7 true events, 3 detectors · 2024-03-04 00:00 to 2024-03-18 00:00"
    )
    best = CURVES["threshold"].best()
    assert scores_shown(page) == scores_at("threshold", best.threshold)
    foot = parse(page.locator("#signature").text_content())
    assert foot == cc.compare(DATA.truth, LOGGED, scores=DATA.scores, times=DATA.times).signature
    assert foot.options == {"threshold": "best_f1"}
    results = {name: curve.at(curve.best().threshold) for name, curve in CURVES.items()}
    result = results["threshold"]
    results["as logged"] = cc.affiliation(DATA.truth, *LOGGED.values(), times=DATA.times)
    told = page.locator(".card .headline").all_text_contents()
    assert told == list(headlines(results).values())
    rates = [line.rpartition(", ")[2] for line in told]  # in one unit of time
    assert rates == ["3 false alarms a week", "0.5 false alarms a week", "no false alarms"]
    levels = [result.chance.f1, result.chance.precision, result.chance.recall]
    assert page.locator(".card.active .chance").all_text_contents() == [
        f"{level:.2f}" for level in levels
    ]
    average = page.locator(".card.active .number").last
    assert average.locator("b").text_content() == f"{CURVES['threshold'].average_precision:.3f}"
    level = CURVES["threshold"].chance.average_precision
    assert average.locator(".average").text_content() == f"{level:.2f}"
    assert page.locator(".card.active .note").text_content() == (
        f"{best.alarms} alarms at threshold {best.threshold:g}, its best F1; "
        f"tuned alike, chance reaches {CURVES['threshold'].chance.f1:.2f}."
    )
    assert page.locator(".slider .best").text_content() == f"best F1 {best.fbeta:.3f} is here"
    assert page.locator(".card").nth(2).locator(".note").text_content() == (
        f"{results['as logged'].alarms} alarms. "
        "It predicts labels, so there is no threshold to move."
    )


def test_the_line_can_be_dragged(page):
    line = page.get_by_role("slider", name="threshold of detector threshold")
    box = line.bounding_box()
    x, y = box["x"] + 300, box["y"] + box["height"] / 2
    before = threshold(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 20, steps=4)
    page.mouse.up()
    low, high = page.evaluate("closecall.view.series.detectors[0].range")
    height = page.evaluate("closecall.view.timeline.frame.panels[1].height")
    assert threshold(page) == pytest.approx(before - 20 * (high - low) / height, rel=0.01)
    assert scores_shown(page) == scores_at("threshold", threshold(page))
    page.mouse.move(x, y - 30)
    assert threshold(page) < before  # the line was let go


def test_arrow_keys_move_the_line_and_the_slider(page):
    scores = np.unique(DATA.scores["threshold"])
    at = np.searchsorted(scores, threshold(page))
    line = page.get_by_role("slider", name="threshold of detector threshold")
    line.press("ArrowUp")
    assert threshold(page) == scores[at + 1]
    line.press("ArrowDown")
    line.press("ArrowDown")
    assert threshold(page) == scores[at - 1]
    page.get_by_role("button", name="best F1").first.click()
    page.locator("#threshold-slider").press("ArrowRight")
    stops = CURVES["threshold"].thresholds[CURVES["threshold"].outline(400)]
    assert threshold(page) == stops[np.flatnonzero(stops == scores[at])[0] - 1]
    assert scores_shown(page) == scores_at("threshold", threshold(page))


def test_click_a_point_of_the_curve(page):
    curve = CURVES["forecast"]
    chosen = curve.outline(400)[25]
    page.locator(".card").nth(0).locator("input").uncheck()
    page.locator(".curve").scroll_into_view_if_needed()
    place = page.evaluate(
        "([p, r]) => { const [curve] = closecall.view.curve.plots; const box = "
        "curve.stage.getBoundingClientRect(); "
        "return [box.left + curve.place.x(r), box.top + curve.place.y(p)]; }",
        [curve.precision[chosen].item(), curve.recall[chosen].item()],
    )
    page.mouse.click(*place)
    reached = threshold(page, 1)
    at = np.flatnonzero(curve.thresholds == reached)[0]
    assert curve.precision[at] == pytest.approx(curve.precision[chosen], abs=0.005)
    assert curve.recall[at] == pytest.approx(curve.recall[chosen], abs=0.005)
    assert reached != curve.best().threshold
    assert scores_shown(page) == scores_at("forecast", reached)


def test_click_an_event_in_the_table(page):
    events = CURVES["threshold"].at(threshold(page)).events
    page.locator("tbody tr").nth(3).click()
    from_, to = window(page)
    start = (events.start[3] - DATA.times[0]) / np.timedelta64(300, "s")
    stop = (events.stop[3] - DATA.times[0]) / np.timedelta64(300, "s")
    assert from_ < start < stop < to
    assert to - from_ < 200
    assert page.locator("tbody tr[aria-current]").locator("td").first.text_content() == "4"
    page.get_by_role("button", name="next event").click()
    assert page.locator("tbody tr[aria-current]").locator("td").first.text_content() == "5"
    page.get_by_role("button", name="go to event 1").press("Enter")
    assert window(page)[1] < from_
    page.get_by_role("button", name="show everything").click()
    assert window(page) == [0, 4032]


def test_filter_and_sort_the_events(page):
    result = CURVES["threshold"].at(threshold(page))
    missed = np.flatnonzero(result.events.missed) + 1
    rows = page.locator("tbody tr td:first-child")
    page.get_by_role("button", name="missed").click()
    assert rows.all_text_contents() == [str(number) for number in missed]
    page.get_by_role("button", name="caught").click()
    assert "35 min late" in page.locator("tbody td.outcome").all_text_contents()
    assert page.locator("tbody tr").count() == result.caught
    page.get_by_role("button", name="all 7").click()
    page.get_by_role("button", name="recall").click()
    recall = result.events.recall
    assert rows.all_text_contents() == [str(j + 1) for j in np.argsort(recall, kind="stable")]
    page.get_by_role("button", name="recall").click()
    assert rows.first.text_content() == str(np.argmax(recall) + 1)
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="close call").click()
    assert page.get_by_text("No event is like that").is_visible()


def test_hovering_an_event_tells_what_became_of_it(page):
    page.locator("tbody tr").nth(2).click()
    point_at(page, 0, 0.5)
    text = page.locator("#tooltip").inner_text()
    assert text.splitlines()[:3] == [
        "Event 3",
        "starts 2024-03-10 14:00, lasts 2 h 30 min",
        "threshold: 35 min late",
    ]
    events = CURVES["forecast"].best().threshold
    distance = CURVES["forecast"].at(events).events.recall_distance[2] / np.timedelta64(1, "s")
    late = CURVES["forecast"].at(events).events.delay[2] / np.timedelta64(1, "s")
    assert f"forecast: {outcome_text('caught', late, None, dated=True)}" in text
    assert f"({in_words(distance)} from an alarm)" in text
    point_at(page, 2, 0.52)
    assert page.locator("#tooltip").inner_text().splitlines()[0] == "Alarm"


def test_detectors_can_be_hidden_and_overlaid(page):
    panels = "closecall.view.timeline.frame.panels.length"
    lanes = "closecall.view.timeline.frame.lanes.length"
    assert (page.evaluate(panels), page.evaluate(lanes)) == (3, 4)
    page.get_by_role("button", name="overlaid").click()
    assert page.evaluate(panels) == 2
    layout = page.evaluate("closecall.view.timeline.plot.layout")
    assert layout["yaxis2"]["domain"] == layout["yaxis3"]["domain"]
    page.get_by_label("show forecast").uncheck()
    assert (page.evaluate(panels), page.evaluate(lanes)) == (2, 3)
    assert page.get_by_role("slider", name="threshold of detector forecast").count() == 0
    page.get_by_label("show threshold").uncheck()
    assert page.locator(".card.active .name").text_content() == "as logged"
    assert page.locator("#threshold-slider").is_disabled()
    result = cc.affiliation(DATA.truth, DATA.predicted["forecast"], times=DATA.times)
    assert scores_shown(page)[1] == f"{result.precision:.3f}"


def test_light_dark_and_paper(page):
    background = "getComputedStyle(document.body).backgroundColor"
    axis = "closecall.view.timeline.plot.layout.xaxis.tickfont.color"
    light = page.evaluate(background), page.evaluate(axis)
    toggle = page.get_by_role("button", name="dark colours")
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "true"
    dark = page.evaluate(background), page.evaluate(axis)
    assert dark == ("rgb(13, 15, 19)", "#9aa4b1")
    toggle.click()
    assert (page.evaluate(background), page.evaluate(axis)) == light
    page.emulate_media(media="print")
    page.wait_for_selector("html.printing")
    assert not page.locator(".slider").is_visible()
    assert page.locator(".events").is_visible()
    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_selector("html:not(.printing)")
    assert page.evaluate(background) == light[0]  # the reader's choice stays
    page.evaluate("document.getElementById('dark').media = '(prefers-color-scheme: dark)'")
    assert page.evaluate(background) == dark[0]
    page.emulate_media(color_scheme="light")


def test_words_are_those_of_the_library(loaded):
    random = np.random.default_rng(3)
    lengths = [0, 150, 76.5, 93_600, 0.0025, 59.95, 60, 119.96, 3_599.7, -300, 86_399.9, 7e-9]
    lengths += [12.25, 0.125, 0.99996e-6, 1.5e-9]
    lengths += [place / 16 for place in range(1, 400)]  # many lie halfway between two texts
    lengths += (10 ** random.uniform(-9, 7, size=300)).tolist()
    told = loaded.evaluate("xs => xs.map(closecall.inWords)", lengths)
    assert told == list(map(in_words, lengths))
    scores = [0, 1, 0.857, 0.9999, 0.0001, 0.005, *(place / 8 for place in range(8))]
    scores += random.random(100).tolist()
    shown = loaded.evaluate("xs => xs.map((x) => closecall.scoreText(x))", scores)
    assert shown == list(map(score_text, scores))


def test_everything_can_be_reached_by_keyboard(page):
    page.locator("#theme").focus()
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "document.activeElement.getAttribute('aria-label') "
                "|| document.activeElement.textContent"
            )
        )
    wanted = [
        "forecast",
        "threshold",
        "threshold of detector forecast",
        "go to event 7",
        "caught 6",
    ]
    assert [name for name in wanted if name not in reached] == []
