"""Many series at once: a table or files in, one row for each series and detector out."""

from __future__ import annotations

from collections import deque
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError, expected
from closecall.tables.batch.journal import Journal, sole_writer
from closecall.tables.batch.long_series import Joined, can_be_cut, evaluate_endless
from closecall.tables.batch.options import DETECTOR, BatchOptions, Disorder, describe
from closecall.tables.batch.result import BatchResult
from closecall.tables.batch.rows import UnitRows, evaluate_unit, in_order
from closecall.tables.batch.run import Failure, Outcome, prepare, progress_bar, run, unread
from closecall.tables.batch.status import OK
from closecall.tables.batch.thresholds import Changes, Pool, unit_changes
from closecall.tables.sources import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.tables.sources import Source, Unit
    from closecall.tables.sources.source import Kind

_THRESHOLDS, _UNREAD = "thresholds", "unread"
_LARGE = 10_000_000  # samples of one series, that take about a gigabyte


@dataclass(frozen=True, slots=True)
class Batch:
    """Units, how they are run, and where what is finished is kept."""

    units: Sequence[Unit]
    execute: Callable[..., Any]
    """`closecall.tables.batch.run.run`, with its engine."""
    progress: bool | None = None
    journal: Journal | None = None
    notice: str = ""
    """A line for people, said beside the progress bar."""

    @classmethod
    def plan(
        cls,
        source: Source,
        options: BatchOptions,
        execute: Callable[..., Any],
        *,
        progress: bool | None = None,
        journal: Journal | None = None,
    ) -> Batch:
        """Plan the units of a source; parts of one series are apart only if that is exact."""
        units: list[Unit] = source.units()
        if not units:
            raise InputError(expected(f"{source.name} to hold at least one series", "none"))
        notice = ""
        if not options.by and len(units) > 1 and not can_be_cut(options):
            whole = Joined(tuple(units))
            notice, units = _memory_notice(whole.rows), [whole]
        return cls(units, execute, progress, journal, notice)

    def shared_thresholds(self, options: BatchOptions) -> tuple[dict[str, float], list[Failure]]:
        """Find the threshold of each detector, from the units that can be read.

        It is kept only if all can: a later attempt would else go on with another threshold.
        """
        known = None if self.journal is None else self.journal.noted(_THRESHOLDS)
        if known is not None:
            return dict(known), []
        pool, failures = Pool(), dict[str, str]()
        waiting: dict[str, Mapping[str, Changes]] = {}
        keys = deque(unit.key for unit in self.units)
        function = partial(unit_changes, options=options)
        with closing(self._outcomes(self.units, function, "Choosing thresholds")) as outcomes:
            for outcome in outcomes:
                if outcome.value is None:
                    failures[outcome.key] = str(outcome.error)
                waiting[outcome.key] = outcome.value or {}
                # Sums in the order of the units have the same digits on every engine.
                while keys and keys[0] in waiting:
                    pool.add(waiting.pop(keys.popleft()))
        unread_units = list(failures.items())
        if unread_units and (options.strict or len(unread_units) == len(self.units)):
            raise unread(unread_units)
        shared = pool.best()
        if self.journal is not None:
            # A note of what was not read keeps the batch begun, for another attempt.
            if unread_units:
                self.journal.note(_UNREAD, [key for key, _ in unread_units])
            else:
                self.journal.note(_THRESHOLDS, shared)
        return shared, unread_units

    def without(self, failures: Sequence[Failure]) -> Batch:
        """Leave out the units whose series had no say in a shared threshold.

        What comes of the others is not kept: their threshold is not that of all.
        """
        if not failures:
            return self
        missing = {key for key, _ in failures}
        units = [unit for unit in self.units if unit.key not in missing]
        return replace(self, units=units, journal=None)

    def evaluate(self, options: BatchOptions) -> tuple[list[UnitRows], list[Failure]]:
        """Evaluate every unit: what came of those that could be, and why others could not."""
        if not options.by and len(self.units) > 1:
            whole = evaluate_endless(self.units, options, self._parts)
            return [self._checked(whole, options)], []
        kept = {} if self.journal is None else {one.key: one for one in self.journal.finished()}
        done = [kept[unit.key] for unit in self.units if unit.key in kept]
        failures: list[Failure] = []
        remaining = [unit for unit in self.units if unit.key not in kept]
        function = partial(evaluate_unit, options=options)
        with closing(self._outcomes(remaining, function, "Evaluating")) as outcomes:
            for outcome in outcomes:
                if outcome.value is None:
                    failures.append((outcome.key, str(outcome.error)))
                    if options.strict:
                        break
                else:
                    done.append(self._checked(outcome.value, options))
        if failures and (options.strict or not done):
            raise unread(failures)
        return done, failures

    def _checked(self, part: UnitRows, options: BatchOptions) -> UnitRows:
        """Keep what came of a unit, unless a strict options stopped in the middle of it."""
        if options.strict:
            require_health(part.rows, options)
        if self.journal is not None:
            self.journal.write(part)
        return part

    def _parts(
        self, units: Sequence[Unit], function: Callable[[Any], Any]
    ) -> Generator[Outcome[Any], None, None]:
        """Yield what became of each part of one series, and first what was kept of it."""
        kept: set[str] = set()
        if self.journal is not None:
            known = {unit.key for unit in units}
            for key, part in self.journal.finished_parts():
                if key in known:
                    kept.add(key)
                    yield Outcome(key, value=part)
        remaining = [unit for unit in units if unit.key not in kept]
        with closing(self._outcomes(remaining, function, "Evaluating")) as outcomes:
            for outcome in outcomes:
                if self.journal is not None and outcome.value is not None:
                    self.journal.write_part(outcome.key, outcome.value)
                yield outcome

    def _outcomes(
        self, units: Sequence[Unit], function: Callable[[Any], Any], what: str
    ) -> Generator[Outcome[Any], None, None]:
        """Yield what became of each unit, as they finish; closing it gives up the others."""
        sizes = {unit.key: unit.rows for unit in units}
        with (
            progress_bar(sum(sizes.values()), what, show=self.progress) as bar,
            closing(self.execute(units, function, notify=bar.say)) as finished,
        ):
            if self.notice:
                bar.say(self.notice)
            for outcome in finished:
                bar.advance(sizes[outcome.key])
                yield outcome


