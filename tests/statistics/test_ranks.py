"""Ranks over series: by hand, by brute force, by scipy, and as aeon has them."""

from inspect import signature
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy  # which loads its parts when they are used
from hypothesis import given, settings
from hypothesis import strategies as st

from closecall.errors import InputError, InputTypeError
from closecall.statistics import compute_ranks, mean_difference
from tests.metrics.peers import peer, unopened
from tests.oracle import ranks as oracle

HITS = {  # worked by hand
    "a": [9, 8, 7, 9, 6, 8, 9],
    "b": [5, 4, 6, 4, 5, 7, 8],
    "c": [5, 6, 5, 3, 5, 5, 2],
}


def drawn(seed, *, detectors=5, series=30, spread=0.5):
    random = np.random.default_rng(seed)
    strength = np.sort(random.random(detectors))[::-1] * spread
    return {
        f"d{place}": numbers
        for place, numbers in enumerate(random.random((detectors, series)) + strength[:, None])
    }


def test_by_hand():
    ranks = compute_ranks(HITS, metric="hits")
    assert ranks.detectors == ("a", "b", "c")
    assert ranks.average_rank == pytest.approx((1, 16 / 7, 19 / 7))
    assert ranks.best_on == (7, 0, 0)
    assert ranks.mean == pytest.approx((8, 39 / 7, 31 / 7))
    first, second, third = ranks.pairs
    assert (first.first, first.second, first.wins, first.ties, first.losses) == ("a", "b", 7, 0, 0)
    assert (first.pvalue, first.effect, first.apart) == (2 / 2**7, 1.0, True)
    assert first.corrected == pytest.approx(3 * 2 / 2**7)
    assert second.corrected == pytest.approx(3 * 2 / 2**7)  # no less than the one before
    assert (third.wins, third.ties, third.losses, third.apart) == (4, 2, 1, False)
    assert ranks.cliques == (("b", "c"),)
    assert repr(ranks) == (
        "Ranks(a 1, b 2.286, c 2.714; hits over 7 series, 2 of 3 pairs told apart)"
    )


def test_lower_may_be_better():
    ranks = compute_ranks(HITS, higher_is_better=False)
    assert ranks.detectors == ("c", "b", "a")
    assert ranks.pairs[1].effect == 1.0
    assert ranks.pairs[1].difference.value == pytest.approx(31 / 7 - 8)


TABLES = st.integers(2, 5).flatmap(
    lambda k: st.integers(6, 9).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 6), min_size=n, max_size=n), min_size=k, max_size=k
        )
    )
)


@given(rows=TABLES, upward=st.booleans())
@settings(max_examples=60)
def test_equals_brute_force(rows, upward):
    table = {f"d{place}": numbers for place, numbers in enumerate(rows)}
    ranks = compute_ranks(table, higher_is_better=upward)
    expected = oracle.average_ranks(table, higher_is_better=upward)
    assert dict(zip(ranks.detectors, ranks.average_rank, strict=True)) == pytest.approx(expected)
    assert list(ranks.average_rank) == sorted(ranks.average_rank)
    found = []
    for pair in ranks.pairs:
        sides = (table[pair.first], table[pair.second])
        found.append(oracle.signed_rank(*(sides if upward else sides[::-1])))
        assert (pair.effect, pair.pvalue) == pytest.approx(found[-1])
        assert pair.wins + pair.ties + pair.losses == len(rows[0])
    assert [pair.corrected for pair in ranks.pairs] == pytest.approx(
        oracle.holm([pvalue for _, pvalue in found])
    )
    told = [
        (ranks.detectors.index(pair.first), ranks.detectors.index(pair.second))
        for pair in ranks.pairs
        if pair.apart
    ]
    assert [[ranks.detectors.index(name) for name in clique] for clique in ranks.cliques] == (
        oracle.cliques(len(rows), told)
    )


def test_a_pair_that_is_not_told_apart_around_another_is_named():
    better, steady, worse = (
        [8, 7, 1, 1, 6, 7, 5, 4],
        [6, 7, 3, 3, 6, 6, 5, 2],
        [1, 4, 1, 3, 2, 5, 0, -1],
    )
    ranks = compute_ranks({"better": better, "steady": steady, "worse": worse})
    assert [(pair.first, pair.second) for pair in ranks.pairs if pair.apart] == [
        ("steady", "worse")
    ]
    assert ranks.cliques == (("better", "steady"),)
    assert ranks.ungrouped == (("better", "worse"),)
    assert "better and worse share no group, but are not told apart either." in ranks.text
    assert compute_ranks(HITS).ungrouped == ()


