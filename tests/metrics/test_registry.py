"""What must hold for every metric, whoever wrote it; a new one is found by itself.

Only its own parameters must be entered in PARAMETERS, each with a value that changes the result
and one out of its range.
"""

import pickle
import re
from datetime import datetime, timedelta
from itertools import product
from math import inf, isnan, nan
from pathlib import Path

import numpy as np
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.metrics.registry import METRICS, REQUIRED, find
from closecall.plain import plain
from closecall.series import read_pair, read_scored

LENGTH = 200
PARAMETERS = {
    "unbiased_affiliation": {"seed": (7, -1)},
    "classical": {"by": ("duration", "votes")},
    "point_adjust_k": {"k": (60, 101)},
    "range_based": {
        "alpha": (0.2, 1.5),
        "cardinality": ("one", "two"),
        "precision_bias": ("front", "end"),
        "recall_bias": ("back", "end"),
    },
    "time_aware": {"theta": (0.1, -0.1), "delta": (6, -1), "alpha": (0.9, 2)},
    "enhanced_time_aware": {"theta_p": (0.9, 2), "theta_r": (0.6, 1.01)},
    "window_once": {"margin": (9, -1)},
    "margin": {"margin": (9, -1)},
    "two_sided": {"tolerance": (9, -1)},
    "nab": {
        "profile": ("reward_low_FP_rate", "strict"),
        "windows": ([(40, 60)], [(40, 60), (50, 70)]),
        "probation": (0.5, 1.5),
    },
    "semimetric": {"p": (3, 0)},
    "vus": {"window": (7, -1)},
    "pate": {"early": (5, -1), "delay": (9, -1)},
}
ALL = list(METRICS.values())
LABELS = [entry for entry in ALL if entry.takes == "labels"]
SCORES = [entry for entry in ALL if entry.takes == "scores"]
PAIRED = [entry for entry in LABELS if "recall" in entry.gives]
OWN = [
    pytest.param(METRICS[name], parameter, *values, id=f"{name}-{parameter}")
    for name, parameters in PARAMETERS.items()
    for parameter, values in parameters.items()
]


def events_at(*bounds):
    labels = np.zeros(LENGTH, dtype=np.uint8)
    for start, stop in bounds:
        labels[start:stop] = 1
    return labels


TRUTH = events_at((40, 52), (90, 91), (150, 170))
NEAR = events_at((42, 55), (93, 96), (150, 165))
FAR = events_at((10, 13), (65, 70), (120, 124))
NOTHING = np.zeros(LENGTH, dtype=np.uint8)


def required(entry):
    return {name: 3 for name, default in entry.parameters.items() if default is REQUIRED}


def call(entry, truth, other, **options):
    return entry.function(truth, other, **{**required(entry), **options})


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


@by_name(ALL)
def test_the_registry_is_filled_in(entry):
    assert entry.lowest < entry.highest
    assert entry.paper
    assert set(entry.parameters) == set(PARAMETERS.get(entry.name, {}))


def test_every_metric_is_exported_and_listed_once():
    listed = [row["name"] for row in cc.metrics.table()]
    assert listed == list(METRICS)
    assert len(set(listed)) == len(listed)
    exported = {name: getattr(cc.metrics, name) for name in cc.metrics.__all__}
    assert exported.items() >= {entry.name: entry.function for entry in ALL}.items()
    # Curves, nulls and corpora are no metrics of one prediction; the rest are types.
    functions = {name for name, value in exported.items() if not isinstance(value, type)}
    others = {"nab_corpus", "point_adjust_curve", "table", "two_sided_null"}
    assert functions - set(METRICS) == others


@by_name(ALL)
def test_the_docstring_states_range_direction_and_example(entry):
    text = entry.function.__doc__
    assert ("higher" if entry.higher_is_better else "lower") in text
    assert ".. math::" in text
    assert ">>> " in text


@by_name(ALL)
def test_a_reading_is_taken_as_it_is(entry):
    if entry.takes == "labels":
        expected, reading = call(entry, TRUTH, NEAR), read_pair(TRUTH, NEAR)
    else:
        scores = np.arange(LENGTH) * 37 % 101
        expected, reading = call(entry, TRUTH, scores), read_scored(TRUTH, scores)
    assert call(entry, reading, None).values() == expected.values()


DAYS = np.datetime64("2024-01-01", "s") + np.arange(LENGTH) * np.timedelta64(1, "D")
RISING = np.cumsum(1 + np.arange(LENGTH) % 5) / 4


