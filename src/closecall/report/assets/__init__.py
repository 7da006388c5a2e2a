"""Files of the page: the skeleton, the style, and small scripts that become one."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

# Each module after those it imports from.
MODULES = (
    *("dom", "predict", "score", "words", "slices", "chance", "thresholds", "clock", "series"),
    *("theme", "figure", "lanes", "timeline", "curve", "table", "detectors", "address"),
    *("view", "batch", "page"),
)
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', flags=re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) (\w+))", flags=re.MULTILINE)


def asset(name: str) -> str:
    """Read a file of the page."""
    return files("closecall.report.assets").joinpath(name).read_text("utf-8")


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
