"""One series as the plain values that a page is filled with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from math import inf, isinf, isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import affiliation, affiliation_curve
from closecall.affiliation.rules import BEST_F1, read_rules, signed_rules
from closecall.affiliation.shifts import rounding_of
from closecall.affiliation.thresholds import MOST_ALARMED, frontier
from closecall.axis import read_axis
from closecall.clock import Timed, on_one_clock
from closecall.columns import read_column
from closecall.detectors import by_name, read_detectors
from closecall.errors import InputError, InputTypeError
from closecall.evaluated_time import advice_to_all, ignored_note, said_once, unscored_notes
from closecall.events import Events
from closecall.report.packing import packed, packed_for_drawing, packed_times
from closecall.scores import with_nan
from closecall.signature import sign

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation, AffiliationCurve
    from closecall.affiliation.rules import ThresholdRule
    from closecall.affiliation.thresholds import OperatingPoint
    from closecall.axis import Axis
    from closecall.clock import Clock, Tick, Ticks
    from closecall.detectors import Detectors
    from closecall.series import Pair, TruthInSpan

ALONE = ("predicted", "detector")  # what a single detector without a name is called
_CURVE_POINTS = 400
_EXACT_FLOAT = 2**53  # every integer up to here is a float64
_MILLISECONDS = 1000
_WEEK = 7 * 86_400
Call = dict[str, str]  # its language, and what stands before and after the threshold
_MOST_LOOKS = 4_000  # one a week for 76 years: no zone changes and back in between


def series_content(
    name: str,
    truth: Any,
    *,
    predicted: Any = None,
    scores: Any = None,
    thresholds: Any = None,
    values: Any = None,
    calls: Mapping[str, Call] | None = None,
    notes: Iterable[str] = (),
    signed: Mapping[str, Any] = MappingProxyType({}),
    moved: bool = True,
    **axis_options: Any,
) -> dict[str, Any]:
    """Score the detectors of one series and lay out all that its page shows.

    Options of the axis are those of `read_detectors`. Times are those of evaluated time, as in
    `closecall.series`; `ignored` is what opens it again. `calls` compute what is shown of each
    detector, `notes` say how the series was read, and `signed` is what its signature names of that.
    `moved` is whether scores are moved, too, for
    the level of chance of whole curves.
    """
    scored = by_name(scores, "scores", ALONE[1])
    labelled = by_name(predicted, "predicted", ALONE[0])
    _require_names(labelled, scored)
    require_one_time(axis_options.get("nan"), len(labelled) + len(scored))
    found = read_detectors(truth, predicted, scores, **axis_options, alone=ALONE)
    rules = dict.fromkeys(scored, BEST_F1) | read_rules(thresholds, scored)
    for one, (called, _) in scored.items():
        require_exact(found.scored[one].scores, called)
    series, axis = found.truth, found.truth.axis
    given = {name: axis_options.get(name) for name in ("times", "end", "max_step")}
    if isinstance(truth, Events) and not scored and values is None:
        axis = None  # nothing is drawn for each sample
    drawn = None
    if values is not None:
        drawn, axis = _read_values(values, series, axis, **given)
    ignored = series.ignored
    none = np.empty(0, dtype=series.truth.starts.dtype)
    columns = [
        Timed("truth", series.truth.starts, series.clock),
        Timed("truth", series.truth.stops, series.clock),
        Timed("span", np.array([series.start, series.stop]), series.clock),
        Timed("span", np.array(series.span), series.clock),
        Timed("ignore", none if ignored is None else ignored.starts, series.clock),
        Timed("ignore", none if ignored is None else ignored.stops, series.clock),
        Timed("ignore", none if ignored is None else ignored.seams, series.clock),
        Timed("times", none, series.clock)
        if axis is None
        else Timed("times", axis.borders(np.arange(axis.length + 1)), axis.clock),
    ]
    for pair in found.predicted.values():
        columns.append(Timed("predicted", pair.predicted.starts, pair.clock))
        columns.append(Timed("predicted", pair.predicted.stops, pair.clock))
    counts_samples = given["times"] is None and not isinstance(truth, Events)
    grid, offsets = _common_grid(columns, counts_samples=counts_samples)
    starts, stops, limits, shown, *stretches, borders = offsets[:8]
    names = ("starts", "stops", "seams")
    per_tick = (limits[1] - limits[0]).item() / (series.stop - series.start)
    detectors = [
        *_scored_contents(found, rules, grid, moved=moved),
        *_labelled_contents(found, grid, offsets[8:]),
    ]
    # Those of scores depend on the threshold, which the reader moves.
    left_out = {name: pair.left_out.alarms for name, pair in found.predicted.items()}
    return {
        "name": name,
        "clock": grid.describe(*shown.tolist()),
        "span": limits.tolist(),
        "close": None if series.close is None else series.close * per_tick,
        "shown": shown.tolist(),
        "truth": {"starts": packed_times(starts), "stops": packed_times(stops)},
        "details": {
            name: ["" if value is None else str(value) for value in values.tolist()]
            for name, values in series.truth.details.items()
        },
        "ignored": None
        if ignored is None
        else {part: packed_times(ends) for part, ends in zip(names, stretches, strict=True)},
        "borders": None if axis is None else packed_times(borders),
        "values": None if drawn is None else packed_for_drawing(drawn),
        "detectors": [row | {"call": (calls or {}).get(row["name"])} for row in detectors],
        "samples": None if axis is None else axis.length,
        "events": int(starts.size),
        "signature": str(
            sign(
                "affiliation",
                {**found.predicted, **found.scored},
                **signed_rules(rules),
                **signed,
            )
        ),
        "advice": [
            *notes,
            *unscored_notes(series),
            *said_once({row["name"]: row.pop("notes", []) for row in detectors}),
            *ignored_note(series, dict.fromkeys(found.scored, 0) | left_out),
            *advice_to_all(found.scored | found.predicted, max_step=given["max_step"]),
        ],
    }


def require_one_time(nan: str | None, detectors: int) -> None:
    """Raise if detectors are to be judged on different times, of which a page shows one."""
    if nan == "each" and detectors > 1:
        raise InputError(
            "'raise' or 'ignore' on a page, which shows all detectors on the same time",
            "'each'",
            argument="nan",
        )


def summary(content: dict[str, Any]) -> dict[str, Any]:
    """Return what the first page says about a series: its size and its detectors' scores."""
    scores = ("name", "precision", "recall", "f1", "threshold", "headline", "chance")
    names = (*scores, "caught", "alarms", "alarmed", "false_alarms")
    return {
        "name": content["name"],
        "samples": content["samples"],
        "events": content["events"],
        "detectors": [{name: row[name] for name in names} for row in content["detectors"]],
    }


