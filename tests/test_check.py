"""The gate: limits, the baseline, what moved, and what is written of it."""

import gzip
import json
from datetime import datetime, timedelta
from math import inf, nan
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
import scipy  # which loads its parts when they are used

import closecall as cc
from closecall.check import runs
from closecall.check.gate import decide
from closecall.statistics.intervals import Interval, count_limits
from tests.messages import message

LENGTH, STEP = 10, 100
FIRST = datetime.fromisoformat("2024-01-01")


def detector(count, missed=(), late=0, dated=False):
    """So many events, one every hundred; the detector is late for all, and misses some."""

    def times(values):
        if not dated:
            return values
        return [FIRST + timedelta(minutes=value) for value in values]

    starts = [STEP * place + 45 for place in range(count)]
    pairs = zip(times(starts), times([start + LENGTH for start in starts]), strict=True)
    found = [start + late for place, start in enumerate(starts) if place not in missed]
    alarms = zip(times(found), times([start + LENGTH - late for start in found]), strict=True)
    span = tuple(times([0, STEP * count]))
    return cc.affiliation(cc.Events(pairs), cc.Events(alarms), span=span)


def statuses(found):
    return {limit.number: limit.status for limit in found.limits}


@pytest.mark.parametrize(
    ("value", "limit", "ends", "at_least", "status"),
    [
        (0.9, 0.8, (0.85, 0.95), True, "pass"),
        (0.9, 0.8, (0.80, 0.95), True, "pass"),  # an interval that begins at the limit keeps it
        (0.9, 0.8, (0.79, 0.95), True, "investigate"),
        (0.7, 0.8, (0.60, 0.80), True, "investigate"),
        (0.7, 0.8, (0.60, 0.79), True, "fail"),
        (1.0, 1.0, (0.60, 1.00), True, "investigate"),
        (0.8, 0.8, (nan, nan), True, "pass"),
        (0.1 + 0.2, 0.3, (nan, nan), False, "pass"),  # it is 0.3 but for rounding
        (3, 2, (nan, nan), False, "fail"),
        (1, 2, (0.5, 2.0), False, "pass"),
        (1, 2, (0.5, 2.1), False, "investigate"),
        (3, 2, (2.0, 4.0), False, "investigate"),
        (3, 2, (2.1, 4.0), False, "fail"),
        (inf, 2, (nan, nan), False, "fail"),
        (nan, 0.1, (nan, nan), True, "fail"),
        (nan, 0.1, (nan, nan), False, "fail"),
    ],
)
def test_a_number_passes_fails_or_is_in_doubt(value, limit, ends, at_least, status):
    assert decide(value, limit, Interval(value, *ends), at_least=at_least) == status


def test_scores_have_the_intervals_of_the_result():
    result = detector(30, missed={3, 4})
    interval = result.interval().recall
    assert 0.5 < interval.low < result.recall < interval.high
    for limit, status in ((interval.low, "pass"), (result.recall - 1e-6, "investigate")):
        found = cc.check(result, min={"recall": limit})
        assert statuses(found) == {"affiliation_recall": status}
        assert (found.limits[0].low, found.limits[0].high) == (interval.low, interval.high)
    assert cc.check(result, min={"affiliation_recall": interval.high + 1e-6}).status == "fail"


def test_numbers_without_an_interval_decide_alone():
    result = detector(7, missed={0, 1}, late=3)
    exact = {"caught": 5, "missed": 2, "alarms": 5, "false_alarms": 0, "median_delay": 3}
    for side in ("min", "max"):
        found = cc.check(result, **{side: exact})
        assert (found.status, {limit.value for limit in found.limits}) == ("pass", {0, 2, 3, 5})
        assert all(np.isnan(limit.low) for limit in found.limits)
    assert cc.check(result, max={"median_delay": 2.9}).status == "fail"
    assert cc.check(detector(7, missed={0, 1, 2, 3}), max={"median_delay": 1e9}).status == "fail"


