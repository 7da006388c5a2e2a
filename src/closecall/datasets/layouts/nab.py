"""The files of NAB's repository: results of every detector, windows, and data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.layouts.csv_files import (
    existing_folder,
    read_csv,
    read_scores,
    read_times,
    read_truth,
)
from closecall.datasets.layouts.joined import OneSeries, joined
from closecall.datasets.layouts.missing import (
    Missing,
    ScoreFiles,
    detector_folders,
    series_to_read,
)
from closecall.datasets.layouts.nab_windows import labels_of, read_windows
from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from closecall.datasets.layouts.nab_windows import Windows

_CLONE = "A clone of NAB's repository has data/ and labels/, which then decide."


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
    windows = read_windows(labels) if labels.is_file() else None
    data = root / "data" if (root / "data").is_dir() else None
    names = series_to_read(_series(files, data), files, missing)
    series = (
        _one_series(name, [own[name] for own in files.values() if name in own], data, windows)
        for name in names
    )
    return joined(series, files, _read_results)


def _score_files(results: Path) -> ScoreFiles:
    files: ScoreFiles = {}
    for folder in detector_folders(results):
        detector, own = folder.name, files.setdefault(folder.name, {})
        for path in sorted(folder.glob("*/*.csv")):
            if not path.name.startswith(f"{detector}_"):
                rule = f"each file of the detector {detector!r} to be called {detector}_<file>.csv"
                raise InputError(expected(rule, str(path)))
            own[f"{path.parent.name}/{path.name.removeprefix(f'{detector}_')}"] = path
    if not any(files.values()):
        rule = "files <detector>/<group>/<detector>_<file>.csv"
        hint = "Pass a clone of NAB's repository, or its folder results."
        raise InputError(expected(rule, f"none in {results}", hint))
    return files


def _series(files: ScoreFiles, data: Path | None) -> set[str]:
    if data is None:
        return {name for own in files.values() for name in own}
    return {f"{path.parent.name}/{path.name}" for path in data.glob("*/*.csv")}


def _one_series(
    name: str, results: list[Path], data: Path | None, windows: Windows | None
) -> OneSeries:
    if data is None:
        path, times = results[0], _agreed("timestamp", results)
    else:
        path = data / name
        times = read_times(read_csv(path, ["timestamp"]), "timestamp", path)
    if windows is not None:
        return OneSeries(name, path, labels_of(name, times, path, windows), times)
    if not results:
        rule = f"labels/combined_windows.json, or results with labels, for the series {name!r}"
        raise InputError(expected(rule, "neither"))
    return OneSeries(name, path, _agreed("label", results), times)


def _agreed(column: str, results: list[Path]) -> Any:
    """Give a column that each file has a copy of; files that differ are an `InputError`."""
    read = read_times if column == "timestamp" else read_truth
    first, *others = (read(read_csv(path, [column]), column, path) for path in results)
    for path, copy in zip(results[1:], others, strict=True):
        if len(copy) != len(first):
            rule = f"{path} to have {len(first)} rows, as {results[0]} has"
            raise InputError(expected(rule, str(len(copy))))
        differ = np.flatnonzero(np.asarray(copy) != np.asarray(first))
        if differ.size:
            rule = f"the column `{column}` of {path} to be that of {results[0]}"
            got = f"another one in {differ.size} rows, from row {differ[0] + 1} on"
            raise InputError(expected(rule, got, _CLONE))
    return first


def _read_results(path: Path) -> NDArray[np.float64]:
    return read_scores(read_csv(path, ["anomaly_score"]), "anomaly_score", path)
