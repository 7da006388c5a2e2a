"""What goes into a page, and what `report` refuses."""

import json
import re
import sys

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError, MissingExtraError, UndefinedMetricError
from closecall.report import Report, report
from closecall.report.explorer import plotly_script

TRUTH = [0, 0, 1, 1, 0, 0, 1, 0]
SCORES = [0.1, 0.6, 0.9, 0.4, 0.1, 0.2, 0.5, 0.3]


def block(page, name):
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page.html)
    return json.loads(found[1])


def content(*arguments, **options):
    return block(report(*arguments, script="cdn", **options), "series-0")


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


@pytest.mark.parametrize("name", ["</script><b>", "<!--<script>"])
def test_no_name_ends_the_script_early_or_keeps_it_from_its_end(name):
    page = report(TRUTH, scores={name: SCORES}, script="cdn")
    assert name not in page.html
    assert block(page, "series-0")["detectors"][0]["name"] == name


def test_the_script_is_embedded_or_linked():
    (embedded, _), (linked, url) = plotly_script("embed"), plotly_script("cdn")
    assert len(embedded) > 1_000_000
    assert "https://" not in embedded
    assert re.match(r'<script src="https://cdn\.plot\.ly/plotly-[\d.]+\.min\.js" integ', linked)
    assert f'src="{url}"' in linked
    for script, other in (("embed", r"'sha256-[\w+/]+='"), ("cdn", re.escape(url))):
        (policy,) = re.findall(
            '-Security-Policy" content="(.*?)"', report(TRUTH, scores=SCORES, script=script).html
        )
        assert re.fullmatch(
            rf"default-src 'none'; script-src 'sha256-[\w+/]+=' {other}; style-src "
            "'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'",
            policy,
        )


NAN, OWN = [np.nan] * 8, {"scores": SCORES}
WRONG_TYPES = {
    "`predicted` or `scores`, got neither.": {},
    "`values` to be numbers, got values of type <U1.": {**OWN, "values": ["a"] * 8},
    "`title` to be text, got 3.": {**OWN, "title": 3},
}
WRONG_VALUES = {
    "each detector's name once, got 'a' in both groups.": {
        "predicted": {"a": TRUTH},
        "scores": {"a": SCORES},
    },
    "`thresholds` to name detectors in `scores`, got 'b'.": {
        "scores": {"a": SCORES},
        "thresholds": {"b": 1},
    },
    "`thresholds['detector']` to be a number, or inf, got nan.": {**OWN, "thresholds": np.nan},
    "`values` to have one value per sample (8), got 2.": {**OWN, "values": [1.0, 2.0]},
    f"`scores` to be exact as 64-bit floats, got integers from 0 to {2**60}.": {
        "scores": [0, 1, 2, 3, 4, 5, 6, 2**60]
    },
    "`scores['b']` to be numbers, or inf, got nan at index 0.": {"scores": {"a": SCORES, "b": NAN}},
    "`scores` to be numbers, or inf, got nan at index 0.": {"scores": NAN},
    "`predicted['c']` labels to be 0 or 1, got 2 at index 0.": {"predicted": {"c": [2] * 8}},
    "`scores['b']` to have as many values as `truth` (8), got 7.": {"scores": {"b": SCORES[1:]}},
    "`script` to be 'embed' or 'cdn', got 'none'.": {**OWN, "script": "none"},
}


@pytest.mark.parametrize("message", WRONG_TYPES | WRONG_VALUES)
def test_refused(message):
    kind = InputTypeError if message in WRONG_TYPES else InputError
    with pytest.raises(kind) as caught:
        report(TRUTH, **(WRONG_TYPES | WRONG_VALUES)[message])
    assert str(caught.value).partition("\n")[0] == f"Expected {message}"


def test_no_true_event_is_undefined():
    with pytest.raises(UndefinedMetricError, match="at least one true event"):
        report([0, 0, 0], scores=[1, 2, 3])


def test_a_missing_package_is_named(monkeypatch):
    plotly_script.cache_clear()
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'closecall\[report\]'"):
        report(TRUTH, scores=SCORES)
    plotly_script.cache_clear()