def test_one_event_and_undefined_precision_have_no_interval():
    assert cc.check(detector(1), min={"f1": 0.99}).status == "pass"
    nothing = detector(8, missed=range(8))
    assert statuses(cc.check(nothing, min={"f1": 0.1})) == {"affiliation_f1": "fail"}
    assert "affiliation_f1 is undefined" in str(cc.check(nothing, min={"f1": 0.1}))
    counted_as_0 = cc.affiliation(
        [0, 1, 0, 0, 1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], zero_division=0
    )
    (limit,) = cc.check(counted_as_0, min={"precision": 0.1}).limits
    assert (limit.value, limit.status) == (pytest.approx(1 / 3), "pass")
    assert np.isnan(limit.low)


def test_rates_of_false_alarms_are_those_of_a_poisson_count():
    times = np.datetime64("2024-01-01", "s") + np.arange(240) * np.timedelta64(1, "h")
    truth, alarms = np.zeros((2, 240), dtype=int)
    truth[100] = alarms[100] = 1
    alarms[10:80:14] = 1  # five false alarms in ten days
    result = cc.affiliation(truth, alarms, times=times)
    found = cc.check(result, max={"false_alarms_per_day": 1, "alarms_per_week": 4.2})
    first, second = found.limits
    assert (first.value, second.value) == (0.5, pytest.approx(4.2))
    assert (first.low, first.high) == pytest.approx([0.1623, 1.1668], abs=1e-4)
    assert (first.status, second.status) == ("investigate", "pass")
    assert cc.check(result, max={"false_alarms_per_hour": 0.05}).status == "pass"
    assert cc.check(result, max={"false_alarms_per_week": 1.1}).status == "fail"
    numbers = cc.affiliation(truth, alarms)
    assert "Rates need times that are dates" in message(
        ValueError, cc.check, numbers, max={"false_alarms_per_day": 1}
    )


@pytest.mark.parametrize("count", [0, 1, 7, 1000, 1001])
def test_limits_of_counts_are_those_of_the_distribution(count):
    """At the lower limit so many or more come with 2.5 %, at the upper one so many or fewer."""
    poisson = scipy.stats.poisson
    low, high = count_limits(count, 0.95)
    assert poisson(high).cdf(count) == pytest.approx(0.025)
    assert poisson(low).sf(count - 1) == pytest.approx(0.025) if count else low == 0


def test_the_same_run_passes_its_baseline():
    result = detector(8, missed={2}, late=3)
    found = cc.check(result, baseline=result)
    assert (found.status, found.moved, len(found.limits)) == ("pass", (), 4)
    assert [limit.limit for limit in found.limits] == [0, *result.values().values()]


def test_where_no_event_got_worse_the_number_decides():
    found = cc.check(detector(8, missed={2}), baseline=detector(8, missed={2, 5}))
    assert found.status == "pass"
    assert [moved.change for moved in found.moved] == ["newly caught"]


def test_a_loss_on_many_events_fails_and_on_one_is_in_doubt():
    before = detector(20)
    found = cc.check(detector(20, missed=range(8)), baseline=before, tolerance=0.02)
    assert statuses(found)["affiliation_recall"] == "fail"
    recall = found.limits[2]
    assert (recall.baseline, recall.limit) == (1.0, 0.98)
    assert 0 <= recall.low < recall.value < recall.high < recall.limit
    allowed = {"baseline": before, "tolerance": 0.02, "max": {"newly_missed": 1}}
    doubted = cc.check(detector(20, missed=[7]), **allowed)
    assert statuses(doubted)["affiliation_recall"] == "investigate"
    assert doubted.status == "investigate"


def incidents(*caught):
    """Eight incidents of a list, the even ones critical; some are caught."""
    result = detector(8, missed=set(range(8)) - set(caught), dated=True).to_dict()
    for place, row in enumerate(result["events"]):
        severity = "minor" if place % 2 else "critical"
        row["details"] = {"title": f"disk {place} full", "severity": severity}
    return {"schema": "closecall/score/1", **result}


