"""One series as the plain values that a page is filled with."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import Timed
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events
from closecall.report.detectors import Detector, Inputs, read_detectors
from closecall.report.grid import common_grid
from closecall.report.packing import packed, packed_for_drawing, packed_times
from closecall.tables.batch.series import chance_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation import AffiliationCurve
    from closecall.axis import Axis
    from closecall.clock import Ticks

_CURVE_POINTS = 400


def series_content(
    name: str,
    inputs: Inputs,
    *,
    predicted: Any = None,
    scores: Any = None,
    thresholds: Any = None,
    values: Any = None,
) -> dict[str, Any]:
    """Score the detectors of one series and lay out all that its page shows."""
    detectors = read_detectors(inputs, predicted, scores, thresholds)
    drawn = None if values is None else _read_values(values)
    axis = _sample_axis(inputs, detectors, drawn)
    columns = _time_columns(detectors, axis)
    counts_samples = inputs.times is None and not isinstance(inputs.truth, Events)
    grid, offsets = common_grid(columns, counts_samples=counts_samples)
    starts, stops, span, borders, *fixed = offsets
    return {
        "name": name,
        "clock": grid.describe(*span.tolist()),
        "span": span.tolist(),
        "truth": {"starts": packed_times(starts), "stops": packed_times(stops)},
        "borders": None if axis is None else packed_times(borders),
        "values": None if drawn is None else packed_for_drawing(drawn),
        "detectors": _detector_contents(detectors, fixed),
        "samples": None if axis is None else axis.length,
        "events": int(starts.size),
    }


def summary(content: dict[str, Any]) -> dict[str, Any]:
    """Give what the first page says about a series: its size and its detectors' scores."""
    names = ("name", "precision", "recall", "f1", "threshold", "alarms", "chance")
    return {
        "name": content["name"],
        "samples": content["samples"],
        "events": content["events"],
        "detectors": [{name: row[name] for name in names} for row in content["detectors"]],
    }


def _read_values(values: Any) -> NDArray[np.float64]:
    column = read_column(values, "values")[0]
    if column.dtype.kind not in "iufb":
        raise InputTypeError(expected("`values` to be numbers", f"values of type {column.dtype}"))
    return column.astype(np.float64)


def _sample_axis(
    inputs: Inputs, detectors: tuple[Detector, ...], values: NDArray[np.float64] | None
) -> Axis | None:
    """Find the axis of the samples, if there are any."""
    axis = next((one.curve.scored.axis for one in detectors if one.curve is not None), None)
    if axis is None and (values is not None or not isinstance(inputs.truth, Events)):
        axis = inputs.axis(len(inputs.truth) if values is None else values.size)
    if axis is not None and values is not None and values.size != axis.length:
        raise InputError(
            expected(f"`values` to have one value per sample ({axis.length})", f"{values.size}")
        )
    return axis


def _time_columns(detectors: tuple[Detector, ...], axis: Axis | None) -> list[Timed]:
    """Collect true events, span, samples, and the events of detectors without scores."""
    pair = detectors[0].result.events.pair
    limits = np.array([pair.start, pair.stop])
    if axis is None:
        borders = Timed("times", limits[:0], pair.clock)
    else:
        borders = Timed("times", axis.borders(np.arange(axis.length + 1)), axis.clock)
    columns = [
        Timed("truth", pair.truth.starts, pair.clock),
        Timed("truth", pair.truth.stops, pair.clock),
        Timed("span", limits, pair.clock),
        borders,
    ]
    for detector in detectors:
        if detector.curve is None:
            own = detector.result.events.pair
            columns += [
                Timed("predicted", own.predicted.starts, own.clock),
                Timed("predicted", own.predicted.stops, own.clock),
            ]
    return columns


def _detector_contents(detectors: tuple[Detector, ...], fixed: list[Ticks]) -> list[dict[str, Any]]:
    contents = []
    events = iter(fixed)
    for detector in detectors:
        result = detector.result
        levels = chance_levels(result.events)
        content: dict[str, Any] = {
            "name": detector.name,
            **{name: json_number(value) for name, value in result.values().items()},
            "chance": dict(zip(result.values(), map(json_number, levels), strict=True)),
            "alarms": result.events.alarms,
            "threshold": None,
            "best": None,
            "average_precision": None,
        }
        if detector.curve is None:
            content |= {"starts": packed_times(next(events)), "stops": packed_times(next(events))}
        else:
            content |= _curve_content(detector.curve, detector.threshold)
        contents.append(content)
    return contents


def _curve_content(curve: AffiliationCurve, threshold: float) -> dict[str, Any]:
    best, rows = curve.best(), curve.outline(_CURVE_POINTS)
    return {
        "threshold": json_number(threshold),
        "scores": packed(curve.scored.scores),
        "best": {
            "threshold": json_number(best.threshold),
            "precision": best.precision,
            "recall": best.recall,
            "f1": best.fbeta,
        },
        "average_precision": curve.average_precision,
        "chance_average_precision": curve.chance_average_precision,
        "curve": {
            name: packed(getattr(curve, name)[rows].astype(np.float64))
            for name in ("thresholds", "precision", "recall", "f1")
        },
    }


def json_number(value: float) -> float | str | None:
    """Write a number for the page, which reads infinity from text."""
    if isnan(value):
        return None
    if isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value
