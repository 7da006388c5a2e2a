"""Anything tabular in, units of whole series out."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError
from closecall.tables.reading import arrow
from closecall.tables.sources.csv import csv_source
from closecall.tables.sources.dataframes import dataframe_source
from closecall.tables.sources.parquet import parquet_source
from closecall.tables.sources.paths import files_name, is_parquet, list_files
from closecall.tables.sources.source import Source, Unit

if TYPE_CHECKING:
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.sources.source import UnitSize


__all__ = ["Source", "Unit", "open_source"]


def open_source(data: Any, options: BatchOptions, *, size: UnitSize | None = None) -> Source:
    """Open a table or files, to be read in units of whole series."""
    arrow("pyarrow")
    if not isinstance(data, (str, PathLike, list, tuple)):
        if options.series is not None:
            raise InputTypeError("files beside `series`", f"a {type(data).__name__}")
        return dataframe_source(data, options, size)
    files = list_files(data, options.series)
    name = files_name(files, data)
    if len(files) > 1 and not options.by and options.series is None:
        rule = f"to know which series each of {len(files)} files holds"
        hint = (
            "If each file is a series, pass `series='filename'`; if a column tells series apart, "
            "`by='COLUMN'`; if all files are one series, `series='one'`."
        )
        raise InputError(rule, "neither `by` nor `series`", hint=hint)
    kinds = [is_parquet(file, alone=len(files) == 1) for file in files]
    if any(kinds) and not all(kinds):
        rule = f"the files of {name} to be of one kind"
        got = f"{files[0].path} and {files[kinds.index(not kinds[0])].path}"
        hint = "Pass a glob, such as 'folder/*.parquet'."
        raise InputError(rule, got, hint=hint)
    if kinds[0]:
        source = parquet_source(files, options, name=name, size=size)
    else:
        source = csv_source(files, options, name=name, size=size)
    places = data if isinstance(data, (list, tuple)) else [data]
    return replace(source, paths=(*map(fspath, places), *(file.path for file in files)))
