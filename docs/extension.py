"""What the site needs of Sphinx beside its own extensions.

- Formulas are MathML, which browsers draw by themselves: no script, and nothing from a network.
- Directives that put the tables of `tables.py` on pages.
- The explorer of the demo data, made by `closecall.report` when the site is built.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import closecall as cc
import tables
from closecall.datasets import demo

if TYPE_CHECKING:
    from sphinx.application import Sphinx

EXPLORER = "demo-explorer.html"
OVERLINE = re.compile(
    r'<mover>(<mrow>(?:(?!<mover>).)*?</mrow>)<mo accent="true">&#x02015;</mo></mover>'
)
NAME = re.compile(r"<mo([^>]*)>(min|max|sup)</mo>")
BAR = re.compile(r"<mo([^>]*)>(\||&#x0007C;)</mo>")
logger = logging.getLogger(__name__)


def mathml(node: nodes.Element, display: str) -> str:
    """Return a formula as MathML, and warn of a command that the converter does not know."""
    shown: str = convert(node.astext().strip(), display=display)
    if "\\" in re.sub("<[^>]+>", "", shown):
        logger.warning("a formula is not converted: %s", node.astext(), location=node)
    # A line over a term does not stretch in browsers; a border does.
    shown = OVERLINE.sub(r'<mrow class="overline">\1</mrow>', shown)
    # A bar is a bracket here, never a relation, and no space stands before a bracket.
    shown = NAME.sub(r'<mo\1 rspace="0">\2</mo>', shown)
    return BAR.sub(r'<mo\1 lspace="0" rspace="0">\2</mo>', shown)


def visit_inline(self: Any, node: nodes.Element) -> None:
    self.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def visit_display(self: Any, node: nodes.Element) -> None:
    self.body.append(f'<div class="formula">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


class Markdown(SphinxDirective):
    """A directive whose content is generated Markdown."""

    def text(self) -> str:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        box = nodes.container(classes=["generated", self.name])
        self.state.nested_parse(StringList(self.text().splitlines(), self.name), 0, box)
        return [box]


class MetricIndex(Markdown):
    def text(self) -> str:
        return tables.metric_index()


class Limitations(Markdown):
    def text(self) -> str:
        return tables.limitations()


class Metric(Markdown):
    required_arguments = 1
    option_spec = {"cost": directives.unchanged_required}  # noqa: RUF012 - Sphinx's way

    def text(self) -> str:
        return tables.metric_facts(self.arguments[0], self.options["cost"])


class EventColumns(Markdown):
    def text(self) -> str:
        return tables.event_columns()


class CommandOptions(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for name in tables.options_by_command():
            title = nodes.title("", f"closecall {name}")
            section = nodes.section(
                "", title, ids=[f"closecall-{name}"], names=[f"closecall-{name}"]
            )
            lines = StringList(tables.command_options(name).splitlines(), self.name)
            self.state.nested_parse(lines, 0, section)
            found.append(section)
        return found


class CommonOptions(Markdown):
    def text(self) -> str:
        return tables.common_options()


class DemoExplorer(SphinxDirective):
    """The page of the demo data in a frame, and a link to it alone."""

    def run(self) -> list[nodes.Node]:
        html = (
            f'<iframe class="explorer" src="{EXPLORER}" '
            'title="The explorer of the demo data"></iframe>\n'
            f'<p class="caption"><a href="{EXPLORER}">Open the explorer alone</a></p>'
        )
        return [nodes.raw("", html, format="html")]


def write_explorer(app: Sphinx) -> None:
    """Write the explorer of the demo data beside the first page."""
    if app.builder.format == "html":
        data = demo()
        page = cc.report(
            data.truth, scores=data.scores, times=data.times, values=data.values, title="Demo"
        )
        Path(app.outdir).mkdir(parents=True, exist_ok=True)
        page.save(Path(app.outdir) / EXPLORER)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(nodes.math, override=True, html=(visit_inline, None))
    app.add_node(nodes.math_block, override=True, html=(visit_display, None))
    app.add_directive("metric-index", MetricIndex)
    app.add_directive("metric-limitations", Limitations)
    app.add_directive("metric", Metric)
    app.add_directive("event-columns", EventColumns)
    app.add_directive("command-options", CommandOptions)
    app.add_directive("common-options", CommonOptions)
    app.add_directive("demo-explorer", DemoExplorer)
    app.connect("builder-inited", write_explorer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
