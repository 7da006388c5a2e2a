"""Signatures: one grammar both ways, and a hash that is equal if and only if the data is."""

from datetime import UTC, timedelta, timezone
from math import isnan
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.datasets import demo
from closecall.errors import InputError
from closecall.series import read_pair, read_scored
from closecall.signature import data_hash, ignored_text, parse, sign, value_text

HASH = "ab12cd34"
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False)
LENGTHS = st.timedeltas() | st.integers(0, 10**15).map(
    lambda own: np.timedelta64(1000 * own + 1, "ns")
)
EAST = timezone(timedelta(hours=5))
TIMES = st.datetimes() | st.datetimes().filter(lambda own: 2 < own.year < 9998).map(
    lambda own: own.replace(tzinfo=EAST)
)
TEXTS = st.text(st.characters(codec="utf-8")) | st.sampled_from(["none", "1", "2s", '"', "a|b:c\n"])
VALUES = st.none() | st.booleans() | NUMBERS | LENGTHS | TIMES | TEXTS
OPTIONS = {
    "threshold": NUMBERS | st.sampled_from(["best_f1", "quantile:0.99", "alarms:2/7d", "all"]),
    "thresholds": st.dictionaries(TEXTS, NUMBERS, min_size=1),
    "folds": st.integers(2, 100),
    "fit_until": TIMES,
    "beta": st.floats(0, 10),
    "max_alarms_per": st.tuples(st.integers(1, 9), LENGTHS | st.floats(0.1, 1e9)),
    "cooldown": LENGTHS | NUMBERS,
    "ignore": st.just(f"#{HASH}/3h"),
    "since": TIMES | NUMBERS,
    "max_step": LENGTHS | NUMBERS,
    "nan": st.sampled_from(["raise", "ignore"]),
    "zero_division": st.sampled_from([0, 1, float("nan")]),
    "n": st.integers(1, 10**6),
    "series": st.integers(1, 10**6),
}
METRICS = st.dictionaries(
    TEXTS.filter(bool), st.dictionaries(TEXTS.filter(bool), VALUES, max_size=3), min_size=1
)


@given(metrics=METRICS, options=st.fixed_dictionaries({}, optional=OPTIONS))
def test_what_is_written_is_read_again(metrics, options):
    own = sign(metrics, HASH, **options)
    assert str(own).isascii()
    assert not any(mark in str(own) for mark in " \n\r\t")
    assert parse(str(own)) == own == parse(own.short)
    assert parse(f" {own}\n") == own
    assert own.metrics == metrics
    told = {name: value for name, value in options.items() if name not in ("ignore", "series")}
    for name, value in own.options.items():
        assert value == told[name], name
    left = told.keys() - own.options.keys()
    assert all(told[name] in (1, "raise") or isnan(told[name]) for name in left)


def test_the_line_is_in_one_order_and_says_what_is_usual():
    asked = {"series": 350, "folds": 5, "threshold": "best_f1"}
    own = sign("affiliation", HASH, **asked)
    version = f"closecall:{cc.__version__}"
    assert str(own) == (
        "affiliation|thr:best_f1|cross-fit:5|ignore:none|step:none|zero-division:nan|series:350|"
        f"data:{HASH}|{version}"
    )
    assert own.short == f"affiliation|t:best_f1|x:5|n:350|d:{HASH}|v:{cc.__version__}"
    assert (own.data, own.version) == (HASH, cc.__version__)
    assert repr(own) == f"Signature('{own}')"
    named = sign({"margin": {"margin": timedelta(minutes=90)}, "affiliation": {}}, None)
    assert named.short == f"affiliation+margin(margin=90min)|d:none|v:{cc.__version__}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "a signature to begin with metrics, such as affiliation, got ''"),
        ("a(|d:ab12cd34|v:1", "to begin with metrics, such as affiliation, got 'a('"),
        ("affiliation", "a signature to have the part `data`, got 'affiliation'"),
        ("affiliation|d:ab12cd34", "a signature to have the part `closecall`, got"),
        ("affiliation|d:ab12cd34|v:1|w:2", "a signature to have parts that are known, got 'w:2'"),
        ("affiliation|d:12345678|v:1", "parts that are known, got 'd:12345678'"),
        ("affiliation|d:ab12cd34|v:1|series:x", "parts that are known, got 'series:x'"),
        ("affiliation|d:ab12cd34|v:1|thr", "parts that are known, got 'thr'"),
        ("affiliation|ignore:all|d:ab12cd34|v:1", "parts that are known, got 'ignore:all'"),
        ("affiliation|t:1|thr:2|d:ab12cd34|v:1", "to have each part once, got 'thr:2'"),
        ("affiliation|t:0.50|d:ab12cd34|v:1", "to have values as closecall writes them, got"),
        ('affiliation|t:"|d:ab12cd34|v:1', "to have values that can be read, got"),
        ("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.0.0", "metrics, such as"),
    ],
)
def test_a_line_that_is_no_signature_is_refused(line, told):
    with pytest.raises(InputError) as error:
        parse(line)
    assert told in str(error.value)
    assert "Hint: Copy the whole line" in str(error.value)


