"""The shift test and its corrections by brute force, straight from the definitions.

Nothing here comes from the package under test: shifts are arithmetic modulo the span, p-values are
counted one draw at a time, and an adjusted p-value is found by running the procedure itself at
every level that could matter.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isnan, nan

Interval = tuple
TIE = 1e-12


def shifted(intervals: Sequence[Interval], shift, span: Interval) -> list[Interval]:
    """Move intervals around the span, in two parts where one goes over its end."""
    if shift == 0:
        return list(intervals)
    first, last = span
    length, moved = last - first, []
    for start, stop in intervals:
        new_start = first + (start - first + shift) % length
        new_stop = new_start + (stop - start)
        if new_stop > last:
            moved += [(new_start, last), (first, new_stop - length)]
        else:
            moved.append((new_start, new_stop))
    return sorted(moved)


def pvalue(observed: float, draws: Sequence[float]) -> float:
    """Count the draws that do at least as well, among those that exist."""
    if isnan(observed):
        return nan
    known = [draw for draw in draws if not isnan(draw)]
    as_good = [draw for draw in known if draw > observed or abs(draw - observed) <= TIE]
    return (1 + len(as_good)) / (1 + len(known))


def rejected(pvalues: Sequence[Fraction], level: Fraction, correction: str) -> set[int]:
    """Run a procedure at one level; give the tests that it rejects."""
    count = len(pvalues)
    ranked = sorted(range(count), key=lambda index: pvalues[index])
    if correction == "bonferroni":
        return {index for index in ranked if count * pvalues[index] <= level}
    if correction == "holm":  # step down until the first that stands
        found: set[int] = set()
        for step, index in enumerate(ranked):
            if pvalues[index] * (count - step) > level:
                break
            found.add(index)
        return found
    largest = 0  # step up to the last that falls
    for rank, index in enumerate(ranked, 1):
        if pvalues[index] * count <= rank * level:
            largest = rank
    return set(ranked[:largest])


def adjusted(pvalues: Sequence[Fraction], correction: str) -> list[Fraction]:
    """Find the lowest level, up to 1, at which each test is rejected."""
    count = len(pvalues)
    levels = {Fraction(1)}
    for p in pvalues:
        levels |= {p * Fraction(count, rank) for rank in range(1, count + 1)}
        levels |= {p * rank for rank in range(1, count + 1)}
    candidates = sorted(level for level in levels if level <= 1)
    return [
        next(
            (level for level in candidates if index in rejected(pvalues, level, correction)),
            Fraction(1),
        )
        for index in range(count)
    ]
