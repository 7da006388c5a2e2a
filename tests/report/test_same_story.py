"""The explorer tells the same story as every command, of the same data."""

import shutil
from pathlib import Path

from closecall.wording import outcome_text
from tests.cli.conftest import demo_file, run  # noqa: F401 - fixtures of the command line
from tests.cli.test_same_story import COLUMNS, SCORES, stories, told  # noqa: F401
from tests.report.conftest import until


def test_the_explorer_says_them(stories, run, demo_file, show):  # noqa: F811
    story = told(stories[1])["score"]
    made = run("report", demo_file, *COLUMNS, "--predicted", "forecast", "--output", "demo.html")
    assert made.exit_code == 0, made.stderr
    page = show(Saved("demo.html"))
    until(page, "document.querySelector('.card .chance')?.textContent.trim()")
    card = page.inner_text(".card")
    assert story["headline"] in card
    for key in SCORES:
        assert f"{story['scores'][key]:.3f}" in card, key
        assert f"{story['chance'][key]:.2f}" in card, key
    rows = page.locator("section.events tbody tr").all_inner_texts()
    for text, row in zip(rows, story["events"], strict=True):
        assert outcome_text(row["outcome"], row["delay"], row["nearest"], dated=True) in text


class Saved:
    """A page that the command line has written."""

    def __init__(self, path):
        self.path = Path(path).resolve()

    def save(self, path):
        return Path(shutil.copy(self.path, path))
