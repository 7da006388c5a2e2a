"""NAB's score row by row, from the paper and the rules that NAB documents.

Nothing here comes from the package under test.
"""

from collections.abc import Sequence
from math import exp, floor

WEIGHTS = {  # gained, lost for a false positive, lost for a miss
    "standard": (1.0, 0.11, 1.0),
    "reward_low_FP_rate": (1.0, 0.22, 1.0),
    "reward_low_FN_rate": (1.0, 0.11, 2.0),
}


def sigma(y: float) -> float:
    return -1.0 if y > 3 else 2 / (1 + exp(5 * y)) - 1


def windows_of(labels: Sequence[int]) -> list[tuple[int, int]]:
    """Give the first and the last row of each run of ones."""
    padded = [0, *labels, 0]
    firsts = [i for i in range(len(labels)) if padded[i + 1] > padded[i]]
    lasts = [i for i in range(len(labels)) if padded[i + 1] > padded[i + 2]]
    return list(zip(firsts, lasts, strict=True))


def score(
    windows: Sequence[tuple[int, int]],
    predicted: Sequence[int],
    profile: str = "standard",
    probation: float = 0.15,
) -> tuple[float, int]:
    """Give the raw score, and how many windows there are to detect."""
    gain, false, miss = WEIGHTS[profile]
    ignored = min(floor(probation * len(predicted)), probation * 5000)
    rows = [i for i, label in enumerate(predicted) if label and i >= ignored]
    total, scored = 0.0, 0
    for first, last in windows:
        if last < ignored:
            continue
        scored += 1
        inside = [i for i in rows if first <= i <= last]
        if inside:
            place = -(last - min(inside) + 1) / (last - first + 1)
            total += gain * sigma(place) / sigma(-1)
        else:
            total -= miss
    for i in rows:
        if any(first <= i <= last for first, last in windows):
            continue
        before = [window for window in windows if window[1] < i]
        if not before:
            total -= false
            continue
        first, last = before[-1]
        total += false * (sigma((i - last) / (last - first)) if last > first else -1.0)
    return total, scored


def normalised(raw: float, windows: int, profile: str) -> float:
    gain, _, miss = WEIGHTS[profile]
    return 100 * (raw + miss * windows) / ((gain + miss) * windows)


def best(
    series: Sequence[tuple[Sequence[tuple[int, int]], Sequence[float]]],
    profile: str,
    probation: float,
) -> float:
    """Try every threshold, and none; give the best total."""
    thresholds = {score for _, scores in series for score in scores} | {float("inf")}
    return max(
        sum(
            score(windows, [int(s >= threshold) for s in scores], profile, probation)[0]
            for windows, scores in series
        )
        for threshold in thresholds
    )


def climb(
    series: Sequence[tuple[Sequence[tuple[int, int]], Sequence[float]]],
    profile: str,
    probation: float,
) -> tuple[float, float]:
    """Walk over thresholds as NAB did up to 2018, and look at 1 and 0 after that."""
    tried: dict[float, float] = {}

    def total(threshold: float) -> float:
        if threshold < 0 or threshold > 1:
            return float("-inf")
        if threshold not in tried:
            tried[threshold] = sum(
                score(windows, [int(s >= threshold) for s in scores], profile, probation)[0]
                for windows, scores in series
            )
        return tried[threshold]

    here, length = 0.5, 0.1
    highest = total(here)
    while length > 1e-7:
        for move in (length, -2 * length):
            here += move
            if total(here) > highest:
                highest = total(here)
                length *= 2
                break
        else:
            here += length
            length *= 0.5
    total(1.0)
    total(0.0)
    winner = max(tried, key=lambda threshold: tried[threshold])
    return winner, tried[winner]