def _require_names(labelled: Collection[str], scored: Collection[str]) -> None:
    """Raise if there is no detector, or if two have one name."""
    both = set(labelled) & set(scored)
    if both:
        raise InputError("each detector's name once", f"{min(both)!r} in both groups")
    if not labelled and not scored:
        raise InputTypeError(
            "`predicted` or `scores`", "neither", hint="Pass 0/1 predictions, scores, or both."
        )


def require_exact(scores: NDArray[Any], called: str) -> None:
    """Raise for integers that the page, which has only floats, would round."""
    if scores.dtype.kind in "iu" and max(-int(scores.min()), int(scores.max())) > _EXACT_FLOAT:
        rule = "to be exact as 64-bit floats"
        hint = "Subtract a common origin first."
        raise InputError(
            rule, f"integers from {scores.min()} to {scores.max()}", argument=called, hint=hint
        )


def _read_values(
    values: Any, series: TruthInSpan, axis: Axis | None, **given: Any
) -> tuple[NDArray[np.float64], Axis]:
    """Read the series itself; return its values at the evaluated samples, and the samples."""
    column = read_column(with_nan(values), "values")[0]
    if column.dtype.kind not in "iufb":
        raise InputTypeError("to be numbers", f"values of type {column.dtype}", argument="values")
    drawn = column.astype(np.float64)
    kept = np.ones(drawn.size, dtype=bool)
    samples = axis
    if samples is None or series.ignored is not None:
        samples = read_axis(drawn.size, of="values", **given)
        if series.ignored is not None:
            samples, kept = samples.on_clock(series.clock).closed(series.ignored)
    samples = axis or samples
    if np.count_nonzero(kept) != samples.length:
        raise InputError(
            f"to have one value per sample ({samples.length})", f"{drawn.size}", argument="values"
        )
    return drawn[kept], samples


