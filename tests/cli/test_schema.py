"""JSON of commands follows the schema that it names; the fixture `run` holds that everywhere."""

import copy
import json
import shutil

import jsonschema
import pytest

from closecall.affiliation.event_scores import OUTCOMES
from closecall.cli.commands import COMMANDS
from closecall.cli.schema import NAMES, read_schema
from closecall.tables.batch.summary import STATUSES
from tests.cli.conftest import lines, validate, validator
from tests.conftest import run_program

DEMO = "demo.csv --truth label --time time"
LABELS = f"{DEMO} --predicted forecast --predicted threshold"
WRITTEN = {
    "audit": f"audit {LABELS} --metric classical --metric hausdorff --format json",
    "batch": f"batch {DEMO} --score forecast_score --intervals --per-event --format json",
    "check": f"check {DEMO} --predicted label --baseline old.json --format json",
    "compare": f"compare {LABELS} --intervals --format json",
    "curve": f"curve {DEMO} --score forecast_score --cross-fit --significance 5 --format json",
    "metrics": "metrics --format json",
    "score": f"score {DEMO} --predicted forecast --significance 5 --metric nab --format json",
    "stream": f"stream {DEMO} --predicted forecast",
}
OPTIONAL = {
    "audit": {"precision", "recall"},
    "batch": {"intervals"},
    "compare": {"intervals"},
    "curve": {"alarms_per_day", "cross_fitted", "significance"},
    "score": {"metrics", "significance"},
}


@pytest.fixture(scope="module")
def found():
    return {}


@pytest.fixture
def written(run, demo_file, found):
    """What a command writes; of a stream the last event, the line before the totals."""

    def call(name):
        if name not in found:
            run(*f"score {DEMO} --predicted forecast --format json --output old.json".split())
            text = lines(run(*WRITTEN[name].split()))
            found[name] = json.loads(text[-2] if name == "stream" else "\n".join(text))
        return found[name]

    return call


def test_the_commands_that_have_a_schema_are_listed(run):
    assert lines(run("schema")) == NAMES == sorted(WRITTEN)
    assert set(NAMES) < set(COMMANDS)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_whole_and_names_itself(run, name):
    found = json.loads("\n".join(lines(run("schema", name))))
    assert found == read_schema(name)
    assert found["title"] == f"closecall/{name}/1"
    jsonschema.Draft202012Validator.check_schema(found)
    used = {part.partition('"')[0] for part in json.dumps(found).split('"#/$defs/')[1:]}
    assert used == found["$defs"].keys()


def test_an_unknown_name_is_refused(refuse):
    assert "'scor' is not one of" in refuse("schema", "scor", code=2)[0]


@pytest.mark.parametrize("name", WRITTEN)
def test_json_names_its_schema_first(written, name):
    found = written(name)
    assert next(iter(found)) == "schema"
    assert found["schema"] == f"closecall/{name}/1"
    validate(found)


def shortened(part):
    """The same with the first two of each list: a range has two."""
    if isinstance(part, list):
        return [shortened(one) for one in part[:2]]
    if isinstance(part, dict):
        return {key: shortened(value) for key, value in part.items()}
    return part


def places(part, *path):
    """Where the keys of all objects are; names of parts are no keys."""
    if isinstance(part, list) and part:
        yield from places(part[0], *path, 0)
    elif isinstance(part, dict):
        for key, value in part.items():
            yield (*path, key)
            yield from places(value, *path, key)


def without_or_wrong(found, place):
    """The same without a key, and with what no key may be."""
    missing, wrong = copy.deepcopy(found), copy.deepcopy(found)
    for changed, change in (
        (missing, dict.pop),
        (wrong, lambda part, key: part.update({key: [[]]})),
    ):
        part = changed
        for step in place[:-1]:
            part = part[step]
        change(part, place[-1])
    return missing, wrong


FREE = {"headlines", "meaning", "left_out", "parameters", "measured_otherwise", "distances"}
"""Objects whose keys are names that the data or the caller gave."""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_key_that_is_missing_or_of_another_type_is_noticed(written, name):
    found, tried = shortened(written(name)), 0
    validate(found)
    for place in places(found):
        if FREE & set(place[:-1]) and name in {"audit", "compare", "metrics"}:
            continue
        if {"detectors", "metrics"} & set(map(str, place[-2:-1])):
            continue  # names of detectors and numbers
        missing, wrong = without_or_wrong(found, place)
        closed = name != "batch" or len(place) == 1 or place[0] not in {"rows", "summary", "events"}
        if place[-1] not in OPTIONAL.get(name, ()) and closed:
            assert not validator(name).is_valid(missing), place
        assert not validator(name).is_valid(wrong) or place[-1] in FREE, place
        tried += 1
    assert tried > 5


def test_infinite_thresholds_are_text(run, tmp_path):
    """The scores of the true events are infinite, and so are the thresholds of all folds."""
    rows = [f"{place % 40 < 5:d},{'inf' if place % 40 < 5 else place % 7}" for place in range(240)]
    (tmp_path / "infinite.csv").write_text("truth,score\n" + "\n".join(rows) + "\n")
    found = json.loads(run("curve", "infinite.csv", "--cross-fit", "--format", "json").stdout)
    assert found["chosen"]["threshold"] == "inf"
    assert set(found["cross_fitted"]["thresholds"]) == {"inf"}


def test_words_are_those_of_the_code():
    assert read_schema("score")["$defs"]["outcome"]["enum"] == [*reversed(OUTCOMES)]
    rows = read_schema("batch")["properties"]["rows"]["items"]["properties"]
    assert rows["status"]["enum"] == list(STATUSES)


def test_records_are_row_wise(run, demo_file):
    program = shutil.which("jq")
    if program is None:
        pytest.skip("jq is not installed")
    found = run(*f"score {DEMO} --predicted forecast --format json".split()).stdout
    missed = run_program(
        [program, "-c", '.events[] | select(.outcome=="missed") | .start'], input=found, check=True
    )
    assert missed.stdout.splitlines() == [
        json.dumps(event["start"])
        for event in json.loads(found)["events"]
        if event["outcome"] == "missed"
    ]
    assert missed.stdout
