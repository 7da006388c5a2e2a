"""One batch at a time writes to an output: the second is refused, a dead one does not count."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def sole_writer(out: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of an output, ``results.parquet.lock``; the system drops it if we die.

    Examples
    --------
    >>> import tempfile
    >>> out = Path(tempfile.mkdtemp()) / "results.parquet"
    >>> with sole_writer(out), sole_writer(out):
    ...     pass
    Traceback (most recent call last):
    closecall.errors.InputError: Expected no other batch to be writing to ...results.parquet, got...
    """
    path = Path(f"{os.fspath(out)}.lock")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:  # the place itself is wrong, and who writes there says how
        yield
        return
    try:
        if not _locked(handle) or not _is_at(handle, path):
            hint = "Wait for it, or choose another output."
            raise InputError(expected(f"no other batch to be writing to {out}", "one", hint))
        try:
            yield
        finally:
            if sys.platform != "win32":  # where open files cannot be removed
                path.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Lock a file unless somebody else has."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a disk that knows no locks: nobody can be kept out
        return True
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Say whether the open file is still the one of that name: its owner removes it when done."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
