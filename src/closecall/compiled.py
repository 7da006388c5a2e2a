"""Kernels in two tiers: plain Python for small arrays, compiled by numba for large ones.

Importing numba and loading compiled code takes about as long as plain Python takes for half a
million elements. So kernels run as the Python that they are written in until they have been given
that many, all calls of a process together, or until something else has loaded numba. A plain kernel
calls plain kernels, so a call stays in its tier. Both tiers give the same bits.

Compiled code does not look for signals, so what may take long runs in a thread of its own, and the
main thread waits where Ctrl-C is seen at once; what was interrupted runs out and is forgotten.

``NUMBA_DISABLE_JIT=1`` keeps every kernel in plain Python, as it does everywhere.
"""

from __future__ import annotations

import os
import sys
from functools import cache, update_wrapper
from threading import Thread, current_thread, local, main_thread
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_LARGE = 500_000  # elements; numba takes 0.25 s to load, and plain Python about 0.5 us for each
_LONG = 2_000_000  # elements of all arrays; compiled code takes up to 0.1 us for each
_PATIENCE = 0.2  # seconds; on Windows, waiting without end does not see Ctrl-C
on_compilation: Callable[[], None] | None = None  # called before numba compiles anything
_disabled = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
_elements_so_far = 0  # that plain kernels were given, in all threads


class _Tier(local):
    """Whether a plain kernel is running in this thread."""

    plain = False


_tier = _Tier()


class Kernel(Generic[P, R]):
    """A function that runs as plain Python or compiled; kernels call each other by name."""

    def __init__(
        self, function: Callable[P, R], elements: Callable[..., int] | None = None, **options: Any
    ) -> None:
        self.plain = function
        self._elements = elements or _elements
        self._options = options
        self._dispatcher: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **options: P.kwargs) -> R:
        """Run the kernel in the tier that fits."""
        if _tier.plain:
            return self.plain(*arguments, **options)
        if self._dispatcher is None and not self._pays(*arguments):
            _tier.plain = True
            try:
                return _as_python(self.plain(*arguments, **options))  # type: ignore[no-any-return]
            finally:
                _tier.plain = False
        return interruptible(self.compiled, *arguments, **options)  # type: ignore[no-any-return]

    def _pays(self, *arguments: Any) -> bool:
        """Return whether to compile the kernel for these arguments."""
        global _elements_so_far  # noqa: PLW0603 - a process loads numba once
        if _disabled or "numba" in sys.modules:
            return not _disabled
        _elements_so_far += self._elements(*arguments)
        return _elements_so_far > _LARGE

    @property
    def compiled(self) -> Any:
        """Return numba's dispatcher of this kernel, and use it from now on."""
        if self._dispatcher is None:
            try:
                from numba import njit
            except OSError as error:  # its compiler is a library that did not fit
                raise MemoryError("numba cannot be loaded") from error

            _listen()
            options = {"cache": True, "nogil": True} | self._options
            try:
                self._dispatcher = njit(**options)(self.plain)
            except RuntimeError:  # there is no folder to keep compiled code in
                self._dispatcher = njit(**options | {"cache": False})(self.plain)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """Return what numba asks for where a compiled kernel calls this one."""
        return self.compiled._numba_type_


def interruptible(function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """Call a function that does not look for signals so that Ctrl-C is seen, if it may take long.

    It must release Python's lock, as kernels and the sorting of numbers do.
    """
    if _elements(*arguments) < _LONG or current_thread() is not main_thread():
        return function(*arguments, **options)
    results: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function(*arguments, **options))
        except BaseException as error:  # noqa: BLE001 - raised where it was called
            errors.append(error)

    thread = Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # there is no room for another
        return function(*arguments, **options)
    while thread.is_alive():
        thread.join(_PATIENCE)
    if errors:
        raise errors[0]
    return results[0]


def _elements(*arguments: Any) -> int:
    return sum(x.size for x in arguments if isinstance(x, np.ndarray))


def _as_python(result: Any) -> Any:
    """Return Python's numbers for numpy's, as compiled kernels do."""
    if isinstance(result, tuple):
        return tuple(map(_as_python, result))
    return result.item() if isinstance(result, np.generic) else result


@cache
def _listen() -> None:
    """Call `on_compilation` whenever numba compiles; loading from its cache is no compilation."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:  # noqa: ARG002 - numba's signature
            if on_compilation is not None:
                on_compilation()

        def on_end(self, event: Any) -> None:
            """Stay silent."""

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


@overload
def kernel(function: Callable[P, R]) -> Kernel[P, R]: ...
@overload
def kernel(**options: Any) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def kernel(function: Callable[P, R] | None = None, **options: Any) -> Any:
    """Mark a function as a kernel; options are those of `numba.njit`.

    `elements` counts what a call goes through, from its arguments; the elements of all arrays if
    not given. A kernel that passes over its arrays many times needs it.

    >>> @kernel
    ... def total(values):
    ...     sum_so_far = 0.0
    ...     for value in values:
    ...         sum_so_far += value
    ...     return sum_so_far
    >>> total(np.ones(3))
    3.0
    """
    if function is None:
        return lambda function: Kernel(function, **options)
    return Kernel(function)
