"""Read a gzipped file with one 0 or 1 per line."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import numpy as np

from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_LABELS = (b"0", b"1")


def read_labels(path: Path) -> NDArray[np.uint8]:
    """Read the labels, read-only; anything but one 0 or 1 per line is an `InputError`."""
    lines = _lines(path)
    if not set(lines) <= set(_LABELS):
        index, line = next((i, line) for i, line in enumerate(lines) if line not in _LABELS)
        got = f"{line.decode(errors='replace')!r} in line {index + 1} of {path}"
        raise InputError(expected("one 0 or 1 per line", got))
    labels = np.frombuffer(b"".join(lines), dtype=np.uint8) - ord("0")
    labels.setflags(write=False)
    return labels


def _lines(path: Path) -> list[bytes]:
    try:
        return gzip.decompress(path.read_bytes()).split()
    except FileNotFoundError as error:
        hint = "Without a folder, the data is downloaded."
        raise InputError(expected(f"a file {path.name}", f"none in {path.parent}", hint)) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        rule = f"{path} to be a gzip file"
        raise InputError(expected(rule, f"other content ({error})", "Fetch it again.")) from error
