"""The public constructions: each checks its arguments and gives back the kind it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.adversary import constructions
from closecall.adversary.canvas import Canvas, Prediction, read_canvas, read_trivial
from closecall.errors import InputError, expected
from closecall.events import read_labels
from closecall.parameters import read_duration, read_number, require_count, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick

_MOST_ADDED = 1000  # predictions beside the trivial event, unless a number is asked for


def trivial_event(flagged: Any, *, widen: int = 0) -> NDArray[np.uint8]:
    """Turn a one-line rule into one trivial event: from its first to its last flagged sample.

    The functions in the paper's table of datasets need this last step to give the events that its
    experiments used: ``Y < 40`` (machine temperature) leaves out five samples inside the event,
    and ``Y > 12000`` (Twitter) flags one sample, which was widened by 50 on either side.

    Parameters
    ----------
    flagged
        A 0/1 vector, such as ``values < 40``.
    widen
        How many samples to add on either side.

    Examples
    --------
    >>> import numpy as np
    >>> from closecall import adversary
    >>> values = np.array([50, 39, 41, 38, 60, 60])
    >>> adversary.trivial_event(values < 40)
    array([0, 1, 1, 1, 0, 0], dtype=uint8)
    """
    labels = read_labels(flagged, "flagged")
    require_count(widen, "widen", 0)
    found = np.flatnonzero(labels)
    if found.size == 0:
        raise InputError(
            expected("`flagged` to flag at least one sample", "none", "Loosen the rule.")
        )
    event = np.zeros(labels.size, dtype=np.uint8)
    event[max(0, found[0] - widen) : found[-1] + widen + 1] = 1
    return event


def from_trivial(trivial: Any, *, span: Any = None, step: Any = None) -> Prediction:
    """Build the paper's adversary (section 4.2) from one event that anybody can find.

    Inside the trivial event positive and negative samples alternate, starting with a positive
    one; one sample on either side of it is negative; everything else is positive. A metric that
    takes each predicted event as a unit sees many correct ones and a few wrong ones, though
    nearly all of the series is predicted.

    Parameters
    ----------
    trivial
        A 0/1 vector, or `Events`: the trivial event, such as one true event or what
        `trivial_event` gives. Several events are each treated alike.
    span
        Where the whole series starts and stops; for `Events` only, and required there.
    step
        For `Events`: the length of one alternation, a number or a timedelta as the axis demands.
        By default 1 on an integer axis, else a hundredth of the event.

    Returns
    -------
    numpy.ndarray or Events
        The prediction, of the kind of `trivial`.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> adversary.from_trivial([0, 0, 0, 1, 1, 1, 1, 1, 0, 0])
    array([1, 1, 0, 1, 0, 1, 0, 1, 0, 1], dtype=uint8)
    >>> adversary.from_trivial(Events([(3.0, 8.0)]), span=(0.0, 10.0), step=2.0)
    Events([(0.0, 1.0), (3.0, 5.0), (7.0, 8.0)])
    """
    canvas = read_trivial(trivial, span)
    if step is None:
        length: Tick = constructions.default_step(canvas)
    else:
        length = _read_ticks(step, canvas, "step")
    return canvas.show(constructions.alternating(canvas, length))


def against_composite(
    trivial: Any, *, count: int | None = None, share: float = 0.1, span: Any = None
) -> Prediction:
    r"""Build the adversary of composite F1 (footnote of section 4.2).

    Keeps the trivial event of length T and adds N predictions of length :math:`T / (10 N)`,
    regularly spaced over the rest. The precision over time is then at least
    :math:`1 / (1 + 1/10) \approx 0.91`, and each true event longer than the spacing is touched.

    Parameters
    ----------
    trivial, span
        As in `from_trivial`.
    count
        How many predictions to add (N). By default as many as can last one tick (one sample for
        vectors), but no more than 1000.
    share
        What all of them last together, as a share of T; in (0, 1], the paper's value is 1/10.

    Returns
    -------
    numpy.ndarray or Events
        The prediction, of the kind of `trivial`.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> adversary.against_composite(Events([(40, 60)]), span=(0, 100))
    Events([(19, 20), (40, 60), (79, 80)])
    """
    canvas = read_trivial(trivial, span)
    share = read_number(share, "share", "a number above 0 and up to 1", lambda x: 0 < x <= 1)
    if count is not None:
        require_count(count, "count", 1)
    count, length = added_predictions(canvas, count, share)
    return canvas.show(constructions.beside_trivial(canvas, count, length))


def added_predictions(canvas: Canvas, count: int | None, share: float) -> tuple[int, Tick]:
    """Find how many predictions the composite adversary adds, and how long each of them is."""
    rest = constructions.free_length(canvas)
    total = share * (canvas.length - rest)
    # The product of a share and a whole number may end just below the whole number it is.
    whole = int(np.floor(total + 1e-9 * total))
    if count is None:
        count = min(_MOST_ADDED, whole) if canvas.whole else _MOST_ADDED
    if canvas.whole and (count == 0 or whole < count):
        raise InputError(
            expected(
                f"a trivial event that leaves one tick to each added prediction "
                f"({share:g} of it is {whole})",
                f"`count` {max(count, 1)}",
                "Add fewer predictions, raise `share`, or choose a longer event.",
            )
        )
    length = whole // count if canvas.whole else total / count
    if length * count > rest:
        raise InputError(
            expected(
                "a trivial event that leaves room for the added predictions",
                f"{rest} ticks beside it",
                "Choose a shorter event.",
            )
        )
    return count, length


def everything(series: Any, *, span: Any = None) -> Prediction:
    """Predict the whole series.

    Parameters
    ----------
    series
        A 0/1 vector or `Events`, such as the truth; only its length or its axis is used.
    span
        Where the whole series starts and stops; for `Events` only, and required there.

    Examples
    --------
    >>> from closecall import adversary
    >>> adversary.everything([0, 1, 0])
    array([1, 1, 1], dtype=uint8)
    """
    canvas = read_canvas(series, "series", span)
    return canvas.show(constructions.everything(canvas))


def random_points(series: Any, *, count: int, seed: int = 0, span: Any = None) -> Prediction:
    """Draw that many samples of a vector, or moments (zero-length events) of a span.

    Parameters
    ----------
    series, span
        As in `everything`.
    count
        How many; each sample, and each tick of an integer or datetime axis, is drawn at most once.
    seed
        Of numpy's default generator; the same seed gives the same prediction.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> int(adversary.random_points([0] * 50, count=7).sum())
    7
    >>> len(adversary.random_points(Events([]), count=7, span=(0.0, 1.0)))
    7
    """
    canvas = read_canvas(series, "series", span)
    require_count(count, "count", 1)
    require_count(seed, "seed", 0)
    if canvas.whole and count > canvas.length:
        raise InputError(expected(f"`count` to be at most {canvas.length}", f"{count}"))
    return canvas.show(constructions.random_points(canvas, count, seed))


def random_ranges(
    series: Any, *, count: int, length: Any, seed: int = 0, span: Any = None
) -> Prediction:
    """Draw disjoint ranges of one length; every placement is as likely as any other.

    Parameters
    ----------
    series, span
        As in `everything`.
    count
        How many ranges; on an axis of samples or integers they are at least one tick apart.
    length
        Of each: samples for a vector, else a number or a timedelta as the axis demands.
    seed
        Of numpy's default generator; the same seed gives the same prediction.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> drawn = adversary.random_ranges([0] * 50, count=3, length=5)
    >>> Events.from_labels(drawn).durations
    array([5, 5, 5])
    """
    canvas = read_canvas(series, "series", span)
    require_count(count, "count", 1)
    require_count(seed, "seed", 0)
    ticks = _read_ticks(length, canvas, "length")
    needed = count * ticks + (count - 1) * constructions.gap_between(canvas)
    if needed > canvas.length:
        raise InputError(
            expected(
                "`count` ranges of this `length` to fit in the series",
                f"{needed:g} ticks of {canvas.length:g}",
                "Ask for fewer, or for shorter ones.",
            )
        )
    return canvas.show(constructions.random_ranges(canvas, count, ticks, seed))


def _read_ticks(value: Any, canvas: Canvas, name: str) -> Tick:
    ticks = read_duration(value, canvas.clock, name)
    if ticks == 0 or (canvas.whole and not float(ticks).is_integer()):
        rule = "a whole number of ticks, 1 or more" if canvas.whole else "more than 0"
        raise InputError(expected(f"`{name}` to be {rule}", shown(value)))
    return int(ticks) if canvas.whole else ticks