def test_a_newly_missed_event_fails_with_its_title_and_severity():
    before = incidents(*range(8))
    found = cc.check(incidents(0, 1, 3, 4, 5, 6), baseline=before, tolerance=1)
    (broken,) = (limit for limit in found.limits if limit.status != "pass")
    assert (broken.number, broken.value, broken.limit) == ("newly_missed", 2, 0)
    named = "2024-01-01 04:05:00 disk 2 full (critical), 2024-01-01 12:25:00 disk 7 full (minor)"
    assert broken.sentence == f"newly_missed is 2, limit <= 0; {named}"
    assert (found.moved[0].title, found.moved[0].severity) == ("disk 2 full", "critical")
    suite = ET.fromstring(found.to_junit())  # noqa: S314 - our own
    assert suite.find(".//failure").get("message") == broken.sentence
    row = "| newly missed | 2024-01-01 04:05:00 | disk 2 full | critical | on time | missed |"
    assert row in found.to_markdown()
    assert "  2024-01-01 04:05:00 disk 2 full (critical): newly missed" in str(found)
    loosened = cc.check(
        incidents(0, 1, 3, 4, 5, 6), baseline=before, tolerance=1, max={"newly_missed": 2}
    )
    assert (loosened.status, loosened.limits[0].reason) == ("pass", named)
    assert cc.check(before, baseline=incidents(0, 1)).status == "pass"
    hint = "Events are newly missed against a `baseline`"
    assert hint in message(ValueError, cc.check, before, max={"newly_missed": 0})


def test_close_calls_are_missed_too():
    truth, alarms = np.zeros((2, 1000), dtype=int)
    truth[500:520] = alarms[500:520] = 1
    before = cc.affiliation(truth, alarms)
    near = cc.affiliation(truth, np.roll(alarms, 20))
    assert (near.missed, near.close_calls) == (1, 1)
    found = cc.check(near, max={"missed": 0, "close_calls": 1}, baseline=before, tolerance=1)
    assert statuses(found) | {"affiliation_f1": "pass"} == {
        **dict.fromkeys(("missed", "newly_missed"), "fail"),
        **dict.fromkeys(("close_calls", "affiliation_precision"), "pass"),
        **dict.fromkeys(("affiliation_recall", "affiliation_f1"), "pass"),
    }
    assert (found.moved[0].change, found.moved[0].after) == ("newly missed", "close call")
    far = cc.affiliation(truth, np.roll(alarms, 300))
    for now, was, change in (
        (far, near, "no longer a close call"),
        (near, far, "now a close call"),
        (before, near, "newly caught"),
    ):
        found = cc.check(now, baseline=was, tolerance=1)
        assert (found.moved[0].change, found.status) == (change, "pass")


def test_what_was_caught_above_chance_can_be_limited():
    result = detector(8, missed={2})
    found = cc.check(result, min={"caught_above_chance": result.caught_above_chance})
    assert found.status == "pass"
    assert cc.check(result, min={"caught_above_chance": 1}).status == "fail"


def test_with_fewer_than_six_events_the_number_decides_against_a_baseline():
    assert cc.check(detector(5, missed=[0]), baseline=detector(5)).status == "fail"
    assert cc.check(detector(5, late=1), baseline=detector(5), tolerance=0.1).status == "pass"


def test_tolerance_of_a_metric_without_bounds_is_a_share():
    def record(value):
        values = {**detector(7).to_dict(), "metrics": {"hausdorff": value}}
        return {"schema": "closecall/score/1", **values}

    limit = cc.check(record(108.0), baseline=record(100.0), tolerance=0.1).limits[-1]
    assert (limit.number, limit.at_least, limit.status) == ("hausdorff", False, "pass")
    assert limit.limit == pytest.approx(110)
    assert cc.check(record(111.0), baseline=record(100.0), tolerance=0.1).status == "fail"


def test_what_moved_is_told_event_by_event():
    before, after = detector(8, missed={2}, dated=True), detector(8, missed={5}, late=4, dated=True)
    found = cc.check(after, baseline=before)
    changes = {moved.start: (moved.change, moved.before, moved.after) for moved in found.moved}
    assert changes["2024-01-01T09:05:00"] == ("newly missed", "on time", "missed")
    assert changes["2024-01-01T04:05:00"] == ("newly caught", "missed", "4 min late")
    assert changes["2024-01-01T00:45:00"] == ("later", "on time", "4 min late")
    assert len(changes) == 8
    assert found.moved[0].change == "newly missed"  # the worst first
    same_delay = cc.check(
        cc.affiliation([0, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0]),
        baseline=cc.affiliation([0, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0]),
    )
    assert [moved.change for moved in same_delay.moved] == ["lower F1"]