@by_name(ALL)
@pytest.mark.parametrize(
    "axis",
    [{}, {"times": DAYS}, {"times": RISING, "end": 999.5}],
    ids=["samples", "days", "uneven"],
)
def test_a_result_has_the_signature_that_evaluate_gives(entry, axis):
    side = {"predicted": NEAR} if entry.takes == "labels" else {"scores": RISING[::-1]}
    long = 3 if axis.get("times") is not DAYS else timedelta(days=3)
    own = {name: long for name, default in entry.parameters.items() if default is REQUIRED}
    row = cc.evaluate(TRUTH, **side, metrics={entry.name: own}, **axis)
    result = entry.function(TRUTH, *side.values(), **own, **axis)
    assert result.signature == row.signature
    assert result.signature.metrics == {entry.name: own}
    assert pickle.loads(pickle.dumps(result)).signature == result.signature  # noqa: S301


@by_name(ALL)
def test_other_data_has_another_signature(entry):
    side = [NEAR, FAR.copy()] if entry.takes == "labels" else [RISING, RISING[::-1].copy()]
    other = np.roll(TRUTH, 1)
    lines = {str(call(entry, truth, own).signature) for truth in (TRUTH, other) for own in side}
    assert len(lines) == 4


@by_name([entry for entry in ALL if entry.name != "affiliation"])
def test_what_becomes_of_the_callers_arrays_does_not_matter(entry):
    side = FAR.copy() if entry.takes == "labels" else RISING.copy()
    times = np.arange(LENGTH) * 2
    expected = call(entry, TRUTH, side.copy(), times=times.copy(), end=9999)
    result = call(entry, TRUTH, side, times=times, end=9999)
    side[:] = 0
    times[:] = 0
    assert result.signature == expected.signature != call(entry, TRUTH, side).signature


@by_name(ALL)
def test_an_undefined_result_has_a_signature(entry):
    truth = TRUTH if entry.takes == "labels" else np.zeros(LENGTH, dtype=int)
    result = call(entry, truth, np.zeros(LENGTH, dtype=int))
    assert [*result.signature.metrics] == [entry.name]


def axes():
    """Times of several makes; some of them agree but where no event starts or stops."""
    uneven = np.cumsum(1 + np.arange(LENGTH) % 3)
    moved = uneven.copy()
    moved[[19, 73, 130, 187]] += 1
    for times in (np.arange(LENGTH), 5 * np.arange(LENGTH) + 7, uneven, moved):
        whole = (int(times[0]), int(times[-1]) + 5)
        for unit in (1, 0.25, np.timedelta64(1, "s")):
            start = np.datetime64("2024-01-01") if isinstance(unit, np.timedelta64) else 0
            bounds = tuple(start + tick * unit for tick in whole)
            for span in (bounds, (start - 9 * unit, bounds[1])):
                yield {"times": start + times * unit, "end": bounds[1], "span": span}
    yield from ({}, {"end": LENGTH + 9}, {"times": np.arange(LENGTH), "span": (0, LENGTH)})


@by_name(ALL)
def test_equal_signatures_have_equal_digits(entry):
    truths = TRUTH, np.roll(TRUTH, 2)
    others = (NEAR, FAR) if entry.takes == "labels" else (RISING, RISING[::-1])
    told = {}
    for truth, other, axis in product(truths, others, axes()):
        times, end = axis.get("times"), axis.get("end")
        dated = getattr(times, "dtype", np.dtype(int)).kind == "M"
        long = timedelta(seconds=3) if dated else 3
        own = {name: long for name, default in entry.parameters.items() if default is REQUIRED}
        calls = [(truth, other, axis)]
        if times is not None:
            events = cc.Events.from_labels(truth, times, end)
            calls.append((events, other, axis))
            if entry.takes == "labels":
                alarms = cc.Events.from_labels(other, times, end)
                calls[1] = (events, alarms, {"span": axis["span"]})
        for *sides, given in calls:
            result = entry.function(*sides, **own, **given)
            digits = [plain(value) for value in result.values().values()]
            assert told.setdefault(result.signature, digits) == digits
    assert len(told) > 20


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


@by_name(SCORES)
def test_the_truth_itself_is_a_perfect_score(entry):
    values = call(entry, TRUTH, TRUTH).values()
    assert list(values.values()) == pytest.approx([1.0] * len(values), abs=1e-12)


@by_name([entry for entry in LABELS if entry.gives == ("value",) and not entry.higher_is_better])
def test_a_perfect_prediction_has_no_distance(entry):
    assert call(entry, TRUTH, TRUTH).value == 0


@by_name(PAIRED)
def test_no_prediction_is_undefined_in_precision_and_finds_nothing(entry):
    result = call(entry, TRUTH, np.zeros(LENGTH, dtype=np.uint8))
    assert isnan(result.precision)
    assert result.recall == 0
    assert isnan(result.f1)