@pytest.mark.parametrize("series", [12, 200])
def test_pvalues_are_those_of_scipy(series):
    table = drawn(1, series=series)
    ranks = compute_ranks(table)
    friedman = scipy.stats.friedmanchisquare(*table.values())
    assert ranks.friedman_statistic == pytest.approx(friedman.statistic)
    assert ranks.friedman_pvalue == pytest.approx(friedman.pvalue)
    for pair in ranks.pairs:
        expected = scipy.stats.wilcoxon(table[pair.first], table[pair.second]).pvalue
        assert pair.pvalue == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("equal", [0, 3])
@pytest.mark.parametrize("differing", [49, 50, 51])
def test_pvalues_are_exact_up_to_50_differences(differing, equal):
    """Series without a difference do not count; from 51 on it is the normal law."""
    gaps = np.random.default_rng(differing).normal(0.3, 1, differing)
    (pair,) = compute_ranks(
        {"a": [*gaps, *[1.0] * equal], "b": [0.0] * differing + [1.0] * equal}
    ).pairs
    assert pair.ties == equal
    exact = scipy.stats.wilcoxon(gaps, method="exact").pvalue
    rank_sum = scipy.stats.rankdata(np.abs(gaps))[gaps > 0].sum()
    total = differing * (differing + 1) / 2
    spread = np.sqrt(total * (2 * differing + 1) / 12)
    normal = 2 * scipy.stats.norm.sf(abs(rank_sum - total / 2) / spread)
    assert abs(exact - normal) > 1e-6 * exact
    assert pair.pvalue == pytest.approx(exact if differing <= 50 else normal, rel=1e-12)


@pytest.mark.parametrize(("differing", "ahead"), [(50, 33), (51, 33)])
def test_ties_are_exact_up_to_50_differences(differing, ahead):
    """With differences of one size each sign counts alike, so that it is the sign test."""
    wins = [1.0] * ahead + [-1.0] * (differing - ahead)
    (pair,) = compute_ranks({"a": wins, "b": [0.0] * differing}).pairs
    exact = scipy.stats.binomtest(ahead, differing).pvalue
    normal = 2 * scipy.stats.norm.sf((2 * ahead - differing) / np.sqrt(differing))
    assert abs(exact - normal) > 1e-3
    assert pair.pvalue == pytest.approx(exact if differing <= 50 else normal, rel=1e-12)


def test_ties_among_differences_are_exact_where_decimals_hide_them():
    first, second = [0.3, 0.4, 0.5, 0.9, 0.7, 0.8], [0.2, 0.3, 0.4, 0.8, 0.8, 0.6]
    (pair,) = compute_ranks({"a": first, "b": second}).pairs
    whole = [[round(10 * value) for value in side] for side in (first, second)]
    assert (pair.effect, pair.pvalue) == pytest.approx(oracle.signed_rank(*whole))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 86400.0, 1e12])
def test_the_unit_does_not_matter(unit):
    table = {name: np.asarray(numbers) * unit for name, numbers in HITS.items()}
    ranks, plain = compute_ranks(table), compute_ranks(HITS)
    assert ranks.average_rank == plain.average_rank
    assert [pair.pvalue for pair in ranks.pairs] == [pair.pvalue for pair in plain.pairs]


def test_limits_hold_for_all_pairs_at_once():
    table = drawn(2, detectors=3)
    for pair in compute_ranks(table, low=0, high=2).pairs:
        sides = table[pair.first], table[pair.second]
        alone, _ = mean_difference(*sides, level=1 - 0.05 / 3, low=0, high=2)
        assert (pair.difference.low, pair.difference.high) == (alone.low, alone.high)


