"""Everybody can use the page: axe finds nothing serious, in light and dark colours."""

import os
from pathlib import Path

import numpy as np
import pytest

from closecall.datasets import demo
from closecall.report import report_batch
from tests.report.conftest import opened, resize

DATA = demo()
TRUTH, TIMES = DATA.truth[1::8], DATA.times[1::8]
FORECAST = DATA.scores["forecast"][1::8]
RANDOM = np.random.default_rng(9)
MANY = {f"detector {k}": FORECAST + 4 * k * RANDOM.normal(size=TRUTH.size) for k in range(6)}
AXE = os.environ.get("CLOSECALL_AXE")


@pytest.fixture(scope="module")
def page(show):
    if AXE is None:
        pytest.skip("needs axe-core: CLOSECALL_AXE names its script, axe.min.js")
    shared = {"truth": TRUTH, "times": TIMES, "values": DATA.values[1::8]}
    night = [(TIMES[300], TIMES[320])]
    two = {"forecast": FORECAST, "latency": DATA.scores["threshold"][1::8]}
    series = {
        "few": {**shared, "scores": two, "ignore": night},
        "many": {**shared, "scores": MANY},
        "labels": {**shared, "predicted": {"as logged": DATA.predicted["forecast"][1::8]}},
    }
    page = show(report_batch(series))
    page.evaluate(f"{Path(AXE).read_text('utf-8')}; 0")
    return page


def serious(page):
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        (one["id"], node["target"], node["failureSummary"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("name", "width"), [("few", 1280), ("many", 1280), ("labels", 390)])
def test_axe_finds_nothing_serious(page, name, width, theme):
    page.emulate_media(color_scheme=theme)
    opened(page, name, width)
    if name == "few":
        page.get_by_label("recall at least", exact=True).fill("0.5")
        page.get_by_label("recall at least", exact=True).press("Enter")
        page.locator("tbody tr .outcome").first.click()
    assert serious(page) == []
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious_on_the_first_page_of_many_series(page, width, theme):
    page.emulate_media(color_scheme=theme)
    resize(page, width)
    page.evaluate("location.hash = ''")
    page.wait_for_selector(".heat-map")
    assert serious(page) == []
    page.emulate_media(color_scheme="light")


def test_axe_would_find_something(page):
    opened(page, "few")
    page.evaluate("document.querySelector('.slider .number').removeAttribute('aria-label')")
    assert "label" in {name for name, *_ in serious(page)}
