"""The audit: who is fooled, by what, and what the metrics reward."""

import gzip
import json
from datetime import timedelta
from itertools import product

import numpy as np
import pandas as pd
import pytest

import closecall as cc
from closecall import adversary
from closecall.adversary.audit import audit, join_event
from closecall.datasets import demo
from closecall.errors import InputError, InputTypeError

EPISODES = np.array(([0] * 400 + [1] * 200) * 5 + [0] * 500)
LATE = np.roll(EPISODES, 60)
METRICS = ("classical", "point_adjust", "composite", "range_based", "time_aware", "affiliation")


@pytest.fixture(scope="module")
def whole():
    return audit(EPISODES, {"late": LATE, "blind": np.roll(EPISODES, 300)}, metrics=METRICS)


def row(audited, metric, prediction):
    (found,) = [
        row for row in audited.table if (row["metric"], row["prediction"]) == (metric, prediction)
    ]
    return found


def test_verdicts(whole):
    assert whole.beaten == ("point_adjust", "composite", "range_based", "time_aware")
    assert whole.beaten_joined == whole.beaten
    assert {name: whole.verdicts[name].joined.by for name in whole.beaten[1:]} == {
        "composite": "composite",
        "range_based": "alternating",
        "time_aware": "alternating",
    }
    for verdict in (own for both in whole.verdicts.values() for own in both):
        assert verdict.beaten == (verdict.score >= verdict.detector_score)
        assert verdict.margin == verdict.score - verdict.detector_score
        assert verdict.detector == "late"


def test_a_prediction_without_information_beats_what_is_no_better():
    """One alarm over all of the time is as good as a perfect detector, to who counts overlaps."""
    audited = audit(EPISODES, {"perfect": EPISODES}, metrics=["event_wise"], budget=1)
    verdict = audited.verdicts["event_wise"].raw
    assert (verdict.score, verdict.margin, verdict.beaten) == (1, 0, True)


def test_the_table_holds_what_evaluate_gives(whole):
    scores = cc.evaluate(EPISODES, LATE, metrics=METRICS)
    everything = cc.evaluate(EPISODES, np.ones_like(EPISODES), metrics=METRICS)
    first = np.zeros_like(EPISODES)
    first[400:600] = 1
    trivial = cc.evaluate(EPISODES, first, metrics=METRICS)
    told = {"late": scores, "everything": everything, "trivial": trivial}
    for metric, (prediction, expected) in product(METRICS, told.items()):
        found = row(whole, metric, prediction)
        for name, own in (("f1", "score"), ("precision", "precision"), ("recall", "recall")):
            assert found[own] == expected[f"{metric}_{name}"]


def test_every_metric_has_every_prediction(whole):
    for metric in METRICS:
        kinds = [row["kind"] for row in whole.table if row["metric"] == metric]
        assert kinds == ["detector"] * 2 + ["trivial"] + ["uninformative"] * 5


def test_an_adversary_is_compared_with_detectors_that_know_as_much(whole):
    verdict = whole.verdicts["range_based"].joined
    assert verdict.knows == 1
    start, stop = list(cc.Events.from_labels(EPISODES))[verdict.parameters["event"]]
    event = np.zeros_like(EPISODES)
    event[start:stop] = 1
    helped = LATE.copy()
    helped[start - 200 : stop + 200] = event[start - 200 : stop + 200]
    assert verdict.detector_score == cc.metrics.range_based(EPISODES, helped).f1
    assert verdict.score == cc.metrics.range_based(EPISODES, adversary.from_trivial(event)).f1


def test_raw_is_the_comparison_with_the_detectors_as_they_are(whole):
    for metric, (raw, joined) in whole.verdicts.items():
        own = [found for found in whole.table if found["metric"] == metric]
        best = max(found["score"] for found in own if found["kind"] == "detector")
        rival = max(found["score"] for found in own if found["kind"] == "uninformative")
        assert (raw.detector_score, raw.score) == (best, rival)
        assert (raw.comparison, joined.comparison) == ("raw", "joined")
        assert joined.margin <= raw.margin  # an event that is given helps every detector here