@by_name(ALL)
def test_without_a_true_event_recall_and_what_holds_it_are_undefined(entry):
    other = NEAR if entry.takes == "labels" else np.arange(LENGTH)
    if entry.family == "affiliation":
        with pytest.raises(UndefinedMetricError, match="affiliation is undefined"):
            call(entry, NOTHING, other)
        return
    values = call(entry, NOTHING, other).values()
    if entry in PAIRED:
        assert values["precision"] == 0
        assert isnan(values["recall"])
        assert isnan(call(entry, NOTHING, NOTHING).recall)
    else:
        assert all(isnan(value) or value == inf for value in values.values())


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


@pytest.mark.parametrize(("entry", "name", "other", "bad"), OWN)
def test_every_parameter_changes_the_result_and_has_a_range(entry, name, other, bad):
    labels = events_at((45, 48), (49, 54), (97, 99), (120, 121), (158, 160))
    scores = np.convolve(labels, np.ones(9), mode="same")
    side = {"predicted": labels} if entry.takes == "labels" else {"scores": scores}
    if entry.name == "classical":
        side |= {"times": np.cumsum(1 + np.arange(LENGTH) % 5), "end": 10_000}
    usual, changed = (
        cc.evaluate(TRUTH, metrics={entry.name: required(entry) | own}, **side)
        for own in ({}, {name: other})
    )
    assert changed != usual
    assert changed.keys() == usual.keys()
    assert changed.signature != usual.signature
    if (entry.name, name) != ("nab", "windows"):  # which are in the hash of the data, too
        axis = {own: side.pop(own) for own in ("times", "end") if own in side}
        alone = call(entry, TRUTH, *side.values(), **{name: other}, **axis)
        assert alone.signature == changed.signature
    with pytest.raises((InputError, InputTypeError), match=f"`{name}`"):
        call(entry, TRUTH, TRUTH, **{name: bad})
    with pytest.raises((InputError, InputTypeError), match=f"`{name}`"):
        cc.evaluate(TRUTH, metrics={entry.name: required(entry) | {name: bad}}, **side)


@by_name(ALL)
def test_label_types_do_not_matter(entry):
    usual = call(entry, TRUTH, NEAR).values()
    for kind in (bool, np.int8, np.uint64, np.float32):
        other = NEAR.astype(kind) if entry.takes == "labels" else NEAR
        assert call(entry, TRUTH.astype(kind), other).values() == usual


# Its random draws depend on the number of samples, which events do not have.
@by_name([entry for entry in LABELS if entry.name != "unbiased_affiliation"])
def test_vectors_and_events_agree(entry):
    sides = cc.Events.from_labels(TRUTH), cc.Events.from_labels(NEAR)
    usual = call(entry, TRUTH, NEAR).values()
    assert call(entry, *sides, span=(0, LENGTH)).values() == pytest.approx(usual, nan_ok=True)


@by_name(SCORES)
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint64, np.float32, np.float64])
def test_only_the_order_of_scores_matters(entry, kind):
    levels = np.arange(LENGTH) * 37 % 101
    usual = call(entry, TRUTH, levels).values()
    assert call(entry, TRUTH.astype(bool), levels.astype(kind)).values() == usual
    assert call(entry, TRUTH, np.exp(levels / 10) - 50).values() == usual


@by_name(SCORES)
def test_infinite_scores_are_the_highest_and_lowest(entry):
    truth = [0, 1, 1, 0, 0]
    finite = call(entry, truth, [1.0, 9.0, 2.0, -9.0, 0.5])
    infinite = call(entry, truth, [1.0, np.inf, 2.0, -np.inf, 0.5])
    assert infinite.values() == finite.values()


@by_name([entry for entry in SCORES if entry.counts_samples])
def test_samples_are_counted_on_every_axis(entry):
    scores = np.arange(LENGTH) * 37 % 101
    usual = call(entry, TRUTH, scores).values()
    times = np.datetime64("2024-01-01", "s") + np.arange(LENGTH) ** 2
    axis = {"times": times, "end": times[-1] + np.timedelta64(9, "D")}
    assert call(entry, TRUTH, scores, **axis).values() == usual
    assert call(entry, cc.Events.from_labels(TRUTH, **axis), scores, **axis).values() == usual


@by_name(LABELS)
def test_vectors_with_times_are_read(entry):
    start = datetime.fromisoformat("2024-01-01")
    times = [start + timedelta(minutes=index) for index in range(LENGTH)]
    parameters = {name: timedelta(minutes=value) for name, value in required(entry).items()}
    result = entry.function(TRUTH, NEAR, times=times, **parameters)
    assert tuple(result.values()) == entry.gives