def _scored_contents(
    detectors: Detectors, rules: Mapping[str, ThresholdRule], grid: _Grid, *, moved: bool
) -> Iterator[dict[str, Any]]:
    for name, scored in detectors.scored.items():
        curve = affiliation_curve(scored, None)
        threshold = _as_float(rules[name].choose(scored, curve))
        result = curve.at(threshold)
        content = _detector_content(name, result, grid)
        content["notes"] += rules[name].notes(threshold, result.events.pair)
        content |= _curve_content(curve, curve.best(), moved=moved)
        yield content | {"threshold": page_number(threshold)}


def _as_float(threshold: Any) -> float:
    """Return a threshold as the page keeps it; one beyond all floats is beyond all scores."""
    try:
        return float(threshold)
    except OverflowError:
        return inf if threshold > 0 else -inf


def _labelled_contents(
    detectors: Detectors, grid: _Grid, events: list[Ticks]
) -> Iterator[dict[str, Any]]:
    pairs = zip(detectors.predicted.items(), events[0::2], events[1::2], strict=True)
    for (name, pair), starts, stops in pairs:
        ranges = {"starts": packed_times(starts), "stops": packed_times(stops)}
        yield _detector_content(name, affiliation(pair, None), grid) | ranges


def _detector_content(name: str, result: Affiliation, grid: _Grid) -> dict[str, Any]:
    return {
        "name": name,
        **{score: page_number(value) for score, value in result.values().items()},
        "chance": {score: page_number(level) for score, level in result.chance.values().items()},
        "caught": result.caught,
        "alarms": result.alarms,
        "alarmed": result.alarmed,
        "false_alarms": result.false_alarms,
        "headline": result.headline,
        "notes": result.chance.cautions,
        "shift": _shift_unit(result.events.pair, grid),
        "threshold": None,
        "best": None,
        "average_precision": None,
    }


def _shift_unit(pair: Pair, grid: _Grid) -> list[int] | str | dict[str, float]:
    """Return by what the page shifts alarms: samples, or ticks of its offsets and of a sample.

    Without samples it looks for a step itself: how many numbers an offset is, and the rounding.
    """
    step, numbers = pair.sample_step, grid.clock.kind == "number"
    if step is None:
        whole = 0 if grid.clock.kind == "datetime" else int(grid.step)
        return {"whole": whole, "rounding": rounding_of(pair) if numbers else 0}
    if pair.clock.kind == "number":
        return "samples"
    finer = grid.clock.ticks_per_second // pair.clock.ticks_per_second if pair.clock.unit else 1
    return [int(grid.step), int(step) * finer]


def _curve_content(curve: AffiliationCurve, best: OperatingPoint, *, moved: bool) -> dict[str, Any]:
    rows = curve.outline(_CURVE_POINTS)
    front = frontier(curve.false_alarms, curve.caught, curve.alarmed <= MOST_ALARMED)
    return {
        "scores": packed(curve.scored.scores),
        "best": {
            "threshold": page_number(best.threshold),
            "precision": best.precision,
            "recall": best.recall,
            "f1": best.fbeta,
            "caught": best.caught,
            "falseAlarms": best.false_alarms,
        },
        "average_precision": curve.average_precision,
        "chance_average_precision": curve.chance.average_precision if moved else None,
        "chance_best_f1": curve.chance.f1 if moved else None,
        "curve": {
            name: packed(getattr(curve, name)[rows].astype(np.float64))
            for name in ("thresholds", "precision", "recall", "f1")
        },
        "free_response": {
            name: packed(getattr(curve, name)[front].astype(np.float64))
            for name in ("thresholds", "caught", "false_alarms")
        },
    }


