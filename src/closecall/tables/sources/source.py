"""What a batch reads: units of whole series, and the columns that are needed."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from closecall.tables.reading import no_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions

Key = tuple[Any, ...]


class Unit(Protocol):
    """Whole series that are evaluated together, in this process or in another.

    A unit can be pickled. Of a file it holds the path and which row groups to read, never data,
    so it works on every machine that sees the file; of a table in memory it holds the rows.
    """

    @property
    def key(self) -> str:
        """Stable text that tells the unit from the others of its source."""

    @property
    def rows(self) -> int:
        """About how many rows the unit has."""

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series: its values of the `by` columns, and its rows in their order.

        Without `by` columns there is one group, with the key ``()``: the whole unit. A giant
        series has several units then, in time order.
        """


@dataclass(frozen=True)
class UnitSize:
    """How many values (rows times columns that are read) are put in a unit."""

    smallest: int = 1_000_000
    """A unit ends at the first border between series after this many."""
    largest: int = 4_000_000
    """After this many, a unit also ends where a series crosses from one row group to the next."""
    held: int = 16_000_000
    """So many are kept in memory where that is simpler than a temporary file."""
    readable: int = 64_000_000
    """A row group of more is cut anew, into a temporary file."""

    def rows(self, *, columns: int) -> int:
        """Return how many rows of so many columns the smallest unit has."""
        return max(1, self.smallest // max(1, columns))


Kind = Literal["pandas", "polars", "arrow"]


@dataclass(frozen=True, eq=False)
class Source:
    """A table or files, ready to be read unit by unit."""

    name: str
    """What messages call it."""
    kind: Kind
    """The kind of table that a result is given back in."""
    schema: pa.Schema
    """Names and types of the columns that are read."""
    fingerprint: Callable[[], str]
    """Works out a text that changes when the data does: a batch is resumed only on the same data.

    Of files it is a hash of their paths, sizes and times of change; of anything else a hash of all
    values that are asked for.
    """
    units: Callable[[], list[Unit]]
    """Plans the units: whole series in each, every row in one of them, in the data's order.

    Files are planned from their footers. Where those leave open to which series the rows at a
    border belong, the key columns are read, and nothing else.
    """
    count: Callable[[], int]
    """Counts the series; of files, the key columns are read for it."""
    paths: tuple[str, ...] = ()
    """The places that were named and the files in them, so that none of them is written."""


def needed_columns(available: Iterable[str], options: BatchOptions, name: str) -> list[str]:
    """Return the columns that are read, in the table's order, or say which one is not there."""
    columns = list(available)
    for argument, column in _roles(options):
        if columns.count(column) != 1:
            raise no_column(column, columns, argument, name)
    wanted = set(options.columns)
    return [column for column in columns if column in wanted]


def _roles(options: BatchOptions) -> Iterator[tuple[str, str]]:
    yield from (("by", column) for column in options.by)
    if options.time is not None:
        yield "time", options.time
    yield "truth", options.truth
    if isinstance(options.ignore, str):
        yield "ignore", options.ignore
    yield from (("score", column) for column in options.scores)
    yield from (("predicted", column) for column in options.predicted)


class TemporaryFolder:
    """A folder that lives as long as this object, in the place that TMPDIR names."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="closecall-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    # A forked worker has a copy of the object, and must leave the folder alone.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
