"""Kernels in two tiers: plain Python at first, compiled by numba as soon as that pays.

Importing numba and loading compiled code takes about as long as a small job takes in plain Python,
so a kernel starts as the Python that it is written in. It is compiled, and stays compiled, once
numba is loaded anyway, or the arrays are large, or the process has spent as long in plain kernels
as numba takes to load. A plain kernel that runs out of that time on the way is started again,
compiled; it notices where it calls another kernel, and what that one calls runs unwatched. Both
tiers give the same bits.

Compiled code does not look for signals, so what may take long runs in a thread of its own, and the
main thread waits where Ctrl-C is seen at once; what was interrupted runs out and is forgotten.

``NUMBA_DISABLE_JIT=1`` keeps every kernel in plain Python, as it does everywhere.
"""

from __future__ import annotations

import os
import sys
from functools import cache, cached_property, update_wrapper
from math import inf
from threading import Thread, current_thread, local, main_thread
from time import thread_time
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_LOADING_NUMBA = 0.25  # seconds
_LARGE = 100_000  # elements of all arrays; plain Python takes about 2 us for each
_LONG = 2_000_000  # elements of all arrays; compiled code takes up to 0.1 us for each
_PATIENCE = 0.2  # seconds; on Windows, waiting without end does not see Ctrl-C
on_compilation: Callable[[], None] | None = None  # called before numba compiles anything
_disabled = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
_spent = 0.0  # seconds in plain kernels, of all threads


class _Running(local):
    """The plain kernel of this thread, if one is running: when it is to be compiled instead."""

    deadline: float | None = None


_running = _Running()


class _OutOfTimeError(Exception):
    """A plain kernel takes longer than numba takes to load."""


class Kernel(Generic[P, R]):
    """A function that runs as plain Python or compiled; kernels call each other by name."""

    def __init__(self, function: Callable[P, R], **options: Any) -> None:
        self.plain = function
        self._options = options
        self._dispatcher: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **options: P.kwargs) -> R:
        """Run the kernel in the tier that fits."""
        if self._dispatcher is not None:
            return interruptible(self._dispatcher, *arguments, **options)  # type: ignore[no-any-return]
        if _running.deadline is not None:
            if thread_time() > _running.deadline:
                raise _OutOfTimeError
            return self.unwatched(*arguments, **options)
        if not _disabled and (
            "numba" in sys.modules or _spent > _LOADING_NUMBA or _elements(arguments) > _LARGE
        ):
            return interruptible(self.compiled, *arguments, **options)  # type: ignore[no-any-return]
        return self._run_plain(*arguments, **options)

    def _run_plain(self, *arguments: P.args, **options: P.kwargs) -> R:
        global _spent  # noqa: PLW0603 - a process has one budget
        arrays = [x for x in arguments if isinstance(x, np.ndarray) and x.flags.writeable]
        before = [] if _disabled else [array.copy() for array in arrays]
        began = thread_time()  # beside other work, the clock on the wall runs ahead
        _running.deadline = inf if _disabled else began + _LOADING_NUMBA - _spent
        try:
            return _as_python(self.plain(*arguments, **options))  # type: ignore[no-any-return]
        except _OutOfTimeError:
            # What it has written so far must not be there when it starts again.
            for array, original in zip(arrays, before, strict=True):
                array[...] = original
        finally:
            _running.deadline = None
            _spent += thread_time() - began
        return interruptible(self.compiled, *arguments, **options)  # type: ignore[no-any-return]

    @cached_property
    def unwatched(self) -> Callable[P, R]:
        """The plain function, which calls the plain functions of other kernels."""
        code, known = self.plain.__code__, self.plain.__globals__
        called = {name: known[name] for name in code.co_names if name in known}
        plain = {name: x.unwatched for name, x in called.items() if isinstance(x, Kernel)}
        return FunctionType(code, known | plain, argdefs=self.plain.__defaults__)

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
    if _elements(arguments) < _LONG or current_thread() is not main_thread():
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


def _elements(arguments: tuple[Any, ...]) -> int:
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