def test_anything_but_text_is_refused():
    with pytest.raises(TypeError, match="`text` to be a signature, got 3"):
        parse(3)


TRUTH, ALARMS = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 0]), np.array([0, 1, 1, 0, 0, 0, 0, 0, 1, 0])
SCORES = np.array([0.0, 0.5, 0.75, 0.25, 0.0, 3.0, 0.0, 1.0, 0.0, 0.5])
STAMPS = np.datetime64("2024-03-30T22:00", "us") + np.arange(10) * np.timedelta64(1, "h")
BERLIN = [own.replace(tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin")) for own in STAMPS.tolist()]


@pytest.mark.parametrize(
    "made",
    [
        list,
        tuple,
        lambda own: own.astype(np.int8 if own.dtype.kind == "i" else np.float32),
        lambda own: own.astype(own.dtype.newbyteorder(">")),
        lambda own: np.repeat(own, 2)[::2],
        pd.Series,
        pl.Series,
        pa.array,
        lambda own: pa.chunked_array([own[:3], own[3:]]),
        lambda own: np.where(own == 0, -0.0, own) if own.dtype.kind == "f" else own.astype(bool),
    ],
)
def test_equal_data_has_one_hash_whatever_it_is_made_of(made):
    pair, scored = read_pair(TRUTH, ALARMS), read_scored(TRUTH, SCORES)
    assert data_hash(read_pair(made(TRUTH), made(ALARMS))) == data_hash(pair)
    assert data_hash(read_scored(made(TRUTH), made(SCORES))) == data_hash(scored)
    whole = read_scored(TRUTH, (4 * SCORES).astype(np.int64))
    assert data_hash(read_scored(made(TRUTH), made(4 * SCORES))) == data_hash(whole)


@pytest.mark.parametrize(
    "times",
    [
        STAMPS.tolist(),
        STAMPS + np.timedelta64(365, "D"),
        pd.Series(STAMPS),
        pd.DatetimeIndex(STAMPS, tz="UTC").tz_convert("Asia/Tokyo"),
        pl.Series(STAMPS).dt.replace_time_zone("UTC"),
        pa.array(STAMPS),
        BERLIN,
        *(STAMPS.astype(f"M8[{unit}]") for unit in ("h", "s", "ms", "ns")),
    ],
    ids=["python", "later", "pandas", "tokyo", "polars", "arrow", "berlin", "h", "s", "ms", "ns"],
)
def test_neither_the_make_of_times_nor_their_zone_unit_or_origin_decides(times):
    for read, side in ((read_pair, ALARMS), (read_scored, SCORES)):
        own = data_hash(read(TRUTH, side, times=times))
        assert own == data_hash(read(TRUTH, side, times=STAMPS))
        assert own != data_hash(read(TRUTH, side))
    later = changed(STAMPS.astype("M8[ns]"), 9, STAMPS[9] + np.timedelta64(1, "ns"))
    end = STAMPS[9] + np.timedelta64(1, "h")
    assert own != data_hash(read_scored(TRUTH, SCORES, times=later, end=end))


@pytest.mark.parametrize("step", [timedelta(hours=1), timedelta(microseconds=1_234_567)])
@pytest.mark.parametrize("kind", ["even", "uneven", "events"])
def test_the_same_times_in_any_unit_have_the_same_digits(step, kind):
    drawn = np.random.default_rng(5)
    truth, scores = drawn.random((2, 300)) * np.array([[1.0], [9.0]])
    truth = (np.convolve(truth > 0.99, np.ones(4), "same") > 0).astype(int)
    places = np.arange(301) if kind == "even" else np.cumsum(drawn.integers(1, 9, 301))
    told = set()
    for unit in ("us", "ns") if step.microseconds else ("s", "ms", "us", "ns"):
        times = (STAMPS[0] + places * np.timedelta64(step)).astype(f"M8[{unit}]")
        axis = {"times": times[:-1], "end": times[-1]}
        curve = cc.affiliation_curve(truth, scores, **axis)
        row = cc.evaluate(truth, scores > 8, scores=scores, **axis)
        one = cc.affiliation(truth, scores > 8, **axis)
        if kind == "events":
            sides = [cc.Events.from_labels(own, **axis) for own in (truth, scores > 8)]
            one = cc.affiliation(*sides, span=(times[0], times[-1]))
            row = cc.evaluate(*sides, span=(times[0], times[-1]))
        numbers = [own.tobytes() for own in (curve.precision, curve.recall, curve.alarmed)]
        told.add(repr((numbers, row.to_dict(), one.values(), one.chance, curve.to_dict())))
    assert len(told) == 1


@pytest.mark.parametrize("times", [None, STAMPS, np.arange(10) * 300])
def test_labels_and_the_events_made_of_them_are_the_same_data(times):
    sides = [cc.Events.from_labels(own, times) for own in (TRUTH, ALARMS)]
    start, end = (0, 10) if times is None else (times[0], times[-1] + (times[1] - times[0]))
    own = cc.affiliation(TRUTH, ALARMS, times=times)
    events = cc.affiliation(*sides, span=(start, end))
    assert own.signature == events.signature
    assert own.to_dict() == events.to_dict()


def test_samples_that_decide_how_alarms_are_moved_are_told_from_events():
    """On 2,000 samples, events that start and stop at even times move by two."""
    truth, alarms = np.zeros((2, 2000), dtype=int)
    truth[100:120] = alarms[110:130] = alarms[700:710] = 1
    own = cc.affiliation(truth, alarms)
    sides = [cc.Events.from_labels(labels) for labels in (truth, alarms)]
    events = cc.affiliation(*sides, span=(0, 2000))
    assert own.chance.f1 != events.chance.f1
    assert own.signature.data != events.signature.data


def changed(values, index, to):
    other = np.array(values)
    other[index] = to
    return other


@pytest.mark.parametrize(
    ("truth", "scores", "options"),
    [
        (changed(TRUTH, 4, 1), SCORES, {}),
        (TRUTH, changed(SCORES, 0, 1e-300), {}),
        (TRUTH, SCORES, {"times": changed(np.arange(10), 9, 10), "end": 11}),
        (TRUTH, SCORES, {"times": np.arange(10.0)}),
        (TRUTH, SCORES, {"span": (0, 11)}),
        (TRUTH, SCORES, {"ignore": [(0, 1)]}),
        (TRUTH, SCORES, {"times": np.arange(10), "end": 10, "max_step": 2}),
        (TRUTH, SCORES, {"nan": "ignore"}),
        (TRUTH[:-1], SCORES[:-1], {}),
    ],
    ids=["label", "score", "time", "kind", "span", "ignore", "step", "nan", "length"],
)
def test_any_other_label_score_time_or_option_is_another_signature(truth, scores, options):
    usual = cc.affiliation_curve(TRUTH, SCORES).signature
    assert cc.affiliation_curve(truth, scores, **options).signature != usual


@pytest.mark.parametrize(
    "options",
    [{"zero_division": 0}, {"point_length": 1}, {"ignore": [(4, 5)]}, {"span": (0, 20)}],
)
def test_any_other_option_of_alarms_is_another_signature(options):
    sides = cc.Events([(2, 4), (7, 7)]), cc.Events([(1, 3), (8, 8)])
    usual = cc.affiliation(*sides, span=(0, 10)).signature
    assert cc.affiliation(*sides, **{"span": (0, 10), **options}).signature != usual


def test_ignored_time_has_a_fingerprint_and_a_length():
    own = cc.affiliation(TRUTH, ALARMS, times=STAMPS, ignore=[(STAMPS[4], STAMPS[6])])
    assert f"|ignore:{ignored_text(own.events.pair)}|" in str(own.signature)
    assert ignored_text(own.events.pair).endswith("/2h")
    assert "ignore" not in parse(str(own.signature)).options


def test_large_integers_are_told_apart():
    first, second = (read_scored([0, 1], [2**60, 2**60 + own]) for own in (1, 2))
    assert data_hash(first) != data_hash(second)


def test_what_has_no_short_text_is_named():
    given = {"half": lambda x: x / 2, "long": 10**5000, "times": [(1, 2)], "array": np.arange(3)}
    line = sign({"metric": given}, HASH)
    assert parse(str(line)) == line
    assert line.metrics == {"metric": {name: f"#{name}" for name in given}}


def test_the_line_says_which_parameter_it_does_not_describe():
    sides = [0, 1, 1, 1, 1, 1, 0], [0, 1, 0, 1, 0, 1, 0]
    for cardinality in (lambda x: 1 / x, lambda x: 1 / x**2):
        row = cc.evaluate(*sides, metrics={"range_based": {"cardinality": cardinality}})
        result = cc.metrics.range_based(*sides, cardinality=cardinality)
        assert row.signature == result.signature
        assert str(row.signature).startswith("range_based(cardinality=#cardinality)|")


def test_the_order_of_detectors_and_metrics_does_not_decide():
    sides = {"b": ALARMS, "a": TRUTH}
    own, other = (
        cc.compare(TRUTH, dict(pairs)) for pairs in (sides.items(), [*sides.items()][::-1])
    )
    assert own.signature == other.signature
    swapped = cc.compare(TRUTH, {"a": ALARMS, "b": TRUTH})
    assert swapped.signature != own.signature
    names = ["margin", "classical"]
    rows = (
        cc.evaluate(
            TRUTH, ALARMS, metrics={name: {"margin": 2} if name == "margin" else {} for name in own}
        )
        for own in (names, names[::-1])
    )
    first, second = (row.signature for row in rows)
    assert first == second
    assert first.metrics == {"classical": {}, "margin": {"margin": 2}}


def test_a_parameter_that_is_the_default_is_left_out():
    usual = cc.evaluate(TRUTH, ALARMS, metrics=["point_adjust_k"]).signature
    (default,) = cc.metrics.registry.METRICS["point_adjust_k"].parameters.values()
    for k in (default, default / 2):
        own = cc.evaluate(TRUTH, ALARMS, metrics={"point_adjust_k": {"k": k}}).signature
        assert (own == usual) == (k == default)


LONG = {"truth": np.tile(TRUTH, 6), "scores": np.tile(SCORES, 6) + np.arange(60) % 7}


def _without_threshold(options):
    """Leave out what curves and comparisons do in any case."""
    return {name: own for name, own in options.items() if name != "threshold"}


CALLS = {
    "affiliation": lambda own: cc.affiliation(
        own["truth"], own["scores"] > 2, **own.get("options", {"zero_division": 0})
    ),
    "evaluate": lambda own: cc.evaluate(
        own["truth"],
        scores=own["scores"],
        metrics=own.get("metrics", {"affiliation": {}, "margin": {"margin": 3}, "auc_roc": {}}),
        **own.get("options", {"threshold": {"alarms": (2, 20)}}),
    ),
    "all metrics": lambda own: cc.evaluate(
        own["truth"], own["scores"] > 2, metrics=own.get("metrics")
    ),
    "significance": lambda own: cc.significance(
        own["truth"],
        scores=own["scores"],
        **own.get("options", {"threshold": 2.5, "n": 20, "correction": "bonferroni"}),
    ),
    "compare": lambda own: cc.compare(
        own["truth"],
        scores={"a": own["scores"], "b": -own["scores"]},
        **_without_threshold(own.get("options", {"thresholds": {"b": -3}, "decimals": 2})),
    ),
    "curve": lambda own: cc.affiliation_curve(
        own["truth"], own["scores"], **_without_threshold(own.get("options", {"max_step": 1}))
    ),
    "audit": lambda own: cc.audit(
        own["truth"],
        {"a": own["scores"] > 5},
        metrics=own.get("metrics", {"classical": {}, "margin": {"margin": 2}}),
        **own.get("options", {"seed": 3, "budget": 10}),
    ),
    "batch": lambda own: cc.evaluate_frame(
        pa.table({"truth": own["truth"], "s": own["scores"], "k": np.repeat([0, 1, 2], 20)}),
        by="k",
        truth="truth",
        score="s",
        metrics=own.get("metrics"),
        **own.get("options", {"threshold": "cross_fit", "folds": 3, "retune": 4}),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_with_the_options_of_a_signature_gives_the_same_digits(name):
    first = CALLS[name](LONG)
    read = parse(str(first.signature))
    again = CALLS[name]({**LONG, "metrics": read.metrics, "options": read.options})
    assert again.signature == first.signature
    assert again.to_dict() == first.to_dict()


def _holed_batch():
    """Return a batch of three detectors, of which one has no alarm on two of ten series."""
    random = np.random.default_rng(1)
    names = ["a", "b", "c"]
    columns = {name: (random.random((10, 30)) < 0.3).astype(int) for name in names}
    columns["c"][:2] = 0
    rows = {name: own.ravel() for name, own in columns.items()}
    rows |= {"k": np.repeat(np.arange(10), 30), "truth": np.tile([0] * 14 + [1, 1] + [0] * 14, 10)}
    return cc.evaluate_frame(pa.table(rows), by="k", truth="truth", predicted=names)


def test_ranks_with_other_digits_have_another_line_and_are_computed_again_from_it():
    batch = _holed_batch()
    given = [
        {"metric": "affiliation_precision", "missing": "drop"},
        {"metric": "affiliation_precision", "missing": "worst"},
        {"metric": "affiliation_precision", "missing": "worst", "level": 0.5},
        {"metric": "affiliation_recall"},
    ]
    ranked = [batch.ranks(**own) for own in given]
    lines = [own.signature for own in ranked]
    assert len({(*own.average_rank, own.level) for own in ranked}) == len(given)
    assert len({*lines, batch.signature}) == len(given) + 1
    for own, options in zip(ranked, given, strict=True):
        told = parse(own.signature.short).options
        assert told == options
        assert batch.ranks(**told).to_dict() == own.to_dict()


LATEX = {
    "affiliation": lambda: cc.affiliation(LONG["truth"], LONG["scores"] > 5),
    "compare": lambda: cc.compare(
        LONG["truth"], {"a": LONG["scores"] > 5, "b": LONG["scores"] > 7}
    ),
    "batch": _holed_batch,
}


@pytest.mark.parametrize("name", LATEX)
def test_limits_in_a_table_for_a_paper_are_in_the_line_below_it(name):
    result = LATEX[name]()
    given = [{"level": 0.9}, {"level": 0.8}, {"level": 0.9, "n": 300}, {"level": 0.9, "seed": 1}]
    given += [] if name == "batch" else [{"level": 0.9, "block": 2}]
    tables = [result.to_latex(**own) for own in given]
    lines = [text.partition("Signature: ")[2] for text in tables]
    assert len({*lines, result.to_latex().partition("Signature: ")[2]}) == len(given) + 1
    assert all("level:0." in line and "resamples:" in line for line in lines)


def test_limits_of_a_chosen_threshold_are_read_back():
    asked = {"min_recall": 0.1, "max_alarms_per": (9, 20), "max_alarmed": 0.75, "cooldown": 2}
    curve = cc.affiliation_curve(LONG["truth"], LONG["scores"])
    best = curve.best(2, **asked)
    told = parse(best.signature.short).options
    assert told == {"threshold": "best_f1", "beta": 2, **asked}
    assert curve.best(**_without_threshold(told)) == best
    assert curve.best(2, **asked | {"max_alarms_per": [9, 20]}).signature == best.signature
    assert curve.best(2).signature != best.signature != curve.best(**asked).signature


def test_any_threshold_of_a_curve_is_read_back():
    curve = cc.affiliation_curve(LONG["truth"], LONG["scores"])
    point = curve.operating_point(2.5, 2, cooldown=3)
    told = parse(point.signature.short).options
    assert told == {"threshold": 2.5, "beta": 2, "cooldown": 3}
    assert curve.operating_point(**told) == point
    beyond = curve.operating_point(100)
    assert parse(beyond.signature.short).options == {"threshold": 100}
    assert {own.signature.data for own in (point, beyond, curve.best())} == {curve.signature.data}


def test_folds_of_a_threshold_are_read_back():
    curve = cc.affiliation_curve(LONG["truth"], LONG["scores"])
    own = curve.cross_fitted(2, 4, min_recall=0.1)
    told = parse(own.signature.short).options
    assert told == {"threshold": "best_f1", "folds": 4, "beta": 2, "min_recall": 0.1}
    assert curve.cross_fitted(**_without_threshold(told)).to_dict() == own.to_dict()


@pytest.mark.parametrize(
    ("rule", "told"),
    [("quantile:0.9", "quantile:0.9"), ({"alarms": (2, 20)}, "alarms:2/20"), (3, 3)],
)
def test_the_rule_of_a_threshold_is_read_back(rule, told):
    sides = LONG["truth"], LONG["scores"]
    own = cc.choose_threshold(*sides, rule)
    assert own.signature.options == {"threshold": told}
    assert cc.choose_threshold(*sides, own.signature.options["threshold"]) == own
    on_a_part = cc.choose_threshold(*sides, rule, fit=[(0, 20)]).signature
    assert on_a_part.options == own.signature.options
    assert "|fit:#" in on_a_part.short
    other = LONG["truth"], changed(LONG["scores"], 30, 9)
    assert cc.choose_threshold(*other, rule).signature.data != own.signature.data


def test_how_intervals_were_drawn_is_read_back():
    asked = {"level": 0.9, "n": 300, "seed": 1, "block": 2}
    alarms = {"a": LONG["scores"] > 5, "b": LONG["scores"] > 7}
    compared = cc.compare(LONG["truth"], alarms)
    result = cc.affiliation(LONG["truth"], alarms["a"])
    told = {"resamples" if name == "n" else name: own for name, own in asked.items()}
    for own in (compared.intervals(**asked), result.interval(**asked)):
        assert parse(own.signature.short).options == told
    several, one = compared.intervals(**asked), result.interval(**asked)
    assert several.signature.data == compared.signature.data
    assert several.detectors["a"].signature == one.signature
    assert one.signature.data == result.signature.data
    assert several.signature != compared.intervals(**asked | {"seed": 2}).signature


def test_what_detectors_say_together_is_signed_as_its_alarms():
    sides = {"a": LONG["scores"] > 5, "b": LONG["scores"] > 7}
    both = cc.compare(LONG["truth"], sides).ensemble(how="intersection")
    assert both.signature == cc.affiliation(LONG["truth"], sides["b"]).signature


def test_a_corpus_of_nab_and_each_of_its_series_is_signed():
    truth = {"x": TRUTH, "y": LONG["truth"]}
    scores = {"x": SCORES, "y": LONG["scores"]}
    usual = cc.metrics.nab_corpus(truth, scores)
    assert str(usual.signature).startswith("nab_corpus|thr:none|")
    assert "|series:2|" in str(usual.signature)
    others = [
        cc.metrics.nab_corpus(truth, scores, threshold=2),
        cc.metrics.nab_corpus(truth, scores, probation=0.5),
        cc.metrics.nab_corpus(truth, scores, profile="reward_low_FP_rate"),
        cc.metrics.nab_corpus(truth, scores | {"x": changed(SCORES, 0, 9)}),
        cc.metrics.nab_corpus(truth | {"x": changed(TRUTH, 0, 1)}, scores),
    ]
    assert len({own.signature for own in (usual, *others)}) == 1 + len(others)
    for own in others[:3]:
        told = parse(str(own.signature)).metrics["nab_corpus"]
        assert cc.metrics.nab_corpus(truth, scores, **told) == own
    alone = cc.metrics.nab(TRUTH, usual.threshold <= SCORES)
    assert usual.series["x"].signature == alone.signature


@pytest.mark.parametrize("metric", ["affiliation", "unbiased_affiliation"])
def test_samples_are_in_the_hash_where_they_are_drawn(metric):
    truth, alarms = np.repeat([0, 1, 0, 0, 1, 0], 10), np.repeat([0, 0, 1, 0, 1, 0], 10)
    times = np.cumsum(2 + np.arange(60) % 2)
    axes = [times, times + (np.arange(60) % 10 == 5)]  # no event starts or stops there
    rows = [cc.evaluate(truth, alarms, metrics=[metric], times=own, end=180) for own in axes]
    sides = (cc.Events.from_labels(own, times, 180) for own in (truth, alarms))
    rows.append(cc.evaluate(*sides, metrics=[metric], span=(2, 180)))
    frames = [pa.table({"truth": truth, "p": alarms, "t": own}) for own in axes]
    asked = {"truth": "truth", "predicted": "p", "time": "t", "metrics": [metric]}
    batches = [cc.evaluate_frame(frame, **asked) for frame in frames]
    drawn = metric == "unbiased_affiliation"
    assert (len({*map(str, rows)}) > 1) == drawn
    assert len({str(row.signature) for row in rows}) == (3 if drawn else 1)
    assert len({str(batch.signature) for batch in batches}) == (2 if drawn else 1)


@pytest.mark.parametrize("axis", [{}, {"times": STAMPS}])
@pytest.mark.parametrize("search", [False, True])
def test_labels_and_events_are_attacked_in_other_ways(axis, search):
    def attacked(truth, alarms, **given):
        if search:
            return cc.adversary.search("composite", truth, budget=9, **given)
        return cc.audit(truth, {"a": alarms}, metrics=["composite"], budget=9, **given)

    times = axis.get("times", np.arange(10))
    sides = [cc.Events.from_labels(own, times) for own in (TRUTH, ALARMS)]
    span = (times[0], times[-1] + (times[1] - times[0]))
    labels, events = attacked(TRUTH, ALARMS, **axis), attacked(*sides, span=span)
    assert labels.signature.data != events.signature.data


def test_windows_of_time_are_signed_as_the_rows_that_they_hold():
    windows = [(STAMPS[1], STAMPS[3])]
    later = STAMPS + np.timedelta64(1, "h")
    found = [
        cc.metrics.nab(TRUTH, ALARMS, times=times, windows=own, probation=0)
        for times, own in ((STAMPS, windows), (later, windows), (later, [(later[1], later[3])]))
    ]
    assert found[0] == found[2] != found[1]
    assert {own.signature.metrics["nab"]["windows"] for own in found} == {"#windows"}
    assert found[0].signature.data == found[2].signature.data != found[1].signature.data


def test_a_null_tells_how_it_was_drawn():
    asked = {"tolerance": 1, "simulations": 20, "seed": 3}
    null = cc.metrics.two_sided_null(TRUTH, ALARMS, **asked)
    told = parse(str(null.signature)).metrics
    assert told == {"two_sided_null": asked}
    assert null.observed.signature == cc.metrics.two_sided(TRUTH, ALARMS, tolerance=1).signature
    assert null.quantile(0.5).signature.metrics == {"two_sided_null": {**asked, "q": 0.5}}
    assert null.quantile(0.5).signature != null.quantile(0.9).signature


def test_a_generator_is_named():
    asked = {"tolerance": 1, "simulations": 20}
    null = cc.metrics.two_sided_null(TRUTH, ALARMS, **asked, seed=np.random.default_rng(1))
    assert null.signature.metrics == {"two_sided_null": {**asked, "seed": "#seed"}}


def test_a_point_of_a_point_adjusted_curve_tells_its_beta():
    curve = cc.metrics.point_adjust_curve(TRUTH, SCORES)
    assert curve.best(2).signature.options == {"threshold": "best_f1", "beta": 2}
    assert curve.best(2).signature.data == curve.signature.data
    assert curve.signature.metrics == {"point_adjust_curve": {}}


def test_a_search_tells_what_it_was_asked_for():
    usual = cc.adversary.search("classical", LONG["truth"], budget=5)
    others = [
        cc.adversary.search("composite", LONG["truth"], budget=5),
        cc.adversary.search("classical", LONG["truth"], budget=6),
        cc.adversary.search("classical", LONG["truth"], budget=5, seed=1),
        cc.adversary.search("classical", LONG["truth"], budget=5, families=["everything"]),
        cc.adversary.search("classical", LONG["truth"], budget=5, parameters={"by": "duration"}),
        cc.adversary.search("classical", changed(LONG["truth"], 0, 1), budget=5),
        cc.adversary.search(lambda *_: 0.0, LONG["truth"], budget=5),
    ]
    assert len({own.signature for own in (usual, *others)}) == 1 + len(others)
    assert parse(usual.signature.short).metrics == {"search": {"metric": "classical"}}
    assert parse(usual.signature.short).options == {"seed": 0, "budget": 5}
    listed = (family for family in ["everything"])
    same = cc.adversary.search("classical", LONG["truth"], budget=5, families=listed)
    assert same.signature == others[3].signature


def test_time_that_is_fitted_on_decides():
    asked = {"scores": LONG["scores"], "threshold": "best_f1", "metrics": ["affiliation"]}
    own, other = (
        cc.evaluate(truth, **asked, fit=[(0, 20)]).signature
        for truth in (LONG["truth"], changed(LONG["truth"], 15, 1))
    )
    assert own.data != other.data
    assert "|fit:#" in str(own)
    assert "/20|" in str(own)


def test_a_stream_has_the_signature_of_the_whole_series():
    stream = cc.AffiliationStream(max_step=5)
    for start in range(0, len(TRUTH), 3):
        stream.update(TRUTH[start : start + 3], ALARMS[start : start + 3])
    signature = stream.result().signature
    assert str(signature) == str(cc.affiliation(TRUTH, ALARMS, max_step=5).signature)
    assert parse(str(signature)).options == {"max_step": 5}


def test_every_python_and_platform_has_the_signature_of_the_demo():
    data = demo()
    result = cc.affiliation(data.truth, data.predicted["forecast"], times=data.times)
    curve = cc.affiliation_curve(data.truth, data.scores["forecast"], times=data.times)
    table = cc.evaluate(data.truth, data.predicted, times=data.times, metrics=["affiliation"])
    lines = [str(own.signature) for own in (result, curve, *table)]
    assert [line.rpartition("|closecall:")[0] for line in lines] == [
        "affiliation|thr:none|ignore:none|step:none|zero-division:nan|series:1|data:b69c6c08",
        "affiliation|thr:all|ignore:none|step:none|zero-division:nan|series:1|data:b15a5978",
        "affiliation|thr:none|ignore:none|step:none|zero-division:nan|series:1|data:ef81918e",
        "affiliation|thr:none|ignore:none|step:none|zero-division:nan|series:1|data:b69c6c08",
    ]


def test_long_integers_are_named():
    """Python refuses to read integers of many digits."""
    assert value_text(10**30 - 1, "k") == "9" * 30
    assert value_text(10**30, "k") == "#k"
    assert value_text(-(10**30), "k") == "#k"


def test_what_cannot_show_itself_is_named_and_drawn_by_its_type():
    silent = type("Silent", (), {"__repr__": lambda _: 1 / 0})()
    assert value_text(silent, "silent") == "#silent"
    assert cc.report([0, 1, 0], scores={silent: [1, 2, 3]}).detectors == ("a Silent",)
