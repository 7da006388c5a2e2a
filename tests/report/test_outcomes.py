"""The page's script says what the library says: outcomes, words, chance, best thresholds."""

from datetime import timedelta
from math import inf, isnan, nan

import numpy as np
import pytest

import closecall as cc
from closecall.errors import UndefinedMetricError
from closecall.report import report_batch
from closecall.wording import headline, outcome_text, rate_text
from tests.report.conftest import opened, point_at

RANDOM = np.random.default_rng(15)
START = np.datetime64("2024-03-04", "s")
OUTCOMES = """() => closecall.view.series.detectors.map((_, index) => {
  const { series } = closecall.view;
  const { rows, ...result } = closecall.view.scoreAt(index, 0);
  const levels = closecall.levelsOf(series, result.predicted, series.detectors[index].shift);
  const told = [...rows.outcome].map((_, j) => closecall.outcome(series, { rows }, j));
  return {
    outcome: told.map(({ kind }) => kind), words: told.map(({ text }) => text),
    delay: [...rows.delay].map((late) => String(series.clock.duration(late))),
    nearest: [...rows.nearest].map((away) => String(series.clock.duration(away))),
    counts: [result.caught, result.alarms, result.falseAlarms], alarmed: result.alarmed,
    already: [...rows.already].map((code) => code === 1),
    chance: [levels.precision, levels.recall, levels.f1, levels.caught].map(String),
    headline: closecall.headlineOf(series, { rows, ...result }, levels),
  };
})"""


def random_events(most, length, points):
    """Ranges and points that may touch, on a grid so small that borders meet them often."""
    ends = np.sort(RANDOM.choice(length + 1, size=min(2 * most, length + 1), replace=False))
    pairs = [(int(a), int(b)) for a, b in zip(ends[::2], ends[1::2], strict=False)]
    chosen = [pair for pair in pairs if RANDOM.random() < 0.8]
    touching = []
    for start, stop in chosen:
        middle = int(RANDOM.integers(start, stop + 1))
        if RANDOM.random() < points:
            touching.append((start, start))
        elif start < middle < stop and RANDOM.random() < 0.4:
            touching += [(start, middle), (middle, stop)]
        else:
            touching.append((start, stop))
    return touching or [(3, 5)]


def random_series(dated):
    """A series with many detectors; some alarms cross borders of zones, some touch events."""
    length = int(RANDOM.integers(30, 200))
    truth = random_events(int(RANDOM.integers(2, 14)), length, 0.25)
    shares = (0, 0, 0.2, 0.5, 1) * 3
    detectors = [random_events(int(RANDOM.integers(1, 14)), length, share) for share in shares]
    unit = np.timedelta64(int(RANDOM.choice([1, 7, 300, 86_400])), "s") if dated else 1
    origin = START if dated else int(RANDOM.integers(-50, 50))
    scale = 1 if dated or RANDOM.random() < 0.5 else float(RANDOM.choice([0.37, 12.5]))

    def events(pairs):
        return cc.Events([tuple(origin + end * unit * scale for end in pair) for pair in pairs])

    return {
        "truth": events(truth),
        "predicted": {f"d{k}": events(pairs) for k, pairs in enumerate(detectors)},
        "span": (origin, origin + length * unit * scale),
        "close": 2 * unit * scale if RANDOM.random() < 0.5 else None,
    }


SERIES = {f"s{k}": random_series(dated=k % 2 == 0) for k in range(14)}
BY_HAND = {
    "truth": cc.Events([(start, start + 10) for start in range(10, 600, 100)]),
    "predicted": cc.Events([(5, 10), (123, 125), (208, 215), (313, 330), (410, 420)]),
    "span": (0, 600),
}


INCIDENTS = """start,stop,name,severity,owner,ticket
2,4,<b>disk</b>,high,ann,17
8,9,net,low,,18
"""


@pytest.fixture(scope="module")
def many(show, tmp_path_factory):
    path = tmp_path_factory.mktemp("incidents") / "incidents.csv"
    path.write_text(INCIDENTS)
    listed = {"truth": cc.read_events(path), "predicted": cc.Events([(3, 5)]), "span": (0, 12)}
    shared = {"truth": TRUTH, "scores": SCORES}
    axes = {name: {**shared, **options} for name, (options, _) in AXES.items()}
    return show(report_batch(SERIES | axes | {"by hand": BY_HAND, "incidents": listed}))


def test_what_is_known_of_incidents_is_shown(many):
    """Names and severities of the list, in the table and under the pointer, as text."""
    page = opened(many, "incidents")
    heads = page.locator(".events thead th button").all_inner_texts()
    assert heads[3:6] == ["name", "severity", "owner"]
    details = page.locator(".events tbody td.detail")
    assert details.all_inner_texts() == ["<b>disk</b>", "high", "ann", "net", "low", ""]
    for _ in range(2):
        page.locator(".events thead button", has_text="severity").click()
    assert details.all_inner_texts()[:2] == ["net", "low"]
    point_at(page, 0, 3 / 12)
    lines = page.locator("#tooltip").inner_text().splitlines()
    assert lines[2:6] == ["name: <b>disk</b>", "severity: high", "owner: ann", "ticket: 17"]


