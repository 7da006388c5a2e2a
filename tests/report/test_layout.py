"""Nothing overlaps, jumps, is cut off or stays out of sight, on screens and on paper."""

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo
from closecall.report import report_batch
from tests.report.conftest import opened, resize, until

DATA = demo()
RANDOM = np.random.default_rng(11)
# What is laid out is the same with every fourth sample; it is computed and drawn sooner.
TRUTH, FORECAST = DATA.truth[1::4], DATA.scores["forecast"][1::4]
OWN = {"truth": TRUTH, "times": DATA.times[1::4], "values": DATA.values[1::4]}
HOSTILE = "<img src=x onerror=alert(1)> and a name that is much longer than any column"
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


def noisy(count):
    """Detectors that get worse and worse."""
    return {
        f"detector {k}": FORECAST + 5 * k * RANDOM.normal(size=TRUTH.size)
        for k in range(1, 1 + count)
    }


def long_series():
    """Many events in few rows of pixels; the table is longer than the window."""
    truth = np.zeros(5_000, dtype=int)
    for start in range(75, 4_950, 125):
        truth[start : start + 15] = 1
    smooth = np.convolve(truth, np.full(38, 1 / 38), "same") + 0.2 * RANDOM.random(truth.size)
    times = np.datetime64("2024-03-04", "s") + 120 * np.arange(truth.size)
    scores = {"smooth": smooth, "noise": RANDOM.random(truth.size)}
    return {"truth": truth, "scores": scores, "times": times, "values": smooth}


@pytest.fixture(scope="module")
def gallery(show):
    """Series that each show something, on one page: `opened` shows one of them."""
    extremes = {"silent": np.zeros_like(TRUTH), "half": np.arange(TRUTH.size) % 500 > 225}
    labels = {name: alarms[1::4] for name, alarms in DATA.predicted.items()}
    series = {
        "labels": {"truth": TRUTH, "predicted": labels, "times": OWN["times"]},
        "long name": {**OWN, "scores": {"a": FORECAST, HOSTILE: DATA.scores["threshold"][1::4]}},
        "nine": {**OWN, "scores": noisy(9)},
        "extremes": {**OWN, "predicted": extremes},
        "long": long_series(),
    }
    return show(report_batch(series))


@pytest.fixture
def nine(gallery):
    """Nine detectors that get worse and worse."""
    return opened(gallery, "nine")


@pytest.fixture
def extremes(gallery):
    """A detector without alarms, and one whose alarms cover half of the series."""
    return opened(gallery, "extremes")


OVERLAPS = """() => {
  const texts = '[data-score], .chance, .by small, .headline, .note, .name';
  const boxes = (card) => [...card.querySelectorAll(texts)].map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return [one.textContent, ...range.getClientRects()];
  });
  const found = [];
  for (const card of document.querySelectorAll('.card')) {
    const edge = card.getBoundingClientRect();
    const texts = boxes(card);
    texts.forEach(([text, ...rects], i) => {
      for (const box of rects) {
        if (box.right > edge.right + 1 || box.left < edge.left - 1) found.push(`${text} is out`);
        for (const [other, ...others] of texts.slice(i + 1)) {
          for (const that of others) {
            const apart = box.right <= that.left + 1 || that.right <= box.left + 1
              || box.bottom <= that.top + 4 || that.bottom <= box.top + 4;
            if (!apart) found.push(`${text} on ${other}`);
          }
        }
      }
    });
  }
  return found;
}"""


PLACES = """() => {
  const parts = document.querySelectorAll('.card, .card [data-score], .best, .panel');
  return [...parts].map((part) => {
    const box = part.getBoundingClientRect();
    return [Math.round(box.left), Math.round(box.top + scrollY)];
  });
}"""


# Move the slider from one end to the other and back, and look after every step.
MOVE = f"""() => {{
  const slider = document.getElementById('threshold-slider');
  return Array.from({{ length: 13 }}, (_, k) => {{
    slider.value = Math.floor((1 - Math.abs(k / 6 - 1)) * slider.max);
    slider.dispatchEvent(new Event('input', {{ bubbles: true }}));
    return [({PLACES})(), document.documentElement.scrollHeight];
  }});
}}"""


FEWER = f"""() => {{  // with all detectors, and as with fewer and fewer of them
  const cards = [...document.querySelectorAll('.card')];
  return cards.map((card) => {{ const found = ({OVERLAPS})(); card.remove(); return found; }});
}}"""