def test_scores_above_chance_are_audited():
    chosen = ["affiliation_above_chance", "affiliation"]
    found = audit(EPISODES, {"late": LATE}, metrics=chosen, budget=5)
    scores = cc.affiliation(EPISODES, LATE)
    own = row(found, "affiliation_above_chance", "late")
    assert own["score"] == scores.f1_above_chance
    assert own["precision"] == scores.precision_above_chance
    assert own["recall"] == scores.recall_above_chance
    assert list(found.verdicts) == chosen
    for given in found.verdicts["affiliation_above_chance"]:
        assert given.beaten is False
    alone = adversary.search("affiliation_above_chance", EPISODES, families=["everything"])
    assert alone.score == cc.affiliation(EPISODES, np.ones_like(EPISODES)).f1_above_chance


def test_an_event_replaces_what_is_predicted_in_its_zone():
    truth = cc.Events([(10, 20), (40, 50), (80, 90)])
    predicted = cc.Events([(0, 5), (28, 45), (55, 70), (85, 99)])
    given = join_event(truth, predicted, cc.Events([(40, 50)]), (0, 100))
    assert list(given) == [(0, 5), (28, 30), (40, 50), (65, 70), (85, 99)]
    outer = join_event(truth, predicted, cc.Events([(10, 20), (80, 90)]), (0, 100))
    assert list(outer) == [(10, 20), (30, 45), (55, 65), (80, 90)]


def test_an_event_keeps_points_outside_its_zone():
    truth = cc.Events([(10.0, 20.0), (40.0, 50.0)])
    predicted = cc.Events.from_points([5.0, 29.5, 30.0, 60.0])
    given = join_event(truth, predicted, cc.Events([(10.0, 20.0)]), (0.0, 100.0))
    assert list(given) == [(10.0, 20.0), (30.0, 30.0), (60.0, 60.0)]


def test_vectors_and_events_get_the_same_verdicts(whole):
    span = (0, len(EPISODES))
    sides = [cc.Events.from_labels(side) for side in (EPISODES, LATE, np.roll(EPISODES, 300))]
    events = audit(
        sides[0], {"late": sides[1], "blind": sides[2]}, metrics=["range_based"], span=span
    )
    assert events.verdicts["range_based"] == whole.verdicts["range_based"]


def test_events_on_clocks_of_two_units_are_audited():
    origin = np.datetime64("2024-01-01T00:00:00", "s")
    minutes = np.timedelta64(60, "s")
    truth = cc.Events(
        [(origin + a * minutes, origin + b * minutes) for a, b in ((60, 90), (200, 260))]
    )
    ends = (side.astype("datetime64[ns]") for side in (truth.starts, truth.stops))
    late = cc.Events.from_arrays(*(side + np.timedelta64(10, "m") for side in ends))
    span = (origin, origin + 400 * minutes)
    metrics = {"affiliation": {}, "margin": {"margin": timedelta(minutes=15)}}
    found = audit(truth, {"late": late}, span=span, metrics=metrics, budget=30)
    assert row(found, "margin", "late")["score"] == 1
    assert row(found, "affiliation", "late")["score"] == cc.affiliation(truth, late, span=span).f1
    assert found.verdicts["affiliation"].raw.beaten is False


def test_random_points_beat_point_adjust_where_detectors_are_imprecise():
    noisy = adversary.random_ranges(EPISODES, count=60, length=10, seed=1)
    found = audit(EPISODES, {"noisy": noisy}, metrics=["point_adjust", "affiliation"])
    raw, verdict = found.verdicts["point_adjust"]
    assert raw.beaten
    assert (verdict.beaten, verdict.by, verdict.knows) == (True, "random_points", 0)
    assert verdict.score > 0.9


def test_the_demo():
    data = demo()
    found = audit(data.truth, data.predicted, times=data.times, budget=10)
    assert {"event_wise", "range_based", "time_aware"} <= set(found.beaten)
    assert not {"affiliation", "classical", "normalised_affiliation"} & set(found.beaten)
    assert found.verdicts["affiliation"].raw.margin < -0.2
    assert found.events == 7


