"""The compiled pass that takes undetected events and wrong predictions from each other.

An event counts as long as enough of it is matched by predictions that count, and the other way
round, so that one removal can cause the next. What is left does not depend on the order. Parts are
in the order of time, and those of one event, or of one prediction, follow each other.

Only the first and the last part of an event can belong to a prediction that is removed before the
event is, since the others lie inside it whole; so each is looked at three times at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def matched_share(
    node: int,
    length: float,
    begin: NDArray[np.int64],
    partner: NDArray[np.int64],
    removed: NDArray[np.bool_],
    part_lengths: NDArray[np.float64],
) -> float:
    """Give the share of a node that partners still match; -1 if there are none."""
    total, count = 0.0, 0
    for part in range(begin[node], begin[node + 1]):
        if not removed[partner[part]]:
            total += part_lengths[part]
            count += 1
    if count == 0:
        return -1.0
    # What meets a point covers all of it.
    return total / length if length > 0 else 1.0


@kernel
def prune(
    lengths: NDArray[np.float64],
    begin: NDArray[np.int64],
    order: NDArray[np.int64],
    partner: NDArray[np.int64],
    part_lengths: NDArray[np.float64],
    thresholds: NDArray[np.float64],
) -> Any:
    """Mark which nodes are removed: events and predictions, numbered one after the other.

    Every part is listed twice, once under each of its nodes: those of node k are
    `begin[k]` to `begin[k + 1]`. `order` holds the nodes as they are to be looked at first.
    """
    removed = np.zeros(lengths.size, dtype=np.bool_)
    waiting = np.empty(order.size + partner.size, dtype=np.int64)
    waiting[: order.size] = order
    last = order.size
    while last > 0:
        last -= 1
        node = waiting[last]
        if removed[node]:
            continue
        share = matched_share(node, lengths[node], begin, partner, removed, part_lengths)
        if 0 <= share < thresholds[node]:
            removed[node] = True
            for part in range(begin[node], begin[node + 1]):
                if not removed[partner[part]]:
                    waiting[last] = partner[part]
                    last += 1
    return removed
