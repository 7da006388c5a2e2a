"""The anomaly windows of NAB: two times each, both of them inside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.layouts.csv_files import TIMES, arrow
from closecall.errors import InputError, expected
from closecall.parameters import shown

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Windows = dict[str, NDArray[np.datetime64]]  # a row for each window


def read_windows(path: Path) -> Windows:
    """Read the windows of each series; one that is not two times in order is an `InputError`."""
    try:
        series = json.loads(path.read_text(encoding="utf-8")).items()
    except (ValueError, AttributeError) as error:
        rule = f"{path} to have pairs of times for each series, as JSON"
        got = str(error) if isinstance(error, ValueError) else "something else"
        raise InputError(expected(rule, got)) from error
    return {name: _pairs(windows, name, path) for name, windows in series}


def labels_of(name: str, times: Any, path: Path, windows: Windows) -> NDArray[np.uint8]:
    """Give 1 for the samples inside a window of the series; a window has one, or more."""
    if name not in windows:
        rule = f"windows for the series {name!r} in labels/combined_windows.json"
        raise InputError(expected(rule, "none", "A series without any has an empty list there."))
    if times.type != arrow().timestamp("ns"):
        rule = f"times without a time zone in {path}, as in labels/combined_windows.json"
        raise InputError(expected(rule, str(times.type), TIMES))
    stamps, own = times.to_numpy()[:, None], windows[name]
    inside = (stamps >= own[:, 0]) & (stamps <= own[:, 1])
    empty = np.flatnonzero(~inside.any(axis=0))
    if empty.size:
        start, stop = own[empty[0]].astype("datetime64[s]")
        rule = f"a sample of {path} in each window of the series {name!r}"
        raise InputError(expected(rule, f"none from {start} to {stop}"))
    labels: NDArray[np.uint8] = inside.any(axis=1).astype(np.uint8)
    return labels


def _pairs(windows: Any, name: str, path: Path) -> NDArray[np.datetime64]:
    pairs = [_pair(each) for each in windows] if isinstance(windows, list) else [None]
    if None in pairs:
        rule = f"each window of the series {name!r} in {path} to be two times, the earlier first"
        got = shown(windows[pairs.index(None)] if isinstance(windows, list) else windows)
        raise InputError(expected(rule, got, TIMES))
    return np.array(pairs, dtype="datetime64[ns]").reshape(-1, 2)


def _pair(window: Any) -> tuple[np.datetime64, np.datetime64] | None:
    pa = arrow()
    try:
        # Arrow refuses years that nanoseconds cannot hold; numpy turns them into others.
        times = pa.array(window, pa.string()).cast(pa.timestamp("ns"))
        start, stop = times.to_numpy(zero_copy_only=False)
    except (TypeError, ValueError):
        return None
    return (start, stop) if start <= stop else None
