"""Series that the names of files tell apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from closecall.errors import InputError, InputTypeError, shown

FILENAME, ONE = "filename", "one"
_FIELD = re.compile(r"\{(\w*)\}")
_ENDINGS = re.compile(r"(\.(csv|tsv|txt|parquet|pq))?(\.gz)?$", re.IGNORECASE)
_HINT = (
    "Pass 'filename', a pattern such as '{group}/{series}.csv', whose fields become columns, or "
    "'one' if all files are one series."
)


@dataclass(frozen=True)
class FileNames:
    """How the path of a file says which series it holds.

    >>> FileNames.read("filename").values("runs/a.csv.gz")
    {'series': 'a'}
    >>> FileNames.read("{group}/run_{series}.csv").values("/data/north/run_7.csv")
    {'group': 'north', 'series': '7'}
    """

    pattern: str
    """``filename`` for the name without its ending, ``one`` for nothing, or text with fields."""

    @classmethod
    def read(cls, series: Any) -> FileNames:
        """Read the option `series`."""
        if not isinstance(series, str):
            raise InputTypeError("to be a text", shown(series), argument="series", hint=_HINT)
        names = cls(series)
        if series in (FILENAME, ONE):
            return names
        if not names.fields or "" in names.fields or re.search(r"[{}]", _FIELD.sub("", series)):
            raise InputError(
                "to have fields in braces", repr(series), argument="series", hint=_HINT
            )
        if len({*names.fields}) < len(names.fields):
            raise InputError("each field of `series` once", repr(series))
        return names

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of the columns that the path gives."""
        return ("series",) if self.pattern == FILENAME else tuple(_FIELD.findall(self.pattern))

    def values(self, path: str) -> dict[str, str]:
        """Return what the end of a path says; raise if it does not match."""
        place = Path(path).absolute()
        if self.pattern == FILENAME:
            return {"series": _ENDINGS.sub("", place.name)}
        end = "/".join(place.parts[-1 - self.pattern.count("/") :])
        found = self._expression.fullmatch(end)
        if found is None:
            rule = f"the path of every file to end as `series`, {self.pattern}"
            raise InputError(rule, path)
        return dict(zip(self.fields, found.groups(), strict=True))

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        literal = _FIELD.split(self.pattern)[::2]
        return re.compile("([^/]+?)".join(map(re.escape, literal)))
