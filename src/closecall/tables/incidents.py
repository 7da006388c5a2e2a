"""Read events from the files that people keep incidents in, each known by its content."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np

from closecall.clock import read_times
from closecall.errors import InputError, InputTypeError, shown
from closecall.events import Events, read_severity_order, runs
from closecall.files import ucr_anomaly
from closecall.parameters import duration_of_text, is_listed, is_number, read_flag
from closecall.tables.reading import opened, shown_name, table_of
from closecall.tables.times import TimeFormat, is_local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo

    from closecall.tables.times import Fold, TimeUnit

    Row: TypeAlias = tuple[Any, Any, Mapping[str, Any]]
    Reader: TypeAlias = Callable[[tuple[str, str] | None, str], "Listing"]
    """Takes the two columns, if they are named, and how a caller would name them."""

# How the two columns of an event list are called, in lower case and without underscores.
_PAIRS = (
    ("start", "stop"),
    ("start", "end"),
    ("begin", "end"),
    ("from", "to"),
    ("startsat", "endsat"),
    ("starttime", "endtime"),
    ("timestamp", "duration"),
)
_SMD_LINE = re.compile(rb"(\d+)-(\d+):([\d,]*)$")
_LARGEST = 2**30  # bytes of a list of events, and of the table that it becomes
_START = 2**16  # bytes in which the first line of a list ends
_COLUMNS = '`columns="{},{}"`'

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_END_YET = 1  # the year that Alertmanager writes for an alert that still fires


@dataclass(frozen=True, slots=True)
class Listing:
    """Events as a source has them: what it calls their ends, and a row for each."""

    name: str
    start: str
    stop: str
    rows: Sequence[Row]
    """Start, stop and details; a stop that is missing is not known yet."""
    in_samples: bool = False
    """Whether the ends are numbers of samples, whatever the times of these are."""

    def is_local(self, how: TimeFormat) -> bool:
        """Return whether it has times without an offset."""
        starts, stops = _dated(self, replace(how, zone=None))
        return any(map(is_local, (*starts, *stops)))


def read_events(
    source: Any,
    *,
    columns: tuple[str, str] | str | None = None,
    series: str | None = None,
    timezone: str | tzinfo | None = None,
    fold: Fold | None = None,
    time_unit: TimeUnit | None = None,
    open_until: Any = None,
    merge: bool = False,
    severity_order: Sequence[str] | str | None = None,
    encoding: str = "utf-8",
) -> Events:
    r"""Read events from a file of incidents, whatever their order, or from a dataframe.

    A table, as CSV, Parquet or a list of JSON records, has two columns of times: ``start`` and
    ``stop``, ``start`` and ``end``, ``begin`` and ``end``, ``from`` and ``to``, ``startsAt`` and
    ``endsAt``, ``start_time`` and ``end_time``, or ``timestamp`` and ``duration`` (numbers, or
    lengths such as ``5min``). Its other columns become `Events.details`. These files are known by
    their content:

    - windows of NAB (JSON), each of which ends at its last time;
    - annotations of Grafana (JSON), where one without a region is a point;
    - alerts of Alertmanager (JSON), as its API and its webhook give them;
    - an export of Label Studio's time series labels (JSON);
    - ``labeled_anomalies.csv`` of SMAP and MSL, and ``interpretation_label`` of SMD, in numbers of
      samples from 0, where both ends of an interval lie inside it;
    - one 0/1 label per line, as SMD's ``test_label``;
    - a file of the UCR archive, whose name says where its anomaly is.

    Parameters
    ----------
    source
        A path, ``-`` for standard input, or a pandas, polars or pyarrow dataframe.
    columns
        The two columns, ``("opened", "closed")`` or ``"opened,closed"``, where they are called
        otherwise, or where several may be meant.
    series
        Which series, where a file has the events of several.
    timezone
        What times without an offset are in, ``"Europe/Berlin"``. An hour that the clocks skip is
        an error.
    fold
        Which is meant of an hour that the clocks show twice, the ``"earlier"`` or the ``"later"``
        one; if not given, such times are an error that lists them.
    time_unit
        What numbers count from 1970 in UTC: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``. If not given,
        they are numbers.
    open_until
        When an event stops that has no end yet; if not given, such an event is an error.
    merge
        Join events that overlap or touch. Their details are listed, ``"disk full; disk slow"``.
    severity_order
        Severities from the lowest to the highest, ``["low", "high"]`` or ``"low,high"``: events
        that are joined keep the highest.
    encoding
        How the text of a CSV file is encoded.

    Returns
    -------
    Events
        Sorted by start, with `Events.details`.

    Raises
    ------
    InputError
        Something in the file breaks a rule; the message names the row and the column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import closecall as cc
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "incidents.csv"
    >>> _ = path.write_text("severity,begin,end\nlow,20,23\nhigh,3,7\n")
    >>> events = cc.read_events(path)
    >>> events, events.details["severity"].tolist()
    (Events([(3, 7), (20, 23)]), ['high', 'low'])
    """
    how = TimeFormat.read(timezone, fold, time_unit)
    joined = read_flag(merge, "merge")
    order = read_severity_order(severity_order, merge=joined)
    listing = listing_of(source, _column_pair(columns), series, encoding)
    hint = "Say until when such events last: `open_until=end_of_the_series`."
    if open_until is not None:
        if is_listed(open_until):
            raise InputTypeError("to be a time", shown(open_until), argument="open_until")
        open_until = how.moment(_read_time(open_until, how, "`open_until`"), "`open_until`")
    events = events_of(listing, how, open_until, hint)
    return Events.wrap(events.intervals.merged(severity_order=order)) if joined else events


def events_of(listing: Listing, how: TimeFormat, open_until: Any, hint: str) -> Events:
    """Read the times of a listing; the hint is for an event without an end."""
    starts, stops = _dated(listing, TimeFormat() if listing.in_samples else how)
    for row, stop in enumerate(stops):
        if stop is not None:
            continue
        if open_until is None:
            rule = f"an end, {listing.stop!r}, of the event in row {row + 1} of {listing.name}"
            raise InputError(rule, "none", hint=hint, code="open_event")
        # One that starts after the series lies outside of it, as others do.
        known, _ = read_times([starts[row], open_until], listing.start)
        stops[row] = starts[row] if known[0] > known[1] else open_until
    if not starts:
        return Events([])
    order = np.argsort(read_times(starts, listing.start)[0], kind="stable").tolist()
    events = Events.from_arrays([starts[row] for row in order], [stops[row] for row in order])
    details = details_of([listing.rows[row][2] for row in order])
    return Events.wrap(replace(events.intervals, details=details))


def _dated(listing: Listing, how: TimeFormat) -> tuple[list[Any], list[Any]]:
    """Read starts and stops, all at once; a stop that is not known yet is None."""
    source, lasting = listing.name, is_duration(listing.stop)
    starts: list[tuple[str, Any]] = []
    stops: dict[int, tuple[str, Any]] = {}
    lengths: dict[int, tuple[str, Any]] = {}
    for row, (start, stop, _) in enumerate(listing.rows):
        first, last = (f"{name!r} in row {row + 1}" for name in (listing.start, listing.stop))
        begin = _read_time(start, how, f"{first} of {source}")
        starts.append((first, begin))
        if _is_missing(stop):
            continue
        called = f"{last} of {source}"
        if not lasting:
            stops[row] = last, _read_time(stop, how, called)
        elif is_number(length := _read_length(stop, called)) and is_number(begin):
            stops[row] = last, begin + length  # in the unit of the numbers
        else:
            lengths[row] = called, length
    moments = how.moments([*starts, *stops.values()], source)
    begins, ends = moments[: len(starts)], dict(zip(stops, moments[len(starts) :], strict=True))
    ends |= {row: _after(begins[row], *length) for row, length in lengths.items()}
    return begins, [ends.get(row) for row in range(len(begins))]


def _column_pair(columns: Any) -> tuple[str, str] | None:
    """Read what the two columns of times are called."""
    if columns is None:
        return None
    parts = columns.split(",") if isinstance(columns, str) else columns
    if (
        not isinstance(parts, list | tuple)
        or len(parts) != 2  # noqa: PLR2004 - a pair
        or not all(isinstance(part, str) for part in parts)
    ):
        rule = 'to name two columns, such as ("start", "stop")'
        raise InputTypeError(rule, shown(columns), argument="columns")
    return parts[0].strip(), parts[1].strip()


def listing_of(
    source: Any, columns: tuple[str, str] | None, series: str | None, encoding: str
) -> Listing:
    """Read a dataframe, or a file by its name or its content."""
    if not isinstance(source, str | PathLike):
        import narwhals as nw

        frame = nw.from_native(source, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise InputTypeError("to be a path or a dataframe", shown(source), argument="source")
        rows = frame.rows(named=True)
        return _from_records("the dataframe", frame.columns, rows, columns, _COLUMNS)
    name = shown_name(source)
    with opened(source) as file:
        content = listed_in(file, name, by_name=columns is None)
        if content is None:
            content = table_of(file, name, encoding=encoding, budget=_LARGEST)[0]
            if len(content.column_names) == 1 and columns is None:
                content = content.column(0)
    return read_listing(name, content, series, columns, _COLUMNS)


def listed_in(file: BinaryIO, name: str, *, by_name: bool) -> Any:
    """Return the content of an open file that lists events; None if it may be a table.

    `by_name` lets the name of a file of the UCR archive say where its anomaly is.
    """
    anomaly = ucr_anomaly(Path(name).name)
    if by_name and anomaly is not None:
        return anomaly
    start = file.read(_START).lstrip()
    file.seek(0)
    is_json = start.startswith((b"[", b"{"))
    if not is_json and not _SMD_LINE.match(start.partition(b"\n")[0].rstrip()):
        return None
    content = file.read(_LARGEST + 1)
    file.seek(0)
    if len(content) > _LARGEST:
        rule = f"a list of events of less than {_LARGEST:,} bytes in {name}"
        raise InputError(rule, "more")
    if not is_json:
        lines = [_SMD_LINE.match(line) for line in content.split()]
        return lines if all(lines) else None
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} to be JSON", f"`{error}`") from None


def read_listing(
    name: str, content: Any, series: str | None, columns: tuple[str, str] | None, option: str
) -> Listing:
    """Read the events of a table, or of what `listed_in` returns.

    `columns` are the two columns, if they are named, and `option` is how a caller names them: a
    text with two places.
    """
    for kind in _FORMATS:
        # Where samples are counted, there are no columns to choose from.
        if (columns is None or kind.in_samples) and kind.matches(content):
            try:
                rows = list(kind.rows(content, name, series))
            except InputError:
                raise
            except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
                rule = f"{name} to hold events as its first one does"
                raise InputError(rule, f"`{error!r}`") from None
            return Listing(name, *kind.ends, rows, kind.in_samples)
    if hasattr(content, "column_names"):
        return _from_records(name, content.column_names, content.to_pylist(), columns, option)
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        names = list(dict.fromkeys(key for record in content for key in record))
        return _from_records(name, names, content, columns, option)
    keys = f"the keys {', '.join(map(str, content))}"[:120] if isinstance(content, dict) else ""
    raise InputError(
        f"{name} to be a list of events",
        f"JSON with {keys or f'{type(content).__name__} of {len(content)}'}",
        hint="Known are the windows of NAB, annotations of Grafana, alerts of Alertmanager, "
        "exports of Label Studio, and lists of records with two times.",
    )


def _from_records(
    name: str,
    names: list[str],
    records: list[dict[str, Any]],
    columns: tuple[str, str] | None,
    option: str,
) -> Listing:
    """Take the two columns of times of a table; all others are details."""
    if not names:  # an empty list in JSON
        return Listing(name, "start", "stop", ())
    if columns is None:
        columns = event_columns(name, names, option)
    if columns is None:
        rule = f"two columns of {name} that are start and end of its events"
        hint = f"Name them, for example {option.format('opened', 'closed')}."
        raise InputError(rule, f"the columns {', '.join(names)}", hint=hint, code=_code(option))
    for column in columns:
        if column not in names:
            rule = f"a column {column!r} of {name}"
            raise InputError(rule, f"none; its columns are: {', '.join(names)}")
    start, stop = columns
    rows = [
        (
            record.get(start),
            record.get(stop),
            {key: value for key, value in record.items() if key not in columns},
        )
        for record in records
    ]
    return Listing(name, start, stop, rows)


def _code(option: str) -> str:
    """Return the code of an error about columns that the command line cannot name."""
    return "event_columns" if option == _COLUMNS else ""


def event_columns(name: str, names: list[str], option: str) -> tuple[str, str] | None:
    """Return the two columns of times of an event list, None if there are no such ones.

    Raises if several may be meant, with the option that chooses: a text with two places for names.
    """
    plain = {_plain(column): column for column in names}
    found = [(plain[first], plain[last]) for first, last in _PAIRS if {first, last} <= plain.keys()]
    if len(found) > 1:
        rule = f"two columns of {name} that are start and end of its events"
        got = " and ".join(f"{first}, {last}" for first, last in found)
        hint = f"Choose: {' or '.join(option.format(*pair) for pair in found)}."
        raise InputError(rule, f"several that may be meant: {got}", hint=hint, code=_code(option))
    return found[0] if found else None


def is_duration(column: str) -> bool:
    """Return whether the second column of an event list says how long events last."""
    return _plain(column) == "duration"


def _plain(column: str) -> str:
    return column.strip().lower().replace("_", "")


def _first(content: Any) -> Any:
    return content[0] if isinstance(content, list) and content else None


def _has(record: Any, *keys: str) -> bool:
    return isinstance(record, dict) and all(key in record for key in keys)


def _alerts(content: Any) -> Any:
    return content.get("alerts") if isinstance(content, dict) else content


def _rows_of_alerts(content: Any, _name: str, _series: str | None) -> Iterable[Row]:
    for alert in _alerts(content):
        end = alert.get("endsAt")
        status = alert.get("status")
        firing = status == "firing" or (_has(status, "state") and status["state"] == "active")
        if isinstance(end, str) and end.startswith(f"{_NO_END_YET:04d}-"):
            end = None
        # The API gives an alert that fires an end in the future: when it will be forgotten.
        yield alert["startsAt"], None if firing else end, dict(alert.get("labels", {}))


def _rows_of_annotations(content: Any, _name: str, _series: str | None) -> Iterable[Row]:
    for annotation in content:
        ends = [annotation["time"], annotation.get("timeEnd") or annotation["time"]]
        first, last = (_EPOCH + timedelta(milliseconds=end) for end in ends)
        tags = ", ".join(map(str, annotation.get("tags") or ()))
        yield first, last, {"text": annotation.get("text", ""), "tags": tags}


def _rows_of_tasks(content: Any, _name: str, _series: str | None) -> Iterable[Row]:
    for task in content:
        for annotation in task["annotations"]:
            for result in annotation["result"]:
                value = result.get("value", {})
                if "timeserieslabels" in value:
                    labels = ", ".join(value["timeserieslabels"])
                    yield value["start"], value["end"], {"label": labels}


def _are_windows(content: Any) -> bool:
    return isinstance(content, dict) and all(
        isinstance(windows, list) and all(isinstance(pair, list) for pair in windows)
        for windows in content.values()
    )


def _rows_of_windows(content: Any, name: str, series: str | None) -> Iterable[Row]:
    for first, last in content[_one_of(list(content), series, name)]:
        yield first, last, {}


def _rows_of_lines(lines: Any, _name: str, _series: str | None) -> Iterable[Row]:
    for line in lines:
        yield int(line[1]), int(line[2]) + 1, {"dimensions": line[3].decode()}


def is_smap(content: Any) -> bool:
    """Return whether a table lists the anomalies of SMAP and MSL."""
    return {"chan_id", "anomaly_sequences"} <= {*getattr(content, "column_names", ())}


def _rows_of_channels(table: Any, name: str, series: str | None) -> Iterable[Row]:
    records = table.to_pylist()
    channels = list(dict.fromkeys(str(record["chan_id"]) for record in records))
    chosen = _one_of(channels, series, name)
    for record in records:  # a channel may stand in several
        if str(record["chan_id"]) == chosen:
            pairs = re.findall(r"\[\s*(\d+)\s*,\s*(\d+)\s*\]", record["anomaly_sequences"])
            kinds = re.findall(r"\w+", str(record.get("class", ""))) + [""] * len(pairs)
            for (first, last), kind in zip(pairs, kinds, strict=False):
                yield int(first), int(last) + 1, {"class": kind}


def _rows_of_labels(column: Any, name: str, _series: str | None) -> Iterable[Row]:
    labels = column.to_pylist()
    if not labels or not all(label in (0, 1) for label in labels):
        rule = f"{name} to have two columns of times, or one 0/1 label in each row"
        raise InputError(rule, f"one column with {shown(labels[0] if labels else None)}")
    for first, after in zip(*runs(np.array(labels, dtype=np.uint8)), strict=True):
        yield first.item(), after.item(), {}


class _Format(NamedTuple):
    """A kind of file that lists events: how its content is known, and its events."""

    matches: Callable[[Any], bool]
    rows: Callable[[Any, str, str | None], Iterable[Row]]
    """Takes the content, what messages call the file, and the series that is asked for."""
    ends: tuple[str, str] = ("start", "stop")
    """What it calls the ends of an event."""
    in_samples: bool = False


_FORMATS = (
    _Format(
        lambda content: _has(_first(_alerts(content)), "startsAt", "labels"),
        _rows_of_alerts,
        ("startsAt", "endsAt"),
    ),
    _Format(
        lambda content: _has(_first(content), "time", "text"),
        _rows_of_annotations,
        ("time", "timeEnd"),
    ),
    _Format(lambda content: _has(_first(content), "annotations"), _rows_of_tasks, ("start", "end")),
    _Format(_are_windows, _rows_of_windows),
    # Those of UCR, SMD, SMAP and MSL, and a column of labels.
    _Format(
        lambda content: isinstance(content, tuple),
        lambda anomaly, *_: [(*anomaly, {})],
        in_samples=True,
    ),
    _Format(lambda content: isinstance(_first(content), re.Match), _rows_of_lines, in_samples=True),
    _Format(is_smap, _rows_of_channels, in_samples=True),
    _Format(lambda content: hasattr(content, "chunks"), _rows_of_labels, in_samples=True),
)


def _one_of(names: list[str], series: str | None, source: str) -> str:
    """Return the series that was asked for, or the only one."""
    if series is None and len(names) == 1:
        return names[0]
    if isinstance(series, str) and series in names:
        return series
    some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")  # noqa: PLR2004 - a few
    rule = f"to name one of the {len(names)} series of {source}"
    got = "no name" if series is None else shown(series)
    raise InputError(rule, got, argument="series", hint=f"They are: {some}.")


def _read_length(value: Any, where: str) -> Any:
    """Read how long an event lasts: a number, or a length such as ``5min``."""
    length: Any = duration_of_text(value) if isinstance(value, str) else value
    if isinstance(value, str) and length is None:
        with suppress(ValueError):
            length = float(value)
    if length is None:
        rule = f"{where} to be a number, or a length of time such as 5min"
        raise InputError(rule, shown(value))
    return length


def _after(start: Any, where: str, length: Any) -> Any:
    """Return when an event stops that lasts so long; beside dates, numbers are seconds."""
    dated = isinstance(start, datetime)
    try:
        if dated and is_number(length):
            length = timedelta(seconds=float(length))
        if dated and start.tzinfo is not None:
            # In a zone, Python would add to what clocks show, also where they change meanwhile.
            return (start.astimezone(UTC) + length).astimezone(start.tzinfo)
        return start + length
    except (TypeError, OverflowError):
        rule = f"{where} to be a length of time that can follow {start}"
        raise InputError(rule, shown(length)) from None


def _read_time(value: Any, how: TimeFormat, where: str) -> Any:
    """Read a number or a time as it is written."""
    if _is_missing(value):
        raise InputError(f"a time as {where}", "none")
    if isinstance(value, str):
        with suppress(ValueError):
            return datetime.fromisoformat(value.strip())
        # A float holds no nanoseconds of an epoch.
        for kind in (float,) if how.unit is None else (int, float):
            with suppress(ValueError):
                return kind(value)
        rule = f"{where} to be a number or an ISO time such as 2024-01-31T08:05"
        raise InputError(rule, shown(value))
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - as it is written
    return value


def _is_missing(value: Any) -> bool:
    try:
        differs = value != value  # noqa: PLR0124 - nan and NaT do; of an array it is no answer
    except ArithmeticError:  # a nan of decimals that tells by this
        return True
    lacking = isinstance(differs, bool | np.bool_) and bool(differs)
    return value is None or lacking or (isinstance(value, str) and not value.strip())


def details_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Turn the details of the events into columns; what an event does not have is None."""
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {}
    for name in names:
        column = np.empty(len(rows), dtype=object)
        column[:] = [None if _is_missing(row.get(name)) else row[name] for row in rows]
        columns[str(name)] = column
    return columns
