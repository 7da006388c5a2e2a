"""What must hold for every metric, whoever wrote it."""

from datetime import datetime, timedelta
from math import inf, isnan, nan

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.metrics.registry import METRICS, REQUIRED, find

LENGTH = 200
# What has no default, and values other than the defaults.
REQUIRED_PARAMETERS = {
    "window_once": {"margin": 3},
    "margin": {"margin": 3},
    "two_sided": {"tolerance": 3},
}
OTHER_PARAMETERS = {
    "classical": {"by": "duration"},
    "point_adjust_k": {"k": 60},
    "range_based": {
        "alpha": 0.2,
        "cardinality": "one",
        "precision_bias": "front",
        "recall_bias": "back",
    },
    "time_aware": {"theta": 0.2, "delta": 6, "alpha": 0.9},
    "enhanced_time_aware": {"theta_p": 0.9, "theta_r": 0.6},
    "window_once": {"margin": 9},
    "margin": {"margin": 9},
    "two_sided": {"tolerance": 9},
    "nab": {"profile": "reward_low_FP_rate", "probation": 0.0},
    "semimetric": {"p": 3},
    "unbiased_affiliation": {"seed": 7},
    "vus": {"window": 7},
    "pate": {"early": 5, "delay": 9},
}
OUT_OF_RANGE = {
    "classical": {"by": "votes"},
    "point_adjust_k": {"k": 101},
    "range_based": {"alpha": 1.5},
    "time_aware": {"theta": -0.1},
    "enhanced_time_aware": {"theta_p": 2},
    "window_once": {"margin": -1},
    "margin": {"margin": -1},
    "two_sided": {"tolerance": -1},
    "nab": {"probation": 1.5},
    "semimetric": {"p": 0},
    "unbiased_affiliation": {"seed": -1},
    "vus": {"window": -1},
    "pate": {"early": -1},
}
LABELS = [entry for entry in METRICS.values() if entry.takes == "labels"]
SCORES = [entry for entry in METRICS.values() if entry.takes == "scores"]
PAIRED = [entry for entry in LABELS if "recall" in entry.gives]


def events_at(*bounds):
    labels = np.zeros(LENGTH, dtype=np.uint8)
    for start, stop in bounds:
        labels[start:stop] = 1
    return labels


TRUTH = events_at((40, 52), (90, 91), (150, 170))
NEAR = events_at((42, 55), (93, 96), (150, 165))
FAR = events_at((10, 13), (65, 70), (120, 124))


def call(entry, truth, other, **options):
    parameters = REQUIRED_PARAMETERS.get(entry.name, {})
    return entry.function(truth, other, **{**parameters, **options})


def main_value(entry, result):
    values = result.values()
    return float(values["f1"] if "f1" in values else next(iter(values.values())))


def by_name(entries):
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)


def assert_in_range(entry, result):
    assert tuple(result.values()) == entry.gives
    for name, value in result.values().items():
        number = float(value)
        assert isnan(number) or entry.lowest <= number <= entry.highest, (name, number)


def random_labels(seed, rate):
    labels = (np.random.default_rng(seed).random(LENGTH) < rate).astype(np.uint8)
    labels[[0, -1]] = seed % 2  # events at both ends half of the time
    return labels


@by_name(METRICS.values())
def test_the_registry_is_filled_in(entry):
    assert entry.lowest < entry.highest
    assert entry.paper
    assert entry.function.__doc__
    assert getattr(cc.metrics, entry.name, None) is entry.function or entry.family == "affiliation"
    required = {name for name, default in entry.parameters.items() if default is REQUIRED}
    assert required == set(REQUIRED_PARAMETERS.get(entry.name, {}))


@by_name(LABELS)
@pytest.mark.parametrize("seed", range(6))
def test_labels_stay_in_range(entry, seed):
    truth = random_labels(seed, 0.05)
    truth[7] = 1
    for rate in (0.0, 0.02, 0.5, 1.0):
        assert_in_range(entry, call(entry, truth, random_labels(seed + 1, rate)))


@by_name(SCORES)
@pytest.mark.parametrize("seed", range(4))
def test_scores_stay_in_range(entry, seed):
    truth = random_labels(seed, 0.05)
    truth[7] = 1
    random = np.random.default_rng(seed)
    for scores in (random.random(LENGTH), random.integers(0, 3, LENGTH), np.zeros(LENGTH)):
        assert_in_range(entry, call(entry, truth, scores))


@by_name(LABELS)
def test_direction(entry):
    near, far = (main_value(entry, call(entry, TRUTH, side)) for side in (NEAR, FAR))
    assert near > far if entry.higher_is_better else near < far


@by_name(SCORES)
def test_direction_of_scores(entry):
    ramp = np.convolve(TRUTH, np.ones(5) / 5, mode="same")
    good, bad = (main_value(entry, call(entry, TRUTH, side)) for side in (ramp, -ramp))
    assert good > bad


@by_name(PAIRED)
@pytest.mark.parametrize(
    "truth",
    [TRUTH, events_at((60, 61)), events_at((199, 200)), events_at((0, 1)), events_at((0, 200))],
    ids=["several", "one sample", "last sample", "first sample", "everything"],
)
def test_a_perfect_prediction_is_perfect(entry, truth):
    result = call(entry, truth, truth)
    if entry.name == "unbiased_affiliation" and truth.all():
        assert isnan(result.precision)  # chance is perfect there too
        return
    assert (result.precision, result.recall, result.f1) == (1, 1, 1)


@by_name([entry for entry in LABELS if entry.gives == ("value",) and not entry.higher_is_better])
def test_a_perfect_prediction_has_no_distance(entry):
    assert call(entry, TRUTH, TRUTH).value == 0


