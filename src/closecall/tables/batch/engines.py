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
import warnings
from collections import deque
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from multiprocessing import connection, resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
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
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

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
_SAFE_PATH = "PYTHONSAFEPATH"
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
    flight = _Flight(engine or Engine(), function)
    units, again, suspects = iter(units), deque[Keyed](), deque[Keyed]()
    try:
        while True:
            alone: Keyed | None = None
            while not suspects and flight.has_room():
                unit = again.popleft() if again else next(units, None)
                if unit is None:
                    break
                flight.start(unit)
            if suspects and not flight.pending:
                alone = suspects.popleft()
                flight.start(alone)
            if not flight.pending:
                return
            unit, future = flight.land(say)
            error = future.exception()
            if isinstance(error, LostUnitError):
                again.append(unit)
            elif isinstance(error, flight.engine.retried) and unit is not alone:
                suspects.append(unit)
            else:  # a unit without a result kills workers, or its result cannot be pickled
                yield Outcome(unit.key, error=one_line(error)) if error else future.result()
    except _EngineLostError as lost:
        yield from flight.finished()
        raise flight.engine.gone([*flight.pending.values()], lost.__cause__) from lost.__cause__
    finally:
        flight.engine.cancel(list(flight.pending))


class _EngineLostError(Exception):
    """The executor itself cannot be used any more."""


class _Flight(Generic[Value]):
    """The units that are on their way."""

    def __init__(self, engine: Engine, function: Callable[[Any], Value]) -> None:
        self.engine, self._function = engine, function
        self.pending: dict[Future[Outcome[Value]], Keyed] = {}
        self._done: SimpleQueue[Future[Outcome[Value]]] = SimpleQueue()

    def has_room(self) -> bool:
        with _as_lost_engine():
            return len(self.pending) < self.engine.ahead

    def start(self, unit: Keyed) -> None:
        with _as_lost_engine():
            future = self.engine.submit(attempt, self._function, unit)
        self.pending[future] = unit
        future.add_done_callback(self._done.put)

    def land(self, say: Say) -> tuple[Keyed, Future[Outcome[Value]]]:
        """Wait for the next unit that is done, with a result or an error."""
        while True:
            with _as_lost_engine():
                self.engine.check(say)
            try:
                future = self._done.get(timeout=_PATIENCE)
            except Empty:
                continue
            error = _EngineLostError() if future.cancelled() else future.exception()
            if isinstance(error, (EngineError, _EngineLostError)):
                raise error
            one_unit = (*self.engine.retried, LostUnitError)
            if isinstance(error, BrokenExecutor) and not isinstance(error, one_unit):
                raise _EngineLostError
            return self.pending.pop(future), future

    def finished(self) -> Iterator[Outcome[Value]]:
        """Yield what a broken executor had finished; what is lost stays pending."""
        while not self._done.empty() or not all(future.done() for future in self.pending):
            try:
                future = self._done.get(timeout=_LAST_CALL)
            except Empty:
                return
            if not future.cancelled() and future.exception() is None:
                del self.pending[future]
                yield future.result()


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

    On Linux, a process with one thread is forked, which takes no time. Beside other threads that
    is not safe: workers then come from a server that has imported what they need (``forkserver``),
    or are fresh interpreters (``spawn``).
    """

    def __init__(self, workers: int) -> None:
        _require_possible()
        self._workers, self._deaths = workers, 0
        self._pool: ProcessPoolExecutor | None = None
        self._numbers = count()
        forks = _can_fork()
        if not forks:
            _require_importable()
        self._folder = Path(mkdtemp(prefix="closecall-"))
        try:
            with _as_start_error():  # workers start while the data is opened
                self._open("fork") if forks else _method()
        except BaseException:
            self.shutdown()
            raise

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
        with _as_start_error():
            try:
                sent = self._send(_answer, str(call))
            except BrokenProcessPool:
                self._replace()
                sent = self._send(_answer, str(call))
        sent.add_done_callback(lambda sent: self._land(sent, call, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Kill all workers, also in the middle of a unit."""
        self._end()
        rmtree(self._folder, ignore_errors=True)

    def _open(self, method: str) -> None:
        context: Any = multiprocessing.get_context(method)
        self._pool = ProcessPoolExecutor(
            self._workers, context, initializer=_begin, initargs=(str(self._folder),)
        )
        self._first = self._send(os.getpid)  # tells whether workers start at all

    def _send(self, function: Any, *arguments: Any) -> Future[Any]:
        if self._pool is None:
            self._open(_method())
        with warnings.catch_warnings(), _shielded():
            # Newer Pythons warn of idle threads of libraries when a process is forked.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self._pool.submit(function, *arguments)  # type: ignore[union-attr]

    def _replace(self) -> None:
        """Make the pool new after a worker died; raise if that happens again and again."""
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
            future.set_exception(self._failure(sent, call))
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            future.set_exception(error)
        else:
            self._deaths = 0
            future.set_result(value) if finished else future.set_exception(ClosecallError(value))

    def _failure(self, sent: Future[None], call: Path) -> BaseException:
        """Return why a call has no result."""
        error = sent.exception()
        if error is None or not isinstance(error, BrokenProcessPool):
            return error or LostUnitError()
        if self._first.done() and self._first.exception() is not None:
            return EngineError(
                "worker processes to start",
                "one that died before it did anything",
                hint='A script that starts processes needs `if __name__ == "__main__":` around '
                "what it does, since every process imports the script first.",
            )
        workers = {} if self._pool is None else self._pool._processes or {}  # noqa: SLF001
        # The pool ends the other workers only after this.
        dead = connection.wait([process.sentinel for process in workers.values()], timeout=0)
        begun = any(
            process.sentinel in dead and _begun(call, number).exists()
            for number, process in workers.items()
        )
        return WorkerDiedError() if begun else LostUnitError()


