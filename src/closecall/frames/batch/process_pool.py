"""Worker processes of our own: started safely, replaced when they die, gone when we are.

New processes come from a server that has imported what they need and runs no threads of ours
(``forkserver``), which is safe beside threads and compiled code and twice as fast to start as
fresh interpreters; where there is none, as on Windows, they are fresh interpreters (``spawn``).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from closecall.errors import EngineError, expected
from closecall.frames.batch.outcome import KEPT, Keyed, Outcome, Window, attempt, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from multiprocessing.connection import Connection

Value = TypeVar("Value")
_AHEAD = 2  # units on their way for each worker: one at work, and one so that it need not wait
_MOST_DEATHS = 5  # in a row, with nothing finished in between
_PRELOADED = ["closecall.frames.batch.warm"]
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
            if suspects:
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
            return pool.submit(attempt, function, unit)
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
    methods = multiprocessing.get_all_start_methods()
    method = "forkserver" if "forkserver" in methods else "spawn"
    context = multiprocessing.get_context(method)
    context.set_forkserver_preload(_PRELOADED)
    ours, theirs = context.Pipe(duplex=False)[::-1]
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_follow, initargs=(theirs,))
    try:
        yield pool
    except BaseException:
        ours.close()  # they stop at once, in the middle of whatever they do
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        ours.close()
        theirs.close()


def _require_start(pool: ProcessPoolExecutor) -> None:
    """Find out, before a unit is blamed, whether workers start at all."""
    try:
        pool.submit(os.getpid).result()
    except BrokenExecutor as error:
        raise EngineError(
            expected(
                "worker processes to start",
                "one that died before it did anything",
                'A script that starts processes needs `if __name__ == "__main__":` around what '
                "it does, since every process imports the script first.",
            )
        ) from error


def _follow(lifeline: Connection) -> None:
    """Prepare a worker: the keyboard is its parent's business, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()


def _end_with_parent(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
