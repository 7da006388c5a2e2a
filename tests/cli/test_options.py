"""What is typed, as it is read."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import click
import pytest

from closecall.chance import MOST_SHIFTS
from closecall.cli.options import option, parse_budget, parse_metric, parse_shifts, parse_time
from closecall.signature import parse


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("2/1d", (2, timedelta(days=1))),
        ("5/8h", (5, timedelta(hours=8))),
        ("1/d", (1, timedelta(days=1))),
        ("0.5/30min", (0.5, timedelta(minutes=30))),
        ("3/2W", (3, timedelta(weeks=2))),
        ("3/1.5s", (3, timedelta(seconds=1.5))),
        ("10/250ms", (10, timedelta(milliseconds=250))),
        ("3/100", (3, 100)),
        ("2/week", (2, timedelta(days=7))),
        ("1/day", (1, timedelta(days=1))),
        ("3/2hours", (3, timedelta(hours=2))),
        ("5 / minute", (5, timedelta(minutes=1))),
        (" 1/1e3 ", (1, 1000)),
    ],
)
def test_budgets(text, budget):
    assert parse_budget(text) == budget


@pytest.mark.parametrize(
    "text", ["2", "2/", "/1d", "-2/1d", "2/-1d", "2/1x", "two/1d", "2/1d/1h", "1/1e300d"]
)
def test_no_budgets(text):
    with pytest.raises(
        click.BadParameter, match=r"Expected `rate` to be COUNT/DURATION such as 2/week"
    ):
        parse_budget(text)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("nab", {}),
        ("nab:profile=standard,probation=.15", {"profile": "standard", "probation": 0.15}),
        ("margin:margin=3", {"margin": 3}),
        ("margin:margin=1.5h", {"margin": timedelta(minutes=90)}),
        ("margin: margin = 2d", {"margin": timedelta(days=2)}),
    ],
)
def test_metrics(text, parameters):
    name, read = parse_metric(text)
    assert (name, read) == (text.partition(":")[0], parameters)
    assert [type(value) for value in read.values()] == [type(v) for v in parameters.values()]


@pytest.mark.parametrize("text", ["margin:", "margin:=3", "margin:margin=", "margin:a=1,,b=2"])
def test_no_metrics(text):
    with pytest.raises(click.BadParameter, match="is no PARAMETER=VALUE"):
        parse_metric(text)


def test_the_most_shifts_are_those_of_the_library():
    assert parse_shifts(f"{MOST_SHIFTS}") == MOST_SHIFTS
    with pytest.raises(click.BadParameter):
        parse_shifts(f"{MOST_SHIFTS + 1}")


@pytest.mark.parametrize(
    ("text", "time"),
    [("120", 120), ("0.5", 0.5), ("2024-01-31", datetime(2024, 1, 31))],  # noqa: DTZ001 - naive
)
def test_times(text, time):
    assert parse_time(text) == time
    assert type(parse_time(text)) is type(time)


def test_an_offset():
    assert parse_time("2024-01-31T08:05:00+01:00").utcoffset() == timedelta(hours=1)


COMMANDS = {
    "score": "--predicted alarm",
    "curve": "--score s",
    "compare": "--predicted alarm --score s",
    "audit": "--predicted alarm --metric classical --budget 1",
    "check": "--predicted alarm --min f1=0",
    "batch": "--predicted alarm --truth truth",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_signature_names_what_was_asked_of_the_time(run, command):
    rows = (f"{t},{t % 9 // 8},{t % 10 // 9},{t % 10}" for t in range(30))
    Path("s.csv").write_text("\n".join(["t,truth,alarm,s", *rows]))
    asked = "--time t --from 2 --until 28 --disorder first --format json"
    result = run(command, "s.csv", *COMMANDS[command].split(), *asked.split())
    options = parse(json.loads(result.stdout)["signature"]).options
    told = {name: options.get(name) for name in ("since", "until", "disorder")}
    assert told == {"since": 2, "until": 28, "disorder": "first"}


@pytest.mark.parametrize(
    ("usage", "more", "arguments", "value"),
    [
        ("--end TIME", {}, ["--end", "7"], 7),
        ("--end DURATION", {}, ["--end", "1min"], timedelta(minutes=1)),
        ("-e --end COUNT/DURATION", {}, ["-e", "3/100"], (3, 100)),
        ("--end START STOP", {"nargs": 2}, ["--end", "a", "b"], ("a", "b")),
        ("--end", {}, ["--end"], True),
        ("--end [N]", {"flag_value": "5"}, ["--end"], "5"),
        ("--end [N]", {"flag_value": "5"}, ["--end", "6"], "6"),
        ("--end N", {}, [], None),
    ],
)
def test_an_option_is_read_as_its_usage_says(usage, more, arguments, value):
    @click.command()
    @option(usage, "Where it ends.", "stop", **more)
    def command(stop):
        return stop

    assert command.main(arguments, standalone_mode=False) == value
    with click.Context(command) as context:
        assert usage.split()[-1] in command.get_help(context)


@pytest.mark.parametrize(
    "zones",
    ["UTC --timezone Europe/Berlin", "truth=UTC --timezone truth=UTC", "UTC --timezone truth=UTC"],
)
def test_a_zone_is_given_once(refuse, zones):
    message = refuse("score", "a.csv", "--timezone", *zones.split(), code=2)[0]
    assert "--timezone is given once for all files, or once for each, as truth=ZONE." in message
