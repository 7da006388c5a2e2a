"""The search for the best prediction without information: what is known of metrics, found again."""

import numpy as np
import pytest

import closecall as cc
from closecall import adversary
from closecall.adversary import FAMILIES
from closecall.adversary.predictions import read_events_in_span
from closecall.adversary.search import plan, read_families
from closecall.datasets import demo
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

EPISODES = ([0] * 400 + [1] * 200) * 5 + [0] * 500


def test_random_points_fool_point_adjust():
    found = adversary.search("point_adjust", EPISODES, families=["everything", "random_points"])
    assert found.family == "random_points"
    assert found.score > 0.85
    assert found.knows == 0


def test_the_footnote_fools_composite():
    found = adversary.search("composite", EPISODES)
    assert found.family == "composite"
    assert found.score > 0.95
    again = np.zeros(len(EPISODES), dtype=int)
    start, stop = list(cc.Events.from_labels(EPISODES))[found.parameters["event"]]
    again[start:stop] = 1
    rebuilt = adversary.against_composite(again, count=found.parameters["count"])
    assert rebuilt.tolist() == found.prediction.tolist()


@pytest.mark.parametrize("metric", ["range_based", "time_aware"])
def test_alternation_fools_range_metrics(metric):
    found = adversary.search(metric, EPISODES)
    assert found.family == "alternating"
    assert found.score > 0.9
    assert found.score == cc.evaluate(EPISODES, found.prediction, metrics=[metric])[f"{metric}_f1"]


def test_no_prediction_without_information_is_much_above_chance_in_affiliation():
    data = demo()
    found = adversary.search("affiliation", data.truth, times=data.times)
    # A random detector's F1 is 2/3; one that knows one of seven events has some more.
    assert 0.66 < found.score < 0.70
    worst = min(
        cc.affiliation(data.truth, predicted, times=data.times).f1
        for predicted in data.predicted.values()
    )
    assert worst > found.score + 0.15


def test_a_search_repeats_itself_and_says_what_it_tried():
    first, second = (adversary.search("classical", EPISODES, seed=5, budget=60) for _ in range(2))
    assert first.tried == second.tried
    assert first.prediction.tolist() == second.prediction.tolist()
    assert {trial.family for trial in first.tried} == set(FAMILIES)
    judged = [trial.score for trial in first.tried if trial.judged]
    assert max(judged) == first.score
    other = adversary.search("classical", EPISODES, seed=6, budget=60)
    assert other.tried != first.tried


def test_the_random_prediction_that_is_found_can_be_drawn_again():
    found = adversary.search("classical", EPISODES, families="random_ranges")
    again = adversary.random_ranges(EPISODES, **found.parameters)
    assert found.prediction.tolist() == again.tolist()
    assert found.score == cc.metrics.classical(EPISODES, found.prediction).f1


# One event in a tenth of the series: one draw in five of a range as long as it meets it.
RARE = [0] * 500 + [1] * 120 + [0] * 600


@pytest.mark.parametrize("seed", range(8, 10))
@pytest.mark.parametrize("metric", ["classical", "affiliation"])
def test_luck_is_not_taken_for_a_weakness(metric, seed):
    found = adversary.search(metric, RARE, families="random_ranges", seed=seed)
    shape = {name: found.parameters[name] for name in ("count", "length")}
    fresh = [adversary.random_ranges(RARE, **shape, seed=other) for other in range(200)]
    scores = [cc.evaluate(RARE, drawn, metrics=[metric])[f"{metric}_f1"] for drawn in fresh]
    # Of 200 medians of 25 of these draws, all but a few lie between these two.
    resampled = np.random.default_rng(seed).choice(scores, (200, 25))
    low, high = np.quantile(np.median(resampled, axis=1), (0.005, 0.995))
    assert low <= found.score <= high


def test_each_round_draws_afresh_and_fewer_come_further():
    found = adversary.search("classical", RARE, families=["random_ranges", "random_points"])
    for family in ("random_ranges", "random_points"):
        own = [trial for trial in found.tried if trial.family == family]
        assert sorted(trial.draws for trial in own)[-4:] == [5, 25, 25, 25]
        (judged,) = [trial for trial in own if trial.judged]
        assert judged.draws == 25


