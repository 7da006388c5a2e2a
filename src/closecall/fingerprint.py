"""What tells apart values that have no short text, such as functions, events and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.events import Events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SECOND = 10**9  # nanoseconds


def contents(value: Any) -> Any:
    """Return all that a value holds or does, as plain values with one repr in every process.

    Their own repr leaves out the middle of long columns, and what a function refers to.
    """
    return _Contents().of(value)


class _Contents:
    """What was found in functions and objects so far, each of which is told once."""

    def __init__(self) -> None:
        self.told: dict[int, tuple[int, Any]] = {}
        self.package = ""

    def of(self, value: Any) -> Any:
        if isinstance(value, np.random.Generator):
            value = value.bit_generator.state
        if isinstance(value, Events):
            return _events(value)
        if isinstance(value, Mapping):
            return [(repr(key), self.of(value[key])) for key in sorted(value, key=repr)]
        if isinstance(value, list | tuple):
            return [self.of(one) for one in value]
        if isinstance(value, set | frozenset):
            return sorted(map(repr, value))
        if hasattr(value, "__array__"):
            return np.asarray(value).tolist()
        return self._action(value)

    def _action(self, value: Any) -> Any:
        if isinstance(value, type | ModuleType):
            return _name(value)
        if isinstance(value, partial):
            return ["partial", *map(self.of, (value.func, value.args, value.keywords))]
        if hasattr(value, "__code__"):
            return self._once(value, self._function)
        if hasattr(value, "__wrapped__"):  # as by a cache
            return [_name(type(value)), self.of(value.__wrapped__)]
        if repr(value) == object.__repr__(value) and hasattr(value, "__dict__"):
            return self._once(value, self._object)  # its repr is where it is in memory
        return _name(value) if hasattr(value, "__qualname__") else value

    def _once(self, value: Any, tell: Callable[[Any], list[Any]]) -> Any:
        if id(value) in self.told:
            return self.told[id(value)][0]
        self.told[id(value)] = (len(self.told), value)
        return tell(value)

    def _object(self, value: Any) -> list[Any]:
        kind: Any = type(value)
        called = kind.__call__ if callable(value) else None
        return [_name(kind), *map(self.of, (called, vars(value)))]

    def _function(self, function: Any) -> list[Any]:
        """Return the code and what it refers to; in another package than the first, not that."""
        plain = getattr(function, "__func__", function)  # of a method
        package = f"{plain.__module__}".partition(".")[0]
        self.package = self.package or package
        codes = [*_codes(plain.__code__)]
        names = {name for code in codes for name in code.co_names if package == self.package}
        known = {name: own for name, own in plain.__globals__.items() if name in names}
        outer = [_filled(cell) for cell in plain.__closure__ or ()]
        state = getattr(function, "__self__", None)
        parts = (outer, plain.__defaults__, plain.__kwdefaults__, known, state)
        return [plain.__qualname__, *map(self._code, codes), *map(self.of, parts)]

    def _code(self, code: CodeType) -> list[Any]:
        values = [own for own in code.co_consts if not isinstance(own, CodeType)]
        return [code.co_code, code.co_names, self.of(values)]


def _events(events: Events) -> list[Any]:
    own = events.intervals
    dated = own.clock.kind == "datetime"
    unit = _SECOND // own.clock.ticks_per_second if dated else 1
    sides = (own.starts.tolist(), own.stops.tolist())
    return [own.clock.kind, *([tick * unit for tick in ticks] for ticks in sides)]


def _name(value: Any) -> list[str]:
    called = getattr(value, "__qualname__", None) or value.__name__
    return [f"{getattr(value, '__module__', None)}", called]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and that of functions inside it."""
    yield code
    for own in code.co_consts:
        if isinstance(own, CodeType):
            yield from _codes(own)


def _filled(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
