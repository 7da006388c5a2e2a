"""What goes into a page, and what `report` refuses."""

import base64
import json
import re
import sys
import zlib
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError, MissingExtraError, UndefinedMetricError
from closecall.report import Report, report, report_batch
from closecall.report.assets import MODULES, asset, bundle
from closecall.report.explorer import plotly_script
from closecall.report.packing import packed, packed_for_drawing, packed_times

TRUTH = [0, 0, 1, 1, 0, 0, 1, 0]
SCORES = [0.1, 0.6, 0.9, 0.4, 0.1, 0.2, 0.5, 0.3]


def unpacked(column):
    kind = np.dtype(f"<{column['type']}")
    planes = np.frombuffer(zlib.decompress(base64.b64decode(column["data"])), dtype=np.uint8)
    return planes.reshape(kind.itemsize, -1).T.copy().view(kind).ravel()


def block(page, name):
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page.html)
    return json.loads(found[1])


def content(*arguments, **options):
    return block(report(*arguments, script="cdn", **options), "series-0")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 1], "i1"),
        ([0, 200], "u1"),
        ([-1, 200], "i2"),
        ([0, 70_000], "i4"),
        ([0, 2**32 - 1], "u4"),
        ([0, 2**40], "f8"),
        ([0.1, np.inf, -np.inf], "f8"),
    ],
)
def test_columns_come_back_exactly(values, kind):
    column = packed(np.array(values))
    assert column["type"] == kind
    assert unpacked(column).tolist() == values


def test_drawn_columns_are_short_where_nobody_sees_it():
    smooth = np.linspace(0.0, 1.0, 50)
    assert packed_for_drawing(smooth)["type"] == "f4"
    assert packed_for_drawing(1e9 + smooth)["type"] == "f8"
    gaps = packed_for_drawing(np.array([np.nan, 1.0, 2.0]))
    assert unpacked(gaps).tolist()[1:] == [1.0, 2.0]
    assert packed_for_drawing(np.full(3, np.nan))["type"] == "f4"


def test_times_are_a_step_or_steps_or_themselves():
    assert packed_times(np.array([5])) == {"count": 1, "first": 5, "step": 0}
    uneven = packed_times(np.array([3, 4, 9]))
    assert (uneven["first"], unpacked(uneven["steps"]).tolist()) == (3, [1, 5])
    assert unpacked(packed_times(np.array([0.5, 0.7]))["values"]).tolist() == [0.5, 0.7]


def test_nanoseconds_are_counted_in_their_longest_step():
    times = np.datetime64("2024-01-01", "ns") + np.timedelta64(300, "s") * np.arange(8)
    page = content(TRUTH, scores=SCORES, times=times)
    assert page["span"] == [0, 8]
    assert page["clock"] == {
        "kind": "datetime",
        "origin": "1704067200000",
        "rest": 0.0,
        "unit": 300_000.0,
        "zone": "",
        "shifts": [],
    }


def milliseconds(moment):
    return int(moment.timestamp()) * 1000


class Unnamed(tzinfo):
    """A zone without a name, ahead of UTC by an hour, and by two from 2024-03-31 on."""

    def utcoffset(self, moment):
        return timedelta(hours=1 if moment < datetime(2024, 3, 31, tzinfo=self) else 2)

    def dst(self, moment):
        return self.utcoffset(moment) - timedelta(hours=1)


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (ZoneInfo("Europe/Paris"), "Europe/Paris"),
        (ZoneInfo("UTC"), "UTC"),
        (timezone(timedelta(hours=-5, minutes=-30)), "UTC-05:30"),
        (UTC, "UTC"),
        (Unnamed(), "local time"),
    ],
)
def test_the_zone_and_every_change_of_it_are_told(zone, name):
    first = datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC"))
    moments = [(first + timedelta(days=60 * step)).astimezone(zone) for step in range(8)]
    clock = content(TRUTH, scores=SCORES, times=moments)["clock"]
    assert clock["zone"] == name
    assert clock["origin"] == str(milliseconds(first))
    shifts = clock["shifts"]
    assert shifts[0] == [milliseconds(first), moments[0].utcoffset() / timedelta(milliseconds=1)]
    # An hour before and after each change, and where there is none.
    for hours in range(0, 24 * 480, 5):
        moment = first + timedelta(hours=hours)
        known = [shift for since, shift in shifts if since <= milliseconds(moment)][-1]
        assert timedelta(milliseconds=known) == moment.astimezone(zone).utcoffset()
    if name == "Europe/Paris":
        assert [since for since, _ in shifts[1:]] == [
            milliseconds(datetime(2024, 3, 31, 1, tzinfo=ZoneInfo("UTC"))),
            milliseconds(datetime(2024, 10, 27, 1, tzinfo=ZoneInfo("UTC"))),
            milliseconds(datetime(2025, 3, 30, 1, tzinfo=ZoneInfo("UTC"))),
        ]


def test_what_an_origin_has_below_a_millisecond_is_kept():
    times = (1_700_000_000_123_456_789 + np.arange(8)).view("datetime64[ns]")
    clock = content(TRUTH, scores=SCORES, times=times)["clock"]
    assert (clock["origin"], clock["rest"], clock["unit"]) == ("1700000000123", 0.456789, 1e-6)


def test_detectors_by_name_and_alone():
    page = report(TRUTH, {"alarms": TRUTH}, scores={"scores": SCORES, 7: SCORES}, script="cdn")
    assert page.detectors == ("scores", "7", "alarms")
    assert report(TRUTH, TRUTH, scores=SCORES, script="cdn").detectors == ("detector", "predicted")
    rows = block(page, "series-0")["detectors"]
    assert [row["f1"] for row in rows] == [
        *[cc.affiliation_curve(TRUTH, SCORES).best().fbeta] * 2,
        1.0,
    ]
    assert rows[2]["threshold"] is None