@pytest.mark.parametrize(
    ("which", "width"),
    [("nine", 1280), ("nine", 880), ("nine", 700), ("nine", 340), ("long", 1280), ("long", 360)],
)
def test_nothing_moves_while_the_threshold_does_and_no_texts_overlap(gallery, which, width):
    page = opened(gallery, which, width)
    seen = page.evaluate(MOVE)
    assert len(seen) == 13
    assert [places for places, _ in seen] == 13 * [seen[0][0]]
    heights = [height for _, height in seen]
    assert heights == sorted(heights)  # the page never gets shorter under the reader
    found = page.evaluate(FEWER)
    assert found == (9 if which == "nine" else 2) * [[]]


def test_without_alarms_there_is_no_level_of_chance(extremes):
    silent, half = (extremes.locator(".card").nth(place) for place in (0, 1))
    assert silent.locator(".chance").all_text_contents() == ["\u2013", "\u2013", "0.00"]
    assert "\u2013" not in half.locator(".chance").all_text_contents()


def in_view(page, selector=".timeline .stage"):
    return page.evaluate(
        "selector => { const box = document.querySelector(selector).getBoundingClientRect(); "
        "return [box.top >= 0, box.bottom <= innerHeight]; }",
        selector,
    )


@pytest.mark.parametrize("height", [900, 844])
def test_a_row_brings_the_timeline_into_view(gallery, height):
    width = 1280 if height == 900 else 390
    long = opened(gallery, "long", width, height)
    row = long.locator("tbody tr").nth(34)
    row.scroll_into_view_if_needed()
    assert in_view(long) != [True, True]
    row.locator("td.outcome").click()
    assert in_view(long) == [True, True]
    if width == 1280:  # the slider stays on top
        covered = long.locator(".slider").bounding_box()
        stage = long.locator(".timeline .stage").bounding_box()
        assert stage["y"] >= covered["y"] + covered["height"]
    focused = "document.activeElement.getAttribute('aria-label')"
    assert long.evaluate(focused) == "go to event 35"
    long.keyboard.press("Tab")
    assert long.evaluate(focused) == "go to event 36"
    assert in_view(long) != [True, True]
    long.keyboard.press("Enter")
    assert in_view(long) == [True, True]
    assert long.evaluate("closecall.view.selected") == 35


def test_a_timeline_in_view_stays_where_it_is(gallery):
    long = opened(gallery, "long", 1280, 2600)
    long.locator("tbody tr").nth(2).click()
    assert long.evaluate("scrollY") == 0


def test_a_timeline_taller_than_the_window_shows_its_lanes(nine):
    resize(nine, 1280, 500)
    nine.locator("tbody tr").last.click()
    assert in_view(nine)[1]


def test_labels_have_neither_a_gap_nor_an_average_precision(gallery):
    for width in (1280, 390):
        page = opened(gallery, "labels", width)
        above, below = (page.locator(f".{part}").bounding_box() for part in ("detectors", "slider"))
        assert below["y"] == pytest.approx(above["y"] + above["height"], abs=1), width
        assert not page.locator('.card [data-label="average precision"]').first.is_visible(), width


def test_a_wide_table_says_so(nine, gallery):
    table = nine.locator(".events .scrolling")
    boxes = nine.locator(".card input")
    for index in range(4, 9):
        boxes.nth(index).check()
    nine.wait_for_selector(".events .more-right")
    assert table.locator(".scroll").get_attribute("tabindex") == "0"
    first = table.locator("tbody td.stick").first
    before = first.bounding_box()["x"]
    table.locator(".scroll").evaluate("box => { box.scrollLeft = 1000; }")
    nine.wait_for_selector(".events .more-left:not(.more-right)")
    assert first.bounding_box()["x"] == before
    for index in range(1, 9):
        boxes.nth(index).uncheck()
    nine.wait_for_selector(".events .scrolling:not(.more-left):not(.more-right)")
    assert table.locator(".scroll").get_attribute("tabindex") is None
    hostile = opened(gallery, "long name")
    column = hostile.locator("th.other").bounding_box()
    panel = hostile.locator(".events").bounding_box()
    assert column["x"] + column["width"] <= panel["x"] + panel["width"]
    assert hostile.locator("th.other button").get_attribute("title") == HOSTILE


