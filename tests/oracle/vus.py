"""Volume under the surface by brute force: every window, every threshold, every sample."""

from itertools import pairwise
from math import fsum, nan, sqrt


def runs(labels):
    """List the runs of ones as (first, last)."""
    found = []
    for i, label in enumerate(labels):
        if label:
            if found and found[-1][1] == i - 1:
                found[-1] = (found[-1][0], i)
            else:
                found.append((i, i))
    return found


def soft_label(i, events, window):
    """Add up what every event's buffer gives a sample, and cut it off at 1."""
    total = 0.0
    for first, last in events:
        distance = max(first - i, i - last, 0)
        if distance == 0:
            return 1.0
        if distance <= window // 2:
            total += sqrt(1 - distance / window)
    return min(total, 1.0)


def segments(events, window, length):
    """Widen the events, and join those that share a sample."""
    half = window // 2
    sets = [
        set(range(max(first - half, 0), min(last + half, length - 1) + 1)) for first, last in events
    ]
    joined = [sets[0]]
    for samples in sets[1:]:
        if joined[-1] & samples:
            joined[-1] |= samples
        else:
            joined.append(samples)
    return joined


def points(labels, scores, window):
    """Give (tpr, fpr, precision) at every distinct score, descending."""
    length, true = len(labels), sum(map(bool, labels))
    events = runs(labels)
    soft = [soft_label(i, events, window) for i in range(length)]
    found = []
    for threshold in sorted(set(scores), reverse=True):
        predicted = {i for i in range(length) if scores[i] >= threshold}
        hit = fsum(soft[i] for i in predicted)
        # The positives: halfway between the true samples, and these plus the buffer predicted.
        positives = (true + true + fsum(soft[i] for i in predicted if not labels[i])) / 2
        parts = segments(events, window, length)
        existence = sum(bool(part & predicted) for part in parts) / len(parts)
        rate = min(hit / positives, 1) * existence
        false = (len(predicted) - hit) / (length - positives) if true < length else nan
        found.append((rate, false, hit / len(predicted)))
    return found


def areas(labels, scores, window):
    """Give the area under the ROC curve and under the PR curve of one window."""
    curve = [(0.0, 0.0, 1.0), *points(labels, scores, window)]
    pr = fsum((b[0] - a[0]) * b[2] for a, b in pairwise(curve))
    closed = [*curve, (1.0, 1.0, nan)]
    roc = fsum((b[1] - a[1]) * (a[0] + b[0]) / 2 for a, b in pairwise(closed))
    return roc, pr


def volumes(labels, scores, window):
    """Average both over the windows 0, ..., window."""
    if not any(labels):
        return nan, nan
    both = [areas(labels, scores, w) for w in range(window + 1)]
    return fsum(a for a, _ in both) / len(both), fsum(b for _, b in both) / len(both)