def signed(**options):
    """A result whose JSON was signed with options, or metrics with parameters."""
    metrics, result = options.pop("metrics", "affiliation"), detector(8)
    signature = result.signature.adding(**options).naming(metrics)
    return {"schema": "closecall/score/1", **result.to_dict(), "signature": str(signature)}


@pytest.mark.parametrize(
    "same",
    [
        {"data": "ab12cd34"},
        {"threshold": 0.7},  # which makes alarms
        {"n": 1000, "level": 0.9},  # of tests and intervals
        {"metrics": {"affiliation": {}, "margin": {"margin": 3}}},  # the results lack it
    ],
)
def test_a_baseline_is_of_other_data_or_more_numbers(same):
    found = cc.check(detector(8), baseline=signed(**same))
    assert found.status == "pass"
    assert found.signature == detector(8).signature
    assert str(found.baseline_signature) == signed(**same)["signature"]


@pytest.mark.parametrize(
    ("now", "was", "told"),
    [
        ({}, {"closecall": "0.0"}, "to be of closecall 0.1.0, as the results are, got 0.0."),
        ({}, {"threshold": "best_f1"}, "got threshold best_f1 instead of none."),
        ({"threshold": 0.7}, {"threshold": "best_f1"}, "threshold best_f1 instead of none."),
        ({"max_step": 3}, {"max_step": 4}, "got max_step 4 instead of 3."),
        ({"ignore": "#ab12cd34/5"}, {}, "got ignore none instead of #ab12cd34/5."),
        (
            {"metrics": {"margin": {"margin": 3}}},
            {"metrics": {"margin": {"margin": 5}}},
            "of the options of the results, got margin margin=5 instead of margin=3.",
        ),
    ],
)
def test_a_baseline_of_another_version_or_options_is_refused(now, was, told):
    first = message(ValueError, cc.check, signed(**now), baseline=signed(**was)).partition("\n")[0]
    assert first.endswith(told)


def test_detectors_that_were_signed_one_by_one_are_signed_together():
    both = {"good": detector(8), "poor": detector(8, missed=range(6))}
    found = cc.check(both, baseline=both)
    assert found.signature == found.baseline_signature
    assert found.signature.data not in {result.signature.data for result in both.values()}
    assert cc.check(record(*np.full((2, 8), 0.5)), min={"caught": 0}).signature is None


def test_several_detectors_are_each_checked_and_one_can_be_picked():
    both = {"good": detector(8), "poor": detector(8, missed=range(6))}
    found = cc.check(both, min={"caught": 5})
    assert [(limit.detector, limit.status) for limit in found.limits] == [
        ("good", "pass"),
        ("poor", "fail"),
    ]
    assert "caught of poor is 2, limit >= 5" in str(found)
    assert cc.check(both, min={"caught": 5}, detector="good").status == "pass"
    assert cc.check(both, baseline=both).status == "pass"
    assert cc.check(both, baseline=both["good"], detector="good").status == "pass"


def batch(missed=(), nan_in=(), names="abcdefgh"):
    """Eight series of two events; the detector misses the second event of some."""
    label = np.zeros((len(names), 200), dtype=int)
    label[:, 50:60] = label[:, 120:125] = 1
    score = label.astype(float)
    for name in missed:
        score[names.index(name), 120:125] = 0
    for name in nan_in:
        score[names.index(name), 0] = nan
    times = np.datetime64("2024-01-01", "s") + np.arange(200) * np.timedelta64(1, "h")
    table = pa.table(
        {
            "series": np.repeat([*names], 200),
            "t": np.tile(times, len(names)),
            "label": label.ravel(),
            "score": score.ravel(),
        }
    )
    options = {"by": "series", "truth": "label", "score": "score", "time": "t", "threshold": 0.5}
    return lambda **more: cc.evaluate_frame(table, **options, **more)


