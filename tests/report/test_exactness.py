"""What the page shows at a threshold is what `affiliation` gives there, on every kind of axis."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

import closecall as cc
from closecall.report import report_batch
from closecall.wording import score_text
from tests.report.conftest import opened

COLUMNS = {
    name: name for name in ("precision", "recall", "f1", "early", "late", "delay", "nearest")
}
COLUMNS |= {"precisionDistance": "precision_distance", "recallDistance": "recall_distance"}
COLUMNS |= {"duration": "predicted_duration"}
SCORE_AT = """([index, thresholds]) => thresholds.map((text) => {
  const result = closecall.view.scoreAt(index, Number(text));
  const texts = ([name, column]) => [name, [...column].map(String)];
  const columns = Object.entries(result.rows).map(texts);
  return {
    precision: String(result.precision), recall: String(result.recall), f1: String(result.f1),
    alarms: result.alarms, unit: closecall.view.series.clock.unit,
    drawn: [result.drawn.starts, result.drawn.stops].map((ends) => [...ends]),
    rows: Object.fromEntries(columns),
    chance: Object.fromEntries(
      Object.entries(closecall.levelsOf(
        closecall.view.series, result.predicted, closecall.view.series.detectors[index].shift
      )).map(([name, level]) => [name, String(level)])
    ),
  };
})"""
RANDOM = np.random.default_rng(7)
COUNT = 400


def truth_of(count, events=9):
    labels = np.zeros(count, dtype=int)
    for start in RANDOM.choice(count - 12, size=events, replace=False):
        labels[start : start + RANDOM.integers(1, 12)] = 1
    return labels


TRUTH = truth_of(COUNT)
SCORES = RANDOM.normal(size=COUNT) + 1.5 * TRUTH
JITTER = np.cumsum(RANDOM.integers(1, 10**9, size=COUNT))
CASES = {
    "samples": {},
    "integers from afar": {"times": 10**17 + 7 * np.arange(COUNT)},
    "uneven integers": {"times": JITTER, "end": int(JITTER[-1]) + 5},
    "numbers": {"times": 0.1 * np.arange(COUNT)},
    "uneven numbers": {"times": np.cumsum(RANDOM.random(COUNT)), "end": 1e4},
    "minutes": {"times": np.datetime64("2024-03-04", "s") + 60 * np.arange(COUNT)},
    "nanoseconds with jitter": {
        "times": (1_700_000_000_000_000_000 + JITTER).view("datetime64[ns]"),
        "end": np.datetime64(1_700_000_000_000_000_000 + int(JITTER[-1]) + 1, "ns"),
    },
    "a zone": {
        "times": [
            datetime(2024, 3, 4, tzinfo=timezone(timedelta(hours=2))) + timedelta(hours=k)
            for k in range(COUNT)
        ]
    },
    "a wider span": {"times": np.arange(COUNT) * 2.5, "span": (-100.0, 2_000.25)},
    "ignored samples": {"ignore": np.arange(COUNT) % 61 > 47},
    "ignored minutes, some of them halved": {
        "times": np.datetime64("2024-03-04", "s") + 60 * np.arange(COUNT),
        "ignore": [
            (np.datetime64(f"2024-03-04T0{hour}:01:30"), np.datetime64(f"2024-03-04T0{hour}:21"))
            for hour in range(6)
        ],
    },
    "ignored numbers": {
        "times": 0.1 * np.arange(COUNT),
        "ignore": [(-1.0, 3.3), (7.25, 8.5), (39.05, 50.0)],
    },
    "gaps": {"times": JITTER, "max_step": 4 * 10**8, "end": int(JITTER[-1]) + 5},
}


def compare(shown, results):
    """Compare everything the page computed at some thresholds with the library's own results."""
    for row, result in zip(shown, results, strict=True):
        for name in ("precision", "recall", "f1"):
            assert float(row[name]) == pytest.approx(getattr(result, name), abs=1e-9, nan_ok=True)
        assert row["alarms"] == len(result.events.pair.predicted)
        chance = {name: float(level) for name, level in row["chance"].items()}
        assert chance == pytest.approx(result.chance.values(), abs=1e-9, nan_ok=True)
    dated = results[0].events.start.dtype.kind == "M"
    for name, column in COLUMNS.items():
        expected = np.stack([getattr(result.events, column) for result in results])
        values = np.array([row["rows"][name] for row in shown]).astype(np.float64)
        if expected.dtype.kind == "m":
            undefined = np.isnat(expected)
            assert not np.isfinite(values[undefined]).any()
            expected = expected[~undefined] / np.timedelta64(1, "ms")
            values = values[~undefined]
        if name not in ("precision", "recall", "f1"):
            values = values * shown[0]["unit"]
        # A timedelta holds whole nanoseconds.
        exact = {"rtol": 5e-10, "atol": 5e-7 if dated else 5e-10}
        np.testing.assert_allclose(values, expected, **exact, err_msg=name)


