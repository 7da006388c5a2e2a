"""Many series at once: a table or files in, one row for each series and detector out."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import read_flag, read_path, takes
from closecall.progress import progress_bar
from closecall.tables.batch.engines import KEPT, Engine, open_engine, run
from closecall.tables.batch.journal import Journal, sole_writer
from closecall.tables.batch.long_series import WholeSeries, can_be_cut
from closecall.tables.batch.options import CODE, DETECTOR, HIDDEN, BatchOptions
from closecall.tables.batch.result import BatchResult
from closecall.tables.batch.rows import UnitRows, evaluate_unit, in_order, rows_table
from closecall.tables.batch.summary import advice_on_rows, notes_on_rows
from closecall.tables.batch.thresholds import (
    FoldedChanges,
    PooledChanges,
    series_changes,
    unit_changes,
)
from closecall.tables.reading import MEMORY, memory_of, read_memory, too_large
from closecall.tables.series import Disorder, Status
from closecall.tables.sources import open_source
from closecall.tables.units import DamagedUnit, SeriesUnit, TableRows, needed_columns
from closecall.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Generator, Iterable, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.events import Events
    from closecall.tables.times import TimeUnit
    from closecall.tables.units import Unit, UnitSource

Failure = tuple[str, str]  # the key of a unit, and why it failed
_THRESHOLDS, _UNREAD = "thresholds", "unread"
_LARGE = 10_000_000  # samples of one series, that take about a gigabyte


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
    ignore: str | Events | None = None,
    max_step: Any = None,
    close: Any = None,
    nan: str = "raise",
    since: Any = None,
    until: Any = None,
    time_unit: TimeUnit | None = None,
    fit_until: Any = None,
    folds: int = 5,
    retune: int | None = None,
    series: str | None = None,
    encoding: str = "utf-8",
    memory: float = MEMORY,
    strict: bool = False,
    engine: Any = None,
    workers: int | None = None,
    progress: bool | Callable[[str], Any] | None = None,
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
        How scores become predictions, ``score >= threshold``: a number, or a rule of
        `closecall.choose_threshold`, such as ``"quantile:0.99"``, for each series by itself;
        ``"best_f1"`` (the default) is the best affiliation F1 of each series.
        ``"best_f1_global"`` is one for all series of a detector, with the best F1 pooled over
        the events of all of them. These two are judged by the labels that they were chosen on, so
        they flatter. ``"cross_fit"`` does not: series are in `folds` consecutive folds, in the
        order of their keys, and each has the threshold with the best pooled F1 of the other
        folds (rows also have ``best_f1``, at the series' own best threshold). Metrics that need
        no threshold ignore it.
    metrics
        Names from `closecall.metrics.table`, or a mapping from names to parameters. By default
        affiliation, and for scores its average precision.
    per_event
        Whether there is also one row for each true event.
    disorder
        What to do where times repeat or go back: ``"error"`` gives the rows a status; ``"sort"``
        sorts the samples by time (repeated times remain an error); ``"first"``, ``"last"`` and
        ``"mean"`` also keep one sample of each time, the mean of scores and the highest label;
        ``"index"`` ignores the times
        of these series and counts their samples, also where a time is missing, or the only one.
    ignore
        A 0/1 column: samples whose time is ignored, as in `closecall.affiliation`; or `Events`,
        time that is ignored in every series.
    max_step
        How long a sample may last; the rest of a longer step is ignored.
    close
        How far from a true event a close call may be at most.
    nan
        What to do with samples that have no score: ``"raise"`` gives the rows a status,
        ``"ignore"`` ignores their time, for all detectors of the table; one without any score
        has the status ``nan_score``. ``"each"`` ignores it only for the detector that has none:
        ``ignored_time`` and the true events of a series then differ by detector.
    since, until
        Evaluate only the time from the one to the other, in the caller's own times.
    time_unit
        What times that are numbers count from 1970 in UTC: ``"s"``, ``"ms"``, ``"us"`` or
        ``"ns"``. If not given, they are numbers.
    fit_until
        Choose thresholds on the time before, and evaluate on the time from there on.
    folds
        How many folds of series there are for ``"cross_fit"``; each series is one where they are
        fewer.
    retune
        In how many circular shifts of the scores of each series to choose the best threshold
        again (all, if it has fewer samples): rows have ``retuned_f1``, the mean of these best F1,
        and ``chance_average_precision``. This takes as many curves for each row.
    series
        How the names of files tell series apart: ``"filename"``, each file is one, which goes by
        its name without the ending, in a column ``series``; or a pattern such as
        ``"{group}/{series}.csv"`` for the end of each path, whose fields are text columns, as if
        they were listed under `by`. ``"one"`` says that several files are parts of one series, in
        their order.
    encoding
        How the text of CSV files is encoded, as Python calls it: ``"latin-1"``, ``"utf-16"``.
    memory
        How many gigabytes one series of a file may take with what is computed from it; one that
        needs more is a unit that failed. Metrics that are computed in parts need no more than one.
    strict
        Raise for the first series in trouble instead of giving it a status.
    engine
        Nothing for this machine, a `concurrent.futures.Executor`, a Dask client, or the address
        of a Dask scheduler.
    workers
        How many processes to use on this machine.
    progress
        Whether to show a progress bar; by default only on a terminal. Or a function to be called
        with lines for people: the first tells how many series there are, before they are evaluated.
    out
        A file for the rows, ``.parquet`` or ``.csv`` (rows of events go beside it, to
        ``.events.parquet``). What is finished is kept in a folder beside it until all is there,
        so that a batch that was stopped can go on. Where units failed, `out` is not written, and
        `resume` tries them again.
    resume
        Go on with the batch that was writing to `out`. If that is finished and has the columns that
        are asked for, nothing is evaluated, and its rows are returned, as Arrow tables.
    overwrite
        Replace what is at `out`, finished or not, and the file of events beside it.

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
        ignore=ignore,
        max_step=max_step,
        close=close,
        nan=nan,
        since=since,
        until=until,
        time_unit=time_unit,
        fit_until=fit_until,
        folds=folds,
        retune=retune,
        series=series,
        encoding=encoding,
        memory=memory,
    )
    for name, given in (("resume", resume), ("overwrite", overwrite)):
        if read_flag(given, name) and out is None:
            raise InputTypeError(f"`out` beside `{name}`", "none")
    if progress is not None and not takes(progress, 1):
        if callable(progress):
            rule = "to be a function that can be called as progress(text)"
            raise InputTypeError(rule, shown(progress), argument="progress")
        read_flag(progress, "progress")
    if resume and out is not None:
        with sole_writer(out):
            finished = Journal(read_path(out, "out")).finished(options)
        if finished:
            return BatchResult(*finished, options)
    # Workers start while the data is looked at.
    with open_engine(engine, workers) as opened:
        source = open_source(data, options)
        with nullcontext() if out is None else sole_writer(out):
            journal = None
            if out is not None:
                about = options.describe(source.fingerprint())
                journal = Journal.open(
                    out, about, inputs=source.paths, resume=resume, overwrite=overwrite
                )
            units = _plan(source, options)
            if callable(progress):
                progress(_seen(source, units, options))
            batch = Batch(units, opened, progress, journal)
            result = batch.evaluate(options, source.kind)
            if journal is not None and not result.failures:
                journal.complete(result.signed_table, result.event_table)
    return result


def evaluate_table(table: pa.Table, options: BatchOptions) -> pa.Table:
    """Evaluate the series of one Arrow table, for an engine of your own.

    Spark, Ray and polars can call this on each group of rows. The numbers are those of
    `evaluate_frame`.

    Parameters
    ----------
    table
        Whole series: all rows of each series that is in it.
    options
        ``BatchOptions.read(...)``, with the options of `evaluate_frame` that decide a number. A
        threshold that is chosen on many series (``"best_f1_global"``, ``"cross_fit"``) is an
        error, since one table does not hold them all.

    Returns
    -------
    pyarrow.Table
        A row for each series and detector, with the schema ``rows_schema(options, table.schema)``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from closecall.tables import BatchOptions, evaluate_table
    >>> options = BatchOptions.read(by="machine", truth="label", score="forest")
    >>> table = pa.table({"machine": ["a"] * 3, "label": [0, 1, 0], "forest": [0.1, 0.9, 0.2]})
    >>> evaluate_table(table, options)["affiliation_f1"].to_pylist()
    [1.0]
    """
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        raise InputTypeError("to be a pyarrow Table", shown(table), argument="table")
    _require_single_tables(options)
    names = needed_columns(table.column_names, options, "`table`")
    part = TableRows(table.select(names))
    unit = SeriesUnit("table", table.num_rows, options.by, ((part, (0,)),))
    rows = in_order([evaluate_unit(unit, options).rows], options)
    if options.strict:
        _require_ok(rows, options)
    return rows.drop_columns(HIDDEN).cast(rows_schema(options, table.schema))


def rows_schema(options: BatchOptions, schema: Any = None) -> pa.Schema:
    """Return the schema of the rows that `evaluate_table` gives, before there are any.

    Key columns have the types that they have in `schema`, the schema of the table; they are text
    where it is not given.

    Examples
    --------
    >>> from closecall.tables import BatchOptions, rows_schema
    >>> options = BatchOptions.read(by="machine", truth="label", score="forest")
    >>> rows_schema(options).names[:4]
    ['machine', 'detector', 'status', 'reason']
    """
    import pyarrow as pa

    _require_single_tables(options)
    if schema is None:
        schema = pa.schema([(name, pa.string()) for name in options.by])
    elif not isinstance(schema, pa.Schema):
        raise InputTypeError("to be a pyarrow Schema", shown(schema), argument="schema")
    else:
        needed_columns(schema.names, options, "`schema`")
    return rows_table([], options, schema).drop_columns(HIDDEN).schema


def _require_single_tables(options: Any) -> None:
    """Raise for options that a single table cannot be evaluated with."""
    if not isinstance(options, BatchOptions):
        hint = "Pass `BatchOptions.read(by=..., truth=..., score=...)`."
        raise InputTypeError("to be BatchOptions", shown(options), argument="options", hint=hint)
    if options.of_many_series and not options.shared:
        rule = "a `threshold` that each series decides by itself"
        hint = "Use `evaluate_frame`, which reads all series to choose it."
        raise InputError(rule, str(options.threshold), hint=hint)


def _plan(source: UnitSource, options: BatchOptions) -> list[Unit]:
    """Plan the units of a source; parts of one series are one unit, too large ones fail."""
    units: list[Unit] = source.units()
    if not units:
        raise InputError(f"{source.name} to hold at least one series", "none")
    if not options.by and len(units) > 1:
        whole = WholeSeries(tuple(units), cut=can_be_cut(options))
        if whole.cut:
            return [whole]
        units = [whole]
    budget, width = read_memory(options.memory), len(source.schema)
    for place, unit in enumerate(units if source.paths else ()):
        if memory_of(unit.rows, width) > budget:
            hint = (
                "Pass a larger `memory`; or ask for `metrics=['affiliation']` at a `threshold` "
                "that is a number, which are computed in parts where the data is one series."
            )
            refusal = too_large(f"one series of {source.name}", budget, f"{unit.rows:,} rows", hint)
            units[place] = DamagedUnit(unit.key, refusal, unit.rows)
    return units


def _seen(source: UnitSource, units: Sequence[Unit], options: BatchOptions) -> str:
    """Return how many series there are to evaluate, in words."""
    damaged = sum(isinstance(unit, DamagedUnit) for unit in units)
    detectors = "" if options.is_long else f", {counted(len(options.detectors), 'detector')}"
    told = f", {counted(damaged, 'unit')} that cannot be read" if damaged else ""
    return f"{source.series:,} series{' of detectors' if options.is_long else ''}{detectors}{told}."


@dataclass(frozen=True)
class Batch:
    """Units, what evaluates them, and where what is finished is kept."""

    units: Sequence[Unit]
    engine: Engine
    progress: bool | Callable[[str], Any] | None = None
    journal: Journal | None = None

    @cached_property
    def kept(self) -> dict[str, list[pa.Table]]:
        """What was finished before, by the keys of units."""
        return {} if self.journal is None else self.journal.kept()

    def evaluate(self, options: BatchOptions, kind: Any = "arrow") -> BatchResult:
        """Evaluate every unit, and put what came of them together, in the one order of rows."""
        failures: list[Failure] = []
        batch = self
        if options.of_many_series:
            options, failures = self.with_shared_thresholds(options)
            if failures:
                # What comes of the others is not kept: their threshold is not that of all.
                missing = {key for key, _ in failures}
                units = [unit for unit in self.units if unit.key not in missing]
                batch = Batch(units, self.engine, self.progress)
        done, more = batch.rows(options)
        failures += more
        rows = in_order([unit.rows for unit in done], options)
        statuses, codes = (rows.column(name).to_pylist()[::-1] for name in ("status", CODE))
        first_codes = {key: code or "" for key, code in zip(statuses, codes, strict=True)}
        advice, notes = advice_on_rows(rows, options), notes_on_rows(rows, options)
        rows = rows.drop_columns(HIDDEN)
        parts = [unit.events for unit in done if unit.events is not None]
        events = in_order(parts, options) if parts else None
        if events is None and options.per_event:
            names = [*options.by, *(() if options.is_long else (DETECTOR,))]
            events = rows.select(names).slice(0, 0)
        failed = tuple(sorted(failures))
        count = len(done) + len(failed)
        told = tuple(advice), first_codes, tuple(notes)
        return BatchResult(rows, events, options, kind, failed, count, *told)

    def with_shared_thresholds(self, options: BatchOptions) -> tuple[BatchOptions, list[Failure]]:
        """Find the thresholds of each detector, from the units that can be read."""
        if _THRESHOLDS in self.kept:
            return options.with_thresholds(*_read_thresholds(self.kept[_THRESHOLDS])), []
        pool: Any = FoldedChanges()
        function: Any = partial(series_changes, options=options)
        if options.threshold.kind == "best_f1_global":
            pool = PooledChanges([unit.key for unit in self.units])
            function = partial(unit_changes, options=options)
        failures: list[Failure] = []
        with closing(self._outcomes(function, "Choosing thresholds", failures)) as outcomes:
            for key, changes in outcomes:
                pool.add(key, changes or {})
        if failures and (options.strict or len(failures) == len(self.units)):
            raise unread(failures)
        folded = options.threshold.kind == "cross_fit"
        shared, first_keys = pool.best(options.folds) if folded else (pool.best(), [])
        if self.journal is not None:
            import pyarrow as pa

            # Thresholds of some are not kept: a later attempt would go on with them. The list of
            # what was not read keeps the batch begun.
            if failures:
                self.journal.keep(_UNREAD, [pa.table({"unit": [key for key, _ in failures]})])
            else:
                self.journal.keep(_THRESHOLDS, _written_thresholds(shared, first_keys))
        return options.with_thresholds(shared, first_keys), failures

    def rows(self, options: BatchOptions) -> tuple[list[UnitRows], list[Failure]]:
        """Evaluate the series of every unit, and return why those that could not be were not."""
        kept = self.kept
        done = [UnitRows(unit.key, *kept[unit.key]) for unit in self.units if unit.key in kept]
        failures: list[Failure] = []
        function = partial(evaluate_unit, options=options)
        with closing(self._outcomes(function, "Evaluating", failures, kept)) as outcomes:
            for _, rows in outcomes:
                if rows is not None:
                    if options.strict:  # what it stops in the middle of is not kept
                        _require_ok(rows.rows, options)
                    if self.journal is not None:
                        self.journal.keep(rows.key, rows.tables)
                    done.append(rows)
                elif options.strict:
                    break
        if failures and (options.strict or not done):
            raise unread(failures)
        return done, failures

    def _outcomes(
        self,
        function: Callable[[Any], Any],
        what: str,
        failures: list[Failure],
        kept: Container[str] = (),
    ) -> Generator[tuple[str, Any], None, None]:
        """Yield the value of each unit that is not kept, or None and add to the failures why."""
        units = [unit for unit in self.units if unit.key not in kept]
        sizes = {unit.key: unit.rows for unit in units}
        with (
            progress_bar(what, sum(sizes.values()), "samples", show=self.progress) as (move, say),
            closing(run(units, function, self.engine, say=say)) as finished,
        ):
            for place, unit in enumerate(units):
                if not isinstance(unit, WholeSeries):
                    continue
                if not unit.cut and unit.rows >= _LARGE:
                    say(_IN_MEMORY.format(unit.rows))
                if type(self.engine) is Engine:  # which evaluates it here
                    units[place] = replace(unit, advance=lambda more: move(advance=more))
                    sizes[unit.key] = 0
            for outcome in finished:
                move(advance=sizes[outcome.key])
                if outcome.value is None:
                    failures.append((outcome.key, str(outcome.error)))
                yield outcome.key, outcome.value


def unread(failures: Sequence[Failure]) -> InputError:
    """Return the error that names units which could not be read or evaluated.

    >>> print(unread([("a", "no such file"), ("b", "not Parquet")]))
    Expected every unit to be read and evaluated, got a (and 1 more): no such file.
    ...
    """
    key, error = failures[0]
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    got = f"{key}{more}: {error}".removesuffix(".")
    hint = f"{KEPT} If you mend the data, start again with `overwrite=True`."
    return InputError("every unit to be read and evaluated", got, hint=hint)


_IN_MEMORY = (
    "One series of {:,} samples is read into memory: what is asked for looks at all of them at "
    'once. With metrics=["affiliation"] (--metric affiliation), a number as the threshold or '
    'predictions, disorder="error" and no ignored time, it is read in parts.'
)


def _written_thresholds(
    shared: Mapping[str, Any], first_keys: Sequence[tuple[Any, ...]]
) -> list[pa.Table]:
    """Return thresholds as tables: JSON keeps long integers, and Arrow the types of keys."""
    import pyarrow as pa

    columns = {str(place): list(values) for place, values in enumerate(zip(*first_keys))}  # noqa: B905
    return [pa.table({"shared": [json.dumps(shared)]}), pa.table(columns)]


def _read_thresholds(tables: Sequence[pa.Table]) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    shared, keys = tables
    columns = (column.to_pylist() for column in keys.columns)
    return json.loads(shared["shared"][0].as_py()), list(zip(*columns, strict=True))


def _require_ok(rows: pa.Table, options: BatchOptions) -> None:
    """Raise for the first series in trouble, with its key and what is wrong."""
    for place, status in enumerate(rows.column("status").to_pylist()):
        if status != Status.OK:
            row = rows.slice(place, 1).to_pylist()[0]
            key = ", ".join(f"{name}={row[name]!r}" for name in (*options.by, DETECTOR))
            got = f"{status!r} for {key}: {row['reason']}".removesuffix(".")
            hint = "Without `strict=True` it is reported in its row, and the others go on."
            rule = "every series to be evaluated, with `strict=True`"
            raise InputError(rule, got, hint=hint)
