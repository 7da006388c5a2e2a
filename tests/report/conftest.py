"""One real browser for all pages of a test run, and the pages that several files look at."""

import shutil

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo
from closecall.report import report_batch

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser():
    """Start the system's Chromium, or skip."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs a Chromium on the path, which playwright drives")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def show(browser, tmp_path_factory):
    """Open reports from disk; a message on the console or a request anywhere is an error."""
    folder = tmp_path_factory.mktemp("pages")
    pages = []
    # A test need not wait for a scroll; pages of one context share what is compiled.
    usual = {"reduced_motion": "reduce"}
    context = browser.new_context(**usual)

    def call(report, *, width=1280, height=900, **options):
        path = report.save(folder / f"{len(pages)}.html")
        page = browser.new_page(**usual, **options) if options else context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.troubles = []
        page.on("console", lambda message: page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("request", lambda request: page.troubles.append(request.url[:200]))
        page.on("dialog", lambda dialog: page.troubles.append(dialog.message))
        pages.append(page)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=20_000)
        assert page.troubles.pop(0) == path.as_uri()
        return page

    yield call
    for page in pages:
        page.close()
    context.close()
    troubles = [trouble for page in pages for trouble in page.troubles]
    assert troubles == []


HOSTILE = "<img src=x onerror=alert(1)> and a name that is much longer than any column"


@pytest.fixture(scope="session")
def gallery(show):
    """Series that each show something, on one page: `opened` shows one of them."""
    data, random = demo(), np.random.default_rng(11)
    own = {"truth": data.truth, "times": data.times, "values": data.values}
    outcomes = {
        "truth": cc.Events([(start, start + 10) for start in range(10, 600, 100)]),
        "predicted": {"a": cc.Events([(5, 10), (123, 125), (208, 215), (313, 330), (410, 420)])},
        "span": (0, 600),
    }
    worse = {
        f"detector {k}": data.scores["forecast"] + 5 * k * random.normal(size=data.truth.size)
        for k in range(1, 10)
    }
    extremes = {
        "silent": np.zeros_like(data.truth),
        "half": np.arange(data.truth.size) % 2000 > 900,
    }
    minutes = np.datetime64("2024-01-01", "s") + 60 * np.arange(data.truth.size)
    named = {"a": data.scores["forecast"], HOSTILE: data.scores["threshold"]}
    series = {
        "outcomes": outcomes,
        "no zone": {"truth": data.truth, "scores": data.scores["forecast"], "times": minutes},
        "labels": {"truth": data.truth, "predicted": data.predicted, "times": data.times},
        "long name": {**own, "scores": named},
        "nine": {**own, "scores": worse},
        "extremes": {**own, "predicted": extremes},
        "long": long_series(random),
    }
    return show(report_batch(series))


def long_series(random):
    """Many events in few rows of pixels; the table is longer than the window."""
    truth = np.zeros(20_000, dtype=int)
    for start in range(300, 19_800, 500):
        truth[start : start + 60] = 1
    smooth = np.convolve(truth, np.full(150, 1 / 150), "same") + 0.2 * random.random(truth.size)
    times = np.datetime64("2024-03-04", "s") + 30 * np.arange(truth.size)
    scores = {"smooth": smooth, "noise": random.random(truth.size)}
    return {"truth": truth, "scores": scores, "times": times, "values": smooth}


@pytest.fixture
def nine(gallery):
    """Nine detectors that get worse and worse."""
    return opened(gallery, "nine")


@pytest.fixture
def extremes(gallery):
    """A detector without alarms, and one whose alarms cover half of the series."""
    return opened(gallery, "extremes")


@pytest.fixture
def long(gallery):
    return opened(gallery, "long")


def opened(page, name):
    """Show one series of a page of many, as it opens."""
    page.bring_to_front()  # the browser lets pages behind another one wait for seconds
    resize(page, 1280)
    page.evaluate(
        """async (name) => {
          const { series } = JSON.parse(document.getElementById('report').textContent);
          const index = series.findIndex((one) => one.name === name);
          history.replaceState(null, '', `#series=${index}`);
          await closecall.reopen();
          scrollTo(0, 0);
        }""",
        name,
    )
    assert page.evaluate("closecall.view.series.name") == name
    return page


def resize(page, width, height=900):
    """Give the page a new size, of which it learns with the next frame, and is drawn anew."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def until(page, condition):
    """Wait until an expression holds; the page's policy forbids playwright's own way, by `eval`."""
    script = """async () => {
      const late = performance.now() + 20_000;
      while (!(CONDITION)) {
        if (performance.now() > late) throw new Error('waited in vain');
        await new Promise((done) => setTimeout(done, 10));
      }
    }"""
    page.evaluate(script.replace("CONDITION", condition))
