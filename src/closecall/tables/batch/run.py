"""One loop over the units of a batch, whatever evaluates them: this process, others, a cluster."""

from __future__ import annotations

import sys
from collections import deque
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from closecall.errors import EngineError, InputError, InputTypeError, MissingExtraError, shown
from closecall.parameters import require_count
from closecall.tables.batch.status import one_line
from closecall.wording import plain_name

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    Say = Callable[[str], Any]  # called with a line for people

Value = TypeVar("Value")
Failure = tuple[str, str]  # the key of a unit, and why it failed
KEPT = "What was finished is kept: with `out=`, `resume=True` continues."
_PATIENCE = 0.5  # seconds between looks at the keyboard: not every system wakes a waiting thread
_LAST_CALL = 1.0  # seconds, for results that were finished when an executor broke
AHEAD = 2  # units on their way for each worker: one at work, and one so that it need not wait
_UNKNOWN_WORKERS = 32  # of an executor that does not say how many it has
_SHOWN_KEYS = 3
_MOST_WORKERS = 1024  # processes: more are a slip, which would take the machine down


class Keyed(Protocol):
    """Anything with a stable name; units of a batch are."""

    @property
    def key(self) -> str:
        """Text that tells the unit from the others."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Value]):
    """The value of one unit, or in one line why there is none."""

    key: str
    value: Value | None = None
    error: str | None = None


def attempt(function: Callable[[Any], Value], unit: Keyed) -> Outcome[Value]:
    """Call the function; what it raises becomes text, which reaches every process and machine."""
    try:
        return Outcome(unit.key, value=function(unit))
    except Exception as error:  # noqa: BLE001 - a failing unit never stops the others
        return Outcome(unit.key, error=one_line(error))


class Engine(Executor):
    """An executor, and what the loop has to know of it. This one runs everything here, at once."""

    retried: tuple[type[BaseException], ...] = ()
    """Raised for a unit whose worker died: it is tried once more, alone."""

    @property
    def ahead(self) -> int:
        """How many units may be on their way."""
        return 1

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        """Call the function, and return a future that is done."""
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **options))
        return future

    def check(self, say: Say) -> None:
        """Raise if nobody will ever do the work; called while nothing arrives, and if it does."""

    def cancel(self, futures: Sequence[Future[Any]]) -> None:
        """Cancel what has not begun."""
        for future in futures:
            future.cancel()

    def gone(self, lost: Sequence[Keyed], refusal: BaseException | None) -> EngineError:
        """Return the error to raise where the executor itself is broken."""
        got = f"a broken one, which lost {listed_keys(lost)}" if lost else f"`{refusal}`"
        hint = f"A worker may have died, or run out of memory. {KEPT}"
        return EngineError("the executor to stay at work", got, hint=hint)


class BorrowedExecutor(Engine):
    """A caller's executor, which is not ours to mend or to shut down."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        workers = getattr(executor, "_max_workers", None) or _UNKNOWN_WORKERS
        self._ahead = AHEAD * workers

    @property
    def ahead(self) -> int:
        """How many units may be on their way."""
        return self._ahead

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        """Submit to the caller's executor."""
        return self._executor.submit(function, *arguments, **options)


def open_engine(engine: Any = None, workers: int | None = None) -> Engine:
    """Start, or connect to, what evaluates units; close it when done."""
    if workers is not None:
        require_count(workers, "workers", 1, _MOST_WORKERS)
        if engine is not None:
            rule = "`workers` only without an `engine`, which has workers of its own"
            raise InputError(rule, str(workers))
    if engine is None:
        if workers in (None, 1):
            return Engine()
        from closecall.tables.batch.process_pool import ProcessPool

        return ProcessPool(int(workers))
    if isinstance(engine, Executor):
        return BorrowedExecutor(engine)
    if isinstance(engine, str) or _is_client(engine):
        from closecall.tables.batch.dask_cluster import DaskCluster

        return DaskCluster(engine)
    rule = "`engine` to be an executor, a Dask client, or the address of a scheduler"
    hint = 'Pass a `concurrent.futures.Executor`, a `distributed.Client`, or "tcp://host:port".'
    raise InputTypeError(rule, shown(engine), hint=hint)


