"""What too few events do not allow to say, in words."""

from __future__ import annotations

FEWEST = 2  # one event says nothing about others
# One of two equally good detectors wins all of m events by luck with probability 2 / 2**m: more
# than once in 20 up to five. So no honest method can tell two detectors apart with fewer than six.
FEWEST_TO_COMPARE = 6
_FEW = 9
_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
_NO_DIFFERENCE = (
    f"differences have no interval and no probability, which take {FEWEST_TO_COMPARE} or more."
)


def caution_about(count: int, what: str = "events") -> str:
    """Say what so many events, or series, do not allow to conclude about a detector.

    Examples
    --------
    >>> caution_about(3)[:71]
    'There are only three events. The scores hold for these; about others th'
    >>> caution_about(12)
    ''
    """
    if count == 0:
        return f"There are no {what} to tell from."
    if count < FEWEST:
        return (
            f"There is only one {_one(what)}. The scores hold for it, and say nothing about "
            "others: there are no intervals."
        )
    if count < FEWEST_TO_COMPARE:
        return (
            f"There are only {_WORDS[count]} {what}. The scores hold for these; about others they "
            "say little, and the intervals are as wide as that."
        )
    if count <= _FEW:
        return f"There are only {count} {what}: the intervals are wide, and rough."
    return ""


def caution_about_pairs(count: int, what: str = "events") -> str:
    """Say what so many events, or series, do not allow to conclude about two detectors.

    Examples
    --------
    >>> caution_about_pairs(3)[-70:]
    'differences have no interval and no probability, which take 6 or more.'
    >>> caution_about_pairs(10)
    ''
    """
    if FEWEST <= count < FEWEST_TO_COMPARE:
        number = _WORDS[count]
        every = "both" if count == FEWEST else f"all {number}"
        return (
            f"There are only {number} {what}. They show who did better on these, and in what; not "
            f"who is better. One of two equally good detectors wins {every} by luck one time in "
            f"{2 ** (count - 1)}: {_NO_DIFFERENCE}"
        )
    if count == 1:
        return (
            f"There is only one {_one(what)}. It shows who did better on it, and says nothing "
            f"about who is better: {_NO_DIFFERENCE}"
        )
    return caution_about(count, what)


def caution_about_some(count: int, units: int, score: str, what: str) -> str:
    """Say on how few of the events, or series, a score is defined; nothing if that is enough.

    Examples
    --------
    >>> caution_about_some(2, 20, "Precision", "events")
    'Precision is defined on only 2 of the 20 events.'
    """
    return f"{score} is defined on only {count} of the {units} {what}." if count <= _FEW else ""


def _one(what: str) -> str:
    return "event" if what == "events" else what