def thresholds_of(scores, count=20):
    """Scores themselves, numbers between them, and both infinities."""
    distinct = np.unique(scores[np.isfinite(scores)])
    between = (distinct[1:] + distinct[:-1]) / 2
    chosen = RANDOM.choice(np.concatenate((distinct, between)), size=count - 4)
    return [*chosen.tolist(), distinct[0].item(), distinct[-1].item(), np.inf, -np.inf]


def text(threshold):
    return (
        repr(threshold) if np.isfinite(threshold) else "Infinity" if threshold > 0 else "-Infinity"
    )


def with_infinities():
    scores = SCORES.copy()
    scores[[5, 60]], scores[[9, 200]] = np.inf, -np.inf
    return scores


STEPS = np.round(20 * (SCORES - SCORES.min()))
SERIES = {
    **{name: {"scores": SCORES, **options} for name, options in CASES.items()},
    "float32": {"scores": STEPS.astype(np.float32) / np.float32(3)},
    "int8": {"scores": STEPS.astype(np.int8)},
    "uint32": {"scores": STEPS.astype(np.uint32)},
    "infinities": {"scores": with_infinities()},
}


MINUTES = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=step) for step in range(60)]
INCIDENTS = cc.Events([(MINUTES[10], MINUTES[20]), (MINUTES[41], MINUTES[44])])
ALARMS = cc.Events([(MINUTES[15], MINUTES[25]), (MINUTES[50], MINUTES[51])])
HOUR = (MINUTES[0], MINUTES[0] + timedelta(hours=1))
TRUE_EVENTS = cc.Events([(0, 3), (3, 8), (20, 20), (31, 36), (60, 61)])
DETECTORS = {
    "points": cc.Events.from_points([1, 8, 20, 25, 33, 97]),
    "ranges and points": cc.Events([(2, 5), (13, 13), (20, 21), (22, 45), (61, 61)]),
    "between the ticks": cc.Events.from_arrays([11.5, 59.5], [14.25, 60.5]),
    "nothing": cc.Events([]),
    "all": cc.Events([(0, 97)]),
}
FLOATS = {
    "tenths": cc.Events([(0.1 * 7, 0.1 * 9), (0.1 * 63, 0.1 * 64)]),
    "halves": cc.Events([(0.5, 1.5), (4.0, 4.5)]),
    "no step": cc.Events([(2**0.5, 3**0.5), (7.0, 7.5)]),
}
TRUE_FLOATS = cc.Events([(0.1 * 3, 0.1 * 8), (4.5, 5.5)])
FIXED = {
    "events": {"truth": TRUE_EVENTS, "predicted": DETECTORS, "span": (0, 97)},
    "float events": {"truth": TRUE_FLOATS, "predicted": FLOATS, "span": (0.0, 10.0)},
    "labels beside true events": {"truth": INCIDENTS, "predicted": ALARMS.to_labels(MINUTES)},
    "events beside true labels": {"truth": INCIDENTS.to_labels(MINUTES), "predicted": ALARMS},
}
for name in list(FIXED)[2:]:
    FIXED[name]["times"] = MINUTES


@pytest.fixture(scope="module")
def many(show):
    """One page with every kind of axis, score and prediction, each a series."""
    scored = {name: {"truth": TRUTH, **case} for name, case in SERIES.items()}
    scored["two detectors"] = {"truth": TRUTH, "scores": {"one": SCORES, "two": -SCORES}}
    return show(report_batch({**scored, **FIXED}))


