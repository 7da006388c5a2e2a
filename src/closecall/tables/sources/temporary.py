"""A folder for what does not fit in memory, removed with the last unit that reads from it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class TemporaryFolder:
    """A folder that lives as long as this object, in the place that TMPDIR names."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="closecall-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    # A forked worker has a copy of the object, and must leave the folder alone.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
