"""The parts of one series, joined."""

from __future__ import annotations

import pickle

import pyarrow as pa

from closecall.tables.batch.joined import Joined

from .groups import HandMade


def test_parts_become_one_group_in_their_order():
    parts = [
        HandMade([((), pa.table({"label": labels}))], key=f"{number}")
        for number, labels in enumerate(([0, 1], [1, 0, 0]))
    ]
    joined = Joined(tuple(parts))
    ((key, table),) = joined.groups()
    assert (key, table["label"].to_pylist()) == ((), [0, 1, 1, 0, 0])
    assert (joined.key, joined.rows) == ("0", 5)
    back = pickle.loads(pickle.dumps(joined))  # noqa: S301 - our own bytes
    assert next(back.groups())[1].num_rows == 5
