"""Times that repeat or go back, in every command that reads samples."""

import json

import pytest

from closecall.signature import parse

TIMES = [0, 1, 3, 2, 4, 4, 5, 6, 7, 8]
TRUTH = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]
ALARM = [0, 0, 1, 0, 1, 0, 0, 0, 1, 0]
SCORE = [0.0, 5, 9, 1, 8, 2, 0, 3, 7, 0]
NAMES = "t,truth,alarm,score"
MENDED = {
    "first": [(0, 1, 0, 0.0), (1, 1, 0, 5), (2, 1, 0, 1), (3, 0, 1, 9), (4, 0, 1, 8)],
    "last": [(0, 1, 0, 0.0), (1, 1, 0, 5), (2, 1, 0, 1), (3, 0, 1, 9), (4, 1, 0, 2)],
    "mean": [(0, 1, 0, 0.0), (1, 1, 0, 5), (2, 1, 0, 1), (3, 0, 1, 9), (4, 1, 1, 5)],
}
REST = [(5, 0, 0, 0), (6, 0, 0, 3), (7, 0, 1, 7), (8, 0, 0, 0)]
COMMANDS = {
    "score": "--predicted alarm",
    "curve": "--score score",
    "compare": "--predicted alarm --score score",
    "audit": "--predicted alarm --metric affiliation --budget 3",
}


def write(path, rows):
    path.write_text("\n".join([NAMES, *(",".join(map(str, row)) for row in rows), ""]))


@pytest.fixture(autouse=True)
def files(run, tmp_path):
    rows = list(zip(TIMES, TRUTH, ALARM, SCORE, strict=True))
    write(tmp_path / "mixed.csv", rows)
    write(tmp_path / "back.csv", rows[:5] + rows[6:])
    for how, head in MENDED.items():
        write(tmp_path / f"{how}.csv", head + REST)


def output(run, command, file, *options):
    result = run(
        command, file, *COMMANDS[command].split(), "--time", "t", "--format", "json", *options
    )
    assert result.exit_code == 0, result.stderr
    values = json.loads(result.stdout)
    signature = parse(values["signature"])
    assert signature.options.get("disorder") in (None, *options)
    values["signature"] = signature.adding(disorder="error").short
    notes = values.pop("notes", result.stderr.splitlines())
    return values, [note for note in notes if "levels of chance" not in note]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", MENDED)
def test_one_value_is_kept_of_repeated_times(run, command, how):
    expected, quiet = output(run, command, f"{how}.csv", "--disorder", how)
    assert quiet == []
    found, notes = output(run, command, "mixed.csv", "--disorder", how)
    assert found == expected
    told = f"1 went back; the {how} is kept where 1 repeat a time"
    assert notes == [f"Samples are put in the order of their times: {told}."]


@pytest.mark.parametrize("command", COMMANDS)
def test_samples_are_sorted_and_repeated_times_stay_an_error(run, refuse, command):
    expected, _ = output(run, command, "first.csv")
    found, notes = output(run, command, "back.csv", "--disorder", "sort")
    assert found == expected
    assert notes == ["Samples are put in the order of their times: 1 went back."]
    arguments = [*COMMANDS[command].split(), "--time", "t"]
    message, hint = refuse(command, "mixed.csv", *arguments, "--disorder", "sort")
    assert "`--time` to be strictly increasing, got 4 after 4" in message
    assert hint == "Hint: Keep one sample of each time with --disorder first, last or mean."
    assert refuse(command, "mixed.csv", *arguments)[1] == (
        "Hint: Put them in order with --disorder sort; several series in one file are for "
        "`closecall batch --by`."
    )


def test_each_of_two_files_is_put_in_its_own_order(run, tmp_path):
    truth = zip(TIMES, TRUTH, strict=True)
    (tmp_path / "truth.csv").write_text("\n".join(["t,truth", *(f"{t},{x}" for t, x in truth), ""]))
    found, _ = output(run, "score", "truth.csv", "last.csv", "--disorder", "last")
    assert found == output(run, "score", "last.csv")[0]
    (tmp_path / "list.csv").write_text("t,until\n4,5\n1,3\n")
    options = ("--truth", "t,until", "--disorder", "last")
    assert output(run, "score", "list.csv", "mixed.csv", *options)[0]["alarms"] == 2


def test_ignored_and_drawn_columns_follow(run, tmp_path):
    found, _ = output(run, "score", "mixed.csv", "--disorder", "mean", "--ignore", "alarm")
    assert found == output(run, "score", "mean.csv", "--ignore", "alarm")[0]
    pages = []
    for file in ("mixed.csv", "mean.csv"):
        command = f"report {file} --score score --value score --time t -o page.html --script cdn"
        result = run(*command.split(), "--title", "x", "--disorder", "mean")
        assert result.exit_code == 0, result.stderr
        # The command that the page offers to copy names its file.
        pages.append((tmp_path / "page.html").read_text().replace(file, "data.csv"))
    note = "Samples are put in the order of their times: 1 went back; the mean is kept where 1"
    assert pages[0].replace(f'"{note} repeat a time.",', "") == pages[1]


def test_a_page_of_many_series(run, tmp_path):
    lines = (tmp_path / "mixed.csv").read_text().splitlines()
    rows = [f"{line},{name}" for name in "ab" for line in lines[1:]]
    (tmp_path / "all.csv").write_text("\n".join([f"{NAMES},series", *rows, ""]))
    command = "report all.csv --score score --time t --by series -o page.html --script cdn"
    for how in ("first", "mean", "index"):
        result = run(*command.split(), "--disorder", how)
        assert "all 2 series scored" in result.stderr


def test_counting_samples_is_of_many_series(refuse):
    command = "report mixed.csv --score score --time t -o page.html --disorder index"
    message, hint = refuse(*command.split())
    assert (
        message == "Error: Expected `--disorder index` only beside `--by`, got it for one series."
    )
    assert hint == "Hint: Leave out `--time` to count samples."
