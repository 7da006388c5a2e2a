"""What evaluates the units of a batch: one loop over an executor, and the executors.

Units run in this process, in the standard library's process pool, in a caller's executor, or on a
Dask cluster (`dask_cluster`). The loop is the same for all of them.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from multiprocessing import connection, resource_tracker
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from closecall.errors import (
    ClosecallError,
    EngineError,
    InputError,
    InputTypeError,
    one_line,
    shown,
)
from closecall.parameters import require_count

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, MutableMapping, Sequence

    Say = Callable[[str], Any]  # called with a line for people

Value = TypeVar("Value")
KEPT = "What was finished is kept: with `out=`, `resume=True` continues."
AHEAD = 2  # units on their way for each worker: one at work, and one so that it need not wait
_PATIENCE = 0.5  # seconds between looks at the keyboard: not every system wakes a waiting thread
_LAST_CALL = 1.0  # seconds, for results that were finished when an executor broke
_UNKNOWN_WORKERS = 32  # of an executor that does not say how many it has
_SHOWN_KEYS = 3
_MOST_WORKERS = 1024  # processes: more are a slip, which would take the machine down
_MOST_DEATHS = 5  # in a row, with nothing finished in between
_PRELOADED = "closecall.tables.batch.preload"
_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
_starting = threading.Lock()


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


class WorkerDiedError(ClosecallError, BrokenExecutor):
    """A worker ended in the middle of a unit."""

    def __init__(self) -> None:
        super().__init__("The worker process died: it was killed, ran out of memory, or crashed.")


class LostUnitError(ClosecallError, BrokenExecutor):
    """A unit was lost when the worker of another one died."""

    def __init__(self) -> None:
        super().__init__("The unit was lost when another worker process died.")


class Engine(Executor):
    """An executor, and what the loop has to know of it. This one calls the function directly."""

    retried: tuple[type[BaseException], ...] = (WorkerDiedError,)
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
        """Raise if no worker will do the work; called whenever the loop waits for a unit."""

    def cancel(self, futures: Sequence[Future[Any]]) -> None:
        """Cancel what has not begun."""
        for future in futures:
            future.cancel()

    def gone(self, lost: Sequence[Keyed], refusal: BaseException | None) -> EngineError:
        """Return the error to raise where the executor itself is broken."""
        got = f"a broken one, which lost {listed_keys(lost)}" if lost else f"`{refusal}`"
        hint = f"A worker may have died, or run out of memory. {KEPT}"
        return EngineError("the executor to stay at work", got, hint=hint)


def open_engine(engine: Any = None, workers: int | None = None) -> Engine:
    """Start, or connect to, what evaluates units; close it when done."""
    if workers is not None:
        require_count(workers, "workers", 1, _MOST_WORKERS)
        if engine is not None:
            rule = "`workers` only without an `engine`, which has workers of its own"
            raise InputError(rule, str(workers))
    if engine is None:
        return Engine() if workers in (None, 1) else ProcessPool(int(workers))
    if isinstance(engine, Executor):
        return BorrowedExecutor(engine)
    if isinstance(engine, str) or _is_client(engine):
        from closecall.tables.batch.dask_cluster import DaskCluster

        return DaskCluster(engine)
    rule = "`engine` to be an executor, a Dask client, or the address of a scheduler"
    hint = 'Pass a `concurrent.futures.Executor`, a `distributed.Client`, or "tcp://host:port".'
    raise InputTypeError(rule, shown(engine), hint=hint)


def _is_client(engine: Any) -> bool:
    """Whether this is a Dask client, without importing Dask."""
    kinds = type(engine).__mro__
    return any(kind.__name__ == "Client" and "distributed" in kind.__module__ for kind in kinds)


def run(
    units: Iterable[Keyed],
    function: Callable[[Any], Value],
    engine: Engine | None = None,
    *,
    say: Say = lambda _: None,
) -> Generator[Outcome[Value], None, None]:
    """Call a function with every unit, and yield what became of each, as they finish.

    Few units are on their way at a time. A unit that raises gives an outcome with the error, and
    the others go on. A unit whose worker died is tried once more, alone, so that only the unit that
    kills workers fails. Closing the iterator, or an interrupt, cancels what has not begun.

    >>> from types import SimpleNamespace
    >>> units = [SimpleNamespace(key=key, size=size) for key, size in [("a", 4), ("b", 0)]]
    >>> list(run(units, lambda unit: 1 / unit.size))
    [Outcome(key='a', value=0.25, error=None), Outcome(key='b', value=None, error='Zero...')]
    """
    engine = engine or Engine()
    queue, pending = _Queue(units, engine), dict[Future[Outcome[Value]], Keyed]()
    try:
        while True:
            while (unit := queue.take(len(pending))) is not None:
                with _as_lost_engine():
                    pending[engine.submit(attempt, function, unit)] = unit
            if not pending:
                return
            for future in _wait_for_some(pending, engine, say):
                error = _unit_error(future, engine)
                unit = pending.pop(future)
                if not queue.takes_back(unit, error):
                    yield Outcome(unit.key, error=one_line(error)) if error else future.result()
    except _EngineLostError as lost:
        wait(pending, _LAST_CALL)
        for future in [future for future in pending if _has_result(future)]:
            del pending[future]
            yield future.result()
        raise engine.gone([*pending.values()], lost.__cause__) from lost.__cause__
    finally:
        engine.cancel(list(pending))


class _EngineLostError(Exception):
    """The executor itself cannot be used any more."""


class _Queue:
    """Units to start: new ones, lost ones, and suspects, which are tried once more, alone."""

    def __init__(self, units: Iterable[Keyed], engine: Engine) -> None:
        self._engine, self._new = engine, iter(units)
        self._lost, self._suspects = deque[Keyed](), deque[Keyed]()
        self._alone: Keyed | None = None

    def take(self, pending: int) -> Keyed | None:
        """Return the next unit, if there is room for it beside those that are on their way."""
        if pending and (self._suspects or self._alone is not None):
            return None
        self._alone = self._suspects.popleft() if self._suspects else None
        if self._alone is not None:
            return self._alone
        with _as_lost_engine():
            if pending >= self._engine.ahead:
                return None
        return self._lost.popleft() if self._lost else next(self._new, None)

    def takes_back(self, unit: Keyed, error: BaseException | None) -> bool:
        """Return whether a unit is tried again; what kills its worker when it is alone is not."""
        if isinstance(error, LostUnitError):
            self._lost.append(unit)
        elif isinstance(error, self._engine.retried) and unit is not self._alone:
            self._suspects.append(unit)
        else:
            return False
        return True


def _wait_for_some(
    pending: Iterable[Future[Outcome[Value]]], engine: Engine, say: Say
) -> list[Future[Outcome[Value]]]:
    """Wait until some are done, with a result, an error or neither, and return them."""
    while True:
        with _as_lost_engine():
            engine.check(say)
        wait(pending, _PATIENCE, FIRST_COMPLETED)
        # Those that an executor cancelled when it was shut down do not end the wait.
        done = [future for future in pending if future.done()]
        if done:
            return done


def _has_result(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _unit_error(future: Future[Any], engine: Engine) -> BaseException | None:
    """Return what a unit that is done raised; raise what is wrong with the engine."""
    if future.cancelled():
        raise _EngineLostError
    error = future.exception()
    if isinstance(error, EngineError):
        raise error
    if isinstance(error, BrokenExecutor) and not isinstance(
        error, (*engine.retried, LostUnitError)
    ):
        raise _EngineLostError
    return error


@contextmanager
def _as_lost_engine() -> Iterator[None]:
    """Raise one error for an executor that is broken, shut down or out of reach."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise _EngineLostError from error


