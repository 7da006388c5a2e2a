"""Evaluated time: what is to be ignored, as callers say it, and what they may have forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.axis import IgnoredTime
from closecall.errors import InputError, InputTypeError, shown
from closecall.events import Events, Intervals, read_ignored, read_labels, runs
from closecall.parameters import read_length
from closecall.wording import counted, length_text, listed, plain_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from closecall.axis import Axis

FAR = 10  # times the median step, from which on a step is told
_WARM_UP = 0.1  # of the time, from which on a quiet start is told


class Stretches(NamedTuple):
    """Time to ignore, and the argument that it came from."""

    name: str
    intervals: Intervals


def read_stretches(
    ignore: Any, max_step: Any, axis: Axis | None, missing: NDArray[np.bool_] | None = None
) -> list[Stretches]:
    """Read what is to be ignored: `ignore`, gaps, and samples without a score."""
    stretches = []
    if isinstance(ignore, IgnoredTime):
        intervals = Intervals(ignore.starts, ignore.stops, ignore.clock)
        stretches.append(Stretches("ignore", intervals))
    elif ignore is not None:
        stretches.append(Stretches("ignore", _read_ignore(ignore, axis)))
    if max_step is not None:
        if axis is None:
            raise InputTypeError(
                "no `max_step` beside Events, which have no samples",
                "`max_step`",
                hint="Pass `max_step` to `Events.from_labels`, and the gaps as `ignore`.",
            )
        gaps = axis.gaps(read_length(max_step, axis.clock, "max_step"))
        stretches.append(Stretches("max_step", Intervals(*gaps, axis.clock)))
    if missing is not None and axis is not None:
        stretches.append(Stretches("scores", Intervals.from_labels(missing, axis)))
    return [part for part in stretches if len(part.intervals)]


def _read_ignore(ignore: Any, axis: Axis | None) -> Intervals:
    """Read `Events`, pairs in any order, or a 0/1 vector."""
    if isinstance(ignore, Events) or are_pairs(ignore):
        return read_ignored(ignore)
    if axis is None:
        raise InputTypeError(
            "to be Events or pairs (start, stop) beside Events",
            shown(ignore),
            argument="ignore",
            hint="Turn a 0/1 vector into events with `Events.from_labels(labels, times)`.",
        )
    labels = read_labels(ignore, "ignore")
    if labels.size != axis.length:
        raise InputError(
            f"to have one label for each of the {axis.length} samples",
            f"{labels.size}",
            argument="ignore",
            hint="Pass stretches of time as a list of pairs, `[(start, stop)]`.",
        )
    return Intervals.from_labels(labels, axis)


def are_pairs(ignore: Any) -> bool:
    """Return whether this is a list of pairs, and no vector."""
    if isinstance(ignore, np.ndarray):
        return ignore.ndim == 2  # noqa: PLR2004 - rows and columns
    return isinstance(ignore, list | tuple) and all(
        isinstance(pair, list | tuple | np.ndarray) for pair in ignore[:1]
    )


def runs_left_out(labels: NDArray[Any], kept: NDArray[np.bool_]) -> int:
    """Count the runs of ones of which no sample is left."""
    first, after = runs(labels)
    before = np.concatenate(([0], np.cumsum(kept)))
    return int(np.count_nonzero(before[first] == before[after]))


def advice(series: Any, *, max_step: Any = None) -> list[str]:
    """Return a sentence for each thing that the caller may want to say of a series, and did not.

    A start without events in which the score does not change looks like a warm-up; labels alone
    cannot tell. With a `max_step`, nothing is said of long steps. Options are named as on the
    command line, also for who reads a page. O(N).
    """
    sentences = []
    times = 0.0 if max_step is not None else far_step(series.axis)
    if times:
        sentences.append(far_step_note(times))
    quiet = quiet_start(series) if hasattr(series, "scores") else 0.0
    if quiet:
        sentences.append(
            f"The first {quiet:.0%} of the time has neither events nor a score that changes: if "
            f"the detector was not running yet, leave it out with --from."
        )
    return sentences


def far_step_note(times: float) -> str:
    """Say that the longest step is so many times the median one."""
    return (
        f"The longest step is {times:,.0f} times the median one, and its sample lasts as long: if "
        "nothing was seen there, limit how long samples last with --max-step."
    )


def advice_to_all(series: Mapping[str, Any], *, max_step: Any = None) -> list[str]:
    """Return such sentences for detectors by name; what holds for some of them names them."""
    return said_once({name: advice(one, max_step=max_step) for name, one in series.items()})


def said_once(sentences: Mapping[str, Iterable[str]]) -> list[str]:
    """Return each sentence about detectors once; what holds for some of them names them."""
    told: dict[str, list[str]] = {}
    for name, about in sentences.items():
        for sentence in about:
            told.setdefault(sentence, []).append(name)
    return [
        text if len(names) == len(sentences) else f"{listed(names)}: {text}"
        for text, names in told.items()
    ]


def ignored_note(series: Any, alarms: Mapping[str, int]) -> list[str]:
    """Return what to say of ignored time, if there is any.

    `alarms` are how many alarms lie wholly in it, by detector.
    """
    if series.ignored is None:
        return []
    dated = series.clock.kind == "datetime"
    unit = series.clock.seconds if dated else 1
    ignored, evaluated = series.ignored.total * unit, (series.stop - series.start) * unit
    left = [counted(series.left_out.events, "true event")] if series.left_out.events else []
    for name, count in alarms.items():
        if count:
            of = f" of {plain_name(name)}" if len(alarms) > 1 else ""
            left.append(counted(count, "alarm") + of)
    lengths = [length_text(value, dated=dated) for value in (ignored, evaluated + ignored)]
    without = f"; left out: {', '.join(left)}" if left else ""
    return [f"Ignored: {lengths[0]} of {lengths[1]}{without}."]


def advice_on_many(gaps: int, quiet: int, series: int) -> list[str]:
    """Return such sentences for many series, so many of which have gaps, or a quiet start."""
    sentences = {
        f"{gaps:,} of {series:,} series have gaps, steps beyond ten times the median, and their "
        "samples last as long; --max-step limits how long samples last.": gaps,
        f"{quiet:,} of {series:,} series begin with a tenth of the time or more without events or "
        "a score that changes; --from leaves a warm-up out.": quiet,
    }
    return [sentence for sentence, count in sentences.items() if count]


def far_step(axis: Axis | None) -> float:
    """Return how many times the median step the longest one is; 0 if that is not far more."""
    if axis is None or axis.ticks is None:
        return 0.0
    steps = axis.lengths()
    longest = steps.max()
    if longest <= FAR * steps.min():  # so it is near the median one, which takes longer to find
        return 0.0
    times = float(longest / np.partition(steps, steps.size // 2)[steps.size // 2])
    return times if times > FAR else 0.0


def quiet_start(scored: Any) -> float:
    """Return the share of the time before the first event and the first change of the score.

    0 if that is little, or all.
    """
    changes = np.flatnonzero(scored.scores != scored.scores[0])[:1]
    if changes.size == 0 or scored.scores[0] == scored.scores.max():  # an alarm at any threshold
        return 0.0
    first = [scored.axis.borders(changes)[0], *scored.truth.starts[:1]]
    quiet = float((min(first) - scored.start) / (scored.stop - scored.start))
    return quiet if _WARM_UP <= quiet < 1 else 0.0