def test_a_batch_is_checked_by_means_over_series():
    result = batch(missed="ab")()
    found = cc.check(
        result, min={"affiliation_recall": 0.8, "caught": 14}, max={"false_alarms_per_day": 0}
    )
    recall, caught, rate = found.limits
    values = np.array(result.rows["affiliation_recall"].to_pylist())
    expected = cc.statistics.mean_interval(values, low=0, high=1)
    assert (recall.value, recall.low, recall.high) == (
        pytest.approx(values.mean()),
        expected.low,
        expected.high,
    )
    assert (caught.value, rate.value) == (14, 0)
    assert np.isnan([caught.low, rate.low]).all()
    (missed,) = cc.check(result, max={"missed": 1}).limits
    assert (missed.value, missed.status) == (2, "fail")
    chance = sum(result.rows["chance_caught"].to_pylist())
    (above,) = cc.check(result, min={"caught_above_chance": 0}).limits
    assert above.value == pytest.approx((14 - chance) / (16 - chance))


def test_batches_are_compared_series_by_series():
    before = batch()()
    assert cc.check(batch()(), baseline=before).status == "pass"
    found = cc.check(batch(missed="abcdefg")(), baseline=before, tolerance=0.02)
    assert statuses(found)["affiliation_recall"] == "fail"
    assert [(moved.series, moved.change) for moved in found.moved] == [
        (name, "fewer caught") for name in "abcdefg"
    ]
    assert (found.limits[0].value, found.limits[0].reason) == (7, "a, b, c, d, e, f, g")
    doubted = cc.check(batch(missed="a")(), baseline=before, tolerance=0.02)
    assert statuses(doubted)["affiliation_recall"] == "investigate"
    assert statuses(doubted)["newly_missed"] == doubted.status == "fail"


def test_rows_of_events_of_a_batch_say_what_moved():
    runs = (batch(missed=missed)(per_event=True) for missed in ("ab", "bc"))
    found = cc.check(next(runs), baseline=next(runs))
    assert {(moved.series, moved.change) for moved in found.moved} == {
        ("a", "newly missed"),
        ("c", "newly caught"),
    }
    assert {moved.start for moved in found.moved} == {"2024-01-06T00:00:00"}


def test_a_series_on_which_the_detector_gave_nothing_never_passes():
    broken, sound = batch(nan_in="c")(), batch()()
    (limit,) = cc.check(broken, min={"caught": 1}).limits
    assert (limit.status, limit.reason) == ("investigate", "the detector gave nothing on 1 series")
    assert "| reason |" in cc.check(broken, min={"caught": 1}).to_markdown()
    lost, *others = cc.check(broken, baseline=sound).limits
    assert (lost.number, lost.value, lost.status, lost.reason) == ("newly_missed", 2, "fail", "c")
    found = cc.check(broken, baseline=sound)
    assert {limit.status for limit in others} == {"investigate"}
    assert {limit.reason for limit in others} == {"1 series had a number, and have none now"}
    assert [(moved.change, moved.after) for moved in found.moved] == [("fewer caught", "no result")]


def test_a_series_without_a_result_has_no_rows_of_events():
    runs = (batch(nan_in=lost)(per_event=True) for lost in ("c", ""))
    found = cc.check(next(runs), baseline=next(runs))
    assert (found.limits[0].value, found.limits[0].reason, found.status) == (2, "c", "fail")


def test_a_batch_without_any_result_fails():
    found = cc.check(batch(nan_in="abcdefgh")(), baseline=batch()())
    assert {limit.status for limit in found.limits} == {"fail"}
    assert "affiliation_f1 of score is undefined, limit >= 1 (baseline 1)" in str(found)


def test_batches_are_compared_by_the_metrics_that_both_hold():
    one, other = batch()(metrics=["classical"]), batch()(metrics=["classical", "affiliation"])
    found = cc.check(one, baseline=other)
    assert {limit.number for limit in found.limits} == {
        "classical_precision",
        "classical_recall",
        "classical_f1",
    }
    third = batch()(metrics=["point_adjust"])
    told = message(ValueError, cc.check, one, baseline=third)
    assert told == "Expected `baseline` to hold a metric of the results, got none."


