"""Call a function with every unit of a batch: here, in processes, or on other machines."""

from __future__ import annotations

import sys
from collections import deque
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from closecall.errors import EngineError, InputError, InputTypeError, MissingExtraError, expected
from closecall.parameters import require_count
from closecall.tables.batch.status import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future

Value = TypeVar("Value")
Failure = tuple[str, str]  # the key of a unit, and why it failed
_PATIENCE = 0.5  # seconds between looks at the keyboard: not every system wakes a waiting thread
_SHOWN_KEYS = 3
KEPT = "What was finished is kept: with `out=` (`--out`), `resume=True` (`--resume`) continues."


class Keyed(Protocol):
    """Anything with a stable name; units of a batch are."""

    @property
    def key(self) -> str:
        """Text that tells the unit from the others."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Value]):
    """The value of one unit, or the error that took its place.

    Examples
    --------
    >>> Outcome("file.parquet:0", value=3)
    Outcome(key='file.parquet:0', value=3, error=None)
    """

    key: str
    """The unit's key."""
    value: Value | None = None
    """What the function returned; None if it raised."""
    error: str | None = None
    """Why there is no value, in one line; None if there is one."""


def attempt(function: Callable[[Any], Value], unit: Keyed) -> Outcome[Value]:
    """Call the function; what it raises becomes text, which reaches every process and machine."""
    try:
        return Outcome(unit.key, value=function(unit))
    except Exception as error:  # noqa: BLE001 - a unit in trouble never stops the others
        return Outcome(unit.key, error=one_line(error))


def outcome_of(unit: Keyed, future: Future[Outcome[Value]]) -> Outcome[Value]:
    """Take the outcome out of a future that is done; what cannot be sent is an error as well."""
    error = future.exception()
    return future.result() if error is None else Outcome(unit.key, error=one_line(error))


def listed_keys(units: Iterable[Keyed]) -> str:
    """Name the first few units.

    Examples
    --------
    >>> listed_keys([Outcome(letter) for letter in "abcde"])
    'a, b, c and 2 more'
    """
    keys = [unit.key for unit in units]
    shown, hidden = ", ".join(keys[:_SHOWN_KEYS]), len(keys) - _SHOWN_KEYS
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def unread(failures: Sequence[Failure]) -> InputError:
    """Say which units could not be read or evaluated.

    Examples
    --------
    >>> print(unread([("a", "no such file"), ("b", "not Parquet")]))
    Expected every unit to be read and evaluated, got a (and 1 more): no such file.
    ...
    """
    key, error = failures[0]
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    got = f"{key}{more}: {error}".removesuffix(".")
    hint = f"{KEPT} If you mend the data, start again with `overwrite=True` (`--overwrite`)."
    return InputError(expected("every unit to be read and evaluated", got, hint))


class Window(Generic[Value]):
    """Units on their way, few at a time, so that a million of them make no million futures."""

    def __init__(self, units: Iterator[Keyed], most: int) -> None:
        self._units = units
        self._most = most
        self._returned: deque[Keyed] = deque()
        self._pending: dict[Future[Outcome[Value]], Keyed] = {}
        self._done: SimpleQueue[Future[Outcome[Value]]] = SimpleQueue()

    def fill(self, submit: Callable[[Keyed], Future[Outcome[Value]]]) -> None:
        """Submit units while there is room; one that cannot be submitted is next again."""
        while len(self._pending) < self._most:
            unit = self._returned.popleft() if self._returned else next(self._units, None)
            if unit is None:
                return
            try:
                future = submit(unit)
            except BaseException:
                self._returned.appendleft(unit)
                raise
            self._pending[future] = unit
            future.add_done_callback(self._done.put)

    def take(self) -> tuple[Keyed, Future[Outcome[Value]]]:
        """Wait for the next future that is done, and return it with its unit."""
        while True:
            try:
                future = self._done.get(timeout=_PATIENCE)
            except Empty:
                continue
            return self._pending.pop(future), future

    def cancel(self) -> None:
        """Give up what has not begun."""
        for future in self._pending:
            future.cancel()

    @property
    def waiting(self) -> list[Keyed]:
        """The units on their way, the first submitted first."""
        return list(self._pending.values())

    def __bool__(self) -> bool:
        return bool(self._pending)


__all__ = ["Outcome", "prepare", "run"]

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
        from closecall.tables.batch.dask_cluster import run_on_dask

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


@dataclass(frozen=True, slots=True)
class Bar:
    """What moves a progress bar on, or says something beside it."""

    advance: Callable[[int], Any]
    """Called with how much more is done."""
    say: Callable[[str], Any]
    """Called with a line for people."""


@contextmanager
def progress_bar(total: int, what: str, *, show: bool | None = None) -> Iterator[Bar]:
    """Show how far a batch has come, on standard error; yield what moves it on.

    Parameters
    ----------
    total
        How much there is to do.
    what
        What is being done, shown before the bar.
    show
        True or False; by default only if standard error is a terminal and rich is installed.

    Examples
    --------
    >>> with progress_bar(100, "Evaluating", show=False) as bar:
    ...     bar.advance(100)
    """
    if show is None:
        show = sys.stderr.isatty() and find_spec("rich") is not None
    if not show:
        yield Bar(lambda _: None, lambda _: None)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text
    except ImportError as error:
        raise MissingExtraError("rich", "cli") from error
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} samples"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield Bar(lambda done: bar.advance(task, done), lambda text: bar.console.print(Text(text)))
