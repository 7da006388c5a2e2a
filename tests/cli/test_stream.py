"""`closecall stream`: events as soon as they are known, through real pipes, and the state."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import closecall as cc
from closecall.cli.stream import _Samples
from closecall.tables.series import Reading

RANDOM = np.random.default_rng(3)
TRUTH, ALARMS = (RANDOM.random((2, 300)) < 0.06).astype(int)
TIMES = np.cumsum(RANDOM.integers(1, 4, 300))
COLUMNS = ("--truth", "label", "--predicted", "alarm", "--time", "t")
START = """
import atexit, sys
from closecall.cli import main
heavy = {"pandas", "numba", "polars", "narwhals", "pyarrow.parquet"}
atexit.register(lambda: print(heavy & sys.modules.keys(), file=sys.stderr))
main()
"""
COMMAND = [sys.executable, "-c", START, "stream"]
# One level a line, so that no line is deep.
DEEP = '{"label": 0, "alarm": ' + "[\n" * 100_000 + "]\n" * 100_000 + "}\n"


def csv_lines(first=0, last=300):
    samples = zip(TIMES[first:last], TRUTH[first:last], ALARMS[first:last], strict=True)
    return ["t,label,alarm\n", *(f"{t},{label},{alarm}\n" for t, label, alarm in samples)]


def json_lines(first=0, last=300):
    samples = zip(TIMES[first:last], TRUTH[first:last], ALARMS[first:last], strict=True)
    return [
        json.dumps({"t": int(t), "label": int(label), "alarm": int(alarm)}) + "\n"
        for t, label, alarm in samples
    ]


@pytest.fixture
def printed(run):
    """What the command prints for lines of a file, after it ended well."""

    def call(lines, *arguments):
        Path("samples").write_text("".join(lines))
        done = run("stream", "samples", *arguments)
        assert done.exit_code == 0, done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert {line.pop("schema") for line in found} == {"closecall/stream/1"}
        return found

    return call


def expected_result():
    step = int(np.median(np.diff(TIMES)))
    return cc.affiliation(TRUTH, ALARMS, times=TIMES, end=int(TIMES[-1]) + step)


@pytest.mark.parametrize("lines", [csv_lines, json_lines])
def test_events_and_totals_are_those_of_affiliation(printed, lines):
    *events, total = printed(lines(), *COLUMNS)
    expected = expected_result()
    for event, row in zip(events, expected.events.rows(), strict=False):
        assert event.pop("kind") == "event"
        known = {name: row[name] for name in event if name != "nearest"}
        assert {name: event[name] for name in known} == known
    assert len(events) == len(expected.events) - 1
    assert total["f1"] == expected.f1
    assert total["headline"] == expected.headline
    assert (total["caught"], total["false_alarms"]) == (expected.caught, expected.false_alarms)


def test_time_that_does_not_count(run, printed):
    skipped = np.isin(np.arange(300) // 20, (0, 4, 9)).astype(int)
    missing = np.arange(300) % 50 == 7
    rows = zip(TIMES, TRUTH, np.where(ALARMS, "0.7", "0.2"), skipped, missing, strict=True)
    lines = [
        "t,label,s,skip\n",
        *(f"{t},{label},{'' if lost else s},{skip}\n" for t, label, s, skip, lost in rows),
    ]
    columns = ("--truth", "label", "--score", "s", "--threshold", "0.7", "--time", "t")
    total = printed(lines, *columns, "--ignore", "skip", "--nan", "ignore")[-1]
    end = int(TIMES[-1]) + int(np.median(np.diff(TIMES)))
    ignore = skipped | missing
    expected = cc.affiliation(TRUTH, ALARMS, times=TIMES, end=end, ignore=ignore)
    assert (total["f1"], total["headline"]) == (expected.f1, expected.headline)
    done = run("stream", "samples", *columns)
    assert "Expected `--score` to be numbers, or inf, got nan at index 7." in done.stderr
    assert "--nan ignore" in done.stderr


@pytest.mark.parametrize("size", [1, 2, 7, 300])
@pytest.mark.parametrize("max_step", [None, 2])
@pytest.mark.parametrize("limits", [(100, 400), (101, 402), (102, 403), (103, 404)])
def test_a_limit_inside_a_sample_cuts_it_whatever_the_chunks(size, max_step, limits):
    since, until = limits
    reading = Reading(
        truth="label", predicted=("alarm",), time="t", since=since, until=until, max_step=max_step
    )
    samples, stream = _Samples("samples", reading, None), cc.AffiliationStream(max_step=max_step)
    header, *lines = csv_lines()
    for first in range(0, len(lines), size):
        text = "".join(lines[first : first + size])
        chunk = samples.read((text if first else header + text).encode())
        stream.update(chunk.truth, chunk.alarms, times=samples.times, ignore=chunk.ignored)
    end = int(TIMES[-1]) + 2
    axis = {"times": TIMES, "end": end, "max_step": max_step}
    outside = [(int(TIMES[0]), since), (until, end)]
    expected = cc.affiliation(TRUTH, ALARMS, **axis, ignore=outside)
    assert stream.result(end=end).values() == expected.values()
    assert stream.result(end=end).ignored_time == expected.ignored_time


def test_totals_come_every_so_often_and_fractions_of_seconds_may_come_late():
    first = ["t,label,alarm\n", "2024-03-01 00:00:00,0,0\n", "2024-03-01 00:00:01,1,1\n"]
    stream = subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, *COLUMNS, "--end", "2024-03-01T00:00:04", "--every", "0.05"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    stream.stdin.write("".join(first).encode())
    stream.stdin.flush()
    while not (total := json.loads(stream.stdout.readline()))["alarms"]:
        pass  # until the first part was read
    assert json.loads(stream.stdout.readline()) == total  # nothing is written meanwhile
    rest, told = stream.communicate(b"2024-03-01 00:00:02.5,0,0\n")
    times = np.array(["2024-03-01T00:00:00", "2024-03-01T00:00:01", "2024-03-01T00:00:02.5"])
    own = times.astype("datetime64[ms]"), np.datetime64("2024-03-01T00:00:04")
    expected = cc.affiliation([0, 1, 0], [0, 1, 0], times=own[0], end=own[1])
    assert told.decode() == "set()\n"
    total = json.loads(rest.splitlines()[-1])
    assert (total["alarmed"], total["f1"]) == (expected.alarmed, expected.f1)


def test_totals_come_between_lines_and_hold_none_of_them_up(printed):
    """Both a file that is always ready, and totals that are always due."""
    whole = printed(csv_lines(), *COLUMNS)
    assert printed(csv_lines(), *COLUMNS, "--every", "1e-9") == [*whole, whole[-1]]


def test_an_event_is_printed_while_the_pipe_is_open(tmp_path):
    """`tail -f` of a file that grows; the first event is known when the second one starts."""
    path = tmp_path / "samples.csv"
    starts = np.flatnonzero(np.diff(TRUTH) == 1) + 1
    path.write_text("".join(csv_lines(0, starts[1])))
    follow = ["tail", "-n", "+1", "-f", path]
    tail = subprocess.Popen(follow, stdout=subprocess.PIPE)  # noqa: S603 - of our own file
    pipes = {"stdin": tail.stdout, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    stream = subprocess.Popen([*COMMAND, *COLUMNS], **pipes)  # noqa: S603 - our own command
    tail.stdout.close()
    try:
        with path.open("a") as file:
            file.write("".join(csv_lines(starts[1], starts[1] + 2)[1:]))
        first = json.loads(stream.stdout.readline())
        assert (first["kind"], first["start"]) == ("event", TIMES[starts[0]])
        assert stream.poll() is None
    finally:
        tail.terminate()
        tail.wait()
        rest = stream.stdout.read()
        stream.stdout.close()
        assert stream.wait() == 0
    assert json.loads(rest)["kind"] == "total"


def test_the_state_goes_on_where_it_was(printed, tmp_path):
    found = []
    for first in range(0, 300, 100):
        *events, total = printed(csv_lines(first, first + 100), *COLUMNS, "--state", "s.json")
        found += events
    whole = printed(csv_lines(), *COLUMNS)
    assert found == whole[:-1]
    assert total == whole[-1]
    assert {path.name for path in tmp_path.iterdir()} == {"s.json", "samples"}


def test_an_interrupt_keeps_the_state(printed):
    stream = subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, *COLUMNS, "--state", "s.json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    stream.stdin.write("".join(csv_lines(0, 200)).encode())
    stream.stdin.flush()
    assert json.loads(stream.stdout.readline())["kind"] == "event"  # all of it was read
    stream.send_signal(signal.SIGINT)
    stream.communicate()
    assert stream.returncode == 130
    rest = printed(csv_lines(200), *COLUMNS, "--state", "s.json")
    assert rest[-1] == printed(csv_lines(), *COLUMNS)[-1]


def test_brackets_in_texts_are_no_levels(printed):
    lines = [
        json.dumps({"label": int(label), "alarm": int(alarm), "told": '\\"[{' * 60}) + "\n"
        for label, alarm in zip(TRUTH, ALARMS, strict=True)
    ]
    total = printed(lines, "--truth", "label", "--predicted", "alarm")[-1]
    assert total["f1"] == cc.affiliation(TRUTH, ALARMS).f1


def test_nothing_at_all_and_no_event_yet(printed):
    rule = "Expected at least one true event (affiliation is undefined for a series without any), "
    (total,) = printed([], *COLUMNS)
    note = f"{rule}got a stream that has seen nothing."
    assert total == {"kind": "total", "events": 0, "alarms": 0, "notes": [note]}
    (total,) = printed(["t,label,alarm\n", "1,0,1\n", "2,0,0\n"], *COLUMNS)
    note = f"{rule}got none in `truth`."
    assert total == {"kind": "total", "events": 0, "alarms": 1, "notes": [note]}


@pytest.mark.parametrize(
    ("lines", "arguments", "message"),
    [
        ("t,label,alarm\n1,0,0\n", (), "Give --predicted, or --score and --threshold"),
        ("t,label,alarm\n1,0,0\n", ("--score", "x"), "--score and --threshold go together"),
        ("t,label,alarm\n1,0,0\n", ("--predicted", "x"), "`--predicted` to name a column of"),
        ("t,label,alarm\n1,0\n", ("--predicted", "alarm"), "to go on as it began, from line 2 on"),
        ("\x1f\udc8b\n", COLUMNS[2:], "Unpack it on the way: `zcat samples | closecall stream -`"),
        ("1,0,0\n", ("--predicted", "alarm"), "a header in the first line of samples"),
        ('{"label": 0, "alarm": 1}\n{"la', ("--predicted", "alarm"), "to go on as it began"),
        (DEEP, ("--predicted", "alarm"), "at most 100 levels in samples, from line 1 on, got more"),
        (DEEP.replace("\n", "") + "\n", COLUMNS[2:], "at most 100 levels in samples"),
        ("t,label,alarm\n2,0,0\n1,0,0\n", COLUMNS[2:], "`closecall score` takes --disorder."),
        ("label,s\n0,0.5\n0,\n", ("--score", "s", "--threshold", "1"), "got nan at index 1."),
        ("label,s\n0,0.5\n0,x\n", ("--score", "s", "--threshold", "1"), "Expected `--score`"),
        (f"label,{'s' * 200_000}\n", COLUMNS[2:], "`field larger than field limit (131072)`"),
        (
            '{"label": 0, "alarm": 1}\n{"label": 0, "alarm": "\udce9"}\n',
            ("--predicted", "alarm"),
            "samples to be text in utf-8, got `'utf-8' codec can't decode byte 0xe9",
        ),
        ("t,label,alarm\n1,0,0\n", (*COLUMNS[2:], "--every", "0"), "longer than zero"),
        ("t,label,alarm\n1,0,0\n", (*COLUMNS[2:], "--every", "1e308"), "shorter than a year"),
    ],
)
def test_messages(run, lines, arguments, message):
    Path("samples").write_bytes(lines.encode("utf-8", "surrogateescape"))
    done = run("stream", "samples", "--truth", "label", *arguments)
    assert done.exit_code in (1, 2)
    assert done.stderr.startswith("Error: ")
    assert message in done.stderr


@pytest.mark.parametrize("content", [b"{}", b"\x1f\x8b\xff"])
def test_a_state_that_was_damaged_is_kept_as_it_is(run, content):
    Path("s.json").write_bytes(content)
    done = run("stream", "samples", *COLUMNS, "--state", "s.json")
    assert done.exit_code == 1
    assert "the saved state of a stream" in done.stderr
    assert Path("s.json").read_bytes() == content


@pytest.mark.parametrize("lines", [csv_lines, json_lines])
def test_time_outside_of_from_and_until_is_ignored(printed, lines):
    since, until = int(TIMES[40]), int(TIMES[250])
    limits = ("--from", str(since), "--until", str(until))
    *events, total = printed(lines(), *COLUMNS, *limits)
    end = int(TIMES[-1]) + int(np.median(np.diff(TIMES)))
    outside = [(int(TIMES[0]), since), (until, end)]
    whole = cc.affiliation(TRUTH, ALARMS, times=TIMES, end=end, ignore=outside)
    assert len(whole.events) < len(expected_result().events)
    assert total["events"] == len(whole.events)
    assert [row["start"] for row in events] == whole.events.start[: len(events)].tolist()
    for name in ("alarms", "caught", "false_alarms", "precision", "recall", "f1", "headline"):
        assert total[name] == getattr(whole, name)


def test_from_needs_times(run):
    refused = run("stream", "-", "--predicted", "alarm", "--from", "3")
    assert refused.exit_code == 2
    assert "--from and --until go with --time." in refused.stderr
