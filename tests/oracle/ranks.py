"""Ranks, signed ranks and cliques from their definitions, by brute force."""

from itertools import combinations, product


def average_ranks(table, *, higher_is_better=True):
    """Detectors by name to lists of one number per series; a rank is a mean over all orders."""
    totals = dict.fromkeys(table, 0.0)
    count = len(next(iter(table.values())))
    for place in range(count):
        for name, own in table.items():
            others = [values[place] for values in table.values()]
            better = sum((o > own[place]) if higher_is_better else (o < own[place]) for o in others)
            equal = sum(o == own[place] for o in others)
            totals[name] += sum(range(better + 1, better + equal + 1)) / equal
    return {name: total / count for name, total in totals.items()}


def signed_rank(first, second):
    """The rank-biserial correlation and the two-sided p-value, over every choice of signs."""
    gaps = [a - b for a, b in zip(first, second, strict=True) if a != b]
    if not gaps:
        return 0.0, 1.0
    sizes = [abs(gap) for gap in gaps]
    ranks = [sum(s < own for s in sizes) + (sizes.count(own) + 1) / 2 for own in sizes]
    ahead = sum(rank for rank, gap in zip(ranks, gaps, strict=True) if gap > 0)
    behind = sum(ranks) - ahead
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(ranks))
    ]
    least = sum(total <= ahead for total in sums)
    most = sum(total >= ahead for total in sums)
    return (ahead - behind) / sum(ranks), min(1.0, 2 * min(least, most) / len(sums))


def holm(pvalues):
    """Step down by hand: each adjusted p-value is the largest product up to its place."""
    ordered = sorted(pvalues)
    count = len(ordered)
    adjusted = {
        value: min(1.0, max(ordered[j] * (count - j) for j in range(count) if ordered[j] <= value))
        for value in ordered
    }
    return [adjusted[value] for value in pvalues]


def cliques(count, apart):
    """Every run of neighbours without a pair in `apart`, unless a longer one holds it."""
    runs = [
        set(range(start, stop))
        for start, stop in combinations(range(count + 1), 2)
        if stop - start > 1
    ]
    alike = [run for run in runs if not any({*pair} <= run for pair in apart)]
    return [sorted(run) for run in alike if not any(run < other for other in alike)]
