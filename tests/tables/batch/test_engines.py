"""Units in this process and in a caller's executor: every outcome once, few on their way."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from types import SimpleNamespace

import pyarrow as pa
import pytest

from closecall.errors import EngineError, InputError, InputTypeError
from closecall.tables.batch import engines
from closecall.tables.batch.engines import Engine, Outcome, run
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.sources import open_source
from tests.tables.batch.groups import run_with


@dataclass(frozen=True)
class Number:
    """A unit that any process can unpickle."""

    value: int

    @property
    def key(self):
        return f"number {self.value}"


def double(unit):
    if unit.value == 13:
        message = "Thirteen\nbrings bad luck."
        raise ValueError(message)
    return 2 * unit.value


def die_at_five(unit):
    if unit.value == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * unit.value


def numbers(count):
    return [Number(value) for value in range(count)]


DOUBLED = {
    f"number {value}": Outcome(f"number {value}", 2 * value) for value in range(20) if value != 13
}
DOUBLED["number 13"] = Outcome("number 13", None, "ValueError: Thirteen")


def by_key(outcomes):
    outcomes = list(outcomes)
    found = {outcome.key: outcome for outcome in outcomes}
    assert len(found) == len(outcomes)
    return found


def test_this_process():
    assert by_key(run_with(numbers(20), double)) == DOUBLED


def test_this_process_starts_a_unit_only_when_it_is_asked_for():
    begun = []
    outcomes = run_with(numbers(3), lambda unit: begun.append(unit.value))
    next(outcomes)
    assert begun == [0]


@pytest.mark.parametrize("workers", [1, 4])
def test_threads(workers):
    with ThreadPoolExecutor(workers) as executor:
        assert by_key(run_with(numbers(20), double, engine=executor)) == DOUBLED
        assert executor.submit(int, "7").result() == 7  # it is still open


def test_units_are_drawn_as_there_is_room():
    drawn = []

    def units():
        for unit in numbers(100):
            drawn.append(unit.value)
            yield unit

    with (
        ThreadPoolExecutor(3) as executor,
        closing(run_with(units(), double, engine=executor)) as some,
    ):
        for _ in range(5):
            next(some)
        assert len(drawn) <= 5 + 2 * 3


def test_what_has_not_begun_is_given_up():
    begun, gate = [], threading.Event()

    def wait(unit):
        begun.append(unit.value)
        gate.wait(10)

    def first(unit):
        return unit.value if unit.value == 0 else wait(unit)

    with ThreadPoolExecutor(1) as executor:
        with closing(run_with(numbers(100), first, engine=executor)) as outcomes:
            assert next(outcomes).value == 0
        gate.set()
    assert begun in ([], [1])


def test_an_interrupt_gives_up_what_has_not_begun():
    def interrupt(unit):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_with(numbers(3), interrupt))


def test_a_result_that_cannot_travel_is_an_error_of_its_unit():
    with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as executor:
        found = by_key(run_with(numbers(2), unsendable, engine=executor))
    assert found["number 0"] == Outcome("number 0", "fine")
    assert "local object" in found["number 1"].error


def unsendable(unit):
    return "fine" if unit.value == 0 else (lambda: unit)


def test_an_executor_that_broke_before():
    with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as executor:
        assert executor.submit(die_at_five, Number(5)).exception() is not None
        with pytest.raises(EngineError, match="terminated abruptly") as caught:
            list(run_with(numbers(1), double, engine=executor))
    assert "resume=True" in str(caught.value)


def test_what_a_broken_executor_had_finished_is_kept():
    found = []
    with (
        ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as executor,
        pytest.raises(EngineError, match="number 5"),
    ):
        found.extend(run_with(numbers(20), die_at_five, engine=executor))
    assert found == [Outcome(f"number {value}", 2 * value) for value in range(5)]


class Breaking(Engine):
    """An engine that breaks at its first unit, and has finished the second."""

    ahead = 2

    def submit(self, function, /, *arguments):
        if arguments[-1].value:
            return super().submit(function, *arguments)
        future = Future()
        future.set_exception(BrokenExecutor())
        return future


def test_what_an_executor_finished_beside_the_unit_that_broke_it_is_kept():
    found = []
    with pytest.raises(EngineError, match=r"lost number 0\."):
        found.extend(run(numbers(3), double, Breaking()))
    assert found == [DOUBLED["number 1"]]


def test_an_executor_that_was_shut_down():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(EngineError, match="stay at work, got `cannot schedule new futures"):
        list(run_with(numbers(2), double, engine=executor))


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"workers": 0}, InputError, "`workers` to be 1 or more, got 0"),
        ({"workers": 2.0}, InputTypeError, "`workers` to be a whole number, got 2.0"),
        ({"workers": True}, InputTypeError, "`workers` to be a whole number, got True"),
        ({"engine": 3}, InputTypeError, "`engine` to be an executor, a Dask client"),
        ({"engine": SimpleNamespace(), "workers": 2}, InputError, "only without an `engine`"),
        ({"engine": "localhost"}, InputError, "the address of a Dask scheduler, got 'localhost'"),
        ({"engine": "dask://localhost"}, InputError, 'Pass "dask://host:port"'),
        ({"engine": "http://localhost:8786"}, InputError, "got 'http://localhost:8786'"),
    ],
)
def test_refusals(options, kind, message):
    with pytest.raises(kind) as caught:
        list(run_with(numbers(2), double, **options))
    assert message in str(caught.value)


def test_workers_start_before_the_data_is_opened(monkeypatch):
    order = []
    start = engines._start_method
    monkeypatch.setattr(engines, "_start_method", lambda: order.append("workers") or start())
    monkeypatch.setattr(
        "closecall.tables.batch.evaluate.open_source",
        lambda data, options: order.append("data") or open_source(data, options),
    )
    table = pa.table({"label": [0, 1, 0], "score": [0.1, 0.9, 0.2]})
    evaluate_frame(table, truth="label", score="score", workers=2)
    assert order == ["workers", "data"]
    order.clear()
    evaluate_frame(table, truth="label", score="score", workers=1)
    assert order == ["data"]


class OutOfReach(Engine):
    """An engine that is lost while it is asked for room, before anybody noticed."""

    asked = 0

    @property
    def ahead(self):
        self.asked += 1
        if self.asked > 2:
            raise ConnectionError
        return 1


def test_an_engine_that_is_lost_while_it_is_asked_says_what_is_kept():
    finished = run(numbers(5), double, OutOfReach())
    assert next(finished) == DOUBLED["number 0"]
    with pytest.raises(EngineError, match=r"\n\nHint: .*`resume=True` continues"):
        list(finished)
