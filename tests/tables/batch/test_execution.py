"""Units run to the end, in whatever order they finish."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from closecall.errors import InputError
from closecall.tables.batch.engine import run
from closecall.tables.batch.execution import Batch, require_health, result_of
from closecall.tables.batch.journal import Journal
from closecall.tables.batch.outcome import Outcome
from closecall.tables.batch.question import Question
from closecall.tables.batch.unit import evaluate_unit

from .groups import HandMade, group, random_series

GENERATOR = np.random.default_rng(41)
SERIES = [random_series(GENERATOR, 25) for _ in range(6)]
UNITS = [HandMade([group(f"s{k}", **SERIES[k])], key=f"unit {k}") for k in range(len(SERIES))]
ASKED = {"by": "series", "truth": "label", "score": ["a", "b"]}


def backwards(units, function, **options):
    yield from reversed(list(run(units, function, **options)))


@pytest.mark.parametrize("threshold", ["best_f1", "best_f1_global"])
def test_the_order_in_which_units_finish_does_not_show(threshold):
    question = Question.ask(**ASKED, threshold=threshold)
    results = []
    for execute in (run, backwards):
        batch = Batch(UNITS, execute, progress=False)
        asked = question
        if threshold == "best_f1_global":
            asked = question.with_thresholds(batch.shared_thresholds(question)[0])
        results.append(result_of(*batch.evaluate(asked), asked, "arrow").table)
    assert results[0].equals(results[1])
    assert results[0]["series"].to_pylist()[::2] == [f"s{k}" for k in range(6)]


def test_closing_gives_up_the_units_that_have_not_begun():
    begun = []

    def execute(units, function, **_):
        for unit in units:
            begun.append(unit.key)
            yield Outcome(unit.key, value=function(unit))

    bad = HandMade([group("bad", **{**SERIES[0], "label": np.full(25, 3)})], key="bad unit")
    batch = Batch([UNITS[0], bad, *UNITS[1:]], execute, progress=False)
    with pytest.raises(InputError, match="series='bad', detector='a'"):
        batch.evaluate(Question.ask(**ASKED, strict=True))
    assert begun == ["unit 0", "bad unit"]


def test_units_that_fail_are_listed_and_all_of_them_are_an_error():
    def failing(units, function, **_):
        for place, unit in enumerate(units):
            if place < 2:
                yield Outcome(unit.key, error="OSError: gone")
            else:
                yield Outcome(unit.key, value=function(unit))

    question = Question.ask(**ASKED)
    done, failures = Batch(UNITS, failing, progress=False).evaluate(question)
    assert [part.key for part in done] == [unit.key for unit in UNITS[2:]]
    assert failures == [("unit 0", "OSError: gone"), ("unit 1", "OSError: gone")]
    with pytest.raises(InputError, match=r"got unit 0 \(and 1 more\): OSError: gone"):
        Batch(UNITS[:2], failing, progress=False).evaluate(question)


def test_health_is_every_row_being_ok():
    question = Question.ask(**ASKED)
    require_health(evaluate_unit(UNITS[0], question).rows, question)
    constant = HandMade([group("c", **{**SERIES[0], "b": np.ones(25)})])
    with pytest.raises(InputError, match="got 'constant_score' for series='c', detector='b'"):
        require_health(evaluate_unit(constant, question).rows, question)


@pytest.fixture
def journal(tmp_path):
    return Journal.open(tmp_path / "rows.parquet", {"data": "as it is"})


GLOBAL = Question.ask(**ASKED, threshold="best_f1_global")


def without_unit_3(units, function, **_):
    for unit in units:
        found = {"error": "OSError: gone"} if unit.key == "unit 3" else {"value": function(unit)}
        yield Outcome(unit.key, **found)


def test_a_threshold_of_some_units_is_not_kept_and_neither_is_what_it_gave(journal):
    batch = Batch(UNITS, without_unit_3, progress=False, journal=journal)
    shared, failures = batch.shared_thresholds(GLOBAL)
    assert failures == [("unit 3", "OSError: gone")]
    kept = [unit for unit in UNITS if unit.key != "unit 3"]
    whole = Batch(UNITS, run, progress=False).shared_thresholds(GLOBAL)[0]
    assert shared == Batch(kept, run, progress=False).shared_thresholds(GLOBAL)[0] != whole

    # It can be read again by now, but had no say.
    rest = replace(batch, execute=run).without(failures)
    done, more = rest.evaluate(GLOBAL.with_thresholds(shared))
    assert [part.key for part in done] == [unit.key for unit in kept]
    assert more == []
    assert journal.noted("thresholds") is None
    # There is something to go on with, also where a finished output is to be replaced.
    journal.out.touch()
    assert Journal.open(journal.out, {"data": "as it is"}, resume=True) == journal
    assert list(journal.finished()) == []
    again = Batch(UNITS, run, progress=False, journal=journal)
    assert again.shared_thresholds(GLOBAL) == (whole, [])
    assert journal.noted("thresholds") == whole


def test_no_threshold_of_nothing_and_none_of_some_units_if_strict():
    strict = Question.ask(**ASKED, threshold="best_f1_global", strict=True)
    for units, question in ((UNITS, strict), (UNITS[3:4], GLOBAL)):
        batch = Batch(units, without_unit_3, progress=False)
        with pytest.raises(InputError, match="got unit 3: OSError: gone"):
            batch.shared_thresholds(question)
