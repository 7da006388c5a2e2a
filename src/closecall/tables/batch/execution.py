"""The units of a batch, run to the end: each evaluated once, its rows kept, its trouble told."""

from __future__ import annotations

from collections import deque
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected
from closecall.tables.batch.canonical import in_order
from closecall.tables.batch.endless import can_be_cut, evaluate_endless
from closecall.tables.batch.global_threshold import Changes, Pool, unit_changes
from closecall.tables.batch.joined import Joined
from closecall.tables.batch.outcome import Failure, Outcome, unread
from closecall.tables.batch.progress import progress_bar
from closecall.tables.batch.question import DETECTOR
from closecall.tables.batch.result import BatchResult
from closecall.tables.batch.trouble import OK
from closecall.tables.batch.unit import UnitRows, evaluate_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    import pyarrow as pa

    from closecall.tables.batch.journal import Journal
    from closecall.tables.batch.question import Question
    from closecall.tables.sources import Source, Unit
    from closecall.tables.sources.source import Kind

_THRESHOLDS, _UNREAD = "thresholds", "unread"
_LARGE = 10_000_000  # samples of one series, that take about a gigabyte


@dataclass(frozen=True, slots=True)
class Batch:
    """Units, how they are run, and where what is finished is kept."""

    units: Sequence[Unit]
    execute: Callable[..., Any]
    """`closecall.tables.batch.engine.run`, with its engine."""
    progress: bool | None = None
    journal: Journal | None = None
    notice: str = ""
    """A line for people, said beside the progress bar."""

    @classmethod
    def plan(
        cls,
        source: Source,
        question: Question,
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
        if not question.by and len(units) > 1 and not can_be_cut(question):
            whole = Joined(tuple(units))
            notice, units = _memory_notice(whole.rows), [whole]
        return cls(units, execute, progress, journal, notice)

    def shared_thresholds(self, question: Question) -> tuple[dict[str, float], list[Failure]]:
        """Find the threshold of each detector, from the units that can be read.

        It is kept only if all can: a later attempt would else go on with another threshold.
        """
        known = None if self.journal is None else self.journal.noted(_THRESHOLDS)
        if known is not None:
            return dict(known), []
        pool, failures = Pool(), dict[str, str]()
        waiting: dict[str, Mapping[str, Changes]] = {}
        keys = deque(unit.key for unit in self.units)
        function = partial(unit_changes, question=question)
        with closing(self._outcomes(self.units, function, "Choosing thresholds")) as outcomes:
            for outcome in outcomes:
                if outcome.value is None:
                    failures[outcome.key] = str(outcome.error)
                waiting[outcome.key] = outcome.value or {}
                # Sums in the order of the units have the same digits on every engine.
                while keys and keys[0] in waiting:
                    pool.add(waiting.pop(keys.popleft()))
        unread_units = list(failures.items())
        if unread_units and (question.strict or len(unread_units) == len(self.units)):
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

    def evaluate(self, question: Question) -> tuple[list[UnitRows], list[Failure]]:
        """Evaluate every unit: what came of those that could be, and why others could not."""
        if not question.by and len(self.units) > 1:
            whole = evaluate_endless(self.units, question, self._parts)
            return [self._checked(whole, question)], []
        kept = {} if self.journal is None else {one.key: one for one in self.journal.finished()}
        done = [kept[unit.key] for unit in self.units if unit.key in kept]
        failures: list[Failure] = []
        remaining = [unit for unit in self.units if unit.key not in kept]
        function = partial(evaluate_unit, question=question)
        with closing(self._outcomes(remaining, function, "Evaluating")) as outcomes:
            for outcome in outcomes:
                if outcome.value is None:
                    failures.append((outcome.key, str(outcome.error)))
                    if question.strict:
                        break
                else:
                    done.append(self._checked(outcome.value, question))
        if failures and (question.strict or not done):
            raise unread(failures)
        return done, failures

    def _checked(self, part: UnitRows, question: Question) -> UnitRows:
        """Keep what came of a unit, unless a strict question stopped in the middle of it."""
        if question.strict:
            require_health(part.rows, question)
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


def require_health(rows: pa.Table, question: Question) -> None:
    """Refuse the first series in trouble, with its key and what is wrong."""
    for place, status in enumerate(rows.column("status").to_pylist()):
        if status != OK:
            row = rows.slice(place, 1).to_pylist()[0]
            key = ", ".join(f"{name}={row[name]!r}" for name in (*question.by, DETECTOR))
            got = f"{status!r} for {key}: {row['reason']}".removesuffix(".")
            hint = (
                "Without `strict=True` (`--strict`) it is reported in its row, and the others go "
                "on."
            )
            rule = "every series to be evaluated, with `strict=True`"
            raise InputError(expected(rule, got, hint))


def result_of(
    done: Sequence[UnitRows], failures: Sequence[Failure], question: Question, kind: Kind
) -> BatchResult:
    """Put what came of the units together, in the one order of rows."""
    rows = in_order([unit.rows for unit in done], question)
    parts = [unit.events for unit in done if unit.events is not None]
    events = in_order(parts, question) if parts else None
    if events is None and question.per_event:
        events = rows.select([*question.by, *(() if question.is_long else (DETECTOR,))]).slice(0, 0)
    failed = tuple(sorted(failures))
    return BatchResult(rows, events, question, kind, failed, units=len(done) + len(failed))
