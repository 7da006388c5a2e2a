"""The page of many series: its tables and ranks in a real browser, and its folder of series."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import closecall as cc
from closecall.cli.commands import closecall
from closecall.errors import InputError
from closecall.report import explorer, report_batch
from closecall.statistics import compute_ranks
from tests.report.conftest import opened, page_of, resize, until

RANDOM = np.random.default_rng(5)
LENGTH = 60
GAINS = {"blind": 0.0, "fair": 0.5, "good": 2.0}


def one_series(number):
    truth = np.zeros(LENGTH, dtype=np.uint8)
    truth[10 + number : 14 + number] = 1
    truth[40 : 42 + number] = number > 3
    noise = {name: RANDOM.random(LENGTH) for name in GAINS}
    return {"truth": truth, "scores": {name: noise[name] + GAINS[name] * truth for name in GAINS}}


SERIES = {f"series {number}": one_series(number) for number in range(8)}
del SERIES["series 2"]["scores"]["fair"]
SERIES["series 6"]["scores"]["fair"][3] = np.nan
SERIES["quiet"] = {"truth": [0] * 5, "scores": {"good": [1, 2, 3, 4, 5]}}
SERIES["silent"] = {"truth": [0] * 6, "scores": {"good": [1, 2, 3, 4, 5, 6]}}
SERIES["Odd"] = {"truth": [0, 2, 1], "scores": {"good": [1, 2, 3]}}
F1 = {
    name: {
        detector: cc.affiliation_curve(series["truth"], scores).best().fbeta
        for detector, scores in series["scores"].items()
        if not np.isnan(scores).any()
    }
    for name, series in SERIES.items()
    if name.startswith("series")
}
ROWS = ".heat-map tbody tr"


@pytest.fixture(scope="module")
def many():
    return report_batch(SERIES, title="Many")


@pytest.fixture(scope="module")
def page(show, many):
    return show(many)


@pytest.fixture
def table(page):
    """All series, as the page opens."""
    page.bring_to_front()  # the browser lets pages behind another one wait for seconds
    resize(page, 1280)
    page.evaluate("location.hash = ''")
    page.wait_for_selector(".heat-map")
    page.locator("[type=search]").fill("")
    page.locator("[data-status=all]").click()
    return page


def names(page):
    return page.locator(f"{ROWS} th").all_text_contents()


def test_the_table_is_sorted_by_any_column(table):
    assert names(table) == list(F1)
    head = table.locator(".heat-map thead")
    head.get_by_text("good").click()
    by_good = sorted(F1, key=lambda name: -F1[name]["good"])
    assert names(table) == by_good
    assert head.locator("[aria-sort]").get_attribute("aria-sort") == "descending"
    head.get_by_text("good").click()
    values = [F1[name]["good"] for name in names(table)]
    assert values == sorted(values)
    head.get_by_text("fair").click()
    for sign in (-1, 1):  # either way, what has no value is last
        fair = [name for name in F1 if "fair" in F1[name]]
        fair.sort(key=lambda name, sign=sign: sign * F1[name]["fair"])
        assert names(table) == [*fair, "series 2", "series 6"]
        head.get_by_text("fair").click()
    head.get_by_text("best F1").click()
    assert names(table)[0] == max(F1, key=lambda name: max(F1[name].values()))
    head.get_by_text("events").click()
    assert set(names(table)[:4]) == {"series 4", "series 5", "series 6", "series 7"}
    head.get_by_text("series", exact=False).first.click()
    assert names(table) == list(F1)
    board = table.locator(".leaderboard")
    board.locator("thead").get_by_text("detector").click()
    assert board.locator("tbody th").all_text_contents() == list(GAINS)
    board.locator("thead").get_by_text("F1").click()
    assert board.locator("tbody th").first.text_content() == "good"


def test_the_table_is_filtered_by_name_and_status(table):
    search = table.locator("[type=search]")
    search.fill("SERIES 3")
    assert names(table) == ["series 3"]
    assert table.locator(".unscored").is_hidden()
    search.fill("odd")
    assert table.locator(".unscored").is_visible()
    search.fill("nothing like it")
    assert table.get_by_text("No scored series is like that.").is_visible()
    search.fill("")
    caught = {}
    for name, series in SERIES.items():
        if name in F1:
            events = len(cc.Events.from_labels(series["truth"]))
            whole = [
                cc.affiliation_curve(series["truth"], series["scores"][detector]).best().caught
                == events
                for detector in F1[name]
            ]
            kind = (
                "all caught" if all(whole) else "missed by some" if any(whole) else "missed by all"
            )
            caught.setdefault(kind, []).append(name)
    assert len(caught) > 1
    for kind, called in caught.items():
        button = table.locator(f"[data-status='{kind}']")
        assert button.text_content() == f"{kind} {len(called)}"
        button.click()
        assert names(table) == called
        assert table.locator(".unscored").is_hidden()
    table.locator("[data-status='not scored']").click()
    assert table.locator(ROWS).first.is_hidden()
    assert table.locator(".unscored li").first.is_visible()


def test_series_without_a_score_are_folded_with_reasons_in_words(page, table):
    block = table.locator(".unscored")
    summary = "3 series are not scored: 2 without a true event; 1 with labels that are not 0 or 1"
    assert block.locator("summary").text_content() == summary
    page.evaluate("document.querySelector('.unscored').open = false")
    assert block.locator("li").first.is_hidden()
    block.locator("summary").click()
    lines = block.locator("li").all_inner_texts()
    assert lines[0].splitlines()[0] == "quiet, silent"
    assert lines[1].splitlines()[0] == "Odd"
    assert "got 2 at index 1" in lines[1]
    hint = "Write 1 where a value marks an anomaly, and 0 elsewhere."
    assert block.locator("p.hint").all_text_contents()[1] == hint
    assert not re.search(r"\w+_\w+:", "".join(lines))  # a status in words, not its code
    left_out = table.locator(ROWS).nth(6).locator("td.none")
    assert "got nan at index 3" in left_out.get_attribute("title")


def test_ranks_are_those_of_the_statistics(table):
    columns = {
        detector: [scores.get(detector, np.nan) for scores in F1.values()] for detector in GAINS
    }
    ranks = compute_ranks(columns, missing="drop", metric="F1")
    by_detector = dict(zip(ranks.detectors, ranks.average_rank, strict=True))
    for row in table.locator(".leaderboard tbody tr").all():
        assert f"{by_detector[row.locator('th').text_content()]:.2f}" in row.text_content()
    assert ranks.text in table.locator(".ranks").text_content()
    assert table.locator(".ranks polyline.clique").count() == len(ranks.cliques)
    labels = table.locator(".ranks svg text").all_text_contents()
    for detector, rank in by_detector.items():
        assert any(detector in label and f"{rank:.2f}" in label for label in labels)
    # The ticks of the axis are in the order of ranks.
    places = table.locator(".ranks polyline.line").evaluate_all(
        "lines => lines.map((line) => line.points[0].x)"
    )
    assert places == sorted(places)
    assert ranks.cliques == (ranks.detectors,)
    bar = table.locator(".ranks polyline.clique").evaluate(
        "line => [...line.points].map((point) => point.x)"
    )
    assert bar == pytest.approx([places[0] - 4, places[-1] + 4], abs=1e-3)


LONG_NAMES = ("windowedGaussian", "isolation_forest_of_200_trees", "good")


@pytest.fixture(scope="module")
def long_names(show):
    """Series and detectors with names of many parts."""
    named = [
        dict(zip(LONG_NAMES, series["scores"].values(), strict=True))
        for series in map(one_series, range(7))
    ]
    return show(
        report_batch(
            {
                f"realAWSCloudwatch/ec2_cpu_utilization_{number}f5533.csv": {
                    **one_series(number),
                    "scores": scores,
                }
                for number, scores in enumerate(named)
            }
        )
    )


def test_the_diagram_of_ranks_has_whole_names(long_names):
    for width in (1280, 390):
        resize(long_names, width, 844)
        box = long_names.locator(".ranks-stage").bounding_box()
        for name in LONG_NAMES:
            label = long_names.locator(".ranks svg text", has_text=name)
            place = label.evaluate("text => text.getBoundingClientRect().toJSON()")
            assert box["x"] <= place["left"], (width, name)
            assert place["right"] <= box["x"] + box["width"], (width, name)


def test_names_go_on_in_the_next_line_between_their_words(long_names):
    resize(long_names, 390, 844)
    broken = """cells => cells.flatMap((cell) => {
      const texts = [...cell.firstChild.childNodes].filter(({ nodeType }) => nodeType === 3);
      return texts.filter((text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
      }).map(({ data }) => data);
    })"""
    for table in (".heat-map", ".leaderboard"):
        cells = long_names.locator(f"{table} tbody th")
        assert cells.evaluate_all(broken) == []
    assert long_names.locator(".heat-map tbody th a").first.bounding_box()["height"] > 30  # lines


def test_few_series_have_no_ranks_and_the_page_says_why(show):
    few = show(report_batch({name: SERIES[name] for name in ("series 0", "series 1")}))
    assert few.locator(".ranks").count() == 0
    assert "6 or more series" in few.locator(".unranked").text_content()


def test_a_phone_has_a_list(table):
    resize(table, 390, 844)
    assert table.evaluate("document.scrollingElement.scrollWidth") <= 390
    row = table.locator(ROWS).first
    assert row.locator("td.heat").first.is_hidden()
    best = max(F1["series 0"], key=F1["series 0"].get)
    assert row.locator("td.best-of small").inner_text() == best
    assert row.locator("td.strip i").count() == 3
    assert row.locator("td.strip").is_visible()


def test_a_reader_comes_back_to_the_table_as_it_was(table):
    table.locator("[type=search]").fill("series")
    table.locator(".heat-map thead").get_by_text("good").click()
    order = names(table)
    table.locator(f"{ROWS} a").first.click()
    until(table, f"closecall.view?.series.name === '{order[0]}'")
    table.locator("#back").click()
    table.wait_for_selector(".heat-map")
    assert names(table) == order
    assert table.locator("[type=search]").input_value() == "series"
    table.locator(".heat-map thead").get_by_text("series", exact=False).first.click()


def test_long_series_are_files_in_a_folder(browser, many, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "MOST_IN_ONE_FILE", 5_000)
    path = many.save(tmp_path / "many #1.html")
    folder = many.folder(path)
    assert folder == tmp_path / "many #1_series"
    assert {one.name for one in folder.iterdir()} == {f"{number}.js" for number in range(8)}
    assert path.stat().st_size + sum(one.stat().st_size for one in folder.iterdir()) < 1.1 * len(
        many.html
    )
    shown = browser.new_page()
    told = []
    shown.on("console", lambda message: told.append(message.text))
    shown.on("pageerror", lambda error: told.append(str(error)))
    shown.goto(path.as_uri())
    shown.wait_for_selector("html[data-ready]")
    opened(shown, "series 5")
    rows = shown.locator(".card [data-score=F1]").all_text_contents()
    assert rows == [f"{F1['series 5'][detector]:.3f}" for detector in GAINS]
    shown.wait_for_selector(".timeline .plot .main-svg", state="attached")
    assert told == []
    attack = """async () => {
      const script = document.createElement('script');
      script.src = 'data:text/javascript,window.ran = true';
      document.head.append(script);
      await new Promise((done) => { script.onerror = script.onload = done; });
      return window.ran ?? 'refused';
    }"""
    assert shown.evaluate(attack) == "refused"
    (folder / "2.js").unlink()
    shown.evaluate("location.hash = '#series=2'")
    shown.get_by_text("many #1_series/2.js, which is not beside this page").wait_for()
    shown.close()


def test_a_link_in_the_place_of_the_folder_is_refused(many, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "MOST_IN_ONE_FILE", 5_000)
    many.save(tmp_path / "all.html")
    (tmp_path / "link_series").symlink_to("all_series")
    with pytest.raises(InputError, match=r"at .*link_series for the series.*, got a link"):
        many.save(tmp_path / "link.html")
    assert len(list((tmp_path / "all_series").iterdir())) == 8
    names = {one.name for one in tmp_path.iterdir()}
    assert names == {"all.html", "all_series", "link_series"}


def test_a_folder_is_replaced_unless_it_holds_other_files(many, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "MOST_IN_ONE_FILE", 5_000)
    folder = tmp_path / "all_series"
    many.save(tmp_path / "all.html")
    (folder / "99.js").write_text("closecall.receive(99, null)")  # of an earlier, longer page
    many.save(tmp_path / "all.html")
    assert len(list(folder.iterdir())) == 8
    assert {one.name for one in tmp_path.iterdir()} == {"all.html", "all_series"}
    for name in ("mine.txt", "99.js"):
        (folder / name).write_text("precious")
        with pytest.raises(InputError, match=f"nothing but the series of a page.* got {name}"):
            many.save(tmp_path / "all.html")
        assert len(list(folder.iterdir())) == 9
        (folder / name).unlink()


def write_table(path):
    good = {name: series for name, series in SERIES.items() if name in list(F1)[:6]}
    columns = {
        "series": np.repeat(list(good), LENGTH),
        "label": np.concatenate([series["truth"] for series in good.values()]),
        "good": np.concatenate([series["scores"]["good"] for series in good.values()]),
    }
    pq.write_table(pa.table(columns), path)
    return path


def test_the_command_says_what_it_wrote(tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "MOST_IN_ONE_FILE", 5_000)
    data, page = write_table(tmp_path / "data.parquet"), tmp_path / "all.html"
    options = ["--by", "series", "--truth", "label", "--score", "good", "-o", str(page)]
    done = CliRunner().invoke(closecall, ["report", str(data), *options])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert f"Wrote {page} and, beside it, {tmp_path / 'all_series'} with a file for each" in said
    assert "all 6 series scored. Open the page, and keep both together." in said


def test_a_title_is_a_name_and_no_path(tmp_path):
    path = write_table(tmp_path / "data.parquet")
    several = page_of(path, truth="label", scores=["good"], by="series")
    assert several.title == page_of(path, truth="label", scores=["good"]).title == "data.parquet"


def test_very_many_scores_are_not_moved_and_the_page_says_so(show, tmp_path, monkeypatch):
    from closecall.report import batch
    from tests.report.test_explorer import block

    told = "What chance reaches with a tuned threshold is left out, since this page has more than "

    def levels(report):
        return [row["chance_best_f1"] for row in block(report, "series-0")["detectors"]]

    scores = SERIES["series 0"]["scores"]
    expected = [
        cc.affiliation_curve(SERIES["series 0"]["truth"], column).chance.f1
        for column in scores.values()
    ]
    few = {"series 0": SERIES["series 0"]}
    monkeypatch.setattr(batch, "_MOST_MOVED", 3 * LENGTH)
    whole = report_batch(few)
    assert (levels(whole), whole.notes) == (expected, ())
    monkeypatch.setattr(batch, "_MOST_MOVED", 3 * LENGTH - 1)
    short = report_batch(few)
    assert levels(short) == [None] * 3
    assert short.notes[0].startswith(told)
    page = opened(show(short), "series 0")
    assert page.locator("#advice").text_content() == short.notes[0]
    notes = page.locator(".card .note").all_text_contents()
    assert [note.partition("; ")[2] for note in notes] == ["tuned alike, chance is left out."] * 3
    data = write_table(tmp_path / "data.parquet")
    options = ["--by", "series", "--truth", "label", "--score", "good", "-o"]
    done = CliRunner().invoke(closecall, ["report", str(data), *options, str(tmp_path / "a.html")])
    assert " ".join(done.output.split()).count(short.notes[0]) == 1