def record(precision, recall):
    """What JSON says of a detector with these scores of events."""
    events = [
        {"start": place, "stop": place + 1, "outcome": "caught", "delay": 0.0}
        | {"precision": p, "recall": r, "f1": 2 * p * r / (p + r)}
        for place, (p, r) in enumerate(zip(precision.tolist(), recall.tolist(), strict=True))
    ]
    p, r = float(precision.mean()), float(recall.mean())
    counts = ("caught", "close_calls", "missed", "alarms", "false_alarms", "alarmed")
    counts = dict.fromkeys(counts, 0)
    above = (f"{name}_above_chance" for name in ("precision", "recall", "f1", "caught"))
    above = dict.fromkeys(above)
    scores = {"precision": p, "recall": r, "f1": 2 * p * r / (p + r)}
    return {"schema": "closecall/score/1", **counts, **above, **scores, "events": events}


def simulated(loss, runs=100, events=40, tolerance=0.02):
    """How often each status comes, if the second run is worse by that much on average."""
    drawn, found = np.random.default_rng(1), {"pass": 0, "fail": 0, "investigate": 0}
    for _ in range(runs):
        scores = drawn.beta(8, 2, size=(2, events))
        noise = drawn.normal(-loss, 0.1, size=(2, events))
        after = np.clip(scores + noise, 0.01, 1)
        found[cc.check(record(*after), baseline=record(*scores), tolerance=tolerance).status] += 1
    return {status: count / runs for status, count in found.items()}


def test_an_unchanged_detector_is_rarely_failed_and_a_regression_is_found():
    assert simulated(0.0)["fail"] <= 0.01
    assert simulated(0.0, tolerance=0.1)["pass"] >= 0.9
    assert simulated(0.02)["fail"] <= 0.05  # as much worse as is tolerated
    worse = simulated(0.15)
    assert worse["pass"] == 0
    assert worse["fail"] >= 0.9


def test_junit_is_what_pipelines_read():
    runs = {"fine": detector(20), 'a<b>&"\x00\x1b[31m\n': detector(20, missed=range(12))}
    found = cc.check(runs, min={"caught": 15, "recall": 0.2})
    root = ET.fromstring(found.to_junit())  # noqa: S314 - our own
    assert root.tag == "testsuites"
    (suite,) = root
    totals = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert totals == {"tests": "4", "failures": "1", "errors": "0", "skipped": "1"}
    cases = suite.findall("testcase")
    told = [(case.get("name"), [child.tag for child in case]) for case in cases]
    assert told == [
        ("caught >= 15", []),
        ("affiliation_recall >= 0.2", []),
        ("caught >= 15", ["failure"]),
        ("affiliation_recall >= 0.2", ["skipped"]),
    ]
    assert all(case.get("classname").startswith("closecall.") for case in cases)
    failure = cases[2].find("failure")
    assert (failure.get("type"), failure.get("message")) == ("fail", failure.text)
    assert "caught of" in failure.text
    assert suite.find("system-out").text == str(found)


def test_what_files_say_breaks_no_xml():
    plain = {"schema": "closecall/score/1", **detector(8).to_dict()}
    odd = {**plain, "metrics": {"\x00\ud800": 1.0}}
    odd["events"] = [{**event, "outcome": "\x01"} for event in plain["events"]]
    found = cc.check(odd, min={"\x00\ud800": 2}, baseline=plain)
    root = ET.fromstring(found.to_junit())  # noqa: S314 - our own
    assert root.find(".//testcase").get("name") == r"\x00\ud800 >= 2"
    assert root.find(".//system-out").text.count("newly missed (on time, now \\x01)") == 8


