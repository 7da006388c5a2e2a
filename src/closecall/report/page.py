"""One self-contained page: a skeleton, its style and script, and the data it explores."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib import import_module
from typing import Any, Literal

from closecall.errors import InputError, InputTypeError, MissingExtraError, expected
from closecall.report.assets import asset, bundle
from closecall.report.packing import deflated

Script = Literal["embed", "cdn"]


def embedded_json(content: Any) -> str:
    r"""Write JSON that no text in it can end early: ``<`` is escaped.

    Examples
    --------
    >>> embedded_json({"name": "</script>"})
    '{"name":"\\u003c/script>"}'
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def require_title(title: Any) -> None:
    """Refuse a title that is no text."""
    if not isinstance(title, str):
        raise InputTypeError(expected("`title` to be text", f"{title!r:.80}"))


@cache
def plotly_script(script: Script) -> str:
    """Give plotly's script: compressed inside the page, or a link to where it is published."""
    if script not in ("embed", "cdn"):
        raise InputError(expected("`script` to be 'embed' or 'cdn'", repr(script)))
    try:
        plotly: Any = import_module("plotly.offline")
    except ImportError as error:
        raise MissingExtraError("plotly", "report") from error
    code = plotly.get_plotlyjs().encode()
    if script == "embed":
        return f'<script type="text/plain" id="plotly">{deflated(code)}</script>'
    digest = b64encode(sha256(code).digest()).decode("ascii")
    return (
        f'<script src="https://cdn.plot.ly/plotly-{plotly.get_plotlyjs_version()}.min.js" '
        f'integrity="sha256-{digest}" crossorigin="anonymous"></script>'
    )


def page_html(
    title: str,
    summaries: list[dict[str, Any]],
    series: list[Any],
    script: Script,
    *,
    batch: bool = False,
) -> str:
    """Fill the skeleton; each series is its own block, read when it is opened."""
    about = {"title": title, "series": summaries, "batch": batch}
    blocks = [
        _json_block("report", about),
        *(_json_block(f"series-{index}", content) for index, content in enumerate(series)),
    ]
    parts = {
        "title": escape(title),
        "style": asset("style.css"),
        "dark": asset("dark.css"),
        "paper": asset("paper.css"),
        "plotly": plotly_script(script),
        "data": "\n".join(blocks),
        "script": bundle(),
    }
    skeleton = asset("page.html")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], skeleton)


def _json_block(name: str, content: Any) -> str:
    return f'<script type="application/json" id="{name}">{embedded_json(content)}</script>'
