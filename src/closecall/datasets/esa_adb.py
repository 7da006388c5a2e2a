"""The labels of a mission of ESA-ADB: when which channel was anomalous, and of what category."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.datasets.layouts import arrow, existing_folder, first_unlike, read_csv
from closecall.errors import InputError, InputTypeError, shown
from closecall.events import Events

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    Moments = NDArray[np.datetime64]

_PUBLISHED = ("Anomaly", "Communication Gap", "Invalid Segment", "Rare Event")


@dataclass(frozen=True)
class EsaLabels:
    """What was labelled in one mission; times are UTC, in nanoseconds, without a time zone.

    Attributes
    ----------
    channels
        The events of each channel that has any, merged, by the channel's name.
    mission
        The events of all channels together, merged.
    """

    channels: dict[str, Events]
    mission: Events

    def __repr__(self) -> str:
        return f"EsaLabels(channels: {len(self.channels)}, events: {len(self.mission)})"


def read_esa_adb(
    folder: str | PathLike[str], *, categories: Collection[str] = ("Anomaly", "Rare Event")
) -> EsaLabels:
    r"""Read the labels of a mission of the European Space Agency's benchmark.

    ``EndTime`` is the last labelled moment: ESA-ADB labels the samples from ``StartTime`` to
    ``EndTime``, both included, and its metrics take closed intervals. In continuous time one
    moment has no length, so the event here is from ``StartTime`` to ``EndTime``; a label of one
    moment is a point event, which ESA-ADB gives a length of 1 ns. Events that overlap or touch
    are merged, within a channel and again over the mission, as in ESA-ADB.

    Parameters
    ----------
    folder
        The folder of a mission, such as ``ESA-Mission1``, with ``labels.csv`` (columns ``ID``,
        ``Channel``, ``StartTime``, ``EndTime``) and ``anomaly_types.csv`` (``ID``, ``Category``).
        The samples, pickled in ``channels/`` and ``telecommands/``, are not read.
    categories
        Which categories count as events. ESA-ADB counts anomalies and rare nominal events, not
        the ``"Communication Gap"`` and the ``"Invalid Segment"``.

    Returns
    -------
    EsaLabels
        ``channels``, events by channel, and ``mission``, those of all channels together. Times
        are UTC and have no time zone, like those of the telemetry.

    Raises
    ------
    InputError
        A file or a column is missing, an ID has no category or one that is neither ESA-ADB's nor
        among `categories`, or times are not in order.

    Examples
    --------
    >>> from pathlib import Path
    >>> from closecall.datasets import read_esa_adb
    >>> _ = Path("labels.csv").write_text(
    ...     "ID,Channel,StartTime,EndTime\n"
    ...     "id_1,channel_41,2004-12-01T20:00:00.000Z,2004-12-01T22:00:00.000Z\n"
    ...     "id_1,channel_42,2004-12-01T21:00:00.000Z,2004-12-01T23:00:00.000Z\n"
    ... )
    >>> _ = Path("anomaly_types.csv").write_text("ID,Class,Category\nid_1,class_6,Anomaly\n")
    >>> labels = read_esa_adb(".")
    >>> labels
    EsaLabels(channels: 2, events: 1)
    >>> labels.mission.durations / np.timedelta64(1, "h")
    array([3.])
    """
    place = existing_folder(folder, "folder", "a mission's labels.csv and anomaly_types.csv")
    category_of = _categories(place / "anomaly_types.csv")
    _check_categories(categories, set(category_of.values()))
    path = place / "labels.csv"
    needed = ["ID", "Channel", "StartTime", "EndTime"]
    table = read_csv(path, needed, as_text=True, may_be_empty=True)
    chosen = _chosen(table.column("ID").to_pylist(), path, category_of, categories)
    channels = np.array(table.column("Channel").to_pylist(), dtype=np.str_)[chosen]
    starts, stops = (_moments(table, name, path) for name in ("StartTime", "EndTime"))
    if (stops < starts).any():
        row = int((stops < starts).argmax())
        rule = f"not to lie before `StartTime` in {path}"
        raise InputError(
            rule, f"{stops[row]} and {starts[row]} in row {row + 1}", argument="EndTime"
        )
    starts, stops = starts[chosen], stops[chosen]
    return EsaLabels(
        {
            str(channel): _merged(starts[channels == channel], stops[channels == channel])
            for channel in np.unique(channels)
        },
        _merged(starts, stops),
    )


def _categories(path: Path) -> dict[str, str]:
    category_of: dict[str, str] = {}
    table = read_csv(path, ["ID", "Category"], as_text=True, may_be_empty=True)
    for row in table.to_pylist():
        if category_of.setdefault(row["ID"], row["Category"]) != row["Category"]:
            rule = f"each ID to have one category in {path}"
            got = f"{category_of[row['ID']]!r} and {row['Category']!r} for {row['ID']!r}"
            raise InputError(rule, got)
    return category_of


def _check_categories(categories: Collection[str], found: set[str]) -> None:
    if isinstance(categories, str):
        hint = f"Pass ({categories!r},)."
        raise InputTypeError("to be a tuple of names", "one name", argument="categories", hint=hint)
    if not isinstance(categories, Collection):
        raise InputTypeError("to be a tuple of names", shown(categories), argument="categories")
    known = sorted({*_PUBLISHED, *found} - {""})
    for category in categories:
        if category not in known:
            rule = f"to be among {', '.join(known)}"
            raise InputError(rule, shown(category), argument="categories")


def _chosen(
    ids: list[str], path: Path, category_of: dict[str, str], categories: Collection[str]
) -> NDArray[np.bool_]:
    for row, name in enumerate(ids, start=1):
        category = category_of.get(name)
        if not category:
            rule = f"a category in anomaly_types.csv for each ID of {path}"
            raise InputError(rule, f"none for {name!r} in row {row}")
        if category not in _PUBLISHED and category not in categories:
            rule = f"categories in anomaly_types.csv to be among {', '.join(_PUBLISHED)}"
            hint = "`categories` may name others, and then they count as events."
            raise InputError(rule, f"{category!r} for {name!r}", hint=hint)
    return np.array([category_of[name] in categories for name in ids], dtype=np.bool_)


def _moments(table: Any, column: str, path: Path) -> Moments:
    """Read ISO 8601 times as UTC: all with a time zone, or all without."""
    timestamp, texts = arrow().timestamp, table.column(column)
    rows = {kind: first_unlike(texts, kind) for kind in (timestamp("ns"), timestamp("ns", "UTC"))}
    for kind, row in rows.items():
        if row is None:
            times: Moments = texts.cast(kind).to_numpy()
            return times
    row = max(row for row in rows.values() if row is not None)  # the first one decides on the kind
    rule = f"of {path} to be ISO 8601 times from 1678 to 2261, all with a time zone or all without"
    raise InputError(rule, f"{texts[row].as_py()!r} in row {row + 1}", argument=column)


def _merged(starts: Moments, stops: Moments) -> Events:
    order = np.argsort(starts, kind="stable")
    return Events.from_arrays(starts[order], stops[order]).merged()
