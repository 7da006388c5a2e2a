"""The result of `evaluate_frame`: rows, summaries, ranks and intervals."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, MissingExtraError
from closecall.latex import chance_note, latex_heading, latex_table
from closecall.metrics.registry import LENGTHS_OF_TIME
from closecall.notebook import MOST_ROWS, display, heading, more_rows
from closecall.parameters import read_flag, require_choice
from closecall.plain import flat_numbers, plain
from closecall.signature import rows_hash, sign, text_hash, value_text
from closecall.statistics import Interval, compute_ranks, events_needed
from closecall.statistics.intervals import read_level
from closecall.tables.batch.journal import write_rows
from closecall.tables.batch.options import COUNTS, DATA, DETECTOR, IGNORED, SIGNATURE
from closecall.tables.batch.summary import (
    interval_rows,
    mean,
    rank_detectors,
    summarise,
    trouble_text,
    values_by_series,
)
from closecall.wording import counted, in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.notebook import Column
    from closecall.signature import Signature
    from closecall.statistics import Ranks
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.units import Kind

# Counts that are not known of a series in trouble; pandas' plain integers have no missing value.
_MAYBE_MISSING = tuple(name for name in COUNTS if name != "samples")
_FIRST = (  # in a notebook, of those that a table has
    *("status", "true_events", "caught", "pooled_events", "false_alarms", "median_delay"),
)
_MOST_ABREAST = 4  # metrics beside each other in a table for paper; one less with intervals
_LENGTHS = ("median_delay", IGNORED, *LENGTHS_OF_TIME)
_LEVEL = 0.95  # of ranks, unless another is asked for


def in_kind(table: pa.Table, kind: Kind) -> Any:
    """Return an Arrow table as a pandas or polars dataframe, or as it is."""
    try:
        if kind == "pandas":
            return _pandas(table)
        if kind == "polars":
            import polars as pl

            return pl.from_arrow(table)
    except ImportError as error:
        raise MissingExtraError(kind) from error
    return table


def _pandas(table: pa.Table) -> Any:
    import pandas as pd

    frame = table.to_pandas()
    for name in _MAYBE_MISSING:
        if name in frame:
            frame[name] = pd.array(table.column(name).to_pylist(), dtype="Int64")
    return frame


@dataclass(frozen=True, repr=False, eq=False)
class BatchResult:
    """One row for each series and detector, in the order of the series' keys.

    Examples
    --------
    >>> import closecall as cc, pyarrow as pa
    >>> table = pa.table(
    ...     {
    ...         "series": ["a"] * 4 + ["b"] * 4,
    ...         "label": [0, 1, 1, 0, 0, 0, 0, 0],
    ...         "score": [0.1, 0.9, 0.4, 0.2, 0.3, 0.1, 0.1, 0.2],
    ...     }
    ... )
    >>> result = cc.evaluate_frame(table, by="series", truth="label", score="score")
    >>> result
    BatchResult(2 rows: 1 evaluated; 1 without a true event)
    >>> result.rows["affiliation_f1"].to_pylist()
    [1.0, nan]
    """

    table: pa.Table
    """The rows, as an Arrow table."""
    event_table: pa.Table | None
    """The rows of true events, as an Arrow table; None if they were not asked for."""
    options: BatchOptions
    """What was asked."""
    kind: Kind = "arrow"
    """The kind of table that results are given back in."""
    failures: tuple[tuple[str, str], ...] = ()
    """Keys of the units that could not be read, as with a damaged file, each with the reason.

    The series in them are among no rows, events, summaries or ranks. Empty if all was read.
    """
    units: int = 0
    """How many units there were, those of `failures` included; 0 if all is of an earlier run."""
    advice: tuple[str, ...] = ()
    """How many series have gaps, or seem to begin with a warm-up, and which option handles these.

    Each sentence names an option of the command line. Empty if all is of an earlier run.
    """
    codes: Mapping[str, str] = field(default_factory=dict)
    """By status, the code of what is wrong with the first such series, such as
    ``"unsorted_times"``; empty text where there is none."""
    notes: tuple[str, ...] = ()
    """What was inferred of each series, such as its end, a sentence each after the series' key."""

    @cached_property
    def rows(self) -> Any:
        """One row for each series and detector, in the input's own kind of table.

        The `by` columns, ``detector``, ``status`` and ``reason`` (the same in a line; null where
        all is well), counts of samples and events, and for affiliation how many true events were
        ``caught``, how many alarms were ``false_alarms``, the share of the time that is
        ``alarmed``, the ``median_delay`` (inf if half of the events were not caught), the
        ``evaluated_days`` (nan where times are not dated) and the ``alarmed_events``, those with a
        prediction in their zone. Where time may be ignored, ``ignored_time``, and how many true
        events and alarms lie wholly in it: ``left_out_events`` and ``left_out_alarms``. Then the
        ``threshold``, the numbers of the metrics (lengths of time in seconds; nan where
        undefined), with ``cross_fit`` the ``best_f1`` at the series' own best threshold, and for
        affiliation the mean scores of the same alarms, shifted in time (`Affiliation.chance`):
        ``chance_precision``, ``chance_recall`` and ``chance_f1``. With ``retune``, what shifted
        scores reach: ``chance_average_precision``, and ``retuned_f1`` at the best threshold of
        each shift. Last, ``data_hash``, a hash of the series and the scores or alarms.

        The status is ``ok``; or, with numbers, ``constant_score`` (every sample has the same) or
        ``undefined`` (at least one metric is); or ``no_event``, ``nan_score``, ``bad_scores``,
        ``bad_labels``, ``bad_times``, ``empty``, or ``failed``. A series without events has the
        numbers that exist without any, if its threshold is not chosen with the truth.
        """
        return in_kind(self.table, self.kind)

    @property
    def thresholds(self) -> dict[str, Any]:
        """Thresholds by detector: one with ``best_f1_global``, one a fold with ``cross_fit``."""
        return dict(self.options.shared)

    @cached_property
    def events(self) -> Any:
        """One row for each true event of each series and detector; needs ``per_event=True``.

        The `by` columns, ``detector``, the number of the ``event``, its ``first_sample`` and
        ``last_sample``, and the columns of `closecall.affiliation`'s ``events``.
        """
        if self.event_table is None:
            rule = "rows of events to have been asked for"
            raise InputError(rule, "none", hint="Evaluate with `per_event=True`.")
        return in_kind(self.event_table, self.kind)

    @cached_property
    def signature(self) -> Signature:
        """What decided these digits, in one line; see `closecall.signature`.

        The data is a hash of those of the rows, ``data_hash``, in the order of the series' keys.
        """
        options, hashes = self.options, defaultdict[str, list[str]](list)
        for name, data in zip(*self._texts(DETECTOR, DATA), strict=True):
            hashes[name].append(data or "")
        ignored = self._texts(IGNORED)[0] if options.ignores_time else []
        amounts = [one for one in ignored if one and not isnan(one)]
        total = value_text(fsum(amounts) / (1 if options.is_long else len(options.detectors)))
        keys = zip(*self._texts(*(name for name in options.by if name != DETECTOR)), strict=True)
        return sign(
            {entry.name: entry.changed(value) for entry, value in options.entries},
            rows_hash(hashes),
            ignore=f"#{text_hash(repr(sorted(amounts)))}/{total}" if amounts else None,
            series=len(set(keys)) if len(options.by) > options.is_long else 1,
            **options.signed,
        )

    @property
    def length_units(self) -> str:
        """The units of metrics that are lengths of time; empty if there are none."""
        lengths = [name for name in self.options.metric_columns if name in LENGTHS_OF_TIME]
        unit = "in samples"
        if self.options.time is not None:
            unit = "in seconds where times are dates, else in their unit"
        return f"{', '.join(map(heading, lengths))}: {unit}." if lengths else ""

    def _texts(self, *names: str) -> list[list[Any]]:
        return [self.table.column(name).to_pylist() for name in names]

    @property
    def signed_table(self) -> pa.Table:
        """The rows as they are written, with the signature in a column."""
        column = [[str(self.signature)] * self.table.num_rows]
        return self.table.append_column(SIGNATURE, column)

    def summary(self, by: str | Iterable[str] = DETECTOR) -> Any:
        r"""Summarise the rows: one row for each detector.

        Parameters
        ----------
        by
            ``"detector"``, or `by` columns of the batch: then one row for each of their values and
            each detector.

        Returns
        -------
        table
            In the kind of the input, with these columns.

            - ``series``: how many there are; ``series_ok``: with status "ok";
              ``series_undefined``: for which at least one of the metrics has no value, and which
              the means of that metric therefore leave out; ``trouble``: every other status, and
              units that could not be read (see `failures`), in words.
            - ``caught`` of the ``pooled_events`` true events of all series that were scored;
              ``false_alarms``, also those on series without a true event, and
              ``false_alarms_per_day`` of evaluated time (nan where times are not dated).
            - ``mean_<metric>``: over series, each with the same weight.
            - ``pooled_affiliation_precision``, ``_recall``, ``_f1``: over the ``pooled_events``,
              each event with the same weight:
              :math:`P = \sum_{s,j} P_{s,j} / \#\text{defined}`,
              :math:`R = \sum_{s,j} R_{s,j} / \#\text{events}`, and the F1 of these two.
            - ``micro_precision``, ``_recall``, ``_f1``: over samples, each with the same weight:
              the true samples among the predicted ones, summed over series, as a share of all
              predicted and of all true samples (`closecall.metrics.classical` of all series laid
              end to end). Series without a true event count here if something was, or could have
              been, predicted on them.

            All are in the range of their metric, higher is better where it is there; nan where
            nothing is defined.

        Examples
        --------
        >>> import closecall as cc, pyarrow as pa
        >>> table = pa.table({"label": [0, 1, 1, 0], "score": [0.1, 0.9, 0.4, 0.6]})
        >>> result = cc.evaluate_frame(table, truth="label", score="score", threshold=0.5)
        >>> row = result.summary().to_pylist()[0]
        >>> row["series"], row["pooled_events"], row["micro_precision"], row["micro_recall"]
        (1, 1, 0.5, 0.5)
        """
        table = summarise(self.table, self.options, by, unread=self.unread)
        return in_kind(table, self.kind)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None.

        ``rows``, ``events`` (None if they were not asked for), ``summary``, ``failures`` and
        ``notes``. With
        `flat`, only the numbers of the summary, by dotted names such as
        ``summary.forecast.mean_affiliation_f1``, as trackers of experiments take them.

        Examples
        --------
        >>> import closecall as cc, pyarrow as pa
        >>> table = pa.table({"label": [0, 1, 0], "a": [0.1, 0.9, 0.4]})
        >>> result = cc.evaluate_frame(table, truth="label", score="a")
        >>> result.to_dict(flat=True)["summary.a.caught"]
        1
        """
        summary = plain(self._sums.to_pylist())
        if read_flag(flat, "flat"):
            return flat_numbers({"summary": {str(row.pop(DETECTOR)): row for row in summary}})
        events = self.event_table
        return {
            "rows": plain(self.table.to_pylist()),
            "events": None if events is None else plain(events.to_pylist()),
            "summary": summary,
            "failures": [{"unit": unit, "reason": reason} for unit, reason in self.failures],
            "notes": [*self.notes],
            "signature": str(self.signature),
        }

    @cached_property
    def _sums(self) -> pa.Table:
        return summarise(self.table, self.options, unread=self.unread)

    def leaderboard(self, metric: str | None = None, *, detector: str = DETECTOR) -> Any:
        """Rank the detectors.

        Parameters
        ----------
        metric
            A number of the rows; ``affiliation_f1`` if there is one, else the first.
        detector
            The column that names detectors, if it is one of `by`; it is called ``detector`` here.

        Returns
        -------
        table
            The best first: ``rank`` by the mean over series (a whole number, or a half where equal
            ones share the mean rank; nan without a mean), ``detector``, ``mean_<metric>`` over the
            series where it is defined, ``mean_rank`` over the series where any detector has a value
            (1 is best, equal values share the mean rank, undefined is last), ``best_on`` how many
            of them, alone or with others, ``series`` how many have rows (those in `failures` have
            none), and ``undefined`` on how many of them there is no value.

        Examples
        --------
        >>> import closecall as cc, pyarrow as pa
        >>> table = pa.table({"label": [0, 1, 0], "a": [0.1, 0.9, 0.4], "b": [0.7, 0.1, 0.6]})
        >>> board = cc.evaluate_frame(table, truth="label", score=["b", "a"]).leaderboard()
        >>> board["detector"].to_pylist()
        ['a', 'b']
        """
        name = self._metric(metric)
        return in_kind(rank_detectors(self.table, self.options, name, detector), self.kind)

    def ranks(
        self,
        metric: str | None = None,
        *,
        missing: str = "raise",
        level: float = _LEVEL,
        detector: str = DETECTOR,
    ) -> Ranks:
        """Rank the detectors on every series, and test which of them differ significantly.

        Parameters
        ----------
        metric, detector
            As in `leaderboard`.
        missing, level
            As in `closecall.statistics.compute_ranks`: what to do where a detector has no number
            on a series that another has one on (``"raise"``, ``"drop"`` or ``"worst"``), and one
            minus the probability of telling any two equally good detectors apart.

        Returns
        -------
        Ranks
            Of six or more series, and two or more detectors.

        Examples
        --------
        >>> import closecall as cc, pyarrow as pa
        >>> table = pa.table(
        ...     {
        ...         "series": [n for n in range(6) for _ in range(4)],
        ...         "label": [0, 1, 0, 0] * 6,
        ...         "exact": [0, 1, 0, 0] * 6,
        ...         "late": [0, 0, 0, 1] * 6,
        ...     }
        ... )
        >>> cc.evaluate_frame(
        ...     table, by="series", truth="label", predicted=["late", "exact"]
        ... ).ranks()
        Ranks(exact 1, late 2; affiliation_f1 over 6 series, 1 of 1 pair told apart)
        """
        name = self._metric(metric)
        _, detectors, values = values_by_series(self.table, self.options, name, detector)
        entry = self.options.metric_of(name)
        ranks = compute_ranks(
            dict(zip(map(str, detectors), values, strict=True)),
            higher_is_better=entry.higher_is_better,
            missing=missing,
            metric=name,
            level=level,
            low=entry.lowest,
            high=entry.highest,
        )
        asked = {"metric": name, "missing": missing, "detector": detector}
        level_column = self.options.chance_of(name)
        if level_column is not None:
            levels = values_by_series(self.table, self.options, level_column, detector)[2]
            found = dict(zip(map(str, detectors), map(mean, levels), strict=True))
            chance = tuple(found[one] for one in ranks.detectors)
            moved = "scores" if entry.takes == "scores" else "alarms"
            ranks = replace(ranks, chance=chance, chance_note=self._chance_note(moved))
        return replace(
            ranks,
            signature=self.signature.adding(**asked, level=None if level == _LEVEL else level),
        )

    def series_needed(
        self, first: str, second: str, metric: str | None = None, *, level: float = 0.95
    ) -> tuple[int, int] | None:
        """Return how many series are needed to show a difference of means with a power of 80 %.

        It is a range, for the difference at either of its limits, the larger one first; the
        difference is that over the series where both detectors have the number. None if it cannot
        be said, as where 0 lies within the limits. See `closecall.statistics.events_needed`.
        """
        name = self._metric(metric)
        _, detectors, values = values_by_series(self.table, self.options, name)
        called = [*map(str, detectors)]
        for one in (first, second):
            require_choice(one, "detector", called)
        ours, theirs = (values[called.index(one)] for one in (first, second))
        entry, gaps = self.options.metric_of(name), ours - theirs
        widest = entry.highest - entry.lowest
        return events_needed(gaps[np.isfinite(gaps)], level=level, widest=widest)

    def to_latex(
        self,
        *,
        level: float | None = None,
        caption: str = "",
        note: str | None = None,
        **drawn: Any,
    ) -> str:
        """Write the means over series as a table for a paper, in the order of the leaderboard.

        The best of a column is bold, the second underlined; the package booktabs is needed. With a
        `level`, and what else `intervals` takes, means have their limits. Beside F1 and the events
        caught is what chance reaches. The number of events and the `note` are below: the signature,
        unless there is another.
        """
        given = {"n": 2000, "seed": 0} | drawn
        options, sums = self.options, {row[DETECTOR]: row for row in self._sums.to_pylist()}
        best = {
            f"mean_{name}": options.metric_of(name).higher_is_better
            for name in options.metric_columns
        }
        if level is not None:
            level = read_level(level)
            limits = interval_rows(self.table, None, options, level=level, **given)
            for row in limits.to_pylist():
                if not row["against"]:
                    interval = Interval(row["value"], row["low"], row["high"])
                    sums[row[DETECTOR]][row["number"]] = interval
        board = rank_detectors(self.table, options, self._metric(None)).to_pylist()
        names, shown = list(best), []
        for name in options.metric_columns:
            shown += [f"mean_{name}", *(["mean_chance_f1"] if name == "affiliation_f1" else [])]
        shown += ["caught", "chance_caught"] if options.has_affiliation else []
        rows = [
            {
                DETECTOR: str(row[DETECTOR]),
                **{name: sums[row[DETECTOR]][name] for name in shown},
                "mean_rank": row["mean_rank"],
            }
            for row in board
        ]
        alike = all(name.startswith("mean_affiliation") for name in names)
        prefix, which = ("mean affiliation ", " affiliation") if alike else ("mean ", "")
        told = "" if level is None else f", with {100 * level:.4g} % intervals"
        series, scored = board[0]["series"], {row["series"] - row["undefined"] for row in board}
        if scored != {series}:
            counts = " to ".join(map(str, sorted({min(scored), max(scored)})))
            series = f"{counts} of {series}"
        abreast = len(names) <= _MOST_ABREAST - (level is not None)
        headings = {name: latex_heading(name, abreast=abreast) for name in rows[0]}
        return latex_table(
            rows,
            {name: text.removeprefix(prefix) for name, text in headings.items()},
            best=best | {"caught": True, "mean_rank": False},
            title=f"Mean{which} scores over {series} series{told}",
            label="means",
            caption=caption,
            said=" ".join(filter(None, (self.length_units, self._chance_note()))),
            note=self.signature.drawing(level, **given).note if note is None else note,
            across="" if abreast else DETECTOR,
        )

    def _chance_note(self, moved: str = "alarms") -> str:
        """Return what is said below tables with levels of chance, and over how many events."""
        if not self.options.has_affiliation:
            return ""
        counts = sorted({row["pooled_events"] for row in self._sums.to_pylist()})
        few = "" if len(counts) == 1 else f"{counts[0]} to "
        return chance_note(f"{few}{counted(counts[-1], 'true event')}", moved)

    def intervals(self, *, level: float = 0.95, n: int = 2000, seed: int = 0) -> Any:
        """Return intervals of the numbers of the summary, and of the differences of detectors.

        Whole series are resampled, since other data would consist of other series; see
        `closecall.statistics`.

        Parameters
        ----------
        level
            How often such intervals are meant to hold the true number, between 0 and 1.
        n, seed
            How many resamples to draw for the numbers of one detector, from 100 to 1,000,000, and
            their seed.

        Returns
        -------
        table
            In the kind of the input: a row for each detector and each number of the summary, then
            one for each two detectors and each number.

            - ``detector``; ``against``: the other detector, or empty for a detector alone.
            - ``number``: ``mean_<metric>``, and with ``per_event=True``
              ``pooled_affiliation_precision``, ``_recall`` and ``_f1``.
            - ``value``: of the detector, or its number minus that of the other, over the series
              where both have it.
            - ``low``, ``high``: the limits; nan where nothing can be said: about a detector with
              fewer than two series, about a difference with fewer than six.
            - ``pvalue``: two-sided, of equally good detectors; nan for a detector alone, and with
              fewer than six series.
            - ``caution``: what so few series do not allow to say; empty if there are enough.

            A mean whose metric has no bounds has the limits of Student's t.

        Examples
        --------
        >>> import closecall as cc, pyarrow as pa
        >>> table = pa.table(
        ...     {
        ...         "series": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        ...         "label": [0, 1, 0] * 3,
        ...         "score": [0.1, 0.9, 0.2, 0.3, 0.4, 0.1, 0.2, 0.5, 0.6],
        ...     }
        ... )
        >>> result = cc.evaluate_frame(
        ...     table, by="series", truth="label", score="score", threshold=0.3, per_event=True
        ... )
        >>> row = result.intervals().to_pylist()[0]
        >>> row["number"], round(row["value"], 2), round(row["low"], 2), round(row["high"], 2)
        ('mean_affiliation_precision', 0.78, 0.3, 0.96)
        >>> row["caution"][:28]
        'There are only three series.'
        """
        table = interval_rows(
            self.table, self.event_table, self.options, level=level, n=n, seed=seed
        )
        return in_kind(table, self.kind)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the rows as Parquet (``.parquet``, ``.pq``) or CSV; ``-`` is standard output."""
        write_rows(self.signed_table, path)

    def plot(self, metric: str | None = None, **how: Any) -> Any:
        """Draw detectors by series; see `closecall.plot.plot_batch` for the options."""
        name = self._metric(metric)
        series, detectors, values = values_by_series(self.table, self.options, name)
        cells = [
            (one, detector, values[line, column])
            for line, detector in enumerate(detectors)
            for column, one in enumerate(series)
        ]
        best = "highest" if self.options.metric_of(name).higher_is_better else "lowest"
        from closecall.plot import plot_batch

        return plot_batch(cells, **{"value": name, "best": best, **how})

    def _metric(self, metric: str | None) -> str:
        columns = self.options.metric_columns
        if metric is not None:
            return metric
        return "affiliation_f1" if "affiliation_f1" in columns else columns[0]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"BatchResult({self._in_words()})"

    def _in_words(self) -> str:
        statuses = self.table.column("status").to_pylist()
        first = f"{counted(len(self), 'row')}: {statuses.count('ok')} evaluated"
        return "; ".join(filter(None, (first, trouble_text(statuses), self.unread)))

    @property
    def unread(self) -> str:
        """How many units could not be read, in words; empty if all were."""
        return f"{counted(len(self.failures), 'unit')} not read" if self.failures else ""

    def _repr_html_(self) -> str:
        """Show the leaderboard and the first rows in a notebook."""
        sums, board = self._sums, rank_detectors(self.table, self.options, self._metric(None))
        by_detector = {row[DETECTOR]: row for row in sums.to_pylist()}
        detectors = [by_detector[row[DETECTOR]] | row for row in board.to_pylist()[:MOST_ROWS]]
        keys = tuple(dict.fromkeys((*self.options.by, DETECTOR)))
        rows = self.table.slice(0, MOST_ROWS).to_pylist()
        numbers = [name for name in self.table.column_names if name not in keys]
        return display(
            self._in_words(),
            _columns(
                detectors,
                (*board.column_names, *sums.column_names),
                first=(DETECTOR, *board.column_names, *_FIRST),
            ),
            more_rows(board.num_rows, "detector"),
            [
                (", ".join(keys), [", ".join(str(row[key]) for key in keys) for row in rows]),
                *_columns(rows, numbers, first=(*_FIRST, *self.options.metric_columns)),
            ],
            more_rows(len(self), "row"),
        )


def _columns(
    rows: list[dict[str, Any]], known: Sequence[str], *, first: Sequence[str]
) -> list[Column]:
    """Return the known columns, some first; lengths of time in words where days are known."""
    columns: list[Column] = []
    for name in dict.fromkeys(name for name in (*first, *known) if name in known):
        cells = [row[name] for row in rows]
        if name in _LENGTHS:
            days = [row.get("evaluated_days", nan) for row in rows]
            cells = [
                value if isnan(value) or isnan(dated) else in_words(value)
                for value, dated in zip(cells, days, strict=True)
            ]
        columns.append((heading(name), cells))
    return columns
