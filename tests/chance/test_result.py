"""Results: p-values by counting, words, and values that JSON takes."""

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isnan, nan

import numpy as np
import pytest

import closecall as cc
from closecall.chance import EventTests, ShiftTest, adjust_pvalues, significance
from closecall.errors import InputError, InputTypeError
from tests.oracle.significance import adjusted, pvalue


def test_the_observed_value_counts_as_one_more_draw():
    test = ShiftTest(0.5, np.array([0.1, 0.6, 0.7, 0.4]), "alarms")
    assert (test.at_least, test.pvalue) == (2, 3 / 5)
    assert test.mean == pytest.approx(0.45)
    assert test.std == pytest.approx(np.sqrt(0.0525))


@pytest.mark.parametrize(
    ("observed", "above"), [(0.25, 0.0), (1.0, 1.0), (0.625, 0.5), (0.0, -1 / 3), (nan, nan)]
)
def test_a_score_above_the_mean_of_the_shifts(observed, above):
    test = ShiftTest(observed, np.array([0.1, 0.4]), "alarms")
    assert test.above_chance == pytest.approx(above, nan_ok=True)


def test_where_every_shift_is_perfect_there_is_nothing_to_be_above():
    perfect = np.array([1.0, 1 - 1e-14, np.nextafter(1, 0)])
    assert isnan(ShiftTest(1.0, perfect, "alarms").above_chance)


def test_ties_count_even_where_they_are_rounded():
    draws = np.array([0.3, np.nextafter(0.3, 0), 0.3 - 1e-13, 0.3 - 1e-11, 0.3 + 1e-11])
    assert ShiftTest(0.3, draws, "alarms").at_least == 4


def test_an_undefined_score_has_no_pvalue():
    test = ShiftTest(nan, np.full(9, nan), "alarms")
    assert isnan(test.pvalue)
    assert test.to_dict() == {
        "observed": None,
        "pvalue": None,
        "at_least": None,
        "mean": None,
        "std": None,
        "above_chance": None,
    }
    assert test.sentence == "There are no alarms to shift, so the score is undefined."


def test_the_finding_in_words():
    draws = np.concatenate((np.full(3, 0.9), np.full(997, 0.1)))
    assert ShiftTest(0.8, draws, "alarms").sentence == (
        "A shift of the same alarms does at least as well in 3 of 1,000 cases: p = 0.004."
    )
    assert repr(ShiftTest(0.8, draws, "alarms")) == (
        "ShiftTest(observed=0.800, pvalue=0.004, null=0.102 +/- 0.044, n=1000)"
    )


def test_events_are_compared_with_the_shifts_in_which_they_are_defined():
    tests = EventTests(
        observed=np.array([0.5, nan, 0.0]),
        at_least=np.array([2, 0, 10]),
        draws=np.array([4, 10, 10]),
        mean=np.zeros(3),
        std=np.zeros(3),
        null=None,
        correction="bonferroni",
    )
    np.testing.assert_array_equal(tests.pvalue, [3 / 5, nan, 1.0])
    np.testing.assert_array_equal(tests.adjusted_pvalue, [1.0, nan, 1.0])
    assert len(tests) == 3
    assert repr(tests) == "EventTests(3 events, correction='bonferroni')"


@pytest.fixture(scope="module")
def dated():
    def at(hour):
        return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=hour)

    truth = cc.Events([(at(10), at(12)), (at(60), at(61))])
    alarms = cc.Events([(at(11), at(12)), (at(13), at(13)), (at(20), at(21))])
    return significance(truth, alarms, span=(at(0), at(80)), n=50)


def test_rows_are_plain_values(dated):
    values = dated.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    first, second = values["events"]
    assert (first["start"], first["stop"]) == (
        "2024-01-01T10:00:00+00:00",
        "2024-01-01T12:00:00+00:00",
    )
    assert first["precision_pvalue"] == dated.events.precision.pvalue[0]
    assert second["precision_observed"] is second["f1_adjusted_pvalue"] is None
    assert (second["recall_observed"], second["recall_pvalue"]) == (0.0, 1.0)
    assert values["f1"]["pvalue"] == dated.f1.pvalue
    assert values["f1"]["above_chance"] == dated.f1.above_chance
    assert first["recall_above_chance"] == dated.events.recall.above_chance[0]
    assert second["f1_above_chance"] is None
    assert (values["n"], values["seed"], values["correction"]) == (50, 0, "holm")