def seconds(values):
    """Lengths of time as the command line has them; nan for what is undefined."""
    if values.dtype.kind == "m":
        return [nan if np.isnat(value) else value / np.timedelta64(1, "s") for value in values]
    return values.tolist()


def same(shown, values):
    return all(
        (isnan(float(text)) and isnan(value)) or float(text) == value
        for text, value in zip(shown, values, strict=True)
    )


def test_a_thousand_events_have_the_same_outcomes_and_words(many):
    compared, seen = 0, set()
    for name, series in SERIES.items():
        opened(many, name)
        dated = isinstance(series["span"][0], np.datetime64)
        for shown, alarms in zip(
            many.evaluate(OUTCOMES), series["predicted"].values(), strict=True
        ):
            given = {name: series[name] for name in ("span", "close")}
            result = cc.affiliation(series["truth"], alarms, **given)
            events = result.events
            assert shown["outcome"] == events.outcome.tolist(), name
            delay, nearest = seconds(events.delay), seconds(events.nearest)
            assert same(shown["delay"], delay)
            assert same(shown["nearest"], nearest)
            plain = [[None if isnan(one) else one for one in column] for column in (delay, nearest)]
            already = events.already_in_alarm.tolist()
            assert shown["already"] == already
            words = [
                outcome_text(outcome, late, away, already_in_alarm=on, dated=dated)
                for outcome, late, away, on in zip(shown["outcome"], *plain, already, strict=True)
            ]
            assert shown["words"] == words
            assert shown["counts"] == [result.caught, result.alarms, result.false_alarms]
            assert shown["alarmed"] == pytest.approx(result.alarmed, abs=1e-12)
            assert shown["headline"] == result.headline
            levels = [float(level) for level in shown["chance"]]
            assert levels == pytest.approx([*result.chance.values().values()], abs=1e-9)
            compared += len(events)
            seen |= set(shown["outcome"])
    assert compared >= 1000
    assert seen == {"caught", "close call", "missed"}


def test_every_outcome_is_told_in_words(many):
    opened(many, "by hand")
    assert many.locator("tbody td.outcome").all_text_contents() == [
        "close call, touches it",
        "close call, 3 after",
        "2 early",
        "3 late",
        "on time",
        "missed, nearest 90 before",
    ]
    counts = [
        many.locator(f"[data-filter='{name}'] b") for name in ("caught", "close call", "missed")
    ]
    assert [count.text_content() for count in counts] == ["3", "2", "3"]
    many.locator("[data-filter='missed']").click()
    assert many.locator("tbody td.outcome").count() == 3
    many.locator("[data-filter='all']").click()


def test_words_for_the_same_numbers(many):
    numbers = [0, 1, 0.5, 12.5, 2.25, 1e-7, 123456.5, 1e6, 2.5e9, 0.125, 59.95, 1500, 86400.5]
    numbers += (10 ** RANDOM.uniform(-8, 8, size=300)).tolist()
    columns = (
        RANDOM.integers(0, 8, size=600).tolist(),
        [7] * 600,
        RANDOM.permutation([*numbers, *[-one for one in numbers], inf, inf])[:600].tolist(),
        RANDOM.integers(0, 60, size=600).tolist(),
        (10 ** RANDOM.uniform(0, 9, size=600)).tolist(),
        (RANDOM.random(600) < 0.5).tolist(),
        RANDOM.integers(0, 60, size=600).tolist(),
    )
    lines = list(zip(*columns, strict=True))
    chance = [RANDOM.choice([0, 7, 0.03, nan, *(7 * RANDOM.random(9))]) for _ in lines]
    alarmed = [RANDOM.choice([0, 1, 0.5, 0.9999, *RANDOM.random(9)]) for _ in lines]
    texts = [[str(one) if one != inf else "Infinity" for one in line[:5]] for line in lines]
    shown = many.evaluate(
        """lines => lines.map(
          ([caught, events, medianDelay, falseAlarms, length, dated, fewest, chance, alarmed]) =>
            closecall.headline({ caught: Number(caught), events: Number(events),
              medianDelay: Number(medianDelay), falseAlarms: Number(falseAlarms),
              length: Number(length), dated, fewest, chance: Number(chance), alarmed }))""",
        [
            [*text, *line[5:], str(level), float(share)]
            for text, line, level, share in zip(texts, lines, chance, alarmed, strict=True)
        ],
    )
    names = ("median_delay", "false_alarms", "length", "dated", "fewest")
    assert shown == [
        headline(*line[:2], **dict(zip(names, line[2:], strict=True)), chance=level, alarmed=share)
        for line, level, share in zip(lines, chance, alarmed, strict=True)
    ]
    lengths = [10.0**power * 2**half for power in range(8) for half in range(3)]
    rates = [(count, length) for count in (1, 2, 5, 17, 250) for length in lengths]
    late = 2**60  # more digits than a browser writes by itself
    shown = many.evaluate(f"closecall.outcomeText('caught', {late}, NaN, false)")
    assert shown == outcome_text("caught", late, None, dated=False)
    script = "rates => rates.map(([n, time]) => closecall.rateText(n, 'alarm', time, false))"
    shown = many.evaluate(script, rates)
    assert shown == [rate_text(count, "alarm", length, dated=False) for count, length in rates]


