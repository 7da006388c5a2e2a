"""Run the examples: Python blocks of README and docs, and docstrings of the package and studies."""

import os
import sys
import tempfile
from doctest import ELLIPSIS
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures need no screen

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser
from sybil.sybil import SybilCollection

REPOSITORY = Path(__file__).parent


def _lacks(package: str) -> bool:
    """Return whether a package is not installed, so that a document can skip what needs it."""
    return find_spec(package) is None


def _lacks_command(name: str) -> bool:
    """Return whether a program is not installed."""
    return which(name) is None


def _enter_folder(namespace: dict[str, Any]) -> None:
    """Let a document write its files where nobody finds them."""
    namespace["lacks"], namespace["lacks_command"] = _lacks, _lacks_command
    namespace["_home"] = Path.cwd()
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)


def _leave_folder(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_home"])
    namespace["_folder"].cleanup()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


_documents = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), SkipParser()],
    path=str(REPOSITORY),
    patterns=["README.md", "docs/*.md", "docs/metrics/*.md"],
    excludes=["docs/errors.md"],  # its blocks fail on purpose; tests/test_documents.py runs them
    setup=_enter_folder,
    teardown=_leave_folder,
)


class _Docstrings(PythonDocStringDocument):
    """Leave alone what has no example: to look for docstrings in its syntax tree takes longer."""

    @classmethod
    def parse(cls, path: str, *parsers: Any, encoding: str = "utf-8") -> Any:
        text = Path(path).read_text(encoding)
        if ">>>" in text:
            return super().parse(path, *parsers, encoding=encoding)
        return cls(text, path)


_docstrings = [
    Sybil(
        parsers=[DocTestParser(optionflags=ELLIPSIS)],
        path=str(REPOSITORY / folder),
        patterns=["**/*.py"],
        document_types={".py": _Docstrings},
        setup=_enter_folder,
        teardown=_leave_folder,
    )
    for folder in ("src", "evidence")
]

pytest_collect_file = SybilCollection([_documents, *_docstrings]).pytest()


def pytest_xdist_make_scheduler(config: Any, log: Any) -> Any:
    """Hand out whole files, and all that needs the browser to one process, which starts it once."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            browser = "tests/report/"
            return browser if nodeid.startswith(browser) else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_xdist_auto_num_workers() -> int:
    """Use one process more than there are cores: browsers, clusters and programs are waited for."""
    return (os.cpu_count() or 1) + 1