def listed_keys(units: Iterable[Keyed]) -> str:
    """Name the first few units.

    >>> listed_keys([Outcome(letter) for letter in "abcde"])
    'a, b, c and 2 more'
    """
    keys = [unit.key for unit in units]
    shown, hidden = ", ".join(keys[:_SHOWN_KEYS]), len(keys) - _SHOWN_KEYS
    return f"{shown} and {hidden} more" if hidden > 0 else shown


class BorrowedExecutor(Engine):
    """A caller's executor, which is not ours to repair or to shut down."""

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


class ProcessPool(Engine):
    """The standard library's process pool, made new when one of its workers dies.

    Calls and results are files in a temporary folder, and only their names go through the pool's
    pipes. A pipe takes a message that short in one piece, so a worker may die at any moment.

    Workers are forked from a server that has imported what they need (``forkserver``), or are fresh
    interpreters (``spawn``) where there is none, so the threads of this process do no harm. They
    import the program that calls only if a function of it is among the arguments; only then does
    it need a guard.
    """

    def __init__(self, workers: int) -> None:
        self._workers, self._deaths = workers, 0
        self._pool: ProcessPoolExecutor | None = None
        self._numbers = count()
        with _as_start_error():  # the server starts while the data is opened
            self._method = _start_method()
        self._folder = Path(mkdtemp(prefix="closecall-"))

    @property
    def ahead(self) -> int:
        """How many units may be on their way."""
        return AHEAD * self._workers

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:  # type: ignore[override]
        """Call the function in a worker."""
        future: Future[Any] = Future()
        call = self._folder / str(next(self._numbers))
        try:
            content = pickle.dumps((function, arguments))
        except Exception as error:  # noqa: BLE001 - the unit fails, not the pool
            future.set_exception(error)
            return future
        call.write_bytes(content)
        hidden = b"__main__" not in content
        with _as_start_error():
            try:
                sent = self._send(call, hidden=hidden)
            except BrokenProcessPool:
                self._end_after_death()
                sent = self._send(call, hidden=hidden)
        sent.add_done_callback(lambda sent: self._land(sent, call, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Kill all workers, also in the middle of a unit."""
        self._end()
        rmtree(self._folder, ignore_errors=True)

    def _send(self, call: Path, *, hidden: bool) -> Future[None]:
        """Submit a call, to a new pool if there is none; workers start here."""
        if self._pool is None:
            context: Any = multiprocessing.get_context(self._method)
            self._pool = ProcessPoolExecutor(
                self._workers, context, initializer=_begin, initargs=(str(self._folder), _PRELOADED)
            )
        with _shielded(hidden=hidden):
            return self._pool.submit(_answer, str(call))

    def _end_after_death(self) -> None:
        """End the pool after a worker died; raise if that happens again and again."""
        self._deaths += 1
        self._end()
        if self._deaths >= _MOST_DEATHS:
            got = f"{self._deaths} in a row that died"
            hint = f"They may run out of memory: try fewer `workers`. {KEPT}"
            raise EngineError("worker processes to stay alive", got, hint=hint)

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in [*(pool._processes or {}).values()]:  # noqa: SLF001 - waits otherwise
                process.kill()
            pool.shutdown()

    def _land(self, sent: Future[None], call: Path, future: Future[Any]) -> None:
        """Pass on what became of a call; in a thread of the pool."""
        if not future.set_running_or_notify_cancel():
            return
        try:
            finished, value = pickle.loads(_result(call).read_bytes())  # noqa: S301 - our worker's
            _result(call).unlink()
        except FileNotFoundError:
            error = sent.exception()
            if error is None or isinstance(error, BrokenProcessPool):
                error = WorkerDiedError() if _begun(call).exists() else LostUnitError()
            future.set_exception(error)
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            future.set_exception(error)
        else:
            self._deaths = 0
            future.set_result(value) if finished else future.set_exception(ClosecallError(value))


def _result(call: Path) -> Path:
    """Return where the result of a call is."""
    return call.with_suffix(".result")


def _begun(call: Path) -> Path:
    """Return what a call is named when a worker has begun it."""
    return call.with_suffix(".begun")


def _begin(folder: str, preloaded: str) -> None:
    """Prepare a worker: it ends with its parent, and has its kernels loaded."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the keyboard is the parent's business
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    with suppress(ImportError):
        import_module(preloaded)


def _answer(name: str) -> None:
    """Call what a file holds, and write what it gives to another file, whole."""
    call = Path(name)
    begun, written = call.rename(_begun(call)), call.with_suffix(".new")
    try:
        function, arguments = pickle.loads(begun.read_bytes())  # noqa: S301 - our parent's
        with written.open("wb") as file:
            pickle.dump((True, function(*arguments)), file)
    except Exception as error:  # noqa: BLE001 - what cannot be sent is told
        written.write_bytes(pickle.dumps((False, one_line(error))))
    written.replace(_result(call))
    begun.unlink()


def _end_with_parent(folder: str) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        rmtree(folder, ignore_errors=True)
        os._exit(1)


def _start_method() -> str:
    """Return how workers start, with the server that they are forked from running."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    from multiprocessing.forkserver import ensure_running

    multiprocessing.get_context("forkserver").set_forkserver_preload([_PRELOADED])
    try:
        with _shielded():
            resource_tracker.ensure_running()
        with _shielded():  # anew, since the start of the tracker lets Ctrl-C through again
            ensure_running()
    except OSError:  # a temporary folder with a long name, or the server of a parent process
        return "spawn"
    return "forkserver"


@contextmanager
def _as_start_error() -> Iterator[None]:
    """Raise an `EngineError` that says why worker processes could not be started."""
    try:
        yield
    except ClosecallError:
        raise
    except Exception as error:  # as no memory for another process, or a server that was killed
        hint = f"Try again with fewer `workers`, or leave it out. {KEPT}"
        raise EngineError("worker processes to start", f"`{one_line(error)}`", hint=hint) from error


@contextmanager
def _shielded(*, hidden: bool = True) -> Iterator[None]:
    """Keep Ctrl-C and the current folder from what is started, and the program if it is hidden."""
    program = vars(sys.modules["__main__"]) if hidden else {}
    with (
        _starting,
        _delayed_interrupts(),
        _replaced(os.environ, PYTHONSAFEPATH="1"),
        _replaced(program, __file__=None, __spec__=None),
    ):
        yield


@contextmanager
def _delayed_interrupts() -> Iterator[None]:
    """Raise a Ctrl-C afterwards: a worker that is only half started would complain."""
    missed: list[Any] = []
    handler = signal.getsignal(signal.SIGINT)
    # The mask is inherited. A signal that another thread takes would still be raised here.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _MASKS else None
    held = callable(handler) and threading.current_thread() is threading.main_thread()
    if held:
        signal.signal(signal.SIGINT, lambda *given: missed.append(given))
    try:
        yield
    finally:
        if held:
            signal.signal(signal.SIGINT, handler)
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if missed:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _replaced(values: MutableMapping[str, Any], **others: Any) -> Iterator[None]:
    """Replace some values of a mapping, and put them back."""
    before = {name: values[name] for name in others if name in values}
    values.update(others)
    try:
        yield
    finally:
        for name in others:
            del values[name]
        values.update(before)
