"""The page elsewhere: on a phone, with hostile names, as a batch, and inside a notebook."""

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo
from closecall.report import report, report_batch
from tests.report.conftest import until

HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "&lt;b&gt; ${1}")
DATA = demo()
RANDOM = np.random.default_rng(11)


def random_batch():
    lengths = {"first": 900, "second": 500}
    series = {}
    for name, length in lengths.items():
        truth = np.zeros(length, dtype=int)
        truth[length // 3 : length // 3 + 20] = truth[-30:-20] = 1
        scores = {"noise": RANDOM.random(length), "good": truth + 0.1 * RANDOM.random(length)}
        series[name] = {"truth": truth, "scores": scores}
    scores = {"good": RANDOM.random(10), HOSTILE[0]: RANDOM.random(10)}
    series[HOSTILE[0]] = {"truth": [0, 1, 0, 0, 0, 0, 1, 0, 0, 0], "scores": scores}
    series["quiet"] = {"truth": [0] * 10, "scores": {"good": RANDOM.random(10)}}
    return series


SERIES = random_batch()


@pytest.fixture(scope="module")
def many(show):
    return show(report_batch(SERIES, title="Many"))


@pytest.fixture(scope="module")
def hostile(show):
    """A page of one series, with names that are none."""
    truth = np.zeros(300, dtype=int)
    truth[100:120] = 1
    scores = {name: RANDOM.random(300) for name in HOSTILE}
    return show(report(truth, scores=scores, title=HOSTILE[0]))


def go(page, fragment):
    """Open the page as an address with a fragment does."""
    page.bring_to_front()
    script = "async (to) => { location.hash = to; await closecall.reopen(); }"
    page.evaluate(script, fragment)


def test_a_phone_needs_no_sideways_scrolling(show):
    page = show(
        report(DATA.truth, scores=DATA.scores, times=DATA.times, values=DATA.values),
        width=390,
        height=844,
        has_touch=True,
        is_mobile=True,
    )
    wide = "document.scrollingElement.scrollWidth"
    assert page.evaluate(wide) <= 390
    table = "(e => [e.scrollWidth, e.clientWidth])(document.querySelector('.events .scroll'))"
    content, room = page.evaluate(table)
    assert content <= room
    page.locator("tbody tr").nth(2).tap()
    assert page.evaluate(wide) <= 390
    from_, to = page.evaluate("closecall.view.timeline.window")
    assert to - from_ < 400
    page.locator("#threshold-slider").fill("3")
    curve = cc.affiliation_curve(DATA.truth, DATA.scores["threshold"])
    stop = curve.thresholds[curve.outline(400)][-4]
    assert page.evaluate("closecall.view.thresholds[0]") == stop


def test_hostile_names_are_text(hostile):
    page = hostile
    go(page, "")
    assert page.title() == HOSTILE[0]
    assert page.locator("#title").text_content() == HOSTILE[0]
    assert page.locator(".card .name").all_text_contents() == list(HOSTILE)
    page.locator(".card .name").nth(1).click()
    assert page.locator(".slider > label").text_content() == f"Threshold of {HOSTILE[1]}"
    box = page.locator(".timeline .stage").bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + box["height"] - 60)
    assert HOSTILE[2] in page.locator("#tooltip").inner_text()
    assert page.locator("img").count() == 0


ATTACK = """async () => {
  window.ran = [];
  const script = document.createElement('script');
  script.textContent = 'ran.push("script")';
  const box = document.createElement('div');
  box.innerHTML = '<img src="data:," onerror="ran.push(1)"><button onclick="ran.push(2)"></button>'
    + '<iframe srcdoc="<script>parent.ran.push(3)</script>"></iframe>';
  document.body.append(script, box);
  box.querySelector('button').click();
  setTimeout('ran.push(4)');
  const asked = await fetch('data:,x').then(() => 'answered', () => 'refused');
  await new Promise((done) => setTimeout(done, 200));
  return [...ran, asked];
}"""


def notebook(browser, shown, folder):
    """Open a notebook with a report in it; what goes wrong is noted as on other pages."""
    page = browser.new_page()
    page.troubles = []
    page.on("console", lambda message: page.troubles.append(message.text))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    (folder / "notebook.html").write_text(f"<h1>notebook</h1>{shown._repr_html_()}")
    page.goto((folder / "notebook.html").as_uri())
    page.frames[-1].wait_for_selector("html[data-ready]", timeout=20_000)
    return page


