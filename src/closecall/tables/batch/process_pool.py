"""Worker processes of our own: started safely, replaced when they die, gone when we are.

Each worker has a pipe of its own, so that a worker that dies, even in the middle of a large
result, ends its pipe and costs its one unit. On Linux, a process with one thread is forked, which
takes no time. Beside other threads that is not safe: workers then come from a server that has
imported what they need (``forkserver``), or are fresh interpreters (``spawn``).
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import connection, resource_tracker
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from closecall.errors import ClosecallError, EngineError
from closecall.tables.batch.run import AHEAD, KEPT, Engine
from closecall.tables.batch.status import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

_MOST_DEATHS = 5  # in a row, with nothing finished in between
_PRELOADED = "closecall.tables.batch.preload"
_SAFE_PATH = "PYTHONSAFEPATH"
_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
_starting = threading.Lock()


class WorkerDiedError(ClosecallError, BrokenExecutor):
    """A worker ended in the middle of a unit."""

    def __init__(self) -> None:
        super().__init__("The worker process died: it was killed, ran out of memory, or crashed.")


class ProcessPool(Engine):
    """Processes that evaluate units; a thread of ours waits for each of them."""

    retried = (WorkerDiedError,)

    def __init__(self, workers: int) -> None:
        _require_possible()
        self._count = workers
        self._calls: SimpleQueue[tuple[Future[Any], tuple[Any, ...]] | None] = SimpleQueue()
        self._deaths = 0
        self._closing = False
        self._failure: EngineError | None = None
        self._workers: list[_Worker] = []
        # Before our own threads start: what is forked later comes from the server.
        forked = [self._start("fork") for _ in range(workers)] if _can_fork() else []
        if not forked:
            _require_importable()
        self._threads = [
            threading.Thread(target=self._serve, args=(forked[n] if forked else None,), daemon=True)
            for n in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def ahead(self) -> int:
        """How many units may be on their way."""
        return AHEAD * self._count

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:  # type: ignore[override]
        """Call the function in a worker."""
        future: Future[Any] = Future()
        self._calls.put((future, (function, arguments)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """End all workers at once, also in the middle of a unit."""
        self._closing = True
        for _ in self._threads:
            self._calls.put(None)
        for worker in self._workers:
            worker.process.kill()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.end()

    def _serve(self, worker: _Worker | None) -> None:
        """Return one worker after the other what is called, until the pool is closed."""
        if worker is None:
            worker = self._replaced()
        while (call := self._calls.get()) is not None:
            future, work = call
            if self._closing or not future.set_running_or_notify_cancel():
                continue
            worker = worker or self._replaced()
            if worker is None:
                future.set_exception(self._failure or WorkerDiedError())
                continue
            try:
                result = worker.call(work)
            except WorkerDiedError as error:
                worker.end()
                worker, self._deaths = None, self._deaths + 1
                future.set_exception(error)
            except Exception as error:  # noqa: BLE001 - what cannot be sent
                future.set_exception(error)
            else:
                self._deaths = 0
                future.set_result(result)

    def _replaced(self) -> _Worker | None:
        """Start a worker in the place of none; keep why it could not be."""
        if self._deaths >= _MOST_DEATHS:
            got = f"{self._deaths} in a row that died"
            hint = f"They may run out of memory: try fewer `workers`. {KEPT}"
            self._failure = EngineError("worker processes to stay alive", got, hint=hint)
        if self._failure or self._closing:
            return None
        try:
            return self._start(_method())
        except (EOFError, ConnectionError):
            got = "an end of the process that starts them"
            remedy = "It was killed, or memory ran out: try again, or fewer `workers`. "
        except Exception as error:  # noqa: BLE001 - as no memory for another process
            got, remedy = f"`{one_line(error)}`", ""
        self._failure = EngineError("worker processes to start", got, hint=remedy + KEPT)
        return None

    def _start(self, method: str) -> _Worker:
        worker = _Worker(method)
        self._workers.append(worker)
        if self._closing:
            worker.process.kill()
        return worker


class _Worker:
    """One process, and our end of its pipe."""

    def __init__(self, method: str) -> None:
        context: Any = multiprocessing.get_context(method)
        self._connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._ready = False
        with warnings.catch_warnings(), _shielded():
            if method == "fork":  # newer Pythons warn of idle threads of libraries, too
                warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def call(self, work: tuple[Any, ...]) -> Any:
        """Have the worker call a function; raise `WorkerDiedError` if it ends meanwhile."""
        content = pickle.dumps(work)
        if not self._ready:
            self._wait_until_ready()
        try:
            self._connection.send_bytes(content)
            answer = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise WorkerDiedError from error
        done, value = pickle.loads(answer)  # noqa: S301 - from our own process, through a pipe
        if not done:
            raise ClosecallError(value)
        return value

    def _wait_until_ready(self) -> None:
        """Find out, before a unit is blamed, whether workers start at all."""
        try:
            self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise EngineError(
                "worker processes to start",
                "one that died before it did anything",
                hint='A script that starts processes needs `if __name__ == "__main__":` around '
                "what it does, since every process imports the script first.",
            ) from error
        self._ready = True

    def end(self) -> None:
        """Leave nothing behind."""
        self.process.kill()
        self.process.join()
        self._connection.close()


def _work(pipe: Connection) -> None:
    """Do what a worker does: call what comes, send what it gives, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the keyboard is the parent's business
    for name in ("SIGTERM", "SIGHUP"):  # forked with the command line's ways to end
        number = getattr(signal, name, None)
        if number is not None and callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent is gone
        pipe.send_bytes(b"ready")
        with suppress(ImportError):
            import_module(_PRELOADED)
        while True:
            pipe.send_bytes(_answer(pipe.recv_bytes()))


def _answer(content: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(content)  # noqa: S301 - from our parent, through a pipe
        return pickle.dumps((True, function(*arguments)))
    except Exception as error:  # noqa: BLE001 - what cannot be sent is told
        return pickle.dumps((False, one_line(error)))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _can_fork() -> bool:
    """Whether a copy of this process is safe: on Linux, and beside no other thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def _method() -> str:
    """Return how workers start beside threads, with the server running if there is one."""
    try:
        return "forkserver" if _start_server() else "spawn"
    except ChildProcessError:  # the server is that of the process that we were forked from
        return "spawn"


def _start_server() -> bool:
    """Start the server that workers are forked from, unless it runs."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return False
    from multiprocessing.forkserver import ensure_running

    multiprocessing.get_context("forkserver").set_forkserver_preload([_PRELOADED])
    with _shielded():
        resource_tracker.ensure_running()
    with _shielded():  # anew, since the start of the tracker lets Ctrl-C through again
        ensure_running()
    return True


@contextmanager
def _shielded() -> Iterator[None]:
    """Keep Ctrl-C from what is started here, and the current folder from what it imports."""
    with _starting:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _MASKS else None
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)


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
