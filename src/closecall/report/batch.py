"""`report_batch`: many series on one page, each opened from a leaderboard and a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from closecall.errors import ClosecallError, InputError, InputTypeError, MissingExtraError, expected
from closecall.report.detectors import Inputs
from closecall.report.page import page_html, plotly_script
from closecall.report.result import Report
from closecall.report.series import series_content, summary

if TYPE_CHECKING:
    from closecall.report.page import Script

_AXIS = ("times", "end", "span")
_CONTENT = ("predicted", "scores", "thresholds", "values")


def report_batch(
    series: Mapping[str, Mapping[str, Any]],
    *,
    title: str = "closecall report",
    script: Script = "embed",
) -> Report:
    """Build one page for many series: a leaderboard, and a heat map that opens each series.

    Parameters
    ----------
    series
        For each series' name, the arguments of `report` by name: ``truth``, ``predicted``,
        ``scores``, ``times``, ``end``, ``span``, ``values`` and ``thresholds``. A series that
        cannot be scored, such as one without a true event, is listed with the reason.
    title, script
        As in `report`.

    Returns
    -------
    Report
        ``save(path)``, ``html``, and the page itself where it is displayed in a notebook. The
        leaderboard holds means over the series of precision, recall and F1, in [0, 1], higher is
        better.

    Examples
    --------
    >>> from closecall.report import report_batch
    >>> noisy = {"truth": [0, 1, 1, 0], "scores": {"a": [0.1, 0.2, 0.9, 0.3]}}
    >>> quiet = {"truth": [0, 0, 0, 0], "scores": {"a": [0.1, 0.2, 0.1, 0.3]}}
    >>> report_batch({"noisy": noisy, "quiet": quiet}, script="cdn")
    Report('closecall report', 2 series, detectors: a; 0.1 MB)
    """
    given: Any = series
    if not isinstance(given, Mapping) or not given:
        raise InputTypeError(
            expected("`series` to map at least one name to arguments", f"{given!r:.80}")
        )
    plotly_script(script)  # a missing package is told before anything is computed
    summaries: list[dict[str, Any]] = []
    contents: list[dict[str, Any] | None] = []
    failure: ClosecallError | None = None
    for name, arguments in series.items():
        try:
            content = _content(str(name), arguments)
        except MissingExtraError:
            raise
        except ClosecallError as error:
            failure = error
            summaries.append({"name": str(name), "status": str(error).partition("\n")[0]})
            contents.append(None)
        else:
            summaries.append(summary(content))
            contents.append(content)
    if failure is not None and not any(contents):
        raise failure
    detectors = dict.fromkeys(
        row["name"] for about in summaries for row in about.get("detectors", ())
    )
    html = page_html(title, summaries, contents, script, batch=True)
    return Report(title, tuple(about["name"] for about in summaries), tuple(detectors), html)


def _content(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    known = {"truth", *_AXIS, *_CONTENT}
    unknown = arguments.keys() - known
    if unknown or "truth" not in arguments:
        got = f"{min(unknown)!r}" if unknown else "no `truth`"
        raise InputError(expected(f"the arguments of {name!r} to be those of `report`", got))
    inputs = Inputs(arguments["truth"], *(arguments.get(key) for key in _AXIS))
    return series_content(name, inputs, **{key: arguments.get(key) for key in _CONTENT})
