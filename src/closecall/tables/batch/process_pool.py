"""Worker processes of our own: started safely, replaced when they die, gone when we are.

New processes come from a server that has imported what they need and runs no threads of ours
(``forkserver``), which is safe beside threads and compiled code and twice as fast to start as
fresh interpreters; where there is none, as on Windows, they are fresh interpreters (``spawn``).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from closecall.errors import EngineError, expected
from closecall.tables.batch.run import KEPT, Keyed, Outcome, Window, attempt, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext

Value = TypeVar("Value")
_AHEAD = 2  # units on their way for each worker: one at work, and one so that it need not wait
_MOST_DEATHS = 5  # in a row, with nothing finished in between
_PRELOADED = ["closecall.tables.batch.preload"]
_TO_SEND = 5.0  # seconds, for a worker to finish sending before it ends with its parent
_DIED = "The worker process died: it was killed, ran out of memory, or crashed."


def run_in_pool(
    units: Iterable[Keyed], function: Callable[[Any], Value], *, workers: int
) -> Generator[Outcome[Value], None, None]:
    """Call the function with every unit in processes of our own.

    When a worker dies, every unit that was on its way is tried once more, alone, so that the one
    that kills workers is told from those that were only beside it.
    """
    remaining, suspects = iter(units), deque[Keyed]()
    deaths = 0
    while True:
        lost: list[Keyed] = []
        with _worker_processes(workers) as pool:
            finished = 0
            _require_start(pool)
            while suspects and not lost:
                alone = iter([suspects.popleft()])
                for outcome in _until_broken(pool, alone, function, 1, lost):
                    finished += 1
                    yield outcome
            if lost:
                yield Outcome(lost.pop().key, error=_DIED)
            else:
                for outcome in _until_broken(pool, remaining, function, _AHEAD * workers, lost):
                    finished += 1
                    yield outcome
                if not lost:
                    return
        suspects.extend(lost)
        deaths = 1 if finished else deaths + 1
        if deaths >= _MOST_DEATHS:
            raise EngineError(
                expected(
                    "worker processes to stay alive",
                    f"{deaths} in a row that died",
                    f"They may run out of memory: try fewer `workers`. {KEPT}",
                )
            )


def _until_broken(
    pool: ProcessPoolExecutor,
    units: Iterator[Keyed],
    function: Callable[[Any], Value],
    most: int,
    lost: list[Keyed],
) -> Generator[Outcome[Value], None, None]:
    """Yield outcomes; after the death of a worker, put what was on its way into `lost`."""

    def submit(unit: Keyed) -> Future[Outcome[Value]]:
        try:
            with _uninterrupted(), _started():
                return pool.submit(_attempt, function, unit)
        except BrokenExecutor as error:
            broken: Future[Outcome[Value]] = Future()
            broken.set_exception(error)
            return broken

    window: Window[Value] = Window(units, most)
    try:
        while True:
            if not lost:
                window.fill(submit)
            if not window:
                return
            unit, future = window.take()
            if isinstance(future.exception(), BrokenExecutor):
                lost.append(unit)
            else:
                yield outcome_of(unit, future)
    finally:
        window.cancel()


@contextmanager
def _worker_processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes, and leave none behind, whatever happens to us."""
    context = start_server()
    ours, theirs = context.Pipe(duplex=False)[::-1]
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_follow, initargs=(theirs,))
    try:
        yield pool
    except BaseException:
        ours.close()  # those at work stop at once, in the middle of it
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        ours.close()
        theirs.close()


def start_server() -> BaseContext:
    """Give the way to start processes: from a server that begins to run, or else fresh."""
    _require_possible()
    with _started():
        return _context()


def _context() -> BaseContext:
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        try:
            _start_server(context)
        except ChildProcessError:
            pass  # the server is that of the process that we were forked from
        else:
            return context
    return multiprocessing.get_context("spawn")


def _start_server(context: BaseContext) -> None:
    """Start the server that workers are forked from, unless it runs; Ctrl-C is not for it."""
    from multiprocessing import resource_tracker
    from multiprocessing.forkserver import ensure_running

    context.set_forkserver_preload(_PRELOADED)
    resource_tracker.ensure_running()  # started with the server, it would let Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which it inherits
    try:
        ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _started() -> Iterator[None]:
    """Word what is raised where a process is started and the server for it is gone."""
    try:
        yield
    except (EOFError, ConnectionError) as error:
        raise EngineError(
            expected(
                "worker processes to start",
                "an end of the process that starts them",
                f"It was killed, or memory ran out: try again, or fewer `workers`. {KEPT}",
            )
        ) from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until a process is started: one that is half started could not be ended."""
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    if not (main and callable(handler)):
        yield
        return
    arrived: list[Any] = []
    signal.signal(signal.SIGINT, lambda *given: arrived.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived:
            handler(*arrived[0])


def _require_possible() -> None:
    """Refuse where no process can be started, before any tries."""
    if multiprocessing.current_process().daemon:
        raise EngineError(
            expected(
                "`workers` in a process that may start others",
                "a daemonic one",
                "Leave `workers` out here, or start the outer processes with concurrent.futures.",
            )
        )
    program = getattr(sys.modules["__main__"], "__file__", None) or ""
    if program.startswith("<"):
        raise EngineError(
            expected(
                "`workers` in a program that worker processes can import",
                f"one from {program}",
                "Save it in a file, or leave `workers` out.",
            )
        )


def _require_start(pool: ProcessPoolExecutor) -> None:
    """Find out, before a unit is blamed, whether workers start at all."""
    try:
        with _uninterrupted(), _started():
            first = pool.submit(os.getpid)
        first.result()
    except BrokenExecutor as error:
        raise EngineError(
            expected(
                "worker processes to start",
                "one that died before it did anything",
                'A script that starts processes needs `if __name__ == "__main__":` around what '
                "it does, since every process imports the script first.",
            )
        ) from error


_not_at_work = threading.Lock()  # of a worker: held while it waits for a unit, or sends a result


def _attempt(function: Callable[[Any], Value], unit: Keyed) -> Outcome[Value]:
    _not_at_work.release()
    try:
        return attempt(function, unit)
    finally:
        _not_at_work.acquire()


def _follow(lifeline: Connection) -> None:
    """Prepare a worker: the keyboard is its parent's business, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _not_at_work.acquire()
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()


def _end_with_parent(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        # Half a result would keep a parent that still reads waiting for the rest of it.
        _not_at_work.acquire(timeout=_TO_SEND)
        os._exit(1)