def _memory_notice(rows: int) -> str:
    """Say of a large series that it is held in memory, and how it need not be."""
    if rows < _LARGE:
        return ""
    return (
        f"One series of {rows:,} samples is read into memory: what is asked for looks at all of "
        'them at once. With metrics=["affiliation"] (--metric affiliation), a number as the '
        'threshold or predictions, and disorder="error", it is read in parts.'
    )


def require_health(rows: pa.Table, options: BatchOptions) -> None:
    """Refuse the first series in trouble, with its key and what is wrong."""
    for place, status in enumerate(rows.column("status").to_pylist()):
        if status != OK:
            row = rows.slice(place, 1).to_pylist()[0]
            key = ", ".join(f"{name}={row[name]!r}" for name in (*options.by, DETECTOR))
            got = f"{status!r} for {key}: {row['reason']}".removesuffix(".")
            hint = (
                "Without `strict=True` (`--strict`) it is reported in its row, and the others go "
                "on."
            )
            rule = "every series to be evaluated, with `strict=True`"
            raise InputError(expected(rule, got, hint))


def result_of(
    done: Sequence[UnitRows], failures: Sequence[Failure], options: BatchOptions, kind: Kind
) -> BatchResult:
    """Put what came of the units together, in the one order of rows."""
    rows = in_order([unit.rows for unit in done], options)
    parts = [unit.events for unit in done if unit.events is not None]
    events = in_order(parts, options) if parts else None
    if events is None and options.per_event:
        events = rows.select([*options.by, *(() if options.is_long else (DETECTOR,))]).slice(0, 0)
    failed = tuple(sorted(failures))
    return BatchResult(rows, events, options, kind, failed, units=len(done) + len(failed))


