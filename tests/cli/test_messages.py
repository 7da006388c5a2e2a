"""Every message of the command line: one clear line, a hint, a status, and never a traceback."""

from pathlib import Path

import pytest

import closecall.cli.score as score_module
from closecall.datasets import demo
from closecall.tables import write_table

FILES = {
    "good.csv": "t,label,alarm\n0,0,0\n1,1,1\n2,0,0\n",
    "two.csv": "t,label,alarm\n0,0,0\n1,1,1\n2,2,0\n",
    "repeated.csv": "t,label,alarm\n0,0,0\n1,1,1\n1,0,0\n",
    "days.csv": "t,label,alarm\n2024-01-01,0,0\n2024-01-02,1,1\n2024-01-03,0,0\n",
    "quiet.csv": "t,label,alarm\n0,0,0\n1,0,1\n2,0,0\n",
    "gap.csv": "truth,score\n0,1\n1,\n0,2\n",
    "events.csv": "start,stop\n1,4\n",
}


@pytest.fixture(scope="module")
def demo_content(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "demo.csv"
    write_table(demo().columns(), path)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def files(run, tmp_path, demo_content):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "demo.csv").write_bytes(demo_content)


SCORE = "--truth label --predicted alarm --time t"
CURVE = "curve demo.csv --truth label --score forecast_score"
TWO = "--truth label --predicted threshold --predicted forecast"
BATCH = "batch demo.csv --truth label --score forecast_score"
AUDIT = f"audit demo.csv {TWO}"
BAD_INPUT = {
    "score good.csv --truth lable --predicted alarm": (
        "Expected `--truth` to name a column of good.csv, got 'lable'.",
        "Hint: Did you mean 'label'? Its columns are: t, label, alarm.",
    ),
    f"score two.csv {SCORE}": (
        "Expected `--truth` labels to be 0 or 1, got 2 at index 2.",
        "Hint: ",
    ),
    f"score repeated.csv {SCORE}": (
        "Expected `--time` to be strictly increasing, got 1 after 1 at index 2.",
        "Hint: ",
    ),
    f"score days.csv {SCORE} --end 9": (
        "Expected `--time` and `--end` to be on one kind of time axis, got datetimes",
        "Hint",
    ),
    "score events.csv events.csv": (
        "Expected `--span` with a list of events, got none.",
        "Hint: Say where the whole",
    ),
    f"score good.csv {SCORE} -o no/such/folder": ("No such file or directory: no/such/folder",),
    "curve gap.csv": (
        "Expected `--score` to be numbers, or inf, got nan at index 1.",
        "Hint: Leave those samples out with `--nan ignore`, or give them the lowest score",
    ),
    f"{CURVE} --min-precision 90": (
        "Expected `--min-precision` to be a number from 0 to 1, got 90.0.",
    ),
    f"{CURVE} --max-alarms-per 2/1d": (
        "Expected `--max-alarms-per` to be a finite number of 0 or more, got datetime.timed",
        "Hint: The axis counts samples",
    ),
    f"{CURVE} --time time --max-alarms-per 2/100": (
        "Expected `--max-alarms-per` to be a timedelta of 0 or more, got 100.0.",
        "Hint: The times are datetimes, so give the length a unit: ms, s, min, h or d, as in",
    ),
    f"{CURVE} --time time --from 2024-03-09 --fit-until 2024-03-10": (
        "Expected `--from` not before `--fit-until`, got 2024-03-09 00:00:00 and",
        "Hint: A threshold is not judged on the time that it was chosen on.",
    ),
    f"{CURVE} --until 5000": ("Expected `--until` to lie between 0 and 4032, got 5000.",),
    f"{CURVE} --ignore vlue": (
        "Expected `--ignore` to name a column of demo.csv, or a file of events, got 'vlue'.",
        "Hint: Did you mean 'value'? Its columns are: time,",
    ),
    f"compare demo.csv {TWO} --predicted value": (
        "Expected `--predicted value` labels to be 0 or 1, got 92.9 at index 0.",
        "Hint: ",
    ),
    f"{BATCH} --metric margin:margin=-3 --out rows.csv": (
        "Expected `margin` to be a finite number of 0 or more, got -3.",
    ),
    f"{BATCH} --workers 0": ("Expected `--workers` to be 1 or more",),
    f"{BATCH} --resume": ("Expected `--output` beside `--resume`",),
    f"{BATCH} --intervals --level 95 --out rows.csv": (
        "Expected `--level` to be a number between 0 and 1, got 95.0.",
        "Hint: ",
    ),
    "batch quiet.csv --truth label --predicted alarm --strict": (
        "Expected every series to be evaluated, with `--strict`, got 'no_event'",
        "Hint: Without `--strict`",
    ),
    f"{AUDIT} --trivial rule": (
        "Expected `--trivial` to name a column of demo.csv, got 'rule'.",
        "Hint: ",
    ),
    # Hints that Python would put otherwise.
    f"{AUDIT} --metric margin": (
        "",
        "Hint: Pass --metric margin:margin=10, or margin=10min beside datetimes.",
    ),
    f"{AUDIT} --metric affilation": (
        "Expected the name of a metric, got 'affilation'.",
        "Hint: Did you mean 'affiliation'? `closecall metrics` lists them all.",
    ),
    f"{AUDIT} --time time --metric margin:margin=10": (
        "",
        "Hint: The times are datetimes, so give the length a unit: ms, s, min, h or d, as in",
    ),
}
BAD_USAGE = {
    "score": "Missing argument 'TRUTH'.",
    "scor": "No such command 'scor'.",
    f"score good.csv {SCORE} --end noon": (
        "Invalid value for '--end': 'noon' is neither a number nor an ISO time"
    ),
    f"score good.csv {SCORE} --zero-division 0 --significance=9": (
        "--significance goes with --zero-division nan only"
    ),
    f"{CURVE} --format csv --significance": "--significance goes with --format table or json",
    f"{CURVE} --threshold sigma:3 --min-recall 0.5": (
        "--threshold chooses alone; limits, --beta and --maximize are of the highest F1."
    ),
    f"{CURVE} --threshold sigma:3 --cross-fit": (
        "--cross-fit is of the highest F1; leave out --threshold and --fit-until."
    ),
    f"{CURVE} --threshold percentile:99": (
        "Invalid value for '--threshold': Expected `threshold` to be a number or a known rule, got"
    ),
    f"{CURVE} --max-step long": (
        "Invalid value for '--max-step': 'long' is neither a number nor a length of time such as"
    ),
    f"{CURVE} --plot curve.xls": (
        "Invalid value for '--plot': 'curve.xls' does not end in .pdf, .png or .svg."
    ),
    f"{CURVE} --points -3": (
        "Invalid value for '--points': '-3' is neither a whole number nor `all`."
    ),
    f"compare demo.csv {TWO} --threshold forecast_score=high": (
        "Invalid value for '--threshold': Expected `threshold` to be a number or a known rule, got"
    ),
    f"compare demo.csv {TWO} --threshold forecast_score=1 --threshold forecast_score=1": (
        "--threshold is given twice for one column."
    ),
    f"compare demo.csv {TWO} --level 0.9": (
        "--level and --resamples are of --intervals, which is not given."
    ),
    "batch demo.csv --score forecast_score": "Missing option '--truth'.",
    f"{BATCH} --resume a.parquet --out b.parquet": (
        "Expected --resume and --output to name one file, got a.parquet and b.parquet."
    ),
    f"{BATCH} --metric range_based:alpha=0 --metric range_based:alpha=1": (
        "--metric range_based is given twice; a metric has one set of parameters in a run."
    ),
    f"{BATCH} --resamples 900 --out rows.csv": (
        "--level and --resamples are of --intervals, which is not given."
    ),
    f"{AUDIT} --metric point_adjust_k:k=20,k=30": (
        "Invalid value for '--metric': k is given twice in 'point_adjust_k:k=20,k=30'."
    ),
}


