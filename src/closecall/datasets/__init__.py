"""Data to try things on, and the data that published figures are computed from."""

from __future__ import annotations

from closecall.datasets.demo import Demo, demo
from closecall.datasets.download import DownloadError
from closecall.datasets.esa_adb import EsaLabels, read_esa_adb
from closecall.datasets.kdd2022 import LabelledSeries, load_kdd2022
from closecall.datasets.nab import Nab, NabSeries, load_nab, read_nab
from closecall.datasets.timeeval import read_timeeval
from closecall.datasets.tsb_ad import read_tsb_ad, read_ucr

__all__ = [
    "Demo",
    "DownloadError",
    "EsaLabels",
    "LabelledSeries",
    "Nab",
    "NabSeries",
    "demo",
    "load_kdd2022",
    "load_nab",
    "read_esa_adb",
    "read_nab",
    "read_timeeval",
    "read_tsb_ad",
    "read_ucr",
]
