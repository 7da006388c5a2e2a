"""Take the pictures of the explorer: ``python docs/screenshots.py [FOLDER]``.

This needs playwright, Pillow and a Chromium on the path.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from closecall.datasets import demo
from closecall.report import report

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
NAMES = ("chromium", "chromium-browser", "google-chrome")


def save_page(folder: Path) -> Path:
    data = demo()
    page = report(
        data.truth,
        scores={"latency": data.scores["threshold"], "forecast": data.scores["forecast"]},
        times=data.times,
        values=data.values,
        title="A service's latency",
    )
    return page.save(folder / "explorer.html")


def opened(browser: Browser, path: Path, **options: object) -> Page:
    page = browser.new_page(**options)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    return page


def desktop(browser: Browser, path: Path, target: Path) -> None:
    """The first screen, with the pointer on an event."""
    page = opened(browser, path, viewport={"width": 1280, "height": 900})
    page.evaluate("closecall.view.setThreshold(0, 158.3)")
    page.locator(".card.active").get_by_text("…").first.wait_for(state="detached")
    box = page.locator(".timeline .stage").bounding_box()
    place = "(({ frame }) => [frame.x(1890), frame.lanes[0].top + 5])(closecall.view.timeline)"
    x, y = page.evaluate(place)
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.screenshot(path=target)
    page.close()


def phone(browser: Browser, path: Path, target: Path) -> None:
    """The timeline at one event, on a small dark screen."""
    page = opened(
        browser, path, viewport={"width": 390, "height": 844}, color_scheme="dark", is_mobile=True
    )
    page.evaluate("closecall.view.select(2)")
    page.locator(".timeline").evaluate("element => element.scrollIntoView()")
    page.screenshot(path=target)
    page.close()


def few_colours(path: Path) -> None:
    """Keep a picture small: the page has few colours, and smooth edges need not all their own."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(200).save(path, optimize=True)


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else Path(__file__).parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit("This needs a Chromium on the path.")
    with TemporaryDirectory() as temporary, sync_playwright() as playwright:
        path = save_page(Path(temporary))
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        desktop(browser, path, folder / "explorer.png")
        phone(browser, path, folder / "explorer-phone.png")
        browser.close()
    for name in ("explorer.png", "explorer-phone.png"):
        few_colours(folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
