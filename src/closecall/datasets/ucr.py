"""The files of the UCR anomaly archive: numbers, and the anomaly in the name of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.layouts import (
    Missing,
    OneSeries,
    existing_folder,
    join_arrays,
)
from closecall.errors import InputError, first_line
from closecall.files import matching, ucr_anomaly

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path


def read_ucr(
    data: str | PathLike[str],
    scores: str | PathLike[str] | None = None,
    *,
    missing: Missing = "error",
) -> Any:
    r"""Read series of the UCR anomaly archive, and the scores saved for them.

    Parameters
    ----------
    data
        A folder of files such as ``001_UCR_Anomaly_DISTORTED1sddb40_35000_52000_52620.txt``: the
        last three numbers are the length of the part to train on, and the first and the last sample
        of the one anomaly, counted from 0, both inside it. A file has a number for each sample, in
        lines or not.
    scores
        A folder with a folder for each detector, and in it ``<series>.npy``, as in `read_tsb_ad`:
        a score for each sample, also of the part to train on. Without it, the table has labels
        only.
    missing
        What to do about a series that a detector has no file for: ``"error"``, ``"nan"`` or
        ``"drop"``, as in `read_nab`.

    Returns
    -------
    pyarrow.Table
        ``series`` (the file's name without ``.txt``), ``label`` (0 or 1, uint8), and a column of
        scores (float64) for each detector, sorted by series.

    Raises
    ------
    InputError
        A file is missing or holds anything but numbers, its name says nothing of an anomaly or of
        one behind its end, or scores are of another length.

    Examples
    --------
    >>> from pathlib import Path
    >>> from closecall.datasets import read_ucr
    >>> Path("archive").mkdir()
    >>> _ = Path("archive/001_UCR_Anomaly_toy_2_3_4.txt").write_text("0 1 0 9 9 0")
    >>> read_ucr("archive")["label"].to_pylist()
    [0, 0, 0, 1, 1, 0]
    """
    folder = existing_folder(data, "data", "a file for each series")
    series = {path.stem: path for path in matching("*.txt", folder)}
    if not series:
        rule = "files <number>_UCR_Anomaly_<name>_<train>_<first>_<last>.txt in the folder `data`"
        raise InputError(rule, f"none in {folder}", hint="Its subfolders are not searched.")
    return join_arrays(series, scores, missing, _one_series)


def _one_series(name: str, path: Path) -> OneSeries:
    anomaly = ucr_anomaly(path.name)
    if anomaly is None:
        rule = "files called <number>_UCR_Anomaly_<name>_<train>_<first>_<last>.txt"
        raise InputError(rule, str(path))
    try:
        size = np.array(path.read_text(encoding="utf-8").split(), dtype=np.float64).size
    except (ValueError, OSError) as error:
        raise InputError(f"numbers in {path}", f"`{first_line(error)}`") from error
    first, after = anomaly
    if not first < after <= size:
        rule = f"the anomaly that {path} is named after to lie in its {size} samples"
        raise InputError(rule, f"{first} to {after - 1}")
    truth = np.zeros(size, dtype=np.uint8)
    truth[first:after] = 1
    return OneSeries(name, path, truth)