@pytest.mark.parametrize("command", BAD_INPUT)
def test_bad_input(refuse, command):
    what, *hint = refuse(*command.split())
    expected, *expected_hint = BAD_INPUT[command]
    assert what.startswith(f"Error: {expected}")
    assert len(hint) == len(expected_hint)
    assert all(map(str.startswith, hint, expected_hint))
    assert not list(Path().glob("rows*"))  # nothing is written


@pytest.mark.parametrize("command", BAD_USAGE)
def test_bad_usage(refuse, command):
    what, hint = refuse(*command.split(), code=2)
    assert what.startswith(f"Error: {BAD_USAGE[command]}")
    name = command.split()[0]
    program = "closecall" if name == "scor" else f"closecall {name}"
    assert hint == f"Hint: Try `{program} --help`."


@pytest.mark.parametrize("text", ["demo.csv", "0", "-1", "9" * 5000])
@pytest.mark.parametrize("command", [f"score demo.csv {TWO}", CURVE])
def test_a_bad_number_of_shifts(refuse, command, text):
    what, _ = refuse(*command.split(), f"--significance={text}", code=2)
    said = f"{text[:80]!r} is no whole number from 1 to 1,000,000. Write --significance=1000"
    assert what.startswith(f"Error: Invalid value for '--significance': {said}")
    if text == "-1":  # to click, this is an option
        assert refuse(*command.split(), "--significance", text, code=2)[0] == what


def test_interruption(refuse, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(score_module, "score_series", interrupted)
    assert refuse("score", "good.csv", *SCORE.split(), code=130)[-1] == "Error: Interrupted."


def test_a_bug_is_not_hidden(run, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(score_module, "score_series", broken)
    with pytest.raises(ZeroDivisionError):
        run("score", "good.csv", *SCORE.split())
