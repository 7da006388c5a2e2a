"""The pytest fixture `closecall_check`, which pytest finds by itself: a gate in a test."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from closecall.check import Check


@pytest.fixture
def closecall_check() -> Callable[..., Check]:
    """Return a function that takes what `closecall.check` takes, and fails the test if that fails.

    What is to be investigated is a warning, since the events at hand decide nothing; a test that
    should not pass then asks for ``closecall_check(...).status == "pass"``.
    """

    def run(results: Any, **options: Any) -> Check:
        __tracebackhide__ = True
        from closecall.check import check  # only tests that use it wait for that

        found = check(results, **options)
        if found.status == "fail":
            pytest.fail(str(found), pytrace=False)
        if found.status == "investigate":
            warnings.warn(str(found), stacklevel=2)
        return found

    return run
