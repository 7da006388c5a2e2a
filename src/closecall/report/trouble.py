"""What a page of many series does not show, and why."""

from __future__ import annotations

from dataclasses import dataclass

from closecall.errors import ClosecallError, UndefinedMetricError
from closecall.tables.batch.status import FAILED, NO_EVENT, SeriesError

_HINT = "\n\nHint: "


@dataclass(frozen=True, slots=True)
class SeriesTrouble:
    """A series that is not scored, or one detector that is not scored on it."""

    series: str
    """Name of the series."""
    detector: str | None
    """The detector that cannot be scored; None if none can."""
    status: str
    """One word, as in the rows of `closecall.evaluate_frame`: ``bad_times``, ``no_event``..."""
    reason: str
    """What is wrong, in a line."""
    hint: str
    """What can be done about it; empty if there is nothing to add."""

    @classmethod
    def told_by(
        cls, series: str, detector: str | None, error: ClosecallError, *, mended: str = ""
    ) -> SeriesTrouble:
        """Take the status, the reason and the hint from an error; `mended` is a hint of its own."""
        reason, _, hint = str(error.__cause__ or error).partition(_HINT)
        return cls(series, detector, _status(error), reason.partition("\n")[0], mended or hint)

    def __str__(self) -> str:
        hint = f" Hint: {self.hint}" if self.hint else ""
        return f"{self.status}: {self.reason}{hint}"


def _status(error: ClosecallError) -> str:
    if isinstance(error, SeriesError):
        return error.status
    return NO_EVENT if isinstance(error, UndefinedMetricError) else FAILED
