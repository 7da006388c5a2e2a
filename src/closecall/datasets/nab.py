"""The Numenta Anomaly Benchmark: 58 series, their windows, and the scores of five detectors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.download import download
from closecall.datasets.nab_files import read_csv, read_parquet, read_results
from closecall.datasets.place import first_with, local_folder
from closecall.datasets.sources import NAB
from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray


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
        """Give a series by its name, with or without ``.csv``."""
        found = self.series.get(name) or self.series.get(f"{name}.csv")
        if found is None:
            hint = f"There are {len(self.series)}, such as {next(iter(self.series))!r}."
            raise InputError(expected("the name of a series", repr(name), hint))
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
    windows = _windows(place)
    final, thresholds = _published(place)
    series = {
        name: _series(name, columns, windows) for name, columns in _columns(place, windows).items()
    }
    return Nab(series, final, thresholds)


def _nab_folder(folder: Path) -> Path:
    places = [folder / "nab", folder]
    for pattern in ("scores.parquet", "results/*/*/*.csv", "*.csv"):
        found = first_with(pattern, places)
        if found is not None:
            return found
    rule = "a folder with scores.parquet, with NAB's CSV files or with a clone of its repository"
    raise InputError(
        expected(
            rule,
            str(folder),
            "Its subfolder `nab` may be that; without a folder, NAB is downloaded.",
        )
    )


def _columns(folder: Path, windows: dict[str, Any]) -> dict[str, dict[str, NDArray[Any]]]:
    if (folder / "scores.parquet").is_file():
        return read_parquet(folder / "scores.parquet")
    if (folder / "results").is_dir():
        return read_results(folder / "results")
    names = {name.rpartition("/")[2]: name for name in windows}
    return {
        names.get(path.name, path.name): read_csv(path) for path in sorted(folder.glob("*.csv"))
    }


def _series(
    name: str, columns: dict[str, NDArray[Any]], windows: dict[str, NDArray[np.datetime64]]
) -> NabSeries:
    times, values = columns.pop("timestamp"), columns.pop("value")
    truth = columns.pop("label", None)
    own = windows.get(name)
    if truth is None and own is not None:
        inside = (times[:, None] >= own[:, 0]) & (times[:, None] <= own[:, 1])
        truth = np.asarray(inside.any(axis=1))
    truth = None if truth is None else truth.astype(np.uint8)
    for array in (times, values, truth, own, *columns.values()):
        if array is not None:
            array.setflags(write=False)
    return NabSeries(name, times, values, truth, own, columns)


def _windows(folder: Path) -> dict[str, NDArray[np.datetime64]]:
    raw = _json(folder, "combined_windows.json", "labels/combined_windows.json") or {}
    return {
        name: np.array(pairs, dtype="datetime64[us]").reshape(-1, 2) for name, pairs in raw.items()
    }


def _published(folder: Path) -> tuple[Any, Any]:
    both = _json(folder, "reference_results.json")
    if both is not None:
        return both["final"], both["thresholds"]
    return _json(folder, "results/final_results.json"), _json(folder, "config/thresholds.json")


def _json(folder: Path, *places: str) -> Any:
    for path in (folder / place for place in places):
        if path.is_file():
            try:
                return json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise InputError(expected(f"{path} to be JSON", str(error))) from error
    return None
