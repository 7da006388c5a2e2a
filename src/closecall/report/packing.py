"""Columns of numbers as short text that the page unpacks into typed arrays."""

from __future__ import annotations

import base64
import zlib
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4")
_DRAWN = 1e-5  # of the range: what nobody sees


class Texts:
    """ASCII texts in the order they came: in memory while they are short, then in a nameless file.

    >>> texts = Texts(in_memory=10)
    >>> texts.append("a text")
    >>> texts.append("and another")
    >>> list(texts), texts.size
    (['a text', 'and another'], 17)
    """

    def __init__(self, in_memory: int) -> None:
        self._file = SpooledTemporaryFile(max_size=in_memory)  # noqa: SIM115 - closed below
        finalize(self, self._file.close)
        self._ends = [0]

    def append(self, text: str) -> None:
        """Add one more."""
        self._file.seek(self.size)
        self._ends.append(self.size + self._file.write(text.encode("ascii")))

    def __iter__(self) -> Iterator[str]:
        for start, stop in pairwise(self._ends):
            self._file.seek(start)
            yield self._file.read(stop - start).decode("ascii")

    @property
    def size(self) -> int:
        """How many characters they have together."""
        return self._ends[-1]


def deflated(content: bytes) -> str:
    """Compress bytes and write them as base64."""
    return base64.b64encode(zlib.compress(content, 6)).decode("ascii")


def packed(values: NDArray[Any]) -> dict[str, str]:
    """Pack a column exactly: integers in the fewest bytes, floats as they are.

    The bytes of one significance stand side by side, which compresses far better.

    >>> import numpy as np
    >>> packed(np.array([0, 1, 1]))["type"], packed(np.array([0.5]))["type"]
    ('i1', 'f8')
    """
    column = _narrowed(values)
    little = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))
    planes = little.view(np.uint8).reshape(little.size, little.itemsize).T
    return {
        "type": f"{column.dtype.kind}{column.dtype.itemsize}",
        "data": deflated(planes.tobytes()),
    }


def _narrowed(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "f":
        return values
    if values.size == 0:
        return values.astype(np.int8)
    low, high = values.min(), values.max()
    for name in _INTEGERS:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return values.astype(name)
    return values.astype(np.float64)


def packed_for_drawing(values: NDArray[np.float64]) -> dict[str, str]:
    """Pack a column that is only drawn: in half the bytes where nobody sees the difference."""
    with np.errstate(over="ignore", invalid="ignore"):
        short = values.astype(np.float32)
        error = np.abs(short - values)
    finite = np.isfinite(values)
    if not finite.any():
        return packed(short)
    extent = np.ptp(values[finite])
    return packed(short if error[finite].max() <= _DRAWN * extent else values)


def packed_times(offsets: NDArray[Any]) -> dict[str, Any]:
    """Pack offsets on the time axis: a start and a step, or steps, or the numbers themselves.

    >>> import numpy as np
    >>> packed_times(np.array([0, 5, 10]))
    {'count': 3, 'first': 0, 'step': 5}
    """
    if offsets.dtype.kind == "f" or offsets.size == 0:
        return {"values": packed(offsets)}
    steps = np.diff(offsets)
    start = {"count": offsets.size, "first": offsets[0].item()}
    if steps.size == 0 or (steps == steps[0]).all():
        return {**start, "step": steps[0].item() if steps.size else 0}
    return {**start, "steps": packed(steps)}
