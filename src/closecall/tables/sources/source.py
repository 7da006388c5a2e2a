"""What a batch reads: the kind of table, its units, and what identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from closecall.tables.sources.unit import Unit

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
    identify: Callable[[], str]
    """Works out the `fingerprint`."""
    plan: Callable[[], list[Unit]]
    """Plans the units; see `units`."""

    @cached_property
    def fingerprint(self) -> str:
        """Text that changes when the data does: a batch is resumed only on the same data.

        Of files it is a hash of their paths, sizes and times of change; of anything else a hash
        of all values that are asked for. It is worked out when it is first needed.
        """
        return self.identify()

    def units(self) -> list[Unit]:
        """Plan the units: whole series in each, every row in one of them, in the data's order.

        Files are planned from their footers. Where those leave open to which series the rows at
        a border belong, the key columns are read, and nothing else.
        """
        return self.plan()
