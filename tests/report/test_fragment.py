"""What is chosen is in the address, and as a line that computes it again."""

import json
import shlex

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import demo
from closecall.report import report
from tests.cli.conftest import run  # noqa: F401 - a fixture
from tests.report.conftest import page_of, until

DATA = demo()
SCORES = {"a & b": DATA.scores["threshold"], "forecast=1": DATA.scores["forecast"]}
MAINTENANCE = [(DATA.times[3_000], DATA.times[3_050])]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table whose names need quotes, and time to ignore."""
    folder = tmp_path_factory.mktemp("copied files")
    table, ignored = folder / "it's data.csv", folder / "ignored.csv"
    columns = {"truth label": DATA.truth, "on": DATA.predicted["forecast"], **SCORES}
    rows = zip(
        DATA.times.astype(str), *(column.tolist() for column in columns.values()), strict=True
    )
    lines = [",".join(map(str, row)) for row in rows]
    table.write_text("\n".join([",".join(["t", *columns]), *lines]) + "\n")
    starts, stops = (str(time) for time in MAINTENANCE[0])
    ignored.write_text(f"start,stop\n{starts},{stops}\n")
    return table, ignored


@pytest.fixture(scope="module")
def made(show, files):
    """The page as the command line makes it."""
    table, ignored = files
    options = {"truth": "truth label", "time": "t", "ignore": ignored, "max_step": 900 * SECOND}
    return show(page_of(table, scores=list(SCORES), predicted=["on"], **options))


SECOND = np.timedelta64(1, "s").astype(object)


def go(page, fragment):
    """Follow a link to another fragment, as far as the page follows it."""
    page.bring_to_front()
    page.evaluate(
        "async (to) => { location.hash = to; await new Promise((done) => setTimeout(done, 30)); }",
        fragment,
    )


def shown(page):
    return page.evaluate(
        "(() => { const { view } = closecall; return [view.series.detectors[view.active].name, "
        "view.thresholds[view.active], view.selected]; })()"
    )


def test_a_link_opens_at_a_detector_a_threshold_and_an_event(made):
    made.evaluate("closecall.reopen()")
    opening = shown(made)
    go(made, "#detector=forecast%3D1&threshold=30.5&threshold=a%20%26%20b=150&event=3")
    assert shown(made) == ["forecast=1", 30.5, 2]
    assert made.evaluate("closecall.view.thresholds[0]") == 150
    assert made.locator("tbody tr[aria-current] td").first.text_content() == "3"
    result = cc.affiliation(
        DATA.truth, SCORES["forecast=1"] >= 30.5, times=DATA.times, ignore=MAINTENANCE
    )
    assert made.locator(".card.active [data-score=F1]").text_content() == f"{result.f1:.3f}"
    go(made, "#event=2")  # what is not named is as it opened
    assert shown(made) == [*opening[:2], 1]


@pytest.mark.parametrize(
    "fragment",
    ["#%E0%A4%A", "#detector", "#threshold=", "#other=1&event=2", "#<b>", "#event=2&", "#=1"],
)
def test_a_malformed_fragment_is_ignored(made, fragment):
    go(made, "#detector=forecast%3D1&threshold=31&event=1")
    go(made, fragment)
    assert shown(made) == ["forecast=1", 31, 0]


def test_what_the_page_does_not_have_is_left_out(made):
    made.evaluate("closecall.reopen()")
    opening = shown(made)
    for fragment in ("#detector=none", "#event=0", "#event=99", "#event=1.5", "#threshold=x"):
        go(made, f"{fragment}&series=5")
        assert shown(made) == opening, fragment
    go(made, "#detector=on&threshold=3")  # labels have no threshold
    assert shown(made)[0] == "on"


def test_the_address_follows_what_is_chosen(made):
    made.evaluate("closecall.reopen()")
    assert made.evaluate("location.hash") == ""
    made.locator(".card .name", has_text="forecast").click()
    made.evaluate("closecall.view.setThreshold(1, 28.5)")
    made.evaluate("closecall.view.setThreshold(0, 170)")
    made.evaluate("closecall.view.select(4)")
    chosen = shown(made)
    until(made, "location.hash.endsWith('event=5')")
    link = made.evaluate("location.hash")
    assert link == "#detector=forecast%3D1&threshold=28.5&threshold=a%20%26%20b=170&event=5"
    made.evaluate("closecall.reopen()")
    assert shown(made) != chosen
    go(made, link)
    assert shown(made) == chosen


def limits(page):
    return page.evaluate(
        "(({ limits, timeline }) => [limits, timeline.window.map(Math.round)])(closecall.view)"
    )


def test_a_link_opens_with_limits_and_at_a_window(made):
    made.evaluate("closecall.reopen()")
    none, everything = limits(made)
    assert none is None
    go(made, "#maxFalseAlarms=2&per=12%20h&cooldown=1%20h&minRecall=0.25&window=100,700")
    asked, window = limits(made)
    per, cooldown = asked["maxFalseAlarms"][1], asked["cooldown"]
    assert (asked["maxFalseAlarms"][0], per / cooldown, asked["minRecall"]) == (2, 12, 0.25)
    assert (asked.get("minPrecision"), window) == (None, [100, 700])
    until(made, "closecall.view.bestOf(0)")
    assert "within the limits" in made.locator(".slider .best").text_content()
    made.get_by_label("precision at least").fill("0.5")
    made.get_by_label("precision at least").blur()
    made.evaluate("closecall.view.timeline.zoom(0.5)")
    until(made, "location.hash.endsWith('window=250,550')")
    link = made.evaluate("location.hash")
    assert link.endswith(
        "&maxFalseAlarms=2&per=12%20h&cooldown=1%20h&minPrecision=0.5&minRecall=0.25&window=250,550"
    )
    chosen = limits(made)
    made.evaluate("closecall.reopen()")
    assert limits(made) == [None, everything]
    go(made, link)
    assert limits(made) == chosen
    go(made, "#event=2")  # what is not named is as it opened
    assert limits(made)[0] is None


@pytest.mark.parametrize(
    "fragment",
    [
        "#minRecall=2&window=9,3", "#maxAlarms=-1&window=1,2,3", "#cooldown=%3Cb%3E&window=inf,5",
        "#per=0%20d&window=0,1e999", f"#minPrecision=0.{'0' * 99}1&window=a,b",
    ],
)  # fmt: skip
def test_limits_and_windows_that_are_none_are_ignored(made, fragment):
    made.evaluate("closecall.reopen()")
    before = limits(made)
    go(made, fragment)
    assert limits(made) == before
    assert made.locator(".limits input:invalid").count() == 0
    values = made.locator(".limits input").evaluate_all("all => all.map(({ value }) => value)")
    assert [value for value in values if value] == ["day"]


@pytest.mark.parametrize(
    ("fragment", "name"),
    [("#detector=forecast%3D1&threshold=29.75", "forecast=1"), ("#detector=on", "on")],
)
def test_the_command_reproduces_what_is_shown(made, run, fragment, name):  # noqa: F811
    go(made, fragment)
    command, *arguments = shlex.split(made.evaluate("closecall.command"))
    assert (command, made.locator(".copy").text_content()) == ("closecall", "Copy as command")
    told = run(*arguments, "--format", "json")
    assert told.exit_code == 0, told.stderr
    story = json.loads(told.stdout)
    card = made.locator(".card.active")
    for score in ("f1", "precision", "recall"):
        label = {"f1": "F1"}.get(score, score)
        assert card.locator(f"[data-score={label}]").text_content() == f"{story[score]:.3f}", name
    until(made, "closecall.view.levels[closecall.view.active] !== null")
    assert card.locator(".headline").text_content() == story["headline"]
    levels = [story["chance"][score] for score in ("f1", "precision", "recall")]
    assert card.locator(".chance").all_text_contents()[:3] == [f"{one:.2f}" for one in levels]


def test_copying_gives_the_command_and_the_signature(made):
    made.context.grant_permissions(["clipboard-read", "clipboard-write"])
    go(made, "#detector=forecast%3D1&threshold=29.75")
    made.locator(".copy").click()
    until(made, "!document.querySelector('.command').hidden")
    line = made.evaluate("closecall.command")
    assert made.locator(".command").text_content() == f"Copied: {line}"
    signature = made.locator("#signature").text_content()
    copied = made.evaluate("navigator.clipboard.readText()")
    assert copied == f"{line}\n# the page's signature: {signature}\n"
    made.evaluate("closecall.view.setThreshold(1, 31)")
    assert not made.locator(".command").is_visible()


def test_python_is_told_a_call_of_python(show):
    times, truth, ignore = DATA.times, DATA.truth, MAINTENANCE
    scores, predicted = SCORES, {"logged": DATA.predicted["forecast"]}
    page = show(report(truth, predicted, scores=scores, times=times, ignore=ignore))
    go(page, "#detector=forecast%3D1&threshold=29.75")
    assert page.locator(".copy").text_content() == "Copy as Python"
    call = page.evaluate("closecall.command")
    assert call == (
        "cc.affiliation_curve(truth, scores['forecast=1'], times=times, ignore=ignore).at(29.75)"
    )
    names = {"cc": cc, "truth": truth, "scores": scores, "times": times, "ignore": ignore}
    result = eval(call, names)  # noqa: S307 - what the page told
    assert page.locator(".card.active [data-score=F1]").text_content() == f"{result.f1:.3f}"
    go(page, "#detector=forecast%3D1&threshold=inf")
    assert page.evaluate("closecall.command").endswith('.at(float("inf"))')
    go(page, "#detector=logged")
    result = eval(page.evaluate("closecall.command"), names | {"predicted": predicted})  # noqa: S307
    assert page.locator(".card.active [data-score=F1]").text_content() == f"{result.f1:.3f}"


def test_a_call_says_what_is_left_out(show):
    """Scores that are missing leave out time for all detectors, which no call for one says."""
    truth, scores = [0, 1, 0, 0, 1, 0, 0], [0.1, 0.9, np.nan, 0.2, 0.8, 0.4, 0.3]
    page = show(report(truth, scores=scores, nan="ignore"))
    call = page.evaluate("closecall.command")
    assert call == "cc.affiliation_curve(truth, scores, nan='ignore').at(0.8)"
    result = eval(call, {"cc": cc, "truth": truth, "scores": scores})  # noqa: S307
    assert page.locator("[data-score=F1]").text_content() == f"{result.f1:.3f}"
    both = report(truth, {"b": truth}, scores={"a": scores}, nan="ignore", script="cdn")
    assert both.html.count('"call":null') == 2