@by_name(PAIRED)
def test_no_prediction_is_undefined_in_precision_and_finds_nothing(entry):
    result = call(entry, TRUTH, np.zeros(LENGTH, dtype=np.uint8))
    assert isnan(result.precision)
    assert result.recall == 0
    assert isnan(result.f1)


# One long event matches one true event only, or is cut back to what it detects.
UNIT_MATCHES = {"margin", "enhanced_time_aware"}


@by_name([entry for entry in PAIRED if entry.name not in UNIT_MATCHES])
def test_predicting_everything_finds_everything(entry):
    result = call(entry, TRUTH, np.ones(LENGTH, dtype=np.uint8))
    assert result.recall == pytest.approx(1)
    # It is one event, which is right for what counts events.
    assert (result.precision == 1) == (entry.name in {"event_wise", "window_once"})


@by_name(PAIRED)
@pytest.mark.parametrize("beta", [0, 0.1, 0.5, 1, 2, 10, inf])
def test_fbeta_is_never_above_the_larger_of_the_two(entry, beta):
    result = call(entry, TRUTH, NEAR)
    assert result.fbeta(beta) <= max(result.precision, result.recall) <= 1


@by_name([entry for entry in LABELS if entry.name in {"classical", "event_wise"}])
def test_swapping_the_sides_swaps_precision_and_recall(entry):
    forth, back = call(entry, TRUTH, NEAR), call(entry, NEAR, TRUTH)
    assert (forth.precision, forth.recall) == (back.recall, back.precision)


@by_name([entry for entry in PAIRED if entry.name not in {"classical", "event_wise"}])
def test_the_sides_are_not_the_same(entry):
    one_long = events_at((40, 80))
    many_short = events_at((40, 42), (50, 52), (100, 101), (130, 131))
    forth, back = call(entry, one_long, many_short), call(entry, many_short, one_long)
    assert forth.values() != back.values()


@by_name([entry for entry in METRICS.values() if entry.name in OTHER_PARAMETERS])
def test_other_parameters_change_the_result(entry):
    labels = events_at((45, 50), (97, 99), (120, 121), (158, 160))
    other = labels if entry.takes == "labels" else np.convolve(labels, np.ones(9), mode="same")
    options = {"times": np.cumsum(1 + np.arange(LENGTH) % 5), "end": 10_000}
    axis = options if entry.name == "classical" else {}
    usual = call(entry, TRUTH, other, **axis).values()
    assert call(entry, TRUTH, other, **axis, **OTHER_PARAMETERS[entry.name]).values() != usual


def test_every_parameter_is_tried_and_has_a_range():
    with_parameters = {entry.name for entry in METRICS.values() if entry.parameters}
    assert with_parameters == set(OTHER_PARAMETERS) == set(OUT_OF_RANGE)


@by_name([METRICS[name] for name in OUT_OF_RANGE])
def test_a_parameter_out_of_its_range_is_named(entry):
    (name,) = OUT_OF_RANGE[entry.name]
    with pytest.raises((InputError, InputTypeError), match=f"`{name}`"):
        call(entry, TRUTH, TRUTH, **OUT_OF_RANGE[entry.name])
    given = {"predicted": TRUTH} if entry.takes == "labels" else {"scores": TRUTH}
    with pytest.raises((InputError, InputTypeError), match=f"`{name}`"):
        cc.evaluate(TRUTH, metrics={entry.name: OUT_OF_RANGE[entry.name]}, **given)


@by_name(LABELS)
def test_label_types_do_not_matter(entry):
    usual = call(entry, TRUTH, NEAR).values()
    for kind in (bool, np.int8, np.uint64, np.float32):
        assert call(entry, TRUTH.astype(kind), NEAR.astype(kind)).values() == usual


# Its random draws depend on the number of samples, which events do not have.
@by_name([entry for entry in LABELS if entry.name != "unbiased_affiliation"])
def test_vectors_and_events_agree(entry):
    sides = cc.Events.from_labels(TRUTH), cc.Events.from_labels(NEAR)
    usual = call(entry, TRUTH, NEAR).values()
    assert call(entry, *sides, span=(0, LENGTH)).values() == pytest.approx(usual, nan_ok=True)


@by_name(LABELS)
def test_vectors_with_times_are_read(entry):
    start = datetime.fromisoformat("2024-01-01")
    times = [start + timedelta(minutes=index) for index in range(LENGTH)]
    parameters = {
        name: timedelta(minutes=value)
        for name, value in REQUIRED_PARAMETERS.get(entry.name, {}).items()
    }
    result = entry.function(TRUTH, NEAR, times=times, **parameters)
    assert tuple(result.values()) == entry.gives


@by_name(METRICS.values())
@pytest.mark.parametrize("bad", [[0, 1, 2], [0, 1, nan], [], ["a", "b", "c"]], ids=str)
def test_bad_truth_is_refused(entry, bad):
    empty = r"`truth`|`scores` to have at least one"
    with pytest.raises((InputError, InputTypeError), match=empty):
        call(entry, bad, [0, 1, 1][: len(bad)])


@by_name(METRICS.values())
def test_lengths_that_differ_are_refused(entry):
    other = "predicted" if entry.takes == "labels" else "scores"
    with pytest.raises(InputError, match=f"`{other}` to have as many"):
        call(entry, [0, 1, 1], [0, 1])


def test_a_name_that_is_close_is_suggested():
    with pytest.raises(InputError, match="Did you mean 'hausdorff'"):
        find("hausdorf")


def test_the_table_lists_everything_once():
    names = [row["name"] for row in cc.metrics.table()]
    assert names == list(METRICS)
    assert len(set(names)) == len(names)
