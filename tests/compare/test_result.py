"""Comparisons: against affiliation itself and counts by hand, and what is refused."""

import json
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import closecall as cc
from closecall.compare import compare
from closecall.datasets import demo
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

# Ten samples around an event of two: each is a zone of its own when they are lined up.
EVENT = "0000110000"
EXACT = "0000110000"
HALF = "0000100000"  # less recall
WIDE = "0001111000"  # less precision
WIDER = "0011111100"  # still less precision
SHIFTED = "0000011000"  # less of both
NOTHING = "0000000000"

# What the first detector does beside the second, by the count it belongs to, and how often.
CASES = {
    "better_both": (1, EXACT, SHIFTED),
    "better_precision": (2, EXACT, WIDE),
    "better_recall": (3, EXACT, HALF),
    "equal": (4, WIDE, WIDE),
    "worse_both": (5, SHIFTED, EXACT),
    "worse_precision": (6, WIDER, WIDE),
    "worse_recall": (7, HALF, EXACT),
    "undetected_by_first": (8, NOTHING, SHIFTED),
    "undetected_by_second": (9, HALF, NOTHING),
    "undetected_by_both": (10, NOTHING, NOTHING),
}


def vector(*parts):
    return np.array([int(label) for label in "".join(parts)])


@pytest.fixture(scope="module")
def counted():
    first = [mine for times, mine, _ in CASES.values() for _ in range(times)]
    second = [theirs for times, _, theirs in CASES.values() for _ in range(times)]
    first += [WIDE, HALF, HALF]
    second += [HALF, WIDE, WIDER]  # equivocal, both ways
    truth = vector(EVENT * len(first))
    return compare(truth, {"first": vector(*first), "second": vector(*second)})


def test_every_event_is_counted_where_it_belongs(counted):
    pair = counted.pair("first", "second")
    assert {name: getattr(pair, name) for name in CASES} == {
        name: times for name, (times, _, _) in CASES.items()
    }
    assert pair.equivocal == 3
    assert (pair.better, pair.worse) == (1 + 2 + 3, 5 + 6 + 7)
    assert counted.pairs == (pair,)


def test_the_other_way_round(counted):
    pair, reverse = counted.pair("first", "second"), counted.pair("second", "first")
    for better, worse in (
        ("better_both", "worse_both"),
        ("better_precision", "worse_precision"),
        ("better_recall", "worse_recall"),
        ("undetected_by_first", "undetected_by_second"),
        ("equal", "equal"),
        ("equivocal", "equivocal"),
        ("undetected_by_both", "undetected_by_both"),
    ):
        assert getattr(pair, better) == getattr(reverse, worse)
    for score in ("precision", "recall", "f1"):
        difference = getattr(pair, f"{score}_difference")
        first, second = (getattr(counted.results[name], score) for name in counted.names)
        assert difference == first - second == -getattr(reverse, f"{score}_difference")


def test_caught_alone():
    truth = cc.Events([(10, 20), (40, 50), (70, 80)])
    detectors = {
        "a": cc.Events([(15, 45)]),
        "b": cc.Events([(18, 19), (81, 82)]),
        "c": cc.Events([]),
    }
    rows = cc.compare(truth, detectors, span=(0, 100)).detectors
    # The third event is only near an alarm: nobody caught it.
    assert [(row.caught, row.caught_alone, row.found_alone) for row in rows] == [
        (2, 1, 1),
        (1, 0, 1),
        (0, 0, 0),
    ]


def test_standings(counted):
    first, second = counted.detectors
    both_find = sum(CASES[name][0] for name in CASES if not name.startswith("undetected")) + 3
    assert (first.found, second.found) == (both_find + 9, both_find + 8)
    assert (first.found_alone, second.found_alone) == (9, 8)
    assert first.tied == second.tied == 4
    assert first.best + second.best + first.tied + 10 == len(counted.best)
    # The last three: equivocal events are decided by their F1.
    f1 = [counted.results[name].events.f1[-3:] for name in counted.names]
    assert counted.best[-3:] == tuple(
        ("first",) if mine > theirs else ("second",) for mine, theirs in zip(*f1, strict=True)
    )


def test_best_ties_and_nobody(counted):
    starts = np.cumsum([0, *(times for times, _, _ in CASES.values())])
    at = dict(zip(CASES, starts.tolist(), strict=False))
    assert counted.best[at["better_both"]] == ("first",)
    assert counted.best[at["equal"]] == ("first", "second")
    assert counted.best[at["undetected_by_first"]] == ("second",)
    assert counted.best[at["undetected_by_both"]] == ()
    assert counted.missed_by_all == tuple(
        range(at["undetected_by_both"], at["undetected_by_both"] + 10)
    )