@pytest.fixture(scope="module")
def batch(show):
    names = ("windowedGaussian", "isolation_forest_200_trees", "random")
    scores = dict(zip(names, noisy(3).values(), strict=True))
    week = {**OWN, "scores": scores, "predicted": {"silent": np.zeros_like(TRUTH)}}
    two = {**OWN, "scores": {"windowedGaussian": FORECAST, "random": RANDOM.random(TRUTH.size)}}
    return show(report_batch({"week 1": week, "week 2": two}, title="Weeks"), **PHONE)


def test_a_phone_needs_no_sideways_scrolling(batch):
    wide = "document.scrollingElement.scrollWidth"
    assert batch.evaluate(wide) <= 390
    for part in (".leaderboard", ".heat-map"):  # lists, with what there is room for
        sizes = "box => [box.scrollWidth, box.clientWidth]"
        content, room = batch.locator(f"{part} .scroll").evaluate(sizes)
        assert content <= room, part
    opened(batch, "week 2", 390, 844)
    assert batch.evaluate(wide) <= 390
    table = "(e => [e.scrollWidth, e.clientWidth])(document.querySelector('.events .scroll'))"
    content, room = batch.evaluate(table)
    assert content <= room
    batch.locator("tbody tr").nth(2).tap()
    assert batch.evaluate(wide) <= 390
    from_, to = batch.evaluate("closecall.view.timeline.window")
    assert to - from_ < 100
    batch.locator("#threshold-slider").fill("3")
    curve = cc.affiliation_curve(TRUTH, FORECAST)
    stop = curve.thresholds[curve.outline(400)][-4]
    assert batch.evaluate("closecall.view.thresholds[0]") == stop


def summary(batch, width=390):
    """Show all series."""
    batch.bring_to_front()
    resize(batch, width, 844)
    batch.evaluate("location.hash = ''")
    batch.wait_for_selector(".leaderboard")
    return batch


def test_names_of_detectors_are_on_one_line_while_there_is_room(batch):
    summary(batch, 1280)
    assert batch.locator(".heat-map thead").bounding_box()["height"] < 35  # one line
    batch.locator(".heat-map tbody a").first.click()
    batch.locator(".card .name", has_text="random").click()
    other = batch.locator("th.other button > span", has_text="windowedGaussian")
    other.wait_for()
    assert other.bounding_box()["height"] < 35  # a swatch and one line


def test_without_alarms_a_score_and_its_level_count_as_0(batch):
    silent = summary(batch).locator(".leaderboard tbody tr", has_text="silent")
    assert silent.locator(".chance").all_text_contents() == ["chance 0.00", "\u2013", "chance 0.00"]


def test_each_page_of_a_batch_has_its_title(batch):
    assert summary(batch).title() == "Weeks"
    batch.evaluate("location.hash = 'series=1'")
    until(batch, "document.title === 'week 2 · Weeks'")
    batch.evaluate("location.hash = ''")
    until(batch, "document.title === 'Weeks'")


def test_what_was_chosen_just_before_does_not_undo_the_way_back(batch):
    batch.evaluate("location.hash = 'series=1'")
    until(batch, "closecall.view?.series.name === 'week 2'")
    left = batch.evaluate("""async () => {
      const slider = document.getElementById('threshold-slider');
      slider.value = Number(slider.value) > 9 ? 3 : 12;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      history.replaceState(null, '', '#'); // as a link does before the page is told of it
      await new Promise((done) => setTimeout(done, 800));
      dispatchEvent(new HashChangeEvent('hashchange'));
      return location.hash;
    }""")
    assert left == ""
    until(batch, "document.querySelector('.leaderboard') !== null")


def test_what_is_told_of_a_detector_is_never_cut_off(batch):
    opened(batch, "week 2")
    cut = "note => note.scrollWidth > note.clientWidth || note.scrollHeight > note.clientHeight"
    for width in (1280, 1150, 901, 600):  # the frame on the site's first page is 1150 wide
        resize(batch, width, 844)
        for note in batch.locator(".card .note").all():
            assert not note.evaluate(cut), width
    resize(batch, 1280)
    note = batch.locator(".card .note").first
    text, low = note.text_content(), note.bounding_box()["height"]
    batch.evaluate("closecall.view.setThreshold(0, -1.23456789012345)")
    batch.locator(".card .who").first.evaluate("cell => { cell.style.minWidth = '500px'; }")
    batch.evaluate("closecall.view.detectors.refresh()")
    high = note.bounding_box()["height"]
    assert high > low  # another line, which is kept
    batch.evaluate("closecall.view.toBest(0)")
    batch.locator(".card .who").first.evaluate("cell => { cell.style.minWidth = ''; }")
    assert (note.text_content(), note.bounding_box()["height"]) == (text, high)


