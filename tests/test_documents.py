"""What the documents say is true: commands run, errors read as printed, names are all listed.

The Python blocks of README and docs are run too, by the repository's own conftest. Blocks under the
comment "needs the data" run only where the data is; Python among them is `pycon`.
"""

import doctest
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from evidence.__main__ import studies
from evidence.paper import reproduce

import closecall
from closecall.adversary import TARGETS
from closecall.affiliation import curve
from closecall.cli.commands import closecall as cli
from closecall.metrics.registry import METRICS

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
REPRODUCED = cache(reproduce)  # the tables of the paper, for all commands and formats
STORIES = ("from-incidents", "paper-table", "many-files")
STUDY = "python -m evidence "
STORY = "python docs/stories.py "  # writes the raw files that a page starts from
PAGES = [page for page in PAGES if not {"generated", "_build"} & set(page.parts)]
LISTED = (
    "closecall",
    "closecall.adversary",
    "closecall.affiliation",
    "closecall.compare",
    "closecall.compat",
    "closecall.datasets",
    "closecall.tables",
    "closecall.metrics",
    "closecall.plot",
    "closecall.chance",
)


def blocks(page, *languages, needs_data=False):
    """The page's fenced blocks in one of the languages, in order, as (language, content)."""
    fences = re.findall(
        r"^(<!-- needs the data.*?-->\n\n)?```(\w+)\n(.*?)^```$",
        page.read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    return [
        (language, content)
        for mark, language, content in fences
        if language in languages and bool(mark) == needs_data
    ]


def commands(page, *, needs_data=False):
    found = blocks(page, "sh", needs_data=needs_data)
    lines = [line for _, block in found for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line.startswith(("closecall ", STUDY))]


def pages_with_data(*languages):
    return [page for page in PAGES if blocks(page, *languages, needs_data=True)]


def run(command, folder, given=None):
    """Run a line of a page as a reader would: in a shell, with the command as it is installed."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(  # noqa: S602 - the lines are our own documents, redirections included
        command,
        shell=True,
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Run a command in this process, in a folder of its own: that is several times as fast."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evidence.paper.reproduce", REPRODUCED)
    # Whether numba compiles here depends on the tests before.
    monkeypatch.setattr("closecall.cli.options.compile_notice", nullcontext)

    def call(command, *, columns="100", given=None):
        monkeypatch.setenv("COLUMNS", columns)
        if command.startswith(STUDY):
            return CliRunner().invoke(studies, shlex.split(command.removeprefix(STUDY)))
        arguments = shlex.split(command)[1:]
        return CliRunner().invoke(cli, arguments, prog_name="closecall", input=given)

    return call


def printed(result):
    return [line.rstrip() for line in result.stdout.splitlines()]


def name(page):
    return str(page.relative_to(REPOSITORY))


def run_line(command, folder, here, *, shell=False):
    """Run a line, in this process what needs no shell; return what it prints."""
    if command.startswith(STORY):  # in the folder that `here` is in
        runpy.run_path(str(REPOSITORY / "docs/stories.py"))[command.removeprefix(STORY)]()
        return ""
    own, pipe, rest = command.partition(" | ")
    own, _, file = own.partition(" < ")
    quoted = re.sub(r"'[^']*'", "", own)
    if shell or re.search(r"[|<>&;$*~]", quoted):
        done = run(command, folder)
        code = done.returncode
    else:
        done = here(own, given=(folder / file).read_bytes() if file else None)
        code = done.exit_code
        if pipe and code == 0:
            done = run(rest, folder, given=done.stdout)
            code = done.returncode
    assert code == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert done.stdout or done.stderr or any(folder.iterdir()), f"{command} did nothing"
    return done.stdout


def run_all(page, lines, folder, here):
    """Run the lines of a page, the README's first as a reader would; return what they print."""
    if shutil.which("jq") is None:
        lines = [line for line in lines if "| jq " not in line]
    return [
        run_line(command, folder, here, shell=page.name == "README.md" and place == 0)
        for place, command in enumerate(map(os.path.expandvars, lines))
    ]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page) and page.stem not in STORIES], ids=name
)
def test_commands_run_in_order(page, tmp_path, here, monkeypatch):
    monkeypatch.setattr(curve, "_MOST_ROLLED", 100_000)  # twenty rolls of scores are enough to run
    run_all(page, commands(page), tmp_path, here)


