"""PATE by brute force in fractions: every pair of buffers, every threshold, every sample."""

from fractions import Fraction
from itertools import pairwise
from math import nan


def runs(indices):
    """Split sorted indices into runs, as lists."""
    found = []
    for i in sorted(indices):
        if found and found[-1][-1] == i - 1:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def zones(events, length, early, delay):
    """Give the samples of the buffers before and behind each event, the latter served first."""
    behind = []
    for j, event in enumerate(events):
        limit = events[j + 1][0] if j + 1 < len(events) else length
        behind.append(list(range(event[-1] + 1, min(event[-1] + delay + 1, limit))))
    before = []
    for j, event in enumerate(events):
        free = 0 if j == 0 else (behind[j - 1] or events[j - 1])[-1] + 1
        before.append(list(range(max(event[0] - early, free), event[0])))
    return before, behind


def proximity(x, event, far):
    """Compare the total distance to the event's samples with that of the buffer's far end."""
    return 1 - Fraction(sum(abs(x - y) for y in event), sum(abs(far - y) for y in event))


def missed(event, predicted):
    """Give the weight of what a partly found event misses."""
    first_run = len(runs(predicted & set(event))[0])
    limit = event[0] + first_run
    full = sum(event[-1] - y for y in event)
    total = Fraction(0)
    for x in set(event) - predicted:
        near = sum(abs(x - y) for y in range(event[0], limit + 1))
        total += 1 if x <= limit else 1 - Fraction(near, full)
    return total


def precision_recall(events, length, predicted, early, delay):
    """Weigh one prediction."""
    before, behind = zones(events, length, early, delay)
    hit, lost = Fraction(0), Fraction(0)
    for event, early_zone, late_zone in zip(events, before, behind, strict=True):
        seen = predicted & set(event)
        hit += len(seen)
        hit += sum(proximity(x, event, late_zone[-1]) for x in late_zone if x in predicted)
        if seen:
            hit += sum(proximity(x, event, early_zone[0]) for x in early_zone if x in predicted)
            lost += missed(event, predicted)
        else:
            lost += len(event)
    return hit / len(predicted), hit / (hit + lost)


def recalls(labels, scores, early, delay):
    """Give the recall at every distinct score, descending."""
    return [r for _, r in _points(labels, scores, early, delay)]


def _points(labels, scores, early, delay):
    length = len(labels)
    events = runs(i for i in range(length) if labels[i])
    return [
        precision_recall(events, length, {i for i in range(length) if scores[i] >= h}, early, delay)
        for h in sorted(set(scores), reverse=True)
    ]


def area(labels, scores, early, delay):
    """Give the area under the curve without the points where the recall falls."""
    kept = [(Fraction(1), Fraction(0))]
    for precision, recall in _points(labels, scores, early, delay):
        if recall >= kept[-1][1]:
            kept.append((precision, recall))
    return sum((b[1] - a[1]) * (a[0] + b[0]) / 2 for a, b in pairwise(kept))


def value(labels, scores, early, delay):
    """Average over buffers and no buffers."""
    if not any(labels):
        return nan
    return float(sum(area(labels, scores, e, d) for e in (0, early) for d in (0, delay)) / 4)
