"""What a check found: limits, what moved, and both as text, JUnit XML, Markdown and HTML."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from closecall.notebook import MOST_ROWS, display, more_rows
from closecall.plain import plain
from closecall.wording import counted, plain_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from closecall.signature import Signature

    Status = Literal["pass", "fail", "investigate"]

LEVEL = 0.95
"""How often the intervals are meant to hold the number over all events there could be."""


@dataclass(frozen=True)
class Limit:
    """One number of one detector, the limit that it should keep, and whether it does."""

    detector: str | None
    """None for an only detector without a name."""
    number: str
    value: float
    at_least: bool
    """Whether the number should be at least the limit, or at most."""
    limit: float
    low: float
    """From here to `high` the number may lie, at a level of 95 %; nan where nothing says so."""
    high: float
    baseline: float | None
    """What the number was, if the limit is the tolerance below or above that; else None.

    `low` and `high` then come from the paired difference of the two runs.
    """
    status: Status
    reason: str = ""
    """Why, where that is neither the number nor its interval."""

    def cells(self) -> dict[str, str]:
        """Return what tables show."""
        value, limit = f"{self.value:.4g}", f"{self.limit:.4g}"
        if value == limit and self.value != self.limit:  # rounded, it would contradict the status
            value = f"{self.value:.15g}"
        return {
            "status": self.status,
            "detector": "" if self.detector is None else plain_name(self.detector),
            "number": plain_name(self.number),
            "value": "undefined" if isnan(self.value) else value,
            "95 % interval": "-" if isnan(self.low) else f"{self.low:.4g} to {self.high:.4g}",
            "limit": f"{'>=' if self.at_least else '<='} {limit}",
            "baseline": "" if self.baseline is None else f"{self.baseline:.4g}",
            "reason": self.reason,
        }

    @property
    def sentence(self) -> str:
        """The same in a line."""
        cells = self.cells()
        of = f" of {cells['detector']}" if cells["detector"] else ""
        within = "" if isnan(self.low) else f" (95 % interval {cells['95 % interval']})"
        was = "" if self.baseline is None else f" (baseline {cells['baseline']})"
        why = f"; {self.reason}" if self.reason else ""
        return (
            f"{cells['number']}{of} is {cells['value']}{within}, limit {cells['limit']}{was}{why}"
        )


@dataclass(frozen=True)
class Moved:
    """One true event, or one series of a batch without rows of events, that changed."""

    detector: str | None
    series: str | None
    """Of a batch; else None."""
    start: Any
    stop: Any
    change: str
    """Such as ``newly missed``, ``newly caught``, ``later``, ``earlier``, ``lower F1``."""
    before: str
    """What had happened to the event, in words."""
    after: str
    f1_before: float
    f1_after: float

    def cells(self) -> dict[str, str]:
        """Return what tables show."""
        scores = ("-" if isnan(x) else f"{x:.3f}" for x in (self.f1_before, self.f1_after))
        return {
            "change": self.change,
            "detector": "" if self.detector is None else plain_name(self.detector),
            "series": "" if self.series is None else plain_name(self.series),
            "event": "" if self.start is None else str(self.start).replace("T", " "),
            "before": self.before,
            "after": self.after,
            "F1": " to ".join(scores),
        }


@dataclass(frozen=True, repr=False)
class Check:
    """What `closecall.check` found: the limits, and what moved against the baseline."""

    limits: tuple[Limit, ...]
    moved: tuple[Moved, ...]
    """Events that changed, the worst first; empty without a baseline."""
    signature: Signature | None = None
    """What decided the numbers, in one line; None if the results do not say it."""
    baseline_signature: Signature | None = None
    """The same of the baseline."""

    @property
    def status(self) -> Status:
        """``pass``; ``fail`` if any limit is broken; else ``investigate`` if any is in doubt."""
        found = {limit.status for limit in self.limits}
        return "fail" if "fail" in found else "investigate" if "investigate" in found else "pass"

    @property
    def headline(self) -> str:
        """The status, and how many limits it rests on."""
        counts = Counter[str](limit.status for limit in self.limits)
        all_of = len(self.limits)
        kept = [f"{counted(all_of, 'limit')} kept"]
        told = [
            f"{counts[status]} of {counted(all_of, 'limit')} {words}"
            for status, words in (("fail", "broken"), ("investigate", "in doubt"))
            if counts[status]
        ]
        return f"{self.status}: {', '.join(told or kept)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        values: dict[str, Any] = plain(
            {
                "status": self.status,
                "headline": self.headline,
                "level": LEVEL,
                "limits": [asdict(limit) for limit in self.limits],
                "moved": [asdict(moved) for moved in self.moved],
                "signature": None,
                "baseline_signature": None,
                **self._signatures,
            }
        )
        return values

    @property
    def _signatures(self) -> dict[str, str]:
        """The two lines by name, as far as they are known."""
        both = {"signature": self.signature, "baseline_signature": self.baseline_signature}
        return {name: str(own) for name, own in both.items() if own is not None}

    def to_junit(self) -> str:
        """Return JUnit XML: a test case for each limit, skipped if it is in doubt."""
        from xml.etree import ElementTree as ET

        counts = Counter(limit.status for limit in self.limits)
        totals = {
            "name": "closecall check",
            "tests": str(len(self.limits)),
            "failures": str(counts["fail"]),
            "errors": "0",
            "skipped": str(counts["investigate"]),
            "time": "0",
        }
        root = ET.Element("testsuites", totals)
        suite = ET.SubElement(root, "testsuite", totals)
        if self._signatures:
            properties = ET.SubElement(suite, "properties")
            for name, line in self._signatures.items():
                ET.SubElement(properties, "property", name=name, value=line)
        for limit in self.limits:
            cells = limit.cells()
            owner = ".".join(filter(None, ("closecall", cells["detector"])))
            name = f"{cells['number']} {cells['limit']}"
            name += "" if limit.baseline is None else " (baseline)"
            case = ET.SubElement(suite, "testcase", classname=owner, name=name, time="0")
            if limit.status != "pass":
                tag = "failure" if limit.status == "fail" else "skipped"
                told = ET.SubElement(case, tag, type=limit.status, message=limit.sentence)
                told.text = limit.sentence
        told = ET.SubElement(suite, "system-out")
        told.text = "\n".join(map(plain_name, str(self).split("\n")))
        ET.indent(root)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'

    def to_markdown(self) -> str:
        """Return a summary in Markdown, as pull requests and jobs show it."""
        parts = [f"## closecall check: {_markdown(self.headline)}", _table(self.limits)]
        if self.moved:
            parts += ["### What moved against the baseline", _table(self.moved)]
        lines = (f"{name.replace('_', ' ')}: `{own}`" for name, own in self._signatures.items())
        parts += [f"<sub>{line}</sub>" for line in lines]
        return "\n\n".join(parts) + "\n"

    def __str__(self) -> str:
        lines = [f"closecall check: {self.headline}"]
        lines += [f"  {limit.status}: {limit.sentence}" for limit in self.limits]
        lines += ["moved against the baseline:"] if self.moved else []
        for moved in self.moved:
            cells = moved.cells()
            where = " ".join(filter(None, (cells["detector"], cells["series"], cells["event"])))
            lines.append(f"  {where}: {moved.change} ({moved.before}, now {moved.after})")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Check({self.headline}; {len(self.moved)} moved)"

    def _repr_html_(self) -> str:
        """Show the limits and what moved in a notebook."""
        moved = columns(self.moved[:MOST_ROWS])
        return display(
            f"closecall check: {self.headline}",
            [*columns(self.limits).items()],
            [*moved.items()] or "",
            more_rows(len(self.moved), "moved event"),
        )


def columns(rows: Sequence[Limit | Moved]) -> dict[str, list[str]]:
    """Return the columns of a table of these, without those that hold nothing."""
    cells = [row.cells() for row in rows]
    named = {name: [row[name] for row in cells] for name in (cells[0] if cells else ())}
    return {name: column for name, column in named.items() if any(column)}


def _table(rows: Sequence[Limit | Moved]) -> str:
    named = columns(rows)
    lines = [named, ["---"] * len(named), *zip(*named.values(), strict=True)]
    return "\n".join(f"| {' | '.join(map(_markdown, line))} |" for line in lines)


def _markdown(text: str) -> str:
    """Return a text so that it is no markup, and ends no cell."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", plain_name(text))
