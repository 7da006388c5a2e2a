"""`report_batch`: many series on one page, each opened from a leaderboard and a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from closecall.errors import ClosecallError, InputTypeError, MissingExtraError, expected
from closecall.report.batch_series import batch_series
from closecall.report.page import page_html, plotly_script, require_title
from closecall.report.result import Report
from closecall.report.series import summary
from closecall.report.trouble import SeriesTrouble
from closecall.tables.batch.options import require_disorder
from closecall.tables.batch.status import BAD_TIMES

if TYPE_CHECKING:
    from closecall.report.page import Script
    from closecall.tables.batch.options import Disorder

OUT_OF_ORDER = (
    "`disorder='sort'` puts samples in the order of their times; `disorder='index'` counts samples "
    "instead (`--disorder` on the command line)."
)


def report_batch(
    series: Mapping[str, Mapping[str, Any]],
    *,
    disorder: Disorder = "error",
    title: str = "closecall report",
    script: Script = "embed",
) -> Report:
    """Build one page for many series: a leaderboard, and a heat map that opens each series.

    The series are read as `closecall.evaluate_frame` reads them, so the same ones are scored, with
    the same digits.

    Parameters
    ----------
    series
        For each series' name, the arguments of `report` by name: ``truth``, ``predicted``,
        ``scores``, ``times``, ``end``, ``span``, ``values`` and ``thresholds``. Where times are
        uneven and there is no ``end``, the last sample lasts the median step of its series. A
        series that cannot be scored, such as one without a true event, is listed with the reason;
        a detector that cannot be scored on a series is left out of that series.
    disorder
        What to do where times repeat or go back: ``"error"`` lists the series as not scored;
        ``"sort"`` sorts its samples by time (repeated times remain an error); ``"index"`` ignores
        its times and counts samples.
    title, script
        As in `report`.

    Returns
    -------
    Report
        ``save(path)``, ``html``, ``troubles`` (what is not scored, and why), and the page itself
        where it is displayed in a notebook. The leaderboard holds means over the series of
        precision, recall and F1, in [0, 1], higher is better.

    Examples
    --------
    >>> from closecall.report import report_batch
    >>> noisy = {"truth": [0, 1, 1, 0], "scores": {"a": [0.1, 0.2, 0.9, 0.3]}}
    >>> quiet = {"truth": [0, 0, 0, 0], "scores": {"a": [0.1, 0.2, 0.1, 0.3]}}
    >>> report_batch({"noisy": noisy, "quiet": quiet}, script="cdn")
    Report('closecall report', 2 series, detectors: a; 0.1 MB)
    """
    require_title(title)
    require_disorder(disorder)
    given: Any = series
    if not isinstance(given, Mapping) or not given:
        raise InputTypeError(
            expected("`series` to map at least one name to arguments", f"{given!r:.80}")
        )
    plotly_script(script)  # a missing package is told before anything is computed
    summaries: list[dict[str, Any]] = []
    contents: list[dict[str, Any] | None] = []
    troubles: list[SeriesTrouble] = []
    failure: ClosecallError | None = None
    for key, arguments in series.items():
        name = str(key)
        try:
            content, own = batch_series(name, arguments, disorder)
        except MissingExtraError:
            raise
        except ClosecallError as error:
            failure = failure or error
            own = [SeriesTrouble.told_by(name, None, error, mended=_remedy(error, disorder))]
            summaries.append({"name": name, "status": str(own[0])})
            contents.append(None)
        else:
            summaries.append(summary(content))
            contents.append(content)
        troubles += own
    if failure is not None and not any(contents):
        cause = failure.__cause__
        raise cause if isinstance(cause, ClosecallError) else failure
    detectors = dict.fromkeys(
        row["name"] for about in summaries for row in about.get("detectors", ())
    )
    html = page_html(title, summaries, contents, script, batch=True)
    names = tuple(about["name"] for about in summaries)
    return Report(title, names, tuple(detectors), html, tuple(troubles))


def _remedy(error: ClosecallError, disorder: str) -> str:
    """Say what this page can do about times that are out of order."""
    if disorder != "error" or getattr(error, "status", None) != BAD_TIMES:
        return ""
    return OUT_OF_ORDER if "strictly increasing" in str(error) else ""