@pytest.mark.parametrize("dataset", ["machinetemp", "twitteraapl", "nyctaxi"])
def test_the_papers_data(data_folder, dataset):
    def labels(name):
        lines = gzip.decompress((data_folder / "kdd2022" / f"{dataset}_{name}.gz").read_bytes())
        return np.array(lines.split(), dtype=np.float64).astype(np.uint8)

    found = audit(
        labels("groundtruth"),
        {name: labels(name) for name in ("greenhouse", "lstmad", "luminol")},
        trivial=labels("trivial"),
        metrics=["range_based", "time_aware", "affiliation"],
    )
    for own in found.verdicts["range_based"]:
        assert (own.beaten, own.by) == (True, "alternating")
    assert all(own.beaten for own in found.verdicts["time_aware"])
    # On nyctaxi the published detectors are no better than chance. On machinetemp one of two events
    # is worth more than what they find.
    raw, joined = found.verdicts["affiliation"]
    assert raw.beaten == (dataset in ("nyctaxi", "machinetemp"))
    assert joined.beaten == (dataset == "nyctaxi")


def test_a_verdict_does_not_hang_on_the_seed():
    truth = np.array([0] * 500 + [1] * 120 + [0] * 600)
    fair = np.roll(truth, 60)
    verdicts = [
        audit(truth, {"fair": fair}, metrics=["classical"], seed=seed).verdicts["classical"].raw
        for seed in range(3)
    ]
    # F1 is 0.5; a range as long as the event reaches that once in ten draws.
    assert {verdict.detector_score for verdict in verdicts} == {0.5}
    assert not any(verdict.beaten for verdict in verdicts)
    assert max(verdict.score for verdict in verdicts) < 0.35


def test_progress_counts_to_its_total():
    seen = []
    told = {"budget": 20, "progress": lambda *at: seen.append(at)}
    audit(EPISODES, {"late": LATE}, metrics=["classical"], **told)
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    # Each round of fresh draws adds what it takes.
    totals = [total for _, total in seen]
    assert totals == sorted(totals)
    assert totals[-1] == len(seen)


def test_undefined_detectors_are_beaten_by_anything_defined():
    found = audit(
        [0, 1, 0, 0, 0, 1, 0, 0], {"silent": [0] * 8}, metrics=["classical", "segmentation"]
    )
    verdict = found.verdicts["classical"].raw
    assert (verdict.beaten, verdict.margin) == (True, float("inf"))
    assert found.to_dict()["verdicts"][0]["margin"] is None


def test_one_event_leaves_informed_adversaries_out():
    truth = [0] * 50 + [1] * 20 + [0] * 50
    found = audit(truth, {"late": np.roll(truth, 5)}, metrics=["composite"])
    assert set(found.left_out) == {"alternating", "composite"}
    predictions = ["late", "trivial", "everything", "random_points", "random_ranges"]
    assert [row["prediction"] for row in found.table] == predictions


def test_frames(whole):
    frame = whole.to_frame()
    assert frame.shape == (6 * 8, 9)
    chosen = frame[(frame.metric == "classical") & (frame.prediction == "late")]
    assert chosen.score.tolist() == [row(whole, "classical", "late")["score"]]
    verdicts = whole.to_frame("polars", part="verdicts")
    assert verdicts["metric"].to_list() == [name for name in METRICS for _ in range(2)]
    assert verdicts["comparison"].to_list() == ["raw", "joined"] * len(METRICS)
    assert json.loads(verdicts["parameters"][0]) == whole.verdicts["classical"].raw.parameters
    assert whole.to_frame("polars", part="targets").shape == (6 * 5, 6)


def test_plain_values_are_json(whole):
    plain = json.loads(json.dumps(whole.to_dict(), allow_nan=False))
    assert plain["verdicts"][0]["metric"] == "classical"
    assert plain["distances"]["affiliation"][0] == {
        "distance": 0,
        "score": whole.distances["affiliation"][0],
    }


