"""Many series at once: a table or files in, one row for each series and detector out."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from closecall.errors import InputTypeError, expected
from closecall.tables.batch.question import Disorder, Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from closecall.tables.batch.journal import Journal
    from closecall.tables.batch.outcome import Failure
    from closecall.tables.batch.result import BatchResult
    from closecall.tables.sources import Source


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
    # What runs a batch is imported when one is run.
    from closecall.tables.batch.engine import prepare, run
    from closecall.tables.batch.execution import Batch, result_of
    from closecall.tables.batch.sole_writer import sole_writer
    from closecall.tables.sources import open_source

    question = Question.ask(
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
    source = open_source(data, question)
    execute = partial(run, engine=engine, workers=workers)
    with nullcontext() if out is None else sole_writer(out):
        journal = _journal(out, question, source, resume=resume, overwrite=overwrite)
        batch = Batch.plan(source, question, execute, progress=progress, journal=journal)
        unread: list[Failure] = []
        if question.threshold.kind == "best_f1_global":
            shared, unread = batch.shared_thresholds(question)
            question = question.with_thresholds(shared)
        done, failures = batch.without(unread).evaluate(question)
        failures += unread
        result = result_of(done, failures, question, source.kind)
        if journal is not None and not failures:
            journal.complete(result.table, result.event_table)
    return result


def _journal(
    out: str | PathLike[str] | None,
    question: Question,
    source: Source,
    *,
    resume: bool,
    overwrite: bool,
) -> Journal | None:
    if out is not None:
        from closecall.tables.batch.description import describe
        from closecall.tables.batch.journal import Journal

        about = describe(question, source.fingerprint)
        return Journal.open(out, about, resume=resume, overwrite=overwrite)
    for name, given in (("resume", resume), ("overwrite", overwrite)):
        if given:
            raise InputTypeError(expected(f"`out` beside `{name}`", "none"))
    return None