def test_rounding_makes_equals():
    truth = vector("0" * 50, "1" * 100, "0" * 50)
    nearly = truth.copy()
    nearly[50] = 0
    exactly = compare(truth, {"all": truth, "nearly": nearly})
    assert exactly.pair("all", "nearly").better_recall == 1
    assert exactly.best == (("all",),)
    loosely = compare(truth, {"all": truth, "nearly": nearly}, decimals=2)
    assert loosely.pair("all", "nearly").equal == 1
    assert loosely.best == (("all", "nearly"),)
    # What is reported is not rounded.
    assert loosely.results["nearly"].recall == exactly.results["nearly"].recall < 1


def test_scores_are_cut_at_their_best_or_where_they_are_told():
    data = demo()
    compared = compare(
        data.truth, scores=data.scores, thresholds={"forecast": 30}, times=data.times
    )
    best = cc.affiliation_curve(data.truth, data.scores["threshold"], times=data.times).best()
    assert compared.thresholds == {"threshold": best.threshold, "forecast": 30}
    for name, scores in data.scores.items():
        labels = scores >= compared.thresholds[name]
        expected = cc.affiliation(data.truth, labels, times=data.times)
        assert compared.results[name].to_dict() == expected.to_dict()


def test_labels_events_and_scores_beside_each_other():
    data = demo()
    stop = data.times[-1] + np.timedelta64(300, "s")
    events = {
        name: cc.Events.from_labels(labels, data.times) for name, labels in data.predicted.items()
    }
    finer = cc.Events.from_arrays(
        events["forecast"].starts.astype("datetime64[ns]"),
        events["forecast"].stops.astype("datetime64[ns]"),
    )
    expected = compare(data.truth, data.predicted, times=data.times).to_dict()
    only_events = compare(
        cc.Events.from_labels(data.truth, data.times), events, span=(data.times[0], stop)
    )
    assert only_events.to_dict() == expected
    labels = {"threshold": data.predicted["threshold"]}
    mixed = compare(data.truth, labels | {"forecast": finer}, times=data.times).to_dict()
    # The clock is now the finest of all, and only the written times show it.
    assert mixed["pairs"] == expected["pairs"]
    assert mixed["detectors"] == expected["detectors"]
    scored = compare(
        cc.Events.from_labels(data.truth, data.times),
        {"forecast": finer},
        scores={"threshold": data.scores["threshold"]},
        thresholds={"threshold": data.thresholds["threshold"]},
        times=data.times,
    )
    assert scored.pair("threshold", "forecast") == only_events.pair("threshold", "forecast")


def test_missed_counts_what_was_not_caught_and_no_empty_zones():
    # Of the first two events of "far", one is missed with an alarm in its zone, one without any.
    truth = cc.Events([(100, 110), (300, 310), (500, 510), (700, 710)])
    far = cc.Events([(180, 190), (505, 506), (712, 713)])
    near = cc.Events([(105, 106), (503, 520), (620, 621)])
    compared = compare(truth, {"far": far, "near": near}, span=(0, 800))
    outcomes = {name: own.events.outcome.tolist() for name, own in compared.results.items()}
    assert outcomes == {
        "far": ["missed", "missed", "caught", "close call"],
        "near": ["caught", "missed", "caught", "missed"],
    }
    assert compared.missed_by_all == (1, 3)
    pair = compared.pair("far", "near")
    assert (pair.missed_by_first, pair.missed_by_second, pair.missed_by_both) == (1, 0, 2)
    undetected = pair.undetected_by_first, pair.undetected_by_second, pair.undetected_by_both
    assert undetected == (0, 0, 1)
    rows = {row.name: (row.caught, row.close_calls, row.missed) for row in compared.detectors}
    assert rows == {"far": (1, 1, 3), "near": (2, 0, 2)}
    told = [(row["outcome"], row["delay"], row["nearest"]) for row in compared.events[6:]]
    np.testing.assert_equal(told, [("close call", np.nan, 2), ("missed", np.nan, -79)])
    assert compared.ensemble().to_dict()["missed"] == 2