@pytest.mark.parametrize("page", STORIES)
def test_what_a_story_shows_is_what_is_printed(page, tmp_path, here):
    """What stands under a command is among the lines that it prints, or in the file it writes."""
    found, shown = "", 0
    for language, content in blocks(REPOSITORY / "docs" / f"{page}.md", "sh", "text"):
        if language == "text":
            assert content in found
            shown += 1
        elif "| jq " in content and shutil.which("jq") is None:
            return  # and that is the last one
        else:
            commands = content.replace("\\\n", " ").splitlines()
            done = "".join(run_line(command, tmp_path, here) for command in commands)
            files = "".join(map(Path.read_text, tmp_path.glob("*.csv")))
            found = "".join(f"{line.rstrip()}\n" for line in done.splitlines()) or files
    assert shown >= 2


@pytest.mark.parametrize("page", pages_with_data("sh"), ids=name)
def test_commands_that_need_the_data_run(page, data_folder, tmp_path, monkeypatch, here):
    monkeypatch.setenv("CLOSECALL_DATA", str(data_folder))
    monkeypatch.setitem(here.__kwdefaults__, "columns", "80")
    found = run_all(page, commands(page, needs_data=True), tmp_path, here)
    if page.stem == "batch":
        _, shown = blocks(page, "text")[0]
        assert "3  random " in shown
        told = [line.rstrip() for line in found[0].splitlines()]
        assert told[: len(shown.splitlines())] == shown.splitlines()


@pytest.mark.parametrize("page", pages_with_data("pycon"), ids=name)
def test_python_that_needs_the_data_runs(page, data_folder, monkeypatch):
    monkeypatch.setenv("CLOSECALL_DATA", str(data_folder))
    code = "\n".join(content for _, content in blocks(page, "pycon", needs_data=True))
    examples = doctest.DocTestParser().get_doctest(code, {}, name(page), name(page), 0)
    failures = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=failures.append)
    assert not failures, "".join(failures)
    assert examples.examples


def test_every_block_runs_somewhere():
    """A mark that is misspelt, or Python that is marked but not `pycon`, would not be run."""
    for page in PAGES:
        text = page.read_text("utf-8")
        marked = blocks(page, "sh", "pycon", "text", needs_data=True)
        assert text.count("needs the data") == len(marked), name(page)
        assert not blocks(page, "pycon"), name(page)


def test_commands_are_found_in_the_documents():
    assert "closecall demo" in commands(REPOSITORY / "docs" / "command-line.md")
    assert len(commands(REPOSITORY / "README.md")) >= 2
    assert "python -m evidence paper" in commands(REPOSITORY / "docs" / "paper.md", needs_data=True)
    assert "python -m evidence paper" not in commands(REPOSITORY / "docs" / "paper.md")


def test_the_count_of_the_paper_is_what_is_printed(data_folder, here, monkeypatch):
    monkeypatch.setenv("CLOSECALL_DATA", str(data_folder))
    ((_, shown),) = blocks(REPOSITORY / "docs" / "paper.md", "text", needs_data=True)
    lines = printed(here("python -m evidence paper"))
    assert lines[-len(shown.splitlines()) :] == shown.splitlines()


def test_the_tables_of_the_paper_are_counted(data_folder):
    page = (REPOSITORY / "docs" / "paper.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\d+) \| (\d+) \|$", page, flags=re.MULTILINE)
    tables = REPRODUCED(str(data_folder)).tables
    assert rows == [(table.name, str(table.total), str(table.matched)) for table in tables]


def test_the_table_in_the_documents_is_what_is_printed(here):
    page = REPOSITORY / "docs" / "command-line.md"
    shown = next(block for _, block in blocks(page, "text") if "precision" in block)
    line = next(line for line in commands(page) if line.startswith("closecall score"))
    here("closecall demo --save demo.csv")
    assert printed(here(line, columns="80"))[: len(shown.splitlines())] == shown.splitlines()


def test_the_error_on_the_command_line_is_what_is_printed(here):
    page = REPOSITORY / "docs" / "command-line.md"
    shown = next(block for _, block in blocks(page, "text") if block.startswith("Error"))
    here("closecall demo --save demo.csv")
    done = here("closecall score demo.csv --truth label --predicted forecas")
    assert (done.exit_code, done.stderr) == (1, shown)


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
        elif line.startswith(".. py:data::"):
            names.add(line.split()[-1])
        elif re.fullmatch(r"   [\w.]+", line):
            names.add(f"{module}.{line.strip()}")
    return names


def find(path):
    module, _, attribute = path.rpartition(".")
    return getattr(import_module(module), attribute)


