"""Many metrics in one call."""

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.metrics.registry import METRICS
from tests.messages import message

TRUTH = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0])
PREDICTED = np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0])
SCORES = np.array([0.1, 0.2, 0.5, 0.9, 0.8, 0.1, 0.3, 0.4, 0.2, 0.1, 0.7, 0.0])


def test_a_row_holds_what_the_metrics_return():
    row = cc.evaluate(
        TRUTH,
        PREDICTED,
        scores=SCORES,
        metrics={
            "affiliation": {},
            "time_aware": {"delta": 2},
            "margin": {"margin": 2},
            "hausdorff": {},
            "vus": {"window": 3},
        },
    )
    affiliation = cc.affiliation(TRUTH, PREDICTED)
    time_aware = cc.metrics.time_aware(TRUTH, PREDICTED, delta=2)
    margin = cc.metrics.margin(TRUTH, PREDICTED, margin=2)
    vus = cc.metrics.vus(TRUTH, SCORES, window=3)
    assert row == {
        **{f"affiliation_{name}": value for name, value in affiliation.values().items()},
        **{f"time_aware_{name}": value for name, value in time_aware.values().items()},
        **{f"margin_{name}": value for name, value in margin.values().items()},
        "hausdorff": cc.metrics.hausdorff(TRUTH, PREDICTED).value,
        "vus_roc": vus.roc,
        "vus_pr": vus.pr,
    }


def test_all_that_needs_no_more_is_the_default():
    labels, scores = cc.evaluate(TRUTH, PREDICTED), cc.evaluate(TRUTH, scores=SCORES)
    for row, takes in ((labels, "labels"), (scores, "scores")):
        for entry in METRICS.values():
            present = any(name.startswith(entry.name) for name in row)
            needs_more = entry.name in {"margin", "window_once", "two_sided"}
            assert present == (entry.takes == takes and not needs_more) or entry.name in {
                "point_adjust",
                "affiliation",
                "average_precision",
            }
    assert cc.evaluate(TRUTH, PREDICTED, scores=SCORES) == pytest.approx(
        labels | scores, nan_ok=True
    )


def test_samples_are_counted_whatever_the_times():
    times = np.cumsum(np.arange(1, 13))
    row = cc.evaluate(
        TRUTH, PREDICTED, times=times, end=100, metrics=["classical", "modified_hausdorff"]
    )
    assert row["classical_precision"] == cc.metrics.classical(TRUTH, PREDICTED).precision
    timed = cc.metrics.modified_hausdorff(TRUTH, PREDICTED, times=times, end=100)
    assert (
        row["modified_hausdorff"]
        == timed.value
        != cc.evaluate(TRUTH, PREDICTED)["modified_hausdorff"]
    )


def test_durations_are_counted_on_request():
    axis = {"times": np.cumsum(np.arange(1, 13)), "end": 100}
    row = cc.evaluate(TRUTH, PREDICTED, metrics={"classical": {"by": "duration"}}, **axis)
    by_duration = cc.metrics.classical(TRUTH, PREDICTED, by="duration", **axis)
    assert row["classical_precision"] == by_duration.precision
    assert row["classical_precision"] != cc.metrics.classical(TRUTH, PREDICTED).precision


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        ((TRUTH,), {}, "Expected `predicted` or `scores`, got neither"),
        ((TRUTH, PREDICTED), {"metrics": 5}, "`metrics` to be names of metrics, got 5"),
        ((TRUTH, PREDICTED), {"metrics": [3]}, "`metrics` to be names of metrics, got 3"),
        ((TRUTH, PREDICTED), {"metrics": []}, "at least one metric in `metrics`, got none"),
        (
            (TRUTH, PREDICTED),
            {"metrics": {"classical": None}},
            r"`metrics\['classical'\]` to be parameters by name, got None",
        ),
        ((TRUTH, PREDICTED), {"metrics": ["vus"]}, "Expected `scores` for the metric 'vus'"),
        (
            (TRUTH,),
            {"scores": SCORES, "metrics": ["nab"]},
            "`predicted` for the metric 'nab', got none.\n\nHint: `threshold` makes predictions",
        ),
        ((TRUTH, PREDICTED), {"metrics": ["margin"]}, "Expected `margin` for the metric 'margin'"),
        ((TRUTH, PREDICTED), {"metrics": ["clasical"]}, "Did you mean 'classical'"),
        (
            (TRUTH, PREDICTED),
            {"metrics": {"time_aware": {"detla": 3}}},
            r"a parameter of time_aware \(theta, delta, alpha\), got 'detla'",
        ),
    ],
)
def test_refused(arguments, options, told):
    with pytest.raises((InputError, InputTypeError), match=told):
        cc.evaluate(*arguments, **options)


