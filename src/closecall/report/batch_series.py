"""One series of a page of many, read as `closecall.evaluate_frame` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import read_times
from closecall.columns import read_column
from closecall.errors import ClosecallError, InputError, InputTypeError, expected
from closecall.events import Events, read_labels
from closecall.report.detectors import Inputs, by_name, entry, require_exact
from closecall.report.series import series_content
from closecall.report.trouble import SeriesTrouble
from closecall.series import read_scores
from closecall.tables.batch.series import timed_series
from closecall.tables.batch.status import (
    BAD_LABELS,
    BAD_SCORES,
    BAD_TIMES,
    EMPTY,
    NAN_SCORE,
    SeriesError,
    with_status,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Clock, Ticks
    from closecall.tables.batch.options import Disorder

_AXIS = ("times", "end", "span")
_CONTENT = ("predicted", "scores", "thresholds", "values")
_DEFAULT_NAMES = {"scores": "detector", "predicted": "predicted"}


def batch_series(
    name: str, arguments: Any, disorder: Disorder
) -> tuple[dict[str, Any], list[SeriesTrouble]]:
    """Lay out what the page of one series shows, and say which detectors are not on it.

    Raises
    ------
    ClosecallError
        Nothing can be scored on the series; a `SeriesError` has the status of the batch.
    """
    given = _checked(name, arguments)
    order = _put_in_order(given, disorder)
    troubles = _read_detectors(name, given, order)
    if given["values"] is not None and order is not None:
        drawn = read_column(given["values"], "values")[0]
        given["values"] = _of_size(drawn, order.size, "values")[order]
    inputs = Inputs(given["truth"], *(given[key] for key in _AXIS))
    return series_content(name, inputs, **{key: given[key] for key in _CONTENT}), troubles


def _checked(name: str, arguments: Any) -> dict[str, Any]:
    rule = f"the arguments of {name!r} to be those of `report`"
    hint = 'For example {"truth": labels, "scores": {"mine": scores}}.'
    if not isinstance(arguments, Mapping):
        raise InputTypeError(expected(f"{rule}, by name", type(arguments).__name__, hint))
    unknown = [key for key in arguments if key not in {"truth", *_AXIS, *_CONTENT}]
    if unknown or "truth" not in arguments:
        raise InputError(expected(rule, repr(unknown[0]) if unknown else "no `truth`", hint))
    return {key: arguments.get(key) for key in ("truth", *_AXIS, *_CONTENT)}


def _put_in_order(given: dict[str, Any], disorder: Disorder) -> NDArray[np.int64] | None:
    """Read truth and times as a batch does; give the order of time if samples are not in it."""
    known = isinstance(given["truth"], Events)
    if not known:
        given["truth"] = _read_truth(given["truth"])
    if given["times"] is None:
        return None
    with with_status(BAD_TIMES):
        ticks, clock = read_times(given["times"], "times")
        if given["end"] is not None and (ticks[1:] > ticks[:-1]).all():
            return None
        labels = np.zeros(ticks.size, dtype=np.uint8) if known else given["truth"]
        # Events have times of their own, which the numbers of samples cannot replace.
        allowed: Disorder = "error" if known and disorder == "index" else disorder
        # A zone changes nothing here; 32-bit floats are even up to their own rounding.
        dated = clock.kind == "datetime"
        times = clock.native(ticks) if dated else read_column(given["times"], "times")[0]
        _of_size(times, labels.size, "times")
        series = timed_series(labels, times, name="times", disorder=allowed)
    if not series.timed:
        given["times"] = given["end"] = None
        return None
    if given["end"] is None:
        given["end"] = _moments(clock, np.array([series.axis.end], dtype=ticks.dtype))[0]
    if series.order is not None:
        given["times"] = _moments(clock, ticks[series.order])
        if not known:
            given["truth"] = series.labels
    return series.order


def _read_truth(truth: Any) -> NDArray[Any]:
    with with_status(BAD_LABELS):
        if read_column(truth, "truth")[0].size == 0:
            raise SeriesError(EMPTY, expected("at least one sample", "none"))
        return read_labels(truth, "truth")


def _moments(clock: Clock, ticks: Ticks) -> Any:
    """Give ticks back as times of the caller, in their zone if they have one."""
    if clock.tz is None:
        return clock.native(ticks)
    return [clock.scalar(tick) for tick in ticks.tolist()]


def _of_size(values: NDArray[Any], size: int, called: str) -> NDArray[Any]:
    """Refuse a column that an order of so many samples would cut short."""
    if values.size != size:
        raise InputError(
            expected(f"`{called}` to have as many values as samples ({size})", f"{values.size}")
        )
    return values


def _read_detectors(
    name: str, given: dict[str, Any], order: NDArray[np.int64] | None
) -> list[SeriesTrouble]:
    """Read every detector; those in trouble are left out, and the others go on."""
    troubles: list[SeriesTrouble] = []
    failure: ClosecallError | None = None
    for argument, alone in _DEFAULT_NAMES.items():
        kept = {}
        for detector, values in by_name(given[argument], alone).items():
            called = entry(argument, detector, given)
            try:
                own = _read_one(argument, called, values)
            except SeriesError as error:
                failure = failure or error
                troubles.append(SeriesTrouble.told_by(name, detector, error))
                continue
            if order is not None and not isinstance(own, Events):
                own = _of_size(own, order.size, called)[order]
            kept[detector] = own
        given[argument] = kept or None
    if failure is not None and given["scores"] is None and given["predicted"] is None:
        raise failure
    if isinstance(given["thresholds"], Mapping):
        lost = {trouble.detector for trouble in troubles}
        chosen = given["thresholds"].items()
        given["thresholds"] = {key: one for key, one in chosen if str(key) not in lost}
    return troubles


def _read_one(argument: str, called: str, values: Any) -> Any:
    if isinstance(values, Events):
        return values
    if argument == "predicted":
        with with_status(BAD_LABELS):
            return read_labels(values, called)
    with with_status(BAD_SCORES):
        try:
            scores = read_scores(values, called)
        except InputError as error:
            # The one rule about values: numbers of any size, but nothing missing.
            raise SeriesError(NAN_SCORE, str(error).partition("\n")[0]) from error
        require_exact(scores, called)
    return scores
