"""One real browser for all pages of a test run, and how tests find their way on a page."""

import shutil

import pytest

from closecall.report.files import folder_inputs, report_inputs
from closecall.tables import Inputs

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--process-per-site",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def page_of(file, *, by=(), title=None, script="embed", predicted=(), scores=(), **options):
    """Make the page of a file as the command does."""
    value = options.pop("value", None)
    inputs, keys = folder_inputs(
        Inputs((file,), **options), (by,) if isinstance(by, str) else tuple(by)
    )
    columns = {"predicted": predicted, "scores": scores, "value": value, "thresholds": None}
    return report_inputs(inputs, by=keys, title=title, script=script, batch=None, **columns)[0]


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
    # Compiling plotly takes longest by far; scripts of one address in one process share it.
    place = tmp_path_factory.mktemp("pages") / "report.html"
    pages = []
    # A test need not wait for a scroll.
    usual = {"reduced_motion": "reduce"}
    context = browser.new_context(**usual)

    def call(report, *, width=1280, height=900, **options):
        path = report.save(place)
        page = browser.new_page(**usual, **options) if options else context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.troubles = []
        page.on("console", lambda message: page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("request", lambda request: page.troubles.append(request.url[:200]))
        page.on("dialog", lambda dialog: page.troubles.append(dialog.message))
        pages.append(page)
        page.goto(path.as_uri())
        page.frames[-1].wait_for_selector("html[data-ready]", timeout=20_000)  # in a notebook, too
        assert page.troubles.pop(0) == path.as_uri()
        return page

    yield call
    for page in pages:
        page.close()
    context.close()
    troubles = [trouble for page in pages for trouble in page.troubles]
    assert troubles == []


def opened(page, name, width=1280, height=900):
    """Show one series of a page of many, as it opens in a window of some size."""
    page.bring_to_front()  # the browser lets pages behind another one wait for seconds
    resize(page, width, height)
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
    size = {"width": width, "height": height}
    if page.viewport_size == size:
        return
    page.set_viewport_size(size)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def point_at(page, lane, share):
    """Move the pointer to a share of the window, on a lane of the timeline."""
    box = page.locator(".timeline .stage").bounding_box()
    frame = page.evaluate(
        "(() => { const { frame } = closecall.view.timeline; return "
        "{ left: frame.left, right: frame.right, tops: frame.lanes.map((lane) => lane.top) }; })()"
    )
    x = box["x"] + frame["left"] + share * (frame["right"] - frame["left"])
    page.mouse.move(x, box["y"] + frame["tops"][lane] + 5)


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