def run(
    units: Iterable[Keyed],
    function: Callable[[Any], Value],
    engine: Engine | None = None,
    *,
    say: Say = lambda _: None,
) -> Generator[Outcome[Value], None, None]:
    """Call a function with every unit, and yield what became of each, as they finish.

    A unit that raises gives an outcome with the error, and the others go on. A unit whose worker
    died is tried once more, alone, so that the one that kills workers is told from those beside
    it. Closing the iterator, or an interrupt, gives up what has not begun.

    >>> from types import SimpleNamespace
    >>> units = [SimpleNamespace(key=key, size=size) for key, size in [("a", 4), ("b", 0)]]
    >>> list(run(units, lambda unit: 1 / unit.size))
    [Outcome(key='a', value=0.25, error=None), Outcome(key='b', value=None, error='Zero...')]
    """
    flight = _Flight(engine or Engine(), function)
    units, suspects = iter(units), deque[Keyed]()
    alone: Keyed | None = None
    try:
        while True:
            while not suspects and flight.has_room and (unit := next(units, None)) is not None:
                flight.start(unit)
            if not flight.pending and suspects:
                alone = suspects.popleft()
                flight.start(alone)
            if not flight.pending:
                return
            unit, future = flight.land(say)
            error = future.exception()
            if error is None:
                yield future.result()
            elif isinstance(error, flight.engine.retried) and unit is not alone:
                suspects.append(unit)
            else:  # a unit that kills workers, or a result that cannot be sent
                yield Outcome(unit.key, error=one_line(error))
    except _BrokenError as broken:
        yield from flight.finished()
        lost = list(flight.pending.values())
        raise flight.engine.gone(lost, broken.__cause__) from broken.__cause__
    finally:
        flight.engine.cancel(list(flight.pending))


class _BrokenError(Exception):
    """The executor itself is of no more use."""


class _Flight(Generic[Value]):
    """Units that are on their way, few at a time: a million of them make no million futures."""

    def __init__(self, engine: Engine, function: Callable[[Any], Value]) -> None:
        self.engine, self._function = engine, function
        self.pending: dict[Future[Outcome[Value]], Keyed] = {}
        self._done: SimpleQueue[Future[Outcome[Value]]] = SimpleQueue()

    @property
    def has_room(self) -> bool:
        try:
            return len(self.pending) < self.engine.ahead
        except OSError as lost:
            raise _BrokenError from lost

    def start(self, unit: Keyed) -> None:
        try:
            future = self.engine.submit(attempt, self._function, unit)
        except (RuntimeError, OSError) as error:  # broken, shut down, or out of reach
            raise _BrokenError from error
        self.pending[future] = unit
        future.add_done_callback(self._done.put)

    def land(self, say: Say) -> tuple[Keyed, Future[Outcome[Value]]]:
        """Wait for the next unit that is done, one way or the other."""
        while True:
            try:
                self.engine.check(say)
                future = self._done.get(timeout=_PATIENCE)
            except Empty:
                continue
            except OSError as lost:
                raise _BrokenError from lost
            if future.cancelled():
                raise _BrokenError
            error = future.exception()
            if isinstance(error, EngineError):
                raise error
            if isinstance(error, BrokenExecutor) and not isinstance(error, self.engine.retried):
                raise _BrokenError
            return self.pending.pop(future), future

    def finished(self) -> Iterator[Outcome[Value]]:
        """Yield what a broken executor had finished; what is lost stays on its way."""
        while not self._done.empty() or not all(future.done() for future in self.pending):
            try:
                future = self._done.get(timeout=_LAST_CALL)
            except Empty:
                return
            if not future.cancelled() and future.exception() is None:
                del self.pending[future]
                yield future.result()


def listed_keys(units: Iterable[Keyed]) -> str:
    """Name the first few units.

    >>> listed_keys([Outcome(letter) for letter in "abcde"])
    'a, b, c and 2 more'
    """
    keys = [unit.key for unit in units]
    shown, hidden = ", ".join(keys[:_SHOWN_KEYS]), len(keys) - _SHOWN_KEYS
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def unread(failures: Sequence[Failure]) -> InputError:
    """Return the error that names units which could not be read or evaluated.

    >>> print(unread([("a", "no such file"), ("b", "not Parquet")]))
    Expected every unit to be read and evaluated, got a (and 1 more): no such file.
    ...
    """
    key, error = failures[0]
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    got = f"{key}{more}: {error}".removesuffix(".")
    hint = f"{KEPT} If you mend the data, start again with `overwrite=True`."
    return InputError("every unit to be read and evaluated", got, hint=hint)


def _is_client(engine: Any) -> bool:
    """Whether this is a Dask client, without importing Dask."""
    kinds = type(engine).__mro__
    return any(kind.__name__ == "Client" and "distributed" in kind.__module__ for kind in kinds)


@contextmanager
def progress_bar(
    total: int, what: str, *, show: bool | Say | None = None
) -> Iterator[tuple[Callable[[int], Any], Say]]:
    """Show how far a batch has come, on standard error; yield what advances it, and what says so.

    By default it is shown only if standard error is a terminal and rich is installed; if it is
    not, `show` may be a function that is called with the lines.
    """
    say = show if callable(show) else lambda _: None
    if show is None or callable(show):
        show = sys.stderr.isatty() and find_spec("rich") is not None
    if not show:
        yield (lambda _: None), say
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text
    except ImportError as error:
        raise MissingExtraError("rich", "cli") from error
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} samples"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield (
            (lambda more: bar.advance(task, more)),
            (lambda text: console.print(Text(plain_name(text)))),
        )