@pytest.mark.parametrize("case", SERIES)
def test_every_number_at_twenty_thresholds(many, case):
    opened(many, case)
    options = dict(SERIES[case])
    scores = options.pop("scores")
    thresholds = thresholds_of(scores.astype(np.float64))
    shown = many.evaluate(SCORE_AT, [0, [text(threshold) for threshold in thresholds]])
    results = [cc.affiliation(TRUTH, scores >= np.float64(one), **options) for one in thresholds]
    compare(shown, results)
    for row, result in zip(shown, results, strict=True):
        pair = result.events.pair
        alarms, start = pair.opened(pair.predicted), pair.start
        if pair.clock.kind == "integer":
            drawn = np.array(row["drawn"]) * row["unit"] + min(start, 0)
            assert drawn.tolist() == [
                (alarms.starts - start).tolist(),
                (alarms.stops - start).tolist(),
            ]


def test_points_and_touching_events(many):
    opened(many, "events")
    for place, predicted in enumerate(DETECTORS.values()):
        shown = many.evaluate(SCORE_AT, [place, ["0"]])
        compare(shown, [cc.affiliation(TRUE_EVENTS, predicted, span=(0, 97))])


def test_floats_move_by_what_divides_them(many):
    opened(many, "float events")
    for place, (predicted, step) in enumerate(zip(FLOATS.values(), (0.1, 0.1, 0), strict=True)):
        result = cc.affiliation(TRUE_FLOATS, predicted, span=(0.0, 10.0))
        assert result.chance.step == pytest.approx(step)
        compare(many.evaluate(SCORE_AT, [place, ["0"]]), [result])


@pytest.mark.parametrize("case", [name for name in FIXED if "beside" in name])
def test_labels_and_events_side_by_side(many, case):
    opened(many, case)
    shown = many.evaluate(SCORE_AT, [0, ["0"]])
    compare(shown, [cc.affiliation(INCIDENTS, ALARMS, span=HOUR)])


def test_the_numbers_on_display_follow_the_slider_and_what_is_typed(many):
    single = opened(many, "two detectors")
    curve = cc.affiliation_curve(TRUTH, SCORES)
    stops = curve.thresholds[curve.outline(400)][::-1]
    for share in (0, 0.05, 0.4, 1):
        stop = round(share * (stops.size - 1))
        single.locator("#threshold-slider").fill(str(stop))
        assert single.evaluate("closecall.view.thresholds[0]") == stops[stop]
        result = cc.affiliation(TRUTH, stops[stop] <= SCORES)
        shown = single.locator(".card.active [data-score]").all_text_contents()
        plain = [float(number.lstrip("<>")) for number in shown]
        assert plain == pytest.approx((result.f1, result.precision, result.recall), abs=0.0011)
        recalls = single.locator("tbody tr td:nth-child(6)").all_text_contents()
        assert recalls == [score_text(recall) for recall in result.events.recall]
    field = single.get_by_label("threshold, as a number")
    field.fill("1.25")
    field.press("Enter")
    result = cc.affiliation(TRUTH, SCORES >= 1.25)
    precision = single.locator('.card.active [data-score="precision"]')
    assert precision.text_content() == f"{result.precision:.3f}"
    field.fill("nonsense")
    field.press("Enter")
    assert (float(field.input_value()) <= SCORES).sum() == (SCORES >= 1.25).sum()
    field.fill("inf")
    field.press("Enter")
    numbers = single.locator(".card.active [data-score]").all_text_contents()
    assert numbers == ["–", "–", "0.000"]  # noqa: RUF001 - the dash of undefined scores


def test_the_threshold_that_is_written_gives_what_is_shown(many):
    opened(many, "float32")
    scores = SERIES["float32"]["scores"]
    before = many.evaluate("closecall.view.thresholds[0]")
    many.get_by_label("next lower score").click()
    steps = many.evaluate(
        """() => Array.from({ length: 25 }, () => {
          const seen = [
            document.querySelector('[aria-label="threshold, as a number"]').value,
            closecall.view.results[0].predicted, closecall.view.thresholds[0],
          ];
          document.querySelector('[aria-label^="next lower score"]').click();
          return seen;
        })"""
    )
    thresholds = [before, *(threshold for *_, threshold in steps)]
    assert thresholds == sorted(set(thresholds), reverse=True)
    for written, shown, _ in steps:
        predicted = cc.Events.from_labels(scores >= np.float64(written))
        assert shown["starts"] == predicted.starts.tolist()
        assert shown["stops"] == predicted.stops.tolist()
