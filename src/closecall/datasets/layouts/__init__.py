"""Readers for the files of other benchmarks, as those lay them out."""

from __future__ import annotations

from closecall.datasets.layouts.esa_adb import EsaLabels, read_esa_adb
from closecall.datasets.layouts.missing import Missing
from closecall.datasets.layouts.nab import read_nab
from closecall.datasets.layouts.timeeval import read_timeeval
from closecall.datasets.layouts.tsb_ad import read_tsb_ad

__all__ = ["EsaLabels", "Missing", "read_esa_adb", "read_nab", "read_timeeval", "read_tsb_ad"]