def test_what_any_detector_has_no_score_for_is_ignored_for_all():
    rng = np.random.default_rng(8)
    truth = np.zeros(60, dtype=int)
    truth[[10, 11, 30, 31, 50]] = 1
    scores = {name: rng.random(60) + truth for name in "ab"}
    scores["a"][3:9], scores["b"][20:25] = np.nan, np.nan
    labels = rng.integers(0, 2, 60)
    compared = compare(truth, {"labels": labels}, scores=scores, thresholds=1, nan="ignore")
    kept = ~np.isnan(scores["a"]) & ~np.isnan(scores["b"])
    for name, predicted in {"labels": labels, "a": scores["a"] >= 1, "b": scores["b"] >= 1}.items():
        own, deleted = compared.results[name], cc.affiliation(truth[kept], predicted[kept])
        assert own.ignored_time == 11
        assert (own.precision, own.recall) == pytest.approx((deleted.precision, deleted.recall))
        assert own.events.outcome.tolist() == deleted.events.outcome.tolist()
    with pytest.raises(InputError, match="nan at index 3"):
        compare(truth, scores=scores)


def test_a_detector_without_a_single_alarm():
    compared = compare(
        [0, 1, 0, 0, 1], {"mute": cc.Events([]), "one": [0, 1, 0, 0, 0]}, times=range(5)
    )
    mute, one = compared.detectors
    assert (mute.found, mute.alarms, mute.recall) == (0, 0, 0)
    assert np.isnan(mute.f1)
    assert (one.found, one.found_alone, one.best) == (1, 1, 1)
    assert compared.missed_by_all == (1,)
    assert repr(compared) == (
        "Comparison(2 detectors on 2 events; 'one' has the best F1, 0.67: 1 of 2 caught (0.4 by "
        "chance), median delay never, no false alarms; 1 missed by all)"
    )
    nobody = compare([0, 1], {"a": [0, 0], "b": [0, 0]})
    assert nobody.headline == "no detector has an alarm"
    assert nobody.best == ((),)
    assert nobody.to_dict()["best_pair"]["f1"] is None


def test_rows_and_plain_values():
    start = datetime(2024, 3, 31, tzinfo=UTC)
    times = [start + timedelta(hours=hour) for hour in range(6)]
    compared = compare(
        [0, 1, 1, 0, 0, 1],
        {"a": [0, 0, 1, 1, 0, 0], "b": [0, 1, 1, 1, 0, 1]},
        scores={"c": [-np.inf, 2, np.inf, 0, 0, 0]},
        thresholds={"c": np.inf},
        times=times,
    )
    assert [(row["event"], row["detector"]) for row in compared.events] == [
        (event, name) for event in range(2) for name in "abc"
    ]
    first = compared.events[0]
    assert first["start"] == np.datetime64("2024-03-31T01:00:00")
    assert first["delay"] == np.timedelta64(1, "h")
    assert [row["best"] for row in compared.events] == [False, False, True, False, True, False]
    plain = compared.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["events"][1]["detectors"]["a"]["precision"] is None
    assert plain["events"][0]["start"] == "2024-03-31T01:00:00+00:00"
    assert plain["events"][0]["detectors"]["a"] == {
        name: value
        for name, value in compared.results["a"].to_dict()["events"][0].items()
        if name not in {"start", "stop", "zone_start", "zone_stop"}
    }
    assert plain["detectors"][2]["threshold"] == "inf"
    assert plain["missed_by_all"] == []
    assert len(plain["ensembles"]) == 6


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames(backend):
    data = demo()
    zoned = [datetime.fromtimestamp(stamp, UTC) for stamp in data.times.astype(int).tolist()]
    compared = compare(data.truth, data.predicted, times=zoned)
    long = compared.to_frame(backend)
    assert list(long["event"]) == [event for event in range(7) for _ in range(2)]
    assert list(long["detector"]) == ["threshold", "forecast"] * 7
    assert list(long["best"]) == [row["best"] for row in compared.events]
    np.testing.assert_array_equal(long["recall"], [row["recall"] for row in compared.events])
    assert next(iter(long["start"])) == datetime(2024, 3, 7, 10, 20, tzinfo=UTC)
    wide = compared.to_frame(backend, part="wide")
    assert len(wide) == 7
    forecast = compared.results["forecast"].events
    np.testing.assert_array_equal(wide["forecast_f1"], forecast.f1)
    assert list(wide["best"]) == ["".join(names) for names in compared.best]
    assert list(wide["start"]) == list(long["start"])[::2]
    detectors = compared.to_frame(backend, part="detectors")
    assert list(detectors["f1"]) == [row.f1 for row in compared.detectors]
    assert list(detectors["detector"]) == list(compared.names)
    assert [row["detector"] for row in compared.to_dict()["detectors"]] == list(compared.names)
    assert np.isnan(np.array(detectors["threshold"], dtype=float)).all()
    pairs = compared.to_frame(backend, part="pairs")
    assert list(pairs["equivocal"]) == [2]
    ensembles = compared.to_frame(backend, part="ensembles")
    assert list(ensembles["how"]) == ["union", "intersection"]
    assert list(ensembles["second"]) == ["forecast"] * 2