def labels_and_scores(count, events):
    truth = np.zeros(count, dtype=int)
    for start in RANDOM.choice(count - 9, size=events, replace=False):
        truth[start : start + RANDOM.integers(1, 9)] = 1
    noise = np.convolve(RANDOM.normal(size=count), [0.3, 0.4, 0.3], "same")
    return truth, np.round(noise + 0.6 * truth, 2)


TRUTH, SCORES = labels_and_scores(700, 12)
DAYS = START + 3600 * np.arange(TRUTH.size)
UNEVEN = START + np.cumsum(RANDOM.integers(60, 7200, size=TRUTH.size))
END = UNEVEN[-1] + np.timedelta64(60, "s")
AXES = {
    "samples": ({}, 1),
    "hours": ({"times": DAYS}, timedelta(hours=1)),
    "uneven": ({"times": UNEVEN, "end": END}, timedelta(hours=1)),
    "ignored": ({"times": DAYS, "ignore": np.arange(TRUTH.size) % 97 > 80}, timedelta(hours=1)),
    "numbers": ({"times": 0.25 * np.arange(TRUTH.size)}, 0.25),
}
LIMITS = [
    {},
    {"min_precision": 0.7},
    {"min_recall": 0.9},
    {"max_alarms_per": (2, 50)},
    {"max_alarms_per": (4, 24), "cooldown": 3},
    {"max_false_alarms_per": (1, 60)},
    {"max_false_alarms_per": (1, 30), "cooldown": 12, "min_recall": 0.5},
    {"max_alarms_per": (3, 24), "max_false_alarms_per": (2, 24), "min_precision": 0.5},
    {"max_alarmed": 0.05},
    {"min_precision": 0.999, "min_recall": 0.999},
    {"min_precision": 0.647},  # three digits of the highest
    {"max_false_alarms_per": (0, 24), "min_recall": 0.99},
    {"max_alarms_per": (0.5, 90), "max_alarmed": 0.01, "min_recall": 0.8, "cooldown": 12},
]
NAMES = {
    "min_precision": "minPrecision",
    "min_recall": "minRecall",
    "max_alarms_per": "maxAlarms",
    "max_false_alarms_per": "maxFalseAlarms",
    "max_alarmed": "maxAlarmed",
    "cooldown": "cooldown",
}
BEST = """sets => sets.map((limits) => {
  const { series } = closecall.view;
  const { clock } = series;
  const inTicks = { ...limits };
  for (const name of ['maxAlarms', 'maxFalseAlarms']) {
    if (inTicks[name]) inTicks[name] = [inTicks[name][0], clock.offsets(inTicks[name][1])];
  }
  if (inTicks.cooldown) inTicks.cooldown = clock.offsets(inTicks.cooldown);
  return closecall.bestWithin(series, series.detectors[0], inTicks);
})"""


def in_units(value, unit):
    """A duration in the units of the axis, and as the page is told it: seconds or the number."""
    length = value * unit
    return length, length.total_seconds() if isinstance(length, timedelta) else length


@pytest.mark.parametrize("axis", AXES)
def test_the_whole_curve_and_the_best_thresholds_within_limits(many, axis):
    options, unit = AXES[axis]
    curve = cc.affiliation_curve(TRUTH, SCORES, **options)
    opened(many, axis)
    asked, told = [], []
    for limits in LIMITS:
        ours, page = dict(limits), {}
        for name, value in limits.items():
            page[NAMES[name]] = value
            if name == "cooldown":
                ours[name], page["cooldown"] = in_units(value, unit)
            elif name.endswith("_per"):
                length, plain = in_units(value[1], unit)
                ours[name], page[NAMES[name]] = (value[0], length), [value[0], plain]
        asked.append(ours)
        told.append(page)
    for ours, shown in zip(asked, many.evaluate(BEST, told), strict=True):
        if shown["broken"]:
            with pytest.raises(UndefinedMetricError) as error:
                curve.best(**ours)
            told = f"the nearest is {shown['threshold']:.6g} with {shown['broken']}."
            assert told in str(error.value), ours
            continue
        best = curve.best(**ours)
        assert shown["threshold"] == best.threshold, ours
        assert (shown["alarms"], shown["falseAlarms"]) == (best.alarms, best.false_alarms), ours
        for name, key in (("precision",) * 2, ("recall",) * 2, ("f1", "fbeta"), ("alarmed",) * 2):
            assert shown[name] == pytest.approx(getattr(best, key), abs=1e-12), ours
    shown = many.evaluate(
        """() => {
          const { thresholds, precision, recall } = closecall.view.series.detectors[0].whole;
          return [thresholds, precision, recall].map((column) => [...column]);
        }"""
    )
    assert shown[0] == curve.thresholds.tolist()
    assert shown[1] == pytest.approx(curve.precision, abs=1e-12)
    assert shown[2] == pytest.approx(curve.recall, abs=1e-12)
