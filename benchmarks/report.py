"""The explorer: one series of 450,000 samples, and 2,000 series of ten detectors."""

from __future__ import annotations

import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import series
from benchmarks.timing import Row, Target, new_process, once, options, print_tables
from closecall.report import report

_SAMPLES, _EVENTS = 450_000, 35
_OPENINGS, _QUICK_OPENINGS, _STEPS = 5, 2, 60
_SERIES, _QUICK_SERIES, _DETECTORS, _LENGTH = 2_000, 200, 10, 2_000
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
# From the input to a page that is laid out, and to the frame that shows it.
_STEP = """async (count) => {
  const slider = document.getElementById("threshold-slider");
  const most = Number(slider.max);
  const times = { work: [], frame: [], alarms: [] };
  for (let step = 0; step < count; step++) {
    slider.value = String(Math.round((most * step) / (count - 1)));
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    times.work.push(performance.now() - start);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    times.frame.push(performance.now() - start);
    times.alarms.push(closecall.view.results[0].predicted.starts.length);
  }
  return times;
}"""


# The seconds of the work itself, and the most memory of the process that did it, in bytes.
_MANY = """
import json
from pathlib import Path
from time import perf_counter
from closecall.report.files import report_inputs
from closecall.tables import Inputs
start = perf_counter()
inputs = Inputs(({table!r},), truth="label")
columns = {{"predicted": (), "scores": {detectors}, "thresholds": None, "value": None}}
page = report_inputs(inputs, by=("series",), title=None, script="embed", batch=None, **columns)[0]
page.save({page!r})
seconds = perf_counter() - start
status = Path("/proc/self/status")
peak = int(status.read_text().partition("VmHWM:")[2].split()[0]) if status.exists() else None
print(json.dumps([seconds, peak and 1024 * peak]))
"""


def hard_to_pack() -> dict[str, Any]:
    """Draw scores of which no bit can be saved, one smooth and one noisy detector, and a series."""
    random = np.random.default_rng(6)
    truth = series.labels(_EVENTS, _SAMPLES, mean=1_500, seed=3)
    smooth = np.convolve(random.normal(size=_SAMPLES + 499), np.full(500, 500**-0.5), "valid")
    values = np.round(
        20 + 5 * np.sin(np.arange(_SAMPLES) / 3_000) + random.normal(size=_SAMPLES), 2
    )
    start = np.datetime64("2015-12-28T10:00:00", "s")
    return {
        "truth": truth,
        "times": start + np.arange(_SAMPLES).astype("timedelta64[s]"),
        "values": values,
        "scores": {"noisy": random.random(_SAMPLES) + 0.3 * truth, "smooth": smooth + 2 * truth},
    }


def write_many(count: int, path: Path) -> list[str]:
    """Write series with detectors from useless to good to one file; return the detectors."""
    random = np.random.default_rng(7)
    labels = [series.labels(5, _LENGTH, mean=20, seed=seed) for seed in range(count)]
    truth = np.concatenate(labels).astype(np.uint8)
    columns: dict[str, Any] = {
        "series": np.repeat([f"series {number:04}" for number in range(count)], _LENGTH),
        "label": truth,
    }
    names = [f"detector {number}" for number in range(_DETECTORS)]
    for number, name in enumerate(names):
        columns[name] = random.random(truth.size) + 0.06 * number * truth
    pq.write_table(pa.table(columns), path)
    return names


def many_series(
    playwright: Any, program: str, folder: Path, count: int, openings: int
) -> list[Row]:
    """Write the page of many series in a process of its own, and open it, and a series on it."""
    table, path = folder / "many.parquet", folder / "many.html"
    code = _MANY.format(detectors=write_many(count, table), table=str(table), page=str(path))
    seconds, peak = new_process(code)[1]
    size = sum(one.stat().st_size for one in (path, *path.parent.glob("many_series/*"))) / 1e6
    browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
    index, one = [], []
    try:
        for _ in range(openings):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_selector("html[data-ready]", timeout=60_000)
            index.append(page.evaluate("closecall.times.ready") / 1000)
            one.append(once(partial(_open_series, page))[0])
            page.close()
    finally:
        browser.close()
    rows = [
        Row(f"read, scored and written: {size:,.0f} MB", seconds, seconds, "s", Target("<", 60))
    ]
    if peak is not None:
        rows.append(Row("its peak memory", None, peak / 1e9, "GB", Target("<", 1)))
    opened = median(index)
    return [
        *rows,
        Row("the first page opened", opened, opened, "s from its start", Target("<", 2)),
        Row("a series opened from it, lines drawn", median(one)),
    ]


def _open_series(page: Any) -> None:
    page.locator(".heat-map tbody a").first.click()
    page.wait_for_selector(".timeline .plot .main-svg", state="attached")


def in_browser(playwright: Any, program: str, path: Path, openings: int) -> list[Row]:
    """Open the page several times, and move the slider through all of its range."""
    browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
    ready, visible = [], []
    steps: dict[str, list[float]] = {"work": [], "frame": [], "alarms": []}
    try:
        for _ in range(openings):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_selector("html[data-ready]", timeout=60_000)
            marks = page.evaluate("closecall.times")
            ready.append(marks["ready"] / 1000)
            visible.append(marks["visible"] / 1000)
            for name, numbers in page.evaluate(_STEP, _STEPS).items():
                steps[name] += numbers
            page.close()
    finally:
        browser.close()
    alarms = f"{min(steps['alarms']):,} to {max(steps['alarms']):,} alarms"
    return [
        Row("numbers, events and table on the page", median(visible)),
        Row("ready, lines drawn", median(ready), median(ready), "s from its start", Target("<", 3)),
        _step_row(f"a step of the slider, until laid out ({alarms})", steps["work"]),
        _step_row("the same, until its frame is shown", steps["frame"]),
    ]


def _step_row(label: str, milliseconds: list[float]) -> Row:
    """Judge 19 steps of 20; what remains is mostly the machine's."""
    usual = float(np.percentile(milliseconds, 95))
    meaning = f"ms, 19 of 20 steps (the slowest: {max(milliseconds):.0f})"
    return Row(label, median(milliseconds) / 1000, usual, meaning, Target("<", 100))


def main(arguments: list[str]) -> int:
    parser = options("report", __doc__, "open pages only twice, and fewer series")
    quick = parser.parse_args(arguments).quick
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        print("This needs playwright and a Chromium on the path.", file=sys.stderr)
        return 2
    inputs = hard_to_pack()
    # Compiles what is compiled.
    report(inputs["truth"][:1_000] | 1, scores=inputs["values"][:1_000])
    seconds, page = once(lambda: report(**inputs))
    with tempfile.TemporaryDirectory() as folder:
        path = page.save(Path(folder) / "report.html")
        megabytes = path.stat().st_size / 1e6
        rows = [Row("built and packed", seconds, megabytes, "MB, all embedded", Target("<", 12))]
        openings = _QUICK_OPENINGS if quick else _OPENINGS
        with sync_playwright() as playwright:
            rows += in_browser(playwright, program, path, openings)
            many = _QUICK_SERIES if quick else _SERIES
            several = many_series(playwright, program, Path(folder), many, openings)
    title = f"{_SAMPLES:,} samples, {_EVENTS} events, two detectors, and the series"
    all_series = f"{many:,} series of {_LENGTH:,} samples, {_DETECTORS} detectors"
    return print_tables({title: rows, all_series: several})
