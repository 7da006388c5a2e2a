"""Join series and the scores of their detectors into one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.layouts.csv_files import arrow
from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from closecall.datasets.layouts.missing import ScoreFiles


@dataclass(frozen=True, eq=False, slots=True)
class OneSeries:
    """A series before its scores are joined."""

    name: str
    path: Path
    """The file that it was read from."""
    truth: NDArray[np.uint8]
    times: Any = None
    """An Arrow array, or None where the layout has no times."""


def joined(
    series: Iterable[OneSeries],
    files: ScoreFiles,
    read: Callable[[Path], NDArray[np.float64]],
) -> Any:
    """Give the table: series, timestamp (where there is one), label, one column per detector."""
    pa = arrow()
    names: list[Any] = []
    times: list[Any] = []
    truth: list[Any] = []
    scores: dict[str, list[Any]] = {detector: [] for detector in files}
    first: OneSeries | None = None
    for one in series:
        first = first or one
        if not one.truth.size:
            raise InputError(expected(f"a row without empty fields in {one.path}", "none"))
        _check_times(first, one)
        names.append(pa.repeat(one.name, one.truth.size))
        times.extend([] if one.times is None else one.times.chunks)
        truth.append(pa.array(one.truth))
        for detector, own in files.items():
            scores[detector].append(pa.array(_scores_of(one, own.get(one.name), read)))
    columns = {"series": pa.chunked_array(names, pa.string())}
    if first is not None and first.times is not None:
        columns["timestamp"] = pa.chunked_array(times, first.times.type)
    columns["label"] = pa.chunked_array(truth, pa.uint8())
    for detector, parts in scores.items():
        columns[detector] = pa.chunked_array(parts, pa.float64())
    return pa.table(columns)


def _scores_of(
    one: OneSeries, path: Path | None, read: Callable[[Path], NDArray[np.float64]]
) -> NDArray[np.float64]:
    if path is None:
        return np.full(one.truth.size, np.nan)
    scores = read(path)
    if scores.size != one.truth.size:
        rule = f"{path} to have {one.truth.size} scores, as many as {one.path} has rows"
        hint = "A detector that scores windows must give each sample a score of its own."
        raise InputError(expected(rule, str(scores.size), hint))
    return scores


def _check_times(first: OneSeries, one: OneSeries) -> None:
    if first.times is None or first.times.type == one.times.type:
        return
    rule = f"{one.path} to have times of the same kind as {first.path} ({first.times.type})"
    hint = "Without them, samples are counted: `timestamps=False` (no `--time`)."
    raise InputError(expected(rule, str(one.times.type), hint))
