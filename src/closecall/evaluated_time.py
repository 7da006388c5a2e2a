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
_MOST_NAMED = 5  # detectors whose missing scores leave out true events of many series
_WARM_UP = 0.1  # of the time, from which on a quiet start is told


class Stretches(NamedTuple):
    """Time to ignore, and the argument that it came from."""

    name: str
    intervals: Intervals
    detector: str = ""
    """The one of several that has no scores there."""


def read_stretches(
    ignore: Any,
    max_step: Any,
    axis: Axis | None,
    missing: Mapping[str, NDArray[np.bool_]] | None = None,
) -> list[Stretches]:
    """Read what is to be ignored: `ignore`, gaps, and samples without a score by detector."""
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
    if missing and axis is not None:
        stretches += [
            Stretches("scores", Intervals.from_labels(samples, axis), detector)
            for detector, samples in missing.items()
        ]
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


def ignored_notes(series: Mapping[str, Any], alarms: Mapping[str, int]) -> list[str]:
    """Return what to say of the ignored time of detectors; those with the same are told together.

    `alarms` are how many alarms lie wholly in it, by detector.
    """
    together: dict[int, list[str]] = {}
    for name, one in series.items():
        together.setdefault(id(one.ignored), []).append(name)
    sentences = []
    for names in together.values():
        whose = f"{listed(names)}: " if len(together) > 1 else ""
        told = ignored_note(series[names[0]], {name: alarms[name] for name in names})
        sentences += [f"{whose}{sentence}" for sentence in told]
    return sentences


def ignored_note(series: Any, alarms: Mapping[str, int]) -> list[str]:
    """Return what to say of ignored time, if there is any.

    `alarms` are how many alarms lie wholly in it, by detector.
    """
    if series.ignored is None:
        return []
    left = [counted(series.left_out.events, "true event")] if series.left_out.events else []
    for name, count in alarms.items():
        if count:
            of = f" of {plain_name(name)}" if len(alarms) > 1 else ""
            left.append(counted(count, "alarm") + of)
    without = f"; left out: {', '.join(left)}" if left else ""
    return [f"Ignored: {ignored_length(series)}{without}."]


def ignored_length(series: Any) -> str:
    """Write how much of the time is ignored, such as ``2 h of 1 d``."""
    dated = series.clock.kind == "datetime"
    unit = series.clock.seconds if dated else 1
    total = 0 if series.ignored is None else series.ignored.total
    lengths = total * unit, (series.stop - series.start) * unit + total * unit
    return " of ".join(length_text(value, dated=dated) for value in lengths)


def unscored_notes(series: Any) -> list[str]:
    """Return whose missing scores leave out how many true events, for all detectors alike."""
    return [
        _left_out(count, series.unscored.events, _why_unscored(detectors))
        for detectors, count in series.unscored.left_out.items()
    ]


def advice_on_missing_scores(lost: Mapping[str, int], events: int) -> list[str]:
    """Return the same for many series with so many events, and what to do about it.

    Of many detectors, those are named whose missing scores leave out the most.
    """
    counts = sorted(((x, count) for x, count in lost.items() if count), key=lambda pair: -pair[1])
    told = [_left_out(count, events, _why_unscored((x,))) for x, count in counts[:_MOST_NAMED]]
    return [*told, "--nan each scores each detector on its own time."] if told else []


def _left_out(count: int, events: int, why: str) -> str:
    are = "is" if count == 1 else "are"
    return f"{count} of {counted(events, 'true event')} {are} left out because {why}."


def _why_unscored(detectors: tuple[str, ...]) -> str:
    if not detectors:
        return "no sample there has the scores of all detectors"
    *others, last = (f"`{plain_name(name)}`" for name in detectors)
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{names} {'have' if others else 'has'} no scores there"


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
