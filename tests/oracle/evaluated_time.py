"""Evaluated time by brute force: unit cells of an integer axis that are kept or thrown away.

Nothing here comes from the package under test. A closed tick is a count of the cells that are kept
before it, and a time is opened again by looking for it.
"""

from itertools import pairwise


class Cells:
    """The cells of a span on the integers, of which those inside the stretches are ignored."""

    def __init__(self, span, stretches):
        self.first, self.last = span
        self.kept = [
            cell
            for cell in range(self.first, self.last)
            if not any(start <= cell < stop for start, stop in stretches)
        ]

    @property
    def stop(self):
        """Where the closed axis stops."""
        return self.first + len(self.kept)

    def close(self, tick):
        """Return where a time lies on the closed axis."""
        return self.first + sum(cell < tick for cell in self.kept)

    def closed(self, events):
        """Return the events that are left, on the closed axis."""
        left = []
        for start, stop in events:
            if start == stop:
                if start in self.kept or start == self.last:
                    left.append((self.close(start), self.close(start)))
            elif any(start <= cell < stop for cell in self.kept):
                left.append((self.close(start), self.close(stop)))
        return left

    def told(self, events):
        """Return the events that are left, at the times where something of them is evaluated."""
        left = []
        for start, stop in events:
            inside = [cell for cell in self.kept if start <= cell < stop]
            if start == stop and (start in self.kept or start == self.last):
                left.append((start, start))
            elif inside:
                left.append((inside[0], inside[-1] + 1))
        return left


def gaps(times, end, max_step):
    """Return what is left of the steps that are longer than a sample may last."""
    return [(a + max_step, b) for a, b in pairwise([*times, end]) if b - a > max_step]
