"""One real browser for all pages of a test run, and the pages that several files look at."""

import shutil

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo
from closecall.report import report, report_batch

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

    def call(report, *, width=1280, height=900, **options):
        options = {"reduced_motion": "reduce", **options}  # a test need not wait for a scroll
        path = report.save(folder / f"{len(pages)}.html")
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
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
    troubles = [trouble for page in pages for trouble in page.troubles]
    assert troubles == []


@pytest.fixture(scope="session")
def long(show):
    """Many events in few rows of pixels; the table is longer than the window."""
    random = np.random.default_rng(11)
    truth = np.zeros(20_000, dtype=int)
    for start in range(300, 19_800, 500):
        truth[start : start + 60] = 1
    smooth = np.convolve(truth, np.full(150, 1 / 150), "same") + 0.2 * random.random(truth.size)
    start = np.datetime64("2024-03-04", "s")
    times = start + np.arange(truth.size).astype("timedelta64[s]") * 30
    scores = {"smooth": smooth, "noise": random.random(truth.size)}
    return show(report(truth, scores=scores, times=times, values=smooth))


HOSTILE = "<img src=x onerror=alert(1)> and a name that is much longer than any column"


@pytest.fixture(scope="session")
def gallery(show):
    """Small series that each show one thing, on one page: `opened` shows one of them."""
    data = demo()
    truth = cc.Events([(10, 20), (110, 120), (210, 220), (310, 320), (410, 420), (510, 520)])
    alarms = cc.Events([(5, 10), (123, 125), (208, 215), (313, 330), (410, 420)])
    times = np.datetime64("2024-01-01", "s") + 60 * np.arange(data.truth.size)
    named = {"a": data.scores["forecast"], HOSTILE: data.scores["threshold"]}
    series = {
        "outcomes": {"truth": truth, "predicted": {"a": alarms}, "span": (0, 600)},
        "no zone": {"truth": data.truth, "scores": data.scores["forecast"], "times": times},
        "labels": {"truth": data.truth, "predicted": data.predicted, "times": data.times},
        "long name": {
            "truth": data.truth,
            "scores": named,
            "times": data.times,
            "values": data.values,
        },
    }
    return show(report_batch(series))


def opened(page, name):
    """Open one series of a page of many."""
    page.evaluate(
        """name => {
          const { series } = JSON.parse(document.getElementById('report').textContent);
          location.hash = `series=${series.findIndex((one) => one.name === name)}`;
        }""",
        name,
    )
    page.wait_for_function("name => closecall.view?.series.name === name", arg=name)
    return page