def test_detectors_that_never_differ_are_one_clique():
    ranks = compute_ranks(dict.fromkeys("abc", [0.5] * 6))
    assert ranks.average_rank == (2.0, 2.0, 2.0)
    assert (ranks.friedman_statistic, ranks.friedman_pvalue) == (0.0, 1.0)
    assert {pair.pvalue for pair in ranks.pairs} == {1.0}
    assert ranks.cliques == (("a", "b", "c"),)


def test_no_pair_is_told_apart_where_friedman_finds_no_difference():
    table = {"a": [8, 6, 5, 2, 3, 0, 0], "b": [0, 1, 8, 6, 9, 5, 6], "c": [9, 7, 6, 5, 5, 9, 2]}
    ranks = compute_ranks(table)
    assert ranks.friedman_pvalue == pytest.approx(0.0663, abs=5e-5)
    assert min(pair.corrected for pair in ranks.pairs) == 3 * 2 / 2**7
    assert not any(pair.apart for pair in ranks.pairs)
    assert ranks.cliques == (ranks.detectors,)


def test_two_detectors_have_no_test_of_friedman():
    ranks = compute_ranks({"a": HITS["a"], "b": HITS["b"]})
    assert ranks.friedman_pvalue is None
    assert ranks.to_dict()["friedman"] is None
    assert ranks.pairs[0].apart


def test_what_so_few_series_cannot_show_is_said():
    table = {f"d{place}": [value - place for value in range(7)] for place in range(4)}
    ranks = compute_ranks(table)
    assert not any(pair.apart for pair in ranks.pairs)
    assert "No pair could be, even if one detector won on all 7 series: 6 pairs take 8" in (
        ranks.text
    )
    longer = {f"d{place}": [value - place for value in range(8)] for place in range(4)}
    assert all(pair.apart for pair in compute_ranks(longer).pairs)


def with_holes():
    return {
        "a": [9, 8, 7, 9, 6, 8, 9, nan],
        "b": [5, 4, nan, 4, 5, 7, 8, nan],
        "c": [5, 6, 5, 3, 5, 5, 2, nan],
    }


def test_series_that_no_detector_has_are_left_out():
    table = {name: [*numbers, nan] for name, numbers in HITS.items()}
    ranks = compute_ranks(table)
    assert (ranks.average_rank, ranks.left_out) == (compute_ranks(HITS).average_rank, 1)
    assert "1 series without a value of any detector is left out." in ranks.text


def test_a_single_pair_is_named_as_one():
    ranks = compute_ranks({"a": [1, 2, 1, 2, 1, 2], "b": [2, 1, 2, 1, 2, 1]})
    assert ranks.text.startswith("0 of 1 pair is told apart at 0.05 ")


def test_missing_series_may_be_dropped():
    ranks = compute_ranks(with_holes(), missing="drop")
    kept = {name: [numbers[i] for i in (0, 1, 3, 4, 5, 6)] for name, numbers in HITS.items()}
    assert ranks.average_rank == compute_ranks(kept).average_rank
    assert (ranks.series, ranks.left_out) == (6, 2)
    assert "2 series without a value of every detector are left out." in ranks.text


def test_a_missing_value_may_be_ranked_last():
    ranks = compute_ranks(with_holes(), missing="worst")
    worst = {**HITS, "b": [5, 4, -999, 4, 5, 7, 8]}  # less than any, by more than any difference
    expected = compute_ranks(worst)
    assert (ranks.series, ranks.left_out, ranks.filled) == (7, 1, (0, 1, 0))
    assert ranks.average_rank == expected.average_rank
    assert [(p.effect, p.pvalue) for p in ranks.pairs] == [
        (p.effect, p.pvalue) for p in expected.pairs
    ]
    assert ranks.mean[1] == pytest.approx(33 / 6)  # what is missing is in no mean
    assert ranks.pairs[0].difference.value == pytest.approx((4 + 4 + 5 + 1 + 1 + 1) / 6)
    assert "1 missing value ranked last." in ranks.text


