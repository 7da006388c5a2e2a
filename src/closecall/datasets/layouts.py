"""What the readers of benchmarks share: CSV columns, which series to read, and the one table."""

from __future__ import annotations

import csv
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.errors import InputError, MissingExtraError
from closecall.files import matching
from closecall.parameters import read_path, require_choice
from closecall.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

TIMES = "Times are read as ISO 8601, such as 2017-03-22 15:16:45, from 1678 to 2261."
Missing = Literal["error", "nan", "drop"]
ScoreFiles = dict[str, dict[str, "Path"]]  # by detector, then by series
_RESERVED_NAMES = ("series", "timestamp", "label")
_EMPTY = 'Remove its folder, or keep it with nan as its scores: `missing="nan"`.'
_HINT = (
    '`missing="nan"` keeps the series, with nan as the scores of that detector, '
    'which the batch reports; `missing="drop"` leaves out each series that some '
    "detector has no scores for."
)


def arrow() -> Any:
    """Return pyarrow, or raise how to install it."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "data") from error
    return pa


def existing_folder(folder: str | PathLike[str], name: str, has: str) -> Path:
    """Return the folder as a path; raise what it should have been."""
    path = read_path(folder, name)
    if not path.is_dir():
        raise InputError("to be a folder", str(folder), argument=name, hint=f"It has {has}.")
    return path


def read_csv(
    path: Path,
    needed: Sequence[str],
    *,
    every_column: bool = False,
    as_text: bool = False,
    may_be_empty: bool = False,
) -> Any:
    """Read the columns needed, or every one, into an Arrow table; those needed as text if asked."""
    pa = arrow()
    from pyarrow import csv as arrow_csv

    require_columns(read_header(path), needed, path)
    options = arrow_csv.ConvertOptions(
        include_columns=[] if every_column else needed,
        column_types=dict.fromkeys(needed, pa.string()) if as_text else None,
    )
    try:
        table = arrow_csv.read_csv(path, convert_options=options)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} to be a CSV file", str(error)) from error
    if not table.num_rows and not may_be_empty:
        raise InputError(f"a row below the header of {path}", "none")
    return table


def require_columns(names: Sequence[str], needed: Iterable[str], path: Path) -> None:
    """Raise if a file lacks a column."""
    for name in needed:
        if name not in names:
            got = listed(names) or "an empty file"
            raise InputError(f"{path} to have a column `{name}`", got)


def read_header(path: Path) -> list[str]:
    """Return the names of the columns."""
    if not path.is_file():
        raise InputError(f"a file {path.name}", f"none in {path.parent}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} to be a CSV file", str(error)) from error


def label_column(table: Any, column: str, path: Path) -> NDArray[np.uint8]:
    """Return the 0/1 labels; raise if there is anything else."""
    labels = table.column(column).to_numpy()
    numbers = labels.dtype.kind in "biuf"
    allowed = np.isin(labels, (0, 1)) if numbers else np.isin(labels.astype(str), ("0", "1"))
    if not allowed.all():
        row = int(np.argmin(allowed))
        rule = f"0 or 1 in the column `{column}` of {path}"
        raise InputError(rule, f"{labels[row]} in row {row + 1}")
    truth: NDArray[np.uint8] = labels.astype(np.uint8)
    return truth


def time_column(table: Any, column: str, path: Path) -> Any:
    """Return the column of times as an Arrow array: nanoseconds, or numbers."""
    pa = arrow()
    times = table.column(column)
    kind = times.type
    if times.null_count:
        row = times.is_null().to_pylist().index(True)
        raise InputError(f"a time in each row of {path}", f"none in row {row + 1}")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return times
    target = pa.timestamp("ns", tz=kind.tz if pa.types.is_timestamp(kind) else None)
    if pa.types.is_temporal(kind) and first_unlike(times, target) is None:
        return times.cast(target)
    numbers = first_unlike(times[:1], pa.float64()) is None
    row = first_unlike(times, pa.float64() if numbers else target) or 0
    rule = f"times or numbers in the column `{column}` of {path}"
    raise InputError(rule, f"{times[row].as_py()} in row {row + 1}", hint=TIMES)


def score_column(table: Any, column: str, path: Path) -> NDArray[np.float64]:
    """Return a column of scores; missing ones are nan."""
    pa = arrow()
    column_of_scores = table.column(column)
    row = first_unlike(column_of_scores, pa.float64())
    if row is not None:
        rule = f"numbers in the column `{column}` of {path}"
        raise InputError(rule, f"{column_of_scores[row].as_py()} in row {row + 1}")
    scores: NDArray[np.float64] = column_of_scores.cast(pa.float64()).to_numpy()
    return scores


def first_unlike(column: Any, kind: Any) -> int | None:
    """Return the first row that cannot be cast to the kind."""
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


def series_to_read(names: Collection[str], scores: ScoreFiles, missing: Missing) -> list[str]:
    """Return the sorted names of the series to read; raise if there is a gap, unless allowed.

    >>> from pathlib import Path
    >>> scores = {"forest": {"a": Path("a.npy"), "b": Path("b.npy")}, "knn": {"b": Path("b.npy")}}
    >>> series_to_read(["a", "b"], scores, "nan"), series_to_read(["a", "b"], scores, "drop")
    (['a', 'b'], ['b'])
    """
    require_choice(missing, "missing", get_args(Missing))
    for detector, files in scores.items():
        if not files and missing != "nan":
            rule = "scores of every detector"
            raise InputError(rule, f"none of the detector {detector!r}", hint=_EMPTY)
        if detector in _RESERVED_NAMES:
            *others, last = _RESERVED_NAMES
            rule = f"no detector to be called {', '.join(others)} or {last}"
            hint = "Those are the table's own columns: rename its folder."
            raise InputError(rule, repr(detector), hint=hint)
    if missing == "drop":
        kept = [name for name in sorted(names) if all(name in files for files in scores.values())]
        if not kept:
            rule = "a series that every detector has scores for"
            hint = '`missing="nan"` keeps every series.'
            raise InputError(rule, f"none among {len(names)}", hint=hint)
        return kept
    for detector, files in scores.items():
        unknown = sorted(set(files) - set(names))
        if unknown:
            rule = f"a series in the data for each file of scores, such as {files[unknown[0]]}"
            hint = '`missing="drop"` reads only what is in both.'
            raise InputError(rule, f"none that is called {unknown[0]!r}", hint=hint)
        lacking = sorted(set(names) - set(files))
        if lacking and missing == "error":
            more = f" (nor for {len(lacking) - 1} more)" if len(lacking) > 1 else ""
            rule = "scores of every detector for every series"
            got = f"none of the detector {detector!r} for the series {lacking[0]!r}{more}"
            raise InputError(rule, got, hint=_HINT)
    return sorted(names)


def detector_folders(folder: Path) -> list[Path]:
    """Return the folders of detectors, sorted: all that are not hidden."""
    found = matching("*", folder)
    for path in found:
        if not path.exists():
            raise InputError(f"a folder of a detector at {path}", "a broken symlink")
    return [path for path in found if path.is_dir()]


@dataclass(frozen=True, eq=False, slots=True)
class OneSeries:
    """A series before its scores are joined."""

    name: str
    path: Path
    """The file that it was read from."""
    truth: NDArray[np.uint8]
    times: Any = None
    """An Arrow array, or None where the layout has no times."""


def join_series(
    series: Iterable[OneSeries], files: ScoreFiles, read: Callable[[Path], NDArray[np.float64]]
) -> Any:
    """Return the table: series, timestamp (where there is one), label, one column per detector."""
    pa = arrow()
    tables: list[Any] = []
    first: OneSeries | None = None
    for one in series:
        first = first or one
        if not one.truth.size:
            raise InputError(f"a row without empty fields in {one.path}", "none")
        _check_times(first, one)
        columns = {"series": pa.repeat(one.name, one.truth.size)}
        if one.times is not None:
            columns["timestamp"] = one.times
        columns["label"] = pa.array(one.truth)
        for detector, paths in files.items():
            columns[detector] = pa.array(_scores_of(one, paths.get(one.name), read))
        tables.append(pa.table(columns))
    return pa.concat_tables(tables)


def _scores_of(
    one: OneSeries, path: Path | None, read: Callable[[Path], NDArray[np.float64]]
) -> NDArray[np.float64]:
    if path is None:
        return np.full(one.truth.size, np.nan)
    scores = read(path)
    if scores.size != one.truth.size:
        rule = f"{path} to have {one.truth.size} scores, as many as {one.path} has rows"
        hint = "A detector that scores windows must give each sample a score of its own."
        raise InputError(rule, str(scores.size), hint=hint)
    return scores


def _check_times(first: OneSeries, one: OneSeries) -> None:
    if first.times is None or first.times.type == one.times.type:
        return
    rule = f"{one.path} to have times of the same kind as {first.path} ({first.times.type})"
    hint = "Without them, samples are counted: `timestamps=False` (no `--time`)."
    raise InputError(rule, str(one.times.type), hint=hint)
