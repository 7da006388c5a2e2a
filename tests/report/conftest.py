"""One real browser for all pages of this folder; closed at its end."""

import shutil

import numpy as np
import pytest

from closecall.report import report

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package")
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
