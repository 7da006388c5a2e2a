"""The Numenta Anomaly Benchmark: the published corpus, and any results in its layout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.download import NAB, download, first_with, local_folder
from closecall.datasets.layouts import (
    TIMES,
    Missing,
    OneSeries,
    ScoreFiles,
    arrow,
    detector_folders,
    existing_folder,
    join_series,
    label_column,
    read_csv,
    require_columns,
    score_column,
    series_to_read,
    time_column,
)
from closecall.errors import InputError, shown
from closecall.files import matching

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    ColumnArrays = dict[str, NDArray[Any]]
    Windows = dict[str, NDArray[np.datetime64]]  # a row for each window

DETECTORS = ("numenta", "windowedGaussian", "random", "relativeEntropy", "skyline")
_SHARED: tuple[str, ...] = ("timestamp", "value", "label")
_KINDS = {"timestamp": "datetime64[us]", "label": "uint8"}
_CLONE = "A clone of NAB's repository has data/ and labels/, which then decide."


@dataclass(frozen=True, eq=False)
class NabSeries:
    """One series of NAB; arrays have one entry per row and are read-only.

    Attributes
    ----------
    name
        Its path in NAB's folder of data, e.g. ``"realKnownCause/nyc_taxi.csv"``.
    times
        The timestamps as published (``datetime64[us]``): in eight series some repeat or go back.
    values
        What was measured.
    truth
        1 inside an anomaly window, else 0; None where the windows are not at hand.
    windows
        Start and stop of each anomaly window, both inside it: one row per window; or None.
    scores
        Per detector, how anomalous each row is; higher is more anomalous.
    """

    name: str
    times: NDArray[np.datetime64]
    values: NDArray[np.float64]
    truth: NDArray[np.uint8] | None
    windows: NDArray[np.datetime64] | None
    scores: dict[str, NDArray[np.float64]]

    def __repr__(self) -> str:
        detectors = ", ".join(self.scores) or "none"
        return f"NabSeries({self.name}, {len(self.times)} rows, detectors: {detectors})"


@dataclass(frozen=True, eq=False)
class Nab:
    """The corpus: series by name, and what the benchmark publishes about its detectors.

    Attributes
    ----------
    series
        Each series by its name.
    final
        Published score by detector and profile; None where not at hand.
    thresholds
        Published threshold, and the score there, by detector and profile; None likewise.
    """

    series: dict[str, NabSeries]
    final: dict[str, dict[str, float]] | None
    thresholds: dict[str, dict[str, dict[str, float]]] | None

    def __getitem__(self, name: str) -> NabSeries:
        """Return a series by its name, with or without ``.csv``."""
        found = self.series.get(name) or self.series.get(f"{name}.csv")
        if found is None:
            hint = f"There are {len(self.series)}, such as {next(iter(self.series))!r}."
            raise InputError("the name of a series", repr(name), hint=hint)
        return found

    def __repr__(self) -> str:
        return f"Nab({len(self.series)} series)"


def load_nab(folder: str | PathLike[str] | None = None) -> Nab:
    """Load the Numenta Anomaly Benchmark, as far as it is at hand.

    It comes from ``folder``, else from the folder that the environment variable
    ``CLOSECALL_DATA`` names, else from NAB's repository: 97 MB, downloaded once, with checked
    hashes. Reading it needs pyarrow; the extra ``data`` has all of that.

    Parameters
    ----------
    folder
        A folder with ``scores.parquet`` (columns ``series``, ``timestamp``, ``value``, ``label``
        and one per detector), or with the series as CSV files, or a clone of NAB's repository;
        or one whose subfolder ``nab`` is that. ``combined_windows.json`` and
        ``reference_results.json`` are read where they are there.

    Returns
    -------
    Nab
        The series, and the published scores and thresholds.

    Raises
    ------
    InputError
        If the folder has no series, or a file is damaged.
    DownloadError
        If a file cannot be fetched, or is not what it should be.

    Examples
    --------
    >>> load_nab()["realKnownCause/nyc_taxi"]  # doctest: +SKIP
    NabSeries(realKnownCause/nyc_taxi.csv, 10320 rows, detectors: numenta, windowedGaussian, ...)
    """
    local = local_folder(folder)
    place = download(NAB, NAB.hashes()) if local is None else _nab_folder(local)
    labels = first_with("combined_windows.json", [place, place / "labels"])
    windows = {} if labels is None else read_window_file(labels / "combined_windows.json")
    both = _json(place / "reference_results.json")
    if both is None:
        final, thresholds = (
            _json(place / name) for name in ("results/final_results.json", "config/thresholds.json")
        )
    else:
        final, thresholds = both["final"], both["thresholds"]
    series = {
        name: _series(name, columns, windows.get(name))
        for name, columns in _columns(place, windows).items()
    }
    return Nab(series, final, thresholds)


def _nab_folder(folder: Path) -> Path:
    places = [folder / "nab", folder]
    for pattern in ("scores.parquet", "results/*/*/*.csv", "*.csv"):
        if found := first_with(pattern, places):
            return found
    rule = "a folder with scores.parquet, with NAB's CSV files or with a clone of its repository"
    hint = "Its subfolder `nab` may be that; without a folder, NAB is downloaded."
    raise InputError(rule, str(folder), hint=hint)


def _columns(folder: Path, windows: Windows) -> dict[str, ColumnArrays]:
    """Read the columns of each series, by its name."""
    if (folder / "scores.parquet").is_file():
        return _read_parquet(folder / "scores.parquet")
    if (folder / "results").is_dir():
        return _read_results_of_nab(_score_files(folder / "results"))
    names = {name.rpartition("/")[2]: name for name in windows}
    return {
        names.get(path.name, path.name): _read_columns(path) for path in matching("*.csv", folder)
    }


def _series(name: str, columns: ColumnArrays, windows: NDArray[np.datetime64] | None) -> NabSeries:
    times, values = columns.pop("timestamp"), columns.pop("value")
    truth = columns.pop("label", None)
    if windows is not None:
        windows = windows.astype("datetime64[us]")
        truth = np.asarray(_inside(times, windows).any(axis=1)) if truth is None else truth
    truth = None if truth is None else truth.astype(np.uint8)
    for array in (times, values, truth, windows, *columns.values()):
        if array is not None:
            array.setflags(write=False)
    return NabSeries(name, times, values, truth, windows, columns)


def _json(path: Path) -> Any:
    """Return what a file holds; None if there is no such file."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} to be JSON", str(error)) from error