def test_markdown_has_the_tables_and_no_markup_of_names():
    runs = {"a|b`<i>": detector(8, late=2)}
    text = cc.check(runs, min={"caught": 9}, baseline=detector(8)).to_markdown()
    lines = text.splitlines()
    assert lines[0].startswith("## closecall check: fail: 1 of 5 limits broken, ")
    assert lines[2] == "| status | detector | number | value | 95 % interval | limit | baseline |"
    assert lines[4] == r"| fail | a\|b\`\<i\> | caught | 8 | - | \>= 9 |  |"
    assert "### What moved against the baseline" in lines
    assert sum("| later |" in line for line in lines) == 8


def test_a_number_just_under_its_limit_is_not_rounded_to_it():
    values = detector(7).to_dict() | {"metrics": {"classical_f1": 0.79999999}}
    (limit,) = cc.check({"schema": "closecall/score/1", **values}, min={"classical_f1": 0.8}).limits
    assert (limit.cells()["value"], limit.status) == ("0.79999999", "fail")


def test_a_result_shows_itself():
    found = cc.check(detector(8, late=2), baseline=detector(8), tolerance=0.5)
    assert repr(found) == f"Check({found.headline}; 8 moved)"
    page = found._repr_html_()
    assert page.count("<tr>") == 2 + 4 + 8
    assert found.to_dict()["moved"][0]["before"] == "on time"
    lone = cc.check(detector(8), min={"caught": 8})._repr_html_()
    assert (lone.count("<table>"), "pass: 1 limit kept" in lone) == (1, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "Expected a limit (`min` or `max`) or a `baseline`, got neither."),
        (
            {"min": {"f1": nan}},
            "Expected `min['f1']` to be a limit that is a finite number",
        ),
        ({"max": {"f1": "high"}}, "Expected `max['f1']` to be a limit that is a finite number"),
        ({"min": ["f1"]}, "Expected `min` to be limits by the names of numbers, got ['f1']."),
        ({"min": {"affilation_f1": 1}}, "Hint: Did you mean affiliation_f1"),
        ({"min": {5: 1}}, "Expected names in `min` to be text, got 5."),
        ({"min": {"f1": 1}, "detector": 5}, "Expected `detector` to be a name, got 5."),
        ({"min": {"f1": 1}, "tolerance": -1}, "Expected `tolerance` to be a number of 0 or more"),
        ({"min": {"f1": 1}, "detector": "x"}, "Expected `results` to hold the detector 'x'"),
        ({"baseline": 3}, "Expected `baseline` to be results of closecall, got 3."),
        ({"baseline": {}}, "Expected `baseline` to be results of closecall, got {}."),
        ({"baseline": detector(9)}, "0 that it lacks and 1 others, such as 845 to 855."),
        ({"baseline": detector(7)}, "1 that it lacks and 0 others, such as 745 to 755."),
        (
            {"baseline": {"a": detector(8), "b": detector(8)}},
            "Expected `baseline` to hold one detector, got a, b.",
        ),
        ({"baseline": batch()()}, "Expected `baseline` to be of one series, got a batch."),
    ],
)
def test_bad_arguments(options, told):
    assert told in message((ValueError, TypeError), cc.check, detector(8), **options)


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "old.json.gz"
    values = {"schema": "closecall/score/1", **detector(8).to_dict()}
    path.write_bytes(gzip.compress(json.dumps(values).encode()))
    assert cc.check(path, min={"caught": 8}).status == "pass"
    monkeypatch.setattr(runs, "_MOST_BYTES", 1000)
    told = message(ValueError, cc.check, path, min={"caught": 8})
    assert told.endswith("old.json.gz to hold at most 1,000 bytes, got more.")


def test_batches_of_other_series_are_refused():
    other = batch(names="abcdefgx")()
    told = message(ValueError, cc.check, batch()(), baseline=other)
    assert "to hold the series at hand, got 1 that it lacks and 1 others, such as h." in told


def test_silence_counts_as_an_f1_of_0_in_the_means_of_a_batch():
    columns = {"series": [0] * 4 + [1] * 4, "label": [0, 1, 0, 0] * 2, "p": [0, 1, 0, 0] + [0] * 4}
    result = cc.evaluate_frame(pa.table(columns), by="series", truth="label", predicted="p")
    assert cc.check(result, min={"affiliation_f1": 0.9}).limits[0].value == 0.5
