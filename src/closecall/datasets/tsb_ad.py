"""The files of TSB-AD: a CSV file per series, and per detector a folder of score arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.datasets.layouts import (
    Missing,
    OneSeries,
    existing_folder,
    join_arrays,
    label_column,
    read_csv,
)
from closecall.errors import InputError
from closecall.files import matching
from closecall.parameters import read_path

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path


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
    return join_arrays(series, scores, missing, _one_series)


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


def _one_series(name: str, path: Path) -> OneSeries:
    table = read_csv(path, ["Label"], every_column=True).drop_null()
    return OneSeries(name, path, label_column(table, "Label", path))
