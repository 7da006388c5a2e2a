"""What too few events do not allow to say, in words."""

from __future__ import annotations

FEWEST = 2  # one event says nothing about others
_UNSETTLED = 5  # up to here, even winning every event happens by luck more than once in 20
_FEW = 9
_WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}


def caution_about(count: int, what: str = "events") -> str:
    """Say what so many events, or series, do not allow to conclude about a detector.

    Examples
    --------
    >>> caution_about(3)[:71]
    'There are only three events. The scores hold for these; about others th'
    >>> caution_about(12)
    ''
    """
    if count < FEWEST:
        one = "event" if what == "events" else what
        return (
            f"There is only one {one}. The scores hold for it, and say nothing about others: "
            "there are no intervals."
        )
    if count <= _UNSETTLED:
        return (
            f"There are only {_WORDS[count]} {what}. The scores hold for these; about others they "
            "say little, and the intervals are as wide as that."
        )
    if count <= _FEW:
        return f"There are only {count} {what}: the intervals are wide, and rough."
    return ""


def caution_about_pairs(count: int) -> str:
    """Say what so many events do not allow to conclude about two detectors.

    Examples
    --------
    >>> caution_about_pairs(3)[-71:]
    'One of two equally good detectors wins all three by luck one time in 4.'
    >>> caution_about_pairs(10)
    ''
    """
    if FEWEST <= count <= _UNSETTLED:
        number = _WORDS[count]
        every = "both" if count == FEWEST else f"all {number}"
        return (
            f"There are only {number} events. They show who did better on these, and in what; not "
            f"who is better. One of two equally good detectors wins {every} by luck one time in "
            f"{2 ** (count - 1)}."
        )
    if count < FEWEST:
        return (
            "There is only one event. It shows who did better on it, and says nothing about who "
            "is better: there are no intervals."
        )
    return caution_about(count)
