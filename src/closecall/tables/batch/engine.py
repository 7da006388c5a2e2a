"""Where the units of a batch are evaluated: here, in processes, or on other machines."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, Executor
from typing import TYPE_CHECKING, Any, TypeVar

from closecall.errors import EngineError, InputError, InputTypeError, expected
from closecall.parameters import require_count
from closecall.tables.batch.outcome import (
    KEPT,
    Keyed,
    Outcome,
    Window,
    attempt,
    listed_keys,
    outcome_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from concurrent.futures import Future

__all__ = ["Outcome", "prepare", "run"]

Value = TypeVar("Value")
AnyUnit = TypeVar("AnyUnit", bound=Keyed)
_AHEAD = 2  # units on their way for each worker: one at work, and one so that it need not wait
_UNKNOWN_WORKERS = 32  # of an executor that does not say how many it has


def run(
    units: Iterable[AnyUnit],
    function: Callable[[AnyUnit], Value],
    *,
    engine: Any = None,
    workers: int | None = None,
    notify: Callable[[str], Any] | None = None,
) -> Generator[Outcome[Value], None, None]:
    """Call a function with every unit, and yield what became of each, as they finish.

    A unit that raises gives an outcome with its key and the error, and the others go on. Only a
    few units for each worker are on their way at any time. Closing the iterator, or an interrupt,
    gives up what has not begun and stops the processes that were started here.

    Parameters
    ----------
    units
        Anything with a ``key``; with `engine` or `workers`, also picklable.
    function
        Called with a unit. With `engine` or `workers` it is a function of an importable module,
        or a `functools.partial` of one.
    engine
        None, a `concurrent.futures.Executor`, a `distributed.Client`, or the address of a Dask
        scheduler: ``tcp://host:port``, or ``dask://host:port``. Nothing that is passed is closed.
    workers
        How many processes to start, without an `engine`; none by default, or if 1.
    notify
        Called with a line for people where there is something to wait for.

    Yields
    ------
    Outcome
        In any order.

    Raises
    ------
    EngineError
        The executor is broken, or the scheduler cannot be reached.
    MissingExtraError
        `engine` needs Dask, which is not installed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> units = [SimpleNamespace(key=key, size=size) for key, size in [("a", 4), ("b", 0)]]
    >>> list(run(units, lambda unit: 1 / unit.size))
    [Outcome(key='a', value=0.25, error=None), Outcome(key='b', value=None, error='Zero...')]
    """
    count = _read_workers(workers, engine)
    if engine is None:
        if count == 1:
            return _run_here(units, function)
        from closecall.tables.batch.process_pool import run_in_pool

        return run_in_pool(units, function, workers=count)
    if isinstance(engine, Executor):
        return _run_in_executor(units, function, engine)
    if isinstance(engine, str) or _is_client(engine):
        from closecall.tables.batch.dask_engine import run_on_dask

        return run_on_dask(units, function, engine, notify)
    raise InputTypeError(
        expected(
            "`engine` to be an executor, a Dask client, or the address of a scheduler",
            f"{engine!r:.80}",
            'Pass a `concurrent.futures.Executor`, a `distributed.Client`, or "tcp://host:port".',
        )
    )


def prepare(*, engine: Any = None, workers: int | None = None) -> None:
    """Begin to start what `run` will need with the same engine, while the data is looked at."""
    if _read_workers(workers, engine) > 1:
        from closecall.tables.batch.process_pool import start_server

        start_server()


def _read_workers(workers: Any, engine: Any) -> int:
    if workers is None:
        return 1
    require_count(workers, "workers", 1)
    if engine is not None:
        raise InputError(
            expected(
                "`workers` only without an `engine`, which has workers of its own", str(workers)
            )
        )
    return int(workers)


def _is_client(engine: Any) -> bool:
    """Tell a Dask client without importing Dask: only one that exists was imported already."""
    kinds = type(engine).__mro__
    return any(kind.__name__ == "Client" and "distributed" in kind.__module__ for kind in kinds)


def _run_here(
    units: Iterable[AnyUnit], function: Callable[[AnyUnit], Value]
) -> Generator[Outcome[Value], None, None]:
    for unit in units:
        yield attempt(function, unit)


def _run_in_executor(
    units: Iterable[Keyed], function: Callable[[Any], Value], executor: Executor
) -> Generator[Outcome[Value], None, None]:
    """Use a caller's executor: it is not ours to mend or to shut down."""
    workers = getattr(executor, "_max_workers", None) or _UNKNOWN_WORKERS
    window: Window[Value] = Window(iter(units), _AHEAD * workers)

    def submit(unit: Keyed) -> Future[Outcome[Value]]:
        return executor.submit(attempt, function, unit)

    lost: list[Keyed] = []
    refusal: RuntimeError | None = None
    try:
        while True:
            if refusal is None and not lost:
                try:
                    window.fill(submit)
                except RuntimeError as error:  # broken, or shut down
                    refusal = error
            if not window:
                break
            unit, future = window.take()
            if future.cancelled() or isinstance(future.exception(), BrokenExecutor):
                lost.append(unit)
            else:
                yield outcome_of(unit, future)
    finally:
        window.cancel()
    if lost or refusal:
        got = f"a broken one, which lost {listed_keys(lost)}" if lost else f"`{refusal}`"
        hint = f"A worker may have died, or run out of memory. {KEPT}"
        raise EngineError(expected("the executor to stay at work", got, hint)) from refusal