def test_a_comparison_can_be_pickled():
    data = demo()
    compared = compare(data.truth, data.predicted, times=data.times)
    assert pickle.loads(pickle.dumps(compared)).to_dict() == compared.to_dict()  # noqa: S301 - our own bytes


HOSTILE = ("<img src=x onerror=alert(1)>", "a\nb\x1b[31m", "[bold]", "'; DROP", "名前", "a,b")


def test_any_text_is_a_name():
    compared = compare([0, 1, 0], {key: [0, 1, 0] for key in HOSTILE})
    assert compared.best == (HOSTILE,)
    assert "\n" not in repr(compared.pair(*HOSTILE[:2]))
    assert "\n" not in repr(compared.ensemble(HOSTILE[:2]))
    assert list(compared.to_frame(part="wide").columns[6:7]) == [f"{HOSTILE[0]}_outcome"]


TRUTH, MINE, THEIRS = [0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]
BOTH = {"mine": MINE, "theirs": THEIRS}


COMPARED = compare(TRUTH, BOTH)
MIXED = {"mine": MINE, "theirs": cc.Events([(2, 4)])}
REFUSED = {
    InputError: [
        (lambda: compare(TRUTH), "at least two detectors to compare, got none."),
        (
            lambda: compare(TRUTH, {"mine": MINE}),
            (
                "at least two detectors to compare, got only 'mine'.\n\n"
                "Hint: Score a single detector with `closecall.affiliation`."
            ),
        ),
        *(
            (
                lambda own=own: compare(TRUTH, BOTH, decimals=own),
                f"`decimals` to be a whole number from 0 to 15, or None, got {own}.",
            )
            for own in (-1, 2.0)
        ),
        (
            lambda: COMPARED.pair("mine", "their"),
            "a detector, got 'their'.\n\nHint: Did you mean 'theirs'? There are: 'mine', 'theirs'.",
        ),
        (lambda: COMPARED.pair("mine", "mine"), "each of `names` once, got"),
        (lambda: COMPARED.ensemble(["mine", "zebra"]), "a detector, got 'zebra'."),
        (lambda: COMPARED.ensemble([]), "at least one detector in `names`, got none."),
        (
            lambda: COMPARED.ensemble(how="mean"),
            "`how` to be 'union', 'intersection' or 'vote', got 'mean'.",
        ),
        *(
            (
                lambda own=own: COMPARED.ensemble(how="vote", votes=own),
                f"`votes` to be a whole number from 1 to 2, got {own}.",
            )
            for own in (3, 0, 1.5)
        ),
        (
            lambda: COMPARED.to_frame(part="long"),
            "`part` to be 'events', 'wide', 'detectors', 'pairs' or 'ensembles', got 'long'.",
        ),
        (lambda: COMPARED.to_frame("dask"), "`backend` to be 'pandas' or 'polars', got 'dask'."),
    ],
    UndefinedMetricError: [
        (lambda: compare([0] * 4, BOTH), "at least one true event (affiliation")
    ],
    InputTypeError: [
        (
            lambda: compare(TRUTH, MIXED),
            (
                "`times` where Events and vectors are compared, got none (`predicted['theirs']` is "
                "Events and `truth` a vector).\n\n"
                "Hint: Pass `times=`, one for each sample of the vectors."
            ),
        ),
        (
            lambda: COMPARED.ensemble("mine"),
            "`names` to be names in a list, got 'mine'.\n\nHint: Pass ['mine'].",
        ),
        (lambda: COMPARED.ensemble(how="union", votes=1), "no `votes` for the union, got 1."),
    ],
}


@pytest.mark.parametrize(
    ("kind", "call", "message"), [(kind, *row) for kind in REFUSED for row in REFUSED[kind]]
)
def test_refused(kind, call, message):
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value).startswith(f"Expected {message}")