def test_a_detector_without_any_value_is_last():
    ranks = compute_ranks({**HITS, "none": [nan, inf, nan, nan, nan, nan, nan]}, missing="worst")
    assert ranks.detectors[-1] == "none"
    assert ranks.average_rank[-1] == 4.0
    assert ranks.to_dict()["detectors"][-1]["mean"] is None


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_dataframe_is_a_table(frame):
    assert compute_ranks(frame(HITS)) == compute_ranks(HITS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: compute_ranks(with_holes()),
            (
                "Expected a finite number of every detector on every series, got none of some "
                "detectors on 1 of 8 series.\n\nHint: Pass `missing='drop'` to use only series "
                "that all detectors have, or `missing='worst'` to give a missing number the last "
                "rank."
            ),
        ),
        (
            lambda: compute_ranks({"a": [1.0] * 6}),
            "Expected `table` to have two or more detectors, got 1.",
        ),
        (
            lambda: compute_ranks({1: [1.0] * 6, "1": [1.0] * 6}),
            "Expected `table` to be the name of a column, got 1.",
        ),
        (
            lambda: compute_ranks(HITS, low=1, high=0),
            "Expected `low` to be below `high`, got 1 and 0.",
        ),
        (
            lambda: compute_ranks({"a": [1.0] * 6, "b": [1.0] * 5}),
            "Expected every column of `table` to have 6 values, got 5 in 'b'.",
        ),
        (
            lambda: compute_ranks({"a": [1.0] * 5, "b": [1.0] * 5}),
            (
                "Expected 6 or more series on which detectors can be ranked, got 5.\n\nHint: With "
                "fewer, one of two equally good detectors too often wins all of them by luck."
            ),
        ),
        (
            lambda: compute_ranks(HITS, missing="zero"),
            "Expected `missing` to be 'raise', 'drop' or 'worst', got 'zero'.",
        ),
        (
            lambda: compute_ranks([[1, 2], [3, 4]]),
            "Expected `table` to be a mapping from detectors to numbers, or a dataframe, got list.",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises((InputError, InputTypeError)) as caught:
        call()
    assert str(caught.value) == message


def test_equally_good_detectors_are_rarely_told_apart():
    """In at most 5 % of tables; 200 of them are off by 3 % at most, 95 times in 100."""
    random = np.random.default_rng(0)
    told = 0
    for _ in range(200):
        values = random.random((6, 20)) + random.random(20)  # series differ, detectors do not
        told += any(
            pair.apart for pair in compute_ranks(dict(zip("abcdef", values, strict=True))).pairs
        )
    assert told / 200 <= 0.06


def aeon(name):
    pytest.importorskip("aeon", reason="needs aeon, see benchmarks/peers.txt")
    unopened("aeon.visualisation")
    return peer("aeon.visualisation.results._critical_difference", name)


@pytest.mark.parametrize("seed", range(8))
def test_ranks_are_those_of_aeon(seed):
    table = drawn(seed)
    values = np.round(np.column_stack(list(table.values())), 1)  # with ties
    expected = aeon("_compute_ranks")(values, lower_better=False).mean(axis=0)
    ranks = compute_ranks(dict(zip(table, values.T, strict=True)))
    found = dict(zip(ranks.detectors, ranks.average_rank, strict=True))
    assert [found[name] for name in table] == pytest.approx(expected)
    friedman = peer("aeon.benchmarking.stats", "check_friedman")
    assert ranks.friedman_pvalue == pytest.approx(
        friedman(aeon("_compute_ranks")(values, lower_better=False))
    )


def test_the_level_of_aeon_is_another_by_default():
    parameters = signature(aeon("plot_critical_difference")).parameters
    assert parameters["alpha"].default == 0.1
    assert parameters["correction"].default == "holm"


@pytest.mark.parametrize("seed", range(12))
def test_cliques_are_those_of_aeon(seed):
    """Given the same pairs, unless one of its groups holds a pair that is told apart."""
    ranks = compute_ranks(drawn(seed, series=20))
    place = {name: number for number, name in enumerate(ranks.detectors)}
    apart = [{place[pair.first], place[pair.second]} for pair in ranks.pairs if pair.apart]
    alike = np.triu(np.ones((5, 5)))
    for first, second in map(sorted, apart):
        alike[first, second] = 0
    theirs = [set(np.flatnonzero(row).tolist()) for row in aeon("_build_cliques")(alike)]
    ours = [{place[name] for name in clique} for clique in ranks.cliques]
    agreed = [group for group in theirs if not any(pair <= group for pair in apart)]
    assert [group for group in ours if group in theirs] == agreed
    assert len(agreed) == len(theirs) == len(ours) or seed == 2