def test_no_two_searches_share_a_draw():
    seen = []
    for seed in range(6):
        attempts, _ = plan(
            read_events_in_span(RARE, "truth"), read_families(None), seed=seed, budget=200
        )
        seen += [one for attempt in attempts for group in attempt.seeds for one in group]
    assert len(seen) == len(set(seen)) > 6 * 55 * 2


def test_lower_is_better_for_a_distance():
    found = adversary.search("hausdorff", EPISODES)
    judged = [trial.score for trial in found.tried if trial.judged]
    assert found.score == np.nanmin(judged)


def test_a_function_is_searched_as_a_metric_is():
    few = {"budget": 60}
    by_name = adversary.search("classical", EPISODES, **few)
    by_result = adversary.search(cc.metrics.classical, EPISODES, **few)
    by_number = adversary.search(lambda t, p: cc.metrics.classical(t, p).f1, EPISODES, **few)
    assert by_name.tried == by_result.tried == by_number.tried
    assert (by_result.metric, by_number.metric) == ("classical", "<lambda>")


def test_events_are_searched_as_vectors_are():
    events, span = cc.Events.from_labels(EPISODES), (0, len(EPISODES))
    families = ["alternating", "composite", "everything", "random_ranges"]
    vectors = adversary.search("classical", EPISODES, families=families)
    found = adversary.search("classical", events, families=families, span=span)
    assert found.tried == vectors.tried
    assert found.prediction == cc.Events.from_labels(vectors.prediction)


def test_times_reach_the_metric():
    times = np.arange(len(EPISODES)) * 2.5
    samples = adversary.search("modified_hausdorff", EPISODES, budget=60)
    timed = adversary.search("modified_hausdorff", EPISODES, times=times, budget=60)
    assert timed.score == pytest.approx(2.5 * samples.score)


def test_a_given_trivial_event_is_what_adversaries_start_from():
    trivial = np.zeros(len(EPISODES), dtype=int)
    trivial[410:470] = 1
    found = adversary.search("range_based", EPISODES, trivial=trivial, families="alternating")
    assert found.prediction.tolist() == adversary.from_trivial(trivial).tolist()
    assert [trial.parameters for trial in found.tried] == [{"event": None}]


def test_one_event_is_too_few_to_give_one_away():
    single = [0] * 100 + [1] * 50 + [0] * 100
    found = adversary.search("composite", single)
    assert set(found.left_out) == {"alternating", "composite"}
    assert "must have more than one" in found.left_out["composite"]
    with pytest.raises(UndefinedMetricError, match="a family that fits this series"):
        adversary.search("composite", single, families="alternating")


def test_the_repr_is_one_line():
    found = adversary.search("classical", EPISODES, families=["everything"])
    assert repr(found) == "Found(classical=0.444 by everything(), best of 1 tried)"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("clasical", [0, 1]), {}, "Did you mean 'classical'?"),
        (("auc_roc", [0, 1]), {}, "metrics that judge 0/1 predictions, got 'auc_roc'"),
        ((3, [0, 1]), {}, "`metric` to be a name or a function"),
        ((lambda *_: "good", [0, 1]), {}, "`metric` to return a number"),
        ((max, [0, 1]), {"times": [0, 1]}, "no `times` beside a function"),
        (("classical", [0, 0]), {}, "at least one true event, got none"),
        (("classical", [0, 1]), {"families": ["all"]}, "`families` to be among alternating"),
        (("classical", [0, 1]), {"families": []}, "at least one family"),
        (("margin", [0, 1]), {}, "Pass parameters={'margin': ...}."),
        (("classical", [0, 1]), {"budget": 0}, "`budget` to be 1 or more"),
        (("classical", [0, 1]), {"parameters": {"alpha": 1}}, "a parameter of classical"),
        (("classical", [0, 1]), {"trivial": [0, 1, 0]}, "as many labels as `truth` (2), got 3"),
    ],
)
def test_bad_searches(arguments, options, message):
    with pytest.raises((InputError, InputTypeError)) as caught:
        adversary.search(*arguments, **options)
    assert message in str(caught.value)