def test_columns_of_events(dated):
    events = dated.events
    assert events.start.dtype.kind == events.stop.dtype.kind == "M"
    assert (events.stop - events.start).tolist() == [
        timedelta(hours=2),
        timedelta(hours=1),
    ]
    assert repr(events) == "EventSignificance(2 events, correction='holm')"
    for name in ("precision", "recall", "f1"):
        column = getattr(events, name)
        counted = [
            pvalue(x, draws) for x, draws in zip(column.observed, column.null.T, strict=True)
        ]
        np.testing.assert_allclose(column.pvalue, counted, rtol=1e-15)
        mean = np.nanmean(column.null, axis=0)
        above = (column.observed - mean) / (1 - mean)
        np.testing.assert_allclose(column.above_chance, above, rtol=1e-12)


def test_one_line_each(dated):
    assert repr(dated) == (
        f"Significance(precision p={dated.precision.pvalue:.3g}, "
        f"recall p={dated.recall.pvalue:.3g}, f1 p={dated.f1.pvalue:.3g}, n=50, events=2)"
    )
    scores = significance([0, 1, 0, 0], scores=[0.1, 0.9, 0.2, 0.3], n=9)
    assert repr(scores) == (
        f"ScoresSignificance(average_precision p={scores.average_precision.pvalue:.3g}, n=9)"
    )
    assert scores.to_dict() == {
        "method": "shift",
        "n": 9,
        "seed": 0,
        "average_precision": scores.average_precision.to_dict(),
    }


CORRECTIONS = ("holm", "bonferroni", "benjamini-hochberg")


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_the_procedure_rejects_from_the_adjusted_value_on(correction, seed):
    random = np.random.default_rng(seed)
    pvalues = [Fraction(int(k), 200) for k in random.integers(1, 60, size=random.integers(1, 9))]
    found = adjust_pvalues([float(p) for p in pvalues], correction)
    expected = [float(level) for level in adjusted(pvalues, correction)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_known_values():
    # Worked by hand: 4 x 0.005, 3 x 0.011, 2 x 0.02, 1 x 0.04 and their running maximum.
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005]), [0.033, 0.04, 0.04, 0.02]
    )
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005], "bonferroni"), [0.044, 0.08, 0.16, 0.02]
    )
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005], "benjamini-hochberg"),
        [0.022, 0.02 * 4 / 3, 0.04, 0.02],
    )


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_what_could_not_be_tested_still_counts(correction):
    with_gap = adjust_pvalues([0.01, nan, 0.03], correction)
    assert isnan(with_gap[1])
    np.testing.assert_array_equal(
        with_gap[[0, 2]], adjust_pvalues([0.01, 1.0, 0.03], correction)[[0, 2]]
    )


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_one_test_needs_no_correction_and_none_gives_none(correction):
    assert adjust_pvalues([0.3], correction).tolist() == [0.3]
    assert adjust_pvalues([], correction).size == 0


@pytest.mark.parametrize(
    ("pvalues", "kind", "message"),
    [
        ([-1, 0.1], InputError, "Expected `pvalues` to be in [0, 1], or nan, got -1 at index 0."),
        ([0.1, 1.5], InputError, "Expected `pvalues` to be in [0, 1], or nan, got 1.5 at index 1."),
        (
            0.1,
            InputTypeError,
            "Expected `pvalues` to be a list or another sequence of numbers, got 0 dimensions.",
        ),
    ],
)
def test_what_is_no_list_of_pvalues_is_refused(pvalues, kind, message):
    with pytest.raises(kind) as caught:
        adjust_pvalues(pvalues)
    assert str(caught.value) == message


def test_an_unknown_correction_is_refused():
    with pytest.raises(InputError) as caught:
        adjust_pvalues([0.1], "sidak")
    assert str(caught.value) == (
        "Expected `correction` to be one of 'holm', 'bonferroni', 'benjamini-hochberg', "
        "got 'sidak'."
    )