def test_the_page_opens_at_given_thresholds():
    both = {"a": SCORES, "b": SCORES}
    rows = content(TRUTH, scores=both, thresholds={"b": 0.45})["detectors"]
    best = cc.affiliation_curve(TRUTH, SCORES).best().threshold
    assert [row["threshold"] for row in rows] == [best, 0.45]
    assert rows[1]["recall"] == cc.affiliation(TRUTH, np.array(SCORES) >= 0.45).recall
    rows = content(TRUTH, scores=both, thresholds=np.inf)["detectors"]
    assert [(row["threshold"], row["precision"]) for row in rows] == [("Infinity", None)] * 2


def test_save_and_repr(tmp_path):
    page = report(TRUTH, scores=SCORES, title="<A & B>", script="cdn")
    assert isinstance(page, Report)
    path = page.save(tmp_path / "page.html")
    assert path.read_text("utf-8") == page.html
    assert "<title>&lt;A &amp; B&gt;</title>" in page.html
    assert re.fullmatch(r"Report\('<A & B>', detectors: detector; 0\.\d MB\)", repr(page))
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')


def test_no_name_ends_the_script_early():
    page = report(TRUTH, scores={"</script><b>": SCORES}, script="cdn")
    assert "</script><b>" not in page.html
    assert block(page, "series-0")["detectors"][0]["name"] == "</script><b>"


def test_the_script_is_embedded_or_linked():
    embedded, linked = plotly_script("embed"), plotly_script("cdn")
    assert len(embedded) > 1_000_000
    assert "https://" not in embedded
    assert re.match(r'<script src="https://cdn\.plot\.ly/plotly-[\d.]+\.min\.js" integ', linked)


def test_every_module_is_in_the_bundle_after_what_it_imports():
    for place, name in enumerate(MODULES):
        imported = re.findall(r'from "\./(\w+)\.js"', asset(f"{name}.js"))
        assert set(imported) <= set(MODULES[:place]), name
    assert not re.search(r"^(import|export) ", bundle(), flags=re.MULTILINE)
    assert "</script" not in bundle()
    assert "https://" not in bundle()


REFUSED = {
    "nothing to show": (
        {},
        InputTypeError,
        "Expected `predicted` or `scores`, got neither.",
    ),
    "a name twice": (
        {"predicted": {"a": TRUTH}, "scores": {"a": SCORES}},
        InputError,
        "Expected each detector's name once, got 'a' in both groups.",
    ),
    "a threshold for nobody": (
        {"scores": {"a": SCORES}, "thresholds": {"b": 1}},
        InputError,
        "Expected `thresholds` to be for detectors in `scores`, got one for 'b'.",
    ),
    "no threshold": (
        {"scores": SCORES, "thresholds": np.nan},
        InputError,
        "Expected the threshold of 'detector' to be a number, or inf, got nan.",
    ),
    "short values": (
        {"scores": SCORES, "values": [1.0, 2.0]},
        InputError,
        "Expected `values` to have one value per sample (8), got 2.",
    ),
    "values that are no numbers": (
        {"scores": SCORES, "values": ["a"] * 8},
        InputTypeError,
        "Expected `values` to be numbers, got values of type <U1.",
    ),
    "scores that no float holds": (
        {"scores": [0, 1, 2, 3, 4, 5, 6, 2**60]},
        InputError,
        f"Expected `scores` to be exact as 64-bit floats, got integers from 0 to {2**60}.",
    ),
    "another script": (
        {"scores": SCORES, "script": "none"},
        InputError,
        "Expected `script` to be 'embed' or 'cdn', got 'none'.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    options, kind, message = REFUSED[case]
    with pytest.raises(kind) as caught:
        report(TRUTH, **options)
    assert str(caught.value).partition("\n")[0] == message


def test_no_true_event_is_undefined():
    with pytest.raises(UndefinedMetricError, match="at least one true event"):
        report([0, 0, 0], scores=[1, 2, 3])


def test_a_missing_package_is_named(monkeypatch):
    plotly_script.cache_clear()
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'closecall\[report\]'"):
        report(TRUTH, scores=SCORES)
    plotly_script.cache_clear()


def test_a_batch_lists_what_cannot_be_scored():
    series = {
        "good": {"truth": TRUTH, "scores": SCORES},
        "quiet": {"truth": [0, 0], "scores": [1, 2]},
        "odd": {"truth": TRUTH, "scores": SCORES, "value": SCORES},
        "bare": {"scores": SCORES},
    }
    page = report_batch(series, script="cdn")
    assert page.series == tuple(series)
    about = block(page, "report")
    assert [one.get("status", "scored").partition(",")[0] for one in about["series"]] == [
        "scored",
        (
            "no_event: Expected at least one true event "
            "(affiliation is undefined for a series without any)"
        ),
        "failed: Expected the arguments of 'odd' to be those of `report`",
        "failed: Expected the arguments of 'bare' to be those of `report`",
    ]
    assert (
        about["series"][0]["detectors"][0]["recall"]
        == cc.affiliation_curve(TRUTH, SCORES).best().recall
    )
    assert repr(page).startswith("Report('closecall report', 4 series, detectors: detector;")


def test_a_batch_of_nothing_is_refused():
    with pytest.raises(InputTypeError, match="`series` to map at least one name"):
        report_batch({})
    with pytest.raises(UndefinedMetricError, match="at least one true event"):
        report_batch({"quiet": {"truth": [0, 0], "scores": [1, 2]}})
