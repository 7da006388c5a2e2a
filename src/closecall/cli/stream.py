"""`closecall stream`: samples as they come, each event as soon as its zone is complete."""

from __future__ import annotations

import json
import os
import re
import select
import sys
import time as clock
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from closecall.affiliation.stream import AffiliationStream
from closecall.cli import options
from closecall.clock import Timed, on_one_clock, read_times
from closecall.errors import ClosecallError, InputError, UnevenTimesError, first_line, reason
from closecall.evaluated_time import FAR, far_step_note, ignored_note
from closecall.files import whole_file
from closecall.parameters import read_length
from closecall.plain import schema_name
from closecall.scores import predicted_at, require_scores
from closecall.tables.reading import GZIP_MAGIC, first_record, imported, shown_name
from closecall.tables.roles import NamedTable
from closecall.tables.series import (
    Reading,
    counted_from,
    outside_limit,
    read_label_column,
    read_score_column,
    read_time_column,
    usual_end_note,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation
    from closecall.clock import Clock, Tick, Ticks

_HELP = """\
Score samples as they come: one JSON line for each event as soon as the next one starts, and the
totals at the end.

FILE has JSON lines, or CSV with a header; `-`, the default, is standard input. The truth is the
0/1 column --truth. Alarms are the 0/1 column --predicted, or the scores --score from --threshold
on. Without --time, samples follow each other at equal steps. An event that is printed is final,
but for `nearest`, which does not know later alarms.

With --state, all that is known is kept in a file, and the next call goes on from there: feed it
the samples that follow, and a header again if it is CSV.

\b
Examples:
  closecall stream day1.csv --truth label --score s --threshold 0.9 --state detector.json
  tail -f samples.jsonl | closecall stream --truth label --predicted alarm --time t
  tail -f samples.csv | closecall stream --truth label --predicted alarm --every 1min
"""
_SIZE = 1 << 20  # bytes that are read at once, at most
_STEPS = 1000  # of the last ones, whose median is how long the last sample lasts
_SAVE = 1.0  # seconds between two states, at least
_YEAR = 365 * 86400.0  # seconds
_DEEPEST = 100  # lists and records in each other; Arrow reads them by recursion, and would crash
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


@click.command(cls=options.Command, help=_HELP)
@click.argument("file", default="-")
@options.option("--truth COLUMN", "0/1 labels.", default="truth")
@options.option("--predicted COLUMN", "0/1 alarms.")
@options.option("--score COLUMN", "Anomaly scores, instead of alarms.")
@options.option("--threshold X", "Scores from which on there is an alarm.", type=float)
@options.option("--time COLUMN", "Times, numbers or ISO 8601.")
@options.time_unit
@options.evaluated(scores=True, files=False)
@options.option("--end TIME", "Where the last sample stops, for the totals.")
@options.option("--every DURATION", "Print totals that often as well, 1min or a number of seconds.")
@options.option("--state FILE", "Go on from there if it exists, and keep it there.")
def stream(
    file: str,
    *,
    predicted: str | None,
    score: str | None,
    threshold: float | None,
    every: Any,
    state: str | None,
    **columns: Any,
) -> None:
    """Score samples as they come."""
    if (predicted is None) == (score is None):
        raise click.UsageError("Give --predicted, or --score and --threshold.")
    if (score is None) != (threshold is None):
        raise click.UsageError("--score and --threshold go together.")
    reading = Reading(
        predicted=() if predicted is None else (predicted,),
        scores=() if score is None else (score,),
        **columns,
    )
    if reading.time is None and (reading.since, reading.until) != (None, None):
        raise click.UsageError("--from and --until go with --time.")
    seconds = every / timedelta(seconds=1) if isinstance(every, timedelta) else every
    if seconds is not None and not 0 < seconds < _YEAR:
        raise click.UsageError("--every must be longer than zero and shorter than a year.")
    scored = _stored(state, reading.max_step)
    samples = _Samples(shown_name(file), reading, threshold)
    saved = clock.monotonic()
    try:
        for lines in _arriving(file, seconds):
            if lines is None:
                _print_total(scored, samples)
                continue
            chunk = samples.read(lines)
            scored.update(chunk.truth, chunk.alarms, times=samples.times, ignore=chunk.ignored)
            for row in scored.closed():
                _print({"kind": "event", **row})
            if state is not None and clock.monotonic() - saved > _SAVE:
                _store(scored, state)
                saved = clock.monotonic()
    finally:
        if state is not None and scored:
            _store(scored, state)
    _print_total(scored, samples)


def _stored(state: str | None, max_step: Any) -> AffiliationStream:
    """Return the stream to go on with, or a new one."""
    if state is None or not Path(state).exists():
        return AffiliationStream(max_step=max_step)
    if max_step is not None:
        raise click.UsageError(f"--max-step is that of {state} already; leave it out.")
    return AffiliationStream.from_json(Path(state).read_text(encoding="utf-8", errors="replace"))


def _store(scored: AffiliationStream, state: str) -> None:
    with whole_file(state) as new:
        new.write_text(scored.to_json(), encoding="utf-8")


def _arriving(file: str, every: float | None) -> Iterator[bytes | None]:
    """Yield whole lines as soon as they are there, and None when totals are due."""
    period, rest = inf if every is None else every, b""
    due = clock.monotonic() + period
    with ExitStack() as opened:
        lines = sys.stdin if file == "-" else opened.enter_context(Path(file).open("rb"))
        source = lines.fileno()
        while True:
            wait = max(due - clock.monotonic(), 0.0)
            if every is None or select.select([source], [], [], wait)[0]:
                more = os.read(source, _SIZE)
                whole, newline, rest = (rest + more).rpartition(b"\n")
                if whole.strip():
                    yield whole + newline
                if not more:
                    if rest.strip():
                        yield rest + b"\n"
                    return
            if clock.monotonic() >= due:
                due = max(due + period, clock.monotonic())
                yield None


class Chunk(NamedTuple):
    """Samples as a stream takes them."""

    truth: NDArray[Any]
    alarms: NDArray[Any]
    ignored: NDArray[np.bool_]
    ticks: Any = None

    def row(self, index: int) -> Chunk:
        """Return one sample."""
        return Chunk(*(column[[index]] for column in self))

    def followed_by(self, other: Chunk) -> Chunk:
        """Return both, one after the other."""
        return Chunk(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    def cut(self, border: Tick, before: Chunk | None, longest: Any) -> Chunk:
        """Cut the sample that lasts over a border in two, be it the last one of the chunk before.

        With `longest`, what is left of its step beyond that stays ignored.
        """
        joined = self if before is None else before.followed_by(self)
        place = int(np.searchsorted(joined.ticks, border)) - 1
        if not 0 <= place < joined.ticks.size - 1 or joined.ticks[place + 1] == border:
            return self
        following = joined.ticks[place + 1]
        stop = following if longest is None else min(joined.ticks[place] + longest, following)
        if border >= stop:
            return self
        ticks = [border] if stop == following else [border, stop]
        copies = [place] * len(ticks)
        new = Chunk(*(np.insert(column, place + 1, column[copies]) for column in joined))
        new.ticks[place + 1 : place + 1 + len(ticks)] = ticks
        new.ignored[place + 2 : place + 1 + len(ticks)] = True
        return new if before is None else Chunk(*(column[1:] for column in new))


@dataclass
class _Samples:
    """Columns of the lines that come, JSON or CSV as the first of them."""

    name: str
    reading: Reading
    threshold: float | None
    header: list[str] | None = None
    """The columns of CSV; None if the lines are JSON, or none came yet."""
    separator: str = ","
    text_times: bool = False
    seen: int = 0
    """Lines before those at hand."""
    count: int = 0
    """Samples before those at hand."""
    times: Timed | None = None
    """Those of the last samples."""
    before: Chunk | None = None
    """The last sample, as it came."""
    end: Chunk | None = None
    """The last sample, with what the limits ignore."""
    first: Tick | None = None
    """The first tick."""
    step: Tick = 0
    """The longest step after a sample that is evaluated."""
    last: Ticks = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The last ticks, which say how long a sample lasts."""
    clock: Clock | None = None

    def read(self, lines: bytes) -> Chunk:
        """Return truth, alarms and what is ignored in some whole lines; their times are kept."""
        if self.seen == 0:
            lines = self._begin(lines)
        table = NamedTable(self.name, self._table(lines), time_format=self.reading.time_format())
        with counted_from(self.count):
            chunk = self._chunk(table)
            if self.reading.time is not None:
                chunk = self._on_time(chunk, table.times(self.reading.time, "time"))
        self.seen += lines.count(b"\n")
        self.count += table.samples
        return chunk

    def _chunk(self, table: NamedTable) -> Chunk:
        """Check the columns as those of a file are checked."""
        reading = self.reading
        truth = read_label_column(table.column(str(reading.truth), "truth"), "truth")
        ignored = np.zeros(truth.size, dtype=bool)
        if reading.ignore is not None:
            column = table.column(str(reading.ignore), "ignore")
            ignored |= read_label_column(column, "ignore").astype(bool)
        if reading.predicted:
            column = table.column(str(reading.predicted[0]), "predicted")
            return Chunk(truth, read_label_column(column, "predicted"), ignored)
        scores = read_score_column(table.column(str(reading.scores[0]), "score"), "score")
        missing = np.isnan(scores)
        require_scores(scores, "score", None if reading.nan == "raise" else ~missing)
        alarms = predicted_at(np.where(missing, -np.inf, scores), self.threshold)
        return Chunk(truth, alarms, ignored | missing)

    def _on_time(self, chunk: Chunk, column: Any) -> Chunk:
        """Read the times of samples, and ignore what lies outside of the limits."""
        times = read_time_column(_fine(column), "time", self.reading)
        self.clock = times.clock
        self.last = np.concatenate((self.last, times.ticks))[-_STEPS:]
        self.first = times.ticks[0].item() if self.first is None else self.first
        given = [limit for limit in self.reading.limits() if limit[1] is not None]
        borders = [Timed(name, *read_times([moment], name)) for name, moment, _ in given]
        chunk = chunk._replace(ticks=times.ticks)
        longest = self._longest()
        for border in borders:
            (_, (tick,)), clock = on_one_clock(times, border)
            if clock == times.clock:  # else the sample counts whole, as it starts
                chunk = chunk.cut(tick, self.before, longest)
        self.before, self.times = chunk.row(-1), replace(times, ticks=chunk.ticks)
        for (_, _, after), border in zip(given, borders, strict=True):
            (ticks, tick), _ = on_one_clock(self.times, border)
            chunk = chunk._replace(
                ignored=chunk.ignored | (ticks >= tick if after else ticks < tick)
            )
        known = chunk if self.end is None else self.end.followed_by(chunk)
        steps = np.diff(known.ticks)[~known.ignored[:-1]]
        self.step, self.end = max(self.step, steps.max(initial=0).item()), chunk.row(-1)
        return chunk

    def _longest(self) -> Any:
        """Return how many ticks a sample lasts at most, if that is limited."""
        if self.reading.max_step is None or self.clock is None:
            return None
        return read_length(self.reading.max_step, self.clock, "max_step")

    @property
    def signed(self) -> dict[str, Any]:
        """The options that a signature names."""
        given = {name: getattr(self.reading, name) for name in ("nan", "since", "until")}
        return {"threshold": self.threshold, **given}

    def usual_end(self) -> tuple[Any, Tick] | None:
        """Return where the last sample stops if it lasts the median step of the last ones."""
        if self.clock is None or self.last.size < 2:  # noqa: PLR2004 - one step
            return None
        end = self.last[-1:] + self._usual_step()
        time = self.clock.scalar(end[0].item()) if self.clock.tz else self.clock.native(end)[0]
        return time, end[0].item()

    def _usual_step(self) -> Any:
        return np.median(np.diff(self.last)).astype(self.last.dtype)

    def require_inside(self) -> None:
        """Raise if all samples lie on the wrong side of a limit."""
        usual = self.usual_end()
        if usual is not None and self.clock is not None:
            whole = Timed("time", np.array([self.first, usual[1]]), self.clock)
            for limit in self.reading.limits():
                if limit[1] is not None:
                    outside_limit(limit, whole, of_many=True)

    def notes(self, result: Affiliation) -> list[str]:
        """Return what must be known beside the totals."""
        pair = result.events.pair
        sentences = ignored_note(pair, {"": result.left_out.alarms})
        usual = self._usual_step() if self.last.size > 1 else 0
        if self.reading.max_step is None and usual and self.step > FAR * usual:
            sentences.append(far_step_note(self.step / usual))
        return sentences

    def _begin(self, lines: bytes) -> bytes:
        """Find out what the lines are; return those with samples."""
        if lines.startswith(GZIP_MAGIC):
            hint = f"Unpack it on the way: `zcat {self.name} | closecall stream -`."
            raise InputError(f"{self.name} to be lines of text", "a gzip file", hint=hint)
        lines = lines.lstrip(b"\xef\xbb\xbf\r\n")
        first = lines.partition(b"\n")[0]
        if first.lstrip().startswith(b"{"):
            try:
                self.text_times = isinstance(json.loads(first).get(self.reading.time), str)
            except (ValueError, RecursionError):  # told where the line is read
                self.text_times = False
            return lines
        self.separator, self.header, named = first_record(first, self.name)
        if not named:
            got = first[:60].decode(errors="replace")
            raise InputError(f"a header in the first line of {self.name}", repr(got))
        self.seen = 1
        return lines.partition(b"\n")[2]

    def _table(self, lines: bytes) -> pa.Table:
        pyarrow = imported("pyarrow")
        # Bytes, and no threads: none of Arrow's may be left with an object of Python's at the end.
        content = pyarrow.BufferReader(lines)
        try:
            if self.header is not None:
                csv = imported("pyarrow.csv")
                return csv.read_csv(
                    content,
                    csv.ReadOptions(column_names=self.header, use_threads=False),
                    csv.ParseOptions(delimiter=self.separator),
                )
            if _depth(lines) > _DEEPEST:
                rule = f"at most {_DEEPEST} levels in {self.name}, from {self._line(0)} on"
                raise InputError(rule, "more")
            lines.decode()  # Arrow would take it, and fail where the text is used
            reader = imported("pyarrow.json")
            # Times that are text stay text, whatever those of one chunk look like.
            schema = (
                pyarrow.schema([(self.reading.time, pyarrow.string())]) if self.text_times else None
            )
            options = reader.ParseOptions(explicit_schema=schema)
            reading = reader.ReadOptions(use_threads=False)
            return reader.read_json(content, reading, options)
        except UnicodeDecodeError as error:
            line = self._line(lines[: error.start].count(b"\n"))
            rule, hint = f"{self.name} to be text in utf-8", "Write it anew in UTF-8."
            raise InputError(rule, f"`{error}` in {line}", hint=hint) from None
        except pyarrow.ArrowException as error:
            rule = f"{self.name} to go on as it began, from {self._line(0)} on"
            raise InputError(rule, f"`{first_line(error)}`") from None

    def _line(self, index: int) -> str:
        return f"line {self.seen + index + 1}"


def _depth(lines: bytes) -> int:
    """Return how many lists and records are in each other at most; more if that is still few."""
    most = lines.count(b"{") + lines.count(b"[") - lines.count(b"}\n{")
    if most <= _DEEPEST:
        return most
    marks = np.frombuffer(_STRING.sub(b"", lines), dtype=np.uint8)
    steps = np.isin(marks, list(b"[{")).astype(np.int64) - np.isin(marks, list(b"]}"))
    return int(np.cumsum(steps).max(initial=0))


def _fine(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Let times have fractions of seconds, which may come after whole ones."""
    kind = times.type
    if getattr(kind, "unit", "") not in ("s", "ms"):
        return times
    return times.cast(imported("pyarrow").timestamp("us", kind.tz))


def _result(scored: AffiliationStream, samples: _Samples, notes: list[str]) -> Affiliation:
    """Score all that was seen; what is wrong is raised, and what is inferred is noted."""
    samples.require_inside()
    try:
        return scored.result(end=samples.reading.end)
    except UnevenTimesError:
        usual = samples.usual_end()
        if usual is None or samples.clock is None:
            raise
        notes.append(usual_end_note(samples.clock.text(usual[1])))
        return scored.result(end=usual[0])


def _print_total(scored: AffiliationStream, samples: _Samples) -> None:
    """Print the scores of all that was seen, if there was a true event."""
    events = len(scored)
    total: dict[str, Any] = {"kind": "total", "events": events, "alarms": scored.alarms}
    notes: list[str] = []
    try:
        result = _result(scored, samples, notes)
    except ClosecallError as error:
        if events:
            raise
        notes.append(reason(error))
    else:
        notes += samples.notes(result)
        total |= {"caught": result.caught, "false_alarms": result.false_alarms}
        total |= {"alarmed": result.alarmed, **result.values(), "headline": result.headline}
        total["signature"] = str(result.signature.adding(**samples.signed))
    total["notes"] = notes
    _print({name: None if value != value else value for name, value in total.items()})  # noqa: PLR0124


def _print(line: dict[str, Any]) -> None:
    click.echo(json.dumps({"schema": schema_name("stream")} | line, allow_nan=False))
    sys.stdout.flush()
