"""Bad input: one clear line, a hint, a code, and never a traceback."""

from pathlib import Path

import pytest

import closecall.cli.score as score_module

COLUMNS = ("--truth", "label", "--predicted", "alarm", "--time", "t")
HELP = "Hint: Try `closecall score --help`."
FILES = {
    "good.csv": "t,label,alarm\n0,0,0\n1,1,1\n2,0,0\n",
    "two.csv": "t,label,alarm\n0,0,0\n1,1,1\n2,2,0\n",
    "blank.csv": "t,label,alarm\n0,0,0\n1,,1\n2,0,0\n",
    "repeated.csv": "t,label,alarm\n0,0,0\n1,1,1\n1,0,0\n",
    "uneven.csv": "t,label,alarm\n0,0,0\n1,1,1\n5,0,0\n",
    "days.csv": "t,label,alarm\n2024-01-01,0,0\n2024-01-02,1,1\n2024-01-03,0,0\n",
    "quiet.csv": "t,label,alarm\n0,0,0\n1,0,1\n2,0,0\n",
    "empty.csv": "",
    "events.csv": "start,stop\n1,4\n",
    "overlap.csv": "start,stop\n1,4\n3,6\n",
    "unsorted.csv": "start,stop\n5,6\n1,4\n",
}


@pytest.fixture(autouse=True)
def files(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)


BAD_INPUT = {
    "missing file": (
        ("score", "god.csv"),
        ("Error: Expected a file at god.csv, got none.", "Hint: Did you mean good.csv?"),
    ),
    "empty file": (
        ("score", "empty.csv"),
        ("Error: Expected empty.csv to hold a table, got an empty file.", "Hint: "),
    ),
    "missing column": (
        ("score", "good.csv", "--truth", "lable", "--predicted", "alarm"),
        (
            "Error: Expected `truth` to name a column of good.csv, got 'lable'.",
            "Hint: Did you mean 'label'? Its columns are: t, label, alarm.",
        ),
    ),
    "label 2": (
        ("score", "two.csv", *COLUMNS),
        ("Error: Expected `truth` labels to be 0 or 1, got 2 at index 2.", "Hint: "),
    ),
    "missing label": (
        ("score", "blank.csv", *COLUMNS),
        ("Error: Expected `truth` to have no missing values, got one", "Hint: "),
    ),
    "repeated time": (
        ("score", "repeated.csv", *COLUMNS),
        ("Error: Expected `times` to be strictly increasing, got 1 after 1 at index 2.", "Hint: "),
    ),
    "no end": (
        ("score", "uneven.csv", *COLUMNS),
        ("Error: Expected `end` for unevenly spaced times, got none.", "Hint: "),
    ),
    "end of another kind": (
        ("score", "days.csv", *COLUMNS, "--end", "9"),
        ("Error: Expected `times` and `end` to be on one kind of time axis, got datetimes", "Hint"),
    ),
    "end with a zone": (
        ("score", "days.csv", *COLUMNS, "--end", "2024-01-04T00:00:00+01:00"),
        ("Error: Expected `times` and `end` to have a time zone everywhere or nowhere", "Hint: "),
    ),
    "no span": (
        ("score", "events.csv", "events.csv"),
        ("Error: Expected `span` with a list of events, got none.", "Hint: Say where the whole"),
    ),
    "outside the span": (
        ("score", "events.csv", "events.csv", "--span", "0", "3"),
        ("Error: Expected `truth` to lie within the span (0, 3), got (1, 4) at index 0.", "Hint: "),
    ),
    "overlap": (
        ("score", "overlap.csv", "events.csv", "--span", "0", "9"),
        ("Error: Expected `truth` events to be disjoint, got (1, 4) and (3, 6) at", "Hint: "),
    ),
    "unsorted events": (
        ("score", "unsorted.csv", "events.csv", "--span", "0", "9"),
        ("Error: Expected events to be sorted by start, got (1, 4) after (5, 6) at", "Hint: "),
    ),
    "no true event": (
        ("score", "quiet.csv", *COLUMNS),
        ("Error: Expected at least one true event (affiliation is undefined for a ser", "Hint: "),
    ),
    "standard input twice": (
        ("score", "-", "-"),
        ("Error: Expected standard input to be read once, got `-` for both files.", "Hint: "),
    ),
    "empty standard input": (
        ("score", "-"),
        ("Error: Expected standard input to hold a table, got an empty file.", "Hint: "),
    ),
    "unwritable output": (
        ("score", "good.csv", *COLUMNS, "-o", "no/such/folder"),
        ("Error: No such file or directory: no/such/folder",),
    ),
    "unwritable demo": (
        ("demo", "--save", "no/demo.parquet"),
        ("Error: No such file or directory: no/demo.parquet",),
    ),
}


def check(lines, starts):
    assert len(lines) == len(starts)
    for line, start in zip(lines, starts, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(("arguments", "starts"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input(refuse, run, arguments, starts):
    run("score", "good.csv", *COLUMNS)  # so that no notice of compiling comes in between
    check(refuse(*arguments), starts)


BAD_USAGE = {
    "no file": (("score",), ("Error: Missing argument 'TRUTH'.", HELP)),
    "unknown option": (
        ("score", "good.csv", "--tim", "t"),
        ("Error: No such option", HELP),
    ),
    "unknown command": (
        ("scor",),
        ("Error: No such command 'scor'.", "Hint: Try `closecall --help"),
    ),
    "unknown format": (
        ("score", "good.csv", "--format", "xml"),
        ("Error: Invalid value for '--format': 'xml' is not one of 'table', 'json', 'csv'.", HELP),
    ),
    "unreadable time": (
        ("score", "good.csv", *COLUMNS, "--end", "noon"),
        ("Error: Invalid value for '--end': 'noon' is neither a number nor an ISO time", HELP),
    ),
}


@pytest.mark.parametrize(("arguments", "starts"), BAD_USAGE.values(), ids=BAD_USAGE)
def test_bad_usage(refuse, arguments, starts):
    check(refuse(*arguments, code=2), starts)


def test_a_failed_run_writes_nothing(refuse):
    refuse("score", "two.csv", *COLUMNS, "-o", "out.json", "--format", "json")
    assert not Path("out.json").exists()


def test_interruption(refuse, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(score_module, "write_result", interrupted)
    assert refuse("score", "good.csv", *COLUMNS, code=130)[-1] == "Error: Interrupted."


def test_a_bug_is_not_hidden(run, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(score_module, "write_result", broken)
    with pytest.raises(ZeroDivisionError):
        run("score", "good.csv", *COLUMNS)