@pytest.mark.parametrize("module", LISTED)
def test_every_public_name_is_in_the_reference(module):
    listed = [find(path) for path in listed_names()]
    public = {public: find(f"{module}.{public}") for public in import_module(module).__all__}
    missing = [
        public
        for public, value in public.items()
        if not isinstance(value, ModuleType) and not any(value is one for one in listed)
    ]
    assert not missing


def test_every_name_in_the_reference_exists():
    missing = [path for path in listed_names() if find(path) is None]
    assert listed_names()
    assert not missing


@pytest.fixture
def tables(monkeypatch):
    """The module that makes the tables of the site."""
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs"))
    return import_module("tables")


def test_every_metric_has_its_section_on_the_page_of_its_family(tables):
    families = {metric.name: metric.family for metric in METRICS.values()}
    assert {name: page for name, (page, _) in tables.sections().items()} == families


def test_the_index_of_metrics_says_what_each_rewards_and_what_misleads_it(tables):
    lines = tables.metric_index().splitlines()[2:]
    rows = [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines]
    assert {len(row) for row in rows} == {5}
    assert [re.match(r"\[`(\w+)`\]", row[0])[1] for row in rows] == list(METRICS)
    assert all(min(map(len, row[1:3])) > 15 for row in rows)
    first, *_, given, peers = rows[list(METRICS).index("hausdorff")]
    assert first.endswith("<br>O(n + m)<br>Truong et al., Signal Processing 2020")
    assert given == "value: 0 to ∞, lower is better"
    assert peers.startswith("For points it equals `hausdorff` of ruptures")
    first, *_, given, peers = rows[list(METRICS).index("range_based")]
    assert first.endswith("<br>Tatbul et al., NeurIPS 2018")
    assert given.startswith("P, R, F1: 0 to 1<br>`alpha=0.5`, ")
    assert peers.startswith("Peers differ in their defaults")


@pytest.mark.parametrize("metric", METRICS)
def test_the_section_of_a_metric_explains_its_parameters(metric, tables):
    _, section = tables.sections()[metric]
    assert f"```{{metric}} {metric}\n:cost: O(" in section
    shown = tables.metric_facts(metric, "O(1)")
    missing = [name for name in METRICS[metric].parameters if f"`{name}" not in shown]
    assert not missing
    assert ("higher is better" in shown) == METRICS[metric].higher_is_better


def test_the_columns_of_events_are_all_described(tables):
    listed = re.findall(r"^\| `(\w+)` \| [A-Z].+\. \|$", tables.event_columns(), re.MULTILINE)
    result = closecall.affiliation([0, 1, 0], [0, 1, 0])
    assert sorted(listed) == sorted(result.to_frame().columns)


def test_every_option_of_every_command_is_listed(tables):
    runner = CliRunner()
    common = tables.common_options()
    for name in tables.options_by_command():
        page = common + tables.command_options(name)
        told = runner.invoke(cli, [name, "--help"]).stdout.partition("Options:")[2]
        options = set(re.findall(r"^  (?:-\w, )*(--[\w-]+)", told, re.MULTILINE)) - {"--help"}
        assert not [option for option in options if option not in page], name


def test_the_design_targets_are_those_of_the_audit():
    page = (REPOSITORY / "docs" / "adversaries.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*\? .*) \|$", page, flags=re.MULTILINE))
    assert list(rows) == list(TARGETS)
    for target in TARGETS.values():
        bounds = [f"{bound:g}" for bound in (target.least, target.most) if abs(bound) < 1e9]
        _, _, limits = rows[target.name].rpartition("|")
        assert rows[target.name].startswith(target.question)
        assert re.findall(r"-?[\d.]+", limits) == bounds


def anchors(page):
    """The anchors of the headings of a page, as Sphinx and GitHub make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,3} (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text)
    images = re.findall(r"^```\{figure\} (\S+)", page.read_text("utf-8"), flags=re.MULTILINE)
    for target, anchor in (*targets, *((image, "") for image in images)):
        if not target.startswith("https://"):
            found = page.parent / target if target else page
            assert found.exists(), f"{name(page)}: {target}"
            assert not anchor or anchor in anchors(found), f"{name(page)}: {target}#{anchor}"


def test_every_page_is_in_the_navigation():
    """Each page but the first is in the list of one group, and of no second."""
    docs = REPOSITORY / "docs"
    listed = []
    for page in PAGES:
        trees = re.findall(
            r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
        )
        entries = [
            line for tree in trees for line in tree.splitlines() if line[:1] not in {"", ":"}
        ]
        listed += [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries]
    pages = [str(page.relative_to(docs))[:-3] for page in PAGES if docs in page.parents]
    assert sorted(listed) == sorted(set(pages) - {"index"})
