"""Data to try things on, and the data that published figures are computed from."""

from __future__ import annotations

from closecall.datasets.demo import Demo, demo
from closecall.datasets.download import DownloadError
from closecall.datasets.kdd2022 import LabelledSeries, load_kdd2022
from closecall.datasets.nab import Nab, NabSeries, load_nab

__all__ = [
    "Demo",
    "DownloadError",
    "LabelledSeries",
    "Nab",
    "NabSeries",
    "demo",
    "load_kdd2022",
    "load_nab",
]