def _result(call: Path) -> Path:
    """Return where the result of a call is."""
    return call.with_suffix(".result")


def _begun(call: Path, worker: int) -> Path:
    """Return what a call is named when a worker has begun it."""
    return call.with_suffix(f".{worker}")


def _begin(folder: str) -> None:
    """Prepare a worker: it ends with its parent, and has its kernels loaded."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the keyboard is the parent's business
    for name in ("SIGTERM", "SIGHUP"):  # forked with the command line's ways to end
        number = getattr(signal, name, None)
        if number is not None and callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    with suppress(ImportError):
        import_module(_PRELOADED)


def _answer(name: str) -> None:
    """Call what a file holds, and write what it gives to another file, whole."""
    call = Path(name)
    begun, written = _begun(call, os.getpid()), call.with_suffix(".new")
    call.rename(begun)
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


def _can_fork() -> bool:
    """Whether a copy of this process is safe: on Linux, and beside no other thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def _method() -> str:
    """Return how workers start beside threads, with the server running if there is one."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    from multiprocessing.forkserver import ensure_running

    multiprocessing.get_context("forkserver").set_forkserver_preload([_PRELOADED])
    try:
        with _shielded():
            resource_tracker.ensure_running()
        with _shielded():  # anew, since the start of the tracker lets Ctrl-C through again
            ensure_running()
    except ChildProcessError:  # the server is that of the process that we were forked from
        return "spawn"
    return "forkserver"


@contextmanager
def _as_start_error() -> Iterator[None]:
    """Raise an `EngineError` that says why worker processes could not be started."""
    try:
        yield
    except ClosecallError:
        raise
    except (EOFError, ConnectionError) as error:
        got = "an end of the process that starts them"
        remedy = "It was killed, or memory ran out: try again, or fewer `workers`. "
        raise EngineError("worker processes to start", got, hint=remedy + KEPT) from error
    except Exception as error:  # as no memory for another process
        raise EngineError("worker processes to start", f"`{one_line(error)}`", hint=KEPT) from error


@contextmanager
def _shielded() -> Iterator[None]:
    """Keep Ctrl-C from what is started here, and the current folder from what it imports."""
    missed: list[Any] = []
    handler = signal.getsignal(signal.SIGINT)
    # The mask is inherited. A signal that another thread takes would still be raised here.
    held = callable(handler) and threading.current_thread() is threading.main_thread()
    with _starting:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _MASKS else None
        if held:
            signal.signal(signal.SIGINT, lambda *given: missed.append(given))
        try:
            yield
        finally:
            if held:
                signal.signal(signal.SIGINT, handler)
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if missed:
        signal.raise_signal(signal.SIGINT)


def _require_possible() -> None:
    """Raise where no process can be started, before any tries."""
    if multiprocessing.current_process().daemon:
        hint = "Leave `workers` out here, or start the outer processes with concurrent.futures."
        rule = "in a process that may start others"
        raise EngineError(rule, "a daemonic one", argument="workers", hint=hint)


def _require_importable() -> None:
    """Raise where the program is not in a file, which processes that are not forked import."""
    program = getattr(sys.modules["__main__"], "__file__", None) or ""
    if program.startswith("<"):
        rule = "in a program that worker processes can import"
        hint = "Save it in a file, or leave `workers` out."
        raise EngineError(rule, f"one from {program}", argument="workers", hint=hint)