def boxes(page, *selectors):
    return [page.locator(selector).first.bounding_box() for selector in selectors]


def test_curves_leave_no_hole_below_few_events_and_do_not_move_with_their_filter(gallery):
    page = opened(gallery, "nine")
    events, first, second = boxes(page, ".events", ".curve-plot", ".curve-plot + .curve-plot")
    assert events["width"] > 1200
    assert events["y"] + events["height"] < first["y"] == second["y"]
    page.locator("[data-filter='missed']").click()
    assert boxes(page, ".events", ".curve-plot") == [events, first]
    page.locator("[data-filter='all']").click()
    page = opened(gallery, "long")
    events, first, second = boxes(page, ".events", ".curve-plot", ".curve-plot + .curve-plot")
    assert events["x"] + events["width"] < first["x"] == second["x"]


def test_hiding_the_detector_sorted_by_restores_the_order(nine):
    numbers = nine.locator("tbody td:first-child")
    button = nine.locator("th.other button").first
    button.click()
    nine.locator("th.other button").first.click()
    assert nine.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    nine.get_by_label(f"show {button.get_attribute('title')}", exact=True).uncheck()
    assert numbers.all_text_contents() == [str(number) for number in range(1, 8)]
    assert nine.locator("th[aria-sort]").text_content() == "# ▴"


def test_detectors_can_be_told_apart(nine):
    for index in range(4, 9):
        nine.locator(".card input").nth(index).check()
    lines = nine.evaluate(
        "closecall.view.curve.plots[0].plot.data.slice(4).map(({ line }) => line)"
    )
    assert len({line["color"] for line in lines}) == 9
    assert [line["dash"] == "solid" for line in lines] == 6 * [True] + 3 * [False]
    assert {line["shape"] for line in lines} == {"vh"}  # drawn in steps


def test_a_page_of_labels_has_no_gap(gallery):
    page = opened(gallery, "labels")
    stage = page.locator(".timeline .stage").bounding_box()
    assert stage["height"] == page.evaluate("closecall.view.timeline.frame.height")


MEASURE = """() => {
  const { stage, plot, where } = closecall.view.timeline;
  const labels = [...document.querySelectorAll('.threshold-label')];
  const right = (element) => element.getBoundingClientRect().right;
  return {
    body: document.body.getBoundingClientRect().width, stage: stage.clientWidth,
    plot: plot.layout.width, where: where.textContent, axis: plot.layout.xaxis.tickfont.color,
    cut: labels.filter((label) => right(label) > right(stage)).length,
    sheet: getComputedStyle(document.body).printColorAdjust,
  };
}"""
LISTEN = (
    f"addEventListener('beforeprint', () => {{ window.paper = ({MEASURE})(); }}, {{ once: true }})"
)
PAPER = 700
INK = "#5b6470"


@pytest.mark.parametrize(("width", "theme"), [(1920, "dark"), (390, "light")])
def test_paper_shows_all_of_the_timeline(gallery, width, theme):
    gallery.emulate_media(color_scheme=theme)
    long = opened(gallery, "long", width)
    before = long.evaluate(MEASURE)
    # What the page is like when it is printed; this listener comes after the page's own.
    long.evaluate(LISTEN)
    assert long.pdf(format="A4").startswith(b"%PDF")
    paper = long.evaluate("paper")
    assert paper["body"] == PAPER
    assert paper["stage"] == paper["plot"] <= PAPER
    assert (paper["cut"], paper["sheet"], paper["axis"]) == (0, "exact", INK)
    assert paper["where"] == before["where"]
    assert long.evaluate(MEASURE) == before
    long.emulate_media(media="print")
    long.wait_for_selector("html.printing")
    assert long.evaluate(MEASURE)["plot"] == paper["plot"]
    long.emulate_media(media="screen", color_scheme="light")
    long.wait_for_selector("html:not(.printing)")