def evaluate_frame(
    data: Any,
    *,
    by: str | Iterable[str] | None = (),
    truth: str,
    score: str | Iterable[str] | None = None,
    predicted: str | Iterable[str] | None = None,
    time: str | None = None,
    threshold: Any = None,
    metrics: Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    per_event: bool = False,
    disorder: Disorder = "error",
    strict: bool = False,
    engine: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> BatchResult:
    """Evaluate detectors on every series of a table, file or folder.

    Each series is read once and evaluated as `closecall.evaluate` would, with the same digits,
    in this process, in several, or on a cluster. What is wrong with one series becomes the status
    of its rows and never stops the others.

    Parameters
    ----------
    data
        A pandas, polars (eager or lazy), pyarrow, DuckDB or Dask frame; or the path of a Parquet
        or CSV file, a glob, or a folder (with hive partitions or without).
    by
        Columns whose values tell the series apart; without any, all is one series. In a long
        table, where a column says which detector a row belongs to, call it ``detector`` and list
        it here.
    truth
        The column of 0/1 labels.
    score
        A column of scores, higher is more anomalous, or a list: one for each detector, which goes
        by the column's name.
    predicted
        A column of 0/1 predictions, or a list, in the place of scores.
    time
        The column of times. Where they are uneven, the last sample lasts the median step of its
        series. Without it, samples are counted.
    threshold
        How scores become predictions, ``score >= threshold``: a number; ``{"quantile": 0.99}`` or
        ``"quantile:0.99"``, of the scores of each series; ``"best_f1"`` (the default), the one
        with the best affiliation F1 on each series; ``"best_f1_global"``, one for all series of
        a detector, with the best F1 pooled over the events of all of them. The last two look at
        the truth, so what they give is a bound on what a detector could do, not what it would.
        Metrics that need no threshold ignore it.
    metrics
        Names from `closecall.metrics.table`, or a mapping from names to parameters. By default
        affiliation, and for scores its average precision.
    per_event
        Whether there is also one row for each true event.
    disorder
        What to do where times repeat or go back: ``"error"`` gives the rows a status; ``"sort"``
        sorts the samples by time (repeated times remain an error); ``"index"`` ignores the times
        of these series and counts their samples, also where a time is missing, or the only one.
    strict
        Raise for the first series in trouble instead of giving it a status.
    engine
        Nothing for this machine, a `concurrent.futures.Executor`, a Dask client, or the address
        of a Dask scheduler.
    workers
        How many processes to use on this machine.
    progress
        Whether to show a progress bar; by default only on a terminal.
    out
        A file for the rows, ``.parquet`` or ``.csv`` (rows of events go beside it, to
        ``.events.parquet``). What is finished is kept in a folder beside it until all is there,
        so that a batch that was stopped can go on. Where units failed, `out` is not written, and
        `resume` tries them again.
    resume
        Go on with the batch that was writing to `out`.
    overwrite
        Replace what is at `out`, finished or not.

    Returns
    -------
    BatchResult
        ``rows`` and ``events`` (in the kind of table that came in; polars for lazy frames, pandas
        for Dask, Arrow for files and DuckDB), ``summary()``, ``leaderboard()``, ``intervals()``,
        ``write(path)``, ``plot()``. Every series and detector has a row; rows are ordered by the
        series' keys, then as the detectors were given. ``failures`` names the units of work that
        could not be read, as with a damaged file: the series in them have no rows. The
        representation counts them; look at it, or at ``failures``, before you use the rows.

    Raises
    ------
    InputError
        An option or a column is wrong; nothing could be read; or, with ``strict=True``, a series
        is wrong or a unit could not be read.

    Examples
    --------
    >>> import closecall as cc, pyarrow as pa
    >>> table = pa.table(
    ...     {
    ...         "machine": ["a"] * 4 + ["b"] * 4,
    ...         "label": [0, 1, 1, 0, 0, 0, 1, 0],
    ...         "forest": [0.1, 0.9, 0.4, 0.2, 0.3, 0.1, 0.8, 0.2],
    ...         "noise": [0.5, 0.1, 0.2, 0.9, 0.6, 0.7, 0.3, 0.4],
    ...     }
    ... )
    >>> result = cc.evaluate_frame(table, by="machine", truth="label", score=["forest", "noise"])
    >>> result
    BatchResult(4 rows: 4 evaluated)
    >>> result.rows["affiliation_f1"].to_pylist()[:2]
    [1.0, 0.769...]
    >>> result.leaderboard()["detector"].to_pylist()
    ['forest', 'noise']
    """
    options = BatchOptions.read(
        by=by,
        truth=truth,
        score=score,
        predicted=predicted,
        time=time,
        threshold=threshold,
        metrics=metrics,
        per_event=per_event,
        disorder=disorder,
        strict=strict,
    )
    prepare(engine=engine, workers=workers)
    source = open_source(data, options)
    execute = partial(run, engine=engine, workers=workers)
    with nullcontext() if out is None else sole_writer(out):
        journal = _journal(out, options, source, resume=resume, overwrite=overwrite)
        batch = Batch.plan(source, options, execute, progress=progress, journal=journal)
        unread: list[Failure] = []
        if options.threshold.kind == "best_f1_global":
            shared, unread = batch.shared_thresholds(options)
            options = options.with_thresholds(shared)
        done, failures = batch.without(unread).evaluate(options)
        failures += unread
        result = result_of(done, failures, options, source.kind)
        if journal is not None and not failures:
            journal.complete(result.table, result.event_table)
    return result


def _journal(
    out: str | PathLike[str] | None,
    options: BatchOptions,
    source: Source,
    *,
    resume: bool,
    overwrite: bool,
) -> Journal | None:
    if out is not None:
        about = describe(options, source.fingerprint)
        return Journal.open(out, about, resume=resume, overwrite=overwrite)
    for name, given in (("resume", resume), ("overwrite", overwrite)):
        if given:
            raise InputTypeError(expected(f"`out` beside `{name}`", "none"))
    return None