def test_the_repr_is_one_line(whole):
    assert repr(whole) == (
        f"Audit(6 metrics on 5 events, {whole.tried} uninformative predictions, "
        "beaten raw: point_adjust, composite, range_based, time_aware; "
        "joined: point_adjust, composite, range_based, time_aware)"
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0, 1]), {}, "`detectors` to be predictions by name, got list"),
        (([0, 1], {}), {}, "at least one detector"),
        (([0, 0], {"a": [0, 1]}), {}, "at least one true event"),
        (([0, 1], {"a": [0, 1]}), {"metrics": ["clasical"]}, "Did you mean 'classical'?"),
        (([0, 1], {"a": [0, 1]}), {"budget": 0}, "`budget` to be 1 or more"),
        (([0, 1], {"a": [0, 1]}), {"seed": -1}, "`seed` to be 0 or more"),
        (([0, 1], {"a": [0, 1]}), {"trivial": [1]}, "`trivial` to have as many labels as `truth`"),
        (([0, 1], {"a": [0, 1], "b": [0, 2]}), {}, "`detectors['b']` labels to be 0 or 1, got 2"),
        (([0, 1], {"everything": [0, 1]}), {}, "the audit's own predictions (trivial, alt"),
        (([0, 1], {3: [0, 1]}), {}, "names in `detectors` to be text, got 3"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises((InputError, InputTypeError)) as caught:
        audit(*arguments, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("trivial", "got"),
    [
        ([0, 1, 0, 1, 0, 0, 0, 0], "2 events"),
        ([0, 0, 0, 0, 0, 0, 0, 0], "none"),
        ([1, 0, 0, 0, 0, 0, 0, 0], "(0, 1), which meets 0 true events"),
        ([0, 1, 1, 1, 1, 1, 0, 0], "(1, 6), which meets 2 true events"),
    ],
)
def test_a_trivial_event_is_one_and_true(trivial, got):
    truth = [0, 1, 1, 0, 0, 1, 1, 0]
    with pytest.raises(InputError, match="`trivial` to be one event, which is true") as caught:
        audit(truth, {"a": truth}, trivial=trivial)
    assert got in str(caught.value)
    with pytest.raises(InputError, match="`trivial` to be one event, which is true"):
        adversary.search("classical", truth, trivial=trivial)


def test_one_metric_by_name_is_enough():
    truth = [0, 1, 0, 0, 0, 1, 0, 0]
    assert list(audit(truth, {"a": truth}, metrics="classical", budget=1).verdicts) == ["classical"]


def test_bad_frames(whole):
    with pytest.raises(InputError, match="`backend` to be 'pandas' or 'polars', got 'arrow'"):
        whole.to_frame("arrow")
    with pytest.raises(InputError, match="`part` to be 'table', 'verdicts' or 'targets'"):
        whole.to_frame(part="rows")


def test_ignored_samples_are_as_if_they_were_deleted():
    times = np.datetime64("2024-01-01") + np.arange(EPISODES.size).astype("timedelta64[s]")
    ignore = np.zeros(EPISODES.size, dtype=int)
    ignore[:300] = ignore[700:900] = 1
    kept = ignore == 0
    options = {"metrics": ("classical", "affiliation", "hausdorff"), "budget": 10}
    own = audit(EPISODES, {"late": LATE}, times=times, ignore=ignore, **options)
    cut = audit(EPISODES[kept], {"late": LATE[kept]}, times=times[: kept.sum()], **options)
    assert own.to_dict() | {"signature": str(cut.signature)} == cut.to_dict()
    assert "|ignore:#" in str(own.signature)


def test_ignored_time_of_events_and_labels():
    truth, late = (cc.Events([(100 + own, 140 + own), (400 + own, 430 + own)]) for own in (0, 5))
    span, outage = (0, 600), [(0, 50), (200, 300)]
    options = {"metrics": ("affiliation", "hausdorff"), "budget": 10}
    closed = [cc.Events([(50 + own, 90 + own), (250 + own, 280 + own)]) for own in (0, 5)]
    expected = audit(closed[0], {"late": closed[1]}, span=(0, 450), **options)
    own = audit(truth, {"late": late}, span=span, ignore=outage, **options)
    assert own.to_dict() | {"signature": str(expected.signature)} == expected.to_dict()
    times = np.arange(600)
    mixed = audit(truth, {"late": late.to_labels(times)}, times=times, ignore=outage, **options)
    assert mixed.verdicts["hausdorff"].raw.detector_score == 5


def test_columns_of_a_dataframe_are_detectors():
    columns = {"early": [1, 1, 0, 0, 0, 1, 0, 0], "late": [0, 0, 0, 1, 1, 0, 0, 1]}
    truth, options = [0, 1, 1, 0, 0, 0, 1, 0], {"metrics": ["classical"], "budget": 3}
    found = cc.audit(truth, pd.DataFrame(columns), **options)
    assert found.to_dict() == cc.audit(truth, columns, **options).to_dict()
