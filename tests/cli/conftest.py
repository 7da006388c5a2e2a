"""Run the command in this process, in a folder of its own."""

import json
import re
from contextlib import nullcontext
from functools import cache

import pytest
from click.testing import CliRunner

from closecall import __version__
from closecall.affiliation import curve
from closecall.cli.commands import closecall
from closecall.cli.schema import read_schema
from closecall.signature import parse


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call the command with these arguments; a bug shows its traceback.

    What any test makes it write as JSON must follow its schema.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    # Whether numba compiles here depends on the tests before; processes of their own test it.
    monkeypatch.setattr("closecall.cli.options.compile_notice", nullcontext)
    # Twenty rolls of the demo's scores instead of a thousand; `test_screens` has them all.
    monkeypatch.setattr(curve, "_MOST_ROLLED", 100_000)

    def call(*arguments, **options):
        result = CliRunner().invoke(
            closecall, list(arguments), prog_name="closecall", catch_exceptions=False, **options
        )
        if result.stdout.startswith('{\n  "schema"'):
            validate(json.loads(result.stdout))
        elif result.stdout.startswith('{"schema"'):
            for line in result.stdout.splitlines():
                validate(json.loads(line))
        return result

    return call


@cache
def validator(name):
    jsonschema = pytest.importorskip("jsonschema")
    schema = read_schema(name)
    return jsonschema.Draft202012Validator(inlined(schema, schema["$defs"]))


def inlined(part, definitions):
    """A schema with its definitions where they are named, which is checked in half the time."""
    if isinstance(part, list):
        return [inlined(one, definitions) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: inlined(value, definitions) for key, value in part.items() if key != "$defs"}
    if isinstance(named := found.pop("$ref", None), str):
        other = inlined(definitions[named.removeprefix("#/$defs/")], definitions)
        assert found.keys() & other.keys() <= {"description"}
        found |= other
    return found


def validate(values):
    """Raise unless JSON follows the schema that it names."""
    _, name, _ = values["schema"].split("/")
    validator(name).validate(values)


def lines(result):
    """The lines that a command printed, which ended well."""
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


def unsigned(result):
    """The lines before the signature, which is the last."""
    *before, last = lines(result)
    assert last.startswith("signature: ")
    assert str(parse(last.removeprefix("signature: "))).endswith(f"|closecall:{__version__}")
    return before


def complaint(result):
    """The lines on standard error, without how many series a batch sees."""
    return [line for line in result.stderr.splitlines() if not re.match(r"\d+ series\b", line)]


@pytest.fixture
def demo_file(run):
    run("demo", "--save", "demo.csv")
    return "demo.csv"


@pytest.fixture
def refuse(run):
    """Call the command, and return the lines of its complaint."""

    def call(*arguments, code=1, **options):
        result = run(*arguments, **options)
        assert result.exit_code == code
        assert result.stdout == ""
        return complaint(result)

    return call