@pytest.mark.parametrize("kind", ["one", "many", "notebook"])
def test_no_script_but_its_own_runs(show, browser, tmp_path, kind):
    own = {"truth": [0, 0, 1, 1, 0, 0], "scores": {HOSTILE[0]: [0.1, 0.6, 0.9, 0.4, 0.1, 0.2]}}
    if kind == "many":
        page = show(report_batch({"a": own, HOSTILE[1]: own}))
        page.locator(".heat-map").get_by_role("link", name="a", exact=True).click()
        page.wait_for_selector(".timeline svg")
    else:
        page = show(report(**own)) if kind == "one" else notebook(browser, report(**own), tmp_path)
    frame = page.frames[-1]
    best = cc.affiliation_curve(own["truth"], *own["scores"].values()).best()
    assert frame.locator(".card [data-score]").first.text_content() == f"{best.fbeta:.3f}"
    assert frame.locator(".timeline svg").count() > 0
    picture = frame.evaluate("Plotly.toImage(closecall.view.timeline.plot, { format: 'png' })")
    assert picture.startswith("data:image/png;base64,")
    assert len(picture) > 5_000
    # Plotly draws its picture from a blob of its own.
    assert [trouble for trouble in page.troubles if not trouble.startswith("blob:")] == []
    assert frame.evaluate(ATTACK) == ["refused"]
    page.close()
    page.troubles.clear()  # the browser tells what it refused


def test_an_unknown_fragment_is_ignored(many, hostile):
    page = many
    for fragment in ("#series=99", "#series=3", "#series=-1", "#series=x", "#<b>", "#toString"):
        go(page, fragment)
        assert page.locator(".leaderboard").count() == 1, fragment
    go(page, "#series=1&detector=7")
    assert page.evaluate("closecall.view.series.name") == "second"
    assert page.locator(".card.active .name").text_content() == "noise"
    page.evaluate("location.hash = '#somewhere'")
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert page.locator("#title").text_content() == "second"
    for fragment in ("#series=1", "#series=x", "#detector=5", "#constructor"):
        go(hostile, fragment)
        assert hostile.locator(".card.active .name").text_content() == HOSTILE[0], fragment


def test_a_batch_leads_to_its_series_and_back(many):
    page, series = many, SERIES
    go(page, "")
    assert page.locator("#evaluated").text_content() == "4 series, 6 true events, 1 not scored"
    assert page.evaluate("closecall.view") is None
    best = {
        (one, detector): cc.affiliation_curve(arguments["truth"], scores).best()
        for one, arguments in series.items()
        if one != "quiet"
        for detector, scores in arguments["scores"].items()
    }
    rows = page.locator(".leaderboard tbody tr").all()
    assert len(rows) == 3
    names = [row.locator("th").text_content() for row in rows]
    means = {
        name: np.mean([point.fbeta for (_, detector), point in best.items() if detector == name])
        for name in names
    }
    assert names == sorted(means, key=means.get, reverse=True)
    recalls, levels = zip(
        *(
            (
                point.recall,
                cc.affiliation(series[one]["truth"], scores >= point.threshold).chance.recall,
            )
            for (one, detector), point in best.items()
            if detector == names[0]
            for scores in [np.asarray(series[one]["scores"][detector])]
        ),
        strict=True,
    )
    cells = rows[0].locator("td")
    own = [(one, point) for (one, detector), point in best.items() if detector == names[0]]
    events = sum(len(cc.Events.from_labels(series[one]["truth"])) for one, _ in own)
    assert cells.nth(1).text_content() == f"{sum(point.caught for _, point in own)} of {events}"
    assert cells.nth(2).text_content() == str(sum(point.false_alarms for _, point in own))
    assert cells.nth(3).text_content().endswith(f" {means[names[0]]:.3f}")
    assert cells.nth(5).text_content() == (f"chance {np.mean(levels):.2f} {np.mean(recalls):.3f}")
    quiet = page.locator(".heat-map tbody tr").last
    assert "at least one true event" in quiet.text_content()
    point = best["second", "noise"]
    page.locator(".heat-map").get_by_label("noise on second").click()
    until(page, "closecall.view?.series.name === 'second'")
    assert page.locator("#title").text_content() == "second"
    assert page.locator(".card.active .name").text_content() == "noise"
    assert page.locator(".card.active [data-score]").first.text_content() == f"{point.fbeta:.3f}"
    page.locator("#back").click()
    page.wait_for_selector(".leaderboard")
    page.locator(".heat-map").get_by_role("link", name=HOSTILE[0], exact=True).click()
    until(page, "closecall.view?.series.detectors.length === 2")
    assert page.locator("img").count() == 0
