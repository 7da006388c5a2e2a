"""Long series: a bounded drawing of everything, and every sample once the window is small."""

import numpy as np
import pytest

from closecall.report import report
from tests.report.conftest import until

COUNT = 40_000
RANDOM = np.random.default_rng(5)
TRUTH = np.zeros(COUNT, dtype=int)
TRUTH[12_000:12_050] = TRUTH[30_000:30_400] = 1
SCORES = RANDOM.random(COUNT)
SCORES[24_681] = 50.0
VALUES = RANDOM.normal(size=COUNT)
VALUES[15_555] = -400.0
DRAWN = """index => {
  const { x, y } = closecall.view.timeline.plot.data[index];
  return [[...x], [...y]];
}"""


@pytest.fixture(scope="module")
def page(show):
    return show(report(TRUTH, scores=SCORES, values=VALUES))


def test_the_whole_series_is_drawn_with_few_points_and_all_peaks(page):
    for index, (values, peak) in enumerate(((VALUES, -400.0), (SCORES, 50.0))):
        x, y = page.evaluate(DRAWN, index)
        assert 1_000 < len(x) < 5_000
        assert peak in y
        assert y[:-1] == pytest.approx(values[np.array(x[:-1])], rel=1e-6)
        assert x[-1] == COUNT  # where the last sample stops


def test_dragging_zooms_to_every_sample(page):
    box = page.locator(".timeline .stage").bounding_box()
    frame = page.evaluate("({ ...closecall.view.timeline.frame })")
    y = box["y"] + frame["panels"][0]["top"] + 60
    x = lambda sample: (  # noqa: E731 - only here
        box["x"] + frame["left"] + sample / COUNT * (frame["right"] - frame["left"])
    )
    page.mouse.move(x(11_800), y)
    page.mouse.down()
    page.mouse.move(x(12_800), y, steps=5)
    page.mouse.up()
    until(page, "closecall.view.timeline.window[1] < 14_000")
    from_, to = page.evaluate("closecall.view.timeline.window")
    assert (from_, to) == pytest.approx((11_800, 12_800), abs=80)
    page.evaluate("closecall.view.select(0)")
    from_, to = page.evaluate("closecall.view.timeline.window")
    assert from_ < 12_000
    assert 12_050 < to < 12_400
    x, y = page.evaluate(DRAWN, 1)
    samples = np.arange(np.floor(from_), np.ceil(to))
    assert set(samples) <= set(x)
    assert y[:-1] == SCORES[np.array(x[:-1], dtype=int)].tolist()
    page.get_by_role("button", name="show everything").click()


def test_the_wheel_zooms_and_moves(page):
    box = page.locator(".timeline .stage").bounding_box()
    page.mouse.move(box["x"] + 600, box["y"] + 80)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    until(page, "closecall.view.timeline.window[1] < 36_000")
    before = page.evaluate("closecall.view.timeline.window")
    page.mouse.wheel(200, 0)
    until(page, f"closecall.view.timeline.window[0] > {before[0]}")
    after = page.evaluate("closecall.view.timeline.window")
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])
    page.get_by_role("button", name="show everything").click()


def test_the_overview_moves_the_window(page):
    page.evaluate("closecall.view.timeline.show(0, 4_000)")
    box = page.locator(".overview").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 15)
    from_, to = page.evaluate("closecall.view.timeline.window")
    assert to - from_ == pytest.approx(4_000)
    assert from_ < 20_000 < to
    page.get_by_role("button", name="show everything").click()
