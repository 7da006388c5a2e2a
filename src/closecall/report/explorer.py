"""`report`: one series and its detectors as a self-contained interactive page."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Literal

from closecall.errors import InputError, InputTypeError, MissingExtraError, shown
from closecall.files import whole_file
from closecall.parameters import read_path, require_choice
from closecall.report.packing import Texts, deflated
from closecall.report.series import ALONE, series_content, summary
from closecall.scores import require_nan

if TYPE_CHECKING:
    from os import PathLike

    from closecall.report.series import Call

Script = Literal["embed", "cdn"]
MOST_IN_ONE_FILE = 50_000_000  # characters of series; longer pages take seconds to open
_HEIGHT = 900  # pixels, in a notebook
# No script but the page's own two, and nothing from the network; plotly's pictures are blobs.
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
# Series in files beside the page: a browser lets a page from the disk read nothing but scripts.
_FILES = " 'self' file:"
# Each module after those it imports from.
MODULES = (
    *("dom", "predict", "score", "words", "slices", "chance", "thresholds", "clock", "series"),
    *("theme", "figure", "lanes", "timeline", "curve", "table", "detectors", "address"),
    *("view", "batch", "page"),
)
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', flags=re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) (\w+))", flags=re.MULTILINE)
_SERIES_FILE, _RECEIVE = re.compile(r"\d+\.js"), "closecall.receive"


def report(
    truth: Any,
    predicted: Any = None,
    *,
    scores: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    close: Any = None,
    nan: str = "raise",
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
    times, end, span, ignore, max_step, close
        As in `closecall.affiliation`. Nothing is drawn or counted in ignored time, which is
        shaded.
    nan
        What to do with samples whose score is nan: ``"raise"``, or ``"ignore"`` their time, for
        all detectors alike.
    values
        The series itself, one number per sample, drawn above the scores; nan is a gap.
    thresholds
        Where the page opens, a number or a rule of `closecall.choose_threshold`, for all or by
        detector; by default each detector's best F1.
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
    Report('closecall report', detectors: a; 0.2 MB)
    """
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    shown = {"predicted": predicted, "scores": scores, "thresholds": thresholds, "values": values}
    require_nan(nan)
    calls = _python_calls(predicted, scores, {**axis, "close": close}, nan)
    return series_page(
        truth, title=title, script=script, calls=calls, nan=nan, close=close, **axis, **shown
    )


def series_page(
    truth: Any, *, title: str, script: Script, calls: Mapping[str, Call], **arguments: Any
) -> Report:
    """Build the page of one series; `calls` compute what it shows of a detector."""
    require_page(title, script)
    content = series_content("", truth, calls=calls, **arguments)
    about = summary(content)
    names = tuple(row["name"] for row in about["detectors"])
    page = Page({"title": title, "series": [about], "batch": False, "signature": ""}, script)
    page.append(content)
    return Report(title, (title,), names, page)


def _python_calls(predicted: Any, scores: Any, axis: dict[str, Any], nan: str) -> dict[str, Call]:
    """Write the call that computes each detector's results again, with the caller's arguments."""
    sides = {}
    for argument, values, alone in (
        ("scores", scores, ALONE[1]),
        ("predicted", predicted, ALONE[0]),
    ):
        if isinstance(values, Mapping):
            sides[argument] = {key: f"{argument}[{_key_text(key)}]" for key in values}
        elif values is not None:
            sides[argument] = {alone: argument}
    if nan != "raise" and sum(map(len, sides.values())) > 1:
        return {}  # time without a score is ignored for all of them, which no call for one says
    calls = {}
    for argument, expressions in sides.items():
        named = [f"{name}={name}" for name, value in axis.items() if value is not None]
        if argument == "predicted":
            start, middle, end = "cc.affiliation(", ")", ""
        else:
            start, middle, end = "cc.affiliation_curve(", ").at(", ")"
            named += [] if nan == "raise" else [f"nan={nan!r}"]
        for key, expression in expressions.items():
            before = f"{start}{', '.join(['truth', expression, *named])}{middle}"
            name = key if isinstance(key, str) else shown(key)
            calls[name] = {"language": "python", "before": before, "after": end}
    return calls