def test_one_name_is_enough():
    one = cc.evaluate(TRUTH, PREDICTED, metrics="classical")
    assert one == cc.evaluate(TRUTH, PREDICTED, metrics=["classical"])
    assert list(one) == ["classical_precision", "classical_recall", "classical_f1"]


def test_a_threshold_is_chosen_on_one_part_and_judged_on_the_other():
    truth, scores = [0, 1, 0, 0, 0, 0, 1, 0, 0, 0], [0, 9, 2, 1, 3, 0, 4, 1, 5, 0]
    fit = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    row = cc.evaluate(truth, scores=scores, threshold="best_f1", fit=fit)
    assert row["threshold"] == 9
    alarms = [score >= 9 for score in scores]
    expected = cc.evaluate(truth, alarms, scores=scores, ignore=fit)
    for name, value in expected.items():
        np.testing.assert_equal(row[name], value)
    assert set(row) - set(expected) == {"threshold"}


def test_messages_about_thresholds():
    alone = "Expected `scores` alone beside `threshold`, got `predicted`"
    assert message(TypeError, cc.evaluate, [0, 1], [0, 1], threshold=1) == f"{alone}."
    found = message(TypeError, cc.evaluate, [0, 1], [0, 1], threshold=1, scores=[1, 2])
    assert found == f"{alone} as well."
    found = message(TypeError, cc.evaluate, [0, 1], scores=[1, 2], fit=[1, 0])
    assert found.startswith("Expected a `threshold` rule beside `fit`, got none")


@pytest.mark.parametrize("timed", [False, True], ids=["samples", "times"])
def test_every_metric_counts_evaluated_time_only(timed):
    generator = np.random.default_rng(4)
    labels = [np.convolve(generator.random(90) < 0.06, [1] * 4)[:90] > 0 for _ in range(3)]
    truth, predicted, ignore = (column.astype(int) for column in labels)
    scores, kept = generator.random(90) + 0.3 * predicted, ignore == 0

    def axis(size):
        return {"times": 10 * np.arange(size)} if timed else {}

    found = cc.evaluate(truth, predicted, scores=scores, ignore=ignore, **axis(90))
    sides = truth[kept], predicted[kept]
    deleted = cc.evaluate(*sides, scores=scores[kept], **axis(kept.sum()))
    assert found == pytest.approx(deleted, rel=1e-12, nan_ok=True)
    without = np.where(kept, scores, np.nan)
    assert cc.evaluate(truth, predicted, scores=without, nan="ignore", **axis(90)) == found


def test_several_detectors_are_a_table_of_the_same_rows():
    detectors = {"ours": PREDICTED, "theirs": 1 - PREDICTED}
    found = cc.evaluate(TRUTH, detectors, scores={"scored": SCORES}, threshold=0.5)
    assert [row["detector"] for row in found] == ["ours", "theirs", "scored"]
    rows = [cc.evaluate(TRUTH, own) for own in detectors.values()]
    rows.append(cc.evaluate(TRUTH, scores=SCORES, threshold=0.5))
    for row, alone in zip(found, rows, strict=True):
        assert {key: row[key] for key in alone} == pytest.approx(alone, nan_ok=True)
        assert all(np.isnan(row[key]) for key in row.keys() - alone.keys() - {"detector"})
        assert list(row) == list(found[0])


def test_a_metric_is_that_of_the_detectors_that_allow_it():
    table = {"metrics": ["classical", "vus"], "scores": {"a": SCORES, "b": 1 - SCORES}}
    found = cc.evaluate(TRUTH, {"labels": PREDICTED}, **table, threshold={"a": "quantile:0.8"})
    defined = [
        (
            np.isfinite(row["classical_f1"]),
            np.isfinite(row["vus_pr"]),
            np.isfinite(row["threshold"]),
        )
        for row in found
    ]
    assert defined == [(True, False, False), (True, True, True), (False, True, False)]
    assert found[1]["threshold"] == 0.8  # 2 of 12 samples; the next lower would be 3


def test_fit_is_left_out_for_all_detectors():
    fit, judged = [(0, 6)], {"ignore": [(0, 6)], "metrics": "classical"}
    found = cc.evaluate(
        TRUTH, {"labels": PREDICTED}, scores={"s": SCORES}, threshold="quantile:0.65", fit=fit,
        metrics="classical",
    )  # fmt: skip
    labels = cc.evaluate(TRUTH, PREDICTED, **judged)
    assert {key: found[0][key] for key in labels} == pytest.approx(labels, nan_ok=True)
    assert found[1]["threshold"] == 0.8  # of the first six
    cut = cc.evaluate(TRUTH, SCORES >= 0.8, **judged)
    assert {key: found[1][key] for key in cut} == pytest.approx(cut, nan_ok=True)


