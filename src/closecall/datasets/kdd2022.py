"""The labels of the paper's experiments: four datasets, what is true, and what was predicted."""

from __future__ import annotations

import csv
import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closecall.datasets.download import KDD2022, NAB, download, first_with, local_folder
from closecall.errors import InputError

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

_NAB_DETECTORS = ("trivial", "adversary", "greenhouse", "lstmad", "luminol")
_ALGORITHMS = {
    "machinetemp": _NAB_DETECTORS,
    "nyctaxi": _NAB_DETECTORS,
    "twitteraapl": _NAB_DETECTORS,
    "swat": ("trivial", "adversary", "iforest", "ocsvm", "seq2seq"),
}
MEASURED = {
    "machinetemp": "data/realKnownCause/machine_temperature_system_failure.csv",
    "nyctaxi": "data/realKnownCause/nyc_taxi.csv",
    "twitteraapl": "data/realTweets/Twitter_volume_AAPL.csv",
}
_LABELS = (b"0", b"1")


@dataclass(frozen=True, eq=False)
class LabelledSeries:
    """One dataset of the paper; arrays have one entry per sample and are read-only.

    Attributes
    ----------
    name
        ``"machinetemp"``, ``"nyctaxi"``, ``"twitteraapl"`` or ``"swat"``.
    truth
        1 where the sample is anomalous, else 0.
    predicted
        Per algorithm, 1 where it says so.
    times, values
        When each sample was taken (``datetime64[s]``) and what was measured, where that is at
        hand: never for ``"swat"``, whose measurements are not public.
    """

    name: str
    truth: NDArray[np.uint8]
    predicted: dict[str, NDArray[np.uint8]]
    times: NDArray[np.datetime64] | None = None
    values: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        algorithms = ", ".join(self.predicted)
        return f"LabelledSeries({self.name}, {len(self.truth)} samples, algorithms: {algorithms})"


def load_kdd2022(folder: str | PathLike[str] | None = None) -> dict[str, LabelledSeries]:
    """Load the labels on which the paper compares metrics, by the name of the dataset.

    They come from ``folder``, else from the folder that the environment variable
    ``CLOSECALL_DATA`` names, else from the authors' repository and NAB's: 1.4 MB, downloaded once,
    with checked hashes (this needs the extra ``data``).

    Parameters
    ----------
    folder
        A folder with files like ``swat_groundtruth.gz``, in it or in its subfolder ``kdd2022``
        or ``data``; a clone of the authors' repository is one. Times and values are read from
        NAB's files in the subfolder ``nab``, where it has them.

    Returns
    -------
    dict
        ``machinetemp``, ``nyctaxi``, ``twitteraapl`` and ``swat``.

    Raises
    ------
    InputError
        If the folder lacks a file, or a file is damaged or too short.
    DownloadError
        If a file cannot be fetched, or is not what it should be.

    Examples
    --------
    >>> swat = load_kdd2022()["swat"]  # doctest: +SKIP
    >>> swat.truth.sum(), swat.predicted["seq2seq"].sum()  # doctest: +SKIP
    (54621, 22576)
    """
    local = local_folder(folder)
    if local is None:
        labels = download(KDD2022, KDD2022.hashes()) / "data"
        measured = download(NAB, MEASURED.values())
    else:
        labels, measured = _labels_folder(local), local / "nab"
    return {name: _series(name, labels, measured) for name in _ALGORITHMS}


def _labels_folder(folder: Path) -> Path:
    places = [folder / "kdd2022", folder / "kdd2022" / "data", folder, folder / "data"]
    found = first_with("*_groundtruth.gz", places)
    if found is None:
        rule = "a folder with files like swat_groundtruth.gz, in it or in its subfolder kdd2022"
        hint = "Without a folder, the data is downloaded."
        raise InputError(rule, str(folder), hint=hint)
    return found


def _series(name: str, labels: Path, measured: Path) -> LabelledSeries:
    truth = _read_label_file(labels / f"{name}_groundtruth.gz")
    predicted = {}
    for algorithm in _ALGORITHMS[name]:
        path = labels / f"{name}_{algorithm}.gz"
        predicted[algorithm] = _read_label_file(path)
        if len(predicted[algorithm]) != len(truth):
            rule = f"{path} to have the {len(truth)} lines of {name}_groundtruth.gz"
            raise InputError(rule, f"{len(predicted[algorithm])}")
    times, values = _measurements(name, measured, len(truth))
    return LabelledSeries(name, truth, predicted, times, values)


def _measurements(
    name: str, folder: Path, samples: int
) -> tuple[NDArray[np.datetime64], NDArray[np.float64]] | tuple[None, None]:
    """Read the last rows of NAB's series, which are those that were labelled."""
    if name not in MEASURED:
        return None, None
    whole = Path(MEASURED[name])
    path = next((p for p in (folder / whole, folder / whole.name) if p.is_file()), None)
    if path is None:
        return None, None
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:][-samples:]
    if len(rows) < samples:
        raise InputError(f"{path} to have at least {samples} rows", f"{len(rows)}")
    times = np.array([row[0] for row in rows], dtype="datetime64[s]")
    values = np.array([row[1] for row in rows], dtype=np.float64)
    times.setflags(write=False)
    values.setflags(write=False)
    return times, values


def _read_label_file(path: Path) -> NDArray[np.uint8]:
    """Read a gzipped file of labels; raise if there is anything but one 0 or 1 per line."""
    try:
        lines = gzip.decompress(path.read_bytes()).split()
    except FileNotFoundError as error:
        hint = "Without a folder, the data is downloaded."
        raise InputError(f"a file {path.name}", f"none in {path.parent}", hint=hint) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        rule = f"{path} to be a gzip file"
        raise InputError(rule, f"other content ({error})", hint="Fetch it again.") from error
    if not set(lines) <= set(_LABELS):
        index, line = next((i, line) for i, line in enumerate(lines) if line not in _LABELS)
        got = f"{line.decode(errors='replace')!r} in line {index + 1} of {path}"
        raise InputError("one 0 or 1 per line", got)
    labels = np.frombuffer(b"".join(lines), dtype=np.uint8) - ord("0")
    labels.setflags(write=False)
    return labels