def _key_text(key: Any) -> str:
    return repr(str(key)) if isinstance(key, str) else shown(key)


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

    def __str__(self) -> str:
        hint = f" Hint: {self.hint}" if self.hint else ""
        return f"{self.status}: {self.reason}{hint}"


@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """A self-contained interactive page, which displays itself in a notebook.

    Examples
    --------
    >>> from closecall.report import report
    >>> page = report([0, 1, 1, 0, 0, 0], scores=[0.1, 0.9, 0.7, 0.8, 0.1, 0.0])
    >>> page.save("report.html").name
    'report.html'
    """

    title: str
    """What the page is called."""
    series: tuple[str, ...]
    """Names of the series it shows."""
    detectors: tuple[str, ...]
    """Names of the detectors it shows."""
    page: Page
    """What it is made of."""
    troubles: tuple[SeriesTrouble, ...] = ()
    """What is not scored on a page of many series, and why."""
    notes: tuple[str, ...] = ()
    """What a page of many series leaves out, in sentences."""

    @property
    def html(self) -> str:
        """The whole page in one text, however long."""
        return self.page.html()

    @property
    def megabytes(self) -> float:
        """How large it is."""
        return self.page.size / 1e6

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, which any browser opens, and return its path.

        Series of more than 50 MB together go to a folder beside it, one file for each, which the
        page reads when a series is opened: ``all.html`` and ``all_series``.
        """
        target = read_path(path, "path")
        folder = self.folder(target)
        if folder is not None:
            if target.exists() and not target.is_file():
                rule = f"a file to write {self.megabytes:.0f} MB of series beside"
                raise InputError(rule, str(target))
            self.page.write_series(folder)
        with whole_file(target) as new:
            new.write_text(self.page.html(folder), encoding="utf-8")
        return target

    def folder(self, path: str | PathLike[str]) -> Path | None:
        """Return the folder of the series that `save` writes beside a path; None if it does not."""
        target = read_path(path, "path")
        if self.page.series.size <= MOST_IN_ONE_FILE:
            return None
        return target.with_name(f"{target.stem}_series")

    def __repr__(self) -> str:
        count = f"{len(self.series)} series, " if len(self.series) > 1 else ""
        names = ", ".join(self.detectors)
        return f"Report({self.title!r}, {count}detectors: {names}; {self.megabytes:.1f} MB)"

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, in a frame of its own."""
        frame = (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )
        # In ASCII: a script that the notebook reads in another encoding is not the one allowed.
        return frame.encode("ascii", "xmlcharrefreplace").decode()


def require_page(title: Any, script: Script) -> None:
    """Raise if a page cannot be made, before anything is computed."""
    if not isinstance(title, str):
        raise InputTypeError("to be text", shown(title), argument="title")
    require_choice(script, "script", ("embed", "cdn"))
    plotly_script(script)


@cache
def plotly_script(script: Script) -> tuple[str, str]:
    """Return plotly's script, compressed inside the page or a link, and the policy's name of it."""
    try:
        plotly: Any = import_module("plotly.offline")
    except ImportError as error:
        raise MissingExtraError("plotly", "report") from error
    code = plotly.get_plotlyjs().encode()
    digest = _digest(code)
    if script == "embed":
        return f'<script type="text/plain" id="plotly">{deflated(code)}</script>', f"'{digest}'"
    url = f"https://cdn.plot.ly/plotly-{plotly.get_plotlyjs_version()}.min.js"
    link = f'<script src="{url}" integrity="{digest}" crossorigin="anonymous"></script>'
    return link, url


def asset(name: str) -> str:
    """Read a file of the page."""
    return (files("closecall.report") / "assets" / name).read_text("utf-8")


