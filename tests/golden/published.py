"""Reading the label vectors of the paper's experiments."""

import gzip
from functools import cache
from pathlib import Path

import numpy as np


@cache
def labels(data_folder: Path, dataset: str, algorithm: str):
    lines = gzip.decompress((data_folder / "kdd2022" / f"{dataset}_{algorithm}.gz").read_bytes())
    return np.array(lines.split(), dtype=np.float64).astype(np.uint8)


def cell(precision: float, recall: float, f1: float) -> str:
    """Print three scores as the paper's tables do."""
    return "/".join(
        "NaN" if np.isnan(score) else f"{score:.2f}" for score in (precision, recall, f1)
    )


NAB = ("trivial", "adversary", "greenhouse", "lstmad", "luminol")
SWAT = ("trivial", "adversary", "iforest", "ocsvm", "seq2seq")


def cells(printed: str) -> dict[tuple[str, str], str]:
    """Read a line of a table for each dataset: its name, and a cell for each algorithm."""
    lines = [line.split() for line in printed.strip().splitlines()]
    return {
        (dataset, algorithm): own
        for dataset, *row in lines
        for algorithm, own in zip(SWAT if dataset == "swat" else NAB, row, strict=True)
    }