def test_events_and_labels_are_mixed():
    times = 10 * np.arange(12)
    events = cc.Events.from_labels(TRUTH, times)
    sides = {"labels": PREDICTED, "events": cc.Events.from_labels(PREDICTED, times)}
    options = {"times": times, "span": (0, 120), "metrics": ["affiliation", "classical", "auc_roc"]}
    found = cc.evaluate(events, sides, scores={"scores": SCORES}, threshold=0.7, **options)
    cut = {"scores": SCORES, "threshold": 0.7}
    assert found[0] == pytest.approx(found[1] | {"detector": "labels"}, nan_ok=True)
    assert found[2] == pytest.approx({"detector": "scores"} | cc.evaluate(TRUTH, **cut, **options))
    assert cc.evaluate(events, **cut, **options) == {
        key: value for key, value in found[2].items() if key != "detector"
    }


@pytest.mark.parametrize(
    ("predicted", "options", "told"),
    [
        ({}, {}, "Expected `predicted` or `scores`, got neither"),
        ({"a": PREDICTED}, {"scores": SCORES}, "Expected `scores` to be a mapping from names"),
        ({"a": PREDICTED}, {"scores": {"a": SCORES}}, "got 'a' in both"),
        ({"a": PREDICTED}, {"threshold": 1}, "Expected `scores` beside `threshold` or `fit`, got"),
        ({"a": PREDICTED}, {"metrics": ["vus"]}, "Expected `scores` for the metric 'vus'"),
        (
            None,
            {"scores": {"mine": SCORES}, "threshold": {"mime": 1}},
            "Expected `threshold` to name detectors in `scores`, got 'mime'.*Did you mean 'mine'",
        ),
        ({"a": PREDICTED}, {"metrics": {"all": {"k": 3}}}, "no parameters of all metrics"),
    ],
)
def test_refused_tables(predicted, options, told):
    with pytest.raises((InputError, InputTypeError), match=f"(?s){told}"):
        cc.evaluate(TRUTH, predicted, **options)


def test_the_first_name_that_is_none_ends_the_reading_of_metrics():
    """A range of them may hold more than memory does."""
    names = iter([3, "classical"])
    with pytest.raises(InputTypeError, match="`metrics` to be names of metrics, got 3"):
        cc.evaluate(TRUTH, PREDICTED, metrics=names)
    assert next(names) == "classical"


def test_each_detector_on_its_own_time_has_the_numbers_of_itself_alone():
    rng = np.random.default_rng(5)
    times = np.datetime64("2024-01-01", "s") + np.cumsum(rng.integers(1, 9, 60)).astype("m8[m]")
    axis = {"times": times, "end": times[-1] + np.timedelta64(60, "s"), "ignore": np.arange(60) < 4}
    metrics = ["affiliation", "classical", "range_based", "auc_roc", "vus"]
    for _ in range(10):
        truth = np.repeat(rng.random(20) < 0.4, 3).astype(int)
        scores = {name: rng.random(60) + truth for name in "abc"}
        scores["a"][rng.random(60) < 0.2], scores["b"][10:20] = np.nan, np.nan
        labels = {"labels": rng.integers(0, 2, 60)}
        chosen = {"a": "quantile:0.8", "b": 1}
        for fit in (None, np.arange(60) < 30):
            given = {"metrics": metrics, "fit": fit, **axis}
            found = cc.evaluate(truth, labels, scores=scores, threshold=chosen, nan="each", **given)
            without = {"labels": 4, "a": 4 + np.isnan(scores["a"][4:]).sum(), "b": 14, "c": 4}
            for row in found:
                name = row["detector"]
                ignored = row.pop("ignored_time")
                if name in chosen:
                    alone = cc.evaluate(
                        truth, scores=scores[name], threshold=chosen[name], nan="ignore", **given
                    )
                    assert {key: row[key] for key in alone} == alone
                    assert row.signature.adding(nan="ignore") == alone.signature
                steps = np.diff(np.append(times, axis["end"]))
                if fit is None and name != "a":
                    kept = np.arange(60) >= 4
                    kept &= ~np.isnan(scores.get(name, np.zeros(60)))
                    assert ignored == steps[~kept].sum()
                    assert (~kept).sum() == without[name]
            assert "nan:each" in str(found.signature)


def test_a_single_detector_on_its_own_time_is_that_on_the_time_of_all():
    without = np.where(np.arange(12) == 3, np.nan, SCORES)
    rows = [
        cc.evaluate(
            TRUTH, PREDICTED, scores=without, nan=nan, metrics=["classical", "average_precision"]
        )
        for nan in ("ignore", "each")
    ]
    assert rows[0] == rows[1]
    (one,) = cc.evaluate(TRUTH, scores={"a": without}, nan="each", metrics=["average_precision"])
    assert (one["average_precision"], one["ignored_time"]) == (rows[0]["average_precision"], 1)