def test_one_number_is_the_threshold_of_all_scores():
    truth = [0, 0, 1, 1, 0, 0, 1, 0]
    scores = {
        "a": [0.1, 0.6, 0.9, 0.4, 0.1, 0.2, 0.5, 0.3],
        "b": [0.9, 0.1, 0.2, 0.4, 0.3, 0, 0, 1],
    }
    one = cc.compare(truth, scores=scores, thresholds=0.4)
    assert one.thresholds == {"a": 0.4, "b": 0.4}
    each = cc.compare(truth, scores=scores, thresholds={"a": 0.4, "b": 0.4})
    assert one.to_dict() == each.to_dict()
    assert one.to_dict() != cc.compare(truth, scores=scores, thresholds=0.5).to_dict()
    with pytest.raises(InputTypeError, match="`scores` beside `thresholds`, got none"):
        cc.compare(truth, {"a": truth, "b": truth}, thresholds=0.4)
    with pytest.raises(InputError, match=r"`thresholds\['a'\]` to be a number, or inf, got nan"):
        cc.compare(truth, scores=scores, thresholds=float("nan"))


def test_detectors_on_their_own_time_are_compared_if_they_keep_the_same_events():
    rng = np.random.default_rng(8)
    truth = np.zeros(60, dtype=int)
    truth[[10, 11, 30, 31, 50]] = 1
    scores = {name: rng.random(60) + truth for name in "ab"}
    scores["a"][3:11], scores["b"][20:25] = np.nan, np.nan
    labels = {"labels": rng.integers(0, 2, 60)}
    compared = compare(truth, labels, scores=scores, nan="each")
    for name, one in scores.items():
        alone = cc.affiliation_curve(truth, one, nan="ignore")
        alone = alone.at(alone.best().threshold)
        assert compared.results[name].values() == alone.values()
        assert compared.results[name].chance.values() == alone.chance.values()
        assert compared.results[name].events.outcome.tolist() == alone.events.outcome.tolist()
    assert compared.results["labels"].ignored_time == 0
    written = compared.to_dict()
    assert [row["ignored_time"] for row in written["detectors"]] == [0, 8, 5]
    assert (written["ensembles"], written["best_pair"]) == ([], None)
    assert not any(name.startswith("best_pair") for name in compared.to_dict(flat=True))
    assert "|ignore:none|step:none|nan:each|" in str(compared.signature)
    with pytest.raises(InputError, match="judged on the same time, to take them as one"):
        compared.ensemble()
    scores["b"][30:32] = np.nan
    with pytest.raises(InputError) as raised:
        compare(truth, labels, scores=scores, nan="each")
    assert "got 2 of 3 events with scores of 'b'.\n\nHint: Compare them where all have" in str(
        raised.value
    )


def test_rules_are_thresholds_of_some_scores_or_of_all():
    data = demo()
    scores, times = data.scores, data.times
    mixed = cc.compare(
        data.truth, scores=scores, thresholds={"forecast": "quantile:0.97"}, times=times
    )
    forecast = cc.choose_threshold(data.truth, scores["forecast"], "quantile:0.97", times=times)
    best = cc.choose_threshold(data.truth, scores["threshold"], times=times).threshold
    assert mixed.thresholds == {"forecast": forecast.threshold, "threshold": best}
    assert mixed.notes == ()
    signed = {"threshold": "best_f1", "thresholds": {"forecast": "quantile:0.97"}}
    assert mixed.signature.options == signed
    budget = {"alarms": (2, np.timedelta64(7, "D"))}
    one = cc.compare(data.truth, scores=scores, thresholds="alarms:2/7d", times=times)
    each = cc.compare(
        data.truth, scores=scores, thresholds=dict.fromkeys(scores, budget), times=times
    )
    assert one.thresholds == each.thresholds
    assert all(result.alarms <= 4 for result in one.results.values())


def test_a_rule_that_alarms_always_or_never_is_noted():
    truth, tied = [0] * 95 + [1] * 5, [0] * 97 + [1] * 3
    compared = cc.compare(
        truth,
        {"labels": truth},
        scores={"a": tied, "b": tied},
        thresholds={"a": "quantile:0.99", "b": "mad:3"},
    )
    silent, endless = compared.notes
    assert silent.startswith("a: `quantile:0.99` gives no alarm")
    assert endless.startswith("b: `mad:3` puts 100 % of the time in alarm")
    assert compared.thresholds["a"] == np.inf
