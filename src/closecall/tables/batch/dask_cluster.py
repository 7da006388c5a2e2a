"""Units on a Dask cluster: each is one task, and only what the function returns travels back."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from itertools import count
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

from closecall.errors import (
    EngineError,
    InputError,
    InputTypeError,
    MissingExtraError,
    expected,
)
from closecall.tables.batch.options import installed_version
from closecall.tables.batch.run import KEPT, Keyed, Outcome, attempt, listed_keys
from closecall.tables.batch.status import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

Value = TypeVar("Value")
_AHEAD = 2  # units on their way for each thread of the cluster
_FEWEST = 8  # units on their way, so that a cluster that grows on demand has a reason to
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")
_CONNECT_SECONDS = 10
_ASK_SECONDS = 5
_PAUSE = 0.005  # seconds between looks at what has arrived
_LOOK_SECONDS = 0.5  # between looks for workers, while there are none
_TELL_SECONDS = 10  # without any worker, until somebody is told
_GIVE_UP_SECONDS = 60  # without any worker, until the batch ends
_LARGE_UNIT = "1 GiB"  # tables in memory travel with their tasks, so that a task can be repeated


def run_on_dask(
    units: Iterable[Keyed],
    function: Callable[[Any], Value],
    engine: Any,
    notify: Callable[[str], Any] | None = None,
) -> Generator[Outcome[Value], None, None]:
    """Call the function with every unit on the cluster of a client, or at a scheduler's address.

    Dask repeats the unit of a worker that died, and gives up a unit that kills several workers, or
    that was waiting on them; such units are tried once more, each alone. A cluster without any
    worker is waited for: `notify` is told after 10 seconds, and after 60 it is an `EngineError`.
    """
    with _needing_dask():
        import dask
        import distributed
    ours = isinstance(engine, str)
    client = _connect(distributed, scheduler_address(engine)) if ours else engine
    try:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE_UNIT}):
            _check_workers(client)
            flight: _Flight[Value] = _Flight(client, distributed, function, notify)
            yield from _run(client, distributed, iter(units), flight)
    finally:
        if ours:
            client.close()


def scheduler_address(text: str) -> str:
    """Read the address of a scheduler; ``dask://`` is ``tcp://``.

    Examples
    --------
    >>> scheduler_address("dask://head:8786"), scheduler_address("tls://10.0.0.1:8786")
    ('tcp://head:8786', 'tls://10.0.0.1:8786')
    """
    scheme, separator, place = text.strip().partition("://")
    host, colon, port = place.rpartition(":")
    if not (separator and host and colon and port.isdigit() and scheme in (*_SCHEMES, "dask")):
        raise InputError(
            expected(
                "`engine` to be the address of a Dask scheduler",
                repr(text),
                'Pass "dask://host:port", such as "dask://localhost:8786".',
            )
        )
    return f"{'tcp' if scheme == 'dask' else scheme}://{place}"


@contextmanager
def _needing_dask() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise MissingExtraError("distributed", "dask") from error


def _connect(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(
            address, timeout=_CONNECT_SECONDS, set_as_default=False, name="closecall"
        )
    except (OSError, TimeoutError) as error:
        raise EngineError(
            expected(
                f"a Dask scheduler at {address}",
                f"no answer in {_CONNECT_SECONDS} seconds",
                "Check the address, and that `dask scheduler` runs there and can be reached.",
            )
        ) from error


def _check_workers(client: Any) -> None:
    """Ask every worker for its version, since another one may give other numbers."""
    if client.asynchronous:
        raise InputTypeError(expected("`engine` to be a client that waits", "an asynchronous one"))
    ours = installed_version()
    if client.status != "running":
        raise _gone(client, [])
    try:
        versions = client.run(installed_version)
    except OSError as error:
        raise _gone(client, []) from error
    except Exception as error:  # Dask words what a worker could not even unpickle
        raise EngineError(
            expected(
                "every Dask worker to have closecall installed",
                f"`{error}`",
                f"Install closecall {ours} on the workers, with the extras of this machine.",
            )
        ) from error
    for worker, version in versions.items():
        if version != ours:
            raise EngineError(
                expected(
                    f"every Dask worker to have closecall {ours}",
                    f"{version} on {worker}",
                    "Install the same version everywhere.",
                )
            )


def _run(
    client: Any, distributed: Any, units: Iterator[Keyed], flight: _Flight[Value]
) -> Generator[Outcome[Value], None, None]:
    room = _Room(client)
    suspects, alone = deque[Keyed](), None
    try:
        while True:
            while len(flight) < room.most() and (unit := next(units, None)) is not None:
                flight.start(unit)
            if not len(flight):
                if not suspects:
                    return
                alone = suspects.popleft()
                flight.start(alone)
            landed, result = flight.land()
            if isinstance(result, Outcome):
                yield result
            elif landed is not alone and isinstance(result[1], distributed.scheduler.KilledWorker):
                # Dask also blames units that only waited on the worker: each is tried alone.
                suspects.append(landed)
            else:
                yield _failed(landed, result)
    except OSError as error:  # every broken connection is one
        raise flight.gone() from error
    finally:
        flight.cancel()


class _Flight(Generic[Value]):
    """Units that are on their way to the cluster and back."""

    def __init__(
        self,
        client: Any,
        distributed: Any,
        function: Callable[[Any], Value],
        notify: Callable[[str], Any] | None,
    ) -> None:
        self._client, self._function = client, function
        self._workers = _Workers(client, notify)
        # A name of its own for each run: Dask would give back what it knows by the same name.
        self._name, self._numbers = f"closecall-{uuid4().hex}", count()
        self._pending: dict[str, tuple[Any, Keyed]] = {}
        self._arrived = distributed.as_completed(
            loop=client.loop, with_results=True, raise_errors=False
        )

    def __len__(self) -> int:
        return len(self._pending)

    def start(self, unit: Keyed) -> None:
        """Send a unit."""
        key = f"{self._name}-{next(self._numbers)}"
        future = self._client.submit(attempt, self._function, unit, key=key, pure=False)
        self._pending[key] = future, unit
        self._arrived.add(future)

    def land(self) -> tuple[Keyed, Any]:
        """Wait for the next unit, and give what came of it, or what Dask raised."""
        while not self._arrived.has_ready():
            self._workers.look()
            sleep(_PAUSE)
        self._workers.ask_late_ones()
        future, result = next(self._arrived)
        if not isinstance(result, Outcome) and future.status != "error":
            raise self.gone()
        return self._pending.pop(future.key)[1], result

    def gone(self) -> EngineError:
        """Say that the scheduler is gone, and what is lost with it."""
        return _gone(self._client, [unit for _, unit in self._pending.values()])

    def cancel(self) -> None:
        """Give up what is still on its way."""
        if self._pending and self._client.status == "running":
            self._client.cancel([future for future, _ in self._pending.values()])


def _failed(unit: Keyed, result: Any) -> Outcome[Any]:
    """Word what Dask itself raised: a result that cannot be sent, a unit that kills workers."""
    _, error, _ = result
    return Outcome(unit.key, error=one_line(error))


class _Workers:
    """Whether there is anybody to do the work; looked up only while nothing arrives.

    Units are sent first: a cluster that grows on demand has no worker before.
    """

    def __init__(self, client: Any, notify: Callable[[str], Any] | None) -> None:
        self._client = client
        self._notify = notify
        self._next_look = monotonic() + _LOOK_SECONDS
        self._none_since: float | None = None
        self._asked = bool(client.nthreads())  # for their version, before the first unit was sent
        self._told = False

    def ask_late_ones(self) -> None:
        """Ask for versions before the first result counts, if nobody was there to be asked."""
        if not self._asked:
            self._asked = True
            _check_workers(self._client)

    def look(self) -> None:
        """Say so if there has been no worker for a while, and give up after a longer one."""
        now = monotonic()
        if now < self._next_look:
            return
        if self._client.nthreads():
            self._next_look, self._none_since = now + _ASK_SECONDS, None
            return
        self._next_look = now + _LOOK_SECONDS
        self._none_since = now if self._none_since is None else self._none_since
        waited, address = now - self._none_since, self._client.scheduler.address
        if waited >= _GIVE_UP_SECONDS:
            raise EngineError(
                expected(
                    f"workers at the Dask scheduler {address}",
                    f"none for {_GIVE_UP_SECONDS} seconds",
                    f"Start some: `dask worker {address}`. {KEPT}",
                )
            )
        if waited >= _TELL_SECONDS and not self._told:
            self._told = True
            if self._notify is not None:
                self._notify(f"Waiting for workers: the Dask scheduler {address} has none.")


class _Room:
    """How many units may be on their way; asked anew now and then, as clusters grow and shrink."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._most = _FEWEST
        self._asked = -inf

    def most(self) -> int:
        """Return the number for the workers that the cluster has."""
        now = monotonic()
        if now - self._asked > _ASK_SECONDS:
            threads = sum(self._client.nthreads().values())
            self._most, self._asked = max(_FEWEST, _AHEAD * threads), now
        return self._most


def _gone(client: Any, lost: list[Keyed]) -> EngineError:
    if client.status == "closed" and not lost:
        hint = "Make another. A client that nobody closed has lost its scheduler."
        return EngineError(expected("`engine` to be an open Dask client", "a closed one", hint))
    address = client.scheduler.address if client.scheduler is not None else "its address"
    doing = f" while these were on their way: {listed_keys(lost)}" if lost else ""
    return EngineError(
        expected(
            f"the Dask scheduler at {address} to stay reachable",
            f"a lost connection{doing}",
            f"Start it again, or check why it stopped. {KEPT}",
        )
    )
