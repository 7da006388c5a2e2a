"""The window metrics by brute force, from their definitions.

Nothing here comes from the package under test. On an integer axis an event is the set of its
samples. On other axes it is a set of moments: the tests keep every border, margin and tolerance on
multiples of 1/2, so the moments at multiples of 1/8 and one just before the (excluded) stop decide
every comparison, and the middles of cells of width 1/4 measure every length. All of them are whole
thousandths, and counted as such.
"""

from collections.abc import Callable, Sequence
from math import nan

Interval = tuple[float, float]
Near = Callable[[int], bool]

UNIT, FINE, JUST = 1000, 125, 1


def samples(event: Interval) -> list[int]:
    return [UNIT * i for i in range(int(event[0]), max(int(event[1]), int(event[0]) + 1))]


def moments(event: Interval) -> list[int]:
    start, stop = (int(UNIT * end) for end in event)
    return [*range(start, stop, FINE), stop - JUST] if start < stop else [start]


def are_near(one: Interval, other: Interval, near: Near, *, whole: bool) -> bool:
    sets = [(samples if whole else moments)(event) for event in (one, other)]
    return any(near(abs(x - y)) for x in sets[0] for y in sets[1])


def window_once(
    truth: Sequence[Interval], predicted: Sequence[Interval], margin: float, *, whole: bool
) -> tuple[float, float]:
    def near(distance: int) -> bool:
        return distance <= UNIT * margin

    hit = sum(any(are_near(t, p, near, whole=whole) for p in predicted) for t in truth)
    alarms = sum(not any(are_near(t, p, near, whole=whole) for t in truth) for p in predicted)
    return _ratio(hit, hit + alarms), _ratio(hit, len(truth))


def margin_rule(
    truth: Sequence[Interval], predicted: Sequence[Interval], margin: float, *, whole: bool
) -> tuple[float, float]:
    def near(distance: int) -> bool:
        return distance < UNIT * margin or distance == 0

    edges = [
        [j for j, p in enumerate(predicted) if are_near(t, p, near, whole=whole)] for t in truth
    ]
    hit = largest_matching(edges)
    return _ratio(hit, len(predicted)), _ratio(hit, len(truth))


def largest_matching(edges: Sequence[Sequence[int]]) -> int:
    """Match by augmenting paths."""
    owner: dict[int, int] = {}

    def place(left: int, tried: set[int]) -> bool:
        for right in edges[left]:
            if right not in tried:
                tried.add(right)
                if right not in owner or place(owner[right], tried):
                    owner[right] = left
                    return True
        return False

    return sum(place(left, set()) for left in range(len(edges)))


def two_sided(
    truth: Sequence[Interval], predicted: Sequence[Interval], tolerance: float, *, whole: bool
) -> tuple[float, float]:
    share = _sample_share if whole else _measured_share
    return share(predicted, truth, tolerance), share(truth, predicted, tolerance)


def _sample_share(of: Sequence[Interval], by: Sequence[Interval], tolerance: float) -> float:
    mine = [sample for event in of for sample in samples(event)]
    others = [sample for event in by for sample in samples(event)]
    return _share(mine, others, tolerance)


def _measured_share(of: Sequence[Interval], by: Sequence[Interval], tolerance: float) -> float:
    others = [moment for event in by for moment in moments(event)]
    cells = [
        middle
        for start, stop in of
        for middle in range(int(UNIT * start) + FINE, int(UNIT * stop), 2 * FINE)
    ]
    return _share(cells or [int(UNIT * start) for start, _ in of], others, tolerance)


def _share(mine: Sequence[int], others: Sequence[int], tolerance: float) -> float:
    near = sum(any(abs(x - y) <= UNIT * tolerance for y in others) for x in mine)
    return _ratio(near, len(mine))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else nan