@by_name(ALL)
@pytest.mark.parametrize("bad", [[0, 1, 2], [0, 1, nan], [], ["a", "b", "c"]], ids=str)
def test_bad_truth_is_refused(entry, bad):
    empty = r"`truth`|`scores` to have at least one"
    with pytest.raises((InputError, InputTypeError), match=empty):
        call(entry, bad, [0, 1, 1][: len(bad)])


@by_name(ALL)
def test_lengths_that_differ_are_refused(entry):
    other = "predicted" if entry.takes == "labels" else "scores"
    with pytest.raises(InputError, match=f"`{other}` to have as many"):
        call(entry, [0, 1, 1], [0, 1])


@by_name(SCORES)
def test_a_score_that_is_nan_is_refused(entry):
    with pytest.raises(InputError, match="`scores` to be numbers, or inf, got nan at index 1"):
        call(entry, [0, 1], [0.5, nan])


def test_a_name_that_is_close_is_suggested():
    with pytest.raises(InputError, match="Did you mean 'hausdorff'"):
        find("hausdorf")


HOSTILE = {
    "text": "x",
    "empty": "",
    "none": None,
    "true": True,
    "numpy true": np.True_,
    "negative": -1,
    "nan": float("nan"),
    "inf": float("inf"),
    "half": 1.5,
    "2**70": 2**70,
    "10**400": 10**400,
    "10**5000": 10**5000,
    "timedelta": timedelta(seconds=1),
    "numpy timedelta": np.timedelta64(1, "s"),
    "NaT": np.timedelta64("NaT", "s"),
    "complex": 1j,
    "list": [1],
    "array": np.ones(2),
    "mapping": {},
    "type": dict,
    "function": lambda: 1,
}
# What is documented as legal, though it looks odd; the rest must be refused.
LEGAL = {
    ("nab", "windows"): {"none"},
    ("point_adjust_k", "k"): {"half"},
    ("semimetric", "p"): {"half", "2**70"},
    ("window_once", "margin"): {"half", "2**70"},
    ("margin", "margin"): {"half", "2**70"},
    ("two_sided", "tolerance"): {"half", "2**70"},
    ("time_aware", "delta"): {"2**70"},
    ("unbiased_affiliation", "seed"): {"2**70", "10**400", "10**5000"},
    ("pate", "early"): {"2**70", "10**400", "10**5000"},
    ("pate", "delay"): {"2**70", "10**400", "10**5000"},
}


@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.parametrize(("entry", "name", "other", "bad"), OWN)
def test_what_is_not_legal_is_refused_by_name(entry, name, other, bad, label):
    # Every prediction meets two events or more, so that functions are called.
    wide = np.ones_like(TRUTH)
    parameters = required(entry) | {name: HOSTILE[label]}
    if label in LEGAL.get((entry.name, name), ()):
        assert tuple(entry.function(TRUTH, wide, **parameters).values()) == entry.gives
        return
    with pytest.raises((InputError, InputTypeError)) as caught:
        entry.function(TRUTH, wide, **parameters)
    assert f"`{name}`" in str(caught.value)


@pytest.mark.parametrize(("entry", "name", "other", "bad"), OWN)
def test_numbers_of_numpy_are_numbers(entry, name, other, bad):
    kinds = {int: (np.int16, np.uint8), float: (np.float64,)}.get(type(other), ())
    usual = call(entry, TRUTH, NEAR, **{name: other}).values()
    for kind in kinds:
        assert call(entry, TRUTH, NEAR, **{name: kind(other)}).values() == usual


REPOSITORY = Path(__file__).resolve().parents[2]


def peers_table():
    """The cells of the rows under the comment."""
    page = (REPOSITORY / "docs" / "metrics.md").read_text("utf-8")
    rows = page.partition("<!-- peers:")[2].partition("\n\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()[2:]]


def test_every_metric_has_a_row():
    assert [name.strip("`") for name, *_ in peers_table()] == list(METRICS)


def test_every_metric_has_a_peer_or_a_reason():
    assert [name for name, compared, left in peers_table() if not compared and not left] == []


def test_every_package_is_compared_with_something():
    listed = (REPOSITORY / "benchmarks" / "peers.txt").read_text("utf-8")
    packages = set(re.findall(r"^([\w-]+)==", listed, flags=re.MULTILINE))
    named = {word for _, compared, _ in peers_table() for word in re.findall(r"[\w-]+", compared)}
    assert packages - named == set()
    assert len(packages) == 10
