"""`report`: one series and its detectors as an interactive page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.report.detectors import Inputs
from closecall.report.page import page_html, plotly_script, require_title
from closecall.report.result import Report
from closecall.report.series import series_content, summary

if TYPE_CHECKING:
    from closecall.report.page import Script


def report(
    truth: Any,
    predicted: Any = None,
    *,
    scores: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    values: Any = None,
    thresholds: Any = None,
    title: str = "closecall report",
    script: Script = "embed",
) -> Report:
    """Build a self-contained interactive page: which events were caught, and what a threshold does.

    The page shows the timeline with the true events, their zones and the predictions, a table of
    the events, and the precision-recall curve. A threshold can be dragged, and everything on the
    page follows, exactly: what it shows at a threshold is what `closecall.affiliation` gives for
    ``scores >= threshold``, precision and recall in [0, 1], higher is better (equations 4 to 6 of
    the paper). It opens from disk and asks nothing of the network.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`.
    predicted
        Predictions without a threshold: a 0/1 vector or `Events`, or a mapping from detectors'
        names to them.
    scores
        One score per sample, higher is more anomalous; or a mapping from detectors' names to them.
    times, end, span
        As in `closecall.affiliation`.
    values
        The series itself, one number per sample, drawn above the scores; nan is a gap.
    thresholds
        Where the page opens, one number or by detector; by default each detector's best F1.
    title
        What the page is called.
    script
        ``"embed"`` puts plotly's script in the page; ``"cdn"`` links to it, which makes a small
        page that needs the network.

    Returns
    -------
    Report
        ``save(path)``, ``html``, and the page itself where it is displayed in a notebook.

    Examples
    --------
    >>> from closecall.report import report
    >>> report([0, 0, 1, 1, 0, 0], scores={"a": [0.1, 0.6, 0.9, 0.4, 0.1, 0.2]}, script="cdn")
    Report('closecall report', detectors: a; 0.1 MB)
    """
    require_title(title)
    plotly_script(script)  # a missing package is told before anything is computed
    content = series_content(
        "",
        Inputs(truth, times, end, span),
        predicted=predicted,
        scores=scores,
        thresholds=thresholds,
        values=values,
    )
    about = summary(content)
    names = tuple(row["name"] for row in about["detectors"])
    return Report(title, (title,), names, page_html(title, [about], [content], script))
