"""What the documents say is true: commands run, errors read as printed, names are all listed.

The Python blocks of README and docs are run too, by the repository's own conftest.
"""

import os
import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

import closecall

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"generated", "_build"} & set(page.parts)]
LISTED = ("closecall", "closecall.plot", "closecall.datasets")


def blocks(page, *languages):
    """The page's fenced blocks in one of the languages, in order, as (language, content)."""
    fences = re.findall(
        r"^```(\w+)\n(.*?)^```$", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [(language, content) for language, content in fences if language in languages]


def commands(page):
    lines = [line for _, block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("closecall ")]


def run(command, folder):
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(  # noqa: S602 - the lines are our own documents, redirections included
        command,
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def name(page):
    return str(page.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name)
def test_commands_run_in_order(page, tmp_path):
    for command in commands(page):
        done = run(command, tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout or done.stderr or any(tmp_path.iterdir()), f"{command} did nothing"


def test_commands_are_found_in_the_documents():
    assert "closecall demo" in commands(REPOSITORY / "docs" / "command-line.md")
    assert len(commands(REPOSITORY / "README.md")) >= 2


def test_the_table_in_the_documents_is_what_is_printed(tmp_path):
    page = REPOSITORY / "docs" / "command-line.md"
    shown = next(block for _, block in blocks(page, "text") if block.startswith("precision"))
    run("closecall demo --save demo.csv", tmp_path)
    done = run(
        "COLUMNS=80 closecall score demo.csv --truth label --predicted forecast --time time",
        tmp_path,
    )
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert printed[: len(shown.splitlines())] == shown.splitlines()


def test_the_error_on_the_command_line_is_what_is_printed(tmp_path):
    page = REPOSITORY / "docs" / "command-line.md"
    shown = next(block for _, block in blocks(page, "text") if block.startswith("Error"))
    run("closecall demo --save demo.csv", tmp_path)
    done = run("closecall score demo.csv --truth label --predicted forecas", tmp_path)
    assert (done.returncode, done.stderr) == (1, shown)


def error_examples():
    """Pairs of a Python block that fails and the message under it, after the shared imports."""
    found = blocks(REPOSITORY / "docs" / "errors.md", "python", "text")
    (_, prelude), *rest = found
    pairs = pairwise(rest)
    return prelude, [
        (code, message)
        for (first, code), (second, message) in pairs
        if (first, second) == ("python", "text")
    ]


@pytest.mark.parametrize(("code", "message"), error_examples()[1])
def test_errors_read_as_printed(code, message):
    namespace = {}
    exec(error_examples()[0], namespace)  # noqa: S102 - our own document
    with pytest.raises(closecall.errors.ClosecallError) as caught:
        exec(code, namespace)  # noqa: S102 - our own document
    assert f"{type(caught.value).__name__}: {caught.value}\n" == message


def test_the_message_about_a_missing_package_reads_as_printed():
    error = closecall.errors.MissingExtraError("matplotlib", "plot")
    page = (REPOSITORY / "docs" / "errors.md").read_text("utf-8")
    assert f"MissingExtraError: {error}\n" in page


def listed_names():
    """Names that the API reference lists, as module.name."""
    module, names = "", set()
    for line in (REPOSITORY / "docs" / "api" / "index.md").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            names.add(f"{module}.{line.strip()}")
    return names


@pytest.mark.parametrize("module", LISTED)
def test_every_public_name_is_in_the_reference(module):
    public = {f"{module}.{public}" for public in import_module(module).__all__}
    assert public - {"closecall.theory"} <= listed_names()


def test_every_name_in_the_reference_exists():
    for listed in listed_names():
        module, _, attribute = listed.rpartition(".")
        assert hasattr(import_module(module), attribute), listed


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    images = re.findall(r"^```\{figure\} (\S+)", page.read_text("utf-8"), flags=re.MULTILINE)
    for target in (*targets, *images):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), f"{name(page)}: {target}"
