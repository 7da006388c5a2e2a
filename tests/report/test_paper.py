"""Printing: as wide as the paper, light, with nothing cut off."""

import pytest

MEASURE = """() => {
  const { stage, plot, where } = closecall.view.timeline;
  const labels = [...document.querySelectorAll('.threshold-label')];
  const right = (element) => element.getBoundingClientRect().right;
  return {
    body: document.body.getBoundingClientRect().width, stage: stage.clientWidth,
    plot: plot.layout.width, where: where.textContent, axis: plot.layout.xaxis.tickfont.color,
    cut: labels.filter((label) => right(label) > right(stage)).length,
    sheet: getComputedStyle(document.body).printColorAdjust,
  };
}"""
LISTEN = (
    f"addEventListener('beforeprint', () => {{ window.paper = ({MEASURE})(); }}, {{ once: true }})"
)
PAPER = 700
INK = "#5b6470"


@pytest.mark.parametrize("width", [1280, 1920, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_paper_shows_all_of_the_timeline(long, width, theme):
    long.set_viewport_size({"width": width, "height": 900})
    long.emulate_media(color_scheme=theme)
    long.evaluate("closecall.reopen()")
    before = long.evaluate(MEASURE)
    # What the page is like when it is printed; this listener comes after the page's own.
    long.evaluate(LISTEN)
    assert long.pdf(format="A4").startswith(b"%PDF")
    paper = long.evaluate("paper")
    assert paper["body"] == PAPER
    assert paper["stage"] == paper["plot"] <= PAPER
    assert (paper["cut"], paper["sheet"], paper["axis"]) == (0, "exact", INK)
    assert paper["where"] == before["where"]
    assert long.evaluate(MEASURE) == before
    long.emulate_media(media="print")
    long.wait_for_selector("html.printing")
    assert long.evaluate(MEASURE)["plot"] == paper["plot"]
    long.emulate_media(media="screen", color_scheme="light")
    long.wait_for_selector("html:not(.printing)")
    long.set_viewport_size({"width": 1280, "height": 900})
