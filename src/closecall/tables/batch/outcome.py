"""What becomes of one unit of a batch: a value, or why there is none."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from closecall.errors import InputError, expected
from closecall.tables.batch.trouble import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
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