@cache
def bundle() -> str:
    """Join the modules into one script, each in a scope of its own.

    A page that is opened from disk may not load modules from other files.
    """
    scopes = (_scope(name, asset(f"{name}.js")) for name in MODULES)
    return "const modules = {};\n" + "\n".join(scopes)


def _scope(name: str, code: str) -> str:
    exported = ", ".join(found[2] for found in _EXPORT.finditer(code))
    inner = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = modules.\2;", code))
    return f"modules.{name} = (() => {{\n{inner}return {{ {exported} }};\n}})();\n"


def _digest(code: bytes) -> str:
    """Return the hash by which browsers know a script."""
    return f"sha256-{b64encode(sha256(code).digest()).decode('ascii')}"


class Page:
    """The parts of a page; each series is its own block, read when it is opened."""

    def __init__(self, about: dict[str, Any], script: Script) -> None:
        self.about = about
        self.script: Script = script
        self.series = Texts(in_memory=MOST_IN_ONE_FILE)

    def append(self, content: dict[str, Any] | None) -> None:
        """Add what the page of one more series shows."""
        self.series.append(embedded_json(content))

    @property
    def size(self) -> int:
        """How many characters all of it has."""
        return len(self.html(Path("beside"))) + self.series.size

    def html(self, folder: Path | None = None) -> str:
        """Fill the skeleton, with all series or with the name of the folder that has them."""
        about = self.about if folder is None else {**self.about, "folder": folder.name}
        series = () if folder is not None else self.series
        blocks = [
            _json_block("report", embedded_json(about)),
            *(_json_block(f"series-{index}", text) for index, text in enumerate(series)),
        ]
        plotly, source = plotly_script(self.script)
        code = f"\n{bundle()}"
        files = "" if folder is None else _FILES
        parts = {
            "policy": _POLICY.format(f"'{_digest(code.encode())}' {source}{files}"),
            "title": escape(self.about["title"]),
            "style": asset("style.css"),
            "dark": asset("dark.css"),
            "paper": asset("paper.css"),
            "plotly": plotly,
            "data": "\n".join(blocks),
            "script": code,
        }
        skeleton = asset("page.html")
        return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], skeleton)

    def write_series(self, folder: Path) -> None:
        """Write a script for each series, which hands its text to the page; others are removed."""
        if folder.is_symlink():
            rule = f"a folder at {folder} for the series of the page"
            raise InputError(rule, "a link", hint="Move it, or choose another output.")
        if folder.exists():
            others = [one.name for one in folder.iterdir() if not _is_series_file(one)]
            if others:
                rule = f"{folder} to hold nothing but the series of a page, which are replaced"
                raise InputError(rule, others[0])
        new = folder.with_name(f".closecall-{token_hex(16)}")
        new.mkdir()
        try:
            for index, text in enumerate(self.series):
                if text != "null":
                    code = f"{_RECEIVE}({index}, {json.dumps(text)});\n"
                    (new / f"{index}.js").write_text(code, encoding="ascii")
            if folder.exists():
                rmtree(folder)
            new.replace(folder)
        except BaseException:
            rmtree(new, ignore_errors=True)
            raise


def _is_series_file(path: Path) -> bool:
    """Whether a file was written by `Page.write_series`, by its name and how it begins."""
    if not (_SERIES_FILE.fullmatch(path.name) and path.is_file()):
        return False
    with path.open("rb") as file:
        begin = f"{_RECEIVE}({path.stem}, ".encode()
        return file.read(len(begin)) == begin


def _json_block(name: str, text: str) -> str:
    return f'<script type="application/json" id="{name}">{text}</script>'


def embedded_json(content: Any) -> str:
    r"""Write JSON that no text in it can end early: ``<`` is escaped.

    >>> embedded_json({"name": "</script>"})
    '{"name":"\\u003c/script>"}'
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
