"""Read CSV files of a known layout: the columns that must be there, and what may be in them."""

from __future__ import annotations

import csv
from bisect import bisect_left
from os import PathLike
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, MissingExtraError, expected
from closecall.parameters import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TIMES = "Times are read as ISO 8601, such as 2017-03-22 15:16:45, from 1678 to 2261."


def arrow() -> Any:
    """Give pyarrow, or say how to install it."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "data") from error
    return pa


def checked_path(path: str | PathLike[str], name: str) -> Path:
    """Give the path, whatever is there; an `InputTypeError` says that it is none."""
    if not isinstance(path, str | PathLike):
        raise InputTypeError(expected(f"`{name}` to be a path", shown(path)))
    return Path(path)


def existing_folder(folder: str | PathLike[str], name: str, has: str) -> Path:
    """Give the folder as a path; an `InputError` says what it should have been."""
    path = checked_path(folder, name)
    if not path.is_dir():
        raise InputError(expected(f"`{name}` to be a folder", str(folder), f"It has {has}."))
    return path


def read_csv(
    path: Path,
    needed: Sequence[str],
    *,
    every_column: bool = False,
    as_text: bool = False,
    may_be_empty: bool = False,
) -> Any:
    """Read the columns needed, or every one, into an Arrow table; those needed as text if asked.

    A file that is not there, cannot be read, or lacks a column is an `InputError`; so is one with
    a header only, unless it may be empty.
    """
    pa = arrow()
    from pyarrow import csv as arrow_csv

    header = read_header(path)
    missing = [name for name in needed if name not in header]
    if missing:
        rule = f"{path} to have a column `{missing[0]}`"
        found = shorten(", ".join(header), 200, placeholder=" ...")
        raise InputError(expected(rule, found or "an empty file"))
    options = arrow_csv.ConvertOptions(
        include_columns=[] if every_column else needed,
        column_types=dict.fromkeys(needed, pa.string()) if as_text else None,
    )
    try:
        table = arrow_csv.read_csv(path, convert_options=options)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(expected(f"{path} to be a CSV file", str(error))) from error
    if not table.num_rows and not may_be_empty:
        raise InputError(expected(f"a row below the header of {path}", "none"))
    return table


def read_header(path: Path) -> list[str]:
    """Give the names of the columns."""
    if not path.is_file():
        raise InputError(expected(f"a file {path.name}", f"none in {path.parent}"))
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except UnicodeDecodeError as error:
        raise InputError(expected(f"{path} to be a CSV file", str(error))) from error


def read_truth(table: Any, column: str, path: Path) -> NDArray[np.uint8]:
    """Give the 0/1 labels; anything else is an `InputError`."""
    labels = table.column(column).to_numpy()
    numbers = labels.dtype.kind in "biuf"
    allowed = np.isin(labels, (0, 1)) if numbers else np.isin(labels.astype(str), ("0", "1"))
    if not allowed.all():
        row = int(np.argmin(allowed))
        rule = f"0 or 1 in the column `{column}` of {path}"
        raise InputError(expected(rule, f"{labels[row]} in row {row + 1}"))
    truth: NDArray[np.uint8] = labels.astype(np.uint8)
    return truth


def read_times(table: Any, column: str, path: Path) -> Any:
    """Give the column of times as an Arrow array: nanoseconds, or numbers."""
    pa = arrow()
    times = table.column(column)
    kind = times.type
    if times.null_count:
        row = times.is_null().to_pylist().index(True)
        raise InputError(expected(f"a time in each row of {path}", f"none in row {row + 1}"))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return times
    target = pa.timestamp("ns", tz=kind.tz if pa.types.is_timestamp(kind) else None)
    if pa.types.is_temporal(kind) and _first_unlike(times, target) is None:
        return times.cast(target)
    numbers = _first_unlike(times[:1], pa.float64()) is None
    row = _first_unlike(times, pa.float64() if numbers else target) or 0
    rule = f"times or numbers in the column `{column}` of {path}"
    raise InputError(expected(rule, f"{times[row].as_py()} in row {row + 1}", TIMES))


def read_scores(table: Any, column: str, path: Path) -> NDArray[np.float64]:
    """Give a column of scores; missing ones are nan."""
    pa = arrow()
    column_of_scores = table.column(column)
    row = _first_unlike(column_of_scores, pa.float64())
    if row is not None:
        rule = f"numbers in the column `{column}` of {path}"
        raise InputError(expected(rule, f"{column_of_scores[row].as_py()} in row {row + 1}"))
    scores: NDArray[np.float64] = column_of_scores.cast(pa.float64()).to_numpy()
    return scores


def _first_unlike(column: Any, kind: Any) -> int | None:
    """Give the first row that cannot be cast to the kind."""
    if _can_cast(column, kind):
        return None
    # Once a row cannot be cast, no longer beginning can: halving finds it in a few casts.
    return bisect_left(
        range(len(column)), 1, key=lambda row: not _can_cast(column[: row + 1], kind)
    )


def _can_cast(column: Any, kind: Any) -> bool:
    pa = arrow()
    try:
        column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True