def page_number(value: float) -> float | str | None:
    """Write a number for the page, which reads infinity from text."""
    if isnan(value):
        return None
    if isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


@dataclass(frozen=True, slots=True)
class _Grid:
    """Ticks as offsets from an origin, counted in the longest step that divides them all.

    Nanoseconds of a year do not fit in a float's 53 bits; the minutes they stand for do.
    """

    clock: Clock
    origin: Tick
    step: Tick
    counts_samples: bool

    def offsets(self, ticks: Ticks) -> Ticks:
        """Count steps from the origin; numbers that are not exact stay as they are."""
        if self.clock.kind == "number":
            return ticks
        return (ticks - self.origin) // self.step

    def describe(self, start: Tick, stop: Tick) -> dict[str, Any]:
        """Return for the page what the offsets of this span mean."""
        if self.clock.kind != "datetime":
            kind = "samples" if self.counts_samples else self.clock.kind
            return {"kind": kind, "origin": str(self.origin), "unit": self.step}
        first, last = (int(offset * self.step + self.origin) for offset in (start, stop))
        per_second = self.clock.ticks_per_second
        whole, rest = divmod(int(self.origin) * _MILLISECONDS, per_second)
        shifts = _shifts(self.clock, first, last)
        return {
            "kind": "datetime",
            "origin": str(whole),
            "rest": rest / per_second,
            "unit": self.step * _MILLISECONDS / per_second,
            "ticks": [self.step, per_second],
            "zone": _zone_name(self.clock.tz, shifts),
            "shifts": shifts,
        }


def _zone_name(tz: tzinfo | None, shifts: list[list[int]]) -> str:
    """Name a zone as people do, or by its offset."""
    if tz is None:
        return ""
    name = getattr(tz, "key", None) or getattr(tz, "zone", None)
    if name:
        return str(name)
    if len(shifts) > 1:
        return "local time"
    minutes = abs(shifts[0][1]) // 60_000
    sign = "-" if shifts[0][1] < 0 else "+"
    return f"UTC{sign}{minutes // 60:02}:{minutes % 60:02}" if minutes else "UTC"


def _shifts(clock: Clock, first: Tick, last: Tick) -> list[list[int]]:
    """Find by how much the zone differs from UTC, and from when on, both in milliseconds."""
    if clock.tz is None:
        return []
    start, stop = (int(tick // clock.ticks_per_second) for tick in (first, last))
    count = min(_MOST_LOOKS, (stop - start) // _WEEK + 2)
    seconds = np.linspace(start, stop, count).astype(np.int64).tolist()
    shifts = [[seconds[0] * _MILLISECONDS, _shift(clock.tz, seconds[0])]]
    for before, after in pairwise(seconds):
        if _shift(clock.tz, after) != shifts[-1][1]:
            change = _first_second(clock.tz, before, after)
            shifts.append([change * _MILLISECONDS, _shift(clock.tz, after)])
    return shifts


def _first_second(tz: tzinfo, before: int, after: int) -> int:
    """Find the second at which the shift of a zone changes, between two that differ."""
    shift = _shift(tz, before)
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (middle, after) if _shift(tz, middle) == shift else (before, middle)
    return after


def _shift(tz: tzinfo, second: int) -> int:
    """Return the zone's difference from UTC at a second, in milliseconds."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    return (moment.astimezone(tz).utcoffset() or timedelta()) // timedelta(milliseconds=1)


def _common_grid(columns: Sequence[Timed], *, counts_samples: bool) -> tuple[_Grid, list[Ticks]]:
    """Bring columns of ticks to one clock and choose the grid; give their offsets on it."""
    ticks, clock = on_one_clock(*columns)
    if clock.kind == "number":
        return _Grid(clock, 0.0, 1.0, counts_samples=False), ticks
    filled = [column for column in ticks if column.size]
    origin = min(int(column.min()) for column in filled)
    step = int(np.gcd.reduce([np.gcd.reduce(column - origin) for column in filled])) or 1
    grid = _Grid(clock, origin, step, counts_samples)
    return grid, [grid.offsets(column) for column in ticks]
