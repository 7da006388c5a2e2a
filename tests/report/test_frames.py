"""The page elsewhere: with hostile names, as a batch, and inside a notebook."""

import numpy as np
import pytest

import closecall as cc
from closecall.report import report, report_batch
from tests.report.conftest import until

HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "&lt;b&gt; ${1}")
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
ONE = {
    "truth": np.isin(np.arange(300), range(100, 120)),
    "scores": {name: RANDOM.random(300) for name in HOSTILE},
}


@pytest.fixture(scope="module")
def many(show):
    return show(report_batch(SERIES, title="Many"))


@pytest.fixture(scope="module")
def hostile(show):
    """A page of one series, with names that are none."""
    return show(report(**ONE, title=HOSTILE[0]))


def go(page, fragment):
    """Open the page as an address with a fragment does."""
    page.bring_to_front()
    script = "async (to) => { location.hash = to; await closecall.reopen(); }"
    page.evaluate(script, fragment)


def test_hostile_names_are_text(hostile):
    page = hostile
    go(page, "")
    assert page.title() == HOSTILE[0]
    assert page.locator("#title").text_content() == HOSTILE[0]
    assert page.locator(".card .name").all_text_contents() == list(HOSTILE)
    page.locator(".card .name").nth(1).click()
    assert page.locator(".slider > label").text_content() == f"Threshold of detector {HOSTILE[1]}"
    box = page.locator(".timeline .stage").bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + box["height"] - 60)
    assert HOSTILE[2] in page.locator("#tooltip").inner_text()
    assert page.locator("img").count() == 0


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
    points = [(one, point) for (one, detector), point in best.items() if detector == names[0]]
    events = sum(len(cc.Events.from_labels(series[one]["truth"])) for one, _ in points)
    assert cells.nth(1).text_content() == f"{sum(point.caught for _, point in points)} of {events}"
    assert cells.nth(4).text_content() == str(sum(point.false_alarms for _, point in points))
    assert cells.nth(5).text_content().endswith(f" {means[names[0]]:.3f}")
    assert cells.nth(7).text_content() == (f"chance {np.mean(levels):.2f} {np.mean(recalls):.3f}")
    assert page.locator(".heat-map tbody tr").count() == 3
    assert "at least one true event" in page.locator(".unscored").text_content()
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


ATTACK = """async () => {
  window.ran = [];
  const script = document.createElement('script');
  script.textContent = 'ran.push("script")';
  const linked = document.createElement('script');
  linked.src = 'data:text/javascript,ran.push("linked")';
  const box = document.createElement('div');
  box.innerHTML = '<img src="data:," onerror="ran.push(1)"><button onclick="ran.push(2)"></button>'
    + '<iframe srcdoc="<script>parent.ran.push(3)</script>"></iframe>';
  document.body.append(script, linked, box);
  box.querySelector('button').click();
  setTimeout('ran.push(4)');
  const asked = await fetch('data:,x').then(() => 'answered', () => 'refused');
  await new Promise((done) => setTimeout(done, 200));
  return [...ran, asked];
}"""


class Notebook:
    """A notebook with a report in it, saved in an encoding of its own."""

    def __init__(self, shown):
        self.shown = shown

    def save(self, path):
        page = f'<meta charset="windows-1252"><h1>notebook</h1>{self.shown._repr_html_()}'
        path.write_text(page, encoding="utf-8")
        return path


@pytest.mark.parametrize("kind", ["one", "many", "notebook"])
def test_no_script_but_its_own_runs(show, many, hostile, kind):
    """Other tests do not find their pages as they were after this one."""
    page = {"one": hostile, "many": many}.get(kind) or show(Notebook(report(**ONE)))
    if kind != "notebook":
        go(page, "#series=0")
        page.wait_for_selector(".timeline svg")
    frame = page.frames[-1]
    series = SERIES["first"] if kind == "many" else ONE
    best = cc.affiliation_curve(series["truth"], next(iter(series["scores"].values()))).best()
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
