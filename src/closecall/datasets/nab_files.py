"""The rows of NAB's series, from the layouts that they come in; each as columns by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, MissingExtraError, expected

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Columns = dict[str, NDArray[Any]]

DETECTORS = ("numenta", "windowedGaussian", "random", "relativeEntropy", "skyline")
_SHARED: tuple[str, ...] = ("timestamp", "value", "label")
_KINDS = {"timestamp": "datetime64[us]", "label": "uint8"}


def read_parquet(path: Path) -> dict[str, Columns]:
    """Read the one table of all series, and part it by series."""
    parquet = _pyarrow("parquet")
    table = _table(parquet.read_table, path, ("series", "timestamp", "value", "label"))
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


def read_csv(path: Path) -> Columns:
    """Read one series: timestamp and value, and whatever else the file has."""
    table = _table(_pyarrow("csv").read_csv, path, ("timestamp", "value"))
    return {name: _array(table, name) for name in table.column_names}


def read_results(folder: Path) -> dict[str, Columns]:
    """Read NAB's folder of results: one folder per detector, and in it one file per series."""
    series: dict[str, Columns] = {}
    for detector in DETECTORS:
        for path in sorted((folder / detector).glob("*/*.csv")):
            name = f"{path.parent.name}/{path.name.removeprefix(f'{detector}_')}"
            columns = read_csv(path)
            own = series.setdefault(name, {key: columns[key] for key in _SHARED if key in columns})
            if len(own["timestamp"]) != len(columns["timestamp"]):
                rule = f"{path} to have the {len(own['timestamp'])} rows of the other detectors"
                raise InputError(expected(rule, f"{len(columns['timestamp'])}"))
            own[detector] = columns["anomaly_score"]
    return dict(sorted(series.items()))


def _pyarrow(module: str) -> Any:
    try:
        from pyarrow import csv, parquet
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "data") from error
    return {"csv": csv, "parquet": parquet}[module]


def _table(read: Any, path: Path, needed: tuple[str, ...]) -> Any:
    import pyarrow as pa

    try:
        table = read(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            expected(f"{path} to be readable", str(error), "Fetch it again.")
        ) from error
    missing = [name for name in needed if name not in table.column_names]
    if missing:
        rule = f"{path} to have a column `{missing[0]}`"
        raise InputError(expected(rule, ", ".join(table.column_names)))
    return table


def _array(table: Any, name: str) -> NDArray[Any]:
    array: NDArray[Any] = table.column(name).to_numpy()
    return array.astype(_KINDS.get(name, np.float64))