def _read_parquet(path: Path) -> dict[str, ColumnArrays]:
    """Read the one table of all series, and part it by series."""
    pa = arrow()
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        rule = f"{path} to be a Parquet file"
        raise InputError(rule, str(error), hint="Fetch it again.") from error
    require_columns(table.column_names, ("series", "timestamp", "value", "label"), path)
    names, codes = np.unique(table.column("series").to_numpy().astype(str), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    stops = np.cumsum(np.bincount(codes)).tolist()
    columns = {
        name: np.split(_array(table, name)[order], stops[:-1])
        for name in table.column_names
        if name != "series"
    }
    return {
        str(series): {name: parts[index].copy() for name, parts in columns.items()}
        for index, series in enumerate(names)
    }


def _read_columns(path: Path) -> ColumnArrays:
    """Read one series: timestamp and value, and whatever else the file has."""
    table = read_csv(path, ("timestamp", "value"), every_column=True)
    return {name: _array(table, name) for name in table.column_names}


def _read_results_of_nab(files: ScoreFiles) -> dict[str, ColumnArrays]:
    """Read the results of the published detectors; the first one has the times and labels."""
    found: dict[str, ColumnArrays] = {}
    for detector in DETECTORS:
        for name, path in files.get(detector, {}).items():
            columns = _read_columns(path)
            shared = {key: columns[key] for key in _SHARED if key in columns}
            series = found.setdefault(name, shared)
            if len(series["timestamp"]) != len(columns["timestamp"]):
                rule = f"{path} to have the {len(series['timestamp'])} rows of the other detectors"
                raise InputError(rule, f"{len(columns['timestamp'])}")
            series[detector] = columns["anomaly_score"]
    return dict(sorted(found.items()))


def _array(table: Any, name: str) -> NDArray[Any]:
    array: NDArray[Any] = table.column(name).to_numpy()
    return array.astype(_KINDS.get(name, np.float64))


def read_nab(folder: str | PathLike[str], *, missing: Missing = "error") -> Any:
    r"""Read the results of NAB, or in its layout: any series, any detector.

    `load_nab` gives the published corpus with five detectors, and downloads it; this reads what is
    in a folder, with every detector there, your own among them.

    The label is 1 inside an anomaly window, and NAB means both ends of a window to be inside. In a
    clone, windows come from ``labels/combined_windows.json`` and timestamps from ``data/``, as in
    NAB's own scoring; the results have copies of both, and in two of the published files these
    differ. Without a clone the copies are used, and must agree.

    Parameters
    ----------
    folder
        A clone of NAB's repository, or its folder ``results``, with
        ``<detector>/<group>/<detector>_<file>.csv``. Those have columns ``timestamp``,
        ``anomaly_score`` and, unless it is a clone, ``label``; others are ignored.
    missing
        What to do about a series that a detector has no file for; in a clone, every series of
        ``data/`` counts. ``"error"`` raises; ``"nan"`` gives it nan scores, which
        `closecall.evaluate_frame` reports as ``nan_score``; ``"drop"`` leaves out each series that
        some detector lacks.

    Returns
    -------
    pyarrow.Table
        ``series`` (such as ``realKnownCause/nyc_taxi.csv``), ``timestamp`` (in the rows' order; in
        eight published series they repeat or go back), ``label`` (0 or 1, uint8), and a column of
        scores (float64) for each detector, sorted by series.

    Raises
    ------
    InputError
        A file or a column is missing, copies differ, files have different numbers of rows, or a
        window is not two times in order with a sample in between.

    Examples
    --------
    >>> from pathlib import Path
    >>> from closecall.datasets import read_nab
    >>> Path("results/mine/real").mkdir(parents=True)
    >>> _ = Path("results/mine/real/mine_toy.csv").write_text(
    ...     "timestamp,value,anomaly_score,label\n"
    ...     "2020-01-01 00:00:00,7,0.1,0\n2020-01-01 00:05:00,9,0.8,1\n"
    ... )
    >>> read_nab("results").drop(["timestamp"]).to_pydict()
    {'series': ['real/toy.csv', 'real/toy.csv'], 'label': [0, 1], 'mine': [0.1, 0.8]}
    """
    root = existing_folder(folder, "folder", "NAB's results, or is a clone of its repository")
    results = root / "results" if (root / "results").is_dir() else root
    files = _score_files(results)
    labels = root / "labels" / "combined_windows.json"
    windows = read_window_file(labels) if labels.is_file() else None
    data = root / "data" if (root / "data").is_dir() else None
    if data is None:
        known = {name for by_series in files.values() for name in by_series}
    else:
        known = {f"{path.parent.name}/{path.name}" for path in matching("*/*.csv", data)}
    names = series_to_read(known, files, missing)
    series = (
        _one_series(
            name,
            [by_series[name] for by_series in files.values() if name in by_series],
            data,
            windows,
        )
        for name in names
    )
    return join_series(series, files, _read_results)


def _score_files(results: Path) -> ScoreFiles:
    files: ScoreFiles = {}
    for folder in detector_folders(results):
        detector, by_series = folder.name, files.setdefault(folder.name, {})
        for path in matching("*/*.csv", folder):
            if not path.name.startswith(f"{detector}_"):
                rule = f"each file of the detector {detector!r} to be called {detector}_<file>.csv"
                raise InputError(rule, str(path))
            by_series[f"{path.parent.name}/{path.name.removeprefix(f'{detector}_')}"] = path
    if not any(files.values()):
        rule = "files <detector>/<group>/<detector>_<file>.csv"
        hint = "Pass a clone of NAB's repository, or its folder results."
        raise InputError(rule, f"none in {results}", hint=hint)
    return files


def _one_series(
    name: str, results: list[Path], data: Path | None, windows: Windows | None
) -> OneSeries:
    if data is None:
        path, times = results[0], _agreed("timestamp", results)
    else:
        path = data / name
        times = time_column(read_csv(path, ["timestamp"]), "timestamp", path)
    if windows is not None:
        return OneSeries(name, path, labels_of(name, times, path, windows), times)
    if not results:
        rule = f"labels/combined_windows.json, or results with labels, for the series {name!r}"
        raise InputError(rule, "neither")
    return OneSeries(name, path, _agreed("label", results), times)


def _agreed(column: str, results: list[Path]) -> Any:
    """Return a column that each file has a copy of; raise if they differ."""
    read = time_column if column == "timestamp" else label_column
    first, *others = (read(read_csv(path, [column]), column, path) for path in results)
    for path, copy in zip(results[1:], others, strict=True):
        if len(copy) != len(first):
            rule = f"{path} to have {len(first)} rows, as {results[0]} has"
            raise InputError(rule, str(len(copy)))
        differ = np.flatnonzero(np.asarray(copy) != np.asarray(first))
        if differ.size:
            rule = f"the column `{column}` of {path} to be that of {results[0]}"
            got = f"another one in {differ.size} rows, from row {differ[0] + 1} on"
            raise InputError(rule, got, hint=_CLONE)
    return first


def _read_results(path: Path) -> NDArray[np.float64]:
    return score_column(read_csv(path, ["anomaly_score"]), "anomaly_score", path)


def read_window_file(path: Path) -> Windows:
    """Read the windows of each series; raise unless each is two times in order."""
    try:
        series = json.loads(path.read_text(encoding="utf-8")).items()
    except (ValueError, RecursionError, AttributeError) as error:
        rule = f"{path} to have pairs of times for each series, as JSON"
        got = "something else" if isinstance(error, AttributeError) else str(error)
        raise InputError(rule, got) from error
    return {name: _pairs(windows, name, path) for name, windows in series}


def labels_of(name: str, times: Any, path: Path, windows: Windows) -> NDArray[np.uint8]:
    """Return 1 for the samples inside a window of the series; a window has one, or more."""
    if name not in windows:
        rule = f"windows for the series {name!r} in labels/combined_windows.json"
        raise InputError(rule, "none", hint="A series without any has an empty list there.")
    if times.type != arrow().timestamp("ns"):
        rule = f"times without a time zone in {path}, as in labels/combined_windows.json"
        raise InputError(rule, str(times.type), hint=TIMES)
    inside = _inside(times.to_numpy(), windows[name])
    empty = np.flatnonzero(~inside.any(axis=0))
    if empty.size:
        start, stop = windows[name][empty[0]].astype("datetime64[s]")
        rule = f"a sample of {path} in each window of the series {name!r}"
        raise InputError(rule, f"none from {start} to {stop}")
    return np.asarray(inside.any(axis=1), dtype=np.uint8)


def _inside(times: NDArray[np.datetime64], windows: NDArray[np.datetime64]) -> NDArray[np.bool_]:
    """Return for each time (row) and window (column) whether the time is in it, both ends too."""
    inside: NDArray[np.bool_] = (times[:, None] >= windows[:, 0]) & (
        times[:, None] <= windows[:, 1]
    )
    return inside


def _pairs(windows: Any, name: str, path: Path) -> NDArray[np.datetime64]:
    pairs = [_pair(each) for each in windows] if isinstance(windows, list) else [None]
    if None in pairs:
        rule = f"each window of the series {name!r} in {path} to be two times, the earlier first"
        got = shown(windows[pairs.index(None)] if isinstance(windows, list) else windows)
        raise InputError(rule, got, hint=TIMES)
    return np.array(pairs, dtype="datetime64[ns]").reshape(-1, 2)


def _pair(window: Any) -> tuple[np.datetime64, np.datetime64] | None:
    pa = arrow()
    try:
        # Arrow refuses years that nanoseconds cannot hold; numpy turns them into others.
        times = pa.array(window, pa.string()).cast(pa.timestamp("ns"))
        start, stop = times.to_numpy(zero_copy_only=False)
    except (TypeError, ValueError):
        return None
    return (start, stop) if start <= stop else None
