"""Units on a Dask cluster: each is one task, and only what the function returns travels back."""

from __future__ import annotations

import re
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from closecall.errors import EngineError, InputError, InputTypeError, MissingExtraError, one_line
from closecall.tables.batch.engines import AHEAD, KEPT, Engine, listed_keys
from closecall.tables.batch.options import installed_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from closecall.tables.batch.engines import Keyed, Say

_FEWEST = 8  # units on their way, so that a cluster that grows on demand has a reason to
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")
_LARGEST_PORT = 65_535
_CONNECT_SECONDS = 10
_LOOK_SECONDS = 0.5  # between looks for workers
_TELL_SECONDS = 10  # without any worker, until somebody is told
_GIVE_UP_SECONDS = 60  # without any worker, until the batch ends
_LARGE_UNIT = "1 GiB"  # tables in memory travel with their tasks, so that a task can be repeated


class DaskCluster(Engine):
    """An executor of tasks on a cluster, and a watch over its workers.

    Dask repeats the unit of a worker that died, and gives up a unit that kills several workers, or
    that was waiting on them. A cluster without any worker is waited for: people are told after 10
    seconds, and after 60 it is an `EngineError`.
    """

    def __init__(self, engine: Any) -> None:
        try:
            import dask
            import distributed
        except ImportError as error:
            raise MissingExtraError("distributed", "dask") from error
        with ExitStack() as opened:
            client = engine
            if isinstance(engine, str):
                client = opened.enter_context(_connect(distributed, scheduler_address(engine)))
            opened.enter_context(
                dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE_UNIT})
            )
            self._asked = _check_workers(client)
            self.retried = (distributed.scheduler.KilledWorker,)
            self._client = client
            self._sent: dict[Future[Any], Any] = {}
            self._threads: int = sum(client.nthreads().values())
            self._looked, self._told = monotonic(), False
            self._none_since: float | None = None
            self._opened = opened.pop_all()

    @property
    def ahead(self) -> int:
        """How many units may be on their way."""
        return max(_FEWEST, AHEAD * self._threads)

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        """Send a unit; before there are workers, too, as some clusters grow on demand."""
        # `client.get_executor()` would leave a future that Dask cancels unfinished, for ever.
        future: Future[Any] = Future()
        sent = self._client.submit(function, *arguments, pure=False, **options)
        self._sent[future] = sent
        sent.add_done_callback(lambda _: self._landed(future))
        return future

    def _landed(self, future: Future[Any]) -> None:
        """Pass on what became of a unit."""
        sent = self._sent.get(future)
        if sent is None:
            return
        value = error = None
        try:
            value = sent.result()  # if it was lost with its worker, Dask computes it anew
        except Exception as raised:  # noqa: BLE001 - handed to whoever waits
            error = raised
        if self._sent.pop(future, None) is None:
            return
        if error is None:
            future.set_result(value)
        elif sent.status == "error" or not isinstance(error, (OSError, CancelledError)):
            future.set_exception(error)
        else:  # the scheduler is out of reach
            future.cancel()
            future.set_running_or_notify_cancel()

    def check(self, say: Say) -> None:
        """Tell people if there has been no worker for a while, and give up after a longer one."""
        if self._client.status != "running":
            raise ConnectionError
        now = monotonic()
        if self._asked and now - self._looked < _LOOK_SECONDS:
            return
        self._looked, self._threads = now, sum(self._client.nthreads().values())
        if self._threads:
            self._none_since = None
            self._asked = self._asked or _check_workers(self._client)
            return
        self._none_since = self._none_since or now
        waited, address = now - self._none_since, self._client.scheduler.address
        if waited >= _GIVE_UP_SECONDS:
            rule = f"workers at the Dask scheduler {address}"
            got = f"none for {_GIVE_UP_SECONDS} seconds"
            raise EngineError(rule, got, hint=f"Start some: `dask worker {address}`. {KEPT}")
        if waited >= _TELL_SECONDS and not self._told:
            self._told = True
            say(f"Waiting for workers: the Dask scheduler {address} has none.")

    def cancel(self, futures: Sequence[Future[Any]]) -> None:
        """Cancel what is on its way, if there is anybody to tell."""
        sent = [self._sent.pop(future, None) for future in futures]
        if self._client.status == "running":
            with suppress(OSError):  # it may be gone before its client knows
                self._client.cancel([one for one in sent if one is not None])

    def gone(self, lost: Sequence[Keyed], refusal: BaseException | None) -> EngineError:  # noqa: ARG002
        """Return the error that tells that the scheduler is gone, and what is lost with it."""
        return _gone(self._client, lost)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Close the client, if it is ours."""
        self._opened.close()


def scheduler_address(text: str) -> str:
    """Read the address of a scheduler; ``dask://`` is ``tcp://``."""
    scheme, separator, place = text.strip().partition("://")
    host, colon, port = place.rpartition(":")
    numbered = colon and re.fullmatch(r"[0-9]{1,5}", port) and int(port) <= _LARGEST_PORT
    if not (separator and host and numbered and scheme in (*_SCHEMES, "dask")):
        rule = "to be the address of a Dask scheduler"
        hint = 'Pass "dask://host:port", such as "dask://localhost:8786".'
        raise InputError(rule, repr(text), argument="engine", hint=hint)
    return f"{'tcp' if scheme == 'dask' else scheme}://{place}"


def _connect(distributed: Any, address: str) -> Any:
    try:
        # A transport that does not work here would leave a client that cannot be closed.
        distributed.comm.registry.get_backend(address.partition("://")[0]).get_connector()
        return distributed.Client(
            address, timeout=_CONNECT_SECONDS, set_as_default=False, name="closecall"
        )
    except Exception as error:
        silent = isinstance(error, (OSError, TimeoutError))  # else somebody else answered
        got = f"no answer in {_CONNECT_SECONDS} seconds" if silent else f"`{one_line(error)}`"
        hint = "Check the address, and that `dask scheduler` runs there and can be reached."
        raise EngineError(f"a Dask scheduler at {address}", got, hint=hint) from error


def _check_workers(client: Any) -> bool:
    """Ask workers for their version, as another may give other numbers; return if there are any."""
    if client.asynchronous:
        raise InputTypeError("to be a client that waits", "an asynchronous one", argument="engine")
    ours = installed_version()
    if client.status != "running":
        raise _gone(client, [])
    try:
        versions = client.run(installed_version)
    except OSError as error:
        raise _gone(client, []) from error
    except Exception as error:  # Dask words what a worker could not even unpickle
        rule = "every Dask worker to have closecall installed"
        hint = f"Install closecall {ours} on the workers, with the extras of this machine."
        raise EngineError(rule, f"`{error}`", hint=hint) from error
    for worker, version in versions.items():
        if version != ours:
            rule, got = f"every Dask worker to have closecall {ours}", f"{version} on {worker}"
            raise EngineError(rule, got, hint="Install the same version everywhere.")
    return bool(versions)


def _gone(client: Any, lost: Sequence[Keyed]) -> EngineError:
    if client.status == "closed" and not lost:
        hint = "Make another. A client that nobody closed has lost its scheduler."
        return EngineError(
            "to be an open Dask client", "a closed one", argument="engine", hint=hint
        )
    address = client.scheduler.address if client.scheduler is not None else "its address"
    doing = f" while these were on their way: {listed_keys(lost)}" if lost else ""
    rule = f"the Dask scheduler at {address} to stay reachable"
    hint = f"Start it again, or check why it stopped. {KEPT}"
    return EngineError(rule, f"a lost connection{doing}", hint=hint)
