"""How results look in a notebook: worked out by hand, escaped, and never wider than ten columns."""

from datetime import UTC, datetime, timedelta, timezone
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall import Events
from closecall.notebook import display
from closecall.wording import plain_name, score_or_dash

TAGS = {*("div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "details", "summary")}
HOSTILE = (
    "<script>alert(1)</script>",
    "a&lt;b",
    '" onclick="x',
    "</td></table>",
    "\u202eevil\n\x00",
    "x" * 500,
)


class Page(HTMLParser):
    """The texts and tables of some HTML, which may have no tags but those of a display."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.tables, self.folds = [], [], [], []
        html.encode("utf-8")
        self.feed(html)
        self.close()
        assert not self.tags

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS
        assert not attributes
        self.tags.append(tag)
        if tag == "table":
            (self.folds if "details" in self.tags else self.tables).append([])
            self.rows = (self.folds if "details" in self.tags else self.tables)[-1]
        elif tag == "tr":
            self.rows.append([])
        elif tag in {"th", "td"}:
            self.rows[-1].append("")
        elif tag in {"p", "summary"}:
            self.texts.append("")

    def handle_endtag(self, tag):
        assert self.tags.pop() == tag

    def handle_data(self, data):
        if self.tags[-1] in {"th", "td"}:
            self.rows[-1][-1] += data
        else:
            self.texts[-1] += data


def page(result):
    return Page(result._repr_html_())


MARKUP = st.sampled_from(["<b>", "</td>", "<!--", "<script>", "&lt;", "&#60;", '"', "'"])
NAMES = st.lists(MARKUP | st.characters(exclude_categories=())).map("".join)


@given(st.lists(NAMES, min_size=4, max_size=4))
def test_whatever_a_name_is_it_stays_text(names):
    title, text, heading, cell = names
    found = Page(display(title, text, [(heading, [cell]), ("F1", [0.5])]))
    assert found.texts == [plain_name(title), *([plain_name(text)] if text else [])]
    assert found.tables == [[[plain_name(heading, 60), "F1"], [plain_name(cell, 60), "0.5"]]]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_data_are_escaped_in_every_result(name):
    truth = [0, 1, 1, 0, 0, 0] * 3
    late = np.roll(truth, 1)
    kept = name if name.isprintable() else "series"  # a table's names are text
    compared = cc.compare(truth, {name: truth, "start": late})
    table = pa.table({kept: [kept] * 18, "label": truth, "det": np.asarray(late, dtype=float)})
    zone = timezone(timedelta(hours=2), "<b>")
    day = datetime(2024, 1, 3, tzinfo=zone)
    rows = pa.table({"start": [day], "stop": [day + timedelta(1)], kept: [kept]})
    events = cc.read_events(rows)
    results = (
        compared,
        compared.intervals(),
        cc.audit(truth, {name: late}, metrics=["classical"], budget=5),
        cc.evaluate_frame(table, by=kept, truth="label", score="det"),
        cc.affiliation(events, events, span=(day, day + timedelta(9))),
    )
    for result in results:
        found = page(result)
        assert all(len(row) <= 10 for rows in (*found.tables, *found.folds) for row in rows)
        texts = [*found.texts, *(x for rows in found.tables for row in rows for x in row)]
        own = plain_name(kept if result in results[3:] else name, 60)[:20]
        assert any(own in text for text in texts)


def test_columns_beyond_ten_are_behind_a_fold_with_the_first_again():
    columns = [(f"c{place}", [place]) for place in range(25)]
    found = Page(display("wide", columns))
    assert found.tables == [[[f"c{x}" for x in range(10)], [f"{x}" for x in range(10)]]]
    assert [rows[0] for rows in found.folds] == [
        ["c0", *(f"c{x}" for x in range(10, 19))],
        ["c0", *(f"c{x}" for x in range(19, 25))],
    ]
    assert found.texts == ["wide", "15 more columns"]
    assert not Page(display("narrow", columns[:10])).folds
    assert Page(display("one", columns[:1])).tables == [[["c0"], ["0"]]]


def hours(number):
    return datetime(2024, 1, 3, tzinfo=UTC) + timedelta(hours=number)


def test_affiliation():
    truth = Events([(hours(0), hours(48)), (hours(168), hours(192))])
    predicted = Events([(hours(24), hours(72))])
    r = cc.affiliation(truth, predicted, span=(hours(-48), hours(288)))
    found = page(r)
    scores = [
        ", ".join(f"{name} {score_or_dash(value)}" for name, value in row.items())
        for row in (r.values(), {name: getattr(r.chance, name) for name in r.values()})
    ]
    assert found.texts == [
        "1 of 2 caught (0.4 by chance), median delay never, no false alarms",
        scores[0].replace("f1", "F1"),
        f"by chance: {scores[1].replace('f1', 'F1')}",
        "7 more columns",
    ]
    ((head, first, second),) = found.tables
    assert head == [
        *("start (UTC+00:00)", "stop (UTC+00:00)", "outcome", "precision", "recall", "F1"),
        *("precision distance", "recall distance", "predicted count", "predicted duration"),
    ]
    assert first[:3] == ["2024-01-03 00:00", "2024-01-05 00:00", "1 d late"]
    assert first[6:] == ["6 h", "6 h", "1", "2 d"]
    assert second[2:] == ["missed, nearest 4 d before", "-", "0.00", "-", "-", "-", "0", "0 s"]
    ((head, first, _),) = found.folds
    assert head[1:3] == ["early", "late"]
    assert first[:4] == ["2024-01-03 00:00", "0 s", "6 h", "2024-01-01 00:00"]


def test_affiliation_on_other_axes():
    start = 1_700_000_000.5
    truth = Events([(start, start + 60), (start + 900, start + 960)])
    ((_, first, _),) = page(cc.affiliation(truth, truth, span=(start, start + 1000))).tables
    assert first[:3] == ["1700000000.5", "1700000060.5", "on time"]
    named = cc.read_events(pa.table({"start": [1], "stop": [2], "severity": ["high"], "size": [3]}))
    ((head, first),) = page(cc.affiliation(named, Events([(4, 5)]), span=(0, 9))).tables
    assert head[6:8] == ["severity", "size"]
    assert first[2] == "missed, nearest 2 after"
    assert first[6:8] == ["high", "3"]


def test_affiliation_where_nothing_can_be_moved():
    found = page(cc.affiliation([0, 1, 0], [0, 0, 0]))
    assert found.texts[:3] == [
        "0 of 1 caught, no alarms",
        "precision -, recall 0.00, F1 -",
        "by chance: precision -, recall 0.00, F1 -",
    ]


def test_only_the_first_twenty_events_are_shown():
    many = page(cc.affiliation([0, 1] * 25, [0, 1] * 25))
    assert [len(rows) for rows in (*many.tables, *many.folds)] == [21, 21]
    assert many.texts[-1] == "and 5 more events"
    exactly = page(cc.affiliation([0, 1] * 20, [0, 1] * 20))
    assert len(exactly.tables[0]) == 21
    assert exactly.texts[-1] == "7 more columns"


def test_curve():
    curve = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    found = page(curve)
    f1, average = map(score_or_dash, (curve.f1[0], curve.average_precision))
    title, line, caution = found.texts
    told = "1 of 1 caught (0.4 by chance), median delay 0, no false alarms"
    assert title == f"best F1 {f1} at 0.9: {told}"
    moved = "`chance` tells what the same scores reach when they are moved"
    assert line == f"average precision {average} over 5 thresholds; {moved}"
    assert caution.startswith("the best was chosen on the labels that judge it")
    ((head, *rows),) = found.tables
    assert head == [
        *("threshold", "precision", "recall", "F1"),
        *("caught", "alarms", "false alarms", "alarmed"),
    ]
    assert rows[0][0] == "0.9 (best)"
    assert rows[0][1] == "1.00"
    assert [row[0] for row in rows[1:]] == ["0.6", "0.4", "0.2", "0.1"]
    assert [row[4:] for row in rows] == [
        ["1", "1", "0", "16.67%"],
        ["1", "1", "0", "33.33%"],
        ["1", "1", "0", "50.00%"],
        ["1", "2", "1", "66.67%"],
        ["1", "1", "0", "100.00%"],
    ]
    level = curve.chance
    assert (
        page(curve)
        .texts[1]
        .endswith(
            "the same scores, moved: average precision "
            f"{score_or_dash(level.average_precision)}, best F1 {score_or_dash(level.f1)}"
        )
    )


def test_comparison():
    truth = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
    late, noisy = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 1, 0, 0, 1, 0]
    compared = cc.compare(truth, {"late": late, "noisy": noisy})
    found = page(compared)
    assert found.texts == [compared.headline, "7 more columns"]
    detectors, events = found.tables
    assert detectors[0] == [
        *("detector", "precision", "recall", "F1", "F1 by chance"),
        *("caught", "close calls", "missed", "alarms", "false alarms"),
    ]
    assert [row[5:] for row in detectors[1:]] == [
        ["1", "0", "1", "1", "0"],
        ["2", "0", "0", "3", "1"],
    ]
    assert detectors[1][4] == score_or_dash(compared.results["late"].chance.f1)
    assert events == [
        ["start", "stop", "best F1", "late", "noisy"],
        ["2", "4", "late", "1 late", "1 early"],
        ["8", "9", "noisy", "missed, nearest 3 before", "on time"],
    ]
    ((head, *folded),) = found.folds
    assert head == [
        *(
            "detector",
            "alarmed",
            "caught alone",
            "best",
            "tied",
            "found",
            "found alone",
            "threshold",
        )
    ]
    assert folded == [
        ["late", "0.2", "0", "1", "0", "1", "0", "-"],
        ["noisy", "0.5", "1", "1", "0", "2", "1", "-"],
    ]


def test_intervals():
    truth = np.tile([0, 1, 1, 0, 0], 3)
    compared = cc.compare(truth, {"a": truth, "late": np.roll(truth, 1)})
    found = page(compared.intervals())
    assert found.texts[0] == "0.95 intervals over 3 true events"
    assert found.texts[1].startswith("Caution. There are only three events.")
    ((head, own, _, lead),) = found.tables
    assert head == ["detector", "precision", "recall", "F1", "p-value of F1"]
    assert own[0] == "a"
    assert own[1].startswith("1.000 [")
    assert own[-1] == ""
    assert lead[0] == "a - late"
    assert lead[1].endswith(" -")
    assert lead[-1] == "-"
    alone = page(compared.results["a"].interval())
    assert [row[0] for row in alone.tables[0]] == ["score", "precision", "recall", "F1"]
    assert alone.tables[0][2][1].startswith("1.000 [")
    assert alone.texts[1].startswith("Caution. ")
    truth = np.tile(truth, 4)
    many = cc.compare(truth, {"a": truth, "late": np.roll(truth, 1)}).intervals()
    assert page(many).texts == ["0.95 intervals over 12 true events"]


def test_significance():
    truth = [0] * 60 + [1] * 5 + [0] * 35
    test = cc.significance(truth, [0] * 61 + [1] * 5 + [0] * 34)
    found = page(test)
    assert found.texts == [
        test.sentence,
        "Over all 100 shifts; the p-value to name is that of F1.",
        "Each event, with p-values adjusted by holm:",
        "4 more columns",
    ]
    overall, events = found.tables
    assert overall[0] == ["score", "observed", "by chance", "above chance", "p-value"]
    assert [row[0] for row in overall[1:]] == ["F1", "precision", "recall"]
    assert overall[1][1:3] == ["0.99", "0.62"]
    assert overall[1][4] == "0.031"
    assert events[0][:6] == [
        *("start", "stop", "F1", "F1 by chance", "p-value of F1", "adjusted, of F1")
    ]
    assert events[1][:6] == ["60", "65", "0.99", "0.62", "0.031", "0.031"]
    scores = cc.significance(truth, scores=[-abs(sample - 61) for sample in range(100)])
    found = page(scores)
    assert found.texts == [
        scores.sentence,
        "Over all 100 shifts; the p-value to name is that of F1.",
    ]
    assert [(row[0], row[-1]) for row in found.tables[0][1:]] == [
        ("best F1", "0.03"),
        ("average precision", "0.03"),
    ]


def test_audit():
    truth = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0]
    times = [hours(number) for number in range(12)]
    found = cc.audit(truth, {"late": [0, *truth[:-1]]}, metrics=["hausdorff"], times=times)
    ((head, raw, joined),) = page(found).tables
    assert head == [
        *("metric", "comparison", "best detector", "its score", "rival", "its score", "verdict")
    ]
    assert raw[:4] == ["hausdorff", "raw", "late", "1 h"]
    assert joined[:2] == ["hausdorff", "joined"]
    words = {None: "undefined", True: "beaten", False: "holds"}
    assert [raw[-1], joined[-1]] == [words[own.beaten] for own in found.verdicts["hausdorff"]]
    assert page(found).texts[0] == found.headline
    assert found.headline.startswith(f"{len(found.beaten)} of 1 metrics are beaten by a prediction")
    number = cc.audit(truth, {"late": [0, *truth[:-1]]}, metrics=["hausdorff", "classical"])
    assert [row[3] for row in page(number).tables[0][1:]] == ["1", "1", "0.5", "0.5"]


def test_batch():
    """Two days by hours, an event of twelve hours, and an alarm six hours after its start."""
    truth, late = np.zeros(48), np.zeros(48)
    truth[12:24], late[18:24] = 1, 1
    times = np.datetime64("2024-01-01") + np.arange(48) * np.timedelta64(1, "h")
    table = pa.table(
        {
            "series": ["a"] * 48,
            "t": times.astype("datetime64[s]"),
            "label": truth.astype(int),
            "late": late,
            "none": 0 * late,
        }
    )
    result = cc.evaluate_frame(
        table, by="series", truth="label", score=["late", "none"], time="t", threshold=0.5
    )
    found = page(result)
    assert found.texts[0] == repr(result).removeprefix("BatchResult(").removesuffix(")")
    detectors, rows = found.tables
    assert detectors[0] == [
        *("detector", "rank", "mean affiliation F1", "mean rank", "best on", "series"),
        *("undefined", "caught", "pooled events", "false alarms"),
    ]
    assert [row[:2] + row[4:] for row in detectors[1:]] == [
        ["late", "1", "1", "1", "0", "1", "1", "0"],
        ["none", "2", "0", "1", "0", "0", "1", "0"],
    ]
    assert rows[0][:6] == [
        *("series, detector", "status", "true events", "caught", "false alarms", "median delay")
    ]
    assert [row[:1] + row[2:6] for row in rows[1:]] == [
        ["a, late", "1", "1", "0", "6 h"],
        ["a, none", "1", "0", "0", "never"],
    ]
