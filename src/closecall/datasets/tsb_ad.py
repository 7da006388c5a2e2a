"""TSB-AD and the UCR anomaly archive: a file per series, and per detector a folder of arrays."""

from __future__ import annotations

from tokenize import TokenError
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
    series_to_read,
)
from closecall.errors import InputError, first_line
from closecall.files import matching, ucr_anomaly
from closecall.parameters import read_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray


def read_tsb_ad(
    data: str | PathLike[str],
    scores: str | PathLike[str] | None = None,
    *,
    missing: Missing = "error",
) -> Any:
    r"""Read series of TSB-AD, univariate or multivariate, and the scores saved for them.

    Rows with an empty field are left out, as TSB-AD does before it runs a detector, so scores are
    as long as what remains. The series have no timestamps: samples are counted. The label 1 means
    that the sample is anomalous, so an event lasts from its first sample to the one after its last.

    Parameters
    ----------
    data
        A folder of CSV files, such as ``Datasets/TSB-AD-U`` or ``TSB-AD-M``, or one of its files.
        The columns are values, except ``Label``.
    scores
        A folder with a folder for each detector, and in it ``<series>.npy``: what TSB-AD's
        ``Run_Detector_U.py`` and ``Run_Detector_M.py`` write to their ``--score_dir``. Other files
        are ignored. Without it, the table has labels only.
    missing
        What to do about a series that a detector has no file for: ``"error"``, ``"nan"`` or
        ``"drop"``, as in `read_nab`.

    Returns
    -------
    pyarrow.Table
        ``series`` (the file's name without ``.csv``), ``label`` (0 or 1, uint8), and a column of
        scores (float64) for each detector, sorted by series.

    Raises
    ------
    InputError
        A file or a column is missing, a label is not 0 or 1, or scores are of another length.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from closecall.datasets import read_tsb_ad
    >>> for folder in ("TSB-AD-U", "score/IForest"):
    ...     Path(folder).mkdir(parents=True)
    >>> _ = Path("TSB-AD-U/001_Toy.csv").write_text("Data,Label\n0.1,0\n9.5,1\n0.2,0\n")
    >>> np.save("score/IForest/001_Toy.npy", [0.2, 0.9, 0.4])
    >>> read_tsb_ad("TSB-AD-U", "score").to_pydict()
    {'series': ['001_Toy', '001_Toy', '001_Toy'], 'label': [0, 1, 0], 'IForest': [0.2, 0.9, 0.4]}
    """
    series = _series_files(read_path(data, "data"))
    return _join_arrays(series, scores, missing, _tsb_ad_series)


def _series_files(data: Path) -> dict[str, Path]:
    if data.is_file():
        return {_name(data): data}
    folder = existing_folder(data, "data", "a CSV file for each series")
    series = {_name(path): path for path in matching("*.csv", folder)}
    if not series:
        rule = "CSV files in the folder `data`"
        hint = "Its subfolders are not searched: pass TSB-AD-U or TSB-AD-M itself."
        raise InputError(rule, f"none in {folder}", hint=hint)
    return series


def _name(path: Path) -> str:
    """Return what is before the first dot, from which TSB-AD makes the name of the score file."""
    return path.name.partition(".")[0]


def _tsb_ad_series(name: str, path: Path) -> OneSeries:
    table = read_csv(path, ["Label"], every_column=True).drop_null()
    return OneSeries(name, path, label_column(table, "Label", path))


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
    return _join_arrays(series, scores, missing, _ucr_series)


def _ucr_series(name: str, path: Path) -> OneSeries:
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


def _join_arrays(
    series: dict[str, Path],
    scores: str | PathLike[str] | None,
    missing: Missing,
    read: Callable[[str, Path], OneSeries],
) -> Any:
    """Read series by their names, and join the arrays of scores in a folder, if there is one."""
    files = {} if scores is None else _score_arrays(scores)
    names = series_to_read(series, files, missing)
    return join_series((read(name, series[name]) for name in names), files, _read_npy)


def _score_arrays(scores: str | PathLike[str]) -> ScoreFiles:
    """Return the files `<detector>/<series>.npy` of a folder."""
    folder = existing_folder(scores, "scores", "a folder for each detector")
    files: ScoreFiles = {
        detector.name: {path.stem: path for path in matching("*.npy", detector)}
        for detector in detector_folders(folder)
    }
    if not any(files.values()):
        rule = "files <detector>/<series>.npy in the folder `scores`"
        hint = "Pass the folder that has a folder for each detector."
        raise InputError(rule, f"none in {folder}", hint=hint)
    return files


def _read_npy(path: Path) -> NDArray[np.float64]:
    """Return one array of scores."""
    try:
        with path.open("rb") as file:
            scores: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, TypeError, OSError, SyntaxError, TokenError, MemoryError) as error:
        what = first_line(error)  # a damaged header may also ask for any length
        raise InputError(f"{path} to be a NumPy array", f"`{what}`") from error
    if scores.dtype.kind not in "biuf" or scores.size != max(scores.shape, default=0):
        rule = f"{path} to have one number for each sample"
        raise InputError(rule, f"an array of {scores.dtype} and shape {scores.shape}")
    return scores.ravel().astype(np.float64)
