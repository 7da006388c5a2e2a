"""The files of TimeEval: an index of datasets, and a folder for each experiment of a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.layouts import (
    Missing,
    OneSeries,
    ScoreFiles,
    detector_folders,
    existing_folder,
    join_series,
    label_column,
    read_csv,
    read_header,
    series_to_read,
    time_column,
)
from closecall.errors import InputError
from closecall.files import matching

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    Run = tuple[str, str, str]

_INDEX = ("collection_name", "dataset_name", "test_path")
_SCORES = "anomaly_scores.ts"
_CHANNELS = (
    "ESA-ADB labels and scores each channel on its own. `closecall.datasets.read_esa_adb` reads "
    "its labels; of its scores, take the column of a channel, or one made of all."
)


def read_timeeval(
    data: str | PathLike[str],
    results: str | PathLike[str] | None = None,
    *,
    missing: Missing = "error",
    timestamps: bool = True,
    outside: bool = False,
) -> Any:
    r"""Read the test series of TimeEval's datasets, and the scores of one of its runs.

    The label 1 means that the sample is anomalous, so an event lasts from its first sample to the
    one after its last. Scores are those of ``anomaly_scores.ts``, which TimeEval has scaled to
    [0, 1] for each series.

    Parameters
    ----------
    data
        The folder with ``datasets.csv`` (columns ``collection_name``, ``dataset_name`` and
        ``test_path``, relative to the folder) and the datasets (``timestamp`` and ``is_anomaly``).
    results
        The folder of one run, with
        ``<algorithm>/<hyper_params_id>/<collection>/<dataset>/<repetition>/anomaly_scores.ts``.
        Detectors go by the algorithm's name; where it ran with several hyperparameters or
        repetitions, ``/<hyper_params_id>`` and ``/<repetition>`` are added to it. Without
        `results`, the table has labels only.
    missing
        What to do about a dataset that a detector has no file for, as after a failed experiment:
        ``"error"``, ``"nan"`` or ``"drop"`` (before it is read), as in `read_nab`.
    timestamps
        Whether the table has the times. They must be of one kind in all datasets. On the command
        line they are read with ``--time timestamp`` only.
    outside
        Whether the index may name files outside of the folder `data`, also through links. By
        default it may not: an index that somebody else wrote names what it likes.

    Returns
    -------
    pyarrow.Table
        ``series`` (``<collection>/<dataset>``), ``timestamp`` (numbers or nanoseconds), ``label``
        (0 or 1, uint8), and a column of scores (float64) for each detector, sorted by series.

    Raises
    ------
    InputError
        A file or a column is missing, a label is not 0 or 1, scores are of another length, or a
        file lies outside.

    Examples
    --------
    >>> from pathlib import Path
    >>> from closecall.datasets import read_timeeval
    >>> for folder in ("datasets", "run/KNN/3b0e/toys/one/1"):
    ...     Path(folder).mkdir(parents=True)
    >>> _ = Path("datasets/datasets.csv").write_text(
    ...     "collection_name,dataset_name,train_path,test_path\ntoys,one,,one.test.csv\n"
    ... )
    >>> _ = Path("datasets/one.test.csv").write_text(
    ...     "timestamp,value,is_anomaly\n0,1.5,0\n1,8.1,1\n"
    ... )
    >>> _ = Path("run/KNN/3b0e/toys/one/1/anomaly_scores.ts").write_text("0.0\n1.0")
    >>> table = read_timeeval("datasets", "run")
    >>> table.drop(["series"]).to_pydict()
    {'timestamp': [0, 1], 'label': [0, 1], 'KNN': [0.0, 1.0]}
    """
    folder = existing_folder(data, "data", "TimeEval's index, datasets.csv")
    series = _test_files(folder, outside=outside)
    files = {} if results is None else _score_files(results)
    names = series_to_read(series, files, missing)
    read = (_one_series(name, series[name], timestamps=timestamps) for name in names)
    return join_series(read, files, _read_ts)


def _test_files(folder: Path, *, outside: bool) -> dict[str, Path]:
    index = folder / "datasets.csv"
    series: dict[str, Path] = {}
    for row, one in enumerate(read_csv(index, _INDEX, as_text=True).to_pylist(), start=1):
        collection, dataset, test_path = (one[column] for column in _INDEX)
        name = f"{collection}/{dataset}"
        if not test_path:
            rule = f"a `test_path` in each row of {index}"
            raise InputError(rule, f"none in row {row}, for {name!r}")
        if name in series:
            rule = f"each dataset to have one row in {index}"
            raise InputError(rule, f"{name!r} again in row {row}")
        series[name] = folder / test_path
        real = Path(os.path.realpath(series[name]))  # wherever links lead
        if not (outside or real.is_relative_to(os.path.realpath(folder))):
            rule = f"each `test_path` of {index} to lie in its folder"
            hint = "If you trust the index, allow it: `outside=True`."
            raise InputError(rule, f"{test_path!r} in row {row}, for {name!r}", hint=hint)
    return series


def _score_files(results: str | PathLike[str]) -> ScoreFiles:
    folder = existing_folder(results, "results", "a folder for each algorithm")
    runs: dict[Run, dict[str, Path]] = {}
    for algorithm in detector_folders(folder):
        experiments = [path for path in matching("*/*/*/*", algorithm) if path.is_dir()]
        if not experiments:
            runs[algorithm.name, "", ""] = {}
        for path in experiments:
            parameters, collection, dataset, repetition = path.parts[-4:]
            by_series = runs.setdefault((algorithm.name, parameters, repetition), {})
            if (path / _SCORES).is_file():
                by_series[f"{collection}/{dataset}"] = path / _SCORES
    if not any(runs.values()):
        rule = (
            "files <algorithm>/<hyper_params_id>/<collection>/<dataset>/<repetition>/"
            f"{_SCORES} in the folder `results`"
        )
        hint = "Pass the folder of one run, which TimeEval names after its time: results/<time>."
        raise InputError(rule, f"none in {folder}", hint=hint)
    order = sorted(runs, key=lambda run: (*run[:2], len(run[2]), run[2]))
    return {_detector(run, order): runs[run] for run in order}


def _detector(run: Run, runs: list[Run]) -> str:
    """Return the algorithm's name, and what else it takes to tell its runs apart.

    >>> runs = [("KNN", "a1", "1"), ("KNN", "b2", "1"), ("LOF", "c3", "1"), ("LOF", "c3", "2")]
    >>> [_detector(run, runs) for run in runs]
    ['KNN/a1', 'KNN/b2', 'LOF/1', 'LOF/2']
    """
    siblings = [other for other in runs if other[0] == run[0]]
    telling = [part for part in (1, 2) if len({other[part] for other in siblings}) > 1]
    return "/".join((run[0], *(run[part] for part in telling)))


def _one_series(name: str, path: Path, *, timestamps: bool) -> OneSeries:
    header = read_header(path)
    channels = [column for column in header if column.startswith("is_anomaly_")]
    if channels and "is_anomaly" not in header:
        rule = f"{path} to have a column `is_anomaly`"
        raise InputError(rule, f"{len(channels)} like `{channels[0]}`", hint=_CHANNELS)
    table = read_csv(path, ["timestamp", "is_anomaly"] if timestamps else ["is_anomaly"])
    times = time_column(table, "timestamp", path) if timestamps else None
    return OneSeries(name, path, label_column(table, "is_anomaly", path), times)


def _read_ts(path: Path) -> NDArray[np.float64]:
    """Read one number per line; there is no header."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return np.array(text.split(), dtype=np.float64)
    except ValueError as error:
        hint = _CHANNELS if "," in text else ""
        rule = f"{path} to have one number per line"
        raise InputError(rule, str(error), hint=hint) from error
